"""Enhanced graphs that were set on Docs, which ``Doc.to_bytes`` and ``DocBin`` keep.

A graph goes, with a warning, once its Doc has other tokens.

Such a graph has a list for each token: pairs of a head, as an index in the Doc, and a label. A root is its
own head, as everywhere in spaCy. White space has no pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Token

from ..errors import Errors
from ..formats.graph import ROOT, Arc
from .kept import fits, warn_of_other_tokens, with_tokens

#: Extension attribute of Docs and tokens, and key of ``doc.user_data``.
ENHANCED = "g2g_enhanced"


def set_enhanced(doc: Doc, arcs: Sequence[Sequence[Arc]] | None) -> None:
    """Set the enhanced graph of a Doc, or remove it. Raises ValueError if it does not fit the Doc."""
    doc.user_data.pop(ENHANCED, None)
    if arcs is not None:
        doc.user_data[ENHANCED] = with_tokens(doc, {"arcs": _fitting(arcs, doc, range(len(doc)))})


def own_enhanced(doc: Doc) -> list[list[Arc]] | None:
    """Return the enhanced graph that was set on a Doc, or None. Raises ValueError if it does not fit."""
    return own_arcs(doc, range(len(doc)))


def own_arcs(doc: Doc, places: Sequence[int]) -> list[list[Arc]] | None:
    """Return the arcs of some tokens in the graph that was set on a Doc, or None. Others are not looked at.

    places: Indices of the tokens.
    Raises ValueError if the graph does not fit the Doc.
    """
    found = doc.user_data.get(ENHANCED)
    if not fits(doc, found, places):
        set_enhanced(doc, None)
        warn_of_other_tokens(doc, f"doc._.{ENHANCED}")
        return None
    found = found.get("arcs") if isinstance(found, dict) else found
    return None if found is None else _fitting(found, doc, places)


def _fitting(found: Any, doc: Doc, places: Sequence[int]) -> list[list[Arc]]:
    tokens = range(len(doc))
    try:
        arcs = [[(tokens[head], str(dep)) for head, dep in found[place]] for place in places]
        fits = len(found) == len(doc)
        fits &= all(dep.split() == [dep] and "|" not in dep for of_word in arcs for _, dep in of_word)
    except (TypeError, ValueError, IndexError, KeyError):
        fits = False
    if not fits:
        raise ValueError(Errors.E522.format(found=repr(found)[:80], n=len(doc)))
    return arcs


def arcs_of(words: Sequence[Token]) -> list[list[Arc]]:
    """Return the arcs of a sentence in the graph that was set on its Doc; none without one.

    words: Words of the sentence. The arcs count them from 1.
    Raises ValueError if a head is not among them.
    """
    doc, ids = words[0].doc, {word.i: number for number, word in enumerate(words, start=1)}
    found = own_arcs(doc, [*ids]) or [[] for _ in words]
    for word, arcs in zip(words, found, strict=True):
        for head in (head for head, _ in arcs if head not in ids):
            raise ValueError(Errors.E505.format(word=word.text, head=doc[head].text, index=word.i))
    pairs = zip(words, found, strict=True)
    return [[(ids[head] if head != word.i else ROOT, dep) for head, dep in arcs] for word, arcs in pairs]
