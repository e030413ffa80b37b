"""The ``amr_parser`` component: an AMR for each sentence, by an architecture of the ``ParserModel`` protocol.

Like all modules of factories, this one imports no torch.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Model

from ...arrays import BoolArray
from ...errors import Errors, Warnings
from ...pipeline.gold import lay_out_examples
from ...pipeline.layout import Layout, ParsedBatch, make_sentences
from ...pipeline.parser_pipe import ParserPipe
from ..data.docs import get_amrs, gold_amrs, set_amr_extensions, set_amrs
from ..formats.penman_text import parse_penman
from ..parsing.actions import AmrSentence
from ..parsing.aligner import Unaligned
from ..parsing.build import EMPTY_LABEL
from ..parsing.graph import AmrGraph, Wiki
from ..parsing.machine import MAX_FORKS
from ..parsing.scheme import AmrScheme
from ..parsing.table import Candidates, Replay

if TYPE_CHECKING:
    from ...models.types import Sentence

LemmaSource = Literal["rules", "token"]


#: The AMR of a sentence of nothing but white space.
EMPTY_AMR = AmrGraph([EMPTY_LABEL], []).to_penman()
EXAMPLES_AT_ONCE = 500
#: Words of a sentence in a message.
SHOWN_WORDS = 8
#: Bytes of the states of gold AMRs that are kept between updates.
MAX_KEPT_BYTES = 500_000_000

#: A gold sentence: its words, their lemmas, the text of its AMR.
GoldKey = tuple[tuple[str, ...], tuple[str, ...], str]


@Language.factory(
    "amr_parser",
    assigns=["doc._.amr"],
    default_config={
        "model": {"@architectures": "spacy_g2g.AmrStackTransformer.v1"},
        "shift_labels": 0,
        "label_candidates": "lemma",
        "lemma_source": "rules",
        "unaligned": "neighbour",
        "em_iterations": 8,
        "max_forks": MAX_FORKS,
        "wiki": "drop",
        "half_precision_weights": False,
        "scorer": {"@scorers": "spacy_g2g.amr_scorer.v1"},
    },
    default_score_weights={"smatch_f": 1.0, "smatch_p": 0.0, "smatch_r": 0.0},
)
def make_amr_parser(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    shift_labels: int,
    label_candidates: Candidates,
    lemma_source: LemmaSource,
    unaligned: Unaligned,
    em_iterations: int,
    max_forks: int,
    wiki: Wiki,
    half_precision_weights: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> AmrParser:
    """Make the ``amr_parser`` component, which gives each sentence of a Doc an AMR in ``doc._.amr``.

    model: Architecture that builds AMRs, such as ``spacy_g2g.AmrStackTransformer.v1``.
    shift_labels: Number of the most frequent words that have a SHIFT action of their own.
    label_candidates: Labels that a word may get besides copies of itself: labels that the training data gave
        to the same "word", to words of the same "lemma", or to any word ("vocab").
    lemma_source: Source of lemmas: "rules" together with the concepts of the training data, or "token" for
        lemmas that an earlier component wrote. Tokens without a lemma follow the rules. In training, that
        component must be among the ``annotating_components``.
    unaligned: Word that a concept belongs to in training if no rule finds its word: the word of a "neighbour"
        in the graph, or the "free_word" nearest to that word.
    em_iterations: Number of iterations of expectation maximisation, which in training finds the words of
        concepts that share no letters with their word.
    max_forks: Largest number of concepts of a word besides the first.
    wiki: Links to Wikipedia: leave them out ("drop"), or learn them as constants ("keep").
    half_precision_weights: Save weights in float16, which takes half the space.
    scorer: Scoring method.
    """
    return AmrParser(
        nlp.vocab,
        model,
        name,
        shift_labels=shift_labels,
        label_candidates=label_candidates,
        lemma_source=lemma_source,
        unaligned=unaligned,
        em_iterations=em_iterations,
        max_forks=max_forks,
        wiki=wiki,
        half_precision_weights=half_precision_weights,
        scorer=scorer,
    )


class AmrParser(ParserPipe):
    """Gives Docs the text of an AMR for each sentence, ``doc._.amr``; a Doc without boundaries is one.

    What it learned before the network is ``scheme``; None before initialisation.
    """

    output_kind = "amrs"
    #: Extra of the library that a package of the pipeline needs.
    extra = "amr"

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = "amr_parser",
        *,
        shift_labels: int = 0,
        label_candidates: Candidates = "lemma",
        lemma_source: LemmaSource = "rules",
        unaligned: Unaligned = "neighbour",
        em_iterations: int = 8,
        max_forks: int = MAX_FORKS,
        wiki: Wiki = "drop",
        half_precision_weights: bool = False,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(vocab, model, name, half_precision_weights=half_precision_weights, scorer=scorer)
        _check_choice("label_candidates", label_candidates, ("word", "lemma", "vocab"))
        _check_choice("lemma_source", lemma_source, ("rules", "token"))
        _check_choice("unaligned", unaligned, ("neighbour", "free_word"))
        _check_choice("wiki", wiki, ("drop", "keep"))
        counts = {"shift_labels": shift_labels, "em_iterations": em_iterations, "max_forks": max_forks}
        for setting, n in counts.items():
            if n < 0:
                raise ValueError(Errors.E512.format(setting=setting, value=n, expected="a number from 0"))
        set_amr_extensions()
        self.shift_labels = shift_labels
        self.label_candidates: Candidates = label_candidates
        self.lemma_source = lemma_source
        self.unaligned: Unaligned = unaligned
        self.em_iterations = em_iterations
        self.max_forks = max_forks
        self.wiki: Wiki = wiki
        self.scheme: AmrScheme | None = None
        self._replays = _KeptReplays()

    # Parsing

    def inputs(self, docs: Sequence[Doc], layout: Layout) -> list[Sentence]:
        """Return the sentences of the Docs that have words, with their lemmas."""
        from ..models.types import AmrInput

        return [AmrInput.of(sentence) for sentence in self._amr_sentences(docs, layout)]

    def _amr_sentences(self, docs: Sequence[Doc], layout: Layout) -> list[AmrSentence]:
        lemmatizer = self._known_scheme.lemmatizer
        # The attribute "tags" of a sentence holds any attribute of tokens.
        given = make_sentences(docs, layout, "LEMMA" if self.lemma_source == "token" else None)
        return [lemmatizer.sentence(sentence.words, sentence.tags) for sentence in given]

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write ``doc._.amr``."""
        docs = list(docs)
        layout = scores.layout
        amrs: list[list[str]] = [[] for _ in docs]
        parses = iter(scores.parses)
        for doc, n_words in zip(layout.doc_of.tolist(), layout.n_words.tolist(), strict=True):
            amrs[doc].append(next(parses).graph.to_penman() if n_words else EMPTY_AMR)
        for doc, texts in zip(docs, amrs, strict=True):
            set_amrs(doc, texts)
        self._warn_unfit(docs, scores)

    # Training

    def _read_gold(self, examples: Sequence[Example]) -> tuple[list[Doc], Layout, list[Replay]]:
        """The predicted Docs, where their sentences are, and the oracle's actions of those that have words.

        A sentence without the same text in the reference, or without an AMR there, has no actions.
        """
        layout = lay_out_examples(examples)
        docs = [example.predicted for example in examples]
        sentences = self._amr_sentences(docs, layout)
        replays = [
            self._replay(sentence, text)
            for sentence, text in zip(sentences, self._gold(examples, layout), strict=True)
        ]
        return docs, layout, replays

    def _gold(self, examples: Sequence[Example], layout: Layout) -> Iterator[str | None]:
        """The gold AMR of each sentence that has words, None where there is none."""
        starts = np.flatnonzero(layout.starts)
        ends = np.append(starts, len(layout.starts))[1:]
        owners = layout.doc_of
        for i, example in enumerate(examples):
            of_doc = np.flatnonzero((owners == i) & (layout.n_words > 0))
            first = layout.doc_starts[i]
            spans = [(int(starts[j] - first), int(ends[j] - first)) for j in of_doc]
            yield from gold_amrs(example, spans)

    def _replay(self, sentence: AmrSentence, text: str | None) -> Replay:
        """The oracle's actions for the text of an AMR; none for None."""
        scheme = self._known_scheme
        if text is None:
            return scheme.table.replay(sentence, [])
        key = sentence.forms, sentence.lemmas, text
        found = self._replays.get(key)
        if found is None:
            found = scheme.replay(self._graph(text, sentence.forms), sentence)
            self._replays.put(key, found)
        return found

    def _graph(self, text: str, words: Sequence[str]) -> AmrGraph:
        where = f"{self.name}, gold AMR of {' '.join(words[:SHOWN_WORDS])!r}"
        return AmrGraph.from_tree(parse_penman(text, where), self.wiki)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Learn lemmas, alignments and actions, and build the model with the encoder that it starts from.

        get_examples: the training data; references have ``doc._.amr``.
        nlp: the pipeline, whose frozen and annotating components give lemmas, see ``lemma_source``.
        labels: what was learned of AMRs, as in ``label_data``; None learns it.
        encoder: origin of the encoder's weights, such as ``spacy_g2g.EncoderFromCheckpoint.v1``; None trains
            from scratch, as ``spacy_g2g.EncoderFromScratch.v1`` does by default.
        Raises ValueError when no sentence has an AMR, for AMRs that are not well-formed, and for an encoder
        where the model has a shared one.
        """
        from ..models.types import AmrStart

        self._check_model(encoder)
        validate_get_examples(get_examples, "AmrParser.initialize")
        sentences, graphs = self._read_graphs(get_examples, nlp)
        if labels is not None:
            self.scheme = AmrScheme.from_dict(labels)
            self._warn_settings()
        else:
            self.scheme = AmrScheme.learn(
                graphs,
                shift_labels=self.shift_labels,
                candidates=self.label_candidates,
                unaligned=self.unaligned,
                iterations=self.em_iterations,
                max_forks=self.max_forks,
            )
        self._replays = _KeptReplays()
        self.cfg["scheme"] = self.scheme.to_dict()
        self._build_model(get_examples, encoder, sentences, AmrStart(table=self.scheme.table))

    def _has_gold(self, gold: Sequence[Replay]) -> BoolArray:
        """Return which sentences have an action that the table has, bool [sentences]."""
        return np.array([bool((replay.ids >= 0).any()) for replay in gold], dtype=np.bool_)

    def _read_graphs(
        self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None
    ) -> tuple[list[Sentence], list[tuple[AmrGraph, Sequence[str], Sequence[str] | None]]]:
        """All sentences, and the graphs of those that have one, with their words and lemmas."""
        sentences: list[Sentence] = []
        graphs: list[tuple[AmrGraph, Sequence[str], Sequence[str] | None]] = []
        n_graphs = 0
        for batch in minibatch(get_examples(), size=EXAMPLES_AT_ONCE):  # type: ignore[no-untyped-call]
            layout = lay_out_examples(batch)
            docs = self._with_lemmas([example.predicted for example in batch], nlp)
            tags = "LEMMA" if self.lemma_source == "token" else None
            found = make_sentences(docs, layout, tags)
            n_graphs += sum(len(get_amrs(example.reference) or ()) for example in batch)
            for sentence, text in zip(found, self._gold(batch, layout), strict=True):
                if text is not None:
                    graphs.append((self._graph(text, sentence.words), sentence.words, sentence.tags))
            sentences += found
        if not graphs:
            raise ValueError(Errors.E514.format(name=self.name, n=len(sentences), amrs=n_graphs))
        if len(graphs) < n_graphs:
            warnings.warn(
                Warnings.W507.format(name=self.name, n=n_graphs - len(graphs), of=n_graphs), stacklevel=3
            )
        return sentences, graphs

    def _with_lemmas(self, docs: list[Doc], nlp: Language | None) -> list[Doc]:
        """Docs as updates will have them: with what components write that annotate in training.

        Of those that training changes nothing is known yet.
        """
        if self.lemma_source == "rules" or nlp is None:
            return docs
        settings = nlp.config["training"]
        docs = [doc.copy() for doc in docs]
        # Frozen components are disabled while others are initialised.
        for name, component in nlp.components:
            if name == self.name:
                break
            is_fixed = name in settings["frozen_components"] or not getattr(component, "is_trainable", False)
            if is_fixed and name in settings["annotating_components"]:
                docs = list(component.pipe(docs)) if hasattr(component, "pipe") else [*map(component, docs)]
        return docs

    def _warn_settings(self) -> None:
        """Say which settings are not those of the scheme."""
        table, aligner = self._known_scheme.table, self._known_scheme.aligner
        learned = {
            "label_candidates": table.candidates,
            "max_forks": table.max_forks,
            "unaligned": aligner.unaligned,
        }
        given = {name: getattr(self, name) for name in learned}
        if given != learned:
            warnings.warn(Warnings.W508.format(name=self.name, given=given, learned=learned), stacklevel=3)

    @property
    def _known_scheme(self) -> AmrScheme:
        if self.scheme is None:
            raise ValueError(Errors.E405)
        return self.scheme

    @property
    def label_data(self) -> dict[str, Any] | None:
        """What was learned of AMRs before the network, for ``spacy init labels``; None before that."""
        return None if self.scheme is None else self.scheme.to_dict()

    # Input and output

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Read what was learned of AMRs. Raises ValueError where it is broken or not the network's."""
        from ..models.types import AmrStart

        if "cfg" not in exclude and "scheme" in self.cfg:
            try:
                self.scheme = AmrScheme.from_dict(self.cfg["scheme"])
            except ValueError as error:
                raise ValueError(Errors.E505.format(path=f"{origin}: cfg", error=error)) from error
            self._replays = _KeptReplays()
            self._warn_settings()
        expected = self._built_for(exclude)
        if expected and (self.scheme is None or AmrStart(table=self.scheme.table).built_for != expected):
            raise ValueError(Errors.E515.format(origin=origin))


class _KeptReplays:
    """The oracle's actions of gold sentences, which take longer to find than a step of training.

    States are kept as bits; the oldest go when there is no more room. Copies and pickles begin empty.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[GoldKey, _Kept] = OrderedDict()
        self._n_bytes = 0

    def __reduce__(self) -> tuple[type[_KeptReplays], tuple[()]]:
        return _KeptReplays, ()

    def get(self, key: GoldKey) -> Replay | None:
        if key not in self._kept:
            return None
        replay, bits = self._kept[key]
        valid = np.unpackbits(bits, axis=1, count=replay.valid.shape[1]).astype(np.bool_)
        return replay._replace(valid=valid)

    def put(self, key: GoldKey, replay: Replay) -> None:
        # Of what is kept as bits the shape alone is left.
        shape = np.broadcast_to(np.False_, replay.valid.shape)
        kept = self._kept[key] = _Kept(replay._replace(valid=shape), np.packbits(replay.valid, axis=1))
        self._n_bytes += kept.n_bytes
        while self._n_bytes > MAX_KEPT_BYTES:
            self._n_bytes -= self._kept.popitem(last=False)[1].n_bytes


class _Kept(NamedTuple):
    replay: Replay
    bits: npt.NDArray[np.uint8]

    @property
    def n_bytes(self) -> int:
        return self.bits.nbytes + sum(array.nbytes for array in self.replay if array.base is None)


def _check_choice(setting: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(Errors.E512.format(setting=setting, value=repr(value), expected=f"one of {choices}"))
