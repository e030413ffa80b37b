"""Docs to Arrow tables. The columns depend on the pipeline, never on its output."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from spacy.language import Language
from spacy.tokens import Doc, Token

from ..data.enhanced import ENHANCED, own_enhanced
from ..data.multiword import multiword_tokens, word_forms
from ..errors import Errors
from ..mwt.mwt_splitter import MwtSplitter
from ..parser.g2g_parser import DEP_PROB, HEAD_PROB
from .documents import Document

#: Columns with a probability for each token, and their extension attributes.
PROBABILITIES = {"head_probs": HEAD_PROB, "dep_probs": DEP_PROB}
#: Columns of the output, and their types: first those that are always there or, as the text, may be left out.
TYPES = {
    "id": pa.string(),
    "file": pa.string(),
    "place": pa.int64(),
    "text": pa.string(),
    "words": pa.list_(pa.string()),
    "spaces": pa.list_(pa.bool_()),
    "sent_starts": pa.list_(pa.int32()),
    "heads": pa.list_(pa.int32()),
    **dict.fromkeys(("deps", "tags", "pos", "lemmas", "morphs"), pa.list_(pa.string())),
    "enhanced": pa.list_(pa.list_(pa.struct({"head": pa.int32(), "dep": pa.string()}))),
    **dict.fromkeys(PROBABILITIES, pa.list_(pa.float32())),
    "forms": pa.list_(pa.string()),
    "multiword_tokens": pa.list_(pa.list_(pa.int32())),
}
#: Columns with annotation.
ANNOTATIONS = [*TYPES][6:]
#: What a component declares to assign if it sets a column.
ASSIGNED = {
    "doc.sents": "sent_starts",
    "token.is_sent_start": "sent_starts",
    "token.head": "heads",
    "token.dep": "deps",
    "token.tag": "tags",
    "token.pos": "pos",
    "token.lemma": "lemmas",
    "token.morph": "morphs",
    f"token._.{ENHANCED}": "enhanced",
}
#: Columns that an ``attribute_ruler`` may set, which declares nothing.
OF_RULES = ("tags", "pos", "lemmas", "morphs")
#: What a token has in the columns with a value for each.
OF_TOKENS: dict[str, Callable[[Token], Any]] = {
    "words": lambda token: token.text,
    "spaces": lambda token: bool(token.whitespace_),
    "heads": lambda token: token.head.i,
    "deps": lambda token: token.dep_,
    "tags": lambda token: token.tag_,
    "pos": lambda token: token.pos_,
    "lemmas": lambda token: token.lemma_,
    "morphs": lambda token: str(token.morph),
    "head_probs": lambda token: _extension(token, HEAD_PROB),
    "dep_probs": lambda token: _extension(token, DEP_PROB),
}
#: What a Doc has in the columns with the words of multiword tokens, whose pieces are in "words".
OF_WORDS: dict[str, Callable[[Doc], Any]] = {"forms": word_forms, "multiword_tokens": multiword_tokens}


def annotations_of(nlp: Language) -> tuple[str, ...]:
    """Return the annotation columns that the components of a pipeline say they set."""
    metas = [nlp.get_pipe_meta(name) for name in nlp.pipe_names]
    found = {ASSIGNED.get(attribute) for meta in metas for attribute in meta.assigns}
    if any(meta.factory == "attribute_ruler" for meta in metas):
        found.update(OF_RULES)
    if any(getattr(pipe, "store_probabilities", False) for _, pipe in nlp.pipeline):
        found.update(PROBABILITIES)
    if any(isinstance(pipe, MwtSplitter) and pipe.table for _, pipe in nlp.pipeline):
        found.update(OF_WORDS)
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
        raise ValueError(Errors.E1107.format(names=unknown, expected=ANNOTATIONS))
    left_out = {name for name in ANNOTATIONS if name not in annotations}
    left_out |= set() if text else {"text"}
    fields = [pa.field(name, type_, nullable=False) for name, type_ in TYPES.items() if name not in left_out]
    clashes = sorted(set(kept) & (TYPES.keys() - left_out))
    if clashes:
        raise ValueError(Errors.E1108.format(names=clashes))
    return pa.schema([*fields, *(pa.field(name, pa.string()) for name in kept)])


def docs_to_table(parsed: Sequence[tuple[Document, Doc]], schema: pa.Schema, kept: Sequence[str]) -> pa.Table:
    """Return a row for each parsed document.

    parsed: Documents with their Docs.
    schema: Schema from ``make_schema``.
    kept: Names of the documents' kept values.
    Heads are spaCy's: the number of the token in the document, of a root its own.
    """
    columns: dict[str, list[Any]] = {
        "id": [document.id for document, _ in parsed],
        "file": [document.file for document, _ in parsed],
        "place": [document.place for document, _ in parsed],
        "text": [doc.text for _, doc in parsed],
        "sent_starts": [_first_tokens(doc) for _, doc in parsed],
        "enhanced": [own_enhanced(doc) or [[]] * len(doc) for _, doc in parsed],
    }
    for name, value_of in OF_TOKENS.items():
        if name in schema.names:
            columns[name] = [[value_of(token) for token in doc] for _, doc in parsed]
    for name, of_doc in OF_WORDS.items():
        if name in schema.names:
            columns[name] = [of_doc(doc) for _, doc in parsed]
    for i, name in enumerate(kept):
        columns[name] = [document.kept[i] for document, _ in parsed]
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _first_tokens(doc: Doc) -> list[int]:
    """Return the numbers of the tokens that sentences start with; [] if a Doc has no boundaries."""
    if not doc.has_annotation("SENT_START"):
        return []
    return [token.i for token in doc if token.is_sent_start or not token.i]


def _extension(token: Token, name: str) -> float | None:
    """Return what `token._` has by a name, in a tenth of the time."""
    user_data: dict[Any, Any] = token.doc.user_data
    return user_data.get(("._.", name, token.idx, None))
