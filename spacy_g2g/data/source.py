"""The CoNLL-U that a Doc was read from, which travels in ``doc.user_data``."""

import io
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors
from ..formats.conllu import ConlluSentence, read_conllu
from .kept import warn_of_other_tokens
from .multiword import Range, cut

#: Key of ``doc.user_data``; the value has the raw sentences and their numbers of words.
USER_DATA_KEY = "conllu"


def source_sentences(doc: Doc) -> Iterator[ConlluSentence]:
    """Return the sentences that a Doc was read from, unchanged; none if it is not from CoNLL-U."""
    source = _source(doc)
    for text in source["text"] if source is not None else ():
        # Not splitlines(), which cuts at characters that a form may have.
        yield from read_conllu(io.StringIO(text, newline="\n"), trees="any")


def own_sentences(doc: Doc) -> list[ConlluSentence] | None:
    """Return the sentences of the CoNLL-U that a Doc was read from, or those of a part of that Doc.

    Returns None for a Doc that is not from CoNLL-U. If its tokens were merged, split or cut out of sentences,
    its CoNLL-U is removed, with a warning.
    Raises ValueError if the Doc has another text.
    """
    if USER_DATA_KEY not in doc.user_data:
        return None
    sentences, texts = [*source_sentences(doc)], [token.text for token in doc]
    pieces = [find_pieces([sentence])[0] for sentence in sentences]
    all_pieces = [*chain(*pieces)]
    # Docs of earlier versions have the words as their text.
    if texts in (all_pieces, [word.form for sentence in sentences for word in sentence.words]):
        return sentences
    if "".join(texts) not in "".join(all_pieces):
        raise ValueError(Errors.E504.format(words=texts[:8], sentence=" ".join(all_pieces)[:80]))
    ends = {n: i for i, n in enumerate(accumulate(map(len, pieces), initial=0))}
    found = [n for n in ends if n + len(texts) in ends and all_pieces[n : n + len(texts)] == texts]
    if texts and len(found) == 1:
        return sentences[ends[found[0]] : ends[found[0] + len(texts)]]
    del doc.user_data[USER_DATA_KEY]
    warn_of_other_tokens(doc, f"doc.user_data[{USER_DATA_KEY!r}]")
    return None


def source_arcs(doc: Doc) -> tuple[dict[int, int], dict[int, str]]:
    """Return the heads and labels that a Doc's words have in the CoNLL-U that it was read from, by token.

    White space has none, since it is not parsed.
    """
    sentences = list(source_sentences(doc))
    heads = {i: head for i, head in enumerate(absolute_heads(sentences)) if head is not None}
    labels = [known(word.deprel) for sentence in sentences for word in sentence.words]
    is_space = [token.is_space for token in doc]
    return (
        {i: head for i, head in heads.items() if not (is_space[i] or is_space[head])},
        {i: label for i, label in enumerate(labels) if label and not is_space[i]},
    )


def restore_sentences(doc: Doc) -> None:
    """Restore the sentence boundaries of the CoNLL-U in a Doc that was read from a DocBin.

    When spaCy loads a Doc, it derives boundaries from heads, so sentences without heads lose theirs.
    """
    source = _source(doc)
    if source is not None and sum(source["lengths"]) == len(doc):
        set_sentences(doc, source["lengths"])


def _source(doc: Doc) -> dict[str, Any] | None:
    """Return what a Doc keeps of its CoNLL-U, None without it. Raises ValueError for anything else."""
    source = doc.user_data.get(USER_DATA_KEY)
    if source is None and USER_DATA_KEY not in doc.user_data:
        return None
    texts, lengths = (source.get(key) if isinstance(source, dict) else None for key in ("text", "lengths"))
    is_right = (
        isinstance(texts, list | tuple)
        and isinstance(lengths, list | tuple)
        and len(texts) == len(lengths)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(length, int) and length > 0 for length in lengths)
    )
    if not is_right:
        raise ValueError(Errors.E521.format(found=str(source)[:80]))
    return {"text": texts, "lengths": lengths}


def find_pieces(sentences: Iterable[ConlluSentence]) -> tuple[list[str], list[Range]]:
    """Return the text of each token of a Doc of sentences, and its multiword tokens."""
    pieces: list[str] = []
    ranges = []
    for sentence in sentences:
        for form, forms in sentence.surface_tokens():
            of_token = cut(form, forms) if len(forms) > 1 else None
            if of_token is not None:
                ranges.append((len(pieces), len(pieces) + len(forms)))
            pieces += of_token or forms
    return pieces, ranges


def absolute_heads(sentences: Iterable[ConlluSentence]) -> list[int | None]:
    """Return the index in the Doc of each word's head; a root is its own head, None is missing."""
    heads: list[int | None] = []
    for sentence in sentences:
        offset = len(heads)
        for i, word in enumerate(sentence.words):
            if word.head is None:
                heads.append(None)
            else:
                heads.append(offset + (word.head - 1 if word.head else i))
    return heads


def set_sentences(doc: Doc, lengths: Iterable[int]) -> None:
    """Set the sentence boundaries of a Doc, given the number of tokens of each sentence."""
    starts = np.full(len(doc), -1, dtype=np.int64)
    starts[np.cumsum([0, *lengths])[:-1]] = 1
    values: Any = starts.astype(np.uint64)
    doc.from_array("SENT_START", values)


def known(cell: str) -> str:
    """Return a cell, or the label of a token; "" for "_", which says that it is missing."""
    return "" if cell == "_" else cell
