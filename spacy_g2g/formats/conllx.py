"""CoNLL-X files (shared task of 2006) read as CoNLL-U, and treebanks read by the suffix of their files.

A row has ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS, HEAD, DEPREL, PHEAD and PDEPREL. CPOSTAG becomes UPOS and
POSTAG becomes XPOS, both unchanged. The last two columns (a projective tree) are optional and are
dropped.
"""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Union

from ..errors import Errors
from .conllu import N_COLUMNS, ConlluSentence, TreeCheck, decode_lines, read_conllu, read_lines

CONLLU_SUFFIXES: Sequence[str] = (".conllu",)
CONLLX_SUFFIXES: Sequence[str] = (".conllx", ".conll")
#: Suffixes of all treebanks.
TREEBANK_SUFFIXES: Sequence[str] = (*CONLLU_SUFFIXES, *CONLLX_SUFFIXES)
#: Number of the columns from ID to DEPREL.
N_TREE_COLUMNS = 8
#: Index of FEATS in the columns after FORM.
FEATS = 3


def read_treebank(
    path: Union[str, "PathLike[str]"], *, trees: TreeCheck = "partial"
) -> Iterator[ConlluSentence]:
    """Read a file as CoNLL-X or CoNLL-U, by its suffix. ``read_conllu`` describes arguments and errors."""
    is_conllx = Path(path).suffix in CONLLX_SUFFIXES
    return (read_conllx if is_conllx else read_conllu)(path, trees=trees)


def read_conllx(
    path: Union[str, "PathLike[str]"], *, trees: TreeCheck = "partial"
) -> Iterator[ConlluSentence]:
    """Read sentences of CoNLL-X one by one, as CoNLL-U.

    A line of white space ends a sentence. Cells may be empty and the last two columns may be missing.
    Comments are kept. Features without a value, which CoNLL-X allows, get the value Yes.

    path: File to read.
    trees: Check of the heads, see ``read_conllu``.
    Raises ValueError with source, line number and the bad value if the text is not CoNLL-X.
    """
    source = fspath(path)
    with open(source, "rb") as file_:
        yield from read_lines(_conllu_lines(decode_lines(file_, source), source), source, trees)


def _conllu_lines(lines: Iterable[str], source: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        text = line.strip("\ufeff\r\n") if number == 1 else line.rstrip("\r\n")
        if not text.strip():
            yield "\n"
            continue
        if text.startswith("#") and "\t" not in text:
            yield f"{text}\n"
            continue
        cells = text.split("\t")
        if len(cells) not in (N_TREE_COLUMNS, N_COLUMNS):
            where = f"{source}, line {number}"
            raise ValueError(Errors.E310.format(where=where, found=len(cells), row=text[:80]))
        id_, form, *others = cells[:N_TREE_COLUMNS]
        others[FEATS] = _conllu_features(others[FEATS])
        yield "\t".join([id_, form, *(cell or "_" for cell in others), "_", "_"]) + "\n"


def _conllu_features(cell: str) -> str:
    """Convert features such as sg|masc or Number=Sing|masc to sorted name=value pairs of CoNLL-U."""
    if cell in ("", "_"):
        return "_"
    pairs = [part.partition("=") for part in cell.split("|") if part.strip("=")]
    features = {f"{name or 'X'}={value.replace('=', '-') or 'Yes'}" for name, _, value in pairs}
    return "|".join(sorted(features, key=lambda feature: (feature.lower(), feature))) or "_"
