"""Read, check and write the text of one AMR in PENMAN notation.

Needs the package penman (the extra ``amr``), which is imported when a graph is read or written.
"""

import re
from typing import Any

from ...errors import Errors
from ..parsing.tree import AmrTree

_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(r"[()]")
_STRING_OR_MARKER = re.compile(r'("(?:[^"\\]|\\.)*")|~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*')


def parse_penman(text: str, *, where: str = "<text>") -> AmrTree:
    """Read and check the tree of one graph in PENMAN notation.

    Each variable has one tree with a concept, and each role has a target. Alignment markers (~e.5) stay.

    text: The graph. Comments before it are ignored.
    where: The origin of the text, for messages.
    Raises ValueError if the text is not one well-formed graph.
    Raises ImportError if penman is not installed.
    """
    penman = _import_penman()
    try:
        tree: AmrTree = penman.parse(text).node
    except penman.PenmanError as error:
        message = str(error).strip().splitlines()[-1].strip()
        raise ValueError(Errors.E1002.format(where=where, error=message, text=_start(text))) from error
    except RecursionError:
        message = "its trees are nested too deep"
        raise ValueError(Errors.E1002.format(where=where, error=message, text=_start(text))) from None
    if rest := _after_graph(text):
        raise ValueError(Errors.E1003.format(where=where, rest=_start(rest)))
    _check_tree(tree, where)
    return tree


def format_penman(tree: AmrTree) -> str:
    """Return the text of a well-formed tree: each branch on its own line, indented by its depth."""
    penman = _import_penman()
    text: str = penman.format(penman.Tree(tree), indent=3)
    return text


def decode_penman(text: str, *, where: str = "<text>") -> Any:
    """Return the ``penman.Graph`` of an AMR. Raises as ``parse_penman`` does."""
    parse_penman(text, where=where)
    import penman
    from penman.models.amr import model

    return penman.decode(text, model=model)


def without_markers(text: str) -> str:
    """Remove the markers that align an AMR with words: boy~e.3 becomes boy."""
    return _STRING_OR_MARKER.sub(lambda match: match[1] or "", text)


def _import_penman() -> Any:
    try:
        import penman
    except ImportError as error:
        raise ImportError(Errors.E1010.format(error=error)) from error
    return penman


def _after_graph(text: str) -> str:
    """Return the text after the first graph, which penman was able to read."""
    plain = _COMMENT.sub("", text)
    strings = _STRING.sub(lambda match: "_" * len(match[0]), plain)
    depth = 0
    for match in _BRACKET.finditer(strings):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return plain[match.end() :].strip()
    return ""


def _check_tree(tree: AmrTree, where: str) -> None:
    """Raise ValueError unless each variable has one tree with a concept, and each role has a target."""
    seen: set[str] = set()
    agenda = [tree]
    while agenda:
        variable, branches = agenda.pop()
        if variable is None:
            raise ValueError(Errors.E1004.format(where=where))
        if variable in seen:
            raise ValueError(Errors.E1005.format(where=where, variable=variable))
        seen.add(variable)
        if not any(role == "/" for role, _ in branches):
            raise ValueError(Errors.E1006.format(where=where, variable=variable, role="/"))
        for role, target in branches:
            if target is None or without_markers(role) == ":":
                raise ValueError(Errors.E1006.format(where=where, variable=variable, role=role))
            if not isinstance(target, str):
                agenda.append(target)


def _start(text: str) -> str:
    return repr(text[:60])
