"""Questions to a parser that scores all arcs: other trees, trees after a correction, probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..arrays import IntArray
from ..data.layout import Layout, lay_out
from ..errors import Errors
from ..trees.arc_scores import ArcScores
from .gold import gold_parses, lay_out_examples
from .long_sentences import MAX_WORDS
from .parser_pipe import ParserPipe
from .ranked import RankedTree, TreeConfidence, check_whole, constraints_of, kept_scores, over_tokens
from .sentence_inputs import ParsedBatch
from .trees import heads_in_sentences, make_trees

if TYPE_CHECKING:
    from ..models.confidence import Temperatures
    from ..models.types import Tree

#: Key of ``cfg`` for the temperatures of heads and labels.
TEMPERATURES = "temperatures"


class AnsweringPipe(ParserPipe):
    """A component that answers questions about Docs, from the scores that they keep or from a new parse."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Labels of the parser, the root label first."""

    @abstractmethod
    def _write(self, docs: Sequence[Doc], batch: ParsedBatch) -> None:
        """Write trees to Docs."""

    def kbest(self, doc: Doc, k: int) -> list[list[RankedTree]]:
        """Return the k best trees of each sentence that has words, best first, with one root each.

        Trees are ranked by their arcs; each arc has its best label. They meet the constraints of the Doc. The
        Doc is not changed. The scores that it keeps of this parser are used, or else it is parsed. A refiner
        needs the scores of a Doc that it has refined.

        doc: Doc, with its sentence boundaries.
        k: Number of trees. A sentence has fewer if no more are possible.
        Raises ValueError if k is not 1 or more, if there are no scores, or if constraints can't be met.
        """
        if not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(Errors.E816.format(k=k))
        layout = lay_out([doc])
        scores = self._scores(doc, layout)
        constraints = constraints_of([doc], layout, self.labels)
        words = [tokens for _, tokens in layout.word_places()]
        return [
            list(over_tokens(of_sentence.best(k, demands), tokens, self.labels))
            for of_sentence, demands, tokens in zip(scores, constraints, words, strict=True)
        ]

    def reparse(self, doc: Doc) -> Doc:
        """Parse a Doc again from the scores that it keeps of this parser, with its present constraints.

        The encoder does not run, so this takes milliseconds.

        Returns the Doc.
        Raises ValueError if the Doc keeps no scores of this parser, or if constraints can't be met.
        """
        from ..models.types import Parse

        layout = lay_out([doc])
        scores = kept_scores(doc, layout, self.name)
        if scores is None:
            raise ValueError(Errors.E815.format(text=doc.text[:40], name=self.name))
        constraints = constraints_of([doc], layout, self.labels)
        parses = [Parse.of_scores(of, demands) for of, demands in zip(scores, constraints, strict=True)]
        self._write([doc], ParsedBatch(layout, parses))
        return doc

    def confidence(self, doc: Doc) -> list[TreeConfidence]:
        """Return the probabilities of the tree that each sentence with words has now, and of its arcs.

        They come from the distribution over all trees with one root that meet the constraints on heads. The
        temperatures are those that ``calibrate`` has fitted. The tree need not be the parser's own.

        doc: Doc that has been parsed. The scores that it keeps of this parser are used, or else it is parsed
            again, as in ``kbest``.
        Raises ValueError if a word has no label or no head in its sentence, or if there are no scores.
        """
        from ..models.confidence import confidences

        layout, trees = self._trees([Example(doc, doc)])
        if any((tree.heads < 0).any() for tree in trees):
            raise ValueError(Errors.E818.format(text=doc.text[:40]))
        demands = constraints_of([doc], layout, self.labels)
        scores = [of.restricted(found) for of, found in zip(self._scores(doc, layout), demands, strict=True)]
        found = confidences(scores, trees, self.temperatures)
        pairs = zip(layout.word_places(), found, strict=True)
        return [
            TreeConfidence(tree=of.tree, tokens=tokens, arcs=of.arcs.tolist(), labelled=of.labelled.tolist())
            for (_, tokens), of in pairs
        ]

    def calibrate(self, examples: Iterable[Example]) -> Temperatures:
        """Fit the temperatures of ``confidence``, keep them with the component, and return them.

        They make the arcs and labels of the gold trees as probable as possible, and change no tree.

        examples: Examples that were not trained on. Left out are sentences without a complete tree, and Docs
            with a sentence that is too long to be parsed whole.
        Raises ValueError if the model gives no scores.
        """
        from ..models.confidence import fit_temperatures

        def known() -> Iterator[tuple[ArcScores, Tree]]:
            for example in examples:
                layout, trees = self._trees([example])
                if (layout.n_words <= MAX_WORDS).all():
                    pairs = zip(self._scores(example.predicted, layout), trees, strict=True)
                    yield from (pair for pair in pairs if (pair[1].heads >= 0).all())

        found = fit_temperatures(known())
        self.cfg[TEMPERATURES] = [*found]
        return found

    @property
    def temperatures(self) -> Temperatures:
        """Temperatures of heads and labels, 1 before ``calibrate``."""
        from ..models.confidence import Temperatures

        return Temperatures(*self.cfg.get(TEMPERATURES, ()))

    def _scores(self, doc: Doc, layout: Layout) -> list[ArcScores]:
        """Return the scores that a Doc keeps of this parser, or those of a new parse."""
        scores = kept_scores(doc, layout, self.name)
        if scores is not None:
            return scores
        self.check_scores_arcs()
        inputs = [replace(sentence, keep_scores=True) for sentence in self.inputs([doc], layout)]
        for sentence in inputs:
            check_whole(sentence)
        self._check_again(doc)
        sentences, _ = self._with_vectors(inputs, [doc], layout)
        return [parse.scores for parse in self.parse(sentences)] if sentences else []

    def _check_again(self, doc: Doc) -> None:
        """Raise ValueError for a Doc of which another parse would not give the scores of its first parse."""

    def _trees(self, examples: Sequence[Example]) -> tuple[Layout, list[Tree]]:
        """Return the layout of the predicted Docs, and the trees of the references. Unknown labels are -1."""
        layout = lay_out_examples(examples)
        heads, deps = gold_parses(examples, layout)
        ids = {label: i for i, label in enumerate(self.labels)}
        labels: IntArray = np.array([ids.get(dep, -1) for dep in deps], dtype=np.int64)
        return layout, make_trees(layout, heads_in_sentences(layout, heads), labels)

    @property
    def scores_arcs(self) -> bool:
        """Whether the model gives scores of arcs."""
        return bool(self.model.attrs.get("scores_arcs"))

    def check_scores_arcs(self) -> None:
        """Raise ValueError if the model gives no scores of arcs."""
        if not self.scores_arcs:
            raise ValueError(Errors.E814.format(name=self.name, model=self.model.name))
