"""Slow and literal implementations for one sentence, which the batched ones are tested against."""

import numpy as np
from numpy.typing import ArrayLike

from spacy_g2g.trees.mst import decode
from spacy_g2g.trees.tree import IntArray


def maximum_spanning_tree(scores: ArrayLike) -> IntArray:
    """Return the best heads, int [n], by ``decode`` of a batch of one sentence, float [n, n + 1]."""
    array = np.asarray(scores)
    heads: IntArray = decode(array[None], lengths=[len(array) if array.ndim else 0])[0]
    return heads
