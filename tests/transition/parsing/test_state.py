import numpy as np
import pytest

from spacy_g2g.transition.parsing.state import NO_WORD, States


def test_first_states_have_root_on_the_stack_and_the_words_in_the_buffer_the_front_last():
    states = States.begin(np.array([3, 1]))
    assert states.stack[:, 0].tolist() == [0, 0]
    assert states.stack_sizes.tolist() == [1, 1]
    assert states.buffer.tolist() == [[3, 2, 1], [1, 0, 0]]
    assert states.buffer_sizes.tolist() == [3, 1]
    assert states.heads.tolist() == states.labels.tolist() == [[-1] * 3] * 2
    assert states.stack.shape == (2, 4)
    assert states.n_arcs.tolist() == [0, 0]
    assert not states.deleted().any()


@pytest.mark.parametrize(("width", "expected"), [(1, 3), (3, 3), (7, 7)])
def test_states_are_as_wide_as_the_longest_sentence_or_wider(width: int, expected: int):
    states = States.begin(np.array([1, 3]), width)
    assert states.heads.shape == states.labels.shape == states.buffer.shape == (2, expected)
    assert states.slots().tolist() == [[NO_WORD, 0, 1]] * 2


def test_slots_are_empty_where_stack_or_buffer_has_too_few_words():
    states = States.begin(np.array([2, 2, 2]))
    states.stack[:, 1:] = [1, 2]
    states.stack_sizes = np.array([1, 2, 3])
    states.buffer_sizes = np.array([2, 1, 0])
    assert states.slots().tolist() == [[NO_WORD, 0, 1], [0, 1, 2], [1, 2, NO_WORD]]


def test_a_state_is_final_when_only_root_is_left():
    states = States.begin(np.array([2, 2, 2, 0]))
    states.stack_sizes = np.array([1, 1, 2, 1])
    states.buffer_sizes = np.array([1, 0, 0, 0])
    assert states.is_final.tolist() == [False, True, False, True]


def test_words_with_a_head_are_the_deleted_ones_whatever_the_head():
    states = States.begin(np.array([3, 2]))
    states.heads[0, :2] = [2, 0]
    assert states.deleted().tolist() == [[True, True, False], [False, False, False]]
    assert states.n_arcs.tolist() == [2, 0]


@pytest.mark.parametrize("n_words", [[], [0], [0, 0]])
def test_batches_without_words_have_final_states(n_words: list[int]):
    states = States.begin(np.array(n_words, dtype=np.int64))
    assert states.is_final.tolist() == [True] * len(n_words)
    assert states.slots().tolist() == [[NO_WORD, 0, NO_WORD]] * len(n_words)


def test_take_gives_copies_in_any_order_and_keeps_the_width():
    states = States.begin(np.array([1, 3]))
    taken = states.take(np.array([1, 0, 1]))
    assert taken.n_words.tolist() == [3, 1, 3]
    assert states.take(np.array([0])).heads.shape == (1, 3)
    assert states.take(np.array([], dtype=np.int64)).heads.shape == (0, 3)
    taken.stack[0], taken.heads[0], taken.buffer_sizes[0] = 9, 9, 0
    assert (taken.heads[2] == -1).all()
    assert (states.heads == -1).all()
    assert (states.stack == 0).all()
    assert states.buffer_sizes.tolist() == [1, 3]
