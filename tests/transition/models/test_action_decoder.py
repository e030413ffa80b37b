"""Sequences of actions of a toy system: their loss, and searches that are compared with all sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from spacy_g2g.transition.models.action_decoder import ActionTransformer, split_batch
from spacy_g2g.transition.models.settings import ActionSettings
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION
from spacy_g2g.transition.parsing.search import ActionMachines, Sequences

PUSH, POP, DROP, TWICE = range(4)
N_ACTIONS = 4
INPUT = 6
SIZES = [2, 1, 3]


class Toy:
    """PUSH the front to the stack; POP; DROP the front; TWICE pushes two. Done when nothing is left."""

    def __init__(self, n_words: int) -> None:
        self.stack: list[int] = []
        self.buffer = list(range(n_words))
        self.actions: list[int] = []
        self.probs: list[tuple[float, float]] = []

    def copy(self) -> Toy:
        other = Toy(0)
        vars(other).update({name: list(value) for name, value in vars(self).items()})
        return other

    def valid(self) -> list[bool]:
        return [bool(self.buffer), bool(self.stack), bool(self.buffer), len(self.buffer) > 1]

    def apply(self, action: int) -> Toy:
        assert self.valid()[action]
        other = self.copy()
        other.actions.append(action)
        if action == POP:
            other.stack.pop()
        else:
            taken = [other.buffer.pop(0) for _ in range(2 if action == TWICE else 1)]
            other.stack += taken if action != DROP else []
        return other

    def places(self, n: int) -> tuple[list[int], list[int]]:
        stack, buffer = [-1] * n, [-1] * n
        for place, word in enumerate(reversed(self.stack)):
            stack[word] = place
        for place, word in enumerate(self.buffer):
            buffer[word] = place
        return stack, buffer


class ToyMachines(ActionMachines):
    def __init__(self, rows: Sequence[Toy], n: int) -> None:
        self.machines, self.n = list(rows), n

    @property
    def is_final(self) -> np.ndarray:
        return np.array([not any(m.valid()) for m in self.machines])

    def valid(self, rows: np.ndarray) -> np.ndarray:
        return np.array([self.machines[i].valid() for i in rows])

    def positions(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        stack, buffer = zip(*(self.machines[i].places(self.n) for i in rows), strict=True)
        return np.array(stack), np.array(buffer)

    def apply(self, actions: np.ndarray, probs: np.ndarray) -> None:
        for i, (action, pair) in enumerate(zip(actions.tolist(), probs.tolist(), strict=True)):
            if action != NO_ACTION:
                self.machines[i] = self.machines[i].apply(action)
                self.machines[i].probs.append(tuple(pair))

    def take(self, order: np.ndarray) -> ToyMachines:
        return ToyMachines([self.machines[i].copy() for i in order], self.n)


def settings(**changes: Any) -> ActionSettings:
    values = {
        "state_heads": ("buffer", "stack"),
        "state_positions": True,
        "n_encoder_layers": 1,
        "n_layers": 2,
        "width": 16,
        "n_attention_heads": 4,
        "hidden_width": 24,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "beam_width": 1,
    }
    return ActionSettings(**{**values, **changes})


def make(
    seed: int = 0, scale: float = 0.2, groups: list[int] | None = None, **changes: Any
) -> ActionTransformer:
    torch.manual_seed(seed)
    network = ActionTransformer(
        INPUT, N_ACTIONS, settings(**changes), None if groups is None else np.array(groups)
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=scale)
    return network.eval()


def encoded(network: ActionTransformer, sizes: Sequence[int] = SIZES) -> tuple[Tensor, Tensor]:
    """Encoded sentences of so many words; the words of a sentence depend on its length alone."""
    n = max(sizes)
    vectors = torch.stack(
        [torch.randn(9, INPUT, generator=torch.Generator().manual_seed(size))[:n] for size in sizes]
    )
    mask = torch.arange(n) < torch.tensor(sizes)[:, None]
    return network.encode(vectors, mask), mask


def machines(sizes: Sequence[int] = SIZES) -> ToyMachines:
    return ToyMachines([Toy(size) for size in sizes], max(sizes))


def all_sequences(n_words: int) -> list[list[int]]:
    """Every sequence of valid actions from the beginning to an end."""
    found, going = [], [Toy(n_words)]
    while going:
        toy = going.pop()
        choices = [action for action, is_valid in enumerate(toy.valid()) if is_valid]
        if not choices:
            found.append(toy.actions)
        going += [toy.apply(action) for action in choices]
    return found


def sequences_of(of_sentences: Sequence[Sequence[int]], sizes: Sequence[int]) -> Sequences:
    """Sequences as a network is trained on."""
    n_steps, n = max(map(len, of_sentences)), max(sizes)
    actions = np.full((len(sizes), n_steps), NO_ACTION)
    stack, buffer = np.full((2, len(sizes), n_steps, n), -1)
    valid = []
    for i, (of_sentence, size) in enumerate(zip(of_sentences, sizes, strict=True)):
        toy = Toy(size)
        for t, action in enumerate(of_sentence):
            actions[i, t] = action
            stack[i, t], buffer[i, t] = toy.places(n)
            valid.append(toy.valid())
            toy = toy.apply(action)
    return Sequences(actions, stack, buffer, np.array(valid))


@torch.no_grad()
def log_probs(network: ActionTransformer, sequences: list[list[int]], n_words: int) -> list[Tensor]:
    """The log-probabilities of actions at each step of sequences of one sentence."""
    memory, _ = encoded(network, [n_words])
    forced = sequences_of(sequences, [n_words] * len(sequences))
    scores = network.score(memory.expand(len(sequences), -1, -1), None, forced)
    steps = scores.masked_fill(~torch.from_numpy(forced.valid), -torch.inf).log_softmax(-1)
    return list(steps.split(list(map(len, sequences))))


def totals_of(network: ActionTransformer, n_words: int) -> list[tuple[float, list[int]]]:
    """The total of every sequence, the best first."""
    sequences = all_sequences(n_words)
    scored = log_probs(network, sequences, n_words)
    totals = [float(s[range(len(q)), q].sum()) for s, q in zip(scored, sequences, strict=True)]
    return sorted(zip(totals, sequences, strict=True), key=lambda pair: -pair[0])


@torch.no_grad()
def search(
    network: ActionTransformer, sizes: Sequence[int] = SIZES, penalty: float = 0.0
) -> list[tuple[float, Toy]]:
    found = network.search(*encoded(network, sizes), machines(sizes), penalty)
    assert isinstance(found.machines, ToyMachines)
    assert found.machines.is_final.all()
    return list(zip(found.totals.tolist(), found.machines.machines, strict=True))


# Loss


def literal_loss(
    network: ActionTransformer, sequences: list[list[int]], sizes: list[int], share: float
) -> float:
    loss = 0.0
    for sequence, size in zip(sequences, sizes, strict=True):
        for step, action in zip(log_probs(network, [sequence], size)[0], sequence, strict=True):
            valid = [p for p in step.tolist() if p > -float("inf")]
            loss -= (1 - share) * float(step[action]) + share * sum(valid) / len(valid)
    return loss


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("state_heads", [(), ("buffer", "stack")])
def test_the_loss_is_that_of_each_step_among_its_valid_actions(share: float, state_heads: tuple[str, ...]):
    network = make(label_smoothing=share, state_heads=state_heads)
    sequences = [all_sequences(size)[-1] for size in SIZES]
    loss = network.loss(*encoded(network), sequences_of(sequences, SIZES))
    assert float(loss.detach()) == pytest.approx(literal_loss(network, sequences, SIZES, share), rel=1e-5)
    loss.backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_an_action_that_is_the_only_valid_one_costs_nothing():
    network = make(label_smoothing=0.1)
    # After PUSH of the only word there is nothing but POP.
    with_pop = network.loss(*encoded(network, [1]), sequences_of([[PUSH, POP]], [1]))
    scored = log_probs(network, [[PUSH, POP]], 1)[0][0, [PUSH, DROP]]
    expected = -(0.9 * scored[0] + 0.1 * scored.mean())
    assert float(with_pop.detach()) == pytest.approx(float(expected), rel=1e-5)


# Search


@pytest.mark.parametrize("beam_width", [1, 2, 3, 50])
def test_a_found_sequence_has_the_total_of_its_steps(beam_width: int):
    network = make(1, groups=[0, 1, 0, 0], beam_width=beam_width)
    for size, (total, toy) in zip(SIZES, search(network), strict=True):
        (steps,) = log_probs(network, [toy.actions], size)
        of_actions = steps[range(len(toy.actions)), toy.actions]
        assert total == pytest.approx(float(of_actions.sum()), abs=1e-4)
        probs = np.array(toy.probs)
        # The probability of a group, times that of the action within it, is that of the action.
        assert probs.prod(axis=1) == pytest.approx(of_actions.exp().numpy(), abs=1e-5)
        in_group = [
            step.exp()[[POP] if a == POP else [PUSH, DROP, TWICE]].sum()
            for step, a in zip(steps, toy.actions, strict=True)
        ]
        assert probs[:, 0] == pytest.approx(np.array(in_group), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_one_hypothesis_takes_the_best_action_of_each_step(seed: int):
    network = make(seed)
    for size, (_, toy) in zip(SIZES, search(network), strict=True):
        (steps,) = log_probs(network, [toy.actions], size)
        assert steps.argmax(1).tolist() == toy.actions


# Seeds with which the greedy sequence of one of the sentences is not the best.
@pytest.mark.parametrize("seed", [5, 19, 38])
def test_a_beam_that_loses_nothing_finds_the_best_of_all_sequences(seed: int):
    greedy = search(make(seed, 0.0))
    found = search(make(seed, 0.0, beam_width=100))
    for size, (total, toy) in zip(SIZES, found, strict=True):
        best, actions = totals_of(make(seed, 0.0), size)[0]
        assert (toy.actions, total) == (actions, pytest.approx(best, abs=1e-4))
    assert [toy.actions for _, toy in greedy] != [toy.actions for _, toy in found]


def test_wider_beams_are_better_where_greedy_is_not_best():
    found = [[total for total, _ in search(make(38, 0.0, beam_width=width))] for width in (1, 2, 100)]
    for narrow, wide in pairwise(found):
        assert all(b >= a - 1e-4 for a, b in zip(narrow, wide, strict=True))
        assert sum(wide) > sum(narrow) + 0.1


@pytest.mark.parametrize("penalty", [0.5, 1.0])
def test_lengths_count_where_they_are_asked_for(penalty: float):
    network = make(5, 0.0, beam_width=100)
    found = search(network, penalty=penalty)
    for size, (total, toy) in zip(SIZES, found, strict=True):
        ranked = sorted(totals_of(network, size), key=lambda pair: -pair[0] / len(pair[1]) ** penalty)
        assert toy.actions == ranked[0][1]
        assert total == pytest.approx(ranked[0][0], abs=1e-4)
    assert [toy.actions for _, toy in found] != [toy.actions for _, toy in search(network)]


@pytest.mark.parametrize("beam_width", [1, 3])
def test_a_sequence_depends_on_nothing_else_in_its_batch(beam_width: int):
    network = make(5, beam_width=beam_width)
    sizes = [1, 4, 2, 1, 1, 3, 4, 1]  # Most are done long before the last.
    for size, (total, toy) in zip(sizes, search(network, sizes), strict=True):
        ((alone, expected),) = search(network, [size])
        assert toy.actions == expected.actions
        assert total == pytest.approx(alone, abs=1e-4)


def test_finished_sentences_are_computed_no_further():
    network = make(5)
    computed = []
    step = network.decoder.step
    network.decoder.step = lambda p, c, s: (computed.append(len(p)), step(p, c, s))[1]  # type: ignore[method-assign]
    lengths = [len(toy.actions) for _, toy in search(network, [1] * 6 + [4])]
    assert computed[0] == 7
    assert computed[-1] == 1
    assert len(computed) == max(lengths)


def test_scores_that_are_not_numbers_are_an_error():
    network = make()
    with torch.no_grad():
        network.output.weight[0] = torch.nan
    with pytest.raises(ValueError, match=r"E409.*NaN"):
        search(network)


@torch.no_grad()
def test_added_actions_score_the_mean_of_others():
    network = make()
    sequences = sequences_of([all_sequences(size)[0] for size in SIZES], SIZES)
    before = network.score(*encoded(network), sequences)
    network.resize(np.array([[True, False, True, False]]))
    after = network.score(*encoded(network), sequences)
    torch.testing.assert_close(after[:, :4], before, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(after[:, 4], before[:, [0, 2]].mean(1), rtol=1e-5, atol=1e-5)


def test_parts_of_a_batch_have_all_its_sentences():
    for beam_width in (1, 10, 10_000):
        parts = split_batch(np.ones(1300), beam_width, torch.device("cpu"))
        numbers = [i for part in parts for i in range(1300)[part]]
        assert numbers == list(range(1300))
