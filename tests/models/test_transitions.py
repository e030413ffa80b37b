"""What all transition-based parsers do alike: their loss and their decoding, which no batch changes."""

from collections.abc import Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_g2g.models import transitions
from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.transitions import TransitionNetwork
from spacy_g2g.models.types import Parse, ParserModel, Sentence, Tree
from spacy_g2g.parsing import arc_actions
from spacy_g2g.parsing import replay as replays
from spacy_g2g.parsing.arc_standard import NO_ACTION, Action, apply, valid_actions
from spacy_g2g.parsing.replay import Samples, sample_groups, take_samples
from spacy_g2g.parsing.state import States
from spacy_g2g.parsing.tree import are_trees, is_projective

from ..parsing.reference import check_actions, max_actions
from ..util import LABELS, PAPER_ROWS
from .checks import assert_same_parse
from .systems import (
    GOLD,
    KINDS,
    SENTENCES,
    batch_of,
    has_swap,
    learnable,
    make,
    network_of,
    oracle_of,
    random_tree,
)

# Scores: of teacher forcing, and of decoding


def forced_scores(
    network: TransitionNetwork, batch: PieceBatch, trees: Sequence[Tree], n_hypotheses: int = 1
) -> Any:
    """Scores of each step of the oracle, as by the reader of decoding: {(sentence, step): (actions, labels)}.

    Each sentence has that many hypotheses, which change their places after each step.
    """
    _, _, steps = oracle_of(network, trees)
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
        for row, *of_state in zip(rows, *reader.score(states, rows, slots[rows]), strict=True):
            sentence, hypothesis = divmod(int(row), n_hypotheses)
            if hypothesis == i % n_hypotheses:
                scores[sentence, i] = of_state
        if n_hypotheses > 1:
            reader.take(order)
        actions, labels = step.actions[repeated], step.labels[repeated]
        apply(states, actions, labels)
        reader.advance(states, step._replace(states=states, slots=slots, actions=actions, labels=labels))
    return scores


def trees_for(network: TransitionNetwork, numbers: Sequence[int]) -> list[Tree]:
    return [GOLD[i] for i in numbers]


@torch.no_grad()
@pytest.mark.parametrize("n_hypotheses", [1, 2])
@pytest.mark.parametrize(
    ("row", "other"),
    [(row, {}) for row in PAPER_ROWS] + [("SentTr+G2GTr", {"refresh_every": n}) for n in (2, 3)],
)
def test_training_scores_what_decoding_scores(row: str, other: dict[str, Any], n_hypotheses: int):
    _, shim = make(row, seed=1, tag_attr="POS", **other)
    network = network_of(shim)
    numbers = learnable(has_swap(network))
    trees, batch = [GOLD[i] for i in numbers], batch_of(shim, numbers)
    actions, _, steps = oracle_of(network, trees)
    samples = take_samples(steps, np.asarray(actions != NO_ACTION, dtype=np.float32))
    exist, relation = network.score_samples(batch, samples, steps)
    assert torch.isfinite(exist).all()
    assert torch.isfinite(relation).all()
    assert (exist.shape[1], relation.shape[1:]) == (4, (len(LABELS) - 1, 2))
    forced = forced_scores(network, batch, trees, n_hypotheses)
    keys = list(zip(samples.sentences.tolist(), samples.steps.tolist(), strict=True))
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
        actions, labels, _ = oracle_of(network, [tree])
        whole = network.loss_of_samples(
            batch, actions, labels, np.asarray(actions != NO_ACTION, dtype=np.float32)
        )
        # What can be sampled, by asking often; each with the same probability.
        sampled = {network.sample(actions).tobytes() for _ in range(400)}
        weights = [np.frombuffer(w, dtype=np.float32).reshape(actions.shape) for w in sampled]
        assert np.mean(weights, axis=0) == pytest.approx(np.ones_like(weights[0]))
        losses = [network.loss_of_samples(batch, actions, labels, w) for w in weights]
        torch.testing.assert_close(torch.stack(losses).mean(), whole, rtol=1e-4, atol=1e-4)


def test_states_of_a_partial_tree_are_sampled_together():
    _, shim = make("SentTr+G2GTr", states_per_sentence=1)
    network = network_of(shim)
    actions, _, steps = oracle_of(network, [GOLD[0]])
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
        actions, _, _ = oracle_of(network, GOLD)
        assert np.array_equal(network.sample(actions), actions != NO_ACTION)


def test_without_graph_input_one_pass_gives_all_states():
    _, shim = make("SentTr", states_per_sentence=1)
    actions, _, _ = oracle_of(network_of(shim), GOLD)
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
def test_the_loss_has_a_gradient_for_all_weights_but_those_of_the_position_table(row: str):
    model, shim = make(row, seed=2, states_per_sentence=None)
    network = network_of(shim)
    numbers = learnable(has_swap(network))
    _, backprop = model.begin_update(([SENTENCES[i] for i in numbers], [GOLD[i] for i in numbers]))
    backprop(None)
    without = [name for name, weight in network.named_parameters() if weight.grad is None]
    # Where CLS alone is read, there are no empty slots; without arcs there is nothing to be empty of.
    assert without == (["empty"] if PAPER_ROWS[row][1].get("output") == "cls" else [])
    assert all(
        torch.isfinite(weight.grad).all() for weight in network.parameters() if weight.grad is not None
    )


@pytest.mark.parametrize("row", KINDS)
def test_missing_labels_and_the_root_label_within_a_tree_have_no_loss_of_labels(row: str):
    model, _ = make(row, seed=2, states_per_sentence=None)
    heads = np.array([2, 0, 4, 2])
    losses = [
        model.begin_update(([Sentence(list("abcd"))], [Tree(heads, np.array(labels))]))
        for labels in ([-1, -1, -1, -1], [1, 0, 2, 3])
    ]
    assert 0 < losses[0][0] < losses[1][0]
    losses[0][1](None)
    named = dict(model.shims[0].network.named_parameters())
    assert named["classifiers.relation.weight"].grad is None
    assert named["classifiers.exist.weight"].grad.abs().sum() > 0
    # The root has its label whatever the gold, and nothing else has it.
    root = model.begin_update(([Sentence(list("ab"))], [Tree(np.array([0, 1]), np.array([4, 2]))]))[0]
    usual = model.begin_update(([Sentence(list("ab"))], [Tree(np.array([0, 1]), np.array([0, 2]))]))[0]
    assert root == pytest.approx(usual)


@pytest.mark.parametrize("swap", [True, False])
def test_trees_that_an_oracle_can_build_can_be_learned(swap: bool):
    _, shim = make("SentTr", swap=swap)
    gold = [
        Tree(np.array([2, 0]), np.array([1, 0])),
        Tree(np.array([3, 4, 0, 3]), np.array([1, 1, 0, 1])),  # not projective
        Tree(np.array([2, 0, -1]), np.array([1, 0, -1])),
        Tree(np.array([0, 0]), np.array([0, 0])),
        Tree(np.array([2, 1]), np.array([1, 1])),
        Tree(np.array([0]), np.array([-1])),
        Tree(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)),
    ]
    assert shim.network.can_learn(gold).tolist() == [True, swap, False, False, False, True, False]
    assert shim.network.can_learn([]).tolist() == []


# Decoding


@torch.no_grad()
def score_prefixes(
    network: TransitionNetwork, batch: PieceBatch, prefixes: Sequence[tuple[list[int], dict[int, int]]]
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of actions and labels after prefixes of one sentence, each replayed from its start.

    prefixes: (actions, label of each word that has a head), all of the same number of actions.
    """
    n = int(batch.n_words[0])
    labels = np.array([[of_words.get(word, -1) for word in range(1, n + 1)] for _, of_words in prefixes])
    actions = np.array([[*taken, NO_ACTION] for taken, _ in prefixes])
    steps = list(replays.replay(actions, labels, np.full(len(prefixes), n)))
    weights = np.zeros(actions.shape, dtype=np.float32)
    weights[:, -1] = 1.0
    samples: Samples = take_samples(steps, weights)
    batch = batch.take(np.zeros(len(prefixes), dtype=np.int64))
    exist, relation = network.score_samples(batch, samples, steps)
    valid = torch.from_numpy(valid_actions(samples.states, has_swap(network)))
    of_actions = exist.masked_fill(~valid, -torch.inf).log_softmax(-1)
    return of_actions.numpy(), relation.log_softmax(1).numpy()


class Derivation:
    """A sequence of actions of one sentence, literally."""

    def __init__(self, n_words: int) -> None:
        self.states = States.begin(np.array([n_words]))
        self.actions: list[int] = []
        self.labels: dict[int, int] = {}
        self.head_probs: dict[int, float] = {}
        self.label_probs: dict[int, float] = {}
        self.total = 0.0

    def then(self, action: int, of_actions: np.ndarray, of_labels: np.ndarray) -> "Derivation":
        other = Derivation(1)
        other.states = self.states.take(np.array([0]))
        other.actions = [*self.actions, action]
        other.labels, other.head_probs = dict(self.labels), dict(self.head_probs)
        other.label_probs = dict(self.label_probs)
        other.total = self.total + float(of_actions[action])
        s2, s1, _ = self.states.slots()[0].tolist()
        if action in (Action.LEFT_ARC, Action.RIGHT_ARC):
            word = s2 if action == Action.LEFT_ARC else s1
            direction = 0 if action == Action.LEFT_ARC else 1
            is_root = action == Action.RIGHT_ARC and s2 == 0
            other.labels[word] = 0 if is_root else int(of_labels[:, direction].argmax()) + 1
            other.head_probs[word] = float(np.exp(of_actions[action]))
            other.label_probs[word] = 1.0 if is_root else float(np.exp(of_labels[:, direction].max()))
        apply(other.states, np.array([action]))
        return other

    def parse(self, fit: Any) -> Parse:
        n = int(self.states.n_words[0])
        columns = [
            [of[word] for word in range(1, n + 1)] for of in (self.labels, self.head_probs, self.label_probs)
        ]
        tree = Tree(self.states.heads[0], np.array(columns[0]))
        return Parse(tree, np.array(columns[1]), np.array(columns[2]), fit)


def literal_search(
    network: TransitionNetwork, batch: PieceBatch, width: int | None
) -> tuple[Derivation, int]:
    """Beam search, each hypothesis scored from its start; width None keeps all.

    Returns the best derivation, and the most hypotheses that there were at once.
    """
    hypotheses, most = [Derivation(int(batch.n_words[0]))], 1
    while not all(h.states.is_final[0] for h in hypotheses):
        going = [h for h in hypotheses if not h.states.is_final[0]]
        of_actions, of_labels = score_prefixes(network, batch, [(h.actions, h.labels) for h in going])
        rows = {id(h): i for i, h in enumerate(going)}
        grown = []
        for h in hypotheses:
            if h.states.is_final[0]:
                grown.append(h)
                continue
            i = rows[id(h)]
            valid = np.flatnonzero(valid_actions(h.states, has_swap(network))[0])
            grown += [h.then(int(action), of_actions[i], of_labels[i]) for action in valid]
        hypotheses = sorted(grown, key=lambda h: -h.total)[:width]
        most = max(most, len(hypotheses))
    return hypotheses[0], most


@pytest.mark.parametrize("beam_width", [1, 2, 5])
@pytest.mark.parametrize("row", KINDS)
def test_decoding_equals_a_search_that_scores_each_hypothesis_from_its_start(row: str, beam_width: int):
    model, shim = make(row, seed=5, scale=0.2, beam_width=beam_width)
    network = network_of(shim)
    for number in (0, 3, 8) if beam_width == 1 else (0, 1):
        batch = batch_of(shim, [number])
        best, _ = literal_search(network, batch, beam_width)
        (found,) = model.predict([SENTENCES[number]])
        assert_same_parse(found, best.parse(found.fit), atol=1e-4)


# Seeds with which the best derivation is not the greedy one.
@pytest.mark.parametrize(("row", "seed"), [("SentTr+G2GTr", 39), ("StateTr+G2GTr+C", 9), ("G2GTr", 0)])
def test_a_beam_that_loses_nothing_finds_the_best_of_all_derivations(row: str, seed: int):
    words = Sentence(["she", "saw", "it"])
    _, shim = make(row, seed=seed, scale=0.3)
    batch = shim.wordpieces.batch([words])
    best, most = literal_search(network_of(shim), batch, None)
    exhaustive, _ = make(row, seed=seed, scale=0.3, beam_width=most)
    (found,) = exhaustive.predict([words])
    assert_same_parse(found, best.parse(found.fit), atol=1e-4)
    greedy, _ = literal_search(network_of(shim), batch, 1)
    assert greedy.total < best.total
    assert greedy.parse("whole").tree.heads.tolist() != found.tree.heads.tolist()


# Adversaries


@pytest.mark.parametrize("row", ["SentTr", "StateTr+G2GTr"])
def test_an_untrained_parser_does_not_swap(row: str):
    _, shim = make(row, scale=0.0)
    with checked_actions(swap=True) as counts:
        shim.predict([Sentence(["w"] * 12)])
    assert len(counts) == 2 * 12


@contextmanager
def checked_actions(swap: bool) -> Any:
    """Every action that is applied is checked to be valid; gives their numbers for each state."""
    counts: list[np.ndarray] = []

    def checked(states: States, actions: np.ndarray, labels: np.ndarray | None = None) -> None:
        check_actions(states, actions, swap)
        counts.append(actions != NO_ACTION)
        apply(states, actions, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_actions, "apply", checked)
        yield counts


def make_adverse(model: ParserModel, seed: int, scale: float, favourite: int | None) -> None:
    """Random large weights of the classifiers; an action is preferred by far."""
    classifiers = model.shims[0].network.classifiers
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in classifiers.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
        if favourite is not None:
            classifiers.exist.bias[favourite] = 1e30


@pytest.fixture(scope="module")
def adverse() -> dict[tuple[str, bool, int], ParserModel]:
    cases = product(("SentTr+G2GTr", "StateTr+G2GTr+C", "SentTr", "StateCLSTr"), (True, False), (1, 3))
    return {(row, swap, width): make(row, swap=swap, beam_width=width)[0] for row, swap, width in cases}


@settings(max_examples=40)
@given(
    st.sampled_from(("SentTr+G2GTr", "StateTr+G2GTr+C", "SentTr", "StateCLSTr")),
    st.booleans(),
    st.sampled_from([1, 3]),
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.integers(0, 1000),
    st.sampled_from([0.0, 1.0, 1e4, 1e9]),
    st.sampled_from([None, *Action]),
)
def test_whatever_the_scores_actions_are_valid_and_end_in_a_tree_in_time(
    adverse: dict[tuple[str, bool, int], ParserModel],
    row: str,
    swap: bool,
    beam_width: int,
    lengths: list[int],
    seed: int,
    scale: float,
    favourite: Action | None,
):
    model = adverse[row, swap, beam_width]
    make_adverse(model, seed, scale, favourite)
    sentences = [Sentence([f"w{i}" for i in range(n)]) for n in lengths]
    with checked_actions(swap) as counts:
        parses = model.predict(sentences)
    assert len(counts) <= max(max_actions(n, swap) for n in lengths)
    assert len(counts) >= 2 * max(lengths)
    for n, parse in zip(lengths, parses, strict=True):
        heads, labels = parse.tree.heads, parse.tree.labels
        assert len(heads) == len(labels) == n
        assert are_trees(heads[None], np.array([n])).all()
        assert swap or is_projective(heads)
        assert ((labels == 0) == (heads == 0)).all()
        assert ((labels >= 0) & (labels < len(LABELS))).all()
        for probs in (parse.head_probs, parse.label_probs):
            assert ((probs >= 0) & (probs <= 1 + 1e-6)).all()


@pytest.mark.parametrize("row", KINDS)
def test_added_labels_leave_trees_and_come_with_all_that_knows_labels(row: str):
    model, shim = make(row, seed=1)
    before = model.predict(SENTENCES[:4])
    network = network_of(shim)
    with torch.no_grad():
        # As after training: the labels known so far have scores above zero.
        network.classifiers.relation.bias.add_(10.0)
    shim.resize_labels(len(LABELS) + 2)
    for found, expected in zip(model.predict(SENTENCES[:4]), before, strict=True):
        assert found.tree.heads.tolist() == expected.tree.heads.tolist()
        assert found.tree.labels.tolist() == expected.tree.labels.tolist()
    number = learnable(has_swap(network))[0]
    tree = GOLD[number]
    labels = np.where(tree.heads == 0, 0, len(LABELS) + 1)
    _, backprop = model.begin_update(([SENTENCES[number]], [Tree(tree.heads, labels)]))
    backprop(None)
    assert network.classifiers.relation.weight.grad is not None
    other = make(row)[0].from_bytes(model.to_bytes())
    for found, expected in zip(other.predict(SENTENCES[:4]), before, strict=True):
        assert found.tree.labels.tolist() == expected.tree.labels.tolist()


def test_decoding_of_random_trees_by_favoured_actions_rebuilds_them():
    """The oracle's actions, given as scores, lead decoding to the oracle's tree."""
    rng = np.random.default_rng(0)
    trees = [random_tree(n, rng) for n in (1, 2, 5, 8, 11)]
    assert not all(is_projective(tree.heads) for tree in trees)
    _, shim = make("SentTr")
    network = network_of(shim)
    sentences = [Sentence([f"w{i}" for i in range(len(tree.heads))]) for tree in trees]
    for tree, sentence in zip(trees, sentences, strict=True):
        _, _, steps = oracle_of(network, [tree])
        number = iter(range(len(steps)))

        class Told(transitions.Reader):
            def score(self, states: States, rows: np.ndarray, slots: np.ndarray) -> Any:
                step = steps[next(number)]  # noqa: B023
                exist = torch.zeros(1, 4)
                exist[0, step.actions[0]] = 1e4
                relation = torch.zeros(1, len(LABELS) - 1, 2)
                relation[0, max(step.labels[0] - 1, 0)] = 1e4
                return exist, relation

            def take(self, order: np.ndarray) -> None:
                raise AssertionError("one hypothesis keeps its place")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(network, "read", lambda batch: Told())
            (parse,) = network.parse(shim.wordpieces.batch([sentence]))
        assert parse.tree.heads.tolist() == tree.heads.tolist()
        assert parse.tree.labels.tolist() == tree.labels.tolist()
        assert parse.head_probs == pytest.approx(np.ones(len(tree.heads)))
