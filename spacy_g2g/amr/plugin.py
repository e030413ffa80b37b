"""The plug-in by which commands read, write and draw AMRs (``data/plugins.py``)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..data.docs import sentences_of
from ..data.multiword import word_forms
from ..data.source import source_sentences
from ..errors import Errors
from .data.docs import AMR, doc_from_amr, get_amr_ids, get_amrs, has_amrs, set_amrs
from .drawing import draw_amrs
from .formats.amr_file import AmrBlock, read_amr_file, write_amrs

EXTENSION = AMR
get = get_amrs


def read(path: Path, vocab: Vocab) -> Iterator[tuple[Doc, AmrBlock]]:
    """Yield for each AMR in a file a Doc that has its words but not the AMR, and the AMR's block.

    Raises ValueError with file, line and id if an AMR can't be read or has no words.
    """
    for block in read_amr_file(path):
        doc = doc_from_amr(block, vocab)
        set_amrs(doc, None)
        yield doc, block


def remove(doc: Doc) -> None:
    """Remove the AMRs of a Doc."""
    if has_amrs(doc):
        set_amrs(doc, None)


def draw(predicted: str, *, gold: str) -> list[str]:
    """Return figures of an AMR and of the gold AMR; either may be ""."""
    return draw_amrs(predicted, gold=gold)


def write(
    parsed: Iterable[tuple[Doc, Mapping[str, Any]]], *, prefix: str, components: Sequence[str]
) -> Iterator[str]:
    """Yield the text of AMRs. A sentence without an id gets an id from the prefix and a number."""

    def amrs() -> Iterator[tuple[dict[str, str], str]]:
        numbers = count(1)
        for doc, record in parsed:
            for metadata, amr in _sentences(doc, record, components):
                number = next(numbers)
                yield {**metadata, "id": metadata["id"] or f"{prefix}.{number}"}, amr

    return write_amrs(amrs())


def _sentences(
    doc: Doc, record: Mapping[str, Any], components: Sequence[str]
) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the metadata and the AMR of each sentence that has words."""
    spans, amrs, forms = sentences_of(doc), get_amrs(doc), word_forms(doc)
    if amrs is None and spans:
        raise ValueError(Errors.E902.format(text=spans[0].text[:80], names=list(components)))
    for span, id_, amr in zip(spans, _sentence_ids(doc, record, len(spans)), amrs or [], strict=True):
        words = ["_".join(forms[token.i].split()) for token in span if token.text.strip()]
        if words:
            yield {"id": id_, "snt": " ".join(span.text.split()), "tok": " ".join(words)}, amr


def _sentence_ids(doc: Doc, record: Mapping[str, Any], n: int) -> list[str]:
    """Return the ids of a Doc's n sentences in the input, "" for a sentence without an id."""
    ids = get_amr_ids(doc) or [sentence.comment("sent_id") or "" for sentence in source_sentences(doc)]
    if len(ids) == n:
        return ids
    doc_id = record.get("id")
    if not isinstance(doc_id, str | int) or doc_id == "":
        return [""] * n
    return [str(doc_id)] if n == 1 else [f"{doc_id}.{number}" for number in range(1, n + 1)]
