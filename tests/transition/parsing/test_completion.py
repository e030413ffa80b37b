"""Constraints in transition-based parsers, against all trees of a few words."""

import functools
from collections.abc import Iterator

import numpy as np
import pytest

from spacy_g2g.transition.parsing.action_table import ArcActions, ArcMachines
from spacy_g2g.transition.parsing.completion import make_guides
from spacy_g2g.transition.parsing.oracle import oracle_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.constraint_conflicts import find_conflict
from spacy_g2g.trees.constraints import Constraint
from spacy_g2g.trees.tree import is_projective

from ...trees.all_trees import all_trees
from ...trees.test_constraints import N_LABELS, could_meet, meets, random_constraint

N = 4
ONE_ROW = np.array([0])


@functools.cache
def possible_trees(swap: bool) -> list[np.ndarray]:
    return [heads for heads in all_trees(N) if swap or is_projective(heads)]


def random_constraints(rng: np.random.Generator) -> list[Constraint]:
    return [random_constraint() for _ in range(rng.integers(1, 5))]


def machines_for(constraints: list[Constraint], n: int, swap: bool) -> ArcMachines:
    n_words = np.array([n])
    guides = make_guides([constraints], n_words, N_LABELS, swap)
    return ArcMachines(ArcActions(N_LABELS), States.begin(n_words), swap=swap, guides=guides)


def walk(machines: ArcMachines, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Take random valid actions to the end; return heads and labels."""
    while not machines.is_final[0]:
        valid = np.flatnonzero(machines.valid(ONE_ROW)[0])
        assert len(valid)
        machines.apply(rng.choice(valid, 1), np.ones((1, 2), dtype=np.float32))
    return machines.states.heads[0], machines.states.labels[0]


@pytest.mark.parametrize("swap", [True, False])
def test_random_actions_end_in_trees_that_meet_random_constraints(swap: bool):
    rng = np.random.default_rng(2)
    n_conflicts = 0
    for _ in range(60):
        constraints = random_constraints(rng)
        is_possible = any(could_meet(heads, constraints) for heads in possible_trees(swap))
        conflict = find_conflict(constraints, N, N_LABELS, projective=not swap)
        assert bool(conflict) == (not is_possible)
        if conflict:
            n_conflicts += 1
            continue
        for _ in range(3):
            heads, labels = walk(machines_for(constraints, N, swap), rng)
            assert all(meets(heads, constraint, labels) for constraint in constraints)
    assert 5 < n_conflicts < 55


def endings(machines: ArcMachines) -> Iterator[tuple[int, ...]]:
    """Yield the heads at the end of each sequence of valid types of actions."""
    if machines.is_final[0]:
        yield tuple(machines.states.heads[0].tolist())
        return
    ids = np.array([0, machines.actions.first_arc, machines.actions.first_arc + 1, machines.actions.swap])
    from_root = machines.states.slots()[0, 0] == 0
    for type_ in np.flatnonzero(machines.valid_types(ONE_ROW)[0]).tolist():
        taken = machines.take(ONE_ROW)
        action = machines.actions.root if type_ == 2 and from_root else ids[type_]
        taken.apply(np.array([action]), np.ones((1, 2), dtype=np.float32))
        yield from endings(taken)


def test_without_swap_every_projective_tree_that_meets_the_constraints_can_be_built():
    rng = np.random.default_rng(4)
    for _ in range(20):
        constraints = [c for c in random_constraints(rng) if "label" not in c.kind]
        expected = {tuple(t.tolist()) for t in possible_trees(False) if could_meet(t, constraints)}
        if expected:
            assert set(endings(machines_for(constraints, N, swap=False))) == expected


def test_a_tree_of_fixed_heads_is_built_by_the_actions_of_the_oracle():
    for heads in all_trees(N)[::2]:
        constraints = [Constraint("head", (i,), int(head)) for i, head in enumerate(heads, start=1)]
        machines = machines_for(constraints, N, swap=True)
        for type_ in oracle_actions(heads[None], np.array([N]))[0].tolist():
            assert machines.valid_types(ONE_ROW)[0, type_]
            label = np.array([0 if machines.states.slots()[0, 0] == 0 else 1])
            machines.apply(machines.actions.encode(np.array([type_]), label), np.ones((1, 2)))
        assert machines.states.heads[0].tolist() == heads.tolist()


def test_long_sentences_with_crossing_arcs_come_to_an_end():
    rng = np.random.default_rng(6)
    constraints = [Constraint("head", (2,), 9), Constraint("head", (5,), 1), Constraint("head", (12,), 4)]
    constraints += [Constraint("subtree", (6, 7, 10)), Constraint("label", (3,), 0)]
    assert not find_conflict(constraints, 14, N_LABELS)
    for _ in range(2):
        heads, _ = walk(machines_for(constraints, 14, swap=True), rng)
        assert heads[[1, 4, 11, 2]].tolist() == [9, 1, 4, 0]
