"""Exist and Relation equal a network with one hidden layer over the concatenation of their slots."""

import pytest
import torch
from torch import Tensor

from spacy_g2g.transition.layers.classifiers import TransitionClassifiers

WIDTH, N_ACTIONS, N_LABELS, HIDDEN, HISTORY = 6, 4, 5, 7, 3
SLOTS = [((0, 1, 2), (0, 1)), ((0, 1), (0, 1)), ((0,), (0,))]


def make(
    exist: tuple[int, ...] = (0, 1, 2),
    relation: tuple[int, ...] = (0, 1),
    history: int = 0,
    dropout: float = 0.0,
) -> TransitionClassifiers:
    torch.manual_seed(0)
    classifiers = TransitionClassifiers(
        WIDTH,
        N_ACTIONS,
        N_LABELS,
        exist_slots=exist,
        relation_slots=relation,
        hidden_width=HIDDEN,
        dropout=dropout,
        history_width=history,
    )
    with torch.no_grad():
        for parameter in classifiers.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.5)
    return classifiers.eval()


def read(classifiers: TransitionClassifiers, slots: Tensor) -> Tensor:
    """The parts of states given by the vectors of their slots, [states, slots, width]."""
    parts = classifiers.project(slots)
    return parts[:, classifiers.slots, range(len(classifiers.slots))]


def literal(classifiers: TransitionClassifiers, slots: Tensor, history: Tensor | None, of: str) -> Tensor:
    """Scores of one state by its concatenated slots, [slots, width]."""
    places = (
        classifiers.slots[: classifiers.n_exist]
        if of == "exist"
        else classifiers.slots[classifiers.n_exist :]
    )
    first = 0 if of == "exist" else classifiers.n_exist
    weights = classifiers.project_slots.weight.split(HIDDEN)[first : first + len(places)]
    number = 0 if of == "exist" else 1
    hidden = torch.cat(list(weights), 1) @ torch.cat([slots[i] for i in places])
    hidden = hidden + classifiers.hidden_bias[number]
    if classifiers.project_history is not None:
        assert history is not None
        weight = classifiers.project_history.weight.split(HIDDEN)[number]
        hidden = hidden + weight @ history + classifiers.project_history.bias.split(HIDDEN)[number]
    layer = classifiers.exist if of == "exist" else classifiers.relation
    return layer.weight @ hidden.clamp(min=0) + layer.bias


@pytest.mark.parametrize(("exist", "relation"), SLOTS)
@pytest.mark.parametrize("history_width", [0, HISTORY])
def test_scores_are_those_of_a_hidden_layer_over_all_slots(
    exist: tuple[int, ...], relation: tuple[int, ...], history_width: int
):
    classifiers = make(exist, relation, history_width)
    slots = torch.randn(4, 3, WIDTH)
    history = torch.randn(4, HISTORY) if history_width else None
    actions, labels = classifiers(read(classifiers, slots), history)
    assert (actions.shape, labels.shape) == ((4, N_ACTIONS), (4, N_LABELS, 2))
    for i in range(4):
        of_state = None if history is None else history[i]
        torch.testing.assert_close(
            actions[i], literal(classifiers, slots[i], of_state, "exist"), rtol=1e-5, atol=1e-5
        )
        expected = literal(classifiers, slots[i], of_state, "relation")
        torch.testing.assert_close(labels[i].flatten(), expected, rtol=1e-5, atol=1e-5)


def test_the_hidden_layer_is_dropped_in_training_alone():
    classifiers = make(dropout=0.5)
    parts = read(classifiers, torch.randn(8, 3, WIDTH))
    assert torch.equal(classifiers(parts)[0], classifiers(parts)[0])
    classifiers.train()
    assert not torch.equal(classifiers(parts)[0], classifiers(parts)[0])


def test_before_training_empty_vectors_tell_nothing():
    torch.manual_seed(0)
    classifiers = TransitionClassifiers(
        WIDTH,
        N_ACTIONS,
        N_LABELS,
        exist_slots=(0, 1),
        relation_slots=(0, 1),
        hidden_width=HIDDEN,
        dropout=0.0,
    )
    for slots in (torch.zeros(1, 2, WIDTH), torch.randn(1, 2, WIDTH)):
        actions, labels = classifiers(read(classifiers, slots))
        assert actions.any() == slots.any()
        assert labels.any() == slots.any()


def test_added_labels_score_zero_and_leave_the_other_scores():
    classifiers = make()
    parts = read(classifiers, torch.randn(4, 3, WIDTH))
    actions, labels = classifiers(parts)
    classifiers.resize(N_LABELS + 2)
    more_actions, more_labels = classifiers(parts)
    assert torch.equal(more_actions, actions)
    torch.testing.assert_close(more_labels[:, :N_LABELS], labels)
    assert more_labels.shape == (4, N_LABELS + 2, 2)
    assert not more_labels[:, N_LABELS:].any()
