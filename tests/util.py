"""A tiny treebank, and pipelines with tiny parsers and refiners for it."""

import random
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, Model, fix_random_seed

from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.sources import EncoderSource, encoder_from_scratch
from spacy_g2g.models.types import Sentence, Start
from spacy_g2g.parser.g2g_parser import G2GParser

#: Number of inputs of a random test in the default profile.
DEFAULT_EXAMPLES = 60
#: Ten sentences, one a line; a word is FORM/UPOS/HEAD/DEPREL. The fourth and the ninth are not projective.
TREEBANK = """
she/PRON/2/nsubj saw/VERB/0/root the/DET/4/det cat/NOUN/2/obj ./PUNCT/2/punct
dogs/NOUN/2/nsubj bark/VERB/0/root
Go/VERB/0/root !/PUNCT/1/punct
a/DET/2/det hearing/NOUN/4/nsubj is/AUX/4/aux set/VERB/0/root on/ADP/6/case it/PRON/2/nmod today/NOUN/4/obl
the/DET/2/det man/NOUN/6/nsubj with/ADP/5/case the/DET/5/det hat/NOUN/2/nmod slept/VERB/0/root
tea/NOUN/4/nsubj and/CCONJ/3/cc milk/NOUN/1/conj mix/VERB/0/root ./PUNCT/4/punct
he/PRON/2/nsubj said/VERB/0/root that/SCONJ/5/mark they/PRON/5/nsubj left/VERB/2/ccomp
no/DET/2/det one/PRON/3/nsubj came/VERB/0/root ,/PUNCT/5/punct sadly/ADV/3/advmod
what/PRON/4/obl did/AUX/4/aux you/PRON/4/nsubj look/VERB/0/root at/ADP/1/case ?/PUNCT/4/punct
yes/INTJ/0/root
"""

TINY_SIZES = {"width": 32, "n_layers": 1, "n_attention_heads": 2, "hidden_width": 64, "n_positions": 64}
COMPONENT_SETTINGS = {"store_probabilities", "keep_scores", "half_precision_weights", "store_graphs"}
COMPONENT_SETTINGS |= {"head_corruption", "label_corruption", "certain", "empty_share"}
ARCHITECTURES = {"g2g_parser": "spacy_g2g.SynTr.v1", "rng_refiner": "spacy_g2g.RNGTr.v1"}
TINY_MODEL = {"arc_width": 24, "label_width": 16, "dropout": 0.0}
#: Settings of words' vectors and arc scores, other than their defaults.
MIXED_WORDS: dict[str, Any] = {"n_mixed_layers": 2, "pooling": "mean"}
CONTEXT: dict[str, Any] = {"n_context_layers": 1, "context_width": 16}
ALL_LEVERS: dict[str, Any] = {**MIXED_WORDS, **CONTEXT, "distances": True}
TINY_TRANSITIONS = {"hidden_width": 32, "dropout": 0.0}

#: Labels for models that are built without a component.
LABELS = ["root", "nsubj", "obj", "det", "punct", "obl"]

#: Settings that the rows of the first version of the G2GTr paper have in common.
FIRST_VERSION = {"reads_buffer": False, "swap": False, "pooling": "mean"}
#: The systems of both versions of the G2GTr paper: architectures and their settings.
PAPER_ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "DepTr": ("StateTr", {**FIRST_VERSION, "graph_input": False, "history": None}),
    "DepTr+H": ("StateTr", {**FIRST_VERSION, "graph_input": False, "history": "actions"}),
    "DepTr+CH": (
        "StateTr",
        {**FIRST_VERSION, "graph_input": False, "composition": True, "history": "actions"},
    ),
    "G2CLSTr": ("StateTr", {**FIRST_VERSION, "composition": True, "history": "actions", "output": "cls"}),
    "G2GTr": ("StateTr", {**FIRST_VERSION, "composition": True, "history": "actions"}),
    "StateTr": ("StateTr", {"graph_input": False, "composition": True}),
    "StateCLSTr": ("StateTr", {"graph_input": False, "composition": True, "output": "cls"}),
    "StateTr+G2GTr": ("StateTr", {}),
    "StateTr+G2CLSTr": ("StateTr", {"output": "cls"}),
    "StateTr+G2GTr+C": ("StateTr", {"composition": True}),
    "SentTr": ("SentTr", {"graph_input": False}),
    "SentTr+G2GTr": ("SentTr", {}),
}
#: Variants of the stack-Transformer, by their letters in the paper's first table.
STACK_ROWS: dict[str, dict[str, Any]] = {
    "Stack-a": {"state_heads": []},
    "Stack-b": {"state_heads": [], "shift_labels": 5},
    "Stack-c": {"state_heads": ["buffer", "stack"]},
    "Stack-d": {"state_heads": ["buffer", "stack"], "state_positions": True},
    "Stack-g": {"state_heads": ["buffer_top2"]},
    "Stack-bh": {"state_heads": ["stack_top2"], "shift_labels": 5},
}
TINY_STACK = {"width": 32, "hidden_width": 64, "n_encoder_layers": 1, "n_layers": 1, "beam_width": 1}
TINY_STACK |= {"dropout": 0.0, "label_smoothing": 0.0}


def sample_texts(n: int) -> list[str]:
    """Return the first texts of the sample treebank."""
    path = Path(__file__).parents[1] / "assets/sample/en_sample-ud-train.conllu"
    lines = path.read_text(encoding="utf8").splitlines()
    return [line.partition(" = ")[2] for line in lines if line.startswith("# text = ")][:n]


def tries(n: int) -> hypothesis.settings:
    """Return settings of a random test that tries n inputs by default, and in the long profile more, too."""
    profile = hypothesis.settings.default
    return hypothesis.settings(max_examples=max(n, n * profile.max_examples // DEFAULT_EXAMPLES))


def mostly_thorough(values: Iterable[Any], tested: Container[Any]) -> list[Any]:
    """Return parameters of a test, of which ``make test`` takes some, and ``make long`` all."""
    return [pytest.param(value, marks=() if value in tested else pytest.mark.thorough) for value in values]


def mostly_slow(values: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Return parameters of a test or fixture, of which ``make check`` takes the quick ones alone."""
    return [pytest.param(value, marks=() if value in quick else pytest.mark.slow) for value in values]


def forks(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that forks this process as slow; Python 3.12 and later warn of forks beside threads."""
    return pytest.mark.slow(pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")(test))


def read_treebank(text: str = TREEBANK) -> list[list[tuple[str, str, int, str]]]:
    """Sentences of (form, tag, head from 1 or 0, label)."""
    rows = [[cell.split("/") for cell in line.split()] for line in text.strip().splitlines()]
    return [[(form, tag, int(head), dep) for form, tag, head, dep in row] for row in rows]


def gold_doc(vocab: Vocab, sentences: Iterable[Sequence[tuple[str, str, int, str]]]) -> Doc:
    """One Doc of annotated sentences."""
    rows = []
    for sentence in sentences:
        offset = len(rows)
        for i, (form, tag, head, dep) in enumerate(sentence):
            rows.append((form, tag, offset + (head - 1 if head else i), dep, i == 0))
    words, tags, heads, deps, starts = (list(column) for column in zip(*rows, strict=True))
    return Doc(vocab, words=words, tags=tags, pos=tags, heads=heads, deps=deps, sent_starts=starts)


def plain_doc(vocab: Vocab, *sentences: str | Sequence[str]) -> Doc:
    """A Doc with the boundaries of sentences given as words, or as text with one space between words."""
    split = [s.split(" ") if isinstance(s, str) else list(s) for s in sentences]
    starts = [i == 0 for words in split for i in range(len(words))]
    return Doc(vocab, words=[word for words in split for word in words], sent_starts=starts)


def treebank_docs(vocab: Vocab) -> list[Doc]:
    """The ten sentences, each a Doc without a parse."""
    return [plain_doc(vocab, [word[0] for word in sentence]) for sentence in read_treebank()]


def treebank_examples(nlp: Language) -> list[Example]:
    """An Example for each of the ten sentences; the predicted Doc has words and boundaries."""
    gold = [gold_doc(nlp.vocab, [sentence]) for sentence in read_treebank()]
    return [Example(doc, reference) for doc, reference in zip(treebank_docs(nlp.vocab), gold, strict=True)]


def model_config(factory: str = "g2g_parser", **settings: Any) -> dict[str, Any]:
    """The ``model`` block of a tiny parser or refiner.

    settings: ``row``, of ``PAPER_ROWS`` or ``STACK_ROWS``, for a transition-based parser; and those
        of the model.
    """
    row = settings.pop("row", None)
    if row is None:
        return {"@architectures": ARCHITECTURES[factory], **TINY_MODEL, **settings}
    if row in STACK_ROWS:
        own = {"@architectures": "spacy_g2g.StackTransformer.v1"}
        return {**own, **TINY_STACK, **STACK_ROWS[row], **settings}
    name, of_row = PAPER_ROWS[row]
    architecture = {"@architectures": f"spacy_g2g.{name}.v1"}
    return {**architecture, **TINY_TRANSITIONS, **of_row, **settings}


def graph_docs(vocab: Vocab, graphs: str) -> list[Doc]:
    """The ten sentences with graphs to begin with.

    graphs: "gold" trees, "empty" ones, or "wrong" ones, in which each word hangs on the next by label "x".
    """
    if graphs == "empty":
        return treebank_docs(vocab)
    sentences = read_treebank()
    if graphs == "wrong":
        sentences = [
            [(*word[:2], i if i <= len(row) else 0, "x") for i, word in enumerate(row, 2)]
            for row in sentences
        ]
    return [gold_doc(vocab, [sentence]) for sentence in sentences]


def graph_examples(nlp: Language, graphs: str) -> list[Example]:
    """``treebank_examples``, whose predicted Docs have graphs to begin with."""
    references = [example.reference for example in treebank_examples(nlp)]
    return [Example(doc, gold) for doc, gold in zip(graph_docs(nlp.vocab, graphs), references, strict=True)]


def component_config(factory: str = "g2g_parser", **settings: Any) -> dict[str, Any]:
    """The config of a tiny parser or refiner, from settings of the component and of its model."""
    own = {name: settings.pop(name) for name in COMPONENT_SETTINGS & settings.keys()}
    return {"model": model_config(factory, **settings), **own}


def add_tiny(nlp: Language, factory: str = "g2g_parser", **settings: Any) -> G2GParser:
    """Add an uninitialized tiny parser or refiner, with a tiny encoder from scratch, to a pipeline.

    settings: those of ``component_config``, and sizes of the encoder.
    """
    sizes = {name: settings.pop(name) for name in TINY_SIZES if name in settings}
    pipe = nlp.add_pipe(factory, config=component_config(factory, **settings))
    set_encoder(nlp, factory, **sizes)
    assert isinstance(pipe, G2GParser)
    return pipe


def set_encoder(nlp: Language, name: str, **settings: Any) -> None:
    """Have ``nlp.initialize`` start a component with a tiny encoder from scratch."""
    encoder = {"@callbacks": "spacy_g2g.EncoderFromScratch.v1", **TINY_SIZES, **settings}
    initialize = nlp.config["initialize"]
    initialize["components"] = {**initialize["components"], name: {"encoder": encoder}}


def make_nlp(*, factory: str = "g2g_parser", lang: str = "xx", **settings: Any) -> Language:
    """A pipeline of an uninitialized tiny parser or refiner; settings as of ``add_tiny``.

    lang: Language. A tokenizer of "en" takes most of the time of making and loading such a pipeline.
    """
    fix_random_seed(0)
    nlp = spacy.blank(lang)
    add_tiny(nlp, factory, **settings)
    return nlp


def initialized_nlp(*, seed: int | None = 0, **settings: Any) -> Language:
    """A tiny parser for the ten sentences; if seed is set, with random weights in all places."""
    nlp = make_nlp(**settings)
    nlp.initialize(lambda: treebank_examples(nlp))
    if seed is not None:
        randomize(parser_of(nlp).model, seed)
    return nlp


def random_nlp(graphs: str = "empty", **settings: Any) -> Language:
    """A tiny parser or refiner that has seen graphs, with weights so random that many arcs could change."""
    nlp = make_nlp(**settings)
    nlp.initialize(lambda: graph_examples(nlp, graphs))
    randomize(parser_of(nlp).model, 1, scale=0.25)
    return nlp


def parser_of(nlp: Language) -> G2GParser:
    """The last parser or refiner of a pipeline."""
    return [component for _, component in nlp.pipeline if isinstance(component, G2GParser)][-1]


def initialized_model(
    model: Model[Any, Any], seed: int = 0, n_labels: int = 6, n_initial_labels: int = 0, **sizes: int
) -> G2GShim:
    """The shim of an architecture, built for the ten sentences, with random weights in all places.

    sizes: sizes of the encoder that differ from ``TINY_SIZES``.
    """
    sentences = [Sentence([w[0] for w in s], [w[1] for w in s]) for s in read_treebank()]
    fix_random_seed(seed)
    encoder = tiny_encoder(min_frequency=1, **sizes)
    start(model, sentences, encoder, n_labels=n_labels, n_initial_labels=n_initial_labels)
    randomize(model, seed)
    return get_shim(model)


def start(
    model: Model[Any, Any],
    sentences: Sequence[Sentence],
    encoder: EncoderSource,
    *,
    n_labels: int = 6,
    n_initial_labels: int = 0,
) -> G2GShim:
    """Initialize a model with the first of ``LABELS``, and return its shim."""
    labels = tuple(LABELS[:n_labels])
    model.initialize(X=sentences, Y=Start(labels=labels, n_initial_labels=n_initial_labels, encoder=encoder))
    return get_shim(model)


def tiny_encoder(**settings: Any) -> EncoderSource:
    """The origin of a tiny encoder from scratch."""
    return encoder_from_scratch(**{**TINY_SIZES, **settings})


def randomize(model: Model[Any, Any], seed: int = 0, scale: float = 0.1) -> None:
    """Add noise to all weights: those that start at zero would give every arc the same score."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in get_shim(model).network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=scale)


def weights_of(nlp_or_model: Any) -> dict[str, torch.Tensor]:
    """A copy of all weights by their names."""
    model = parser_of(nlp_or_model).model if isinstance(nlp_or_model, Language) else nlp_or_model
    return {name: weight.clone() for name, weight in get_shim(model).network.state_dict().items()}


def overfit(nlp: Language, examples: list[Example], steps: int = 60) -> dict[str, float]:
    """Train on the same examples over and over; gives the last losses."""
    optimizer = Adam(0.005, L2=0.0)
    order = random.Random(0)
    losses: dict[str, float] = {}
    for _ in range(steps):
        losses = {}
        nlp.update(order.sample(examples, len(examples)), sgd=optimizer, losses=losses, drop=0.0)
    return losses


def taught(nlp: Language, examples: Callable[[Language], list[Example]] = treebank_examples) -> Language:
    """The pipeline, initialized and trained until it knows the examples by heart."""
    nlp.initialize(lambda: examples(nlp))
    overfit(nlp, examples(nlp))
    return nlp


def tree_of(doc: Doc) -> list[tuple[int, str]]:
    """Head (number of a token) and label of each token."""
    return [(token.head.i, token.dep_) for token in doc]


def trees_of(nlp: Language, docs: Iterable[Doc] | None = None) -> list[list[tuple[int, str]]]:
    """The trees that a pipeline finds for Docs, by default for the ten sentences."""
    return [tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab) if docs is None else docs)]
