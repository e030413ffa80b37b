import pytest

from spacy_g2g.amr.formats.penman_text import format_penman
from spacy_g2g.amr.parsing import machine
from spacy_g2g.amr.parsing.actions import ActionKind, AmrAction, AmrSentence, copied_label, is_constant_label
from spacy_g2g.amr.parsing.build import REPAIR_ROLE, build_graph
from spacy_g2g.amr.parsing.graph import Edge
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.table import AmrActions

from .samples import facts, graph_of

SHIFT, REDUCE, SWAP, FORK, ROOT, CLOSE = (AmrAction(kind) for kind in list(ActionKind)[:6])
LEMMA = AmrAction(ActionKind.COPY_LEMMA)


def make_state(words: str, actions: list[AmrAction] | None = None, **settings: int) -> AmrState:
    forms = words.split()
    state = AmrState(AmrSentence.of(forms, [form.lower() for form in forms]), **settings)
    for action in actions or []:
        state.apply(action)
    return state


def la(role: str) -> AmrAction:
    return AmrAction(ActionKind.LA, role)


def ra(role: str) -> AmrAction:
    return AmrAction(ActionKind.RA, role)


def test_actions_build_the_graph_that_they_spell_out():
    want, polarity = AmrAction(ActionKind.PRED, "want-01"), AmrAction(ActionKind.DEPENDENT, "polarity", "-")
    sleep = AmrAction(ActionKind.COPY_SENSE01)
    first = [SHIFT, LEMMA, SHIFT, want, la("ARG0"), polarity, SHIFT, sleep, ra("ARG1")]
    state = make_state("boy wants sleep", [*first, SWAP, la("ARG0"), REDUCE, REDUCE, SHIFT, SHIFT, ROOT])
    graph = build_graph(state)
    expected = "(w / want-01 :polarity - :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))"
    assert facts(graph) == facts(graph_of(expected))
    assert state.is_final


def test_fork_gives_a_word_one_more_item():
    quote, name = AmrAction(ActionKind.COPY_QUOTE), AmrAction(ActionKind.PRED, "name")
    state = make_state("Paris", [SHIFT, quote, FORK, name, la("op1")])
    assert state.stack == [0, 2]
    assert state.words == [0, 1, 0]
    assert state.labels == ['"Paris"', None, "name"]
    assert list(state.edges) == [Edge(2, "op1", 0)]


@pytest.mark.parametrize(
    ("done", "action"),
    [
        ([], REDUCE),
        ([], SWAP),
        ([], LEMMA),
        ([], ROOT),
        ([], CLOSE),
        ([], AmrAction(ActionKind.SHIFT, "b")),
        ([SHIFT], FORK),
        ([SHIFT], AmrAction(ActionKind.DEPENDENT, "polarity", "-")),
        ([SHIFT], ROOT),
        ([SHIFT, LEMMA], LEMMA),
        ([SHIFT, LEMMA], AmrAction(ActionKind.PRED, "x")),
        ([SHIFT, LEMMA, SHIFT], la("ARG0")),
        ([SHIFT, SHIFT, LEMMA], la("ARG0")),
        ([SHIFT, LEMMA, SHIFT, LEMMA, la("ARG0")], la("ARG0")),
        ([SHIFT, SHIFT, SWAP, SHIFT, SWAP, SHIFT], SWAP),
        ([SHIFT, LEMMA, FORK, LEMMA, FORK, LEMMA], FORK),
        ([SHIFT, LEMMA, *[AmrAction(ActionKind.DEPENDENT, "polarity", "-")]], AmrAction(ActionKind.DEPENDENT,
        "polarity", "-")), ([SHIFT, SHIFT, SHIFT], SHIFT),
        ([SHIFT, SHIFT, SHIFT], REDUCE),
        ([SHIFT, SHIFT, SHIFT], ROOT),
        ([SHIFT, LEMMA, SHIFT, SHIFT], CLOSE),
        ([SHIFT, LEMMA, SHIFT, SHIFT, SWAP, ROOT], CLOSE),
    ],
)  # fmt: skip
def test_an_action_without_its_precondition_is_not_valid(done: list[AmrAction], action: AmrAction):
    table = AmrActions([*done, action], candidates="vocab")
    state = make_state("a b", done, max_forks=2)
    valid = table.valid_actions(state, table.word_choices(state.sentence))
    assert not valid[table.id(action)]


def test_both_orders_of_a_pair_can_be_swapped():
    state = make_state("a b", [SHIFT, SHIFT, SWAP, SHIFT, SWAP])
    assert state.stack == [0]
    assert state.buffer == [2, 1]


def test_positions_are_those_of_the_first_example_of_the_paper():
    steps = [SHIFT, SHIFT, REDUCE, SHIFT]
    found = []
    state = make_state("a b c")
    for action in steps:
        state.apply(action)
        found.append([array.tolist() for array in state.positions()])
    # ROOT comes first; -1 is for a word that is not there.
    assert found == [
        [[-1, 0, -1, -1], [2, -1, 0, 1]],
        [[-1, 1, 0, -1], [1, -1, -1, 0]],
        [[-1, 0, -1, -1], [1, -1, -1, 0]],
        [[-1, 1, -1, 0], [0, -1, -1, -1]],
    ]


def test_a_word_is_on_the_stack_if_one_of_its_items_is():
    state = make_state("a", [SHIFT, LEMMA, FORK, LEMMA, SWAP])
    stack, buffer = state.positions()
    assert stack.tolist() == [-1, 0]
    assert buffer.tolist() == [1, -1]


def test_a_copy_goes_its_own_way():
    state = make_state("a b", [SHIFT, LEMMA])
    other = state.copy()
    for action in (SHIFT, LEMMA, la("ARG0"), AmrAction(ActionKind.DEPENDENT, "mode", "x"), FORK, LEMMA, SWAP):
        other.apply(action)
    assert state.stack == [0]
    assert not state.edges
    assert not state.constants
    assert state.labels == ["a", None, None]
    state.apply(SHIFT)
    state.apply(SWAP)
    assert state.n_actions == 4


def test_a_state_is_final_after_the_most_actions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine, "MAX_ACTIONS_PER_WORD", 2)
    state = make_state("a", [SHIFT, LEMMA, FORK, LEMMA])
    assert state.is_final
    assert format_penman(build_graph(state).to_tree()) == "(a / a)"


def test_without_a_top_the_parentless_node_with_most_children_is_it():
    first = [SHIFT, LEMMA, SHIFT, LEMMA, ra("ARG0"), REDUCE, SHIFT, LEMMA, ra("ARG1"), REDUCE, REDUCE]
    state = make_state("a b c d", [*first, SHIFT, LEMMA, REDUCE, SHIFT, CLOSE])
    graph = build_graph(state)
    assert facts(graph) == facts(graph_of("(a / a :ARG0 (b / b) :ARG1 (c / c))"))


def test_a_part_that_the_top_does_not_reach_is_attached_at_its_own_top():
    first = [SHIFT, LEMMA, SHIFT, LEMMA, la("ARG0"), SWAP, REDUCE, SHIFT]
    second = [REDUCE, SHIFT, LEMMA, SHIFT, LEMMA, la("ARG1"), SHIFT, ROOT]
    graph = build_graph(make_state("a b c d", first + second))
    assert facts(graph) == facts(graph_of("(d / d :ARG1 (c / c) :mod (b / b :ARG0 (a / a)))"))


def test_a_sentence_without_nodes_is_the_empty_amr():
    for words in ("", "a"):
        state = make_state(words, [SHIFT] * (len(words) + 1) + [CLOSE])
        graph = build_graph(state)
        assert format_penman(graph.to_tree()) == "(a / amr-empty)"


def test_a_chain_as_long_as_a_long_sentence_can_be_read_back():
    n = 600
    actions = [SHIFT, LEMMA]
    for _ in range(n - 1):
        actions += [SHIFT, LEMMA, ra("ARG0")]
    graph = build_graph(make_state("a " * n, actions))
    assert sum(edge.role == REPAIR_ROLE for edge in graph.edges) == 2
    assert len(graph_of(format_penman(graph.to_tree())).labels) == n


@pytest.mark.parametrize(
    ("form", "labels"),
    [
        ("Boys", ["boy", "boys", "boy-01", '"Boys"']),
        (":", [None, None, None, '":"']),
        ("(", [None, None, None, '"("']),
        ("#1", [None, None, None, '"#1"']),
        ('"', [None, None, None, '"\'"']),
        ("\\", [None, None, None, None]),
        ("a b\n", ["boy", None, "boy-01", '"a_b"']),
        (" \n", [None, None, None, None]),
        ("~", [None, None, None, '"~"']),
    ],
)
def test_copies_are_labels_that_penman_can_have(form: str, labels: list[str | None]):
    lemma = "boy" if form[0].isalpha() else form
    kinds = (ActionKind.COPY_LEMMA, ActionKind.COPY_LOWER, ActionKind.COPY_SENSE01, ActionKind.COPY_QUOTE)
    assert [copied_label(kind, form, lemma=lemma) for kind in kinds] == labels


def test_strings_numbers_signs_and_modes_are_constants_and_concepts_are_not():
    constants = ['"Paris"', "-", "+", "6", "-1", "1,000.5", "imperative", "expressive"]
    concepts = ["boy", "have-03", "7up", "imperative-01", "--"]
    assert list(filter(is_constant_label, [*constants, *concepts])) == constants
