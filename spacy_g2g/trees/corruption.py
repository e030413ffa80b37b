"""Random errors in heads and labels, from which a refiner learns to correct trees.

A parser makes so few errors on its own training sentences that a refiner could hardly learn from them.
Therefore heads are replaced by those that parsers confuse them with: the head's head, a sibling, or a
neighbor of the word.
"""

import numpy as np

from ..arrays import IntArray


def corrupt(
    heads: IntArray,
    *,
    labels: IntArray,
    lengths: IntArray,
    head_rate: float,
    label_rate: float,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Replace heads and labels at random. The result may be any graph; missing heads stay missing.

    A root draws its new label from the labels of all roots, and any other word from the labels of all other
    words. It may draw its old label. A word that becomes a root, or stops being a root, always draws a label
    if there is one.

    heads: Head of each word, with the sentences end to end; 0 is ROOT, -1 is missing; int [words].
    labels: Label of each word, int [words].
    lengths: Number of words of each sentence, int [sentences].
    head_rate: Share of the words with a head that get a new head, from 0 to 1.
    label_rate: Share of the words with a head that draw a new label, from 0 to 1.
    rng: Source of all random choices.
    Returns the new heads and labels, int [words] each.
    """
    has_head = heads >= 0
    moved = has_head & (rng.random(len(heads)) < head_rate)
    new_heads = np.where(moved, _other_heads(heads, lengths, rng), heads)
    relabeled = has_head & (rng.random(len(heads)) < label_rate)
    relabeled |= (heads == 0) != (new_heads == 0)
    new_labels = labels.copy()
    for is_root in (True, False):
        donors = labels[has_head & ((heads == 0) == is_root)]
        targets = np.flatnonzero(relabeled & ((new_heads == 0) == is_root))
        if len(donors):
            new_labels[targets] = rng.choice(donors, len(targets))
    return new_heads, new_labels


def _other_heads(heads: IntArray, lengths: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw another head for each word, never the word itself; int [words], numbered within the sentence."""
    n = len(heads)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    length = np.repeat(lengths, lengths)
    number = np.arange(n) - first + 1
    grandparent = np.where(heads > 0, heads[first + np.maximum(heads, 1) - 1], -1)
    neighbor = number + rng.choice([-1, 1], n)
    choices = np.stack([grandparent, _siblings(heads, first, rng) - first + 1, neighbor])
    other = choices[rng.integers(len(choices), size=n), np.arange(n)]
    is_invalid = (other < 0) | (other > length) | (other == number) | (other == heads)
    return np.where(is_invalid, _any_other(heads, number, length, rng), other)


def _any_other(heads: IntArray, number: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a new head for each word, neither the word itself nor its present head.

    The word of a one-word sentence keeps its head, the only one.
    """
    other = rng.integers(0, np.maximum(length - 1, 1))
    other += other >= np.minimum(heads, number)
    other += other >= np.maximum(heads, number)
    return np.where(length > 1, other, heads)


def _siblings(heads: IntArray, first: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw for each word another word with the same head, as an index; an only child draws itself."""
    order = np.lexsort((rng.random(len(heads)), heads, first))
    group = np.stack([first[order], heads[order]])
    is_last = np.ones(len(heads), dtype=np.bool_)
    is_last[:-1] = (group[:, 1:] != group[:, :-1]).any(axis=0)
    is_first = np.roll(is_last, 1)
    following = np.roll(order, -1)
    following[is_last] = order[is_first]
    siblings = np.empty(len(heads), dtype=np.int64)
    siblings[order] = following
    return siblings
