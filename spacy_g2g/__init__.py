"""Graph-to-Graph Transformer dependency parsing for spaCy.

docs/code.md says what each folder holds and may import.

This module imports nothing of the package by itself, so that ``spacy.blank("en")`` stays fast.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
#: Functions for users, which are imported when they are asked for, and their modules.
_FOR_USERS = {"constrain": ".scored.doc_constraints", "final_parser": ".parser.final_parser"}


def __getattr__(name: str) -> Any:
    """Return a function for users."""
    if name not in _FOR_USERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FOR_USERS[name], __name__), name)
