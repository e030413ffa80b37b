"""AMRs on Docs: ``doc._.amr``, a list with the text of one graph in PENMAN notation for each sentence.

AMRs are stored as text because a Doc's user data goes through msgpack, which has no graphs. ``Doc.to_bytes``,
``Doc.to_json(underscore=["amr"])`` and a DocBin with user data keep it; the DocBin returns the list as a
tuple. ``Doc.from_docs`` drops it. Sentences are those of ``doc.sents``; a Doc without boundaries is one
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import get_words_and_spaces
from spacy.vocab import Vocab

from ...data.docs import sentences_of
from ...data.multiword import mark_words
from ...errors import Errors
from ..formats.amr_file import AmrBlock
from ..formats.penman_text import decode_penman, format_penman, without_markers

#: Name of the extension attributes of Docs and Spans.
AMR = "amr"
#: Key of ``doc.user_data`` for the ids of the sentences' AMRs in their file.
AMR_IDS_KEY = "amr_ids"
#: Characters of a value that an error shows.
SHOWN_CHARACTERS = 80


def set_amr_extensions() -> None:
    """Register ``Doc._.amr``, ``Doc._.amr_graphs`` and ``Span._.amr`` unless they exist.

    All code that makes, reads or writes AMRs of Docs calls this. Importing this module registers nothing:
    spaCy imports it in every process that makes a pipeline, and other libraries may want the names.

    ``Doc._.amr``: An AMR for each sentence, as a list of str; None if nothing set it.
    ``Doc._.amr_graphs``: The AMRs as a list of ``penman.Graph``, with edges in their forward direction.
    ``Span._.amr``: The AMR of the sentence that contains the Span.
    """
    if not Doc.has_extension(AMR):
        Doc.set_extension(AMR, default=None)
    if not Doc.has_extension(f"{AMR}_graphs"):
        Doc.set_extension(f"{AMR}_graphs", getter=amr_graphs)
    if not Span.has_extension(AMR):
        Span.set_extension(AMR, getter=amr_of_span)


def get_amrs(doc: Doc) -> list[str] | None:
    """Return the text of the AMR of each of ``sentences_of(doc)``, or None if the Doc has no AMRs.

    Raises ValueError unless ``doc._.amr`` is a list with a string for each sentence.
    """
    amrs = _amr_values(doc)
    if amrs is None:
        return None
    n_sentences = len(sentences_of(doc))
    if len(amrs) != n_sentences:
        raise ValueError(
            Errors.E1018.format(n=len(amrs), sentences=n_sentences, text=doc.text[:SHOWN_CHARACTERS])
        )
    return amrs


def has_amrs(doc: Doc) -> bool:
    """Return whether something set ``doc._.amr``."""
    set_amr_extensions()
    return doc._.get(AMR) is not None


def set_amrs(doc: Doc, amrs: list[str] | None) -> None:
    """Write ``doc._.amr``.

    doc: The Doc.
    amrs: The text of an AMR for each of ``sentences_of(doc)``; None to remove AMRs.
    """
    set_amr_extensions()
    doc._.set(AMR, amrs)


def amr_graphs(doc: Doc) -> list[Any] | None:
    """Return the AMRs of a Doc as ``penman.Graph``, or None if it has no AMRs.

    Raises ValueError for an ill-formed AMR, and as ``get_amrs`` does.
    Raises ImportError if penman is not installed.
    """
    amrs = get_amrs(doc)
    if amrs is None:
        return None
    return [decode_penman(text, where=f"doc._.{AMR}, sentence {i}") for i, text in enumerate(amrs, start=1)]


def amr_of_span(span: Span) -> str | None:
    """Return the AMR of the sentence that contains a Span.

    It is None for a Span of several sentences, and unless the Doc has an AMR for each sentence.
    """
    amrs, sentences = _amr_values(span.doc), sentences_of(span.doc)
    if amrs is None or len(amrs) != len(sentences):
        return None
    for sentence, text in zip(sentences, amrs, strict=True):
        if sentence.start <= span.start and span.end <= sentence.end:
            return text
    return None


def get_amr_ids(doc: Doc) -> list[str] | None:
    """Return the id of each sentence's AMR in its file, "" for an AMR without an id.

    It is None for a Doc from elsewhere, and if the number of sentences has changed.
    """
    ids = doc.user_data.get(AMR_IDS_KEY)
    return [*ids] if ids is not None and len(ids) == len(sentences_of(doc)) else None


def gold_amrs(example: Example, spans: Sequence[tuple[int, int]]) -> list[str | None]:
    """Return the gold AMR of each sentence of the predicted Doc.

    A sentence has None if the reference has no AMRs, or no sentence with the same text (without white space).
    Alignment markers count words, so they are removed if the reference has other words.

    example: The Example.
    spans: The sentences: first token, and last token + 1.
    Raises ValueError as ``get_amrs`` does for the reference.
    """
    amrs = get_amrs(example.reference)
    if amrs is None:
        return [None] * len(spans)
    sentences = sentences_of(example.reference)
    matched: list[str | None] = []
    for (start, end), number in zip(spans, match_sentences(example, spans), strict=True):
        if number is None:
            matched.append(None)
        else:
            same = _words(example.predicted[start:end]) == _words(sentences[number])
            matched.append(amrs[number] if same else without_markers(amrs[number]))
    return matched


def match_sentences(example: Example, spans: Sequence[tuple[int, int]]) -> list[int | None]:
    """Return for each span the number of the reference's sentence with the same text, or None.

    Both have the same characters at the same place, apart from white space. Their words may differ.

    example: The Example.
    spans: Spans of the predicted Doc: first token, and last token + 1.
    """
    numbers: dict[tuple[int, str], list[int]] = {}
    reference_spans = [(span.start, span.end) for span in sentences_of(example.reference)]
    for number, key in enumerate(_sentence_keys(example.reference, reference_spans)):
        numbers.setdefault(key, []).append(number)
    # Several sentences of white space alone may have one key.
    candidates = (numbers.get(key, []) for key in _sentence_keys(example.predicted, spans))
    return [same.pop(0) if same else None for same in candidates]


def doc_from_amr(block: AmrBlock, vocab: Vocab, tokenizer: Callable[[str], Doc] | None = None) -> Doc:
    """Make a Doc of one sentence with its AMR, and with the id of the AMR in its user data.

    block: A graph of a file of AMRs.
    vocab: Vocabulary of the Doc.
    tokenizer: Makes the words from ``::snt``, or from ``::tok`` if there is no ``::snt``. Alignment markers
        (~e.5) count the words of the file, so they are then removed from the AMR. None takes the words of
        ``::tok``, or of ``::snt`` split at white space if there is no ``::tok``.
    Raises ValueError for a block without words.
    """
    text = " ".join(block.sentence.split())
    words = block.tokens if tokenizer is None else _words(tokenizer(text)[:])
    if not words:
        raise ValueError(Errors.E1019.format(where=block.where))
    starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
    doc = Doc(vocab, words=words, spaces=_spaces(words, text), sent_starts=starts)
    mark_words(doc, [], [])
    amr = format_penman(block.tree)
    set_amrs(doc, [amr if tokenizer is None else without_markers(amr)])
    if block.id:
        doc.user_data[AMR_IDS_KEY] = [block.id]
    return doc


def _amr_values(doc: Doc) -> list[str] | None:
    """Return ``doc._.amr`` as a list."""
    set_amr_extensions()
    amrs = doc._.get(AMR)
    if amrs is None:
        return None
    if not isinstance(amrs, list | tuple) or not all(isinstance(text, str) for text in amrs):
        raise ValueError(Errors.E1017.format(found=repr(amrs)[:SHOWN_CHARACTERS]))
    return [*amrs]


def _sentence_keys(doc: Doc, spans: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return the number of characters before each span, and its own, all without white space."""
    words = ["".join(token.text.split()) for token in doc]
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return [(starts[start], "".join(words[start:end])) for start, end in spans]


def _words(span: Span) -> list[str]:
    return [token.text for token in span if not token.is_space]


def _spaces(words: list[str], text: str) -> list[bool] | None:
    """Return whether a space follows each word in a text; None if the words are not those of the text."""
    try:
        text_words, spaces = get_words_and_spaces(words, text)
    except ValueError:
        return None
    return spaces if text_words == words else None
