"""CoNLL-X files (shared task of 2006) as CoNLL-U.

A row has ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS, HEAD, DEPREL, PHEAD and PDEPREL. CPOSTAG becomes UPOS and
POSTAG becomes XPOS, both unchanged. The last two columns (a projective tree) are optional and are
dropped.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import Errors

CONLLX_SUFFIXES = (".conllx", ".conll")
#: Suffixes of all treebanks.
TREEBANK_SUFFIXES = (".conllu", *CONLLX_SUFFIXES)
#: Number of the columns from ID to DEPREL, and of all columns.
N_TREE_COLUMNS, N_CONLLX_COLUMNS = 8, 10
#: Index of FEATS in the columns after FORM.
FEATS = 3


def conllu_lines(lines: Iterable[str], source: str) -> Iterator[str]:
    """Yield lines of CoNLL-X as CoNLL-U.

    A line of white space ends a sentence. Cells may be empty and the last two columns may be missing.
    Comments are kept. Features without a value, which CoNLL-X allows, get the value Yes.

    lines: The lines.
    source: Name of the file, for error messages.
    Raises ValueError with source, line number and the bad value if the text is not CoNLL-X.
    """
    for number, line in enumerate(lines, start=1):
        text = line.strip("\ufeff\r\n") if number == 1 else line.rstrip("\r\n")
        if not text.strip():
            yield "\n"
            continue
        if text.startswith("#") and "\t" not in text:
            yield f"{text}\n"
            continue
        cells = text.split("\t")
        if len(cells) not in (N_TREE_COLUMNS, N_CONLLX_COLUMNS):
            raise ValueError(Errors.E310.format(**describe_row(text, where=f"{source}, line {number}")))
        id_, form, *others = cells[:N_TREE_COLUMNS]
        others[FEATS] = _conllu_features(others[FEATS])
        yield "\t".join([id_, form, *(cell or "_" for cell in others), "_", "_"]) + "\n"


def describe_row(row: str, *, where: str) -> dict[str, Any]:
    """Describe a row with too many or too few columns for an error, with a guess at its format."""
    n, hint = row.count("\t") + 1, ""
    if n == 1 and len(row.split()) > 1:
        hint = "Are there spaces in place of tabs?"
    elif row.endswith("\t"):
        hint = "Remove the tab at the end of the row."
    elif n == N_TREE_COLUMNS:
        hint = "Eight columns are CoNLL-X: give the file the suffix .conllx."
    elif n > N_CONLLX_COLUMNS:
        hint = (
            "For CoNLL-U Plus (# global.columns), keep the columns ID to MISC. For CoNLL-2009, keep columns "
            "1, 2, 3, 5, 5, 7, 9 and 11, which are CoNLL-X (.conllx)."
        )
    return {"where": where, "found": n, "row": row[:80], "hint": hint and f". {hint}"}


def _conllu_features(cell: str) -> str:
    """Convert features such as sg|masc or Number=Sing|masc to sorted name=value pairs of CoNLL-U."""
    if cell in ("", "_"):
        return "_"
    pairs = [part.partition("=") for part in cell.split("|") if part.strip("=")]
    features = {f"{name or 'X'}={value.replace('=', '-') or 'Yes'}" for name, _, value in pairs}
    return "|".join(sorted(features, key=lambda feature: (feature.lower(), feature))) or "_"
