import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_g2g.amr.formats.penman_text import format_penman, parse_penman
from spacy_g2g.amr.parsing.actions import ROOT_FORM, ActionKind, AmrAction, AmrSentence
from spacy_g2g.amr.parsing.aligner import Aligner
from spacy_g2g.amr.parsing.build import build_graph
from spacy_g2g.amr.parsing.graph import AmrGraph
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.oracle import amr_oracle_actions
from spacy_g2g.amr.parsing.table import AmrActions, Replay
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION

from .samples import ODD_WORDS, SAMPLES, execute, facts, graph_of, labels_of, sentence_of


def oracle(text: str) -> tuple[AmrSentence, list[AmrAction]]:
    sentence, graph = sentence_of(text), graph_of(SAMPLES[text])
    return sentence, amr_oracle_actions(graph, sentence, Aligner().align(graph, sentence))


def make_table(**settings) -> AmrActions:
    return AmrActions.learn(map(oracle, SAMPLES), **settings)


TABLES = {candidates: make_table(candidates=candidates) for candidates in ("word", "lemma", "vocab")}


def walk(sentence: AmrSentence, table: AmrActions, rng: random.Random, max_forks: int = 3) -> AmrState:
    """A random sequence of valid actions; kinds are equally likely."""
    state = AmrState(sentence, max_forks=max_forks)
    choices = table.word_choices(sentence)
    while not state.is_final:
        valid = np.flatnonzero(table.valid_actions(state, choices)).tolist()
        kind = rng.choice(sorted({table.actions[i].kind for i in valid}))
        state.apply(table.actions[rng.choice([i for i in valid if table.actions[i].kind == kind])])
    assert not table.valid_actions(state, choices).any()
    return state


def unpacked(table: AmrActions, replay: Replay) -> np.ndarray:
    return np.unpackbits(replay.valid, axis=1, count=len(table))


words = st.one_of(
    st.sampled_from([*ODD_WORDS, ""]),
    st.sampled_from(["boy", "Paris", "want", "6", "not"]),
    st.text(max_size=3),
)


@given(st.lists(words, max_size=6), st.sampled_from(sorted(TABLES)), st.integers(0, 2**32))
@example([], "vocab", 0)
@example([" "], "vocab", 0)
@example(["\n"], "lemma", 1)
def test_any_sequence_of_valid_actions_ends_in_a_connected_graph_that_is_read_back(forms, candidates, seed):
    sentence = AmrSentence.of(forms, forms)
    state = walk(sentence, TABLES[candidates], random.Random(seed))
    graph = build_graph(state)
    assert None not in graph.distances()
    again = AmrGraph.from_tree(parse_penman(format_penman(graph.to_tree())))
    assert facts(again) == facts(graph)


def test_ids_go_by_kind_and_each_action_has_one():
    table = TABLES["lemma"]
    assert [action.kind for action in table.actions] == sorted(action.kind for action in table.actions)
    assert [table.id(action) for action in table.actions] == list(range(len(table)))
    assert table.id(AmrAction(ActionKind.PRED, "unheard-of-01")) == NO_ACTION


@pytest.mark.parametrize(
    ("candidates", "form", "lemma", "expected"),
    [
        ("lemma", "taught", "teach", {"person"}),
        ("lemma", "teach", "teach", {"person"}),
        ("lemma", "dogs", "dog", set()),
        ("word", "taught", "teach", {"person"}),
        ("word", "teach", "teach", set()),
    ],
)
def test_pred_gives_the_labels_seen_with_the_word_or_lemma(candidates, form, lemma, expected):
    table = TABLES[candidates]
    (choices,) = table.word_choices(AmrSentence.of([form], [lemma]))
    labels = {table.actions[i].label for i in choices if table.actions[i].kind == ActionKind.PRED}
    assert labels == expected


def test_with_vocab_each_word_may_have_any_label():
    table = TABLES["vocab"]
    (choices,) = table.word_choices(AmrSentence.of(["dogs"], ["dog"]))
    assert {table.actions[i].label for i in choices} - {""} == set(labels_of(table, ActionKind.PRED))


def test_frequent_words_and_root_have_a_shift_of_their_own_which_is_the_only_valid_one():
    table = make_table(shift_labels=2)
    assert labels_of(table, ActionKind.SHIFT) == ["", "!", ROOT_FORM, "the"]
    sentence = AmrSentence.of(["the", "dog"], ["the", "dog"])
    state, choices = AmrState(sentence), table.word_choices(sentence)
    for label in ("the", "", ROOT_FORM):
        valid = table.valid_actions(state, choices)
        shifts = [a for a, ok in zip(table.actions, valid, strict=True) if ok and a.kind == ActionKind.SHIFT]
        assert shifts == [AmrAction(ActionKind.SHIFT, label)]
        state.apply(shifts[0])


@pytest.mark.parametrize("shift_labels", [0, 2])
def test_a_replay_gives_ids_that_are_valid_and_execute_to_the_same_graph(shift_labels: int):
    table = make_table(shift_labels=shift_labels)
    for text in SAMPLES:
        sentence, actions = oracle(text)
        replay = table.replay(sentence, actions)
        assert unpacked(table, replay)[np.arange(len(actions)), replay.ids].all()
        assert replay.stack.shape == replay.buffer.shape == (len(actions), len(sentence) + 1)
        again = execute(sentence, [table.actions[i] for i in replay.ids])
        assert facts(again) == facts(execute(sentence, actions))


def test_a_replay_of_a_label_that_is_not_there_has_no_action_and_of_one_not_seen_with_the_word_is_valid():
    table, sentence = TABLES["lemma"], AmrSentence.of(["dog"], ["dog"])
    shift, root = AmrAction(ActionKind.SHIFT), AmrAction(ActionKind.ROOT)
    unknown = table.replay(sentence, [shift, AmrAction(ActionKind.PRED, "unheard-of-01"), shift, root])
    assert unknown.ids[1] == NO_ACTION
    unseen = table.replay(sentence, [shift, AmrAction(ActionKind.PRED, "person"), shift, root])
    assert unpacked(table, unseen)[1, unseen.ids[1]]
