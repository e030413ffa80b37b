import pytest

from spacy_g2g.amr.formats.penman_text import format_penman, parse_penman
from spacy_g2g.amr.parsing.graph import AmrGraph, Edge
from spacy_g2g.amr.parsing.tree import tree_edges

from .samples import SAMPLES, facts, graph_of


def test_inverse_roles_are_turned_around_and_constants_are_leaves():
    graph = graph_of('(g / girl :ARG0-of (s / sing-01 :polarity -) :consist-of (c / cell :quant "6"))')
    assert graph.labels == ["girl", "sing-01", "-", "cell", '"6"']
    assert graph.edges == [
        Edge(1, "ARG0", 0),
        Edge(1, "polarity", 2),
        Edge(0, "consist-of", 3),
        Edge(3, "quant", 4),
    ]
    assert graph.constants == {2, 4}
    assert graph.top == 0


def test_a_variable_may_be_used_before_its_tree_and_be_its_own_concept():
    graph = graph_of("(w / want-01 :ARG1 (g / go-01 :ARG0 i) :ARG0 (i / i))")
    assert facts(graph) == facts(graph_of("(w / want-01 :ARG0 (i / i) :ARG1 (g / go-01 :ARG0 i))"))
    assert graph.labels.count("i") == 1


@pytest.mark.parametrize("text", SAMPLES.values())
def test_a_graph_that_is_written_and_read_is_the_same(text: str):
    graph = graph_of(text)
    assert facts(graph_of(format_penman(graph.to_tree()))) == facts(graph)


def test_text_is_indented_and_variables_are_numbered():
    graph = graph_of("(w / want-01 :ARG0 (b / boy) :ARG1 (b2 / buy-01 :ARG0 b :quant 5 :ARG1-of (x / 7up)))")
    assert format_penman(graph.to_tree()) == (
        "(w / want-01\n   :ARG0 (b / boy)\n   :ARG1 (b2 / buy-01\n      :ARG0 b\n      :quant 5\n"
        "      :ARG1-of (u / 7up)))"
    )


def test_mod_from_its_other_side_is_written_as_domain():
    text = format_penman(AmrGraph(["small", "planet"], [Edge(1, "mod", 0)], top=0).to_tree())
    assert text == "(s / small\n   :domain (p / planet))"


def test_of_edges_that_say_the_same_one_is_kept():
    assert graph_of("(s / small :domain (p / planet :mod s))").edges == [Edge(0, "domain", 1)]
    assert len(graph_of("(w / want-01 :ARG0 (b / boy :ARG0-of w))").edges) == 1


def test_wiki_is_left_out_unless_it_is_kept():
    tree = parse_penman(SAMPLES["I saw the girl who sang in Paris"])
    assert "wiki" not in format_penman(AmrGraph.from_tree(tree).to_tree())
    assert ':wiki "Paris"' in format_penman(AmrGraph.from_tree(tree, wiki="keep").to_tree())


def test_alignment_markers_are_taken_off_concepts_roles_and_strings():
    graph = graph_of('(s / sing-01~e.3 :ARG0~e.2 (n / name :op1 "http://a~1"~e.4,5))')
    assert graph.labels == ["sing-01", "name", '"http://a~1"']
    assert graph.markers == {0: (3,), 2: (4, 5)}
    assert graph.edges[0].role == "ARG0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("boy~e.3", ("boy", (3,))), ("boy~3", ("boy", (3,))), ("a~b", ("a~b", ())), ('"a~1"', ('"a~1"', ()))],
)
def test_a_marker_is_a_tilde_with_numbers_at_the_end(text: str, expected: tuple):
    (edge,) = tree_edges(("x", [("/", text)]))
    assert (edge.target, edge.words) == expected


def test_the_marker_of_a_concept_goes_before_that_of_its_variable():
    text = "(w / want-01 :ARG0 (b / boy{}) :ARG1 (g / go-02 :ARG0 b~e.5))"
    assert graph_of(text.format("~e.0")).markers == {1: (0,)}
    assert graph_of(text.format("")).markers == {1: (5,)}


def test_no_variable_is_named_as_a_constant():
    graph = graph_of("(t / thing :ARG0 (q / person) :ARG1 (p2 / person) :value p)")
    assert facts(graph_of(format_penman(graph.to_tree()))) == facts(graph)


def test_distances_go_along_edges_of_any_direction_and_miss_what_is_not_connected():
    graph = AmrGraph(["a", "b", "c", "d"], [Edge(1, "ARG0", 0), Edge(1, "ARG1", 2)])
    assert graph.distances() == [0, 1, 2, None]


def test_the_tree_is_as_flat_as_it_can_be():
    n = 150
    edges = [Edge(i, "ARG0", i + 1) for i in range(n)] + [Edge(0, "mod", n - 1)]
    text = format_penman(AmrGraph(["x"] * (n + 1), edges).to_tree())
    assert max(len(line) - len(line.lstrip()) for line in text.split("\n")) < 3 * (n // 2 + 3)
    assert len(graph_of(text).edges) == len(edges)
