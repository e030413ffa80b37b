"""The ``amr_parser`` component: an AMR for each sentence, by an architecture of the ``ParserModel`` protocol.

Like all modules of factories, this one imports no torch.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ...arrays import BoolArray
from ...data.gold import segment_examples
from ...data.segmentation import Segmentation
from ...errors import Errors, Warnings
from ...models.settings import setting
from ...parser.parser_pipe import ParserPipe
from ...pipeline.component import ComponentSettings, factory
from ...pipeline.sentence_inputs import ParsedBatch
from ..data.docs import set_amr_extensions, set_amrs
from ..formats.penman_text import format_penman
from ..parsing.actions import AmrSentence
from ..parsing.build import EMPTY_LABEL
from ..parsing.graph import Wiki
from ..parsing.table import Replay
from .scheme import AmrScheme, AmrSettings, LemmaSource
from .training_data import ReplayCache, gold_graph, gold_texts, read_amr_sentences, read_training_data

if TYPE_CHECKING:
    from ...models.types import Sentence


#: AMR of a sentence that has only white space.
EMPTY_AMR = f"(a / {EMPTY_LABEL})"


@dataclass(frozen=True, kw_only=True)
class AmrParserSettings(AmrSettings, ComponentSettings):
    """Settings of ``amr_parser``."""

    model: Model[Any, Any] = setting(
        {"@architectures": "spacy_g2g.AmrStackTransformer.v1"},
        "Architecture that builds AMRs, such as ``spacy_g2g.AmrStackTransformer.v1``.",
    )
    scorer: Callable[..., dict[str, Any]] | None = setting(
        {"@scorers": "spacy_g2g.amr_scorer.v1"}, "Scoring method."
    )


class AmrParser(ParserPipe):
    """Parser that writes an AMR for each sentence to ``doc._.amr``. A Doc without boundaries is one sentence.

    scheme: Alignments and actions, learned before the network; None before initialization.
    """

    output_kind = "amrs"
    #: Extra of the library that a package of the pipeline needs.
    extra = "amr"

    lemma_source: LemmaSource
    wiki: Wiki

    def __init__(self, vocab: Vocab, name: str, settings: AmrParserSettings) -> None:
        super().__init__(vocab, settings.model, name)
        settings.apply_to(self)
        set_amr_extensions()
        self.scheme: AmrScheme | None = None
        self._replays = ReplayCache()

    @property
    def settings(self) -> AmrSettings:
        """The settings that training data and the scheme depend on, as they are now."""
        return AmrSettings(**{field.name: getattr(self, field.name) for field in fields(AmrSettings)})

    # Parsing

    def inputs(
        self, docs: Sequence[Doc], segmentation: Segmentation, vectors: Sequence[Floats2d] | None = None
    ) -> "list[Sentence]":
        """Return the sentences of the Docs that have words, with their lemmas."""
        from ..models.types import AmrInput

        sentences = read_amr_sentences(docs, segmentation, self.lemma_source)
        return [
            AmrInput(sentence.forms, vectors=None if vectors is None else vectors[i], amr=sentence)
            for i, sentence in enumerate(sentences)
        ]

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write ``doc._.amr``."""
        docs = list(docs)
        segmentation = scores.segmentation
        amrs: list[list[str]] = [[] for _ in docs]
        parses = iter(scores.parses)
        for doc, n_words in zip(segmentation.doc_of.tolist(), segmentation.n_words.tolist(), strict=True):
            amrs[doc].append(format_penman(next(parses).graph.to_tree()) if n_words else EMPTY_AMR)
        for doc, texts in zip(docs, amrs, strict=True):
            set_amrs(doc, texts)
        self._warn_unfit(docs, scores)

    # Training

    def _read_gold(self, examples: Sequence[Example]) -> tuple[list[Doc], Segmentation, list[Replay]]:
        """Return the predicted Docs, their sentences, and the oracle's actions for each that has words.

        A sentence has no actions if the reference has no sentence with the same text, or no AMR for it.
        """
        segmentation = segment_examples(examples)
        docs = [example.predicted for example in examples]
        sentences = read_amr_sentences(docs, segmentation, self.lemma_source)
        texts = gold_texts(examples, segmentation)
        return docs, segmentation, [self._replay(*pair) for pair in zip(sentences, texts, strict=True)]

    def _replay(self, sentence: AmrSentence, text: str | None) -> Replay:
        """Return the oracle's actions for the text of an AMR; none for None."""
        scheme = self._learned_scheme
        if text is None:
            return scheme.table.replay(sentence, [])
        replay = self._replays.get((sentence, text))
        if replay is None:
            graph = gold_graph(text, sentence.forms, name=self.name, wiki=self.wiki)
            replay = scheme.replay(graph, sentence)
            self._replays[sentence, text] = replay
        return replay

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Learn alignments and actions, then build the model.

        get_examples: The training data; references have ``doc._.amr``.
        nlp: The pipeline, whose annotating components give lemmas, see ``lemma_source``.
        labels: A learned scheme, as in ``label_data``; None to learn it.
        encoder: Origin of the encoder's weights, such as ``spacy_g2g.EncoderFromCheckpoint.v1``; None trains
            from scratch, as ``spacy_g2g.EncoderFromScratch.v1`` does by default.
        Raises ValueError if no sentence has an AMR, for an ill-formed AMR, and for an encoder if the model
        has a shared one.
        """
        from ..models.types import AmrInput, AmrStart

        self._check_model()
        validate_get_examples(get_examples, "AmrParser.initialize")
        sentences, graphs = read_training_data(get_examples, name=self.name, settings=self.settings, nlp=nlp)
        if labels is not None:
            self.scheme = AmrScheme.from_dict(labels)
            self._warn_settings()
        else:
            self.scheme = AmrScheme.learn(graphs, self.settings)
        self._replays = ReplayCache()
        self.cfg["scheme"] = self.scheme.to_dict()
        inputs: list[Sentence] = [AmrInput(sentence.forms, amr=sentence) for sentence in sentences]
        self._build_model(get_examples, encoder, inputs, AmrStart(table=self.scheme.table))

    def _has_gold(self, gold: Sequence[Replay]) -> BoolArray:
        """Return which sentences have an action that the table has, bool [sentences]."""
        return np.array([bool((replay.ids >= 0).any()) for replay in gold], dtype=np.bool_)

    def _warn_settings(self) -> None:
        """Warn about settings that differ from the scheme's."""
        learned = self._learned_scheme.learned_settings
        current = {name: getattr(self, name) for name in learned}
        if current != learned:
            warnings.warn(Warnings.W1004.format(name=self.name, given=current, learned=learned), stacklevel=3)

    @property
    def _learned_scheme(self) -> AmrScheme:
        if self.scheme is None:
            raise ValueError(Errors.E405)
        return self.scheme

    @property
    def label_data(self) -> dict[str, Any] | None:
        """The scheme, for ``spacy init labels``; None before initialization."""
        return None if self.scheme is None else self.scheme.to_dict()

    # Input and output

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Restore the scheme. Raises ValueError if it is broken or does not fit the network."""
        from ..models.types import AmrStart

        super()._after_loading(origin, exclude)
        if "cfg" not in exclude and "scheme" in self.cfg:
            self.scheme = AmrScheme.from_dict(self.cfg["scheme"])
            self._replays = ReplayCache()
            self._warn_settings()
        expected = self._built_for(exclude)
        if expected and (self.scheme is None or AmrStart(table=self.scheme.table).built_for != expected):
            raise ValueError(Errors.E1029.format(origin=origin))


@factory(
    "amr_parser",
    AmrParserSettings,
    assigns=["doc._.amr"],
    default_score_weights={"smatch_f": 1.0, "smatch_p": 0.0, "smatch_r": 0.0},
)
def make_amr_parser(nlp: Language, name: str, settings: AmrParserSettings) -> AmrParser:
    """Make the ``amr_parser`` component, which gives each sentence of a Doc an AMR in ``doc._.amr``."""
    return AmrParser(nlp.vocab, name, settings)
