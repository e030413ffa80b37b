"""Imports go strictly down the floors of the package; see `spacy_g2g.__doc__`."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "spacy_g2g"
FLOORS = {
    **dict.fromkeys(["__init__", "errors", "arrays"], 0),
    **dict.fromkeys(["parsing", "layers", "formats"], 1),
    **dict.fromkeys(["models", "data", "evaluation"], 2),
    **dict.fromkeys(["training"], 2.5),
    **dict.fromkeys(["pipeline"], 3),
    **dict.fromkeys(["amr"], 3.5),
    **dict.fromkeys(["cli"], 4),
}
NO_TORCH = {"formats", "evaluation", "pipeline"}
NUMPY_ONLY = {*sys.stdlib_module_names, "numpy"}


def imports(source: str, module: list[str], is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of each import at any depth; `from a import b` gives a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = node.level - is_package
            base = module[: len(module) - up] if node.level else []
            names = [*base, *([node.module] if node.module else [])]
            yield from ((node.lineno, ".".join([*names, alias.name])) for alias in node.names)


def complaint(folder: str, name: str) -> str | None:
    """What is wrong with an import of a dotted name in a folder of the package."""
    top, _, inside = name.partition(".")
    if top == PACKAGE:
        target = inside.split(".")[0]
        if target not in FLOORS:  # A name defined in the package's __init__.
            target = "__init__"
        below = FLOORS[target] < FLOORS[folder] or (folder, target) == ("evaluation", "amr")  # To be cut.
        return None if below or target == folder else f"{folder} is not above {target}"
    if folder in NO_TORCH and top == "torch":
        return f"{folder} never imports torch"
    if folder == "parsing" and top not in NUMPY_ONLY:
        return "parsing imports the standard library and NumPy only"
    return None


def complaints(root: Path) -> list[str]:
    found = []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        module = list(path.relative_to(root).with_suffix("").parts)
        folder = module[1]
        is_package = module[-1] == "__init__"
        module = module[:-1] if is_package else module
        for line, name in imports(path.read_text(encoding="utf8"), module, is_package):
            if problem := complaint(folder, name):
                found.append(f"{path.relative_to(root).as_posix()}:{line}: import of {name}: {problem}")
    return found


def test_each_module_is_on_a_floor():
    children = {path.stem for path in (ROOT / PACKAGE).iterdir() if path.suffix == ".py" or path.is_dir()}
    assert children - {"__pycache__"} == set(FLOORS)


def test_imports_go_down():
    assert not complaints(ROOT)


@pytest.mark.parametrize(
    ("path", "source", "imported"),
    [
        ("layers/a.py", "import spacy_g2g.models.types", "spacy_g2g.models.types"),
        ("layers/a.py", "from ..parsing.tree import is_tree", "spacy_g2g.parsing.tree.is_tree"),
        ("layers/__init__.py", "from .. import parsing", "spacy_g2g.parsing"),
        ("models/deep/a.py", "from ...training import x", "spacy_g2g.training.x"),
        ("models/a.py", "from spacy_g2g import cli", "spacy_g2g.cli"),
        ("errors.py", "from .parsing import tree", "spacy_g2g.parsing.tree"),
        ("__init__.py", "from .errors import Errors", "spacy_g2g.errors.Errors"),
        ("pipeline/a.py", "import torch.nn as nn", "torch.nn"),
        ("evaluation/a.py", "from torch import nn", "torch.nn"),
        ("parsing/a.py", "import spacy", "spacy"),
    ],
)
def test_a_planted_import_is_found_inside_a_function(tmp_path: Path, path: str, source: str, imported: str):
    file = tmp_path / PACKAGE / path
    file.parent.mkdir(parents=True)
    file.write_text(f"def function():\n    {source}\n", encoding="utf8")
    (found,) = complaints(tmp_path)
    assert found.startswith(f"{PACKAGE}/{path}:2: import of {imported}: ")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("cli/a.py", "import torch, spacy_g2g.pipeline.g2g_parser, spacy_g2g.errors"),
        ("models/deep/a.py", "from ..types import Tree"),
        ("models/__init__.py", "from .types import Tree"),
        ("parsing/a.py", "from .. import __version__"),
        (
            "parsing/a.py",
            "from ..errors import Errors\nimport collections.abc\nfrom numpy.typing import NDArray",
        ),
    ],
)
def test_a_downward_import_is_no_problem(tmp_path: Path, path: str, source: str):
    file = tmp_path / PACKAGE / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf8")
    assert not complaints(tmp_path)
