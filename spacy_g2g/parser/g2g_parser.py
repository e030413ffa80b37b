"""The ``g2g_parser`` component: dependency parsing with any architecture of the ``ParserModel`` protocol.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers. Building the model
imports its architecture.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..arrays import BoolArray
from ..data.doc_record import DEP_PROB, HEAD_PROB
from ..data.docs import TREEBANK_KEY
from ..data.gold import gold_parses, segment_examples
from ..data.segmentation import Segmentation, segment
from ..errors import Errors, Warnings
from ..models.settings import setting
from ..models.types import Arcs, ArcScores, Parse, Request, ScoresOf, Sentence, Start
from ..pipeline.component import TREE_ASSIGNS, TREE_WEIGHTS, TreeSettings, factory
from ..pipeline.labels import check_labels, count_labels, find_subjects, order_labels
from ..pipeline.long_sentences import cut_long, join_parts
from ..pipeline.sentence_inputs import ParsedBatch, make_sentences, read_tags
from ..pipeline.trees import SPACE_LABEL, concatenate, heads_in_sentences, make_trees, write_trees
from ..scored.doc_constraints import CONSTRAINTS, read_constraints
from ..scored.score_record import SCORES, write_scores
from ..scored.scored_trees import TEMPERATURES, ScoredParser, check_whole
from ..sentences.finder import SentenceSettings
from .noun_chunks import has_ud_labels, use_ud_noun_chunks
from .parser_pipe import ParserPipe
from .prior import PriorSource

#: Keys of ``cfg`` for labels, and their names in errors.
LABELS = {"labels": "labels", "initial_labels": "labels of initial graphs"}
#: Key of ``cfg`` for the labels of which a word has one dependent at most.
SUBJECTS = "subjects"
#: Key of ``cfg`` for the names of treebanks that the model reads.
TREEBANKS = "treebanks"
CHECKED_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class ParserSettings(SentenceSettings, TreeSettings):
    """Settings of ``g2g_parser``."""

    model: Model[Any, Any] = setting(
        {"@architectures": "spacy_g2g.SynTr.v1"},
        "Architecture with the protocol of ``spacy_g2g.models.types``, such as ``spacy_g2g.SynTr.v1``.",
    )


class G2GParser(PriorSource, ScoredParser, ParserPipe):
    """Parser that writes a tree with one root for each sentence. Trees may be non-projective.

    Sentence boundaries that are already set stay. A parser that was trained on Docs of several sentences
    finds the boundaries of other Docs. Otherwise, a Doc without boundaries is one sentence. Only the root arc
    has the root label ``labels[0]``.
    """

    output_kind = "trees"

    store_probabilities: bool
    keep_scores: bool

    def __init__(self, vocab: Vocab, name: str, settings: TreeSettings) -> None:
        super().__init__(vocab, settings.model, name)
        self.cfg["labels"] = []
        settings.apply_to(self)
        for extension in (SCORES, CONSTRAINTS):
            Doc.set_extension(extension, default=None, force=True)
        for extension in (HEAD_PROB, DEP_PROB):
            Token.set_extension(extension, default=None, force=True)

    # Parsing

    def inputs(
        self,
        docs: Sequence[Doc],
        segmentation: Segmentation,
        vectors: Sequence[Floats2d] | None = None,
        *,
        scores: ScoresOf | None = None,
    ) -> list[Sentence]:
        """Return the sentences that have words, in order, with the requirements for their parses.

        docs, segmentation, vectors: See ``ParserPipe.inputs``.
        scores: Scores of the parses; None for those that the component keeps.
        Raises ValueError for constraints that conflict or that the model can't meet, and for a request for
            scores to a model without them.
        """
        tags = read_tags(docs, segmentation, self.model.attrs.get("tag_attr"), self.treebanks)
        requests = self.requests(docs, segmentation, scores or self._wanted_scores)
        graphs = self.initial_graphs(docs, segmentation)
        return make_sentences(docs, segmentation, tags, vectors=vectors, graphs=graphs, requests=requests)

    def initial_graphs(self, docs: Sequence[Doc], segmentation: Segmentation) -> list[Arcs | None] | None:
        """Return the graph that each sentence starts from; None for a parser, which starts without graphs."""

    @property
    def _wanted_scores(self) -> ScoresOf:
        """Scores that the parses of this component need."""
        if self.keep_scores:
            return "all"
        return "tree" if self.listening_components and self.scores_arcs else "none"

    def requests(self, docs: Sequence[Doc], segmentation: Segmentation, scores: ScoresOf) -> list[Request]:
        """Return the requirements for the parse of each sentence that has words."""
        constraints = read_constraints(docs, segmentation, self.labels)
        if any(constraints) and not self.model.attrs.get("meets_constraints"):
            raise ValueError(Errors.E821.format(name=self.name, model=self.model.name))
        if scores == "all":
            self.check_scores_arcs()
        for (place, words), own in zip(segmentation.word_places(), constraints, strict=True):
            if own:
                check_whole([docs[place][i].text for i in words])
        return [Request(constraints=own, scores=scores, subjects=self.subjects) for own in constraints]

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Return the parse of each sentence. Very long sentences are parsed in parts."""
        parts = [cut_long(sentence) for sentence in sentences]
        parses = iter(super().parse([*chain.from_iterable(parts)]))
        return [join_parts([*islice(parses, len(own))], self.labels) for own in parts]

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write heads, labels and sentence boundaries. On request, write probabilities and scores."""
        docs = list(docs)
        self.write(docs, scores)
        self._warn_unfit(docs, scores)
        if self._wanted_scores == "none":
            return
        is_prior = bool(self.listening_components)
        for doc, parses in zip(docs, scores.by_doc(), strict=True):
            write_scores(doc, parses, self.labels, parser=self.name, is_prior=is_prior)

    def write(self, docs: Sequence[Doc], batch: ParsedBatch) -> None:
        """Write heads, labels and sentence boundaries. On request, write probabilities."""
        segmentation, parses = batch.segmentation, batch.parses
        heads = [parse.tree.heads for parse in parses]
        labels = [parse.tree.labels for parse in parses]
        hashes = [self.vocab.strings.add(label) for label in self.labels]
        write_trees(
            docs,
            segmentation,
            heads=concatenate(heads, np.int64),
            labels=concatenate(labels, np.int64),
            label_hashes=np.array(hashes, dtype=np.uint64),
            space=self.vocab.strings.add(SPACE_LABEL),
        )
        self._use_noun_chunks(docs)
        if self.store_probabilities:
            for (place, words), parse in zip(segmentation.word_places(), parses, strict=True):
                probs = zip(words, parse.head_probs.tolist(), parse.label_probs.tolist(), strict=True)
                for word, head_prob, dep_prob in probs:
                    underscore = docs[place][word]._
                    underscore.set(HEAD_PROB, head_prob)
                    underscore.set(DEP_PROB, dep_prob)

    def _use_noun_chunks(self, docs: Sequence[Doc]) -> None:
        """Let Docs, and all other Docs of their vocabularies, find noun chunks by UD labels."""
        if has_ud_labels(self.labels):
            for target in (self.vocab, *docs, *(doc.vocab for doc in docs)):
                use_ud_noun_chunks(target)

    # Scored trees

    def new_scores(self, doc: Doc, segmentation: Segmentation) -> list[ArcScores]:
        """Return the scores of a new parse of each sentence that has words. The Doc is not changed.

        Raises ValueError if the model does not score arcs.
        """
        self.check_scores_arcs()
        if not len(segmentation.words):
            return []
        vectors, _ = self._word_vectors([doc], segmentation)
        parses = self.parse(self.inputs([doc], segmentation, vectors, scores="all"))
        return [parse.scores for parse in parses if parse.scores is not None]

    # Training

    def _read_gold(self, examples: Sequence[Example]) -> tuple[list[Doc], Segmentation, list[Arcs]]:
        """Return the predicted Docs, their sentences, and the gold tree of each sentence that has words.

        A head or label that is missing, misaligned or outside the predicted sentence has no loss. Labels of
        white space do not count.
        Raises ValueError for a label that initialization did not see.
        """
        segmentation = segment_examples(examples)
        gold_heads, deps = gold_parses(examples, segmentation)
        heads = heads_in_sentences(segmentation, gold_heads)
        ids = {label: i for i, label in enumerate(self.labels)} | {"": -1}
        unknown = sorted(set(deps) - set(ids))
        if unknown and not self.labels:
            raise ValueError(Errors.E405)
        if unknown:
            raise ValueError(Errors.E802.format(unknown=unknown, name=self.name, labels=self.label_data))
        labels = np.array([ids[dep] for dep in deps], dtype=np.int64)
        labels[heads < 0] = -1
        return (
            [example.predicted for example in examples],
            segmentation,
            make_trees(segmentation, heads=heads, labels=labels),
        )

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,  # noqa: ARG002
        labels: list[str] | None = None,
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Set the labels, and build the model with the encoder that it starts from.

        get_examples: Training data, which gives labels, tags, and the pieces of an encoder from scratch.
        nlp: Pipeline of the component.
        labels: Labels, as in ``label_data``; None collects them. The root label is the most frequent label of
            the examples' roots, or the first label if there are no gold roots.
        encoder: Origin of the encoder's weights, such as ``spacy_g2g.EncoderFromCheckpoint.v1``; None trains
            from scratch, as ``spacy_g2g.EncoderFromScratch.v1`` does by default.
        Raises ValueError when there are no labels, when the model can't learn from any tree, for Docs without
            the name of a treebank if the model reads names, and for an encoder if the model shares one.
        """
        self._check_model()
        validate_get_examples(get_examples, "G2GParser.initialize")
        references = [example.reference for example in get_examples()]
        roots, others = count_labels(references)
        tag_attr = self.model.attrs.get("tag_attr")
        if tag_attr == TREEBANK_KEY:
            names = dict.fromkeys(doc.user_data.get(TREEBANK_KEY) for doc in references)
            if None in names:
                raise ValueError(Errors.E825.format(name=self.name))
            self.cfg[TREEBANKS] = [*names]
        segmentation = segment(references)
        tags = read_tags(references, segmentation, tag_attr, self.treebanks)
        sentences = make_sentences(references, segmentation, tags)
        if labels is None:
            self.cfg["labels"] = order_labels([*self.labels, *sorted(others)], roots)
        else:
            own_roots = Counter({label: n for label, n in roots.items() if label in labels})
            self.cfg["labels"] = order_labels([*labels, *self.labels], own_roots or Counter(labels[:1]))
        self.cfg[SUBJECTS] = find_subjects(references)
        self.cfg.pop(TEMPERATURES, None)
        if not self.labels:
            raise ValueError(Errors.E801.format(name=self.name))
        self._build_model(get_examples, encoder, sentences, self._start())
        self.finder.initialize(get_examples())
        if self.model.attrs.get("can_learn") is not None:
            self._warn_unlearnable(get_examples())

    def _start(self) -> Start:
        """Return the start of training, without the encoder."""
        return Start(labels=self.labels)

    def _warn_unlearnable(self, examples: Iterable[Example]) -> None:
        """Warn about the sentences that training skips. Raise ValueError if it skips all."""
        n_gold = n_learnable = 0
        for batch in minibatch(examples, size=CHECKED_AT_ONCE):  # type: ignore[no-untyped-call]
            _, _, gold = self._read_gold(batch)
            if gold:
                n_gold += int(self._has_gold(gold).sum())
                n_learnable += int(self._can_learn(gold).sum())
        if n_gold and not n_learnable:
            raise ValueError(Errors.E810.format(name=self.name, n=n_gold))
        if n_learnable < n_gold:
            text = Warnings.W804.format(name=self.name, n=n_gold - n_learnable, of=n_gold)
            warnings.warn(text, stacklevel=3)

    def _has_gold(self, gold: Sequence[Arcs]) -> BoolArray:
        """Return which gold trees have at least one head, bool [sentences]."""
        return np.array([bool((tree.heads >= 0).any()) for tree in gold], dtype=np.bool_)

    # Treebanks

    @property
    def treebanks(self) -> list[str]:
        """Names of the treebanks that the parser has learned from, if it reads names; ``treebank`` first."""
        return list(self.cfg.get(TREEBANKS, ()))

    @property
    def treebank(self) -> str | None:
        """Treebank whose guidelines the parser follows in Docs without one of ``treebanks``; or None.

        Raises ValueError when set to a name outside ``treebanks``.
        """
        return next(iter(self.treebanks), None)

    @treebank.setter
    def treebank(self, name: str) -> None:
        if name not in self.treebanks:
            raise ValueError(Errors.E826.format(treebank=name, name=self.name, treebanks=self.treebanks))
        self.cfg[TREEBANKS] = sorted(self.treebanks, key=lambda other: other != name)

    # Labels

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the parser. After initialization the root label comes first."""
        return tuple(self.cfg["labels"])

    @property
    def subjects(self) -> tuple[int, ...]:
        """Ids of the labels of which a word has one dependent at most; empty without such a rule."""
        return tuple(self.labels.index(label) for label in self.cfg.get(SUBJECTS, ()) if label in self.labels)

    @property
    def label_data(self) -> list[str]:
        """Labels in the form that ``initialize(labels=...)`` takes."""
        return list(self.labels)

    def add_label(self, label: str) -> int:
        """Add a label. An initialized model grows, and the scores of the label start at zero.

        Returns 1, or 0 if the label is there already.
        Raises ValueError unless label is a string of one character or more.
        """
        if not isinstance(label, str) or not label:
            raise ValueError(Errors.E803.format(label=label))
        if label in self.labels:
            return 0
        resize = self.model.attrs.get("resize_output")
        if resize is None:
            raise ValueError(Errors.E812.format(label=label, name=self.name, model=self.model.name))
        self.cfg["labels"].append(label)
        self.model = resize(self.model, len(self.labels))
        return 1

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        super()._after_loading(origin, exclude)
        sizes = self._built_for(exclude)
        for key, what in LABELS.items():
            if key in self.cfg:
                check_labels(self.cfg[key], origin=origin)
                n = len(self.cfg[key])
                expected = sizes.get(f"n_{key}", n)
                if n != expected:
                    raise ValueError(Errors.E806.format(origin=origin, found=n, what=what, expected=expected))
        for key in (TREEBANKS, SUBJECTS):
            check_labels(self.cfg.get(key, ()), origin=origin)
        self.check_temperatures()
        self._use_noun_chunks([])


@factory("g2g_parser", ParserSettings, assigns=TREE_ASSIGNS, default_score_weights=TREE_WEIGHTS)
def make_g2g_parser(nlp: Language, name: str, settings: ParserSettings) -> G2GParser:
    """Make the ``g2g_parser`` component, which writes a tree with one root for each sentence."""
    return G2GParser(nlp.vocab, name, settings)
