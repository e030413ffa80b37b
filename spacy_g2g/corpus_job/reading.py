"""Read Docs from the Parquet files that a corpus job writes."""

from collections.abc import Iterator, Sequence

import pyarrow.parquet as pq
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..data.doc_record import BASIC, doc_of_record
from ..errors import Errors
from .store import Place, open_file, place_of
from .table import TYPES

ROWS_AT_ONCE = 256
#: Columns of the document itself that go to ``doc.user_data``, as all columns of the input do.
DOCUMENT_COLUMNS = ("id", "file", "place")


def read_docs(path: str | Place, vocab: Vocab, columns: Sequence[str] | None = None) -> Iterator[Doc]:
    """Yield the Docs of a job's output, with the annotation that was written.

    ``doc.user_data`` has the document's id, its file and its place there, and further columns of the input.

    path: Path or URI of a Parquet file, of the job's folder, or of its folder ``data``.
    columns: Columns to read, besides words and spaces; None for all.
    Raises FileNotFoundError if there are no Parquet files.
    """
    for file_place in _parquet_files(place_of(path)):
        with open_file(file_place) as source, pq.ParquetFile(source) as file:
            names = file.schema_arrow.names
            if columns is not None:
                names = [name for name in names if name in (*BASIC, *columns)]
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=names):
                for row in batch.to_pylist():
                    doc = doc_of_record(row, vocab)
                    others = (name for name in row if name in DOCUMENT_COLUMNS or name not in TYPES)
                    doc.user_data.update({name: row[name] for name in others})
                    yield doc


def _parquet_files(place: Place) -> list[Place]:
    """Return the Parquet files of a job's folder in the order of their names, or a single file."""
    files: list[Place] = []
    folders = [folder for folder in (place, place / "data") if folder.is_dir()]
    for folder in folders:
        files += [path for path in folder.iterdir() if path.suffix == ".parquet"]
    if not folders and place.exists():
        files = [place]
    if not files:
        raise FileNotFoundError(Errors.E1109.format(path=place))
    return sorted(files)
