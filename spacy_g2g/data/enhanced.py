"""Enhanced graphs that were set on Docs, which ``Doc.to_bytes`` and ``DocBin`` keep.

Such a graph has a list for each token: pairs of a head, as an index in the Doc, and a label. A root is its
own head, as everywhere in spaCy. White space has no pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spacy.tokens import Doc, Token

from ..errors import Errors
from ..formats.enhanced import deps_cell
from ..formats.graph import ROOT, Arc

#: Extension attribute of Docs and tokens, and key of ``doc.user_data``.
ENHANCED = "g2g_enhanced"


def set_enhanced(doc: Doc, arcs: Sequence[Sequence[Arc]] | None) -> None:
    """Set the enhanced graph of a Doc, or remove it. Raises ValueError if it does not fit the Doc."""
    doc.user_data.pop(ENHANCED, None)
    if arcs is not None:
        doc.user_data[ENHANCED] = arcs
        own_enhanced(doc)


def own_enhanced(doc: Doc) -> list[list[Arc]] | None:
    """Return the enhanced graph that was set on a Doc, or None. Raises ValueError if it does not fit."""
    found, n = doc.user_data.get(ENHANCED), len(doc)
    if found is None:
        return None
    try:
        arcs = [[(head, dep) for head, dep in pairs] for pairs in found]
        is_right = len(arcs) == n and all(
            isinstance(head, int) and 0 <= head < n and isinstance(dep, str) and dep
            for pairs in arcs
            for head, dep in pairs
        )
    except (TypeError, ValueError):
        is_right = False
    if not is_right:
        raise ValueError(Errors.E522.format(found=repr(found)[:80], n=n))
    return arcs


def deps_of(words: Sequence[Token], ids: Mapping[int, int]) -> list[str]:
    """Return the cells DEPS of words from the graph that was set on their Doc; "_" without one.

    words: Words of a sentence.
    ids: Number of each by its index in the Doc.
    Raises ValueError if a head is not among them.
    """
    arcs = own_enhanced(words[0].doc) if words else None
    if arcs is None:
        return ["_"] * len(words)
    for word in words:
        for head in (head for head, _ in arcs[word.i] if head not in ids):
            raise ValueError(Errors.E505.format(word=word.text, head=word.doc[head].text, index=word.i))
    pairs = [[(ROOT if head == word.i else ids[head], dep) for head, dep in arcs[word.i]] for word in words]
    return [deps_cell(of_word) for of_word in pairs]
