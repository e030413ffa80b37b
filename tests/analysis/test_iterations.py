"""Scores and changes by iteration. The scores of one graph are proved in `test_error_rows`."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.analysis.error_analysis import Analysis
from spacy_g2g.analysis.iterations import (
    PARTS,
    analyze_refinement,
    find_changes,
    find_reductions,
    find_scores,
    reduction_rows,
)
from spacy_g2g.evaluation.rates import error_reduction
from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence
from spacy_g2g.formats.graph import Graph

from ..formats.samples import row
from ..util import tries

LABELS = ["nsubj", "nsubj:pass", "obj", "root", ""]
#: Gold sentence, its graphs, and the number of passes.
Refined = tuple[ConlluSentence, list[Graph], int]


@st.composite
def graphs(draw, n):
    heads = st.lists(st.integers(-1, n), min_size=n, max_size=n)
    return Graph(draw(heads), draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)))


@st.composite
def refined_sentences(draw) -> Refined:
    n = draw(st.integers(1, 6))
    rows = [
        row(str(i), "w", str(i - 1), draw(st.sampled_from(LABELS[:3])) if i > 1 else "root")
        for i in range(1, n + 1)
    ]
    found = draw(st.lists(graphs(n), min_size=1, max_size=4))
    if draw(st.booleans()):
        found.append(found[-1])
    return parse_sentence([*rows, "\n"], trees="full"), found, draw(st.integers(0, len(found) - 1))


def analyze(*refined: Refined) -> Analysis:
    return analyze_refinement(*map(list, zip(*refined, strict=True)))


def stopped(analysis: Analysis) -> list[tuple[int, int, int]]:
    """Sentences, words and unchanged sentences by number of passes."""
    metrics = ("sentences", "words", "unchanged")
    return [
        tuple(analysis[name, "stopped", "all", metric].value for metric in metrics) for name in analysis.names
    ]


def arcs_of(refined: list[Refined], t: int) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    """Gold arc and arc in graph t of each word."""
    return [
        ((word.head, word.deprel.split(":")[0]), (head, label.split(":")[0]))
        for gold, found, _ in refined
        for word, head, label in zip(
            gold.words, found[min(t, len(found) - 1)].heads, found[min(t, len(found) - 1)].deps, strict=True
        )
    ]


def test_error_reduction_is_the_share_of_errors_that_are_gone():
    assert error_reduction(before=0.8, after=0.9) == pytest.approx(0.5)
    assert error_reduction(before=0.8, after=0.7) == pytest.approx(-0.5)
    assert error_reduction(before=0.8, after=1.0) == 1
    assert error_reduction(before=1.0, after=1.0) is None
    assert error_reduction(before=1.0, after=0.5) is None
    assert error_reduction(before=None, after=0.5) is error_reduction(before=0.5, after=None) is None
    # Table 2 of the paper: Chinese from 89.53 to 90.48 (+9.08%), Russian from 94.60 to 94.47 (-2.4%).
    assert error_reduction(before=0.8953, after=0.9048) == pytest.approx(0.0908, abs=1e-4)
    assert error_reduction(before=0.9460, after=0.9447) == pytest.approx(-0.024, abs=1e-4)


@given(st.lists(refined_sentences(), min_size=1, max_size=5))
@tries(150)
def test_scores_and_changes_equal_the_definitions_word_by_word(refined):
    analysis = analyze(*refined)
    n_graphs = max(len(found) for _, found, _ in refined)
    assert analysis.names == [str(t) for t in range(n_graphs)]
    table = [arcs_of(refined, t) for t in range(n_graphs)]
    las = [sum(gold == arc for gold, arc in words) / len(words) for words in table]
    assert find_scores(analysis, PARTS["LAS"]) == pytest.approx(las)
    for label in {gold[1] for gold, _ in table[0]}:
        for t, words in enumerate(table):
            n_right = sum(gold == arc for gold, arc in words if gold[1] == label)
            n_gold = sum(gold[1] == label for gold, _ in words)
            n_found = sum(arc[1] == label and arc[0] >= 0 for _, arc in words)
            f1 = analysis[str(t), "label", label, "f1"].value
            assert f1 == pytest.approx(2 * n_right / (n_gold + n_found))
    expected = {"wrong_to_right": [], "right_to_wrong": [], "wrong_to_wrong": []}
    for before, after in pairwise(table):
        kinds = ["same"] * len(before)
        for i, ((gold, old), (_, new)) in enumerate(zip(before, after, strict=True)):
            if old != new and not old[0] == new[0] == -1:
                kinds[i] = f"{'right' if gold == old else 'wrong'}_to_{'right' if gold == new else 'wrong'}"
        for kind, counts in expected.items():
            counts.append(kinds.count(kind))
    assert find_changes(analysis) == expected


@given(st.lists(refined_sentences(), min_size=1, max_size=5))
def test_labels_are_ranked_by_their_error_reduction(refined):
    analysis = analyze(*refined)
    rows = list(reduction_rows(analysis))
    assert [name for name, *_ in rows[: len(PARTS)]] == list(PARTS)
    totals = [total for *_, total in rows[len(PARTS) :]]
    known = [float(total) for total in totals if total != "-"]
    assert known == sorted(known, reverse=True)
    assert totals[len(known) :] == ["-"] * (len(totals) - len(known))


@given(st.lists(refined_sentences(), min_size=1, max_size=5))
def test_stopped_sentences_are_counted_by_passes(refined):
    found = stopped(analyze(*refined))
    most = max(passes for *_, passes in refined)
    for t, figures in enumerate(found):
        chosen = [(gold, graphs) for gold, graphs, passes in refined if passes == t]
        n_unchanged = sum(g[t] == g[t - 1] for _, g in chosen) if t == most else len(chosen)
        assert figures == (len(chosen), sum(len(s.words) for s, _ in chosen), n_unchanged if t else 0)


TREE = Graph([2, 0, 2], ["nsubj", "root", "obj"])
GOLD = parse_sentence(
    [row("1", "a", "2", "nsubj"), row("2", "b", "0", "root"), row("3", "c", "2", "obj"), "\n"]
)
WRONG = Graph([2, 0, 1], TREE.deps)


def test_one_sentence_from_an_empty_graph():
    analysis = analyze((GOLD, [Graph([-1, -1, -1], ["", "", ""]), WRONG, TREE], 2))
    las = find_scores(analysis, PARTS["LAS"])
    assert las == pytest.approx([0, 2 / 3, 1])
    assert find_reductions(las) == pytest.approx([2 / 3, 1])
    assert [analysis[t, "label", "obj", "precision"].value for t in "012"] == [None, 0.0, 1.0]
    assert [analysis[t, "label", "obj", "f1"].value for t in "012"] == [0.0, 0.0, 1.0]
    assert list(find_changes(analysis).values()) == [[2, 1], [0, 0], [1, 0]]


def test_without_errors_there_is_no_error_reduction():
    analysis = analyze((GOLD, [TREE, TREE], 1))
    assert {row[-1] for row in reduction_rows(analysis)} == {"-"}
    assert stopped(analysis) == [(0, 0, 0), (1, 3, 1)]


def test_a_sentence_that_stopped_early_keeps_its_last_graph():
    analysis = analyze((GOLD, [WRONG, WRONG], 1), (GOLD, [WRONG] * 3 + [TREE], 3))
    assert find_scores(analysis, PARTS["LAS"]) == pytest.approx([4 / 6, 4 / 6, 4 / 6, 5 / 6])
    assert stopped(analysis) == [(0, 0, 0), (1, 3, 1), (0, 0, 0), (1, 3, 0)]


def test_a_sentence_that_stopped_early_is_unchanged_also_where_a_tree_was_decoded_in_the_end():
    cycle = Graph([2, 1, 2], TREE.deps)
    early, late = (GOLD, [TREE, cycle, TREE], 2), (GOLD, [TREE, cycle, cycle, TREE], 3)
    assert stopped(analyze(early, late, late))[2:] == [(1, 3, 1), (2, 6, 0)]


def test_subtypes_do_not_count_but_for_being_unchanged():
    analysis = analyze((GOLD, [Graph(TREE.heads, ["nsubj:pass", "root", "obj"]), TREE], 1))
    assert find_scores(analysis, PARTS["LAS"]) == [1.0, 1.0]
    assert list(find_changes(analysis).values()) == [[0]] * 3
    assert stopped(analysis)[1] == (1, 3, 0)
