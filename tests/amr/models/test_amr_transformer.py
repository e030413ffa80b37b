"""The stack-Transformer on the AMR machine: as a loop over the states of one sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from spacy.vocab import Vocab

from spacy_g2g.amr.formats.penman_text import format_penman
from spacy_g2g.amr.models.amr_transformer import (
    AmrMachines,
    AmrTransformer,
    build_amr_transformer,
)
from spacy_g2g.amr.models.types import AmrInput, AmrParse, AmrStart
from spacy_g2g.amr.parsing.actions import ActionKind, AmrAction, AmrSentence
from spacy_g2g.amr.parsing.build import build_graph
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.table import Replay
from spacy_g2g.amr.pipeline.amr_parser import AmrParser, AmrParserSettings
from spacy_g2g.amr.pipeline.scheme import AmrScheme, AmrSettings
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.types import ParserModel
from spacy_g2g.transition.layers.state_attention import Positions

from ...util import TINY_STACK, randomize, tiny_encoder
from ..parsing.samples import graph_of
from ..util import AMRS, STATE_HEADS

PAIRS = [(graph_of(amr), AmrSentence.of(text.split())) for text, amr in AMRS.items()]
SCHEME = AmrScheme.learn(PAIRS, AmrSettings(shift_labels=3))


def sentence_of(text: str) -> AmrInput:
    read = AmrSentence.of(text.split())
    return AmrInput(read.forms, amr=read)


def replay_of(text: str, amr: str) -> Replay:
    return SCHEME.replay(graph_of(amr), AmrSentence.of(text.split()))


SENTENCES = [sentence_of(text) for text in AMRS]
GOLD = [replay_of(text, amr) for text, amr in AMRS.items()]
#: No PRED has this label.
UNSEEN = "(w / wish-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))"
WANTS = "The boy wants to sleep"


def make(
    variant: str = "c", seed: int = 0, scale: float = 0.1, **settings: Any
) -> tuple[ParserModel, G2GShim]:
    """An initialized model with random weights, and its shim."""
    torch.manual_seed(seed)
    encoder = tiny_encoder(min_frequency=1, n_positions=settings.pop("n_positions", 40))
    settings = {"state_heads": STATE_HEADS[variant], "state_positions": variant == "d", **settings}
    model = build_amr_transformer(**{**TINY_STACK, **settings})
    model.initialize(X=SENTENCES, Y=AmrStart(table=SCHEME.table, encoder=encoder))
    randomize(model, seed + 1, scale)
    return model, get_shim(model)


def network_of(shim: G2GShim) -> AmrTransformer:
    network = shim.network
    assert isinstance(network, AmrTransformer)
    return network.eval()


def assert_same_parse(found: AmrParse, expected: AmrParse) -> None:
    assert format_penman(found.graph.to_tree()) == format_penman(expected.graph.to_tree())
    assert (found.n_words, found.coverage) == (expected.n_words, expected.coverage)
    assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-3)


# States


def plain_places(state: AmrState) -> tuple[list[int], list[int]]:
    """Positions of ROOT and the words; a word of several items is on the stack if one is, else nearest."""
    n = len(state.sentence)
    stack, buffer = [-1] * (n + 1), [-1] * (n + 1)
    for column in range(n + 1):
        word = n if column == 0 else column - 1
        for items, places in ((state.stack, stack), (state.buffer, buffer)):
            depths = [d for d, item in enumerate(reversed(items)) if state.words[item] == word]
            if depths and max(stack[column], buffer[column]) < 0:
                places[column] = depths[0]
    return stack, buffer


def test_states_that_are_taken_twice_go_their_own_ways():
    sentence, table = AmrSentence.of(["a", "b"]), SCHEME.table
    machines = AmrMachines(table, [table.begin(sentence)], [table.word_choices(sentence)], 3)
    shift, reduce = (table.id(AmrAction(kind)) for kind in (ActionKind.SHIFT, ActionKind.REDUCE))
    machines.apply(np.array([shift]), np.zeros(1))
    two = machines.take(np.array([0, 0]))
    two.apply(np.array([-1, reduce]), np.zeros(2))
    assert [state.stack for state in two.states] == [[0], []]
    assert [valid.tolist()[reduce] for valid in two.valid(np.arange(2))] == [True, False]
    assert two.positions(np.arange(2))[0].tolist() == [[-1, 0, -1], [-1, -1, -1]]


# Loss


@torch.no_grad()
def step_by_step(
    shim: G2GShim, sentence: AmrInput, actions: Sequence[AmrAction] | None = None
) -> tuple[torch.Tensor, list[int], AmrState]:
    """Log-probabilities in the states that actions lead through, or else the best ones; those; the end."""
    network = network_of(shim)
    memory, mask = network.read(shim.wordpieces.batch([sentence]))
    cache, table = network.parser.decoder.begin(memory, mask), network.table
    read = sentence.amr
    state, choices = table.begin(read), table.word_choices(read)
    rows, ids, previous = [], list[int](), -1
    while not state.is_final:
        places = Positions(*(torch.tensor(part)[None, None] for part in plain_places(state)))
        hidden = network.parser.decoder.step(torch.tensor([[previous]]), cache, places)
        valid = torch.from_numpy(table.valid_actions(state, choices))
        if actions is not None:
            action = actions[len(ids)]
            is_shift = action.kind == ActionKind.SHIFT
            previous = table.shift_id(state.front_form or "") if is_shift else table.id(action)
            valid[previous] |= previous >= 0
        rows.append(network.parser.output(hidden[0, 0]).masked_fill(~valid, -torch.inf).log_softmax(-1))
        assert not rows[-1].isnan().any()
        if actions is None:
            previous = int(rows[-1].argmax())
            action = table.actions[previous]
        ids.append(previous)
        state.apply(action)
    return torch.stack(rows), ids, state


def loss_by_hand(shim: G2GShim, sentence: AmrInput, amr: str, share: float = 0.0) -> float:
    actions = SCHEME.amr_oracle_actions(graph_of(amr), sentence.amr)
    rows, ids, _ = step_by_step(shim, sentence, actions)
    loss = 0.0
    for row, action in zip(rows, ids, strict=True):
        if action >= 0:
            loss -= (1 - share) * float(row[action]) + share * float(row[row > -torch.inf].mean())
    return loss


@pytest.mark.parametrize("variant", STATE_HEADS)
def test_the_loss_is_that_of_the_oracles_actions_step_by_step(variant: str):
    model, shim = make(variant, seed=2, label_smoothing=0.2, n_layers=2)
    expected = sum(loss_by_hand(shim, s, a, 0.2) for s, a in zip(SENTENCES, AMRS.values(), strict=True))
    found, backprop = model.begin_update((SENTENCES, GOLD))
    assert found == pytest.approx(expected, rel=1e-5)
    backprop(None)
    for name, weight in shim.network.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name


def test_actions_that_there_are_not_have_no_loss_and_others_have_theirs():
    model, shim = make(seed=3, label_smoothing=0.1)
    gold = replay_of(WANTS, UNSEEN)
    assert 0 < gold.ids.tolist().index(-1) < len(gold.ids) - 1
    assert (gold.ids == -1).sum() == 1
    expected = loss_by_hand(shim, sentence_of(WANTS), UNSEEN, 0.1)
    alone, backprop = model.begin_update(([sentence_of(WANTS)], [gold]))
    assert alone == pytest.approx(expected, rel=1e-5)
    backprop(None)
    assert shim.n_targets == len(gold.ids) - 1
    assert all(torch.isfinite(w.grad).all() for w in shim.network.parameters() if w.grad is not None)
    others, _ = model.begin_update((SENTENCES, GOLD))
    together, _ = model.begin_update(([*SENTENCES, sentence_of(WANTS)], [*GOLD, gold]))
    assert together == pytest.approx(alone + others, rel=1e-5)


def test_sentences_without_actions_can_not_be_learned():
    parser = AmrParser(Vocab(), "amr_parser", AmrParserSettings(model=make()[0]))
    none = SCHEME.table.replay(AmrSentence.of(["boy"]), [])
    unknown = GOLD[0]._replace(ids=np.full_like(GOLD[0].ids, -1))
    assert parser._can_learn([GOLD[0], none, unknown, replay_of(WANTS, UNSEEN)]).tolist() == [1, 0, 0, 1]
    assert parser._can_learn([]).tolist() == []


@pytest.mark.parametrize("variant", ["a", "d"])
def test_bfloat16_gives_numbers(variant: str):
    model, shim = make(variant)
    network = network_of(shim)
    expected, _ = model.begin_update((SENTENCES, GOLD))
    batch = shim.wordpieces.batch(SENTENCES)
    with torch.autocast("cpu", torch.bfloat16):
        loss = network.train().loss(batch, GOLD)
        with torch.inference_mode():
            parses = network.eval().parse(shim.wordpieces.batch(SENTENCES[-2:]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(expected, rel=0.05)
    for weight in network.parameters():
        assert weight.grad is not None
        assert torch.isfinite(weight.grad).all()
    assert all(np.isfinite(parse.log_prob) for parse in parses)


# Decoding


@pytest.mark.parametrize("variant", STATE_HEADS)
def test_greedy_decoding_takes_the_best_action_of_each_state(variant: str):
    model, shim = make(variant, seed=4)
    for sentence, parse in zip(SENTENCES[:3], model.predict(SENTENCES[:3]), strict=True):
        rows, ids, state = step_by_step(shim, sentence)
        graph = build_graph(state)
        total = float(rows[range(len(ids)), ids].sum())
        assert_same_parse(parse, AmrParse(graph=graph, log_prob=total, n_words=len(sentence.words)))


@pytest.mark.parametrize(("variant", "beam_width"), [("d", 1), ("h", 3)])
def test_a_parse_depends_on_nothing_else_in_its_batch(
    variant: str, beam_width: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("spacy_g2g.transition.models.action_decoder.MAX_HYPOTHESES", {"cpu": 9})
    model, _ = make(variant, seed=3, beam_width=beam_width, n_positions=8)
    texts = ["Yes", "the boys", "boy girl boy girl boy girl", "girl", "sleepwants sleepwants", "Yes the boy"]
    sentences = list(map(sentence_of, texts))
    alone = [model.predict([sentence])[0] for sentence in sentences]
    assert [parse.coverage for parse in alone[2:5]] == ["windows", "whole", "truncated"]
    order = [4, 1, 0, 5, 2, 3, 0]
    for i, parse in zip(order, model.predict([sentences[i] for i in order]), strict=True):
        assert_same_parse(parse, alone[i])
        assert None not in parse.graph.distances()
        assert parse.n_words == len(sentences[i].words)
    assert model.predict([]) == []


def test_sentences_in_windows_are_learned():
    text = f"{WANTS} " * 12
    model, shim = make(n_positions=20)
    sentence = sentence_of(text)
    assert shim.wordpieces.batch([sentence]).coverages == ["windows"]
    loss, backprop = model.begin_update(([sentence], [replay_of(text, AMRS[WANTS])]))
    backprop(None)
    assert np.isfinite(loss)
    assert torch.isfinite(shim.network.encoder.layers[0].attention.qkv.weight.grad).all()
