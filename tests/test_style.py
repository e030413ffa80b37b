"""Two habits that no linter knows: one comprehension an expression, and names for arguments of one type."""

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
FOLDERS = ("spacy_g2g", "project", "experiments")
#: What numpy, Thinc and PyTorch call by position.
CALLED_BY_POSITION = {"forward", "backward", "convert_inputs", "convert_outputs"}


def statements(tree: ast.AST) -> Iterator[list[ast.expr]]:
    """Yield the expressions of each statement, without those of the statements inside it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def crowded(tree: ast.AST) -> list[int]:
    """Return the lines of expressions with more than one comprehension, or with two loops in one."""
    lines = []
    for expressions in statements(tree):
        for expression in expressions:
            found = [node for node in ast.walk(expression) if isinstance(node, COMPREHENSIONS)]
            if len(found) > 1 or any(len(node.generators) > 1 for node in found):
                lines.append(expression.lineno)
    return sorted(set(lines))


def is_public(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return not function.name.startswith("_") and function.name not in CALLED_BY_POSITION


def confusable(tree: ast.AST) -> list[str]:
    """Return public functions of which two positional arguments in a row have the same type."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_public(node):
            types = [ast.unparse(each.annotation) for each in node.args.args if each.annotation]
            if any(first == second for first, second in itertools.pairwise(types)):
                names.append(f"{node.lineno}: {node.name}")
    return names


def files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("check", [crowded, confusable])
def test_each_file_keeps_the_habit(check):
    found = {}
    for path in files():
        places = check(ast.parse(path.read_text(encoding="utf8")))
        if places:
            found[path.relative_to(ROOT).as_posix()] = places
    assert not found


def test_the_checks_find_what_they_forbid():
    assert crowded(
        ast.parse("x = [a for a in b]\ny = [a for b in c for a in b]\nz = {a: [b for b in a] for a in c}")
    ) == [2, 3]
    assert crowded(ast.parse("x = sum(a for a in b) / sum(a for a in c)")) == [1]
    assert confusable(ast.parse("def f(a: int, b: int): pass\ndef g(a: int, *, b: int): pass")) == ["1: f"]


def test_no_file_name_stands_twice_beside_the_wings():
    wings = {"amr", "transition"}
    names = [
        path.name
        for path in (ROOT / "spacy_g2g").rglob("*.py")
        if path.name != "__init__.py" and path.relative_to(ROOT / "spacy_g2g").parts[0] not in wings
    ]
    assert sorted(names) == sorted(set(names))
