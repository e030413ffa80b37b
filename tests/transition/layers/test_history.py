"""The history is that of an LSTM written out, however many actions are read at once."""

import pytest
import torch
from torch import Tensor

from spacy_g2g.transition.layers.history import History

N_ACTIONS, N_LABELS, WIDTH, N_LAYERS = 4, 3, 5, 2


def make(n_labels: int = N_LABELS) -> History:
    torch.manual_seed(0)
    history = History(N_ACTIONS, n_labels, width=WIDTH, n_layers=N_LAYERS)
    with torch.no_grad():
        for parameter in history.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.5)
        if history.labels is not None:
            history.labels.weight[0].zero_()  # as it stays in training
    return history


def literal_lstm(history: History, inputs: list[Tensor]) -> list[Tensor]:
    """The output after each input, gate by gate (Hochreiter & Schmidhuber 1997)."""
    for layer in range(N_LAYERS):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        w_in, w_hidden, b_in, b_hidden = (getattr(history.lstm, f"{name}_l{layer}") for name in names)
        hidden, cell, outputs = torch.zeros(WIDTH), torch.zeros(WIDTH), []
        for x in inputs:
            i, f, g, o = (w_in @ x + b_in + w_hidden @ hidden + b_hidden).split(WIDTH)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
            outputs.append(hidden)
        inputs = outputs
    return inputs


@pytest.mark.parametrize("with_labels", [True, False])
def test_outputs_are_those_of_an_lstm_over_actions_and_their_labels(with_labels: bool):
    history = make(N_LABELS if with_labels else 0)
    actions, labels = [0, 0, 1, 2, 3], [-1, -1, 2, 0, -1]
    inputs = [history.actions.weight[action] for action in actions]
    if history.labels is not None:
        inputs = [
            x if label < 0 else x + history.labels.weight[label + 1]
            for x, label in zip(inputs, labels, strict=True)
        ]
    found, _ = history(torch.tensor([actions]), torch.tensor([labels]), history.begin(1))
    torch.testing.assert_close(found[0], torch.stack(literal_lstm(history, inputs)), rtol=1e-5, atol=1e-5)


def test_actions_read_one_by_one_give_what_they_give_at_once():
    history = make()
    actions, labels = torch.randint(N_ACTIONS, (3, 6)), torch.randint(-1, N_LABELS, (3, 6))
    at_once, (hidden, _) = history(actions, labels, history.begin(3))
    state = history.begin(3)
    for i in range(6):
        found, state = history(actions[:, i : i + 1], labels[:, i : i + 1], state)
        torch.testing.assert_close(found[:, 0], at_once[:, i])
    torch.testing.assert_close(state[0], hidden)
    torch.testing.assert_close(hidden[-1], at_once[:, -1])


def test_a_history_of_actions_does_not_see_labels():
    history = make(0)
    actions = torch.tensor([[1, 2]])
    outputs = [history(actions, torch.tensor([labels]), history.begin(1))[0] for labels in ([0, 1], [-1, 2])]
    assert torch.equal(*outputs)


def test_before_training_no_label_has_no_vector():
    history = History(N_ACTIONS, N_LABELS, width=WIDTH, n_layers=N_LAYERS)
    assert history.labels is not None
    assert not history.labels.weight[0].any()


def test_added_labels_leave_what_the_others_give():
    history = make()
    actions, labels = torch.tensor([[0, 1, 2]]), torch.tensor([[-1, 2, 0]])
    before, _ = history(actions, labels, history.begin(1))
    history.resize(N_LABELS + 2)
    after, _ = history(actions, labels, history.begin(1))
    torch.testing.assert_close(after, before)
    history(actions, labels + 2, history.begin(1))
    assert history.labels is not None
    assert history.labels.padding_idx == 0


def test_a_history_of_actions_has_nothing_to_add_labels_to():
    history = make(0)
    history.resize(N_LABELS + 2)
    assert history.labels is None
