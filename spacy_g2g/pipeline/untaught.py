"""Components that a corpus teaches nothing, since it lacks what they learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from spacy.pipeline import EditTreeLemmatizer, Morphologizer, Tagger
from spacy.training import Example
from thinc.api import noop

from .mwt_splitter import MwtSplitter


def learn_labels(pipe: Any, examples: Sequence[Example]) -> None:
    """Let a component learn the labels of Examples, but no weights.

    pipe: Component whose method ``initialize`` learns both.
    examples: The Examples.
    Raises ValueError if neither they nor the component have a label.
    """
    model, pipe.model = pipe.model, noop()
    try:
        pipe.initialize(lambda: examples)
    finally:
        pipe.model = model


def find_untaught(pipes: Iterable[tuple[str, Any]], examples: Sequence[Example]) -> dict[str, str]:
    """Return the names of components that Examples teach nothing, with what the Examples lack.

    pipes: Names and components that are not initialized yet. They get the labels of the Examples.
    examples: Training data.
    """
    lacks = {}
    for name, pipe in pipes if examples else ():
        if isinstance(pipe, Tagger | EditTreeLemmatizer | MwtSplitter):
            with suppress(ValueError):
                learn_labels(pipe, examples)
            lacks[name] = _what_is_lacking(pipe)
    return {name: what for name, what in lacks.items() if what}


def _what_is_lacking(pipe: Tagger | EditTreeLemmatizer | MwtSplitter) -> str:
    """Return what a component with labels has found none of; "" for nothing.

    A tag that all words have says nothing of them. But a single edit tree makes lemmas, often the words.
    """
    match pipe:
        case MwtSplitter():
            return "" if pipe.table is not None else "multiword tokens"
        case EditTreeLemmatizer():
            return "" if pipe.labels else f"LEMMA of {pipe.min_tree_freq} words formed alike"
        case Morphologizer():
            return "" if len(pipe.labels) > 1 else "two values of UPOS and FEATS"
        case _:
            return "" if len(pipe.labels) > 1 else "two values of XPOS"
