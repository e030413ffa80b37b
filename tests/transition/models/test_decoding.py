"""Decoding of transition-based parsers: as a search that scores each hypothesis from its start."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.types import Arcs, Parse, ParserModel, Sentence
from spacy_g2g.transition.layers.state_attention import Positions
from spacy_g2g.transition.models import transitions
from spacy_g2g.transition.models.stack_transformer import StackTransformer
from spacy_g2g.transition.parsing import action_table
from spacy_g2g.transition.parsing.action_table import ArcActions, state_positions
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, apply, valid_actions
from spacy_g2g.transition.parsing.oracle_states import oracle_steps, take_samples
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import are_trees, is_projective

from ...models.checks import assert_same_parse
from ...models.systems import KINDS, SENTENCES, batch_of, has_swap, make, network_of, oracle_of, random_tree
from ...util import LABELS, STACK_ROWS, tries
from ..reference import check_actions, max_actions

#: Log-probability of an action, probability of its type, and of its label given the type.
Score = tuple[float, float, float]
ARCS = (Action.LEFT_ARC, Action.RIGHT_ARC)

# Decoding


class Derivation:
    """A sequence of numbered actions of one sentence, literally."""

    def __init__(self, table: ArcActions, n_words: int) -> None:
        self.table = table
        self.states = States.begin(np.array([n_words]))
        self.actions: list[int] = []
        self.probs = np.ones((n_words, 2))
        self.total = 0.0

    def then(self, action: int, score: Score) -> "Derivation":
        other = Derivation(self.table, len(self.probs))
        other.states, other.actions = self.states.take(np.array([0])), [*self.actions, action]
        other.probs, other.total = self.probs.copy(), self.total + score[0]
        type_, label = self.table.types[[action]], self.table.labels[[action]]
        s2, s1, _ = self.states.slots()[0].tolist()
        if type_[0] in ARCS:
            other.probs[(s2 if type_[0] == Action.LEFT_ARC else s1) - 1] = score[1:]
        apply(other.states, type_, label)
        return other

    def parse(self, coverage: Any) -> Parse:
        tree = Arcs(self.states.heads[0], self.states.labels[0])
        return Parse(tree, self.probs[:, 0], self.probs[:, 1], coverage)


def literal_scores(network: StackTransformer, batch: PieceBatch, actions: Sequence[int]) -> torch.Tensor:
    """Log-probabilities after each prefix of numbered actions, decoded step by step: [steps + 1, actions]."""
    memory, mask = network.read(batch)
    cache = network.parser.decoder.begin(memory, mask)
    states, rows = States.begin(batch.n_words), []
    for previous in [-1, *actions]:
        if previous >= 0:
            apply(states, network.actions.types[[previous]], network.actions.labels[[previous]])
        positions = Positions(*(torch.from_numpy(part)[:, None] for part in state_positions(states)))
        hidden = network.parser.decoder.step(torch.tensor([[previous]]), cache, positions)
        valid = torch.from_numpy(network.actions.valid(states, network.shifts(batch)))
        rows.append(network.parser.output(hidden[:, 0]).masked_fill(~valid, -torch.inf).log_softmax(-1))
    return torch.cat(rows)


def stack_scores(
    network: StackTransformer, batch: PieceBatch, derivations: Sequence[Derivation]
) -> Iterator[dict[int, Score]]:
    """Scores of the valid actions after each derivation."""
    for derivation in derivations:
        log_probs = literal_scores(network, batch, derivation.actions)[-1].numpy()
        of_types = np.bincount(network.actions.types, np.exp(log_probs))[network.actions.types]
        yield {
            int(i): (float(log_probs[i]), float(of_types[i]), float(np.exp(log_probs[i]) / of_types[i]))
            for i in np.flatnonzero(log_probs > -np.inf)
        }


def classified_scores(
    network: Any, batch: PieceBatch, derivations: Sequence[Derivation]
) -> Iterator[dict[int, Score]]:
    """Scores of the valid types of actions after derivations of one length, each arc with its best label."""
    numbers = np.array([derivation.actions for derivation in derivations], dtype=np.int64)
    actions = np.append(network.actions.types[numbers], np.full((len(numbers), 1), NO_ACTION), axis=1)
    labels = np.concatenate([derivation.states.labels for derivation in derivations])
    batch = batch.take(np.zeros(len(numbers), dtype=np.int64))
    steps = list(oracle_steps(actions, labels=labels, n_words=batch.n_words))
    weights = np.zeros(actions.shape, dtype=np.float32)
    weights[:, -1] = 1.0
    samples = take_samples(steps, weights)
    exist, relation = network.score_samples(batch, samples, steps)
    valid = valid_actions(samples.step.states, has_swap(network))
    log_probs = exist.masked_fill(~torch.from_numpy(valid), -torch.inf).log_softmax(-1).numpy()
    of_labels = relation.log_softmax(1).exp().numpy()
    for i, s2 in enumerate(samples.step.slots[:, 0].tolist()):
        scores = {}
        for type_ in np.flatnonzero(valid[i]).tolist():
            label, label_prob = -1, 1.0
            if type_ in ARCS and s2 == 0:
                label = 0
            elif type_ in ARCS:
                of_type = of_labels[i, :, type_ - Action.LEFT_ARC]
                label, label_prob = of_type.argmax() + 1, of_type.max()
            number = int(network.actions.encode(np.array(type_), labels=np.array(label)))
            scores[number] = (
                float(log_probs[i, type_]),
                float(np.exp(log_probs[i, type_])),
                float(label_prob),
            )
        yield scores


@torch.no_grad()
def literal_search(network: Any, batch: PieceBatch, width: int | None) -> tuple[Derivation, int]:
    """Beam search, each hypothesis scored from its start; width None keeps all.

    Returns the best derivation, and the most hypotheses that there were at once.
    """
    score = stack_scores if isinstance(network, StackTransformer) else classified_scores
    hypotheses, most = [Derivation(network.actions, int(batch.n_words[0]))], 1
    while not all(h.states.is_final[0] for h in hypotheses):
        grown = [h for h in hypotheses if h.states.is_final[0]]
        going = [h for h in hypotheses if not h.states.is_final[0]]
        for h, scores in zip(going, score(network, batch, going), strict=True):
            grown += [h.then(*scored) for scored in scores.items()]
        hypotheses = sorted(grown, key=lambda h: -h.total)[:width]
        most = max(most, len(hypotheses))
    return hypotheses[0], most


@pytest.mark.parametrize("beam_width", [1, 2, 5])
@pytest.mark.parametrize("row", [*KINDS, "Stack-d", "Stack-bh"])
def test_decoding_equals_a_search_that_scores_each_hypothesis_from_its_start(row: str, beam_width: int):
    model, shim = make(row, seed=5, scale=0.2, beam_width=beam_width)
    for number in (0, 3, 8) if beam_width == 1 else (0, 1):
        best, _ = literal_search(network_of(shim), batch_of(shim, [number]), beam_width)
        (found,) = model.predict([SENTENCES[number]])
        assert_same_parse(found, best.parse(found.coverage), atol=1e-4)


@pytest.mark.parametrize("row", [row for row in STACK_ROWS if row not in ("Stack-d", "Stack-bh")])
def test_each_stack_transformer_takes_the_best_action_of_each_state(row: str):
    model, shim = make(row, seed=4)
    for number, found in enumerate(model.predict(SENTENCES[:4])):
        best, _ = literal_search(network_of(shim), batch_of(shim, [number]), 1)
        assert_same_parse(found, best.parse(found.coverage), atol=1e-4)


# Seeds with which the best derivation is not the greedy one.
@pytest.mark.parametrize(
    ("row", "seed"), [("SentTr+G2GTr", 39), ("StateTr+G2GTr+C", 9), ("G2GTr", 1), ("Stack-c", 25)]
)
def test_a_beam_that_loses_nothing_finds_the_best_of_all_derivations(row: str, seed: int):
    words = Sentence(["she", "saw"] if row in STACK_ROWS else ["she", "saw", "it"])
    _, shim = make(row, seed=seed, scale=0.3)
    batch = shim.wordpieces.batch([words])
    best, most = literal_search(network_of(shim), batch, None)
    exhaustive, _ = make(row, seed=seed, scale=0.3, beam_width=most)
    (found,) = exhaustive.predict([words])
    assert_same_parse(found, best.parse(found.coverage), atol=1e-4)
    greedy, _ = literal_search(network_of(shim), batch, 1)
    assert greedy.total < best.total
    assert str(greedy.parse("whole").tree) != str(found.tree)


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
        patch.setattr(action_table, "apply", checked)
        yield counts


def make_adverse(model: ParserModel, seed: int, scale: float, favorite: int | None) -> None:
    """Random large weights of the classifiers; an action is preferred by far."""
    classifiers = model.shims[0].network.classifiers
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in classifiers.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
        if favorite is not None:
            classifiers.exist.bias[favorite] = 1e30


@pytest.fixture(scope="module")
def adverse() -> dict[tuple[str, bool, int], ParserModel]:
    cases = product(("SentTr+G2GTr", "StateTr+G2GTr+C", "SentTr", "StateCLSTr"), (True, False), (1, 3))
    return {(row, swap, width): make(row, swap=swap, beam_width=width)[0] for row, swap, width in cases}


@tries(40)
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
    favorite: Action | None,
):
    model = adverse[row, swap, beam_width]
    make_adverse(model, seed, scale, favorite)
    sentences = [Sentence([f"w{i}" for i in range(n)]) for n in lengths]
    with checked_actions(swap) as counts:
        parses = model.predict(sentences)
    assert len(counts) <= max(max_actions(n, swap) for n in lengths)
    assert len(counts) >= 2 * max(lengths)
    for n, parse in zip(lengths, parses, strict=True):
        heads, labels = parse.tree.heads, parse.tree.labels
        assert len(heads) == len(labels) == n
        assert are_trees(heads[None], lengths=np.array([n])).all()
        assert swap or is_projective(heads)
        assert ((labels == 0) == (heads == 0)).all()
        assert ((labels >= 0) & (labels < len(LABELS))).all()
        for probs in (parse.head_probs, parse.label_probs):
            assert ((probs >= 0) & (probs <= 1 + 1e-6)).all()


def test_decoding_of_random_trees_by_favored_actions_rebuilds_them():
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
