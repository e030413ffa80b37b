"""The column DEPS of CoNLL-U: enhanced graphs, in which a word may have several heads.

Empty nodes are collapsed, as the tasks of IWPT 2020 and 2021 do it: if a word depends on an empty node as
nsubj, which depends on a word as conj, then the first depends on the second as ``conj>nsubj``.
"""

from collections.abc import Iterable, Iterator

from ..errors import Errors
from .conllu import N_COLUMNS, ConlluSentence
from .graph import Arc

#: Joins the labels of the arcs to and from an empty node.
STEP = ">"


def read_deps(sentence: ConlluSentence) -> list[list[Arc]]:
    """Return heads and labels of each word in the enhanced graph. Raises ValueError if a cell is broken."""
    if all(word.deps == "_" for word in sentence.words):
        return [[] for _ in sentence.words]
    rows = [line.rstrip("\r\n").split("\t") for line in sentence.lines]
    cells = {cells[0]: cells[8] for cells in rows if len(cells) == N_COLUMNS and "." in cells[0]}
    cells |= {str(number): word.deps for number, word in enumerate(sentence.words, start=1)}
    arcs: dict[str, list[tuple[str, str]]] = {}
    for id_, cell in cells.items():
        found = [item.partition(":") for item in cell.split("|") if cell != "_"]
        if any(not dep or (head != "0" and head not in cells) for head, _, dep in found):
            where = sentence.location(max(int(id_.partition(".")[0]), 1) - 1)
            raise ValueError(Errors.E311.format(where=where, value=cell[:80]))
        arcs[id_] = [(head, dep) for head, _, dep in found]
    return [list(_between_words(str(number), arcs)) for number in range(1, len(sentence.words) + 1)]


def deps_cell(arcs: Iterable[Arc]) -> str:
    """Return the cell DEPS of a word, sorted by heads, from its heads and labels.

    >>> deps_cell([(4, "nsubj:xsubj"), (2, "nsubj")])
    '2:nsubj|4:nsubj:xsubj'
    """
    return "|".join(f"{head}:{dep}" for head, dep in sorted(arcs)) or "_"


def _between_words(
    node: str, arcs: dict[str, list[tuple[str, str]]], path: str = "", seen: tuple[str, ...] = ()
) -> Iterator[Arc]:
    """Yield the arcs to words that lead from a node through empty nodes, each of which is passed once."""
    for head, dep in arcs[node]:
        if "." not in head:
            yield int(head), dep + path
        elif head not in seen:
            yield from _between_words(head, arcs, STEP + dep + path, (*seen, head))
