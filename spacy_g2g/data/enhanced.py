"""Enhanced graphs that were set on Docs, which ``Doc.to_bytes`` and ``DocBin`` keep.

Such a graph has a list for each token: pairs of a head, as an index in the Doc, and a label. A root is its
own head, as everywhere in spaCy. White space has no pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Token

from ..errors import Errors
from ..formats.graph import ROOT, Arc

#: Extension attribute of Docs and tokens, and key of ``doc.user_data``.
ENHANCED = "g2g_enhanced"


def set_enhanced(doc: Doc, arcs: Sequence[Sequence[Arc]] | None) -> None:
    """Set the enhanced graph of a Doc, or remove it. Raises ValueError if it does not fit the Doc."""
    doc.user_data.pop(ENHANCED, None)
    if arcs is not None:
        doc.user_data[ENHANCED] = _fitting(arcs, doc)


def own_enhanced(doc: Doc) -> list[list[Arc]] | None:
    """Return the enhanced graph that was set on a Doc, or None. Raises ValueError if it does not fit."""
    found = doc.user_data.get(ENHANCED)
    return None if found is None else _fitting(found, doc)


def _fitting(found: Any, doc: Doc) -> list[list[Arc]]:
    try:
        arcs = [[(range(len(doc))[head], str(dep)) for head, dep in of_token] for of_token in found]
    except (TypeError, ValueError, IndexError):
        arcs = None
    if arcs is None or len(arcs) != len(doc):
        raise ValueError(Errors.E522.format(found=repr(found)[:80], n=len(doc)))
    return arcs


def arcs_of(words: Sequence[Token]) -> list[list[Arc]]:
    """Return the arcs of a sentence in the graph that was set on its Doc; none without one.

    words: Words of the sentence. The arcs count them from 1.
    Raises ValueError if a head is not among them.
    """
    found = own_enhanced(words[0].doc) or [[]] * len(words[0].doc)
    ids = {word.i: number for number, word in enumerate(words, start=1)}
    for word in words:
        for head in (head for head, _ in found[word.i] if head not in ids):
            raise ValueError(Errors.E505.format(word=word.text, head=word.doc[head].text, index=word.i))
    return [[(ids[head] if head != word.i else ROOT, dep) for head, dep in found[word.i]] for word in words]
