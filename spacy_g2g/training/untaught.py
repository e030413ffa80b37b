"""Find components that can't learn from a corpus, because it lacks their annotations."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from spacy.pipeline import EditTreeLemmatizer, Morphologizer, Tagger
from spacy.training import Example
from thinc.api import noop

from ..lemmas.lemma_table import LEMMAS, LemmaTable
from ..mwt.mwt_splitter import MwtSplitter


def learn_labels(pipe: Any, examples: Sequence[Example]) -> None:
    """Let a component learn the labels of Examples, but not weights. Raises ValueError without labels."""
    model, pipe.model = pipe.model, noop()
    try:
        pipe.initialize(lambda: examples)
    finally:
        pipe.model = model


def find_untaught(pipes: Iterable[tuple[str, Any]], examples: Sequence[Example]) -> dict[str, str]:
    """Find components that can't learn from Examples. Returns the missing annotation by the component's name.

    A tag that all words share is useless. A single edit tree is useful, because it makes lemmas.

    pipes: Names and components before initialization. They get the labels of the Examples.
    """
    lacks = {}
    for name, pipe in pipes if examples else ():
        if isinstance(pipe, Tagger | EditTreeLemmatizer | LemmaTable | MwtSplitter):
            with suppress(ValueError):
                learn_labels(pipe, examples)
        match pipe:
            case MwtSplitter(table=None):
                lacks[name] = "multiword tokens"
            case EditTreeLemmatizer(labels=()):
                lacks[name] = f"LEMMA of {pipe.min_tree_freq} words formed alike"
            case LemmaTable() if not pipe.lookups.get_table(LEMMAS):
                lacks[name] = "LEMMA"
            case Morphologizer(labels=() | (_,)):
                lacks[name] = "two values of UPOS and FEATS"
            case Tagger(labels=() | (_,)):
                lacks[name] = "two values of XPOS"
    return lacks
