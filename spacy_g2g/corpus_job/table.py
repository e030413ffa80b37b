"""Docs to Arrow tables. The columns depend on the pipeline, never on its output."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from spacy.language import Language
from spacy.tokens import Doc

from ..data.doc_record import (
    ANNOTATIONS,
    BASIC,
    COLUMNS,
    MULTIWORD_TOKENS,
    PROBABILITIES,
    TAGS,
    assigned_attributes,
    make_record,
)
from ..errors import Errors
from ..facts.fact import ROW, SPANS
from ..mwt.mwt_splitter import MwtSplitter
from ..parser.g2g_parser import G2GParser
from .documents import Document

#: Arrow's types of the values of columns, by their kinds.
VALUE_TYPES = {
    "text": pa.string(),
    "flag": pa.bool_(),
    "index": pa.int32(),
    "probability": pa.float32(),
    "arcs": pa.list_(pa.struct({"head": pa.int32(), "dep": pa.string()})),
    "range": pa.list_(pa.int32()),
}
#: Types of the columns of facts that are not texts.
_FACT = {"sentence": pa.int32(), "probability": pa.float32()}
_FACT |= dict.fromkeys(("negated", "passive", "question"), pa.bool_())
_FACT |= {f"{name}_tokens": VALUE_TYPES["range"] for name in SPANS}
_DETAIL = {"marker": pa.string(), "text": pa.string(), "tokens": VALUE_TYPES["range"]}
_FACT["details"] = pa.list_(pa.struct(_DETAIL))
VALUE_TYPES["fact"] = pa.struct({name: _FACT.get(name, pa.string()) for name in ROW})
_ARGUMENT = {"role": pa.string(), **dict.fromkeys(("head", "start", "end"), pa.int32())}
_ARGUMENT |= {"probability": pa.float32(), "text": pa.string()}
_PREDICATE = {"word": pa.int32(), "text": pa.string(), "roleset": pa.string(), "probability": pa.float32()}
VALUE_TYPES["role"] = pa.struct({**_PREDICATE, "arguments": pa.list_(pa.struct(_ARGUMENT))})
#: Columns of the output, and their types: those of the document, and those of its Doc.
TYPES = {"id": pa.string(), "file": pa.string(), "place": pa.int64(), "text": pa.string()}
TYPES |= {column.name: pa.list_(VALUE_TYPES[column.kind]) for column in COLUMNS}


def annotations_of(nlp: Language) -> tuple[str, ...]:
    """Return the annotation columns that the components of a pipeline declare to set."""
    assigned = assigned_attributes(nlp)
    names = {column.name for column in COLUMNS if assigned.intersection(column.assigned)}
    if "attribute_ruler" in nlp.pipe_factories.values():  # It declares nothing.
        names.update(TAGS)
    if any(isinstance(pipe, G2GParser) and pipe.store_probabilities for _, pipe in nlp.pipeline):
        names.update(PROBABILITIES)
    if any(isinstance(pipe, MwtSplitter) and pipe.table for _, pipe in nlp.pipeline):
        names.update(MULTIWORD_TOKENS)
    return tuple(name for name in ANNOTATIONS if name in names)


def make_schema(annotations: Sequence[str], *, keep: Sequence[str], text: bool) -> pa.Schema:
    """Return the schema of the output.

    annotations: Columns from ``ANNOTATIONS``.
    keep: Further columns of the input to copy.
    text: Whether to write a column with the text.
    Raises ValueError for an unknown annotation, and for a further column with the name of another column.
    """
    unknown = sorted(set(annotations) - set(ANNOTATIONS))
    if unknown:
        raise ValueError(Errors.E1107.format(names=unknown, expected=ANNOTATIONS))
    names = {"id", "file", "place", *BASIC, *annotations} | ({"text"} if text else set())
    clashes = sorted(names.intersection(keep))
    if clashes:
        raise ValueError(Errors.E1108.format(names=clashes))
    fields = [pa.field(name, type_, nullable=False) for name, type_ in TYPES.items() if name in names]
    return pa.schema(fields + [pa.field(name, pa.string()) for name in keep])


def docs_to_table(parsed: Sequence[tuple[Document, Doc]], schema: pa.Schema, keep: Sequence[str]) -> pa.Table:
    """Return a row for each parsed document. Keep has the names of the documents' extra values."""
    names = [name for name in schema.names if name not in keep]
    rows: list[dict[str, Any]] = []
    for document, doc in parsed:
        row: dict[str, Any] = {"id": document.id, "file": document.file, "place": document.place}
        row |= {"text": doc.text, **make_record(doc, names), **dict(zip(keep, document.extra, strict=True))}
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=schema)
