"""Scored trees of Docs: the k best trees, a tree after a correction, probabilities, calibration."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..data.gold import gold_parses, segment_examples
from ..data.segmentation import Segmentation, segment
from ..errors import Errors
from ..models.decoding import best_parses, mask_arcs
from ..models.types import Arcs, ArcScores, Parse
from ..pipeline.long_sentences import MAX_WORDS
from ..pipeline.sentence_inputs import ParsedBatch
from ..pipeline.trees import heads_in_sentences, make_trees
from .doc_constraints import read_constraints
from .score_record import read_scores

if TYPE_CHECKING:
    from .confidence import Temperatures

#: Key of ``cfg`` for the temperatures of heads and labels.
TEMPERATURES = "temperatures"
#: Maximum number of words of a sentence in an error.
SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class RankedTree:
    """One of the best trees of a sentence. Tokens count as in spaCy, and a root is its own head.

    score: Sum of the log-probabilities of the heads.
    tokens: Tokens of the sentence, without white space.
    heads: Head of each of them.
    deps: Label of each of them.
    head_probs: Probability of each head.
    dep_probs: Probability of each label, given the head.
    """

    score: float
    tokens: list[int]
    heads: list[int]
    deps: list[str]
    head_probs: list[float]
    dep_probs: list[float]


@dataclass(frozen=True, kw_only=True)
class TreeConfidence:
    """Probabilities of the tree of a sentence and of its parts.

    tree: Probability of all heads together.
    tokens: Tokens of the sentence, without white space.
    arcs: Probability of the head of each of them.
    labeled: Probability of head and label together.
    """

    tree: float
    tokens: list[int]
    arcs: list[float]
    labeled: list[float]


class ScoredParser:
    """Part of a parser that answers questions from the scores of all arcs."""

    name: str
    model: Model[Any, Any]
    cfg: dict[str, Any]

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Labels of the parser, the root label first."""

    @property
    @abstractmethod
    def subjects(self) -> tuple[int, ...]:
        """Label ids of subjects, of which a word has one at most."""

    @abstractmethod
    def new_scores(self, doc: Doc, segmentation: Segmentation) -> list[ArcScores]:
        """Return the scores of a new parse of each sentence that has words."""

    @abstractmethod
    def write(self, docs: Sequence[Doc], batch: ParsedBatch) -> None:
        """Write trees to Docs."""

    @property
    def scores_arcs(self) -> bool:
        """Whether the model scores all arcs."""
        return bool(self.model.attrs.get("scores_arcs"))

    def check_scores_arcs(self) -> None:
        """Raise ValueError unless the model scores all arcs."""
        if not self.scores_arcs:
            raise ValueError(Errors.E814.format(name=self.name, model=self.model.name))

    @property
    def temperatures(self) -> "Temperatures":
        """Temperatures of heads and labels, 1 before ``calibrate``."""
        from .confidence import Temperatures

        return Temperatures(*self.cfg.get(TEMPERATURES, ()))

    def check_temperatures(self) -> None:
        """Raise ValueError if the temperatures in ``cfg`` are not two numbers above 0."""
        values = self.cfg.get(TEMPERATURES, [1.0, 1.0])
        if len(values) != 2 or not all(type(value) in (int, float) and 0 < value < inf for value in values):
            expected = "two numbers above 0"
            raise ValueError(Errors.E865.format(key=TEMPERATURES, value=values, expected=expected))

    def kbest(self, doc: Doc, k: int) -> list[list[RankedTree]]:
        """Return the k best trees of each sentence that has words, best first, with one root each.

        The scores of arcs rank the trees. Each arc has its best label. The trees meet the constraints of the
        Doc, which does not change. They come from the scores that this parser left on the Doc, or from a new
        parse without such scores. A refiner can't parse a Doc anew that it has already refined.

        doc: Doc, with its sentence boundaries.
        k: Number of trees. A sentence gets fewer if it has fewer possible trees.
        Returns, for each sentence, a list of ``RankedTree`` with ``score``, ``tokens``, ``heads``, ``deps``,
            ``head_probs`` and ``dep_probs``.
        Raises ValueError if k is not 1 or more, if there are no scores, or if constraints can't be met.

        >>> (sentence,) = parser.kbest(doc, 3)
        >>> [len(tree.heads) for tree in sentence]
        [3, 3, 3]
        """
        if not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(Errors.E816.format(k=k))
        segmentation = segment([doc])
        scores = self._scores(doc, segmentation)
        constraints = read_constraints([doc], segmentation, self.labels)
        sentences = []
        for (_, tokens), own, rules in zip(segmentation.word_places(), scores, constraints, strict=True):
            parses = best_parses(own, k, rules, self.subjects)
            sentences.append([_to_ranked(parse, own, tokens, self.labels) for parse in parses])
        return sentences

    def reparse(self, doc: Doc) -> Doc:
        """Parse a Doc again from the scores that this parser left on it, with its present constraints.

        The encoder does not run, so this takes milliseconds.

        Returns the Doc.
        Raises ValueError if the Doc has no scores of this parser, or if constraints can't be met.

        >>> constrain(doc, heads={0: 2})
        >>> parser.reparse(doc)[0].head.i
        2
        """
        segmentation = segment([doc])
        scores = read_scores(doc, segmentation, self.labels, parser=self.name)
        if scores is None:
            raise ValueError(Errors.E815.format(text=doc.text[:40], name=self.name))
        constraints = read_constraints([doc], segmentation, self.labels)
        pairs = zip(scores, constraints, strict=True)
        parses = [best_parses(own, 1, rules, self.subjects)[0] for own, rules in pairs]
        self.write([doc], ParsedBatch(segmentation, parses))
        return doc

    def confidence(self, doc: Doc) -> list[TreeConfidence]:
        """Return the probabilities of the present tree of each sentence that has words, and of its arcs.

        The distribution is over all trees with one root that meet the constraints on heads, with the
        temperatures that ``calibrate`` has fitted. The tree may come from elsewhere than this parser.

        doc: Doc that has been parsed. Its scores are found as in ``kbest``.
        Returns, for each sentence, a ``TreeConfidence`` with ``tree``, ``tokens``, ``arcs`` and ``labeled``.
        Raises ValueError if a word has no label or no head in its sentence, or if there are no scores.

        >>> (sentence,) = parser.confidence(doc)
        >>> all(0 <= p <= arc for arc, p in zip(sentence.arcs, sentence.labeled, strict=True))
        True
        """
        from .confidence import confidences

        segmentation, trees = self._trees(Example(doc, doc))
        if any((tree.heads < 0).any() for tree in trees):
            raise ValueError(Errors.E818.format(text=doc.text[:40]))
        constraints = read_constraints([doc], segmentation, self.labels)
        pairs = zip(self._scores(doc, segmentation), constraints, strict=True)
        probs = confidences([mask_arcs(scores, rules) for scores, rules in pairs], trees, self.temperatures)
        return [
            TreeConfidence(tree=tree, tokens=tokens, arcs=arcs.tolist(), labeled=labeled.tolist())
            for (_, tokens), (tree, arcs, labeled) in zip(segmentation.word_places(), probs, strict=True)
        ]

    def calibrate(self, examples: Iterable[Example]) -> "Temperatures":
        """Fit the temperatures of ``confidence``, keep them with the component, and return them.

        They make the arcs and labels of the gold trees as probable as possible. They do not change trees.

        examples: Examples that were not trained on. Sentences without a complete tree do not count. Neither
            do Docs with a sentence that is too long to be parsed whole.
        Returns ``Temperatures`` with ``heads`` and ``labels``.
        Raises ValueError if the model does not score arcs.
        """
        from .confidence import fit_temperatures

        def complete() -> Iterator[tuple[ArcScores, Arcs]]:
            for example in examples:
                segmentation, trees = self._trees(example)
                if (segmentation.n_words <= MAX_WORDS).all():
                    pairs = zip(self._scores(example.predicted, segmentation), trees, strict=True)
                    yield from (pair for pair in pairs if (pair[1].heads >= 0).all())

        temperatures = fit_temperatures(complete())
        self.cfg[TEMPERATURES] = [*temperatures]
        return temperatures

    def _scores(self, doc: Doc, segmentation: Segmentation) -> list[ArcScores]:
        """Return the scores that this parser left on a Doc, or those of a new parse."""
        scores = read_scores(doc, segmentation, self.labels, parser=self.name)
        if scores is not None:
            return scores
        for _, tokens in segmentation.word_places():
            check_whole([doc[i].text for i in tokens])
        return self.new_scores(doc, segmentation)

    def _trees(self, example: Example) -> tuple[Segmentation, list[Arcs]]:
        """Return the predicted Doc's sentences, and the reference's trees. Unknown labels are -1."""
        segmentation = segment_examples([example])
        heads, deps = gold_parses([example], segmentation)
        ids = {label: i for i, label in enumerate(self.labels)}
        labels = np.array([ids.get(dep, -1) for dep in deps], dtype=np.int64)
        numbers = heads_in_sentences(segmentation, heads)
        return segmentation, make_trees(segmentation, heads=numbers, labels=labels)


def check_whole(words: Sequence[str]) -> None:
    """Raise ValueError for a sentence of words that can't be parsed whole."""
    if len(words) > MAX_WORDS:
        raise ValueError(Errors.E817.format(n=len(words), most=MAX_WORDS, start=" ".join(words[:SHOWN])))


def _to_ranked(parse: Parse, scores: ArcScores, tokens: Sequence[int], labels: Sequence[str]) -> RankedTree:
    """Return a tree over the tokens of its sentence, without white space.

    scores: Scores of the sentence.
    labels: Labels of the parser.
    """
    heads = parse.tree.heads
    numbers = zip(tokens, heads.tolist(), strict=True)
    return RankedTree(
        score=float(scores.arcs[np.arange(len(heads)), heads].astype(np.float64).sum()),
        tokens=[*tokens],
        heads=[tokens[head - 1] if head else token for token, head in numbers],
        deps=[*map(labels.__getitem__, parse.tree.labels.tolist())],
        head_probs=parse.head_probs.tolist(),
        dep_probs=parse.label_probs.tolist(),
    )
