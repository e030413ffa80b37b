"""AMRs on a page: their text, the lines that differ from gold, no text that becomes markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.amr.drawing import draw_amrs
from spacy_g2g.amr.evaluation.smatch import smatch
from spacy_g2g.amr.evaluation.triples import to_triples
from spacy_g2g.amr.formats.penman_text import format_penman, parse_penman
from spacy_g2g.analysis.drawing import Drawing, draw_page
from spacy_g2g.formats.graph import Graph

from ..analysis.test_drawing import Page
from .parsing.samples import SAMPLES

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


def marked(predicted: str, gold: str) -> list[list[str]]:
    """The marked lines of each of the two figures."""
    return [Page(figure).text_of("mark") for figure in draw_amrs(predicted, gold=gold)]


def shown(figure: str) -> str:
    """The text of a figure, with that of its marks."""
    page = Page(figure.replace("<mark>", "").replace("</mark>", ""))
    (text,) = page.text_of("pre")
    return text


@given(amrs(), amrs())
def test_each_branch_has_a_line_and_lines_differ_if_the_score_says_so(predicted: str, gold: str):
    figures = draw_amrs(predicted, gold=gold)
    trees = [parse_penman(text) for text in (predicted, gold)]
    assert [shown(figure) for figure in figures] == list(map(format_penman, trees))
    score, _ = smatch([gold], predicted=[predicted])
    ours, theirs = marked(predicted, gold)
    triples = [to_triples(tree) for tree in trees]
    # The second of two equal triples has no line of its own.
    if all(max([*t.edges.values(), *t.constants.values()]) == 1 for t in triples):
        assert bool(ours) == (score.fp > 0)
        assert bool(theirs) == (score.fn > 0)
    assert f"Smatch {score.fscore:.1%}" in figures[0]


@given(amrs())
def test_an_amr_beside_itself_has_no_marks(text: str):
    assert marked(text, text) == [[], []]
    assert "marked" not in draw_amrs(text, gold=text)[0]


@pytest.mark.parametrize("text", SAMPLES.values())
def test_the_text_alone_is_the_given_one(text: str):
    (figure,) = draw_amrs(text)
    assert shown(figure) == text


def test_lines_that_differ_are_marked_on_both_sides():
    gold = WANT.replace("boy", "girl").replace(" :polarity -", "")
    assert marked(WANT, gold) == [[":ARG0 (b / boy)", ":polarity -))"], [":ARG0 (b / girl)"]]
    assert marked(WANT, WANT.replace(":ARG0 b", ":ARG1 b")) == [[":ARG0 b"], [":ARG1 b"]]


def test_a_top_that_differs_is_marked_and_other_names_and_orders_are_not():
    other = "(c / boy :ARG0-of (v / want-01 :ARG1 (x / go-02 :polarity - :ARG0 c)))"
    assert marked(WANT, other) == [["(w / want-01"], ["(c / boy"]]


def test_wiki_and_markers_count_nowhere():
    assert marked('(c / city~e.3 :wiki "Paris")', "(c / city)") == [[], []]


def test_no_text_becomes_markup():
    evil = '"</text></svg><script>x</script>&<img>"'
    text = f"(a / {evil} :mod {evil})"
    for figures in (draw_amrs(text), draw_amrs(f"(a / {evil})", gold=text)):
        page = Page("".join(figures))
        assert not {"script", "img"} & {tag for tag, _ in page.elements}
        assert evil in shown(figures[0])


def test_deep_graphs_are_shown():
    text = "(a0 / a" + "".join(f" :mod (a{i} / b" for i in range(1, 150)) + " :ARG0 a0" + ")" * 150
    figures = draw_amrs(text, gold=text)
    assert [len(shown(figure).split("\n")) for figure in figures] == [151, 151]


# In the page


def test_the_page_has_the_amr_after_the_trees():
    tree = Graph([0], ["root"])
    more = draw_amrs(WANT, gold=WANT.replace("boy", "girl"))
    page = Page(draw_page([Drawing(["go"], {"tree": tree}, more=more)], title="t"))
    assert page.text_of("b") == ["tree", "AMR", "gold AMR"]
    assert page.text_of("figcaption")[1].strip() == "Smatch 87.5% · marked lines differ"
    assert [a["aria-label"] for a in page.all("div", "box")] == ["trees of sentence 1"]
    assert "AMR" not in draw_page([Drawing(["go"], {"tree": tree})], title="t")


def test_without_trees_the_page_does_not_tell_of_them():
    page = Page(draw_page([Drawing(["go"], {}, more=draw_amrs("(g / go-02)"))], title="t"))
    assert page.text_of("b") == ["AMR"]
    assert [a["aria-label"] for a in page.all("div", "box")] == ["graphs of sentence 1"]
    assert not page.text_of("p", "note")


@pytest.mark.parametrize(("text", "code"), [("(a / b", "E1002"), ("(a / b) c", "E1003")])
def test_an_amr_that_is_ill_formed_is_told_of(text: str, code: str):
    first, second = draw_amrs(text, gold="(g / go-02)")
    (caption,) = Page(first).text_of("figcaption")
    assert "cannot be read" in caption
    assert code in caption
    assert [shown(first), shown(second)] == [text, "(g / go-02)"]
