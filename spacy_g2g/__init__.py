"""Graph-to-Graph Transformer dependency parsing for spaCy.

The floors, from the ground up; imports go strictly down, and modules of one floor in
different folders do not import each other:

0. ``errors``: every error and warning text.
1. ``parsing``: trees, transitions and decoding, Python and NumPy only. ``layers``: neural bricks, PyTorch
   only. ``formats``: CoNLL-U text.
2. ``models``: Thinc architectures, where trees and tensors meet. ``training``: readers and callbacks.
   ``evaluation``: official UD metrics.
3. ``pipeline``: the spaCy components and scorers.
4. ``cli``: ``python -m spacy g2g ...``.

This module imports nothing, so that ``spacy.blank("en")`` stays light.
"""

__version__ = "0.1.0"
