import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, apply
from spacy_g2g.transition.parsing.oracle import can_learn, oracle_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import is_projective, is_tree, projective_order

from ...formats.samples import SHARED
from ...trees.test_tree import trees
from ..reference import check_actions, max_actions, plain_oracle
from .test_arc_standard import buffer_of, stack_of

# Economic news had little effect
PROJECTIVE = [2, 3, 0, 5, 3]
PROJECTIVE_STEPS = [
    ("SHIFT", [0, 1], [2, 3, 4, 5]),
    ("SHIFT", [0, 1, 2], [3, 4, 5]),
    ("LEFT_ARC", [0, 2], [3, 4, 5]),
    ("SHIFT", [0, 2, 3], [4, 5]),
    ("LEFT_ARC", [0, 3], [4, 5]),
    ("SHIFT", [0, 3, 4], [5]),
    ("SHIFT", [0, 3, 4, 5], []),
    ("LEFT_ARC", [0, 3, 5], []),
    ("RIGHT_ARC", [0, 3], []),
    ("RIGHT_ARC", [0], []),
]
# A hearing is scheduled on the issue today . The words "on the issue" are one component, which is
# built before it is swapped with "scheduled" and "is".
NON_PROJECTIVE = [2, 3, 0, 3, 2, 7, 5, 4, 3]
NON_PROJECTIVE_STEPS = [
    ("SHIFT", [0, 1], [2, 3, 4, 5, 6, 7, 8, 9]),
    ("SHIFT", [0, 1, 2], [3, 4, 5, 6, 7, 8, 9]),
    ("LEFT_ARC", [0, 2], [3, 4, 5, 6, 7, 8, 9]),
    ("SHIFT", [0, 2, 3], [4, 5, 6, 7, 8, 9]),
    ("SHIFT", [0, 2, 3, 4], [5, 6, 7, 8, 9]),
    ("SHIFT", [0, 2, 3, 4, 5], [6, 7, 8, 9]),
    ("SHIFT", [0, 2, 3, 4, 5, 6], [7, 8, 9]),
    ("SHIFT", [0, 2, 3, 4, 5, 6, 7], [8, 9]),
    ("LEFT_ARC", [0, 2, 3, 4, 5, 7], [8, 9]),
    ("RIGHT_ARC", [0, 2, 3, 4, 5], [8, 9]),
    ("SWAP", [0, 2, 3, 5], [4, 8, 9]),
    ("SWAP", [0, 2, 5], [3, 4, 8, 9]),
    ("RIGHT_ARC", [0, 2], [3, 4, 8, 9]),
    ("SHIFT", [0, 2, 3], [4, 8, 9]),
    ("LEFT_ARC", [0, 3], [4, 8, 9]),
    ("SHIFT", [0, 3, 4], [8, 9]),
    ("SHIFT", [0, 3, 4, 8], [9]),
    ("RIGHT_ARC", [0, 3, 4], [9]),
    ("RIGHT_ARC", [0, 3], [9]),
    ("SHIFT", [0, 3, 9], []),
    ("RIGHT_ARC", [0, 3], []),
    ("RIGHT_ARC", [0], []),
]


def pad(sentences: list[list[int]], padding: int = 99, extra: int = 0) -> tuple[np.ndarray, np.ndarray]:
    n_words = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    heads = np.full((len(sentences), n_words.max(initial=0) + extra), padding)
    for row, sentence in zip(heads, sentences, strict=True):
        row[: len(sentence)] = sentence
    return heads, n_words


def actions_of(heads: list[int]) -> np.ndarray:
    """The oracle's actions for one sentence."""
    padded, n_words = pad([heads])
    return oracle_actions(padded, n_words=n_words)


def in_projective_order(heads: list[int]) -> list[int]:
    """The projective tree that has its words in the projective order of this one."""
    order = [0, *projective_order(heads).tolist()]
    reordered = [0] * len(heads)
    for word, head in enumerate(heads, start=1):
        reordered[order[word] - 1] = order[head]
    return reordered


def sequence(actions: np.ndarray) -> list[int]:
    """The actions of a sentence without what follows the last one."""
    n_actions = int((actions != NO_ACTION).sum())
    assert (actions[n_actions:] == NO_ACTION).all()
    return actions[:n_actions].tolist()


@pytest.mark.parametrize(
    ("heads", "steps"), [(PROJECTIVE, PROJECTIVE_STEPS), (NON_PROJECTIVE, NON_PROJECTIVE_STEPS)]
)
def test_moves_of_a_projective_and_a_non_projective_sentence(heads: list[int], steps: list):
    states = States.begin(np.array([len(heads)]))
    actions = actions_of(heads)
    for (name, stack, buffer), action in zip(steps, actions.T, strict=True):
        apply(states, action)
        assert (Action(action[0]).name, stack_of(states), buffer_of(states)) == (name, stack, buffer)
    assert states.is_final.all()
    assert states.heads[0].tolist() == heads
    assert [action.name for action in plain_oracle(heads)] == [name for name, *_ in steps]


@given(
    st.lists(st.one_of(trees(), st.just([])), max_size=6),
    st.integers(-1000, 1000),
    st.integers(0, 3),
)
def test_valid_actions_rebuild_each_tree_of_a_batch_and_are_those_of_the_plain_oracle(
    sentences: list[list[int]], padding: int, extra: int
):
    heads, n_words = pad(sentences, padding, extra)
    actions = oracle_actions(heads, n_words=n_words)
    states = States.begin(n_words, heads.shape[1])
    for step in actions.T:
        check_actions(states, step, swap=True)
        apply(states, step)
    assert states.is_final.all()
    for row, sentence in enumerate(sentences):
        assert states.heads[row, : len(sentence)].tolist() == sentence
        assert sequence(actions[row]) == plain_oracle(sentence)
        assert len(sequence(actions[row])) <= max_actions(len(sentence), swap=True)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_each_tree_of_up_to_five_words_is_rebuilt_with_a_swap_where_it_is_not_projective(n: int):
    sentences = [list(heads) for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads)]
    heads, n_words = pad(sentences)
    actions = oracle_actions(heads, n_words=n_words)
    states = States.begin(n_words)
    for step in actions.T:
        apply(states, step)
    assert (states.heads == heads).all()
    swapped = (actions == Action.SWAP).any(axis=1)
    assert swapped.tolist() == [not is_projective(sentence) for sentence in sentences]


@given(st.lists(trees().map(in_projective_order), min_size=1, max_size=5))
def test_projective_trees_have_the_same_actions_without_swap(sentences: list[list[int]]):
    heads, n_words = pad(sentences)
    assert (
        oracle_actions(heads, n_words=n_words, swap=False) == oracle_actions(heads, n_words=n_words)
    ).all()
    assert (oracle_actions(heads, n_words=n_words) != NO_ACTION).sum(axis=1).tolist() == (
        2 * n_words
    ).tolist()


@pytest.mark.parametrize("n_between", [0, 1, 2, 3, 4, 9, 30])
def test_components_of_any_depth_are_built_before_they_are_swapped(n_between: int):
    # As above, with more words in "on ... issue", each the dependent of the next one.
    last = 6 + n_between
    heads = [2, 3, 0, 3, 2, *range(7, last + 1), 5, 4, 3]
    actions = plain_oracle(heads)
    assert sequence(actions_of(heads)[0]) == actions
    assert actions.count(Action.SWAP) == 2
    assert actions.index(Action.SWAP) == 6 + 2 * (last - 5)


@pytest.mark.parametrize("swap", [False, True])
def test_what_can_be_learned_is_trees_with_all_heads_known_and_projective_without_swap(swap: bool):
    heads, n_words = pad([PROJECTIVE, NON_PROJECTIVE, [0, 0], [2, 1], [0, -1], [2, -1], [0]], padding=-1)
    assert can_learn(heads, n_words=n_words, swap=swap).tolist() == [
        True,
        swap,
        False,
        False,
        False,
        False,
        True,
    ]


@given(st.lists(trees(), max_size=5))
def test_trees_can_be_learned_without_swap_where_they_are_projective(sentences: list[list[int]]):
    heads, n_words = pad(sentences)
    assert can_learn(heads, n_words=n_words, swap=False).tolist() == [is_projective(s) for s in sentences]
    assert can_learn(heads, n_words=n_words, swap=True).all()


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the treebanks in ../shared")
@pytest.mark.parametrize("path", sorted(SHARED.rglob("*.conllu")), ids=lambda path: path.stem)
def test_each_sentence_of_each_shared_treebank_is_rebuilt(path: Path):
    sentences = [[word.head for word in sentence.words] for sentence in read_conllu(path, trees="full")]
    sentences.sort(key=len)
    for start in range(0, len(sentences), 512):
        heads, n_words = pad(sentences[start : start + 512], padding=-1)
        states = States.begin(n_words)
        for step in oracle_actions(heads, n_words=n_words).T:
            check_actions(states, step, swap=True)
            apply(states, step)
        assert (states.heads == heads).all()
