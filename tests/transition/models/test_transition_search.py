"""Decoding of transition-based parsers: as a search that scores each hypothesis from its start."""

from collections.abc import Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.types import Parse, ParserModel, Sentence, Tree
from spacy_g2g.transition.models import transitions
from spacy_g2g.transition.models.transitions import TransitionNetwork
from spacy_g2g.transition.parsing import action_table as arc_actions
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, apply, valid_actions
from spacy_g2g.transition.parsing.oracle_states import Samples, oracle_steps, take_samples
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import are_trees, is_projective

from ...models.checks import assert_same_parse
from ...models.systems import KINDS, SENTENCES, batch_of, has_swap, make, network_of, oracle_of, random_tree
from ...trees.reference import check_actions, max_actions
from ...util import LABELS

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
    steps = list(oracle_steps(actions, labels, np.full(len(prefixes), n)))
    weights = np.zeros(actions.shape, dtype=np.float32)
    weights[:, -1] = 1.0
    samples: Samples = take_samples(steps, weights)
    batch = batch.take(np.zeros(len(prefixes), dtype=np.int64))
    exist, relation = network.score_samples(batch, samples, steps)
    valid = torch.from_numpy(valid_actions(samples.step.states, has_swap(network)))
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
        assert_same_parse(found, best.parse(found.coverage), atol=1e-4)


# Seeds with which the best derivation is not the greedy one.
@pytest.mark.parametrize(("row", "seed"), [("SentTr+G2GTr", 39), ("StateTr+G2GTr+C", 9), ("G2GTr", 0)])
def test_a_beam_that_loses_nothing_finds_the_best_of_all_derivations(row: str, seed: int):
    words = Sentence(["she", "saw", "it"])
    _, shim = make(row, seed=seed, scale=0.3)
    batch = shim.wordpieces.batch([words])
    best, most = literal_search(network_of(shim), batch, None)
    exhaustive, _ = make(row, seed=seed, scale=0.3, beam_width=most)
    (found,) = exhaustive.predict([words])
    assert_same_parse(found, best.parse(found.coverage), atol=1e-4)
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


def test_decoding_of_random_trees_by_favoured_actions_rebuilds_them():
    """The oracle's actions, given as scores, lead decoding to the oracle's tree."""
    rng = np.random.default_rng(0)
    trees = [random_tree(n, rng) for n in (1, 2, 5, 8, 11)]
    assert not all(is_projective(tree.heads) for tree in trees)
    _, shim = make("SentTr")
    network = network_of(shim)
    sentences = [Sentence([f"w{i}" for i in range(len(tree.heads))]) for tree in trees]
    for tree, sentence in zip(trees, sentences, strict=True):
        _, steps = oracle_of(network, [tree])
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
