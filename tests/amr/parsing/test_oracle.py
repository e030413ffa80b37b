import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.amr.parsing.actions import ActionKind, AmrAction, AmrSentence
from spacy_g2g.amr.parsing.aligner import Aligner
from spacy_g2g.amr.parsing.graph import AmrGraph, Edge
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.oracle import amr_oracle_actions, limit_nodes
from spacy_g2g.transition.parsing.state import NO_WORD

from .samples import SAMPLES, execute, facts, graph_of, sentence_of


def actions_of(text: str, amr: str) -> list[str]:
    graph, sentence = graph_of(amr), sentence_of(text)
    return [str(action) for action in amr_oracle_actions(graph, sentence, Aligner().align(graph, sentence))]


def test_the_moves_of_a_control_sentence():
    assert actions_of("The boy wants to sleep", SAMPLES["The boy wants to sleep"]) == [
        *("SHIFT", "REDUCE", "SHIFT", "COPY_LEMMA", "SHIFT", "COPY_SENSE01", "LA(ARG0)", "SHIFT", "REDUCE"),
        *("SHIFT", "COPY_SENSE01", "RA(ARG1)", "SWAP", "LA(ARG0)", "REDUCE", "REDUCE"),
        *("SHIFT", "SHIFT", "ROOT"),
    ]  # fmt: skip


def test_the_moves_of_a_name():
    assert actions_of("New York", '(c / city :name (n / name :op1 "New" :op2 "York"))') == [
        *("SHIFT", "COPY_QUOTE", "SHIFT", "PRED(name)", "LA(op1)", "FORK", "PRED(city)", "LA(name)"),
        *("FORK", "COPY_QUOTE", "SWAP", "RA(op2)", "REDUCE", "REDUCE", "REDUCE", "SHIFT", "SHIFT", "ROOT"),
    ]  # fmt: skip


def test_polarity_and_mode_are_dependents():
    actions = actions_of("Do not feed six lions !", SAMPLES["Do not feed six lions !"])
    assert "DEPENDENT(polarity, -)" in actions
    assert "DEPENDENT(mode, imperative)" in actions


@pytest.mark.parametrize("text", SAMPLES)
def test_execution_gives_the_graph_back(text: str):
    graph, sentence = graph_of(SAMPLES[text]), sentence_of(text)
    actions = amr_oracle_actions(graph, sentence, Aligner().align(graph, sentence))
    assert facts(execute(sentence, actions)) == facts(graph)


@st.composite
def aligned_graphs(draw) -> tuple[AmrGraph, AmrSentence, list[int]]:
    """Connected graphs with edges in any direction and number, each node at a random word."""
    n_words = draw(st.integers(1, 6))
    words = draw(st.lists(st.integers(0, n_words - 1), min_size=1, max_size=9))
    nodes = range(len(words))
    edges = [Edge(draw(st.integers(0, i - 1)), "ARG0", i) for i in nodes[1:]]
    edges = [Edge(e.target, e.role, e.source) if draw(st.booleans()) else e for e in edges]
    more = st.builds(Edge, st.sampled_from(nodes), st.sampled_from(["ARG0", "ARG1"]), st.sampled_from(nodes))
    edges += draw(st.lists(more.filter(lambda e: e.source != e.target), max_size=6))
    graph = AmrGraph([f"n{i}" for i in nodes], list(dict.fromkeys(edges)), draw(st.sampled_from(nodes)))
    forms = [f"w{i}" for i in range(n_words)]
    return graph, AmrSentence.of(forms, forms), words


def is_blocked(graph: AmrGraph, sentence: AmrSentence, actions: list[AmrAction]) -> bool:
    """Whether an edge to a deeper item waits for a SWAP of a pair that was swapped before."""
    state = AmrState(sentence)
    partners = {(graph.labels[e.source], graph.labels[e.target]) for e in graph.edges}
    for action in actions:
        top = state.labels[state.top] if state.top is not None and state.top != state.root_item else None
        deeper = {state.labels[item] for item in state.stack[:-2]}
        waits = any((top, label) in partners or (label, top) in partners for label in deeper)
        if waits and not state.can_swap and action.kind not in (ActionKind.LA, ActionKind.RA):
            return True
        state.apply(action)
    return False


@given(aligned_graphs())
def test_no_edge_is_lost_where_each_node_has_a_word_unless_a_pair_would_be_swapped_twice(case):
    graph, sentence, words = case
    actions = amr_oracle_actions(graph, sentence, words)
    if len(actions) < 20 * (len(sentence) + 1) and not is_blocked(graph, sentence, actions):
        assert facts(execute(sentence, actions)) == facts(graph)
    assert actions[-1].kind == ActionKind.ROOT or len(actions) == 20 * (len(sentence) + 1)


def test_what_finds_no_word_is_lost_and_the_rest_stays_connected():
    n = 15
    edges = [Edge(0, "ARG0", i) for i in range(1, n)] + [Edge(0, "ARG1", 0)]
    graph = AmrGraph([f"n{i}" for i in range(n)], edges)
    sentence = sentence_of("a")
    built = execute(sentence, amr_oracle_actions(graph, sentence, [0] * n, max_forks=2))
    assert len(built.labels) == 3


def test_a_sentence_without_words_is_closed():
    graph, sentence = graph_of("(b / boy :mod (s / small))"), sentence_of("")
    assert actions_of("", "(b / boy :mod (s / small))") == ["SHIFT", "CLOSE"]
    assert Aligner().align(graph, sentence) == [NO_WORD, NO_WORD]


@pytest.mark.parametrize(
    ("words", "n_words", "max_nodes", "expected"),
    [
        ([1, 1, 1], 3, 3, [1, 1, 1]),
        ([1, 1, 1], 4, 1, [1, 2, 0]),
        ([1, 1, 1, 0], 2, 2, [1, 1, 0, 0]),
        ([0, 0, NO_WORD], 1, 1, [0, NO_WORD, NO_WORD]),
    ],
)
def test_nodes_beyond_the_limit_go_to_the_nearest_free_word(words, n_words, max_nodes, expected):
    assert limit_nodes(words, n_words, max_nodes=max_nodes) == expected


@pytest.mark.parametrize(
    ("label", "form", "lemma", "expected"),
    [
        ("boy", "Boys", "boy", "COPY_LEMMA"),
        ("boys", "Boys", "boy", "COPY_LOWER"),
        ("want-01", "wants", "want", "COPY_SENSE01"),
        ('"Paris"', "Paris", "paris", "COPY_QUOTE"),
        ("have-03", "have", "have", "PRED(have-03)"),
    ],
)
def test_a_label_is_copied_where_it_can_be(label: str, form: str, lemma: str, expected: str):
    sentence = AmrSentence.of([form], [lemma])
    actions = amr_oracle_actions(AmrGraph([label], []), sentence, [0])
    assert str(actions[1]) == expected
