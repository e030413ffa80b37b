"""Caches of the library have bounds, so a process can parse for days."""

import ast
from pathlib import Path

import spacy_g2g

PACKAGE = Path(spacy_g2g.__file__).parent
#: Functions whose cache has no bound: they have no arguments, or an argument of few values.
FEW_VALUES = {
    "adapt_to_fork",
    "has_onednn",
    "onednn_has_bfloat16",
    "onednn_is_faster",
    "plugins",
    "_system_of",
}


def test_caches_have_bounds():
    unbounded = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            for decorator in getattr(node, "decorator_list", ()):
                if ast.unparse(decorator) in ("cache", "lru_cache", "lru_cache(maxsize=None)"):
                    unbounded.add(node.name)
    assert unbounded == FEW_VALUES
