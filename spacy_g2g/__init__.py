"""Graph-to-Graph Transformer dependency parsing for spaCy.

The package is built in floors, listed here from the ground up. Imports go strictly down: folders on the same
floor do not import each other.

0. ``errors``: texts of errors and warnings. ``arrays``: type names for arrays.
1. ``parsing``: trees, transitions and decoding, in Python and NumPy only. ``layers``: neural layers, in
   PyTorch and NumPy. ``formats``: text files, CoNLL-U above all.
2. ``models``: Thinc architectures, where trees and tensors meet. ``data``: Docs, corpora and reports on them.
   ``evaluation``: official UD metrics, error analysis and drawings. Above them ``training``: callbacks.
3. ``pipeline``: the spaCy components and scorers.
   Above them ``corpus_job``: parsing of a corpus, shard by shard.
4. ``cli``: ``python -m spacy g2g ...``.

``amr`` is a wing for Abstract Meaning Representations (AMR). It mirrors these floors, except that its
``formats`` may import its ``parsing``. Each of its folders may also import from its counterpart in the main
house. Only ``cli`` imports from the wing, through its door, ``amr.api``.

This module imports nothing of the package by itself, so that ``spacy.blank("en")`` stays fast.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
#: Functions for users, which are imported when they are asked for, and their modules.
_FOR_USERS = {"constrain": ".data.doc_constraints", "final_parser": ".pipeline.final_parser"}


def __getattr__(name: str) -> Any:
    """Return a function for users."""
    if name not in _FOR_USERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FOR_USERS[name], __name__), name)
