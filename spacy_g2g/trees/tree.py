"""Dependency trees as arrays of heads: checks for trees and projectivity, and the projective order.

Words are numbered from 1 and 0 is ROOT, so ``heads[i]``, the head of word ``i + 1``, is from 0 to n.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import BoolArray, IntArray

#: Label id of the root arc; no other arc has it.
ROOT_LABEL = 0


def is_tree(heads: ArrayLike) -> bool:
    """Return whether every word leads to ROOT and exactly one word has ROOT as its head.

    An empty sentence has an empty tree.

    heads: Head of each word, int [n].
    """
    batch = np.asarray(heads, dtype=np.int64)[None]
    return bool(are_trees(batch, lengths=[batch.shape[1]])[0])


def are_trees(heads: ArrayLike, *, lengths: ArrayLike) -> BoolArray:
    """Return whether the heads of each sentence form a tree, in the sense of `is_tree`; bool [sentences].

    heads: Head of each word, int [sentences, width]; padding is ignored.
    lengths: Number of words of each sentence, int [sentences].
    """
    words = np.asarray(heads)
    is_complete: BoolArray = (words >= 0) | (np.arange(words.shape[1]) >= np.asarray(lengths)[:, None])
    return can_be_trees(words, lengths=lengths) & is_complete.all(axis=1)


def can_be_trees(heads: ArrayLike, *, lengths: ArrayLike) -> BoolArray:
    """Return whether the missing heads of each sentence can complete a tree, in the sense of `is_tree`.

    They can if the other heads do not form a cycle, and at most one of these heads is ROOT.

    heads: Head of each word, int [sentences, width], -1 where missing; padding is ignored.
    lengths: Number of words of each sentence, int [sentences].
    Returns bool [sentences].
    """
    words = np.asarray(heads, dtype=np.int64)
    is_word = np.arange(words.shape[1]) < np.asarray(lengths)[:, None]
    n_roots = ((words == 0) & is_word).sum(axis=1)
    above = np.where(is_word, np.maximum(words, 0), 0)
    pointers = np.concatenate([np.zeros((len(words), 1), dtype=np.int64), above], axis=1)
    possible: BoolArray = (ends(pointers) == 0).all(axis=1) & (n_roots <= 1)
    return possible


def projective_order(heads: ArrayLike) -> IntArray:
    """Return the position of each word in the projective order.

    The projective order is an in-order traversal of the tree: left dependents, the word, right dependents. In
    this order, the tree has no crossing arcs. If the tree is projective, it is the order of the sentence. Two
    words must be swapped if their projective order differs from their order in the sentence (Nivre:
    Non-projective dependency parsing in expected linear time, ACL 2009).

    heads: Head of each word, int [n], without cycles; several words may have ROOT as their head.
    Returns int [n], positions from 1 to n.
    """
    words = np.asarray(heads, dtype=np.int64)
    left: list[list[int]] = [[] for _ in range(len(words) + 1)]
    right: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for word, head in enumerate(words.tolist(), start=1):
        (left if word < head else right)[head].append(word)
    positions = np.zeros(len(words) + 1, dtype=np.int64)
    position = 0
    # A stack instead of recursion, since trees may be deeper than Python's recursion limit. The minus sign of
    # a word says that its dependents are on the stack.
    stack = [0]
    while stack:
        word = stack.pop()
        if word < 0 or not (left[word] or right[word]):
            position += 1
            positions[abs(word)] = position
        else:
            stack.extend(reversed(right[word]))
            if word:
                stack.append(-word)
            stack.extend(reversed(left[word]))
    return positions[1:]


def is_projective(heads: ArrayLike) -> bool:
    """Return whether every word between a head and its dependent descends from that head.

    heads: Head of each word, int [n], without cycles; several words may have ROOT as their head.
    """
    order = projective_order(heads)
    return bool((order == np.arange(1, len(order) + 1)).all())


def non_projective_arcs(heads: ArrayLike) -> BoolArray:
    """Return for each word whether some word between it and its head does not descend from that head.

    The heads may form any graph. Words without a head, and words whose head is ROOT, count as projective.

    heads: Head of each word, -1 if missing; int [n].
    Returns bool [n].
    """
    words = np.asarray(heads, dtype=np.int64)
    places = np.arange(len(words) + 1)
    pointers = np.concatenate([[0], words])
    parents = np.where(pointers < 0, places, pointers)
    descends = np.eye(len(places), dtype=np.bool_)  # [head, word]
    above = places
    while not descends[(above := parents[above]), places].all():
        descends[above, places] = True
    # outside[head, i]: number of words before i that do not descend from the head
    outside = np.pad(np.cumsum(~descends, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    first, last = np.minimum(parents, places), np.maximum(parents, places)
    is_over = outside[parents, last] > outside[parents, np.minimum(first + 1, last)]
    is_crossing: BoolArray = (is_over & (pointers > 0))[1:]
    return is_crossing


def ends(pointers: IntArray) -> IntArray:
    """Return where each index ends up after following at least `size` pointers.

    Each gather doubles the number of steps (pointer doubling).

    pointers: Index that each index points to, int [..., size].
    Returns int [..., size].
    """
    for _ in range(pointers.shape[-1].bit_length()):
        pointers = np.take_along_axis(pointers, pointers, axis=-1)
    return pointers
