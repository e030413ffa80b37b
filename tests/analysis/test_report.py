"""The page of an analysis: what it says, that it is well-formed, and that it needs and lets in nothing."""

import base64
import re
from xml.etree import ElementTree

import pytest

from spacy_g2g.analysis.error_analysis import analyze_errors
from spacy_g2g.analysis.page import make_table
from spacy_g2g.analysis.plots import COLORS, plot_bins, plot_label_scores
from spacy_g2g.analysis.report import make_report, overall_rows, significance_rows

from .test_drawing import Page
from .test_error_rows import GOLD, SYSTEM, Tree, analysis_of, sentence_of

pytest.importorskip("matplotlib")

NASTY = "<script>\"&'"
LONG: Tree = [("a", 2, "nsubj"), ("b", 0, "root"), *[("c", 2, "obj")] * 10]


def report(gold: list[Tree], *systems: list[Tree], names: str = "AB", **settings) -> str:
    subtypes = settings.pop("subtypes", False)
    graphs = {
        name: [sentence_of(tree).graph(subtypes=subtypes) for tree in own]
        for name, own in zip(names, systems, strict=False)
    }
    golds = [sentence_of(tree) for tree in gold]
    analysis = analyze_errors(golds, graphs, subtypes=subtypes, resamples=5)
    return make_report(analysis, title="T", **settings)


def rows_of(page: str, caption: str) -> list[list[str]]:
    """Cells of the body of the table whose caption starts so."""
    table = next(t for t in re.findall(r"<table>.*?</table>", page, re.DOTALL) if f"<caption>{caption}" in t)
    body = table[table.index("<tbody>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]


def pictures(page: str) -> list[str]:
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    return [base64.b64decode(text).decode("utf8") for text in data]


def text_of(svg: str) -> list[str]:
    return [
        "".join(element.itertext()).strip()
        for element in ElementTree.fromstring(svg).iter()
        if "text" in element.tag
    ]


def test_the_page_is_well_formed_and_asks_for_nothing():
    page = report([GOLD, LONG], [SYSTEM, LONG], [GOLD, LONG])
    parsed = Page(page)
    assert "://" not in page
    for tag in ("script", "link", "iframe"):
        assert not parsed.all(tag)
    for name, attributes in parsed.elements:
        for key in ("src", "href"):
            assert attributes.get(key, "#").startswith(("#", "data:image/svg+xml;base64,")), name
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"][1:] for attributes in parsed.all("a")]
    assert links == ids != []


def test_tables_and_pictures_are_labeled_and_rows_fit_their_headers():
    page = report([GOLD], [SYSTEM], [GOLD], [SYSTEM], names="ABC")
    parsed = Page(page)
    assert [bool(attributes["alt"]) for attributes in parsed.all("img")] == [True] * 2
    assert len(parsed.all("caption")) == len(parsed.all("table")) == 11
    assert all(attributes["scope"] in ("row", "col", "colgroup") for attributes in parsed.all("th"))
    for table in re.findall(r"<table>.*?</table>", page, re.DOTALL):
        n_columns = table.count('scope="col"')
        for spans in (r'colspan="(\d+)"', r'colgroup span="(\d+)"'):
            assert sum(map(int, re.findall(spans, table))) in (0, n_columns)
        for row in re.findall(r"<tr>(.*?)</tr>", table[table.index("<tbody>") :]):
            assert len(re.findall(r"<t[dh]", row)) == n_columns


def test_names_words_and_labels_are_text_not_markup():
    gold: Tree = [(NASTY, 2, NASTY), ("b", 0, "root")]
    wrong: Tree = [(NASTY, 2, "x"), ("b", 0, "root")]
    page = report([gold], [wrong], [gold], names=[NASTY, "B"])
    Page(page)
    assert "<script" not in page
    assert page.count("&lt;script&gt;&quot;&amp;&#x27;") > 10
    assert f"{NASTY} (1)" in text_of(pictures(page)[1])
    assert NASTY in text_of(pictures(page)[0])


def test_tables_show_the_figures_in_percent_and_empty_bins_as_empty():
    page = report([GOLD], [GOLD], [SYSTEM])
    lengths = {row[0]: row[1:] for row in rows_of(page, "Arcs by dependency length")}
    assert lengths["1"] == ["2", "2", "100.00", "100.00", "100.00", "3", "33.33", "50.00", "40.00", "-"]
    assert lengths["7"] == ["0", "0", "-", "-", "-", "0", "-", "-", "-", "-"]
    assert rows_of(page, "RER")[1][:4] == ["B", "80.00", "60.00", "-"]
    assert rows_of(page, "Gold label → wrong label of words with the right head") == [
        ["nsubj → obj", "1", "0", "1"]
    ]
    assert rows_of(page, "Second system")[1][:5] == ["A / B", "LAS", "100.00", "60.00", "-40.00"]
    assert rows_of(page, "Words by the length")[0] == ["1-9", "5", "100.00", "100.00", "80.00", "60.00"]


def test_systems_differ_from_the_first_at_the_level_of_the_papers():
    few, many = (analysis_of([GOLD] * 30, [SYSTEM] * 30, [GOLD] * 30, resamples=n) for n in (50, 500))
    assert [row[3] for row in overall_rows(many)] == ["", "+100.00"]
    assert [row[7] for row in significance_rows(few)] == ["no", "no"]  # p is 1 / 51 at least
    assert [row[7] for row in significance_rows(many)] == ["yes", "yes"]


def test_one_system_has_no_significance_and_no_error_reduction():
    page = report([GOLD], [SYSTEM], names="A")
    assert "bootstrap" not in page
    assert len(rows_of(page, "Arcs by dependency length")[0]) == 6


def test_worst_sentences_are_drawn_gold_over_all_systems():
    page = report([LONG, GOLD], [LONG, SYSTEM], [LONG, GOLD], worst=3)
    sections = re.findall(r"<section>.*?</section>", page, re.DOTALL)
    assert len(sections) == 1
    assert "5 words, wrong: A 2, B 0" in sections[0]
    names = re.findall(r"<figcaption[^>]*><b>(.*?)</b> ?(.*?)</figcaption>", sections[0])
    assert names == [("gold", ""), ("A", "3 of 5 right"), ("B", "5 of 5 right")]
    assert "changed" not in "".join(sections)
    assert "<details>" not in page
    assert "Worst" not in report([GOLD], [SYSTEM], worst=0)


def test_subtypes_are_drawn_where_they_count():
    gold = [("a", 2, "nsubj:pass"), *GOLD[1:]]
    assert "nsubj:pass" not in report([gold], [SYSTEM])
    assert "nsubj:pass" in report([gold], [SYSTEM], subtypes=True)


def test_plots_show_all_bins_and_a_point_for_those_that_have_a_score():
    analysis = analysis_of([GOLD], [SYSTEM])
    svg = plot_bins(analysis)
    assert {"ROOT", "7", ">7", "1-9", "≥50", "s0"} <= set(text_of(svg))
    plotted = (("dependency_length", "f1"), ("distance_to_root", "f1"), ("sentence_length", "LAS"))
    values = [row.value for row in analysis.rows if (row.quantity, row.metric) in plotted]
    n_points = len(re.findall(f"<use [^>]*fill: {COLORS[0].lower()}", svg))
    assert n_points == len([value for value in values if value is not None]) + 1  # the legend's
    assert None in values
    assert svg == plot_bins(analysis)


def test_labels_without_gold_words_are_not_plotted():
    texts = text_of(plot_label_scores(analysis_of([GOLD], [[("a", 2, "odd"), *GOLD[1:]]])))
    assert "nsubj (1)" in texts
    assert not [text for text in texts if "odd" in text]


def test_many_systems_share_the_styles_in_turn():
    texts = text_of(plot_bins(analysis_of([GOLD], *[[SYSTEM]] * 9)))
    assert [f"s{i}" for i in range(9)] == [
        text for text in texts if text.startswith("s") and text[1:].isdigit()
    ]


def test_a_table_is_text_in_cells():
    table = make_table("<c>", ["<h>", "n"], [["<r>", "<1>"]], groups=[("<g>", 2)])
    assert re.findall(r"&lt;(.)&gt;", table) == ["c", "c", "g", "h", "r", "1"]
