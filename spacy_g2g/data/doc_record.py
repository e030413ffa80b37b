"""The record of a parsed Doc: the columns that JSON lines, HTTP and Parquet write.

To add a column, add an entry to ``COLUMNS``. Nothing else changes if a component declares to assign it.
Heads are indices of tokens in the Doc; a root is its own head. Ranges are half-open: the first token, and the
one after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from .docs import write_tree
from .enhanced import ENHANCED, own_enhanced, set_enhanced
from .multiword import mark_words, multiword_tokens, word_forms
from .roles import ROLES, own_roles, role_rows, set_role_rows
from .token_check import own_value, with_tokens

#: Extension attributes of tokens: the probability of the head, and of the label if the head is right.
HEAD_PROB, DEP_PROB = "g2g_head_prob", "g2g_dep_prob"

#: Extension attribute of Docs with the facts that they state, and key of ``doc.user_data`` with their rows.
FACTS = "g2g_facts"

#: A Doc's values by the names of columns.
Record = dict[str, list[Any]]


@dataclass(frozen=True)
class Column:
    """A column of a record.

    name: Its name in all formats.
    kind: Kind of each value: "text", "flag", "index", "probability", "arcs", "range", "fact" or "role".
    values: Returns the values of a Doc.
    assigned: Attributes of spaCy. A component that sets the column declares to assign one of them.
    is_set: Returns something true if a Doc has the column. JSON has only columns with this function.
    extension: Extension attribute of Docs with the values, and name of the column in JSON lines.
    token_extension: Extension attribute of tokens with the values.
    """

    name: str
    kind: str
    values: Callable[[Doc], list[Any]]
    assigned: tuple[str, ...] = ()
    is_set: Callable[[Doc], object] | None = None
    extension: str = ""
    token_extension: str = ""


def _each(value: Callable[[Token], Any]) -> Callable[[Doc], list[Any]]:
    """Return a function that lists a value for each token of a Doc."""
    return lambda doc: [value(token) for token in doc]


def _probabilities(name: str, extension: str) -> Column:
    def values(doc: Doc) -> list[Any]:
        # This takes a tenth of the time of ``token._``.
        user_data: dict[Any, Any] = doc.user_data
        return [user_data.get(("._.", extension, start, None)) for start in doc.to_array("IDX").tolist()]

    return Column(name, "probability", values, token_extension=extension)


def _first_tokens(doc: Doc) -> list[int]:
    """Return the index of the first token of each sentence; [] if a Doc has no boundaries."""
    if not doc.has_annotation("SENT_START"):
        return []
    return [token.i for token in doc if token.is_sent_start or not token.i]


def set_facts(doc: Doc, rows: list[dict[str, Any]] | None) -> None:
    """Set the rows of the facts that a Doc states, or remove them."""
    doc.user_data.pop(FACTS, None)
    if rows is not None:
        doc.user_data[FACTS] = with_tokens(doc, {"rows": rows})


def own_facts(doc: Doc) -> list[dict[str, Any]] | None:
    """Return the rows of the facts that were set on a Doc, or None. Removes them if its tokens changed."""
    value = own_value(doc, FACTS)
    return value and list(value["rows"])


ENHANCED_COLUMN = Column(
    "enhanced",
    "arcs",
    lambda doc: own_enhanced(doc) or [[]] * len(doc),
    (f"token._.{ENHANCED}",),
    is_set=lambda doc: own_enhanced(doc) is not None,
    extension=ENHANCED,
)
COLUMNS = (
    Column("words", "text", _each(lambda token: token.text)),
    Column("spaces", "flag", _each(lambda token: bool(token.whitespace_))),
    Column("sent_starts", "index", _first_tokens, ("doc.sents", "token.is_sent_start")),
    Column("heads", "index", _each(lambda token: token.head.i), ("token.head",)),
    Column("deps", "text", _each(lambda token: token.dep_), ("token.dep",)),
    Column("tags", "text", _each(lambda token: token.tag_), ("token.tag",)),
    Column("pos", "text", _each(lambda token: token.pos_), ("token.pos",)),
    Column("lemmas", "text", _each(lambda token: token.lemma_), ("token.lemma",)),
    Column("morphs", "text", _each(lambda token: str(token.morph)), ("token.morph",)),
    ENHANCED_COLUMN,
    _probabilities("head_probs", HEAD_PROB),
    _probabilities("dep_probs", DEP_PROB),
    Column("forms", "text", word_forms, is_set=multiword_tokens),
    Column("multiword_tokens", "range", multiword_tokens, is_set=multiword_tokens),
    Column(
        "facts",
        "fact",
        lambda doc: own_facts(doc) or [],
        (f"doc._.{FACTS}",),
        is_set=lambda doc: own_facts(doc) is not None,
    ),
    Column("roles", "role", role_rows, (f"doc._.{ROLES}",), is_set=lambda doc: own_roles(doc) is not None),
)
#: Columns that Parquet always has.
BASIC = ("words", "spaces")
#: Columns that a pipeline sets.
ANNOTATIONS = [column.name for column in COLUMNS if column.name not in BASIC]
#: Columns that are arguments of a Doc, and that an ``attribute_ruler`` may set.
TAGS = ("tags", "pos", "lemmas", "morphs")
#: Columns with the words of multiword tokens. Column "words" has their subtokens.
MULTIWORD_TOKENS = ("forms", "multiword_tokens")
#: Columns that are extension attributes of tokens.
PROBABILITIES = {column.name: column.token_extension for column in COLUMNS if column.token_extension}


def assigned_attributes(nlp: Language) -> set[str]:
    """Return the attributes of spaCy that the components of a pipeline declare to assign."""
    return set[str]().union(*(nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names))


def make_record(doc: Doc, names: Collection[str]) -> Record:
    """Return columns of a Doc by their names. Other names are ignored."""
    return {column.name: column.values(doc) for column in COLUMNS if column.name in names}


def own_columns(doc: Doc) -> list[Column]:
    """Return the columns that only some Docs have, and that this Doc has."""
    return [column for column in COLUMNS if column.is_set and column.is_set(doc)]


def own_record(doc: Doc) -> Record:
    """Return the values of ``own_columns`` that are not an extension attribute."""
    return {column.name: column.values(doc) for column in own_columns(doc) if not column.extension}


def doc_of_record(record: Mapping[str, Any], vocab: Vocab) -> Doc:
    """Make the Doc of a record, which must have words and spaces. An arc is a dict with "head" and "dep"."""
    arguments = {name: record[name] for name in TAGS if any(record.get(name, ()))}
    doc = Doc(vocab, record["words"], record["spaces"], **arguments)
    if all(name in record for name in MULTIWORD_TOKENS):
        ranges, forms = record["multiword_tokens"], list[str]()
        for start, end in ranges:
            forms += record["forms"][start:end]
        mark_words(doc, ranges, forms)
    for name, extension in PROBABILITIES.items():
        if name in record:
            Token.set_extension(extension, default=None, force=True)
            for token, value in zip(doc, record[name], strict=True):
                if value is not None:
                    token._.set(extension, value)
    if any(record.get("enhanced", ())):
        set_enhanced(doc, [_pairs(arcs) for arcs in record["enhanced"]])
    if record.get("facts"):
        set_facts(doc, record["facts"])
    if record.get("roles"):
        set_role_rows(doc, record["roles"])
    _set_tree(doc, record)
    return doc


def _pairs(arcs: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(arc["head"], arc["dep"]) for arc in arcs]


def _set_tree(doc: Doc, record: Mapping[str, Any]) -> None:
    n = len(doc)
    starts: Any = np.zeros(n, np.int64)
    if record.get("sent_starts"):
        starts[:] = -1
        starts[record["sent_starts"]] = 1
    heads = np.asarray(record.get("heads", range(n)), np.int64) - np.arange(n)
    deps = [doc.vocab.strings.add(dep) for dep in record.get("deps", [""] * n)]
    parse = np.stack([heads.astype(np.uint64), np.asarray(deps, np.uint64)], axis=1)
    if parse.any():
        write_tree(doc, parse, starts=starts.astype(np.uint64))
    elif starts.any():
        doc.from_array("SENT_START", starts.astype(np.uint64))
