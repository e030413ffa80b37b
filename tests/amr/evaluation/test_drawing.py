"""AMRs as SVG: each node and relation once, nothing that overlaps, no text that becomes markup."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.amr.evaluation.drawing import (
    BOX_HEIGHT,
    CONCEPT_SIZE,
    ROLE_SIZE,
    Relation,
    draw_figure,
    draw_written,
    find_layers,
    read_written,
)
from spacy_g2g.amr.formats.amr_file import parse_penman
from spacy_g2g.amr.parsing.graph import AmrGraph
from spacy_g2g.evaluation.drawing import Drawing, Graph, draw_page
from spacy_g2g.evaluation.page import text_width

from ...evaluation.test_drawing import Page
from ..parsing.samples import SAMPLES

WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b :polarity -))"
CYCLE = "(f / fall-01 :ARG1 (h / he) :destination (h2 / hole :ARG1-of (d / dig-01 :ARG0 h :cause f)))"


@st.composite
def amrs(draw) -> str:
    """A tree with constants, with variables that come again (before and after they are introduced)."""
    n = draw(st.integers(1, 9))
    labels = st.sampled_from(["a", "want-01", "go-02", "temporal-quantity", "x" * 50, '"<&>"'])
    roles = st.sampled_from(["ARG0", "ARG1-of", "mod", "domain", "prep-on-behalf-of"])
    branches: list[list[str]] = [[] for _ in range(n)]
    for node in range(n):
        for _ in range(draw(st.integers(0, 2))):
            again = st.sampled_from(["-", '"A b"', *(f"v{other}" for other in range(n))])
            branches[node].append(f":{draw(roles)} {draw(again)}")
    for node in reversed(range(1, n)):
        parent = draw(st.integers(0, node - 1))
        text = f":{draw(roles)} (v{node} / {draw(labels)} {' '.join(branches[node])})"
        branches[parent].insert(draw(st.integers(0, len(branches[parent]))), text)
    return f"(v0 / {draw(labels)} {' '.join(branches[0])})"


def graph_of(text: str) -> AmrGraph:
    return AmrGraph.from_tree(parse_penman(text), wiki="keep")


def draw_amr(text: str) -> str:
    return draw_written(read_written(text))


def boxes(page: Page) -> list[tuple[float, float, float, float]]:
    """Left, right, upper and lower edge of each box and of each text that is in none."""
    found = []
    for a in page.all("rect"):
        x, y = float(a["x"]), float(a["y"])
        found.append((x, x + float(a["width"]), y, y + BOX_HEIGHT))
    for class_, size in (("constant", CONCEPT_SIZE), ("role", ROLE_SIZE)):
        for a, text in zip(page.all("text", class_), page.text_of("text", class_), strict=True):
            half, y = text_width(text, size) / 2, float(a["y"])
            found.append((float(a["x"]) - half, float(a["x"]) + half, y - size, y))
    return found


@given(amrs())
def test_any_amr_has_each_node_and_relation_once(text: str):
    page, graph = Page(draw_amr(text)), graph_of(text)
    assert len(page.all("g", "node")) == len(graph.labels)
    assert len(page.all("rect")) == len(graph.labels) - len(graph.constants)
    assert len(page.all("text", "constant")) == len(graph.constants)
    assert len(page.all("g", "arc")) == len(page.all("text", "role")) == len(graph.edges)


@given(amrs())
def test_no_boxes_and_texts_overlap_and_all_are_inside(text: str):
    page = Page(draw_amr(text))
    (svg,) = page.all("svg")
    assert svg["viewbox"] == f"0 0 {svg['width']} {svg['height']}"
    found = boxes(page)
    for left, right, top, bottom in found:
        assert 0 <= left < right <= float(svg["width"])
        assert 0 <= top < bottom <= float(svg["height"])
    for one, other in combinations(found, 2):
        is_beside = one[1] <= other[0] + 0.2 or other[1] <= one[0] + 0.2
        assert is_beside or one[3] <= other[2] or other[3] <= one[2]


@given(amrs())
def test_each_layer_is_under_the_lowest_one_with_a_relation_to_it(text: str):
    amr = read_written(text)
    layers, goes_up = find_layers(len(amr.labels), amr.relations)
    above = [0] * len(layers)
    for (source, _, target, _), is_up in zip(amr.relations, goes_up, strict=True):
        if is_up:
            assert layers[target] <= layers[source]
        else:
            above[target] = max(above[target], layers[source] + 1)
    assert layers == above


@pytest.mark.parametrize("text", SAMPLES.values())
def test_titles_tell_the_relations_of_the_text(text: str):
    graph, page = graph_of(text), Page(draw_amr(text))
    forward = Counter()
    for title in page.text_of("title"):
        source, colon, rest = title.rpartition(" :")
        if colon and not title.startswith("AMR"):
            role, _, target = rest.partition(" ")
            ends = [end.strip("()").split(" / ")[-1] for end in (source, target)]
            is_inverse = role.endswith("-of")
            forward[tuple(reversed(ends)) if is_inverse else tuple(ends), role.removesuffix("-of")] += 1
    assert forward == Counter(
        ((graph.labels[source], graph.labels[target]), role) for source, role, target in graph.edges
    )


def test_the_same_amr_gives_the_same_drawing():
    assert draw_amr(CYCLE) == draw_amr(CYCLE)


def test_relations_to_a_variable_alone_are_dashed():
    page = Page(draw_amr(WANT))
    assert len(page.all("path", "reentrant")) == 1
    assert len(page.all("path", "new")) == 3
    assert page.text_of("title")[0] == (
        "AMR of want-01: 3 concepts, 1 constant, 4 relations, 1 reentrant one"
    )
    assert "(g / go-02) :ARG0 (b / boy)" in page.text_of("title")
    before = "(w / want-01 :ARG0 b :ARG1 (g / go-02 :ARG0 (b / boy)))"
    assert [relation.is_reentrant for relation in read_written(before).relations] == [True, False, False]


def test_only_the_relation_that_closes_a_cycle_goes_up():
    amr = read_written(CYCLE)
    layers, goes_up = find_layers(len(amr.labels), amr.relations)
    assert dict(zip(amr.labels, layers, strict=True)) == {"fall-01": 0, "hole": 1, "dig-01": 2, "he": 3}
    assert [r.role for r, is_up in zip(amr.relations, goes_up, strict=True) if is_up] == ["cause"]
    assert find_layers(1, [Relation(0, "ARG0", 0, True)]) == ([0], [True])


def test_relations_of_a_node_to_itself_stand_beside_it():
    page = Page(draw_amr("(a / act-01 :ARG0 a :ARG1 a :mod (b / b))"))
    (act, _) = page.all("rect")
    x = [float(a["x"]) for a in page.all("text", "role")]
    assert float(act["x"]) + float(act["width"]) < x[0] < x[1]
    assert {a["y"] for a in page.all("text", "role")[:2]} == {page.all("text", "role")[0]["y"]}


def test_alignment_markers_are_not_drawn_and_wiki_is():
    page = Page(draw_amr('(c / city~e.3 :wiki~e.1 "Paris"~e.2)'))
    assert page.text_of("text") == ["wiki", "city", '"Paris"']


def test_what_is_said_twice_is_drawn_once():
    assert len(read_written("(a / a :mod (b / b) :mod b :ARG0 1 :ARG0 1)").relations) == 3


def test_long_concepts_are_cut_and_whole_on_hover():
    page = Page(draw_amr(f"(a / {'w' * 100})"))
    assert max(map(len, page.text_of("text"))) == 32
    assert f"(a / {'w' * 100})" in page.text_of("title")


def test_no_text_becomes_markup():
    evil = '"</text></svg><script>x</script>&<img>"'
    for page in (Page(draw_amr(f"(a / {evil} :mod {evil})")), Page(draw_figure(evil, f"(a / {evil})", evil))):
        assert not {"script", "img"} & {tag for tag, _ in page.elements}
    assert page.text_of("pre") == [f"(a / {evil})"]


def test_deep_graphs_are_drawn():
    text = "(a0 / a" + "".join(f" :mod (a{i} / b" for i in range(1, 150)) + " :ARG0 a0" + ")" * 150
    assert len(Page(draw_amr(text)).all("rect")) == 150


@pytest.mark.parametrize(("text", "code"), [("(a / b", "E131"), ("", "E131"), ("(a / b) c", "E132")])
def test_what_is_no_amr_is_an_error(text: str, code: str):
    with pytest.raises(ValueError, match=code):
        draw_amr(text)


# In the page


def test_the_page_has_the_amr_after_the_trees():
    tree = Graph("tree", [0], ["root"])
    page = Page(
        draw_page([Drawing(["go"], [tree], amr=WANT, gold_amr=WANT.replace("boy", "girl"))], title="t")
    )
    assert page.text_of("b") == ["tree", "AMR", "gold AMR"]
    assert page.text_of("summary") == ["PENMAN"] * 2
    assert page.text_of("pre")[0] == WANT
    captions = [text.strip() for text in page.text_of("figcaption")]
    assert captions[1] == "3 concepts, 1 constant, 4 relations, 1 reentrant one · Smatch 87.5%"
    assert [note.startswith("AMR:") for note in page.text_of("p", "note")] == [False, True]


def test_without_amrs_the_page_does_not_tell_of_them():
    assert "AMR" not in draw_page([Drawing(["go"], [Graph("tree", [0], ["root"])])], title="t")


def test_without_trees_the_page_does_not_tell_of_them():
    page = Page(draw_page([Drawing(["go"], [], amr="(g / go-02)")], title="t"))
    assert page.text_of("b") == ["AMR"]
    assert [a["aria-label"] for a in page.all("div", "box")] == ["AMRs of sentence 1"]
    assert len(page.text_of("p", "note")) == 1


def test_an_amr_that_is_ill_formed_is_told_of_in_the_page():
    page = Page(draw_page([Drawing(["go"], [], amr="(g / go-02", gold_amr="(g / go-02)")], title="t"))
    assert "can't be drawn" in page.text_of("figcaption")[0]
    assert "Smatch 0.0%" in page.text_of("figcaption")[0]
    assert len(page.all("svg")) == 1
    assert page.text_of("pre") == ["(g / go-02", "(g / go-02)"]
