"""Parser states as sequences: spelled out for a sentence with a SWAP, and equal to a literal layout."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_g2g.transition.parsing.arc_standard import N_ACTIONS, Action, apply
from spacy_g2g.transition.parsing.oracle import oracle_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.transition.parsing.state_sequence import (
    BUFFER,
    CLS,
    DELETED,
    SEP,
    STACK,
    StateInput,
    lay_out_states,
)

from ..reference import PlainState

S, L, R, W = Action.SHIFT, Action.LEFT_ARC, Action.RIGHT_ARC, Action.SWAP

#: A sentence of four words whose arcs 3 -> 1 and 4 -> 2 cross.
HEADS = [3, 4, 0, 3]
ACTIONS = [S, S, S, W, L, S, S, L, R, R]
#: Before each action: stack, buffer and deleted words.
LAYOUTS = [
    ([0], [1, 2, 3, 4], []),
    ([0, 1], [2, 3, 4], []),
    ([0, 1, 2], [3, 4], []),
    ([0, 1, 2, 3], [4], []),
    ([0, 1, 3], [2, 4], []),
    ([0, 3], [2, 4], [1]),
    ([0, 3, 2], [4], [1]),
    ([0, 3, 2, 4], [], [1]),
    ([0, 3, 4], [], [1, 2]),
    ([0, 3], [], [1, 2, 4]),
]


def words_of(state_input: StateInput, row: int = 0) -> list[int]:
    words: list[int] = state_input.words[row, : state_input.lengths[row]].tolist()
    return words


def segments_of(state_input: StateInput, row: int = 0) -> list[int]:
    segments: list[int] = state_input.segments[row, : state_input.lengths[row]].tolist()
    return segments


def test_the_oracle_takes_the_actions_spelled_out_here():
    assert oracle_actions(np.array([HEADS]), n_words=np.array([4]))[0].tolist() == ACTIONS


@pytest.mark.parametrize("with_deleted", [True, False])
def test_each_state_of_a_sentence_spelled_out(with_deleted: bool):
    states = States.begin(np.array([4]))
    for action, (stack, buffer, deleted) in zip(ACTIONS, LAYOUTS, strict=True):
        found = lay_out_states(states, 64, with_deleted=with_deleted)
        expected = [CLS, *stack, SEP, *buffer]
        segments = [STACK] * (1 + len(stack)) + [BUFFER] * (1 + len(buffer))
        if with_deleted:
            expected += [SEP, *deleted]
            segments += [DELETED] * (1 + len(deleted))
        assert words_of(found) == expected
        assert segments_of(found) == segments
        places = [expected.index(word) if word in expected else -1 for word in range(5)]
        assert found.word_positions[0].tolist() == places
        apply(states, np.array([action]))
    assert states.is_final.all()


# States that are too long: the top of the stack, the front of the buffer and the last deleted words stay.
LONG = [
    # Eight words, all in the buffer.
    ([], 13, [CLS, 0, SEP, 1, 2, 3, 4, 5, 6, 7, 8, SEP]),
    ([], 12, [CLS, 0, SEP, 1, 2, 3, 4, 5, 6, 7, 8, SEP]),
    ([], 11, [CLS, 0, SEP, 1, 2, 3, 4, 5, 6, 7, SEP]),
    # The stack 0 1 2 5, the buffer 6 7 8, deleted 3 4.
    ([S, S, S, S, S, L, L], 12, [CLS, 0, 1, 2, 5, SEP, 6, 7, 8, SEP, 3, 4]),
    ([S, S, S, S, S, L, L], 11, [CLS, 1, 2, 5, SEP, 6, 7, 8, SEP, 3, 4]),
    # Deleted 1 to 4: one of them goes.
    ([S, S, S, S, S, L, L, L, L], 11, [CLS, 0, 5, SEP, 6, 7, 8, SEP, 2, 3, 4]),
    # No deleted words: the others have their places.
    ([S, S, S, S, S], 11, [CLS, 1, 2, 3, 4, 5, SEP, 6, 7, 8, SEP]),
    ([S, S, S, S, S], 8, [CLS, 4, 5, SEP, 6, 7, SEP]),
]


@pytest.mark.parametrize(("actions", "n_positions", "expected"), LONG)
def test_of_long_states_the_longest_parts_are_cut(
    actions: list[Action], n_positions: int, expected: list[int]
):
    states = States.begin(np.array([8]))
    for action in actions:
        apply(states, np.array([action]))
    found = lay_out_states(states, n_positions, with_deleted=True)
    assert words_of(found) == expected
    assert found.lengths.max() <= n_positions
    assert found.word_positions[0].tolist() == [expected.index(w) if w in expected else -1 for w in range(9)]


# Any states


def literal(state: PlainState, n_positions: int, with_deleted: bool) -> tuple[list[int], list[int]]:
    """Words and segments of one state, with lists."""
    parts = [state.stack, state.buffer, sorted(state.heads) if with_deleted else []]
    n_left = n_positions - (3 if with_deleted else 2)
    n = max(n for n in range(1, n_left + 1) if sum(min(len(part), n) for part in parts) <= n_left)
    parts = [parts[0][-n:], parts[1][:n], parts[2][-n:]]
    words, segments = [CLS, *parts[0], SEP, *parts[1]], [STACK] * (1 + len(parts[0]))
    segments += [BUFFER] * (1 + len(parts[1]))
    if with_deleted:
        words, segments = [*words, SEP, *parts[2]], segments + [DELETED] * (1 + len(parts[2]))
    return words, segments


def advanced(n_words: list[int], choices: list[int]) -> tuple[States, list[PlainState]]:
    """States some actions further, each chosen among the valid ones."""
    states, plain = States.begin(np.array(n_words)), [PlainState(n) for n in n_words]
    for i, choice in enumerate(choices):
        actions = np.full(len(plain), -1)
        for row, state in enumerate(plain):
            valid = [a for a in Action if state.is_valid(a, swap=True)]
            if valid:
                actions[row] = valid[(choice + row * i) % len(valid)]
                state.apply(Action(actions[row]))
        apply(states, actions)
    return states, plain


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.lists(st.integers(0, N_ACTIONS - 1), max_size=30),
    st.integers(8, 20),
    st.booleans(),
)
@example([12, 1, 5], [0] * 12 + [1] * 3, 8, True)
@example([3], [], 8, False)
def test_any_states_of_a_batch_equal_the_literal_layout(
    n_words: list[int], choices: list[int], n_positions: int, with_deleted: bool
):
    states, plain = advanced(n_words, choices)
    found = lay_out_states(states, n_positions, with_deleted=with_deleted)
    assert found.words.shape == found.segments.shape == (len(plain), found.lengths.max())
    assert found.word_positions.shape == (len(plain), max(n_words) + 1)
    for row, state in enumerate(plain):
        words, segments = literal(state, n_positions, with_deleted)
        assert words_of(found, row) == words
        assert segments_of(found, row) == segments
        assert (found.words[row, len(words) :] == SEP).all()
        places: list[Any] = found.word_positions[row].tolist()
        assert places == [words.index(w) if w in words else -1 for w in range(max(n_words) + 1)]
