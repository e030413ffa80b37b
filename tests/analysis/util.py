"""What tests of the commands of `analysis` share."""

from collections.abc import Callable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..chains import g2g


def run(*arguments: object, status: int = 0) -> str:
    """Run a command, check its exit status, and return what it prints."""
    result = g2g(*arguments)
    assert result.exit_code == status, result.output
    return result.output


def first_cells(printed: str) -> dict[str, list[str]]:
    """The further words of each printed line, by its first word."""
    rows = [line.split() for line in printed.splitlines() if line.strip()]
    return {row[0]: row[1:] for row in rows}


def add_component(function: Callable[[Doc], Doc], pipeline: str, folder: Path, **settings: bool) -> str:
    """Save a pipeline with one more component, and return its folder."""
    Language.component(f"test_{folder.name}", func=function)
    nlp = spacy.load(pipeline)
    nlp.add_pipe(f"test_{folder.name}", **settings)
    nlp.to_disk(folder)
    return str(folder)


def merge_two(doc: Doc) -> Doc:
    """A component that makes one token of the first two."""
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[:2])
    return doc
