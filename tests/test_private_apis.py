"""Private names of other libraries that the package uses: each is listed here, and is still there.

Their libraries may remove them without notice. `constraints.txt` has the versions that are tested.
"""

import ast
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import spacy
import spacy.cli._util
import torch
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc

import spacy_g2g

PACKAGE = Path(spacy_g2g.__file__).parent
#: What has them: the last part of each is the private name, or a name of a private module.
USED: dict[str, Any] = {
    "cli._util.app": spacy,
    "cli._util.import_code": spacy,
    "cli._util.parse_config_overrides": spacy,
    "cli._util.setup_gpu": spacy,
    "cli._util.show_validation_error": spacy,
    "_components": spacy.blank("xx"),
    **dict.fromkeys(("_backprop", "_batch_id", "_func", "_outputs"), Tok2VecListener("*", 8)),
    "_foreach_mul_": torch,
    "_vector": Doc(spacy.blank("xx").vocab),
    "_version": torch.zeros(1),
    "cpu._is_avx512_bf16_supported": torch,
    "ops.mkldnn._is_mkldnn_bf16_supported": torch,
    "ops.mkldnn._linear_pointwise": torch,
    "ops.mkldnn._reorder_linear_weight": torch,
}
#: Private by their names alone: Python documents them.
DOCUMENTED = {"_", "_asdict", "_exit", "_fields", "_replace"}


@pytest.mark.parametrize("name", USED)
def test_each_private_name_is_there(name: str):
    if "mkldnn" in name and not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        pytest.skip("needs oneDNN, which this PyTorch lacks")
    try:
        attrgetter(name)(USED[name])
    except AttributeError:
        pytest.fail(f"{USED[name]!r} has no {name} any more. Adapt the code that uses it.")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_names(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Private names in a file, and whether it defines them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, True
        elif isinstance(node, ast.keyword):
            yield node.arg or "", True
        elif isinstance(node, ast.Attribute):
            yield node.attr, isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
        elif isinstance(node, ast.ImportFrom) and any(map(is_private, (node.module or "").split("."))):
            for alias in node.names:
                yield f"_{alias.name}", False


def test_no_other_private_name_is_used():
    names = [
        name for path in PACKAGE.rglob("*.py") for name in private_names(ast.parse(path.read_text("utf8")))
    ]
    own = {name for name, is_own in names if is_own}
    found = {name for name, is_own in names if not is_own and is_private(name)} - own - DOCUMENTED
    listed = {name.rpartition(".")[2] for name in USED}
    assert found - {name if is_private(name) else f"_{name}" for name in listed} == set()
