import numpy as np
import pytest

from spacy_g2g.models.decoding import best_parses
from spacy_g2g.models.types import ArcScores
from spacy_g2g.trees.constraints import Constraint, find_conflict

from .all_trees import all_trees
from .test_kbest import is_subtree

N, N_LABELS = 4, 3
RNG = np.random.default_rng(5)


def random_scores(n: int = N) -> ArcScores:
    arcs, labels = RNG.normal(size=(n, n + 1)), RNG.normal(size=(n, n, N_LABELS - 1))
    return ArcScores(arcs.astype(np.float32), labels.astype(np.float32))


def random_constraint() -> Constraint:
    kind = RNG.choice(["head", "label", "not head", "not label", "subtree"])
    size = RNG.integers(2, N + 1) if kind == "subtree" else 1
    words = RNG.choice(np.arange(1, N + 1), size, replace=False)
    value = 0 if kind == "subtree" else RNG.integers(0, N_LABELS if "label" in kind else N + 1)
    return Constraint(kind, tuple(words.tolist()), int(value))


def meets(heads: np.ndarray, constraint: Constraint, labels: np.ndarray) -> bool:
    kind, words, value = constraint
    if kind == "subtree":
        return is_subtree(heads, np.isin(np.arange(N + 1), words))
    found = heads[words[0] - 1] if "head" in kind else labels[words[0] - 1]
    return (found == value) == (not kind.startswith("not"))


def could_meet(heads: np.ndarray, constraints: list[Constraint]) -> bool:
    """Whether a tree meets all constraints with some labels, the root label for the root alone."""
    choices = [[0] if head == 0 else range(1, N_LABELS) for head in heads]
    of_labels = [c for c in constraints if "label" in c.kind]
    others = [c for c in constraints if "label" not in c.kind]
    possible = [
        any(
            all(meets(heads, c, np.full(N, label)) for c in of_labels if c.words == (word,))
            for label in of_word
        )
        for word, of_word in enumerate(choices, start=1)
    ]
    return all(possible) and all(meets(heads, c, heads) for c in others)


def test_the_best_tree_meets_random_constraints_or_they_are_in_conflict():
    n_conflicts = 0
    for _ in range(150):
        constraints = [random_constraint() for _ in range(RNG.integers(1, 7))]
        scores = random_scores()
        possible = [heads for heads in all_trees(N) if could_meet(heads, constraints)]
        conflict = find_conflict(tuple(constraints), N, n_labels=N_LABELS)
        assert bool(conflict) == (not possible)
        if conflict:
            n_conflicts += 1
            for i in range(len(conflict)):
                assert not find_conflict((*conflict[:i], *conflict[i + 1 :]), N, n_labels=N_LABELS)
            with pytest.raises(ValueError, match="G2G-E107"):
                best_parses(scores, 1, constraints)
            continue
        found = best_parses(scores, 3, constraints)
        totals = np.sort(scores.arcs.astype(float)[np.arange(N), possible].sum(axis=1))[::-1]
        assert [np.log(parse.head_probs).sum() for parse in found] == pytest.approx(totals[:3], abs=1e-5)
        for tree in (parse.tree for parse in found):
            assert all(meets(tree.heads, constraint, tree.labels) for constraint in constraints)
    assert 20 < n_conflicts < 130


def test_only_the_constraints_that_conflict_are_named():
    first, second = Constraint("head", (1,), 2), Constraint("head", (2,), 1)
    harmless = [Constraint("head", (3,), 4), Constraint("subtree", (3, 4)), Constraint("not label", (1,), 2)]
    # A tuple: a caller can't change a conflict that is kept.
    found = find_conflict((harmless[0], first, *harmless[1:], second), N, n_labels=N_LABELS)
    assert found == (first, second)


def test_labels_are_the_best_ones_of_those_allowed():
    scores = random_scores()
    (free,) = best_parses(scores)
    word = int(np.flatnonzero(free.tree.heads)[0])
    label = int(free.tree.labels[word])
    (second,) = best_parses(scores, 1, [Constraint("not label", (word + 1,), label)])
    assert (second.tree.heads == free.tree.heads).all()
    assert second.tree.labels[word] == 3 - label
    expected = scores.labels[word, free.tree.heads[word] - 1, second.tree.labels[word] - 1]
    assert second.label_probs[word] == pytest.approx(np.exp(expected))
