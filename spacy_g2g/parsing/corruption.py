"""Wrong heads and labels on purpose, so that a refiner learns to mend trees that are worse than it sees.

A parser's trees on the sentences that it was trained on are nearly all right. What replaces a head here is
what parsers confuse it with: the head of the head, a sibling, or a neighbour of the word.
"""

import numpy as np

from ..arrays import IntArray


def corrupt(
    heads: IntArray,
    labels: IntArray,
    lengths: IntArray,
    *,
    head_rate: float,
    label_rate: float,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Replace heads and labels at random. The result may be any graph; missing heads stay missing.

    A new label is drawn from those of all words, out of the roots for a root and out of the others for the
    others, so that it may be the old one;
    a word that becomes a root or is one no more has a new label in any case, if there is one of that kind.

    heads: int [words], of sentences end to end; 0 is ROOT, words count from 1, -1 is missing.
    labels: int [words]. lengths: int [sentences], words of each.
    head_rate, label_rate: shares of the words that have a head, between 0 and 1.
    rng: source of all choices.
    Returns new heads and labels.
    """
    has_head = heads >= 0
    moved = has_head & (rng.random(len(heads)) < head_rate)
    new_heads = np.where(moved, _other_heads(heads, lengths, rng), heads)
    relabelled = has_head & (rng.random(len(heads)) < label_rate)
    relabelled |= (heads == 0) != (new_heads == 0)
    new_labels = labels.copy()
    for is_root in (True, False):
        donors = labels[has_head & ((heads == 0) == is_root)]
        targets = np.flatnonzero(relabelled & ((new_heads == 0) == is_root))
        if len(donors):
            new_labels[targets] = rng.choice(donors, len(targets))
    return new_heads, new_labels


def _other_heads(heads: IntArray, lengths: IntArray, rng: np.random.Generator) -> IntArray:
    """Another head for each word, never the word itself; int [words], numbers in the sentence."""
    n = len(heads)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    length = np.repeat(lengths, lengths)
    number = np.arange(n) - first + 1
    grandparent = np.where(heads > 0, heads[first + np.maximum(heads, 1) - 1], -1)
    neighbour = number + rng.choice([-1, 1], n)
    choices = np.stack([grandparent, _siblings(heads, first, rng) - first + 1, neighbour])
    other = choices[rng.integers(len(choices), size=n), np.arange(n)]
    useless = (other < 0) | (other > length) | (other == number) | (other == heads)
    return np.where(useless, _any_other(heads, number, length, rng), other)


def _any_other(heads: IntArray, number: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
    """For each word a number up to its sentence's length, but neither its own nor its head's.

    The word of a one-word sentence has no other head and keeps its own.
    """
    other = rng.integers(0, np.maximum(length - 1, 1))
    other += other >= np.minimum(heads, number)
    other += other >= np.maximum(heads, number)
    return np.where(length > 1, other, heads)


def _siblings(heads: IntArray, first: IntArray, rng: np.random.Generator) -> IntArray:
    """For each word another one with the same head, as places in the array; an only child gives itself."""
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
