"""Trees of PENMAN notation, as `formats.penman_text.parse_penman` reads them, and their branches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# (variable, [(role, target), ...]). The target of the role "/" is the concept; any other target is a
# variable, a constant or an AmrTree. Any stands for str | AmrTree, since mypy's recursive types fail in tuple
# and list.
AmrTree = tuple[str, list[tuple[str, Any]]]

_MARKER = re.compile(r"~(?:[a-z]\.?)?([0-9]+(?:,[0-9]+)*)$")


class TreeEdge(NamedTuple):
    """A branch of a tree, as written.

    variable: Variable of the tree that has the branch.
    role: The role without colon and alignment marker; "/" for the concept.
    target: A concept, constant or variable, without its alignment marker.
    words: Words named by the alignment marker of the target.
    """

    variable: str
    role: str
    target: str
    words: tuple[int, ...]


def tree_edges(tree: AmrTree) -> Iterator[TreeEdge]:
    """Yield the branches of a tree in the order of the text: a tree's concept, then its other branches."""
    agenda: list[tuple[str, str, Any]] = [(tree[0], role, target) for role, target in reversed(tree[1])]
    while agenda:
        variable, role, target = agenda.pop()
        role = _MARKER.sub("", role).removeprefix(":")
        if isinstance(target, str):
            match = _MARKER.search(target)
            words = match[1].split(",") if match else ()
            yield TreeEdge(variable, role, _MARKER.sub("", target), tuple(map(int, words)))
        else:
            yield TreeEdge(variable, role, target[0], ())
            agenda.extend((target[0], *branch) for branch in reversed(target[1]))
