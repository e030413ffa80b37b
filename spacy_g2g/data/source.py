"""The CoNLL-U that a Doc was read from, which travels in ``doc.user_data``."""

import dataclasses
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, zip_longest
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors
from ..formats.conllu import ConlluSentence, read_conllu
from .multiword import Range, cut
from .token_check import warn_of_other_tokens

#: Key of ``doc.user_data``; the value has the raw sentences and their numbers of words.
USER_DATA_KEY = "conllu"
#: Number of sentences that are remembered, as many as two batches of ``nlp.pipe`` have.
MAX_SENTENCES = 2_048


@dataclass(frozen=True)
class _SourceText:
    """Text of a sentence. If the sentence is known, the text is not parsed."""

    text: str
    sentence: ConlluSentence | None = field(default=None, compare=False)


@lru_cache(maxsize=MAX_SENTENCES)
def _parse(source: _SourceText) -> tuple[ConlluSentence, ...]:
    """Return the sentences of a text. Only a text that a user has set can have several."""
    if source.sentence is not None:
        return (source.sentence,)
    return tuple(read_conllu(_lines(source.text), trees="any"))


def _lines(text: str) -> io.StringIO:
    """Split a text at line feeds only. A form may have other characters at which splitlines() splits."""
    return io.StringIO(text, newline="\n")


def keep_conllu(doc: Doc, sentences: Iterable[ConlluSentence]) -> None:
    """Keep the CoNLL-U that a Doc was read from. Recent sentences are not parsed again."""
    texts, lengths = [], []
    for sentence in sentences:
        text = str(sentence)
        # The parser reads texts with unusual line ends.
        if "\r" not in text and "\n\n" not in text.strip("\n") and tuple(_lines(text)) == sentence.rows:
            _parse(_SourceText(text, dataclasses.replace(sentence, source="<text>", first_line=1)))
        texts.append(text)
        lengths.append(len(sentence.words))
    doc.user_data[USER_DATA_KEY] = {"text": texts, "lengths": lengths}


def source_sentences(doc: Doc) -> list[ConlluSentence]:
    """Return the sentences that a Doc was read from, unchanged; [] if it is not from CoNLL-U."""
    source = _source(doc)
    texts = source["text"] if source is not None else ()
    return [*chain.from_iterable(_parse(_SourceText(text)) for text in texts)]


def own_sentences(doc: Doc) -> list[ConlluSentence] | None:
    """Return the sentences of the CoNLL-U that a Doc, or a larger Doc of which it is a part, was read from.

    Returns None for a Doc that is not from CoNLL-U. If its tokens were merged or split, or if it begins or
    ends within a sentence, its CoNLL-U is removed with a warning.
    Raises ValueError if the Doc has another text.
    """
    if USER_DATA_KEY not in doc.user_data:
        return None
    sentences, texts = source_sentences(doc), [token.text for token in doc]
    subtokens = [find_subtokens([sentence])[0] for sentence in sentences]
    all_subtokens = [*chain(*subtokens)]
    if texts == all_subtokens:
        return sentences
    # Docs of earlier versions have the words as their text.
    words = chain.from_iterable(sentence.words for sentence in sentences)
    if texts == [word.form for word in words]:
        return sentences
    if "".join(texts) not in "".join(all_subtokens):
        raise ValueError(Errors.E504.format(words=texts[:8], sentence=" ".join(all_subtokens)[:80]))
    n = len(texts)
    ends = {end: i for i, end in enumerate(accumulate(map(len, subtokens), initial=0))}
    starts = [i for i in ends if i + n in ends and all_subtokens[i : i + n] == texts]
    if texts and len(starts) == 1:
        return sentences[ends[starts[0]] : ends[starts[0] + n]]
    del doc.user_data[USER_DATA_KEY]
    warn_of_other_tokens(doc, f"doc.user_data[{USER_DATA_KEY!r}]")
    return None


def source_arcs(doc: Doc) -> tuple[dict[int, int], dict[int, str]]:
    """Return the heads and the labels in the CoNLL-U that a Doc was read from, by token.

    White space has neither, since it is not parsed.
    """
    sentences = source_sentences(doc)
    words = chain.from_iterable(sentence.words for sentence in sentences)
    is_space = [token.is_space for token in doc]
    heads, labels = {}, {}
    for i, (word, head) in enumerate(zip(words, absolute_heads(sentences), strict=True)):
        if not is_space[i] and (head is not None and not is_space[head]):
            heads[i] = head
        if not is_space[i] and cell_value(word.deprel):
            labels[i] = word.deprel
    return heads, labels


def restore_sentences(doc: Doc) -> None:
    """Restore the sentence boundaries of the CoNLL-U in a Doc that was read from a DocBin.

    When spaCy loads a Doc, it derives boundaries from heads, so sentences without heads lose theirs.
    """
    source = _source(doc)
    if source is not None and sum(source["lengths"]) == len(doc):
        set_sentences(doc, source["lengths"])


def _source(doc: Doc) -> dict[str, Any] | None:
    """Return the CoNLL-U in ``doc.user_data``, or None. Raises ValueError if a user has set anything else."""
    source = doc.user_data.get(USER_DATA_KEY)
    if source is None and USER_DATA_KEY not in doc.user_data:
        return None
    texts, lengths = (source.get(key) if isinstance(source, dict) else None for key in ("text", "lengths"))
    if isinstance(texts, list | tuple) and isinstance(lengths, list | tuple):
        pairs = zip_longest(texts, lengths)
        is_right = all(isinstance(text, str) and isinstance(n, int) and n > 0 for text, n in pairs)
    else:
        is_right = False
    if not is_right:
        raise ValueError(Errors.E521.format(found=str(source)[:80]))
    return {"text": texts, "lengths": lengths}


def find_subtokens(sentences: Iterable[ConlluSentence]) -> tuple[list[str], list[Range]]:
    """Return the text of each token of a Doc of sentences, and its multiword tokens."""
    subtokens: list[str] = []
    ranges = []
    for token in chain.from_iterable(sentence.tokens for sentence in sentences):
        n_words = len(token.words)
        cuts = cut(token.form, token.words) if n_words > 1 else None
        if cuts is not None:
            ranges.append((len(subtokens), len(subtokens) + n_words))
        subtokens += cuts or token.words
    return subtokens, ranges


def absolute_heads(sentences: Iterable[ConlluSentence]) -> list[int | None]:
    """Return the index in the Doc of each word's head: its own index for a root, None if missing."""
    heads: list[int | None] = []
    for sentence in sentences:
        offset = len(heads) - 1
        for number, word in enumerate(sentence.words, start=1):
            heads.append(None if word.head is None else offset + (word.head or number))
    return heads


def set_sentences(doc: Doc, lengths: Iterable[int]) -> None:
    """Set the sentence boundaries of a Doc by the number of tokens of each sentence."""
    starts = np.full(len(doc), -1, dtype=np.int64)
    starts[np.cumsum([0, *lengths])[:-1]] = 1
    values: Any = starts.astype(np.uint64)
    doc.from_array("SENT_START", values)


def cell_value(cell: str) -> str:
    """Return the text of a cell or label, "" for "_", which marks a missing value."""
    return "" if cell == "_" else cell
