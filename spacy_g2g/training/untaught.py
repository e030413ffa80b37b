"""Components that a corpus teaches nothing, since it lacks what they learn."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from spacy.pipeline import EditTreeLemmatizer, Morphologizer, Tagger
from spacy.training import Example
from thinc.api import noop

from ..mwt.mwt_splitter import MwtSplitter


def learn_labels(pipe: Any, examples: Sequence[Example]) -> None:
    """Let a component learn the labels of Examples, but no weights. Raises ValueError if there are none."""
    model, pipe.model = pipe.model, noop()
    try:
        pipe.initialize(lambda: examples)
    finally:
        pipe.model = model


def find_untaught(pipes: Iterable[tuple[str, Any]], examples: Sequence[Example]) -> dict[str, str]:
    """Return the names of components that Examples teach nothing, with what the Examples lack.

    A tag that all words have says nothing of them. But a single edit tree makes lemmas, often the words.

    pipes: Names and components that are not initialized yet. They get the labels of the Examples.
    examples: Training data.
    """
    lacks = {}
    for name, pipe in pipes if examples else ():
        if isinstance(pipe, Tagger | EditTreeLemmatizer | MwtSplitter):
            with suppress(ValueError):
                learn_labels(pipe, examples)
        match pipe:
            case MwtSplitter(table=None):
                lacks[name] = "multiword tokens"
            case EditTreeLemmatizer(labels=()):
                lacks[name] = f"LEMMA of {pipe.min_tree_freq} words formed alike"
            case Morphologizer(labels=() | (_,)):
                lacks[name] = "two values of UPOS and FEATS"
            case Tagger(labels=() | (_,)):
                lacks[name] = "two values of XPOS"
    return lacks
