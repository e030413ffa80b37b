"""Graph-to-Graph Transformer dependency parsing for spaCy.

The floors, from the ground up. Imports go strictly down: rooms of one floor do not import each other.

0. ``errors``: texts of errors and warnings. ``arrays``: names for kinds of arrays.
1. ``parsing``: trees, transitions and decoding, in Python and NumPy only. ``layers``: neural bricks, in
   PyTorch only. ``formats``: text files, CoNLL-U above all.
2. ``models``: Thinc architectures, where trees and tensors meet. ``data``: Docs, corpora and reports on them.
   ``evaluation``: official UD metrics, error analysis and drawings. ``training``: callbacks and loggers; it
   may use ``data``.
3. ``pipeline``: the spaCy components and scorers.
4. ``cli``: ``python -m spacy g2g ...``.

``amr`` is a wing for Abstract Meaning Representations that mirrors these floors, but its ``formats`` stands
on its ``parsing``. Each of its rooms may also import from its counterpart above. Only ``cli`` imports from
the wing, and only from its door, ``amr.api``.

This module imports nothing, so that ``spacy.blank("en")`` stays light.
"""

__version__ = "0.1.0"
