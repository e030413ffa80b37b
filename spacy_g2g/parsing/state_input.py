"""The parser state as a sequence: CLS, stack, SEP, buffer, and with graph input SEP, deleted words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, IntArray
from .state import States

# Numbers of what is no word; padding is SEP, too, and behind the length.
CLS, SEP = -1, -2
STACK, BUFFER, DELETED = 0, 1, 2
N_SEGMENTS = 3
N_PARTS = 3


class StateInput(NamedTuple):
    """Sequences of states, in arrays [states, positions] but for the last two.

    words: the word of each position (0 is ROOT), or CLS, or SEP, which also pads.
    segments: STACK, BUFFER or DELETED; CLS is of the stack, and a SEP of what follows it.
    lengths: int [states].
    places: int [states, words + 1], the position of each word, -1 for words that are not there.
    """

    words: IntArray
    segments: IntArray
    lengths: IntArray
    places: IntArray


def lay_out_states(states: States, n_positions: int, *, with_deleted: bool) -> StateInput:
    """The sequences of states: stack from bottom to top, buffer from front to back, deleted in their order.

    Where that is more than ``n_positions``, the longest parts are cut to one length that fits: the top of the
    stack, the front of the buffer, the last of the deleted words are kept.
    """
    n = len(states.n_words)
    limits = _limits(states, n_positions, with_deleted)
    columns = np.arange(states.stack.shape[1])
    # How far words of the stack are from its top, and of the buffer from its front.
    from_top = states.stack_sizes[:, None] - 1 - columns
    from_front = states.buffer_sizes[:, None] - 1 - columns[:-1]
    on_stack = (from_top >= 0) & (from_top < limits[:, None])
    in_buffer = (from_front >= 0) & (from_front < limits[:, None])
    deleted = states.deleted() & with_deleted
    n_later = np.cumsum(deleted[:, ::-1], axis=1)[:, ::-1]
    deleted &= n_later <= limits[:, None]
    sizes = np.stack([part.sum(axis=1) for part in (on_stack, in_buffer, deleted)], axis=1)
    seps = 1 + sizes[:, 0], 2 + sizes[:, 0] + sizes[:, 1]
    lengths = seps[1] + (1 + sizes[:, 2] if with_deleted else 0)
    words = np.full((n, int(lengths.max(initial=0))), SEP)
    words[:, 0] = CLS
    places = np.full((n, states.stack.shape[1]), -1)
    _place(words, places, on_stack, states.stack, sizes[:, :1] - from_top)
    _place(words, places, in_buffer, states.buffer, seps[0][:, None] + 1 + from_front)
    ranks = sizes[:, 2:] - n_later
    numbers = np.broadcast_to(columns[1:], deleted.shape)
    _place(words, places, deleted, numbers, seps[1][:, None] + 1 + ranks)
    positions = np.arange(words.shape[1])
    segments = (positions >= seps[0][:, None]).astype(np.int64)
    if with_deleted:
        segments += positions >= seps[1][:, None]
    return StateInput(words, segments, lengths, places)


def n_frame(*, with_deleted: bool) -> int:
    """Positions of CLS and SEP."""
    return 3 if with_deleted else 2


def _limits(states: States, n_positions: int, with_deleted: bool) -> IntArray:
    """Words that each part of a state's sequence may have at most, int [states]."""
    n_deleted = states.n_arcs if with_deleted else np.zeros_like(states.stack_sizes)
    sizes = np.sort(np.stack([states.stack_sizes, states.buffer_sizes, n_deleted], axis=1), axis=1)
    left = n_positions - n_frame(with_deleted=with_deleted)
    limits: IntArray = np.full(len(sizes), left // N_PARTS)
    # What a short part leaves goes to the longer ones.
    used = np.zeros_like(limits)
    for part in range(1, N_PARTS):
        used += sizes[:, part - 1]
        limits = np.where(sizes[:, part - 1] <= limits, (left - used) // (N_PARTS - part), limits)
    return limits


def _place(
    words: IntArray, places: IntArray, part: BoolArray, numbers: IntArray, positions: IntArray
) -> None:
    """Write the words of a part, bool [states, cells], with these numbers to these positions."""
    rows, cells = np.nonzero(part)
    words[rows, positions[rows, cells]] = numbers[rows, cells]
    places[rows, numbers[rows, cells]] = positions[rows, cells]
