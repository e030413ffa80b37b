"""Rewrite Docs: drop tokens, change white space, add marks at the beginning of lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..arrays import BoolArray, IntArray
from ..data.docs import TOKEN_ANNOTATIONS, copy_treebank, write_tree
from ..data.multiword import copy_words, is_split, lower_case
from ..formats.conllu import ConlluSentence
from ..formats.misc import misc_text, white_space

#: Label of marks, if the Doc has it.
_PUNCT = "punct"


class Segment(NamedTuple):
    """A token of a Doc, or a mark that is added to it.

    source: Index of the token; -1 for a mark.
    text: Its text.
    gap: White space after it.
    """

    source: int
    text: str
    gap: str


def segments_of(doc: Doc, is_kept: BoolArray) -> list[Segment]:
    """Return the remaining tokens of a Doc. White space after a dropped token follows the token before it.

    doc: The Doc.
    is_kept: Whether each token stays, bool [tokens].
    """
    indices = np.flatnonzero(is_kept).tolist()
    ends = [*(i - 1 for i in indices[1:]), len(doc) - 1]
    return [Segment(i, doc[i].text, doc[end].whitespace_) for i, end in zip(indices, ends, strict=True)]


def rewrite(doc: Doc, segments: Sequence[Segment], *, lower: bool = False) -> Doc:
    """Make a Doc of segments, with the annotations and trees of the tokens.

    White space becomes tokens as in spaCy's tokenizer, without annotations. A mark at the beginning of a
    sentence depends on the root if the Doc has the label "punct". Other marks have no annotation.

    doc: The Doc.
    segments: Tokens of the Doc in their order, with their heads, and marks.
    lower: Put words into lower case.
    """
    words: list[str] = []
    spaces: list[bool] = []
    sources: list[int] = []
    for segment in segments:
        own, rest = (" ", segment.gap[1:]) if segment.gap.startswith(" ") else ("", segment.gap)
        text = lower_case(segment.text, lang=doc.vocab.lang) if lower else segment.text
        words += [text, *([rest] if rest else [])]
        spaces += [bool(own), *([False] if rest else [])]
        sources += [segment.source, *([-1] if rest else [])]
    written = Doc(doc.vocab, words=words, spaces=None if doc.has_unknown_spaces else spaces)
    _annotate(written, doc, np.array(sources, dtype=np.int64))
    if is_split(doc):
        copy_words(doc, to=written, places=sources, lower=lower)
    copy_treebank(doc, to=written)
    return written


def with_white_space(doc: Doc, sentences: Sequence[ConlluSentence]) -> tuple[Doc, list[int]]:
    """Add the white space that MISC gives to words, and return the new Doc and the index of each word there.

    The new Doc has no white space at its end. Without SpacesAfter, SpacesBefore and SpacesInToken, the Doc
    stays as it is.

    doc: The Doc, with a token for each word and without a tree.
    sentences: The sentences of the Doc.
    """
    tokens = [*chain.from_iterable(sentence.tokens for sentence in sentences)]
    if not any("Spaces" in token.misc for token in tokens):
        return doc, [*range(len(doc))]
    segments: list[Segment] = []
    n_words = 0
    for token in tokens:
        segments.append(Segment(-1, white_space(token.misc, name="SpacesBefore"), ""))
        words = range(n_words, n_words := n_words + len(token.words))
        segments += [Segment(i, doc[i].text, "") for i in words]
        inner = misc_text(token.misc, name="SpacesInToken")
        is_same = inner and len(words) == 1 and inner.split() == token.form.split()
        own = " " if token.gap.startswith(" ") else ""
        segments[-1] = Segment(words[-1], inner if is_same else segments[-1].text, own)
        segments.append(Segment(-1, token.gap.removeprefix(own), ""))
    segments[-2:] = [segments[-2]._replace(gap="")]
    segments = [segment for segment in segments if segment.text]
    written = rewrite(doc, segments)
    if segments[0].source < 0 and doc.has_annotation("SENT_START"):
        written[0].is_sent_start, written[1].is_sent_start = True, False
    return written, [i for i, segment in enumerate(segments) if segment.source >= 0]


def _annotate(written: Doc, doc: Doc, sources: IntArray) -> None:
    """Copy the annotations of a Doc to the one made from it.

    sources: Index in ``doc`` of each token of ``written``, -1 for new tokens; int [tokens].
    """
    own = np.flatnonzero(sources >= 0)
    number = np.zeros(len(doc), dtype=np.int64)
    number[sources[own]] = own
    names: list[Any] = [name for name in TOKEN_ANNOTATIONS if name != "SENT_START"]
    table: Any = np.zeros((len(written), len(names) + 3), dtype=np.uint64)
    table[own] = doc.to_array([*names, "HEAD", "DEP", "SENT_START"])[sources[own]]
    written.from_array(names, table[:, :-3])
    tree, starts = table[:, -3:-1], table[:, -1].astype(np.int64)
    if (starts == 1).any():
        starts[sources < 0] = -1
    heads = sources[own] + tree[own, 0].astype(np.int64)
    tree[own, 0] = (number[heads] - own).view(np.uint64)
    punct = get_string_id(_PUNCT)
    has_punct = bool((tree[:, 1] == punct).any())
    for first in np.flatnonzero(starts == 1).tolist():
        mark = first - 1
        while mark >= 0 and sources[mark] < 0 and not written[mark].is_space:
            starts[[mark, mark + 1]] = 1, -1
            if has_punct:
                root = first
                while tree[root, 0]:
                    root += int(tree[root, 0].astype(np.int64))
                tree[mark] = np.uint64(root - mark), punct
            mark -= 1
    write_tree(written, tree, starts=starts.view(np.uint64))
