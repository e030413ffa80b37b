"""Split tokens of a Doc into pieces, in one pass.

spaCy's retokenizer goes through the whole Doc for each split.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ..arrays import IntArray

#: Annotations of tokens.
ANNOTATIONS = ("LEMMA", "NORM", "SPACY", "HEAD", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
#: Annotations that only the first piece of a token has.
FIRST_PIECE_ONLY = ("TAG", "POS", "MORPH", "DEP")
#: Values of SENT_START and of ENT_IOB: no sentence starts; inside of an entity, at its beginning.
NO_START, INSIDE, BEGIN = np.uint64(2**64 - 1), 1, 3
#: What a Doc has beside tokens, spans, ``tensor`` and ``user_data``.
DOC_ATTRIBUTES = (
    "cats",
    "has_unknown_spaces",
    "noun_chunks_iterator",
    "sentiment",
    "user_hooks",
    "user_span_hooks",
    "user_token_hooks",
    "_vector",
)


def split_tokens(doc: Doc, pieces: Mapping[int, Sequence[str]]) -> None:
    """Split tokens of a Doc. Everything else in the Doc stays with the text that it belongs to.

    The first piece of a token has its annotations. The other pieces depend on the first. All pieces belong to
    the token's entity. They have the form of their text, that text as the lemma if the token has a lemma, and
    zeros in ``doc.tensor``.

    doc: The Doc, which stays the same object. Its tokens and spans from before are not valid any more.
    pieces: Texts of the pieces of each token that is split, by its index. Joined, they are the token.
    """
    counts = np.ones(len(doc), dtype=np.int64)
    counts[[*pieces]] = [*map(len, pieces.values())]
    sources = np.repeat(np.arange(len(doc)), counts)
    columns, tensor = _columns(doc, counts, sources), doc.tensor
    is_piece = counts[sources] > 1
    if len(tensor) == len(doc):
        tensor = tensor[sources.tolist()]
        tensor[is_piece.tolist()] = 0
    orths = doc.to_array("ORTH").tolist()
    words = [*chain.from_iterable(pieces.get(i, (orth,)) for i, orth in enumerate(orths))]
    _refill(doc, words, columns["SPACY"].tolist())
    doc.tensor = tensor
    is_own = is_piece & (columns["LEMMA"] > 0)
    columns["LEMMA"][is_own] = doc.to_array("ORTH")[is_own]
    table: Any = np.stack([*columns.values()], axis=1)
    doc.from_array([*columns], table)
    # Heads have reset the boundaries.
    doc.from_array("SENT_START", columns["SENT_START"])


def _columns(doc: Doc, counts: IntArray, sources: IntArray) -> dict[str, Any]:
    """Return the annotations of a Doc's tokens when they are split.

    counts: Number of pieces of each token.
    sources: Index of the token that each piece belongs to.
    Returns values by the name of the annotation, uint64 [pieces].
    """
    columns: dict[str, Any] = {
        name: doc.to_array(name)[sources] for name in (*ANNOTATIONS, *FIRST_PIECE_ONLY)
    }
    firsts = np.cumsum(counts) - counts
    places = np.arange(len(sources))
    is_inner = places > firsts[sources]
    heads = np.arange(len(counts)) + doc.to_array("HEAD").astype(np.int64)
    columns["HEAD"] = (firsts[np.where(is_inner, sources, heads[sources])] - places).view(np.uint64)
    for name in FIRST_PIECE_ONLY:
        columns[name][is_inner] = 0
    columns["SENT_START"][is_inner] = NO_START if doc.to_array("SENT_START")[1:].any() else 0
    columns["ENT_IOB"][is_inner & (columns["ENT_IOB"] == BEGIN)] = INSIDE
    columns["SPACY"][:-1][is_inner[1:]] = 0
    columns["NORM"][counts[sources] > 1] = 0
    return columns


def _refill(doc: Doc, words: Any, spaces: Any) -> None:
    """Give a Doc other tokens of the same text. Its groups of spans cover their characters again.

    words: Texts or hashes of the tokens.
    spaces: Whether a space follows each token.
    """
    attributes = {name: getattr(doc, name) for name in DOC_ATTRIBUTES}
    groups = [
        (key, group.name, group.attrs, [(s.start_char, s.end_char, s.label, s.kb_id, s.id) for s in group])
        for key, group in doc.spans.items()
    ]
    memory: Any = doc.mem
    Doc.__init__(doc, doc.vocab, words=words, spaces=spaces, user_data=doc.user_data)
    doc.mem.own_pyref(memory)  # a token that a caller holds from before points to it
    for name, value in attributes.items():
        setattr(doc, name, value)
    starts = {token.idx: token.i for token in doc} | {len(doc.text): len(doc)}
    ends = {token.idx + len(token): token.i + 1 for token in doc}
    for key, name, attrs, spans in groups:
        places = [(starts.get(a), (starts if a == b else ends).get(b), *rest) for a, b, *rest in spans]
        found = [
            Span(doc, start, end, label, kb_id=kb_id, span_id=id_)
            for start, end, label, kb_id, id_ in places
            if start is not None and end is not None
        ]
        doc.spans[key] = SpanGroup(doc, name=name, attrs=attrs, spans=found)
