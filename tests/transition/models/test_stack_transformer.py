"""The stack-Transformer on the arc-standard system: as a loop over the states of one sentence."""

import random
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.types import Arcs, ParserModel, Sentence
from spacy_g2g.transition.models import action_network
from spacy_g2g.transition.models.stack_transformer import build_stack_transformer
from spacy_g2g.transition.parsing.action_table import ArcActions, state_positions
from spacy_g2g.transition.parsing.arc_standard import Action, apply
from spacy_g2g.transition.parsing.state import States

from ...models.checks import pretrained
from ...models.systems import GOLD, SENTENCES, make, network_of
from ...util import STACK_ROWS, TINY_STACK, start, tries
from ..reference import PlainState, plain_oracle
from .test_decoding import literal_scores

# Actions and states


def name_of(table: ArcActions, action: int) -> tuple[str, int]:
    return Action(int(table.types[action])).name, int(table.labels[action])


def test_actions_are_shifts_swap_and_an_arc_of_each_label_and_direction():
    table = ArcActions(3, swap=True, n_shifts=2)
    assert [name_of(table, action) for action in range(len(table))] == [
        ("SHIFT", -1),
        ("SHIFT", -1),
        ("SHIFT", -1),
        ("SWAP", -1),
        ("RIGHT_ARC", 0),
        ("LEFT_ARC", 1),
        ("RIGHT_ARC", 1),
        ("LEFT_ARC", 2),
        ("RIGHT_ARC", 2),
    ]
    shifts = np.where(table.types == Action.SHIFT, np.arange(len(table)), 0)
    assert table.encode(table.types, labels=table.labels, shifts=shifts).tolist() == list(range(len(table)))
    assert table.encode(np.array([-1]), labels=np.array([-1]), shifts=np.array([2])).tolist() == [-1]
    # Ids of what there was stay when a label is added.
    wider = ArcActions(4, swap=True, n_shifts=2)
    assert wider.types[: len(table)].tolist() == table.types.tolist()
    assert wider.labels[: len(table)].tolist() == table.labels.tolist()


@tries(30)
@given(st.integers(1, 6), st.integers(0, 1000), st.booleans())
def test_valid_actions_and_places_are_those_of_plain_states(n: int, seed: int, swap: bool):
    rng, table = random.Random(seed), ArcActions(3, swap=swap, n_shifts=2)
    shifts = np.array([[0, *(rng.randrange(3) for _ in range(n))]])
    states, plain = States.begin(np.array([n]), 7), PlainState(n)
    shifts = np.pad(shifts, ((0, 0), (0, 7 - n)))
    while not plain.is_final:
        stack, buffer = state_positions(states)
        for places, words in ((stack, plain.stack[::-1]), (buffer, plain.buffer)):
            assert places[0].tolist() == [words.index(w) if w in words else -1 for w in range(8)]
        found = set(np.flatnonzero(table.valid(states, shifts)[0]).tolist())
        expected = set()
        for action in Action:
            if plain.is_valid(action, swap):
                from_root = plain.stack[-2:][0] == 0
                labels = [-1] if action in (Action.SHIFT, Action.SWAP) else [0] if from_root else [1, 2]
                front = int(shifts[0, plain.buffer[0]]) if plain.buffer else 0
                ids = [
                    table.encode(np.array(int(action)), labels=np.array(label), shifts=front)
                    for label in labels
                ]
                expected |= {int(i) for i in ids}
        assert found == expected
        action = rng.choice([a for a in Action if plain.is_valid(a, swap)])
        plain.apply(action)
        apply(states, np.array([action]))
    assert not table.valid(states, shifts).any()


# Loss and decoding


def gold_actions(network: Any, sentence: Sentence, gold: Arcs) -> list[int]:
    state, actions = PlainState(len(sentence.words)), []
    for action in plain_oracle(gold.heads.tolist()):
        s2, s1 = [0, *state.stack][-2:]
        dependent = s2 if action == Action.LEFT_ARC else s1
        is_arc = action in (Action.LEFT_ARC, Action.RIGHT_ARC)
        label = int(gold.labels[dependent - 1]) if is_arc else -1
        front = sentence.words[state.buffer[0] - 1] if state.buffer else ""
        shift = network._shift_ids.get(front, 0)
        actions.append(
            int(network.actions.encode(np.array(int(action)), labels=np.array(label), shifts=shift))
        )
        state.apply(action)
    return actions


@torch.no_grad()
@pytest.mark.parametrize("row", STACK_ROWS)
def test_the_loss_is_that_of_the_oracles_actions_step_by_step(row: str):
    model, shim = make(row, seed=2, label_smoothing=0.2, n_layers=2)
    network = network_of(shim)
    expected = 0.0
    for sentence, tree in zip(SENTENCES, GOLD, strict=True):
        actions = gold_actions(network, sentence, tree)
        scores = literal_scores(network, shim.wordpieces.batch([sentence]), actions)
        for action, row_ in zip(actions, scores, strict=False):
            valid = row_[row_ > -torch.inf]
            expected -= 0.8 * float(row_[action]) + 0.2 * float(valid.mean())
    found, _ = model.begin_update((SENTENCES, GOLD))
    assert found == pytest.approx(expected, rel=1e-4)


# Labeled SHIFT


def test_shift_names_the_most_frequent_words_and_them_alone():
    _, shim = make("Stack-b", shift_labels=2)
    assert shim.spec is not None
    assert shim.spec.learned["frequent_words"] in ([".", "the"], ["the", "."])
    network = network_of(shim)
    batch = shim.wordpieces.batch([Sentence(["the", "The", "dog", "."]), Sentence(["the"])])
    the, stop = (shim.spec.learned["frequent_words"].index(word) + 1 for word in ("the", "."))
    assert network.shifts(batch).tolist() == [[0, the, 0, 0, stop], [0, the, 0, 0, 0]]
    assert network.shifts(batch.take(np.array([1]))).tolist() == [[0, the]]
    copied = get_shim(
        make("Stack-b", shift_labels=2)[0].from_bytes(make("Stack-b", shift_labels=2)[0].to_bytes())
    )
    assert copied.spec is not None
    assert copied.spec.learned["frequent_words"] == shim.spec.learned["frequent_words"]


# The encoder


def from_checkpoint(**settings: Any) -> tuple[ParserModel, G2GShim]:
    torch.manual_seed(0)
    model = build_stack_transformer(**{**TINY_STACK, **settings})
    return model, start(model, SENTENCES, partial(pretrained, n_positions=20))


@pytest.fixture
def n_encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each call of an encoder's layers."""
    rows: list[int] = []
    encode = GraphEncoder.encode
    monkeypatch.setattr(GraphEncoder, "encode", lambda s, x, *a: (rows.append(len(x)), encode(s, x, *a))[1])
    return rows


def test_a_frozen_encoder_reads_each_training_sentence_once_and_does_not_change(n_encoded: list[int]):
    from thinc.api import Adam

    model, shim = from_checkpoint()
    before = {name: weight.clone() for name, weight in shim.network.state_dict().items()}
    losses = []
    for number, numbers in enumerate(([0, 1, 2], [2, 3, 1], [0, 3])):
        inputs = [SENTENCES[i] for i in numbers], [GOLD[i] for i in numbers]
        model.attrs["dropout_rate"] = 0.5
        loss, backprop = model.begin_update(inputs)
        backprop(None)
        losses.append(loss)
        assert sum(n_encoded) == (3, 4, 4)[number]
        shim.finish_update(Adam(0.01))
    changed = {
        name for name, weight in shim.network.state_dict().items() if not torch.equal(weight, before[name])
    }
    assert not any(name.startswith("encoder.") for name in changed)
    assert {"root", "parser.input.weight", "parser.output.weight"} <= changed
    # Predictions keep nothing.
    model.predict([SENTENCES[5]])
    model.predict([SENTENCES[5]])
    assert sum(n_encoded) == 6


def test_kept_vectors_are_those_of_the_encoder(monkeypatch: pytest.MonkeyPatch):
    sentences = [*SENTENCES[:3], Sentence([f"w{i}" for i in range(30)]), Sentence(["the cat sat"] * 9)]
    _, shim = from_checkpoint()
    batch, network = shim.wordpieces.batch(sentences), network_of(shim)
    fresh = network.word_vectors(batch)
    network.train()
    for _ in range(2):
        kept = network.word_vectors(batch)
        for i, n in enumerate(batch.n_words.tolist()):
            torch.testing.assert_close(kept[i, : n + 1], fresh[i, : n + 1], rtol=1e-4, atol=1e-4)
    # No more than there is room for.
    monkeypatch.setattr(action_network, "MAX_CACHED_WORDS", 6)
    _, shim = from_checkpoint()
    network = network_of(shim)
    network.train()
    torch.testing.assert_close(network.word_vectors(batch)[0, :6], fresh[0, :6], rtol=1e-4, atol=1e-4)
    assert len(network._cache) == 1


@torch.no_grad()
def test_a_word_is_the_mean_of_its_pieces_in_a_sentence_without_root():
    _, shim = from_checkpoint()
    network = network_of(shim)
    words = ["she", "the cat", "saw"]
    batch = shim.wordpieces.batch([Sentence(words), Sentence(["x"])])
    pieces = [shim.wordpieces.split([Sentence(words)])[0][i] for i in range(3)]
    assert len(pieces[1]) > 1
    ids = [shim.wordpieces.cls_id, *(i for word in pieces for i in word), shim.wordpieces.sep_id]
    encoded = network.encoder(torch.tensor([ids]), None)[0]
    means, place = [], 1
    for word in pieces:
        means.append(encoded[place : place + len(word)].mean(0))
        place += len(word)
    found = network.word_vectors(batch)[0]
    torch.testing.assert_close(found[1:], torch.stack(means), rtol=1e-4, atol=1e-5)
    assert torch.equal(found[0], network.root)


def test_an_encoder_can_be_trained_and_one_from_scratch_is():
    for model, shim in (from_checkpoint(train_encoder=True), make("Stack-c")):
        _, backprop = model.begin_update((SENTENCES[:3], GOLD[:3]))
        backprop(None)
        weight = shim.network.encoder.layers[0].attention.qkv.weight
        assert weight.grad is not None
        assert weight.grad.abs().sum() > 0


# Decoding


def test_actions_of_the_oracle_are_valid():
    _, shim = make("Stack-b")
    network = network_of(shim)
    batch = shim.wordpieces.batch(SENTENCES)
    sequences = network.sequences(batch, GOLD)
    taken = sequences.actions[sequences.actions >= 0]
    assert sequences.valid[np.arange(len(taken)), taken].all()
    assert [gold_actions(network, s, t) for s, t in zip(SENTENCES, GOLD, strict=True)] == [
        [action for action in row if action >= 0] for row in sequences.actions.tolist()
    ]


def test_finished_sentences_are_computed_no_further(monkeypatch: pytest.MonkeyPatch):
    model, shim = make("Stack-c")
    decoder = network_of(shim).parser.decoder
    computed: list[int] = []
    step = decoder.step
    monkeypatch.setattr(decoder, "step", lambda p, c, s: (computed.append(len(p)), step(p, c, s))[1])
    model.predict([Sentence(["a"] * n) for n in (1, 1, 1, 1, 1, 1, 8)])
    assert (computed[0], computed[-1]) == (7, 1)


@torch.no_grad()
def test_arcs_of_an_added_label_begin_as_the_mean_of_those_in_their_direction():
    _, shim = make("Stack-c")
    parser = network_of(shim).parser
    table, before = network_of(shim).actions, parser.output.weight.clone()
    shim.resize_labels(7)
    after = parser.output.weight
    assert torch.equal(after[: len(before)], before)
    for i, type_ in enumerate((Action.LEFT_ARC, Action.RIGHT_ARC)):
        known = (table.types == type_) & (table.labels > 0)
        torch.testing.assert_close(after[len(before) + i], before[torch.from_numpy(known)].mean(0))
