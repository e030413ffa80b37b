"""What bricks of transition-based parsers add to what the tests of their networks prove."""

from itertools import product

import pytest
import torch
from torch import Tensor

from spacy_g2g.transition.layers.classifiers import TransitionClassifiers
from spacy_g2g.transition.layers.composition import Composition
from spacy_g2g.transition.layers.history import History

WIDTH, N_ACTIONS, N_LABELS, HIDDEN, HISTORY = 6, 4, 5, 7, 3


def classifiers_for(
    exist: tuple[int, ...], relation: tuple[int, ...], history_width: int = 0
) -> TransitionClassifiers:
    torch.manual_seed(0)
    sizes = {"hidden_width": HIDDEN, "dropout": 0.0, "history_width": history_width}
    return TransitionClassifiers(
        WIDTH, n_actions=N_ACTIONS, n_labels=N_LABELS, exist_slots=exist, relation_slots=relation, **sizes
    )


def read(classifiers: TransitionClassifiers, slots: Tensor) -> Tensor:
    """The parts of states given by the vectors of their slots, [states, slots, width]."""
    parts = classifiers.project(slots)
    return parts[:, classifiers.slots, range(len(classifiers.slots))]


@pytest.mark.parametrize("history_width", [0, HISTORY])
@pytest.mark.parametrize(
    ("exist", "relation"), [((0, 1, 2), (0, 1)), ((0, 1), (0, 1)), ((0,), (0,))], ids=str
)
def test_classifiers_have_a_hidden_layer_over_the_concatenation_of_their_slots(
    exist: tuple[int, ...], relation: tuple[int, ...], history_width: int
):
    classifiers = classifiers_for(exist, relation, history_width)
    with torch.no_grad():
        for parameter in classifiers.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.5)
    slots, history = torch.randn(4, 3, WIDTH), torch.randn(4, HISTORY) if history_width else None
    found = classifiers(read(classifiers, slots), history)
    weights = classifiers.project_slots.weight.split(HIDDEN)
    parts = [(exist, weights[: len(exist)]), (relation, weights[len(exist) :])]
    layers = [classifiers.exist, classifiers.relation]
    for (i, state), (number, (places, of_places)) in product(enumerate(slots), enumerate(parts)):
        hidden = torch.cat(list(of_places), 1) @ torch.cat([state[place] for place in places])
        hidden = hidden + classifiers.hidden_bias[number]
        if classifiers.project_history is not None and history is not None:
            added = classifiers.project_history(history[i])
            hidden = hidden + added.split(HIDDEN)[number]
        expected = layers[number].weight @ hidden.clamp(min=0) + layers[number].bias
        torch.testing.assert_close(found[number][i].flatten(), expected, rtol=1e-5, atol=1e-5)


def test_before_training_empty_vectors_tell_nothing_and_composition_changes_nothing():
    classifiers = classifiers_for((0, 1), (0, 1))
    for slots in (torch.zeros(1, 2, WIDTH), torch.randn(1, 2, WIDTH)):
        for scores in classifiers(read(classifiers, slots)):
            assert scores.any() == slots.any()
    composition = Composition(WIDTH, N_LABELS, scale=0.02)
    heads, dependents = torch.randn(4, WIDTH), torch.randn(2, WIDTH)
    arcs = torch.tensor([-1, 0, -1, 1])
    assert torch.equal(composition(composition.parts(), heads, dependents, torch.tensor([1, 3]), arcs), heads)
    history = History(N_ACTIONS, N_LABELS, width=WIDTH, n_layers=2)
    assert history.labels is not None
    assert not history.labels.weight[0].any()


@torch.no_grad()
def test_many_compositions_keep_the_size_of_words():
    composition, words, n_steps = Composition(WIDTH, N_LABELS, scale=0.02), torch.randn(3, WIDTH), 50
    composition.linear.weight.fill_(9.0)
    none = torch.zeros(0, WIDTH), torch.zeros(0, dtype=torch.long), torch.full((3,), -1)
    composed = words
    for _ in range(n_steps):
        composed = composition(composition.parts(), composed, *none)
    moved = (composed - words).abs().max()
    assert 0.5 < moved <= n_steps * 0.02 + 1e-4
    learned_without = {name: value for name, value in composition.state_dict().items() if name != "scale"}
    with pytest.raises(RuntimeError, match="scale"):
        composition.load_state_dict(learned_without)


def test_added_labels_leave_the_others_and_begin_as_nothing_or_as_a_mean():
    classifiers = classifiers_for((0, 1), (0, 1))
    parts = read(classifiers, torch.randn(4, 2, WIDTH))
    actions, labels = classifiers(parts)
    classifiers.resize(N_LABELS + 2)
    more_actions, more_labels = classifiers(parts)
    assert torch.equal(more_actions, actions)
    torch.testing.assert_close(more_labels[:, :N_LABELS], labels)
    assert not more_labels[:, N_LABELS:].any()
    composition = Composition(WIDTH, N_LABELS, scale=0.02)
    history = History(N_ACTIONS, N_LABELS, width=WIDTH, n_layers=2)
    assert history.labels is not None
    tables = (lambda: composition.relations, 4), (lambda: history.labels, 2)
    before = [table().weight.detach().clone() for table, _ in tables]
    for brick in (composition, history):
        brick.resize(N_LABELS + 2)
    for (table, n_added), old in zip(tables, before, strict=True):
        after = table().weight
        assert len(after) == len(old) + n_added
        assert torch.equal(after[: len(old)], old)
        torch.testing.assert_close(after[len(old) :], old.mean(0).expand(n_added, -1))
    assert history.labels.padding_idx == 0
