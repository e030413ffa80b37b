"""Imports go strictly down the floors of docs/code.md, and in no circle."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "spacy_g2g"
#: Wings of the house: who imports from them, and the only file that they do so from.
WINGS = {".amr": (".cli", ".amr.convert_amr"), ".transition": (".amr", "")}
#: Header of the table of rooms in docs/code.md.
HEADER = ["folder", "floor", "contents", "packages besides Python"]


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return re.split(r"\s*\|\s*", line.strip("| "))


def read_rooms() -> dict[str, tuple[str, str]]:
    """The floor and the packages of each room of docs/code.md. A room is a folder, or a file."""
    lines = (ROOT / "docs" / "code.md").read_text(encoding="utf8").splitlines()
    (header,) = (i for i, line in enumerate(lines) if cells(line) == HEADER)
    rooms = {}
    for line in takewhile(lambda line: line.startswith("|"), lines[header + 2 :]):
        names, floor, _, packages = cells(line)
        for name in re.findall("`(.+?)`", names):
            room = name.removesuffix("/").removesuffix(".py").replace("/", ".")
            rooms[f".{room}"] = (floor, packages)
    return rooms


ROOMS = {"": ("0", "none"), ".amr": ("0", "none"), ".transition": ("0", "none"), **read_rooms()}
# A room imports from itself and from rooms on floors below.
FLOORS = {room: float(floor) for room, (floor, _) in ROOMS.items() if floor}
# Rooms, and single files, that import nothing beside the standard library and these.
ONLY = {
    room: set(re.findall(r"\w+", names)) - {"none"}
    for room, (_, names) in ROOMS.items()
    if "all" not in names
}
NO_TORCH = {room for room, (_, names) in ROOMS.items() if names == "all but torch"}
# Packages of an extra, and the room or file that alone imports them.
ONLY_IN = {"pyarrow": ".corpus_job", "ray": ".corpus_job.ray_engine", "cassis": ".serve.inception"}
ONLY_IN |= dict.fromkeys(["anyio", "fastapi", "starlette", "uvicorn"], ".serve")


@dataclass(frozen=True)
class Import:
    """An import of the package's files.

    path: Path of the file.
    line: Number of the line.
    module: Dotted name of the file.
    name: Dotted name of the import.
    at_import: Whether the import happens as soon as the file itself is imported.
    """

    path: str
    line: int
    module: str
    name: str
    at_import: bool

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}: import of {self.name}: "


def imports(root: Path) -> Iterator[Import]:
    """Each import of the package's files, at any depth; `from a import b` gives a.b."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        yield from imports_of(path.relative_to(root), path.read_text(encoding="utf8"))


@cache
def imports_of(path: Path, source: str) -> tuple[Import, ...]:
    """The imports of a file."""
    package = list(path.parent.parts)
    module = [*package, *([] if path.stem == "__init__" else [path.stem])]
    tree = ast.parse(source)
    later = {id(node) for block in ast.walk(tree) if runs_later(block) for node in ast.walk(block)}
    return tuple(
        Import(path.as_posix(), node.lineno, ".".join(module), name, id(node) not in later)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in names_of(node, package)
    )


def runs_later(node: ast.AST) -> bool:
    """Whether what is in this node does not run when the file is imported."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def names_of(node: ast.Import | ast.ImportFrom, package: list[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = package[: len(package) + 1 - node.level] if node.level else []
    names = [*base, *([node.module] if node.module else [])]
    return [".".join([*names, alias.name]) for alias in node.names]


def room(name: str) -> str:
    """Return the room that a dotted name of the package is in."""
    inside = name.removeprefix(PACKAGE)
    while inside and inside not in FLOORS:
        inside = inside.rpartition(".")[0]
    return inside


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def floor_complaint(found: Import) -> str | None:
    """What is wrong with the direction of an import, or with importing something from outside at all."""
    here = room(found.module)
    if is_inside(found.name, PACKAGE):
        there = room(found.name)
        at_home = is_inside(here, there) or (bool(here) and is_inside(there, here))
        goes_down = FLOORS[there] < FLOORS[here] or at_home or here == f".amr{there}"
        return None if goes_down else f"{here or PACKAGE} is not above {there or PACKAGE}"
    top = found.name.split(".")[0]
    if top == "torch" and here in NO_TORCH:
        return f"{here} never imports torch"
    if not is_inside(found.module, PACKAGE + ONLY_IN.get(top, "")):
        return f"only {ONLY_IN[top]} imports {top}"
    rule = ONLY.get(found.module.removeprefix(PACKAGE), ONLY.get(here))
    if rule is not None and top not in {*sys.stdlib_module_names, *rule}:
        return f"{here or PACKAGE} imports the standard library and {sorted(rule)} only"
    return None


def door_complaint(found: Import) -> str | None:
    """What is wrong with an import of a wing from outside of it."""
    for wing, (guest, door) in WINGS.items():
        inside = PACKAGE + wing
        if is_inside(found.module, inside) or not is_inside(found.name, inside):
            continue
        if door and not is_inside(found.name, PACKAGE + door) and found.name != inside:
            return f"from outside {wing}, import {door}"
        if not is_inside(found.module, PACKAGE + guest):
            return f"only {guest} imports from {wing}"
    return None


def complaints(root: Path, *, door: bool) -> list[str]:
    """What is wrong with the imports of a package, by one of the two checks."""
    found = []
    for each in imports(root):
        at_door = door_complaint(each)
        problem = at_door if door or at_door else floor_complaint(each)
        if problem and (door or not at_door):
            found.append(each.where + problem)
    return found


def files_imported(root: Path, *, at_import: bool = False) -> dict[str, set[str]]:
    """The files of the package that each of its files imports, by their dotted names.

    at_import: Leave out the imports that do not run when the file is imported.
    """
    folder = root / PACKAGE
    files = {".".join(path.relative_to(root).with_suffix("").parts) for path in folder.rglob("*.py")}
    graph: dict[str, set[str]] = {name.removesuffix(".__init__"): set() for name in files}
    for each in imports(root):
        # The name of an attribute is one of its file's.
        name = each.name if each.name in graph else each.name.rpartition(".")[0]
        if name in graph and name != each.module and (each.at_import or not at_import):
            graph[each.module].add(name)
    return graph


def circle(root: Path) -> list[str]:
    """Return files of which each imports the one before it, the first of them at both ends, or []."""
    try:
        TopologicalSorter(files_imported(root)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def importers(root: Path, packages: Collection[str]) -> set[str]:
    """Return files that import one of the packages, themselves or by others, when they are imported."""
    graph = files_imported(root, at_import=True)
    found = {each.module for each in imports(root) if each.at_import and each.name.split(".")[0] in packages}
    for name in TopologicalSorter(graph).static_order():
        if graph[name] & found:
            found.add(name)
    return found


def complaints_of_torch(root: Path) -> set[str]:
    """Return files that import torch, themselves or by others, when they are imported, and should not."""
    return {name for name in importers(root, {"torch"}) if room(name) in NO_TORCH}


def complaints_of_extras(root: Path) -> set[str]:
    """Return files outside the room of an extra that can't be imported without its packages."""
    return {name for name in importers(root, ONLY_IN) if room(name) not in (".corpus_job", ".serve")}


def test_each_module_is_on_a_floor_of_the_page_and_each_room_of_the_page_is_there():
    found = {"", *WINGS}
    for folder in (ROOT / PACKAGE, *(ROOT / PACKAGE / wing[1:] for wing in WINGS)):
        modules = {
            path for path in folder.glob("*") if path.suffix == ".py" or (path / "__init__.py").is_file()
        }
        names = {path.relative_to(ROOT / PACKAGE).with_suffix("").parts for path in modules}
        found |= {"." + ".".join(parts) for parts in names if parts[-1] != "__init__"}
    assert found <= set(FLOORS)
    for name in set(FLOORS) - found:
        path = ROOT / PACKAGE / Path(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


RULES: dict[str, Callable[[Path], Collection[str]]] = {
    "imports go down": partial(complaints, door=False),
    "wings are entered by those who may and by their doors": partial(complaints, door=True),
    "no files import each other in a circle": circle,
    "files of components and data import no torch with others": complaints_of_torch,
    "no file needs the packages of an extra but those of its room": complaints_of_extras,
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_kept(rule: str):
    assert not RULES[rule](ROOT)


def plant(root: Path, path: str, source: str) -> None:
    """Write a file of a package."""
    file = root / PACKAGE / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf8")


@pytest.mark.parametrize(
    ("path", "source", "imported"),
    [
        ("layers/a.py", "import spacy_g2g.models.types", "spacy_g2g.models.types"),
        ("layers/a.py", "from ..trees.tree import is_tree", "spacy_g2g.trees.tree.is_tree"),
        ("layers/__init__.py", "from .. import trees", "spacy_g2g.trees"),
        ("models/deep/a.py", "from ...training import x", "spacy_g2g.training.x"),
        ("models/a.py", "from spacy_g2g import cli", "spacy_g2g.cli"),
        ("errors.py", "from .trees import tree", "spacy_g2g.trees.tree"),
        ("__init__.py", "from .errors import Errors", "spacy_g2g.errors.Errors"),
        ("arrays.py", "from .errors import Errors", "spacy_g2g.errors.Errors"),
        ("data/a.py", "from ..models.types import Arcs", "spacy_g2g.models.types.Arcs"),
        ("amr/models/a.py", "from ..data import docs", "spacy_g2g.amr.data.docs"),
        ("amr/models/a.py", "from ...pipeline import labels", "spacy_g2g.pipeline.labels"),
        ("amr/parsing/a.py", "from ..formats import amr_file", "spacy_g2g.amr.formats.amr_file"),
        ("amr/pipeline/a.py", "from .. import api", "spacy_g2g.amr.api"),
        ("pipeline/a.py", "import torch.nn as nn", "torch.nn"),
        ("evaluation/a.py", "from torch import nn", "torch.nn"),
        ("amr/pipeline/a.py", "import torch", "torch"),
        ("data/a.py", "import torch", "torch"),
        ("trees/a.py", "import spacy", "spacy"),
        ("amr/parsing/a.py", "import penman", "penman"),
        ("layers/a.py", "import thinc.api", "thinc.api"),
        ("layers/a.py", "import safetensors", "safetensors"),
        ("formats/a.py", "import numpy as np", "numpy"),
        ("corpus_job/a.py", "from ..analysis import report", "spacy_g2g.analysis.report"),
        ("corpus_job/a.py", "import ray.data", "ray.data"),
        ("cli/a.py", "import pyarrow.parquet as pq", "pyarrow.parquet"),
        ("cli/a.py", "import uvicorn", "uvicorn"),
        ("serve/a.py", "import cassis", "cassis"),
        ("serve/a.py", "from ..corpus_job import run", "spacy_g2g.corpus_job.run"),
        ("transition/parsing/a.py", "import torch", "torch"),
        ("transition/layers/a.py", "from ..parsing import state", "spacy_g2g.transition.parsing.state"),
    ],
)
def test_a_planted_import_is_found_inside_a_function(tmp_path: Path, path: str, source: str, imported: str):
    plant(tmp_path, path, f"def function():\n    {source}\n")
    (found,) = complaints(tmp_path, door=False)
    assert found.startswith(f"{PACKAGE}/{path}:2: import of {imported}: ")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("cli/a.py", "from ..amr.data.docs import get_amrs"),
        ("cli/a.py", "from ..amr.plugin import read"),
        ("conversion/a.py", "from ..amr.convert_amr import convert_amr"),
        ("cli/a.py", "from spacy_g2g.amr import formats"),
        ("evaluation/a.py", "from ..amr.evaluation import smatch"),
        ("pipeline/a.py", "from ..amr.api import get_amrs"),
        ("models/a.py", "import spacy_g2g.amr"),
        ("cli/a.py", "from ..transition.parsing import oracle"),
        ("pipeline/a.py", "import spacy_g2g.transition.models"),
    ],
)
def test_a_planted_way_into_a_wing_beside_its_door_is_found(tmp_path: Path, path: str, source: str):
    plant(tmp_path, path, source)
    (found,) = complaints(tmp_path, door=True)
    assert re.match(rf"{PACKAGE}/{path}:1: import of {PACKAGE}.(amr|transition)", found)
    assert not complaints(tmp_path, door=False)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("cli/a.py", "import torch, spacy_g2g.parser.g2g_parser, spacy_g2g.errors"),
        ("cli/a.py", "from ..amr.convert_amr import convert_amr"),
        ("cli/a.py", "from ..amr import convert_amr"),
        ("models/deep/a.py", "from ..types import Arcs"),
        ("models/__init__.py", "from .types import Arcs"),
        ("trees/a.py", "from .. import __version__"),
        ("trees/a.py", "from ..errors import Errors\nimport collections.abc"),
        ("trees/a.py", "from numpy.typing import NDArray"),
        ("layers/a.py", "from torch import nn"),
        ("layers/checkpoints/load.py", "from safetensors.torch import load_file"),
        ("amr/models/a.py", "from ...models.network import Network\nimport torch"),
        ("amr/models/a.py", "from ..parsing import graph"),
        ("amr/pipeline/a.py", "from ...pipeline import layout\nfrom ..data import docs"),
        ("amr/pipeline/a.py", "from ... import errors"),
        ("amr/models/a.py", "from ...transition.models import settings"),
        ("amr/api.py", "from .pipeline import amr_parser\nfrom ..pipeline import layout"),
    ],
)
def test_a_downward_import_is_no_problem(tmp_path: Path, path: str, source: str):
    plant(tmp_path, path, source)
    assert not complaints(tmp_path, door=False)
    assert not complaints(tmp_path, door=True)


@pytest.mark.parametrize("last", ["from .a import A", "from . import a", "import spacy_g2g.models.a"])
@pytest.mark.parametrize("form", ["{}", "def function():\n    {}", "if TYPE_CHECKING:\n    {}"])
def test_a_planted_circle_is_found(tmp_path: Path, last: str, form: str):
    plant(tmp_path, "errors.py", "class Errors: pass")
    plant(tmp_path, "models/a.py", "from .b import B")
    plant(tmp_path, "models/b.py", "from .deep.c import C")
    plant(tmp_path, "models/deep/c.py", "from ...errors import Errors")
    assert not circle(tmp_path)
    plant(tmp_path, "models/deep/c.py", form.format(last.replace("from .", "from ..")))
    assert sorted(set(circle(tmp_path))) == [f"{PACKAGE}.models.{name}" for name in ("a", "b", "deep.c")]


@pytest.mark.parametrize(
    ("form", "is_bad"),
    [
        ("{}", True),
        ("if True:\n    {}", True),
        ("if TYPE_CHECKING:\n    {}", False),
        ("def function():\n    {}", False),
    ],
)
def test_a_planted_import_of_a_file_that_imports_torch_is_found(tmp_path: Path, form: str, is_bad: bool):
    plant(tmp_path, "models/a.py", "import torch.nn as nn")
    plant(tmp_path, "models/b.py", "from .a import A")
    plant(tmp_path, "pipeline/a.py", form.format("from ..models.b import B"))
    assert complaints_of_torch(tmp_path) == ({f"{PACKAGE}.pipeline.a"} if is_bad else set())


@pytest.mark.parametrize(("form", "is_bad"), [("{}", True), ("def function():\n    {}", False)])
def test_a_planted_import_of_a_file_that_needs_an_extra_is_found(tmp_path: Path, form: str, is_bad: bool):
    plant(tmp_path, "corpus_job/a.py", "import pyarrow")
    plant(tmp_path, "corpus_job/ray_engine.py", "import ray.data")
    plant(tmp_path, "cli/a.py", form.format("from ..corpus_job import a"))
    assert complaints_of_extras(tmp_path) == ({f"{PACKAGE}.cli.a"} if is_bad else set())
    assert not complaints(tmp_path, door=False)
