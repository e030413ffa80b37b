"""AMRs on Docs: ``doc._.amr``, a list with the text of one graph in PENMAN notation for each sentence.

Text, since a Doc's user data goes through msgpack, which has no graphs. It stays in ``Doc.to_bytes``, in
``Doc.to_json(underscore=["amr"])`` and in a DocBin with user data, from which the list comes back as a tuple;
``Doc.from_docs`` drops it. Sentences are those of ``doc.sents``; a Doc without boundaries is one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import get_words_and_spaces
from spacy.vocab import Vocab

from ...errors import Errors
from ..formats.amr_file import AmrBlock, simple_tokens
from ..formats.penman_text import decode_penman, format_penman, parse_penman, without_markers

#: Name of the extension attributes of Docs and Spans.
AMR = "amr"
#: Key of ``doc.user_data``; the value has the id of each sentence's AMR in the file that it is from.
AMR_IDS_KEY = "amr_ids"
#: How many characters of a value an error shows.
SHOWN = 80

#: A sentence of a Doc: characters before it, and its characters; white space takes no part.
SentenceKey = tuple[int, str]


def set_amr_extensions() -> None:
    """Register ``Doc._.amr``, ``Doc._.amr_graphs`` and ``Span._.amr``, unless they are there.

    Whatever makes, reads or writes AMRs of Docs calls this. Importing this module registers nothing: spaCy
    imports it in every process that makes a pipeline, and other libraries may want the names.

    ``Doc._.amr`` (Optional[List[str]]): An AMR for each sentence; None where nothing set it.
    ``Doc._.amr_graphs`` (Optional[List[penman.Graph]]): The same, read; edges in their forward direction.
    ``Span._.amr`` (Optional[str]): The AMR of the sentence that the Span is in.
    """
    if not Doc.has_extension(AMR):
        Doc.set_extension(AMR, default=None)
    if not Doc.has_extension(f"{AMR}_graphs"):
        Doc.set_extension(f"{AMR}_graphs", getter=amr_graphs)
    if not Span.has_extension(AMR):
        Span.set_extension(AMR, getter=amr_of_span)


def amr_sentences(doc: Doc) -> list[Span]:
    """The sentences that AMRs are for: ``doc.sents``, or all of a Doc without boundaries; [] if empty."""
    if not len(doc):
        return []
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def get_amrs(doc: Doc) -> list[str] | None:
    """The AMR of each of ``amr_sentences(doc)``, as text; None if the Doc has none.

    RAISES (ValueError): Where ``doc._.amr`` is no list of strings, or not one for each sentence.
    """
    amrs = _amr_values(doc)
    if amrs is None:
        return None
    n_sentences = len(amr_sentences(doc))
    if len(amrs) != n_sentences:
        raise ValueError(Errors.E147.format(n=len(amrs), sentences=n_sentences, text=doc.text[:SHOWN]))
    return amrs


def has_amrs(doc: Doc) -> bool:
    """Return whether something set ``doc._.amr``."""
    set_amr_extensions()
    return doc._.get(AMR) is not None


def set_amrs(doc: Doc, amrs: list[str] | None) -> None:
    """Write ``doc._.amr``.

    amrs: The text of an AMR for each of ``amr_sentences(doc)``; None removes them.
    """
    set_amr_extensions()
    doc._.set(AMR, amrs)


def amr_graphs(doc: Doc) -> list[Any] | None:
    """The AMRs of a Doc as ``penman.Graph``; None if it has none.

    RAISES (ValueError): For an AMR that is not well-formed, and as ``get_amrs``.
    RAISES (ImportError): If penman is not installed.
    """
    amrs = get_amrs(doc)
    if amrs is None:
        return None
    for number, text in enumerate(amrs, start=1):
        parse_penman(text, f"doc._.{AMR}, sentence {number}")
    return [decode_penman(text) for text in amrs]


def amr_of_span(span: Span) -> str | None:
    """The AMR of the sentence that a Span is in.

    None if the Doc has no AMRs, or not one for each sentence, and for a Span of several sentences.
    """
    amrs, sentences = _amr_values(span.doc), amr_sentences(span.doc)
    if amrs is None or len(amrs) != len(sentences):
        return None
    for sentence, text in zip(sentences, amrs, strict=True):
        if sentence.start <= span.start and span.end <= sentence.end:
            return text
    return None


def get_amr_ids(doc: Doc) -> list[str] | None:
    """The id of each sentence's AMR in the file that the Doc is from, "" where it had none.

    None if the Doc is from no such file, or has another number of sentences now.
    """
    ids = doc.user_data.get(AMR_IDS_KEY)
    return [*ids] if ids is not None and len(ids) == len(amr_sentences(doc)) else None


def gold_amrs(example: Example, spans: Sequence[tuple[int, int]]) -> list[str | None]:
    """The gold AMR of each sentence of the predicted Doc.

    spans (Sequence[Tuple[int, int]]): The sentences, as first token and the one after the last.
    RETURNS (List[Optional[str]]): None where no sentence of the reference has the same text (white space
        takes no part), or the reference has no AMRs. Where its words are others, the AMR is without the
        markers that count them.
    RAISES (ValueError): As ``get_amrs``, for the reference.
    """
    amrs = get_amrs(example.reference)
    if amrs is None:
        return [None] * len(spans)
    sentences = amr_sentences(example.reference)
    found: list[str | None] = []
    for (start, end), number in zip(spans, match_sentences(example, spans), strict=True):
        if number is None:
            found.append(None)
        else:
            same = _words(example.predicted[start:end]) == _words(sentences[number])
            found.append(amrs[number] if same else without_markers(amrs[number]))
    return found


def match_sentences(example: Example, spans: Sequence[tuple[int, int]]) -> list[int | None]:
    """The number of the reference's sentence that has the text of each span of the predicted Doc, or None.

    Both have the same characters at the same place; white space takes no part, and words may be others.
    """
    places: dict[SentenceKey, list[int]] = {}
    reference_spans = [(span.start, span.end) for span in amr_sentences(example.reference)]
    for number, key in enumerate(_keys(example.reference, reference_spans)):
        places.setdefault(key, []).append(number)
    # Several sentences of white space alone may have one key.
    found = (places.get(key, []) for key in _keys(example.predicted, spans))
    return [numbers.pop(0) if numbers else None for numbers in found]


def doc_from_amr(
    block: AmrBlock,
    vocab: Vocab,
    *,
    gold_tokens: bool = True,
    tokenizer: Callable[[str], Doc] | None = None,
) -> Doc:
    """A Doc of one sentence with its AMR, and with the id of the AMR in its user data.

    block (AmrBlock): A graph of a file of AMRs.
    vocab (Vocab): Of the Doc.
    gold_tokens (bool): Words are ``::tok``, else ``::snt`` split at white space, as in files whose text is
        tokenised. If False, words are those of the tokenizer, and alignment markers (~e.5), which count the
        words of the file, are left out of the AMR.
    tokenizer (Optional[Callable]): Gives a Doc of ``::snt`` (else of ``::tok``), whose words are taken;
        without one, the text is split at white space and punctuation marks.
    RAISES (ValueError): For a block without words.
    """
    text = " ".join(block.sentence.split())
    if gold_tokens:
        words = block.tokens
    elif tokenizer is None:
        words = simple_tokens(text)
    else:
        words = [token.text for token in tokenizer(text) if not token.is_space]
    if not words:
        raise ValueError(Errors.E148.format(where=block.where))
    starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
    doc = Doc(vocab, words=words, spaces=_spaces(words, text), sent_starts=starts)
    amr = format_penman(block.tree)
    set_amrs(doc, [amr if gold_tokens else without_markers(amr)])
    if block.id:
        doc.user_data[AMR_IDS_KEY] = [block.id]
    return doc


def _amr_values(doc: Doc) -> list[str] | None:
    """What ``doc._.amr`` has, as a list."""
    set_amr_extensions()
    amrs = doc._.get(AMR)
    if amrs is None:
        return None
    if not isinstance(amrs, list | tuple) or not all(isinstance(text, str) for text in amrs):
        raise ValueError(Errors.E146.format(found=repr(amrs)[:SHOWN]))
    return [*amrs]


def _keys(doc: Doc, spans: Sequence[tuple[int, int]]) -> list[SentenceKey]:
    words = ["".join(token.text.split()) for token in doc]
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return [(starts[start], "".join(words[start:end])) for start, end in spans]


def _words(span: Span) -> list[str]:
    return [token.text for token in span if not token.is_space]


def _spaces(words: list[str], text: str) -> list[bool] | None:
    """Whether a space follows each word in a text; None where the words are not those of the text."""
    try:
        found, spaces = get_words_and_spaces(words, text)
    except ValueError:
        return None
    return spaces if found == words else None
