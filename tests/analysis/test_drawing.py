"""The page of trees: what it says, that it is well-formed, and that no text of a corpus becomes markup."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.analysis.arc_picture import arc_levels
from spacy_g2g.analysis.compared_graph import ComparedGraph
from spacy_g2g.analysis.drawing import Drawing, draw_page
from spacy_g2g.formats.graph import MISSING, ROOT, Graph

VOID = {"meta", "img"}
WORDS = ["she", "saw", "cats"]
GOLD = Graph([2, 0, 2], ["nsubj", "root", "obj"])
#: The last word has a wrong head in the first graph, the first word in the second one.
FIRST, SECOND = Graph([2, 0, 1], GOLD.deps), Graph([3, 0, 2], GOLD.deps)


class Page(HTMLParser):
    """The elements of a page, in order; closing tags must fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[int] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_endtag(self, tag):
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] += data

    def all(self, tag: str, class_: str | None = None) -> list[dict[str, str]]:
        return [a for name, a in self.elements if name == tag and class_ in (None, a.get("class"))]

    def text_of(self, tag: str, class_: str | None = None) -> list[str]:
        pairs = zip(self.elements, self.texts, strict=True)
        return [text for (name, a), text in pairs if name == tag and class_ in (None, a.get("class"))]


def named(graphs: Iterable[Graph]) -> dict[str, Graph]:
    return {f"graph {number}": graph for number, graph in enumerate(graphs, start=1)}


def draw(*graphs: Graph, words: list[str] | None = None, gold: Graph | None = None) -> str:
    page = draw_page([Drawing(words or WORDS, named(graphs), gold)], title="page")
    return page[page.index("<section>") :].removesuffix("</body>\n</html>\n")


@st.composite
def sentences(draw) -> Drawing:
    """A sentence with up to three graphs of any kind, and gold for some."""
    n = draw(st.integers(1, 8))
    heads = st.lists(st.integers(MISSING, n), min_size=n, max_size=n)
    deps = st.lists(st.sampled_from(["", "obj", "nmod:poss"]), min_size=n, max_size=n)
    graphs = st.builds(Graph, heads, deps)
    words = st.lists(st.text(min_size=1, max_size=40), min_size=n, max_size=n)
    return Drawing(
        draw(words), named(draw(st.lists(graphs, min_size=1, max_size=3))), draw(st.none() | graphs)
    )


@given(sentences())
def test_any_graphs_give_a_well_formed_page_with_an_arc_for_each_word(drawing: Drawing):
    page = Page(draw_page([drawing], title="t"))
    drawn = [
        graph for graph in (*drawing.graphs.values(), drawing.gold) if graph and set(graph.heads) != {MISSING}
    ]
    assert len(page.all("g", "arc")) == len(page.all("text", "word")) == len(drawn) * len(drawing.words)
    for svg in [a for a in page.all("svg") if "viewbox" in a]:
        assert float(svg["width"]) > 0
        assert svg["viewbox"] == f"0 0 {svg['width']} {svg['height']}"


@given(sentences())
def test_words_stand_in_order_in_the_same_places_in_all_graphs(drawing: Drawing):
    page = Page(draw_page([drawing], title="t"))
    n, places = len(drawing.words), [float(a["x"]) for a in page.all("text", "word")]
    for start in range(0, len(places), n):
        assert places[start : start + n] == places[:n]
    assert places[:n] in (sorted(places[:n]), sorted(places[:n], reverse=True))
    for svg in [a for a in page.all("svg") if "viewbox" in a]:
        assert 0 < min(places) <= max(places) < float(svg["width"])


@given(st.lists(st.integers(MISSING, 12), min_size=12, max_size=12))
def test_of_two_arcs_over_the_same_gap_the_longer_is_higher(heads: list[int]):
    levels = {word: level for word, level in enumerate(arc_levels(Graph(heads, [""] * 12)), start=1) if level}
    arcs = {word: head for word, head in enumerate(heads, start=1) if head not in (word, MISSING, ROOT)}
    assert list(levels) == list(arcs)
    for one, other in combinations(arcs, 2):
        gaps = [set(range(min(word, arcs[word]), max(word, arcs[word]))) for word in (one, other)]
        if gaps[0] & gaps[1]:
            assert (levels[one] > levels[other]) == (len(gaps[0]) > len(gaps[1]))
            assert levels[one] != levels[other]


def test_arcs_that_touch_only_at_a_word_share_the_lowest_level():
    assert arc_levels(Graph([2, 0, 2, 3, MISSING], [""] * 5)) == [1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("before", "now", "kinds"),
    [
        ((2, "obj"), (2, "obj"), ("same", "same")),
        ((1, "obj"), (1, "obj"), ("wrong", "wrong")),
        ((2, "det"), (2, "det"), ("same", "wrong")),
        ((1, "obj"), (2, "obj"), ("fixed", "fixed")),
        ((2, "obj"), (1, "obj"), ("broken", "broken")),
        ((2, "obj"), (2, "det"), ("same", "broken")),
        ((2, "det"), (2, "obj"), ("same", "fixed")),
        ((1, "obj"), (0, "obj"), ("moved", "moved")),
        ((1, "obj"), (2, "det"), ("fixed", "moved")),
        ((1, "obj"), (1, "det"), ("wrong", "moved")),
        ((MISSING, ""), (2, "obj"), ("fixed", "fixed")),
        ((2, "obj"), (MISSING, ""), ("broken", "broken")),
    ],
)
def test_an_arc_is_compared_with_the_one_before_and_with_gold(before, now, kinds):
    graphs = [Graph([2, 0, head], ["nsubj", "root", dep]) for head, dep in (before, now)]
    assert ComparedGraph(WORDS, graphs[1], graphs[0], GOLD).arc_kinds(3) == kinds
    without_gold = tuple("same" if kind in ("same", "wrong") else "changed" for kind in kinds)
    assert ComparedGraph(WORDS, graphs[1], graphs[0], None).arc_kinds(3) == without_gold
    no_head = Graph([2, 0, MISSING], ["nsubj", "root", ""])
    assert ComparedGraph(WORDS, graphs[1], graphs[0], no_head).arc_kinds(3) == without_gold


def test_a_label_that_gold_does_not_know_is_not_wrong():
    gold, before = Graph([2, 0, 2], ["", "", ""]), Graph([2, 0, 2], ["x", "x", "x"])
    assert ComparedGraph(WORDS, GOLD, before, gold).arc_kinds(1) == ("same", "changed")


def test_captions_and_lines_tell_what_changed_and_what_is_right():
    page = Page(draw(FIRST, SECOND, SECOND, gold=GOLD))
    assert [caption.strip() for caption in page.text_of("figcaption")] == [
        "2 of 3 right",
        "2 arcs changed · 1 wrong to right · 1 right to wrong · 2 of 3 right",
        "nothing changed · 2 of 3 right",
        "",
    ]
    count = {kind: len(page.all("path", kind)) for kind in ("wrong", "fixed", "broken", "moved", "changed")}
    assert count == {"wrong": 2, "fixed": 1, "broken": 1, "moved": 0, "changed": 0}
    assert page.text_of("text", "fixed") == ["obj"]
    assert len(Page(draw(FIRST, SECOND)).all("path", "changed")) == 2


def test_hovering_tells_probabilities_what_was_before_and_gold():
    second = Graph([2, 0, 2], ["nsubj", "root", "iobj"], [0.5, 1.0, 0.987], [0.25, 1.0, 0.4])
    titles = Page(draw(FIRST, second, gold=GOLD)).text_of("title")
    assert (
        "cats ← saw: iobj\nhead 98.7%, label 40.0%\nbefore: cats ← she: obj\ngold: cats ← saw: obj" in titles
    )
    assert "she ← saw: nsubj\nhead 50.0%, label 25.0%" in titles
    assert "saw ← ROOT: root\nhead 100.0%, label 100.0%" in titles
    assert "cats ← she: obj\ngold: cats ← saw: obj" in titles


def test_arcs_below_a_probability_are_marked():
    graph = Graph([2, 0, 2], ["nsubj", "root", "obj"], [0.5, 1.0, 0.9], [0.9, 1.0, 0.5])
    for doubt, doubtful in ((0.0, []), (0.45, []), (0.46, ["nsubj", "obj"]), (1.0, ["nsubj", "obj"])):
        text = draw_page([Drawing(WORDS, named([graph]), doubt=doubt)], title="page")
        in_legend = ["label"] if doubtful else []
        assert sorted(Page(text).text_of("text", "same doubtful")) == [*in_legend, *doubtful]
        assert (f"{len(doubtful) or 'no'} arcs below {doubt:g}" in text) == (doubt > 0)
        assert (f"probability below {doubt:g}" in text) == bool(doubtful)


def test_what_is_no_tree_is_drawn_and_told():
    graph = Graph([2, 1, MISSING], ["x", "y", ""])
    page = Page(draw(graph))
    assert "cats: no head" in page.text_of("title")
    (caption,) = page.text_of("figcaption")
    facts, _, cycle = caption.partition(" · cycle: ")
    assert facts.strip() == "1 word without head · no roots"
    assert cycle in ("she ← saw ← she", "saw ← she ← saw")
    (caption,) = Page(draw(Graph([0, 0, 0], ["root"] * 3))).text_of("figcaption")
    assert caption.strip() == "3 roots"


def test_nothing_is_new_after_an_empty_graph():
    empty = Graph([MISSING] * 3, [""] * 3)
    text = draw(empty, GOLD)
    assert "no arcs" in text
    assert "changed" not in text
    assert len(Page(text).all("svg")) == 1


def test_no_text_becomes_markup():
    evil = '<script>alert("1")</script>'
    quote = "\"'onload='x' onload=\"y\" ><img src=x onerror=z>&lt;\x00"
    words = [evil, quote, "</svg></title>" + evil]
    graphs = {
        evil + quote: Graph([2, 0, 2], [evil, quote, "</text>" + evil]),
        quote: Graph([3, 3, 0], [quote, evil, evil], [0.5] * 3, [0.5] * 3),
    }
    gold = Graph([2, 0, 2], [quote, evil, quote])
    drawing = Drawing(words, graphs, gold, name=evil + quote, text=quote + evil)
    harmless = Drawing(
        ["a", "b", "c"],
        graphs=named([Graph(g.heads, "xyz", g.head_probs, g.dep_probs) for g in graphs.values()]),
        gold=Graph([2, 0, 2], "uvw"),
        name="n",
        text="t",
    )
    page, other = (Page(draw_page([d], title=t)) for d, t in ((drawing, evil + quote), (harmless, "t")))
    kinds, expected = ({(tag, *sorted(a)) for tag, a in p.elements} for p in (page, other))
    assert kinds == expected
    assert not {"script", "img"} & {tag for tag, *_ in kinds}
    assert evil in page.text_of("text", "word")
    assert any(evil in label for label in page.text_of("text", "wrong"))
    assert any(quote.replace("\x00", "\ufffd") in title for title in page.text_of("title"))


def test_a_page_asks_for_nothing_and_may_be_empty():
    text = draw_page([Drawing(WORDS, named([GOLD, GOLD]), GOLD)], title="t")
    assert "//" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in Page(text).elements}
    assert "No sentence to show." in draw_page([], title="t")


def test_the_legend_tells_only_of_what_is_there():
    def kinds(drawing):
        legend = draw_page([drawing], title="t").rpartition("</ul>")[0].rpartition("<ul")[2]
        return re.findall('<path class="(.*?)"', legend)

    assert kinds(Drawing(WORDS, named([GOLD, GOLD]))) == []
    assert kinds(Drawing(WORDS, named([FIRST, SECOND]))) == ["same", "changed"]
    assert kinds(Drawing(WORDS, named([FIRST]), GOLD)) == ["same", "wrong"]
    assert kinds(Drawing(WORDS, named([FIRST, SECOND]), GOLD)) == ["same", "wrong", "fixed", "broken"]
    partial = Graph([2, 0, MISSING], ["x", "y", ""])
    assert kinds(Drawing(WORDS, named([FIRST, GOLD]), partial)) == ["same", "wrong", "changed"]


def test_a_label_has_room_over_its_arc():
    def distance(dep):
        page = Page(draw(Graph([2, 0, 2], ["nsubj", "root", dep])))
        places = [float(a["x"]) for a in page.all("text", "word")]
        return places[2] - places[1]

    assert distance("a-very-long-label:of-an-arc") > distance("obj") + 80


def test_words_of_right_to_left_scripts_run_to_the_left():
    words = ["הילד", "קרא", "2"]
    page = Page(draw(GOLD, words=words))
    places = [float(a["x"]) for a in page.all("text", "word")]
    assert places == sorted(places, reverse=True)
    assert page.all("div", "box")[0]["dir"] == "rtl"
    assert Page(draw(GOLD)).all("div", "box")[0]["dir"] == "ltr"


def test_long_words_are_cut_and_whole_on_hover():
    word = "w" * 100
    page = Page(draw(Graph([0], ["root"]), words=[word]))
    assert word in page.text_of("title")
    assert max(map(len, page.text_of("text"))) == 32
