"""Dependency trees as arrays of heads: checks for trees, cycles and projectivity, and the projective order.

Words are numbered from 1 and 0 is ROOT, so ``heads[i]``, the head of word ``i + 1``, is from 0 to n.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import BoolArray, IntArray
from ..errors import Errors

#: Label id of the root arc; no other arc has it.
ROOT_LABEL = 0


def is_tree(heads: ArrayLike) -> bool:
    """Return whether every word leads to ROOT and exactly one word has ROOT as its head.

    An empty sentence has an empty tree.

    heads: Head of each word, int [n].
    Raises ValueError if heads are not whole numbers from 0 to n in one dimension.
    """
    batch = _checked_heads(heads)[None]
    return bool(are_trees(batch, [batch.shape[1]])[0])


def are_trees(heads: ArrayLike, lengths: ArrayLike) -> BoolArray:
    """Return whether the heads of each sentence form a tree, in the sense of `is_tree`.

    heads: Head of each word, int [sentences, width]; padding is ignored.
    lengths: Number of words of each sentence, int [sentences].
    Returns bool [sentences].
    Raises ValueError if a head in a sentence of n words is not from 0 to n, if a length is not from 0 to
        width, or if a shape or dtype is wrong.
    """
    words = _as_integers(heads, n_dims=2)
    n_words = checked_lengths(lengths, *words.shape)
    is_word: BoolArray = np.arange(words.shape[1]) < n_words[:, None]
    _check_range(words, is_word, n_words)
    words = np.where(is_word, words, 0)
    n_roots = ((words == 0) & is_word).sum(axis=1)
    reach_root = (ends(_with_root(words)) == 0).all(axis=1)
    trees: BoolArray = reach_root & ((n_roots == 1) | (n_words == 0))
    return trees


def can_be_trees(heads: ArrayLike, lengths: ArrayLike) -> BoolArray:
    """Return whether missing heads can be chosen so that each sentence has a tree, in the sense of `is_tree`.

    This is so if the known heads form no cycle, and at most one of them is ROOT.

    heads: Head of each word, int [sentences, width], -1 where missing; padding is ignored.
    lengths: Number of words of each sentence, int [sentences].
    Returns bool [sentences].
    Raises ValueError as `are_trees` does, but for -1.
    """
    words = _as_integers(heads, n_dims=2)
    n_words = checked_lengths(lengths, *words.shape)
    is_word: BoolArray = np.arange(words.shape[1]) < n_words[:, None]
    _check_range(words, is_word, n_words, least=-1)
    n_roots = ((words == 0) & is_word).sum(axis=1)
    pointers = _with_root(np.where(is_word, np.maximum(words, 0), 0))
    possible: BoolArray = (ends(pointers) == 0).all(axis=1) & (n_roots <= 1)
    return possible


def find_cycle(heads: ArrayLike) -> list[int]:
    """Return the words of one cycle, each followed by its head, or an empty list if there is no cycle.

    heads: Head of each word, int [n].
    Raises ValueError if heads are not whole numbers from 0 to n in one dimension.
    """
    pointers = _with_root(_checked_heads(heads))
    # After as many steps as there are words, each word has reached ROOT or is on a cycle.
    first = int(ends(pointers).max())
    if first == 0:
        return []
    cycle = [first]
    while (head := int(pointers[cycle[-1]])) != first:
        cycle.append(head)
    return cycle


def projective_order(heads: ArrayLike) -> IntArray:
    """Return the position of each word in the projective order.

    The projective order is an in-order traversal of the tree: left dependents, the word, right dependents. In
    this order, the tree has no crossing arcs. If the tree is projective, it is the order of the sentence. Two
    words must be swapped if their projective order differs from their order in the sentence (Nivre:
    Non-projective dependency parsing in expected linear time, ACL 2009).

    heads: Head of each word, int [n]; several words may have ROOT as their head.
    Returns int [n], positions from 1 to n.
    Raises ValueError if there is a cycle, or heads are not whole numbers from 0 to n.
    """
    words = _acyclic_heads(heads)
    left: list[list[int]] = [[] for _ in range(len(words) + 1)]
    right: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for word, head in enumerate(words.tolist(), start=1):
        (left if word < head else right)[head].append(word)
    positions = np.zeros(len(words) + 1, dtype=np.int64)
    position = 0
    # A stack of our own, since trees may be deeper than Python's recursion limit. A word has a minus sign
    # once its dependents are on the stack too.
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

    heads: Head of each word, int [n]; several words may have ROOT as their head.
    Raises ValueError if there is a cycle, or heads are not whole numbers from 0 to n.
    """
    order = projective_order(heads)
    return bool((order == np.arange(1, len(order) + 1)).all())


def non_projective_arcs(heads: ArrayLike) -> BoolArray:
    """Return for each word whether some word between it and its head does not descend from that head.

    The heads may form any graph. Words without a head, and words whose head is ROOT, count as projective.

    heads: Head of each word, -1 if missing; int [n].
    Returns bool [n].
    Raises ValueError if heads are not whole numbers from -1 to n.
    """
    words = _checked_heads(heads, least=-1)
    places = np.arange(len(words) + 1)
    pointers = np.concatenate([[0], words])
    parents = np.where(pointers < 0, places, pointers)
    descends = np.eye(len(places), dtype=np.bool_)  # [head, word]
    above = places
    while not descends[(above := parents[above]), places].all():
        descends[above, places] = True
    # outside[head, i]: how many words before i do not descend from the head
    outside = np.pad(np.cumsum(~descends, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    first, last = np.minimum(parents, places), np.maximum(parents, places)
    is_over = outside[parents, last] > outside[parents, np.minimum(first + 1, last)]
    found: BoolArray = (is_over & (pointers > 0))[1:]
    return found


def checked_lengths(lengths: ArrayLike, batch: int, width: int) -> IntArray:
    """Return the lengths of the sentences of a padded batch as an array, int [batch].

    lengths: Number of words of each sentence, int [batch].
    batch: Number of sentences.
    width: Greatest possible length.
    Raises ValueError if the lengths are not `batch` whole numbers from 0 to width.
    """
    array = np.asarray(lengths)
    wrong_type = array.size > 0 and not np.issubdtype(array.dtype, np.integer)
    if wrong_type or array.shape != (batch,) or ((array < 0) | (array > width)).any():
        raise ValueError(Errors.E102.format(lengths=array.tolist(), batch=batch, width=width))
    return array.astype(np.int64)


def ends(pointers: IntArray) -> IntArray:
    """Return where each index ends up after following at least `size` pointers.

    Each gather doubles the number of steps (pointer doubling).

    pointers: Index that each index points to, int [..., size].
    Returns int [..., size].
    """
    for _ in range(pointers.shape[-1].bit_length()):
        pointers = np.take_along_axis(pointers, pointers, axis=-1)
    return pointers


def _with_root(heads: IntArray) -> IntArray:
    """Return heads, int [..., n + 1], with ROOT in front as its own head.

    heads: Head of each word, int [..., n].
    """
    return np.concatenate([np.zeros((*heads.shape[:-1], 1), dtype=np.int64), heads], axis=-1)


def _as_integers(heads: ArrayLike, n_dims: int) -> IntArray:
    array: NDArray[Any] = np.asarray(heads)
    if array.ndim != n_dims or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise ValueError(Errors.E101.format(n_dims=n_dims, dtype=array.dtype, shape=array.shape))
    return array.astype(np.int64)


def _check_range(heads: IntArray, is_word: BoolArray, lengths: IntArray, least: int = 0) -> None:
    wrong = np.argwhere(is_word & ((heads < least) | (heads > lengths[:, None])))
    if len(wrong):
        sentence, i = wrong[0].tolist()
        raise ValueError(
            Errors.E103.format(
                head=heads[sentence, i],
                word=i + 1,
                sentence=sentence,
                least="-1 (missing) or 0 (ROOT)" if least else "0 (ROOT)",
                n=lengths[sentence],
            )
        )


def _checked_heads(heads: ArrayLike, least: int = 0) -> IntArray:
    words = _as_integers(heads, n_dims=1)
    _check_range(words[None], np.ones((1, len(words)), dtype=bool), np.array([len(words)]), least)
    return words


def _acyclic_heads(heads: ArrayLike) -> IntArray:
    words = _checked_heads(heads)
    if cycle := find_cycle(words):
        raise ValueError(Errors.E104.format(cycle=" -> ".join(map(str, [*cycle, cycle[0]]))))
    return words
