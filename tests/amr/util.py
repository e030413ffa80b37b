"""A few sentences with their AMRs, and pipelines with a tiny parser of AMR for them."""

from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_g2g.amr.data.docs import set_amrs
from spacy_g2g.amr.pipeline.amr_parser import AmrParser

from ..util import TINY_STACK, plain_doc, set_encoder
from .parsing.samples import SAMPLES

#: Sentences, words separated by spaces, with their AMRs.
AMRS = {text: " ".join(amr.split()) for text, amr in SAMPLES.items() if text}
#: What the heads of cross-attention are tied to in the variants of the paper's first table.
STATE_HEADS: dict[str, list[str]] = {
    "a": [],
    "c": ["buffer", "stack"],
    "d": ["buffer", "stack"],
    "e": ["buffer"],
    "f": ["stack"],
    "g": ["buffer_top2"],
    "h": ["stack_top2"],
}


def amr_doc(vocab: Vocab, *texts: str) -> Doc:
    """A Doc of sentences with their AMRs."""
    doc = plain_doc(vocab, *texts)
    set_amrs(doc, [AMRS[text] for text in texts])
    return doc


def amr_examples(nlp: Language) -> list[Example]:
    """An Example for each sentence; the predicted Doc has words and boundaries."""
    return [Example(plain_doc(nlp.vocab, text), amr_doc(nlp.vocab, text)) for text in AMRS]


def amr_model(**settings: Any) -> dict[str, Any]:
    """The ``model`` block of a tiny parser of AMR."""
    return {"@architectures": "spacy_g2g.AmrStackTransformer.v1", **TINY_STACK, **settings}


def amr_nlp(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    """A pipeline of an uninitialized tiny parser; settings are the component's."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("amr_parser", config={"model": model or amr_model(), **settings})
    set_encoder(nlp, "amr_parser", n_positions=40)
    return nlp


def amr_parser_of(nlp: Language) -> AmrParser:
    parser = nlp.get_pipe("amr_parser")
    assert isinstance(parser, AmrParser)
    return parser
