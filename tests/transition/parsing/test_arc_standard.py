import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, apply, valid_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import is_projective, is_tree

from ..reference import PlainState, check_actions, max_actions

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
