import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.transition.parsing.arc_standard import N_ACTIONS, NO_ACTION, Action, apply, valid_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import is_projective, is_tree

from ...trees.reference import PlainState, check_actions, max_actions

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = Action


def stack_of(states: States, row: int = 0) -> list[int]:
    return states.stack[row, : states.stack_sizes[row]].tolist()


def buffer_of(states: States, row: int = 0) -> list[int]:
    """The front first."""
    return states.buffer[row, : states.buffer_sizes[row]][::-1].tolist()


def names(valid: np.ndarray) -> list[Action]:
    return [Action(i) for i in np.flatnonzero(valid).tolist()]


# What follows the action: stack, buffer, heads, labels, and the actions that are valid then.
STEPS = [
    (None, [0], [1, 2, 3], [-1, -1, -1], [-1, -1, -1], [SHIFT]),
    (SHIFT, [0, 1], [2, 3], [-1, -1, -1], [-1, -1, -1], [SHIFT]),
    (SHIFT, [0, 1, 2], [3], [-1, -1, -1], [-1, -1, -1], [SHIFT, LEFT_ARC, RIGHT_ARC, SWAP]),
    (SWAP, [0, 2], [1, 3], [-1, -1, -1], [-1, -1, -1], [SHIFT]),
    (SHIFT, [0, 2, 1], [3], [-1, -1, -1], [-1, -1, -1], [SHIFT, LEFT_ARC, RIGHT_ARC]),
    (SHIFT, [0, 2, 1, 3], [], [-1, -1, -1], [-1, -1, -1], [LEFT_ARC, RIGHT_ARC, SWAP]),
    (RIGHT_ARC, [0, 2, 1], [], [-1, -1, 1], [-1, -1, 16], [LEFT_ARC, RIGHT_ARC]),
    (LEFT_ARC, [0, 1], [], [-1, 1, 1], [-1, 17, 16], [RIGHT_ARC]),
    (RIGHT_ARC, [0], [], [0, 1, 1], [18, 17, 16], []),
]


def test_states_and_valid_actions_of_a_sentence_with_swap():
    states = States.begin(np.array([3]))
    for i, (action, stack, buffer, heads, labels, valid) in enumerate(STEPS):
        if action is not None:
            apply(states, np.array([action]), np.array([10 + i]))
        assert (stack_of(states), buffer_of(states)) == (stack, buffer)
        assert (states.heads[0].tolist(), states.labels[0].tolist()) == (heads, labels)
        assert names(valid_actions(states, swap=True)[0]) == valid
        assert names(valid_actions(states, swap=False)[0]) == [a for a in valid if a != SWAP]
    assert states.is_final.all()


def test_without_labels_arcs_have_the_label_minus_one():
    states = States.begin(np.array([1]))
    for action in (SHIFT, RIGHT_ARC):
        apply(states, np.array([action]))
    assert states.heads.tolist() == [[0]]
    assert states.labels.tolist() == [[-1]]


def test_no_action_leaves_a_state_as_it_is():
    states = States.begin(np.array([2, 2]))
    apply(states, np.array([SHIFT, NO_ACTION]), np.array([0, 7]))
    assert (stack_of(states, 0), buffer_of(states, 0)) == ([0, 1], [2])
    assert (stack_of(states, 1), buffer_of(states, 1)) == ([0], [1, 2])
    assert (states.labels == -1).all()


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=5),
    st.booleans(),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_any_valid_actions_end_in_a_tree_within_the_bound_and_equal_the_plain_states(
    n_words: list[int], swap: bool, padding: int, chance: random.Random
):
    states = States.begin(np.array(n_words), max(n_words) + padding)
    plain = [PlainState(n) for n in n_words]
    n_actions = [0] * len(n_words)
    # Each run has its own taste, so that long sequences with many SWAPs are seen too.
    weights = [chance.choice([0.01, 0.1, 1.0]) for _ in Action]
    while not states.is_final.all():
        valid = valid_actions(states, swap)
        actions, labels = [], []
        for row, state in enumerate(plain):
            allowed = [action for action in Action if state.is_valid(action, swap)]
            assert names(valid[row]) == allowed
            assert bool(allowed) != state.is_final
            actions.append(
                chance.choices(allowed, [weights[a] for a in allowed])[0] if allowed else NO_ACTION
            )
            labels.append(chance.randrange(5))
            if allowed:
                state.apply(actions[row], labels[row])
                n_actions[row] += 1
        check_actions(states, np.array(actions), swap)
        apply(states, np.array(actions), np.array(labels))
        for row, state in enumerate(plain):
            assert (stack_of(states, row), buffer_of(states, row)) == (state.stack, state.buffer)
    for row, n in enumerate(n_words):
        heads = states.heads[row, :n].tolist()
        assert is_tree(heads)
        assert swap or is_projective(heads)
        assert heads == [plain[row].heads[word] for word in range(1, n + 1)]
        assert states.labels[row, :n].tolist() == [plain[row].labels[word] for word in range(1, n + 1)]
        assert (states.heads[row, n:] == -1).all()
        assert n_actions[row] <= max_actions(n, swap) if swap else n_actions[row] == max_actions(n, swap)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_swapping_as_long_as_possible_takes_exactly_the_most_actions(n: int):
    state, count = PlainState(n), 0
    while not state.is_final:
        allowed = [action for action in Action if state.is_valid(action, swap=True)]
        state.apply(next(action for action in (SWAP, SHIFT, RIGHT_ARC) if action in allowed))
        count += 1
    assert count == max_actions(n, swap=True)


@pytest.mark.parametrize("action", [*Action, N_ACTIONS, -2])
def test_actions_that_are_not_valid_are_named_with_the_sentence_and_its_state(action: int):
    states = States.begin(np.array([1, 1]))
    for actions in ([SHIFT, SHIFT], [RIGHT_ARC, NO_ACTION]):
        apply(states, np.array(actions))
    name = action.name if isinstance(action, Action) else str(action)
    with pytest.raises(ValueError, match=rf"^{name} .* sentence 0 .*s1 = 0, b1 = -1.*final"):
        check_actions(states, np.array([action, RIGHT_ARC]), swap=True)
    if action != RIGHT_ARC:
        with pytest.raises(ValueError, match=rf"^{name} .* sentence 1 .*s2 = 0, s1 = 1.*: RIGHT_ARC\."):
            check_actions(states, np.array([NO_ACTION, action]), swap=True)


def test_swap_is_not_valid_in_the_system_without_it():
    states = States.begin(np.array([2]))
    for _ in range(2):
        apply(states, np.array([SHIFT]))
    check_actions(states, np.array([SWAP]), swap=True)
    with pytest.raises(ValueError, match=r"SWAP.*expected one of: LEFT_ARC, RIGHT_ARC"):
        check_actions(states, np.array([SWAP]), swap=False)
