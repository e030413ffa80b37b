"""Split tokens of a Doc in one pass. spaCy's retokenizer reads the whole Doc for each split."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ..arrays import IntArray

#: Annotations of tokens.
ANNOTATIONS = ("LEMMA", "NORM", "SPACY", "HEAD", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
#: Annotations that only the first part of a token has.
FIRST_PART_ONLY = ("TAG", "POS", "MORPH", "DEP")
#: Values of SENT_START (no sentence starts) and of ENT_IOB (inside an entity, and at its beginning).
NO_START, INSIDE, BEGIN = np.uint64(2**64 - 1), 1, 3
#: Attributes of a Doc beside its tokens, spans, ``tensor`` and ``user_data``.
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


def split_tokens(doc: Doc, parts: Mapping[int, Sequence[str]]) -> None:
    """Split tokens of a Doc. Other tokens and spans keep their annotations.

    The first part keeps the token's annotations. The other parts depend on the first. All parts belong to the
    token's entity. The norm of a part is its text, and so is its lemma if the token has a lemma. Its row in
    ``doc.tensor`` is zero.

    doc: The Doc, which stays the same object. Its earlier tokens and spans become invalid.
    parts: Texts of the parts of each token to split, by the token's index. Joined, they are the token.
    """
    counts = np.ones(len(doc), dtype=np.int64)
    counts[[*parts]] = [*map(len, parts.values())]
    sources = np.repeat(np.arange(len(doc)), counts)
    columns, tensor = _columns(doc, counts, sources), doc.tensor
    is_part = counts[sources] > 1
    if len(tensor) == len(doc):
        tensor = tensor[sources.tolist()]
        tensor[is_part.tolist()] = 0
    orths = doc.to_array("ORTH").tolist()
    words = [*chain.from_iterable(parts.get(i, (orth,)) for i, orth in enumerate(orths))]
    _refill(doc, words, columns["SPACY"].tolist())
    doc.tensor = tensor
    is_own = is_part & (columns["LEMMA"] > 0)
    columns["LEMMA"][is_own] = doc.to_array("ORTH")[is_own]
    table: Any = np.stack([*columns.values()], axis=1)
    doc.from_array([*columns], table)
    # Heads have reset the boundaries.
    doc.from_array("SENT_START", columns["SENT_START"])


def _columns(doc: Doc, counts: IntArray, sources: IntArray) -> dict[str, Any]:
    """Return the annotations of the tokens of a Doc after they are split.

    counts: Number of parts of each token.
    sources: Index of the token that each part belongs to.
    Returns values by the name of the annotation, uint64 [parts].
    """
    columns: dict[str, Any] = {name: doc.to_array(name)[sources] for name in (*ANNOTATIONS, *FIRST_PART_ONLY)}
    firsts = np.cumsum(counts) - counts
    places = np.arange(len(sources))
    is_inner = places > firsts[sources]
    heads = np.arange(len(counts)) + doc.to_array("HEAD").astype(np.int64)
    columns["HEAD"] = (firsts[np.where(is_inner, sources, heads[sources])] - places).view(np.uint64)
    for name in FIRST_PART_ONLY:
        columns[name][is_inner] = 0
    columns["SENT_START"][is_inner] = NO_START if doc.to_array("SENT_START")[1:].any() else 0
    columns["ENT_IOB"][is_inner & (columns["ENT_IOB"] == BEGIN)] = INSIDE
    columns["SPACY"][:-1][is_inner[1:]] = 0
    columns["NORM"][counts[sources] > 1] = 0
    return columns


def _refill(doc: Doc, words: Any, spaces: Any) -> None:
    """Replace the tokens of a Doc by others of the same text. Groups of spans cover the same characters.

    words: Texts or hashes of the tokens.
    spaces: Whether a space follows each token.
    """
    attributes = {name: getattr(doc, name) for name in DOC_ATTRIBUTES}
    groups = []
    for key, group in doc.spans.items():
        spans = [(span.start_char, span.end_char, span.label, span.kb_id, span.id) for span in group]
        groups.append((key, group.name, group.attrs, spans))
    memory: Any = doc.mem
    Doc.__init__(doc, doc.vocab, words=words, spaces=spaces, user_data=doc.user_data)
    doc.mem.own_pyref(memory)  # Tokens that a caller holds from before point to it.
    for name, value in attributes.items():
        setattr(doc, name, value)
    starts = {token.idx: token.i for token in doc} | {len(doc.text): len(doc)}
    ends = {token.idx + len(token): token.i + 1 for token in doc}
    for key, name, attrs, spans in groups:
        new_spans = []
        for start_char, end_char, label, kb_id, id_ in spans:
            start, end = starts[start_char], (starts if start_char == end_char else ends)[end_char]
            new_spans.append(Span(doc, start, end, label, kb_id=kb_id, span_id=id_))
        doc.spans[key] = SpanGroup(doc, name=name, attrs=attrs, spans=new_spans)
