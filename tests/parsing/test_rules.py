"""Rules of UD, against all labelled trees of a few words."""

from itertools import product

import numpy as np
import pytest

from spacy_g2g.parsing.arc_scores import ArcScores
from spacy_g2g.parsing.conflicts import find_conflict
from spacy_g2g.parsing.constraints import Constraint
from spacy_g2g.parsing.rules import RULES, rule_constraint, rule_name

from .all_trees import all_trees

LABELS = ("root", "nsubj", "csubj:pass", "nsubj:outer", "obj", "case", "conj", "punct")
RNG = np.random.default_rng(8)


def follows(name: str, heads: tuple[int, ...], labels: tuple[int, ...]) -> bool:
    """Whether a labelled tree follows a rule, literally."""
    names = ["ROOT", *(LABELS[label] for label in labels)]
    arcs = [(word, head) for word, head in enumerate(heads, start=1) if head]
    if name == "too-many-subjects":
        inner = [head for word, head in arcs if "subj" in names[word] and names[word] != "nsubj:outer"]
        return len(inner) == len(set(inner))
    if name == "right-to-left":
        return all(head < word for word, head in arcs if names[word] == "conj")
    if name == "leaf-punct":
        return all(names[word] == "punct" for word, head in arcs if names[head] == "punct")
    assert name == "leaf-mark-case"
    return all(names[word] in ("conj", "punct") for word, head in arcs if names[head] == "case")


def brute_force(scores: ArcScores, rules: list[str], demands: list[Constraint]) -> list[float]:
    """The best value of each tree that some labels make follow the rules and meet the demands, in order."""
    n = len(scores.arcs)
    words, found = np.arange(n), []
    arcs, labels = scores.arcs.astype(float), scores.labels.astype(float)
    fixed = {c.words[0]: c.value for c in demands}
    for heads in all_trees(n):
        regrets = labels[words, heads - 1]
        best = [regrets[i, fixed[i + 1] - 1] if i + 1 in fixed else regrets[i].max() for i in range(n)]
        regrets = regrets - np.array(best)[:, None]
        values = []
        for chosen in product(*([0] if head == 0 else range(1, len(LABELS)) for head in heads)):
            if any(chosen[word - 1] != label for word, label in fixed.items()):
                continue
            if all(follows(rule, tuple(heads), chosen) for rule in rules):
                values.append(sum(regrets[i, label - 1] for i, label in enumerate(chosen) if label))
        if values:
            found.append(arcs[words, heads].sum() + max(values))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_best_trees_that_follow_rules_are_those_of_brute_force(n: int):
    tested = ["too-many-subjects", "right-to-left", "leaf-punct", "leaf-mark-case"]
    n_changed = 0
    for i in range(20 if n < 4 else 4):
        names = RNG.choice(tested, RNG.integers(1, 5), replace=False).tolist()
        rules = [rule_constraint(name, LABELS) for name in names]
        assert [rule_name(rule) for rule in rules] == names
        demands = [Constraint("label", (int(RNG.integers(1, n + 1)),), int(RNG.integers(1, 8)))][: i % 2]
        labels = 3 * RNG.normal(size=(n, n, len(LABELS) - 1))
        labels[..., [0, 1, 4, 5, 6]] += 3
        scores = ArcScores(RNG.normal(size=(n, n + 1)).astype(np.float32), labels.astype(np.float32))
        expected = brute_force(scores, names, demands)
        conflict = find_conflict([*demands, *rules], n, len(LABELS))
        assert bool(conflict) == (not expected)
        if not expected:
            continue
        found = scores.best(6, [*demands, *rules])
        assert found.scores == pytest.approx(expected[:6], abs=1e-4)
        assert len(np.unique(found.heads, axis=0)) == len(found.heads)
        for heads, ids in zip(found.heads.tolist(), found.labels.tolist(), strict=True):
            assert all(follows(name, tuple(heads), tuple(ids)) for name in names)
        free = scores.best(1, demands)
        n_changed += (free.heads[0] != found.heads[0]).any() or (free.labels[0] != found.labels[0]).any()
    assert n != 3 or n_changed


@pytest.mark.parametrize("n", [5, 6])
def test_the_best_trees_over_more_words_are_those_of_brute_force(n: int):
    """Two labels, and two rules that are checked for all trees at once: one subject, and marks are leaves."""
    names = ("root", "nsubj", "punct")
    rules = [rule_constraint(name, names) for name in ("too-many-subjects", "leaf-punct")]
    heads, chosen = all_trees(n)[:, None], np.array(list(product((1, 2), repeat=n)))
    words = np.arange(n)
    for _ in range(3):
        arcs, labels = RNG.normal(size=(n, n + 1)), RNG.normal((1.0, 0.0), size=(n, n, 2))
        scores = ArcScores(arcs.astype(np.float32), labels.astype(np.float32))
        regrets = scores.labels - scores.labels.max(axis=2, keepdims=True)
        of_arcs = np.where(heads > 0, regrets[words, heads - 1, chosen - 1], 0.0)
        values = scores.arcs[words, heads].sum(axis=2) + of_arcs.sum(axis=2)
        is_wrong = np.zeros(values.shape, dtype=bool)
        for i in words:
            above = np.where(heads[..., i] > 0, chosen[np.arange(len(chosen)), heads[..., i] - 1], 0)
            is_root_above = np.take_along_axis(heads[:, 0], np.maximum(heads[..., i] - 1, 0), axis=1) == 0
            is_wrong |= (above == 2) & ~is_root_above & (chosen[:, i] == 1) & (heads[..., i] > 0)
            for j in words[:i]:
                is_same = (heads[..., i] == heads[..., j]) & (heads[..., i] > 0)
                is_wrong |= is_same & (chosen[:, i] == 1) & (chosen[:, j] == 1)
        expected = np.sort(np.where(is_wrong, -np.inf, values).max(axis=1))[::-1][:5]
        assert scores.best(5, rules).scores == pytest.approx(expected, abs=1e-4)


def test_a_search_that_takes_too_long_ends_without_the_rules(monkeypatch: pytest.MonkeyPatch):
    arcs, labels = RNG.normal(size=(9, 10)), np.zeros((9, 9, len(LABELS) - 1))
    labels[..., 0] = 1.0
    scores = ArcScores(arcs.astype(np.float32), labels.astype(np.float32))
    rule, demand = rule_constraint("too-many-subjects", LABELS), Constraint("head", (2,), 0)
    best = scores.best(9, [demand, rule])
    monkeypatch.setattr("spacy_g2g.parsing.rules.MAX_SCORES", 0)
    monkeypatch.setattr("spacy_g2g.parsing.rules.MIN_SETS", 3)
    with pytest.warns(UserWarning, match=r"W101.*\['too-many-subjects'\].*9 words"):
        found = scores.best(1, [demand, rule])
    assert found.heads.tolist() == scores.best(1, [demand]).heads.tolist()
    assert found.heads[0, 1] == 0
    assert find_conflict([demand, rule], 9, len(LABELS)) == []
    # Trees that were found before the end stay.
    monkeypatch.setattr("spacy_g2g.parsing.rules.MIN_SETS", 60)
    fewer = scores.best(9, [demand, rule])
    assert 0 < len(fewer.heads) < len(best.heads)
    assert (fewer.heads == best.heads[: len(fewer.heads)]).all()


def test_a_rule_and_the_labels_that_break_it_are_named():
    rule = rule_constraint("too-many-subjects", LABELS)
    labels = [Constraint("label", (i,), 1) for i in (1, 2)]
    heads = [Constraint("head", (i,), 3) for i in (1, 2)]
    other = rule_constraint("leaf-punct", LABELS)
    assert find_conflict([other, *labels, *heads, rule], 4, len(LABELS)) == [*labels, *heads, rule]


def test_each_rule_is_about_relations_without_subtypes():
    labels = ["root", *{relation for rule in RULES.values() for relation in rule.relations.split()}]
    for name in RULES:
        plain = rule_constraint(name, labels)
        subtyped = rule_constraint(name, ["root", *(f"{label}:sub" for label in labels[1:])])
        assert plain == subtyped
        assert plain.labels
