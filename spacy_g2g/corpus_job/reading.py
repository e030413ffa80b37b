"""Docs from the Parquet files that a corpus job writes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..data.docs import write_tree
from ..data.enhanced import set_enhanced
from ..data.multiword import mark_words
from ..errors import Errors
from .store import Place, open_file, place_of
from .table import PROBABILITIES, TYPES

ROWS_AT_ONCE = 256
#: Columns that become the arguments of a Doc.
ARGUMENTS = ("tags", "pos", "lemmas", "morphs")


def read_docs(path: str | Place, vocab: Vocab, columns: Sequence[str] | None = None) -> Iterator[Doc]:
    """Yield the Docs of a job's output, with the annotation that was written.

    ``doc.user_data`` has the document's id, its file and its place there, and the kept columns.

    path: Path or URI of a Parquet file, of the job's folder, or of its folder ``data``.
    vocab: Vocabulary of the Docs.
    columns: Columns to read; words and spaces are always read. All if None.
    Raises FileNotFoundError if there is no Parquet file.
    """
    place = place_of(path)
    folders = [folder for folder in (place, place / "data") if folder.is_dir()]
    files: list[Place] = [
        file for folder in folders for file in folder.iterdir() if file.suffix == ".parquet"
    ]
    if not folders and place.exists():
        files = [place]
    if not files:
        raise FileNotFoundError(Errors.E1109.format(path=path))
    for name in sorted(files):
        with open_file(name) as source, pq.ParquetFile(source) as file:
            wanted = [
                column
                for column in file.schema_arrow.names
                if columns is None or column in ("words", "spaces", *columns)
            ]
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=wanted):
                for row in batch.to_pylist():
                    yield _doc_of(row, vocab)


def _doc_of(row: dict[str, Any], vocab: Vocab) -> Doc:
    arguments = {name: row[name] for name in ARGUMENTS if name in row and any(row[name])}
    doc = Doc(vocab, row["words"], row["spaces"], **arguments)
    if "forms" in row and "multiword_tokens" in row:
        ranges = row["multiword_tokens"]
        mark_words(doc, ranges, [row["forms"][i] for start, end in ranges for i in range(start, end)])
    for column, extension in PROBABILITIES.items():
        if column in row:
            Token.set_extension(extension, default=None, force=True)
            for token, value in zip(doc, row[column], strict=True):
                if value is not None:
                    token._.set(extension, value)
    if any(row.get("enhanced", ())):
        set_enhanced(doc, [[(arc["head"], arc["dep"]) for arc in arcs] for arcs in row["enhanced"]])
    _set_tree(doc, row)
    # All columns that are not in the Doc itself.
    named = ("id", "file", "place")
    doc.user_data.update({name: value for name, value in row.items() if name in named or name not in TYPES})
    return doc


def _set_tree(doc: Doc, row: dict[str, Any]) -> None:
    n = len(doc)
    starts: Any = np.zeros(n, np.int64)
    if row.get("sent_starts"):
        starts[:] = -1
        starts[row["sent_starts"]] = 1
    heads = np.asarray(row.get("heads", range(n)), np.int64) - np.arange(n)
    deps = [doc.vocab.strings.add(dep) for dep in row.get("deps", [""] * n)]
    parse = np.stack([heads.astype(np.uint64), np.asarray(deps, np.uint64)], axis=1)
    if parse.any():
        write_tree(doc, parse, starts.astype(np.uint64))
    elif starts.any():
        doc.from_array("SENT_START", starts.astype(np.uint64))
