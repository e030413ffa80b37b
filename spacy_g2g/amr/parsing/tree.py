"""Trees of PENMAN notation, as `formats.penman_text.parse_penman` reads them, and their branches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# (variable, [(role, target), ...]). The target of the role "/" is the concept; any other target is a
# variable, a constant or an AmrTree. Any stands for str | AmrTree, since the recursive types of mypy fail in
# tuple and list.
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
            text, words = split_marker(target)
            yield TreeEdge(variable, role, text, words)
        else:
            yield TreeEdge(variable, role, target[0], ())
            agenda.extend((target[0], *branch) for branch in reversed(target[1]))


def split_marker(text: str) -> tuple[str, tuple[int, ...]]:
    """Split a concept or constant from the words of its alignment marker: boy~e.3 into ("boy", (3,))."""
    match = _MARKER.search(text)
    if match is None:
        return text, ()
    return text[: match.start()], tuple(int(word) for word in match[1].split(","))
