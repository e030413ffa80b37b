"""What all transition-based parsers do alike: their scores, their loss, and the labels that are added."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.types import Arcs, Sentence
from spacy_g2g.transition.models.state_tr import MAX_POSITIONS
from spacy_g2g.transition.models.transitions import TransitionNetwork
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, apply
from spacy_g2g.transition.parsing.oracle_states import sample_groups, take_samples

from ...models.systems import (
    GOLD,
    KINDS,
    batch_of,
    has_swap,
    learnable,
    make,
    network_of,
    oracle_of,
)
from ...util import LABELS, PAPER_ROWS

# Scores: of teacher forcing, and of decoding


def forced_scores(
    network: TransitionNetwork, batch: PieceBatch, trees: Sequence[Arcs], n_hypotheses: int = 1
) -> Any:
    """Scores of each step of the oracle, as by the reader of decoding: {(sentence, step): (actions, labels)}.

    Each sentence has that many hypotheses, which change their places after each step.
    """
    _, steps = oracle_of(network, trees)
    reader = network.read(batch)
    if n_hypotheses > 1:
        reader.take(np.repeat(np.arange(len(batch.n_words)), n_hypotheses))
    repeated = np.repeat(np.arange(len(trees)), n_hypotheses)
    places = np.arange(len(repeated)).reshape(len(trees), n_hypotheses)
    order = places[:, ::-1].ravel()
    scores = {}
    for i, step in enumerate(steps):
        states, slots = step.states.take(repeated), step.slots[repeated]
        rows = np.flatnonzero(~states.is_final)
        for row, *of_state in zip(rows, *reader.score(states, rows, slots=slots[rows]), strict=True):
            sentence, hypothesis = divmod(int(row), n_hypotheses)
            if hypothesis == i % n_hypotheses:
                scores[sentence, i] = of_state
        if n_hypotheses > 1:
            reader.take(order)
        actions, labels = step.actions[repeated], step.labels[repeated]
        apply(states, actions, labels)
        reader.advance(states, step._replace(states=states, slots=slots, actions=actions, labels=labels))
    return scores


@torch.no_grad()
@pytest.mark.parametrize("n_hypotheses", [1, 2])
@pytest.mark.parametrize(
    ("row", "other"),
    [(row, {}) for row in PAPER_ROWS] + [("SentTr+G2GTr", {"refresh_every": n}) for n in (2, 3)],
)
def test_training_scores_what_decoding_scores(
    row: str, other: dict[str, Any], n_hypotheses: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(MAX_POSITIONS, "cpu", 100)  # so that training encodes several parts
    _, shim = make(row, seed=1, tag_attr="POS", **other)
    network = network_of(shim)
    numbers = learnable(has_swap(network))
    trees, batch = [GOLD[i] for i in numbers], batch_of(shim, numbers)
    actions, steps = oracle_of(network, trees)
    samples = take_samples(steps, np.asarray(actions != NO_ACTION, dtype=np.float32))
    exist, relation = network.score_samples(batch, samples, steps)
    assert torch.isfinite(exist).all()
    assert torch.isfinite(relation).all()
    assert (exist.shape[1], relation.shape[1:]) == (4, (len(LABELS) - 1, 2))
    forced = forced_scores(network, batch, trees, n_hypotheses)
    keys = list(zip(samples.sentences.tolist(), samples.numbers.tolist(), strict=True))
    assert sorted(forced) == sorted(keys)
    for i, key in enumerate(keys):
        torch.testing.assert_close(forced[key][0], exist[i], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(forced[key][1], relation[i], rtol=1e-4, atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("row", PAPER_ROWS)
def test_scores_change_from_state_to_state(row: str):
    _, shim = make(row, seed=1)
    network = network_of(shim)
    (number,) = learnable(has_swap(network))[:1]
    scores = forced_scores(network, batch_of(shim, [number]), [GOLD[number]])
    rounded = {tuple(actions.mul(1e3).round().tolist()) for actions, _ in scores.values()}
    assert len(rounded) == len(scores)


# Loss


def group_sets(groups: np.ndarray) -> list[np.ndarray]:
    """For each group of a sentence the weights with which it is the one that is sampled."""
    n_groups = int(groups.max()) + 1
    return [np.where(groups == group, n_groups, 0).astype(np.float32) for group in range(n_groups)]


@torch.no_grad()
@pytest.mark.parametrize(
    ("row", "other"),
    [("SentTr+G2GTr", {}), ("SentTr+G2GTr", {"refresh_every": 2}), ("StateTr", {}), ("G2CLSTr", {})],
)
def test_the_loss_of_all_states_is_the_mean_over_samples(row: str, other: dict[str, Any]):
    _, shim = make(row, seed=2, states_per_sentence=1, **other)
    network = network_of(shim)
    for number in learnable(has_swap(network))[:3]:
        tree, batch = GOLD[number], batch_of(shim, [number])
        actions, steps = oracle_of(network, [tree])
        whole = network.loss_of_samples(batch, steps, np.asarray(actions != NO_ACTION, dtype=np.float32))
        # What can be sampled, by asking often; each with the same probability.
        sampled = {network.sample(actions).tobytes() for _ in range(400)}
        weights = [np.frombuffer(w, dtype=np.float32).reshape(actions.shape) for w in sampled]
        assert np.mean(weights, axis=0) == pytest.approx(np.ones_like(weights[0]))
        losses = [network.loss_of_samples(batch, steps, w) for w in weights]
        torch.testing.assert_close(torch.stack(losses).mean(), whole, rtol=1e-4, atol=1e-4)


def test_states_of_a_partial_tree_are_sampled_together():
    _, shim = make("SentTr+G2GTr", states_per_sentence=1)
    network = network_of(shim)
    actions, steps = oracle_of(network, [GOLD[0]])
    n_arcs = np.array([step.states.n_arcs[0] for step in steps])
    weights = network.sample(actions)[0]
    chosen = set(n_arcs[weights > 0].tolist())
    assert len(chosen) == 1
    assert np.array_equal(weights, np.where(n_arcs == chosen.pop(), 5, 0))


@pytest.mark.parametrize("row", ["SentTr", "SentTr+G2GTr", "StateTr"])
def test_all_states_are_taken_where_none_are_sampled_and_of_sentences_that_have_few(row: str):
    for n in (None, 100):
        _, shim = make(row, states_per_sentence=n)
        network = network_of(shim)
        actions, _ = oracle_of(network, GOLD)
        assert np.array_equal(network.sample(actions), actions != NO_ACTION)


def test_without_graph_input_one_pass_gives_all_states():
    _, shim = make("SentTr", states_per_sentence=1)
    actions, _ = oracle_of(network_of(shim), GOLD)
    assert np.array_equal(network_of(shim).sample(actions), actions != NO_ACTION)


@given(
    st.lists(st.lists(st.integers(1, 3), max_size=5), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(0, 100),
)
def test_groups_are_sampled_whole_and_weighted_by_their_share(
    sizes: list[list[int]], n_samples: int, seed: int
):
    np.random.seed(seed)
    rows = [np.repeat(np.arange(len(s)), s) for s in sizes]
    groups = np.full((len(rows), max(1, *map(len, rows), 1)), -1)
    for target, row in zip(groups, rows, strict=True):
        target[: len(row)] = row
    if groups.max() < 0:
        return
    weights = sample_groups(groups, n_samples)
    for of_row, row, s in zip(weights, groups, sizes, strict=True):
        assert not of_row[row < 0].any()
        by_group = [set(of_row[row == group].tolist()) for group in range(len(s))]
        assert all(len(values) == 1 for values in by_group)
        values = [value for (value,) in map(tuple, by_group)]
        taken = min(n_samples, len(s))
        assert sorted(values) == pytest.approx(
            [0.0] * (len(s) - taken) + [len(s) / taken] * taken if s else []
        )


def test_samples_follow_the_seed():
    groups = np.tile(np.arange(9), (4, 1))
    drawn = []
    for seed in (0, 0, 1):
        np.random.seed(seed)
        drawn.append([sample_groups(groups, 2) for _ in range(3)])
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert not np.array_equal(drawn[0][0], drawn[0][1])


@pytest.mark.parametrize("row", KINDS)
def test_missing_labels_and_the_root_label_within_a_tree_have_no_loss_of_labels(row: str):
    model, _ = make(row, seed=2, states_per_sentence=None)
    heads = np.array([2, 0, 4, 2])
    losses = [
        model.begin_update(([Sentence(list("abcd"))], [Arcs(heads, np.array(labels))]))
        for labels in ([-1, -1, -1, -1], [1, 0, 2, 3])
    ]
    assert 0 < losses[0][0] < losses[1][0]
    losses[0][1](None)
    named = dict(model.shims[0].network.named_parameters())
    assert named["classifiers.relation.weight"].grad is None
    assert named["classifiers.exist.weight"].grad.abs().sum() > 0
    # The root has its label whatever the gold, and nothing else has it.
    root = model.begin_update(([Sentence(list("ab"))], [Arcs(np.array([0, 1]), np.array([4, 2]))]))[0]
    usual = model.begin_update(([Sentence(list("ab"))], [Arcs(np.array([0, 1]), np.array([0, 2]))]))[0]
    assert root == pytest.approx(usual)
