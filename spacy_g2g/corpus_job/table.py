"""Docs to Arrow tables. The columns depend on the pipeline, never on its output."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from ..arrays import HashArray, IntArray
from ..errors import Errors
from ..pipeline.g2g_parser import DEP_PROB, HEAD_PROB
from .documents import Document

#: Columns with a string for each token, and spaCy's attributes. The first is always there.
STRINGS = {"words": "ORTH", "deps": "DEP", "tags": "TAG", "pos": "POS", "lemmas": "LEMMA", "morphs": "MORPH"}
#: Columns with a probability for each token, and their extension attributes.
PROBABILITIES = {"head_probs": HEAD_PROB, "dep_probs": DEP_PROB}
#: Columns with annotation, and what a component declares to assign if it sets them.
ASSIGNED = {
    "sent_starts": {"doc.sents", "token.is_sent_start"},
    "heads": {"token.head"},
    "deps": {"token.dep"},
    "tags": {"token.tag"},
    "pos": {"token.pos"},
    "lemmas": {"token.lemma"},
    "morphs": {"token.morph"},
}
#: Columns that an ``attribute_ruler`` may set, which declares nothing.
OF_RULES = ("tags", "pos", "lemmas", "morphs")
ANNOTATIONS = (*ASSIGNED, *PROBABILITIES)


def annotations_of(nlp: Language) -> tuple[str, ...]:
    """Return the annotation columns that the components of a pipeline say they set."""
    metas = [nlp.get_pipe_meta(name) for name in nlp.pipe_names]
    assigned = {attribute for meta in metas for attribute in meta.assigns}
    found = {column for column, attributes in ASSIGNED.items() if attributes & assigned}
    if any(meta.factory == "attribute_ruler" for meta in metas):
        found.update(OF_RULES)
    if any(getattr(pipe, "store_probabilities", False) for _, pipe in nlp.pipeline):
        found.update(PROBABILITIES)
    return tuple(column for column in ANNOTATIONS if column in found)


def make_schema(annotations: Sequence[str], kept: Sequence[str], *, text: bool) -> pa.Schema:
    """Return the schema of the output.

    annotations: Columns from ``ANNOTATIONS``.
    kept: Columns of the input that go to the output.
    text: Whether there is a column with the text.
    Raises ValueError for an unknown annotation, and for kept columns named as others.
    """
    unknown = sorted(set(annotations) - set(ANNOTATIONS))
    if unknown:
        raise ValueError(Errors.E1107.format(names=unknown, expected=list(ANNOTATIONS)))
    names = ["id", "file", "place", *(["text"] if text else []), "words", "spaces"]
    names += [name for name in ANNOTATIONS if name in annotations]
    fields = [pa.field(name, _type_of(name), nullable=False) for name in names]
    clashes = sorted(set(kept) & set(names))
    if clashes:
        raise ValueError(Errors.E1108.format(names=clashes))
    return pa.schema([*fields, *(pa.field(name, pa.string()) for name in kept)])


def _type_of(name: str) -> pa.DataType:
    single = {"id": pa.string(), "file": pa.string(), "place": pa.int64(), "text": pa.string()}
    items = {"spaces": pa.bool_(), "sent_starts": pa.int32(), "heads": pa.int32()}
    items |= dict.fromkeys(STRINGS, pa.string()) | dict.fromkeys(PROBABILITIES, pa.float32())
    return single[name] if name in single else pa.list_(items[name])


def make_table(parsed: Sequence[tuple[Document, Doc]], schema: pa.Schema, kept: Sequence[str]) -> pa.Table:
    """Return a row for each parsed document.

    parsed: Documents with their Docs.
    schema: Schema from ``make_schema``.
    kept: Names of the documents' kept values.
    Heads are spaCy's: the number of the token in the document, of a root its own.
    """
    documents, docs = [document for document, _ in parsed], [doc for _, doc in parsed]
    tokens = _Tokens(docs)
    columns: dict[str, Callable[[], pa.Array]] = {
        "id": lambda: pa.array([document.id for document in documents], pa.string()),
        "file": lambda: pa.array([document.file for document in documents], pa.string()),
        "place": lambda: pa.array([document.place for document in documents], pa.int64()),
        "text": lambda: pa.array([doc.text for doc in docs], pa.string()),
        "spaces": lambda: tokens.lists(pa.array(tokens["SPACY"].astype(bool))),
        "sent_starts": tokens.sentence_starts,
        "heads": lambda: tokens.lists(pa.array(tokens.heads())),
    }
    arrays = {name: columns[name]() for name in schema.names if name in columns}
    arrays |= {name: tokens.strings(STRINGS[name]) for name in schema.names if name in STRINGS}
    arrays |= {name: tokens.values(PROBABILITIES[name]) for name in schema.names if name in PROBABILITIES}
    for i, name in enumerate(kept):
        arrays[name] = pa.array([document.kept[i] for document in documents], pa.string())
    return pa.table([arrays[name] for name in schema.names], schema=schema)


class _Tokens:
    """Attributes of all tokens of some Docs, one after the other."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.docs = docs
        self.ends = np.cumsum([0, *map(len, docs)]).astype(np.int32)

    def __getitem__(self, attribute: str) -> HashArray:
        """Return an attribute of each token, uint64 [tokens]."""
        parts = [np.asarray(doc.to_array(attribute), np.uint64) for doc in self.docs]
        return np.concatenate([*parts, np.zeros(0, np.uint64)])

    def lists(self, values: pa.Array) -> pa.Array:
        """Return a list for each Doc of what there is for each token."""
        return pa.ListArray.from_arrays(pa.array(self.ends), values)

    def heads(self) -> NDArray[np.int32]:
        """Return the number in its Doc of each token's head, int32 [tokens]."""
        within = np.arange(self.ends[-1]) - np.repeat(self.ends[:-1], np.diff(self.ends))
        heads: IntArray = within + self["HEAD"].astype(np.int64)
        return heads.astype(np.int32)

    def sentence_starts(self) -> pa.Array:
        """Return a list for each Doc of the tokens that sentences start with; [] if it has no boundaries."""
        starts = [_starts(doc) for doc in self.docs]
        ends = np.cumsum([0, *map(len, starts)]).astype(np.int32)
        values = np.concatenate([*starts, np.zeros(0, np.int64)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), pa.array(values))

    def strings(self, attribute: str) -> pa.Array:
        """Return a list for each Doc of the strings of an attribute, "" if it is not set."""
        keys, codes = np.unique(self[attribute], return_inverse=True)
        empty = "_" if attribute == "MORPH" else ""
        found = [self.docs[0].vocab.strings[int(key)] if key else "" for key in keys]
        values = pa.array(["" if string == empty else string for string in found], pa.string())
        return self.lists(values.take(pa.array(codes)))

    def values(self, extension: str) -> pa.Array:
        """Return a list for each Doc of an extension attribute, null if it is not set."""
        return self.lists(pa.array(_extensions(self.docs, extension), pa.float32()))


def _starts(doc: Doc) -> IntArray:
    if not doc.has_annotation("SENT_START"):
        return np.zeros(0, np.int64)
    is_start = doc.to_array("SENT_START").astype(np.int64) == 1
    is_start[:1] = True
    return np.flatnonzero(is_start)


def _extensions(docs: Iterable[Doc], extension: str) -> list[float | None]:
    # The keys of `token._`, which takes ten times as long.
    values: list[float | None] = []
    for doc in docs:
        user_data: dict[Any, Any] = doc.user_data
        places: list[int] = np.asarray(doc.to_array("IDX")).tolist()
        values.extend(user_data.get(("._.", extension, place, None)) for place in places)
    return values
