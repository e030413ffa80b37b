"""All trees over a few words."""

import functools

import numpy as np

from spacy_g2g.trees.tree import are_trees


@functools.cache
def all_trees(n: int) -> np.ndarray:
    """Heads of each tree over n words, int [n ** (n - 1), n]."""
    heads = np.indices((n + 1,) * n).reshape(n, -1).T
    return heads[are_trees(heads, lengths=[n] * len(heads))]
