"""Parser state as an input sequence: CLS, stack, SEP, buffer; with graph input also SEP, deleted words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import BoolArray, IntArray
from .state import States

# Numbers of positions that are not words. Padding, after the end of a sequence, is also SEP.
CLS, SEP = -1, -2
STACK, BUFFER, DELETED = 0, 1, 2
N_SEGMENTS = 3
N_PARTS = 3


class StateInput(NamedTuple):
    """Input sequences of parser states.

    words: Word at each position (0 is ROOT), or CLS, or SEP, which is also the padding; int [states,
        positions].
    segments: STACK, BUFFER or DELETED at each position; int [states, positions]. CLS belongs to the stack,
        and SEP to the part that follows it.
    lengths: Length of each sequence, int [states].
    word_positions: Position of each word in the sequence, -1 if it is not in it; int [states, words + 1].
    """

    words: IntArray
    segments: IntArray
    lengths: IntArray
    word_positions: IntArray


def lay_out_states(states: States, n_positions: int, *, with_deleted: bool) -> StateInput:
    """Return the input sequences of states.

    The stack goes from bottom to top, the buffer from front to back, and deleted words in the order of the
    sentence. If a sequence is longer than ``n_positions``, its longest parts are cut to an equal length that
    fits: the top of the stack, the front of the buffer and the last deleted words are kept.

    states: States of the parser.
    n_positions: Maximum length of a sequence.
    with_deleted: Whether words that have a head are part of the sequence.
    """
    n = len(states.n_words)
    limits = _limits(states, n_positions, with_deleted)
    columns = np.arange(states.stack.shape[1])
    # Distance of words on the stack from its top, and of words in the buffer from its front.
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
    word_positions = np.full((n, states.stack.shape[1]), -1)
    _place(words, word_positions, on_stack, states.stack, sizes[:, :1] - from_top)
    _place(words, word_positions, in_buffer, states.buffer, seps[0][:, None] + 1 + from_front)
    ranks = sizes[:, 2:] - n_later
    numbers = np.broadcast_to(columns[1:], deleted.shape)
    _place(words, word_positions, deleted, numbers, seps[1][:, None] + 1 + ranks)
    positions = np.arange(words.shape[1])
    segments = (positions >= seps[0][:, None]).astype(np.int64)
    if with_deleted:
        segments += positions >= seps[1][:, None]
    return StateInput(words, segments, lengths, word_positions)


def n_special(*, with_deleted: bool) -> int:
    """Return the number of positions that CLS and SEP take."""
    return 3 if with_deleted else 2


def _limits(states: States, n_positions: int, with_deleted: bool) -> IntArray:
    """Return the maximum number of words in each part of a state's sequence, int [states]."""
    n_deleted = states.n_arcs if with_deleted else np.zeros_like(states.stack_sizes)
    sizes = np.sort(np.stack([states.stack_sizes, states.buffer_sizes, n_deleted], axis=1), axis=1)
    left = n_positions - n_special(with_deleted=with_deleted)
    limits: IntArray = np.full(len(sizes), left // N_PARTS)
    # The longer parts get the room that a short part leaves.
    used = np.zeros_like(limits)
    for part in range(1, N_PARTS):
        used += sizes[:, part - 1]
        limits = np.where(sizes[:, part - 1] <= limits, (left - used) // (N_PARTS - part), limits)
    return limits


def _place(
    words: IntArray, word_positions: IntArray, part: BoolArray, numbers: IntArray, positions: IntArray
) -> None:
    """Write the words of a part to their positions, and the positions to `word_positions`.

    words: Words of the sequences, which are changed; int [states, positions].
    word_positions: Positions of words, which are changed; int [states, words + 1].
    part: Which cells belong to the part, bool [states, cells].
    numbers: Word in each cell, int [states, cells].
    positions: Position of each cell's word in the sequence, int [states, cells].
    """
    rows, cells = np.nonzero(part)
    words[rows, positions[rows, cells]] = numbers[rows, cells]
    word_positions[rows, numbers[rows, cells]] = positions[rows, cells]
