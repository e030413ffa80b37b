import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_g2g.evaluation.rates import error_reduction
from spacy_g2g.evaluation.refinement import (
    Changes,
    RefinedSentence,
    Stopped,
    analyse_refinement,
)
from spacy_g2g.formats.graph import Graph
from spacy_g2g.trees.tree import non_projective_arcs

from ..trees.reference import maximum_spanning_tree

LABELS = ["nsubj", "nsubj:pass", "obj", "root", ""]


@st.composite
def graphs(draw, n, least=-1):
    heads = st.lists(st.integers(least, n), min_size=n, max_size=n)
    return Graph(draw(heads), draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)))


@st.composite
def refined_sentences(draw):
    n = draw(st.integers(1, 6))
    found = draw(st.lists(graphs(n), min_size=1, max_size=4))
    if draw(st.booleans()):
        found.append(found[-1])
    return RefinedSentence(draw(graphs(n, least=0)), found, draw(st.integers(0, len(found) - 1)))


# A slow second implementation: one word after the other, with exact fractions.


def descends(heads, word, ancestor):
    for _ in range(len(heads) + 1):
        if word == ancestor:
            return True
        if word <= 0:
            return False
        word = heads[word - 1]
    return False


def literal_non_projective(heads):
    crossing = []
    for word, head in enumerate(heads, start=1):
        between = range(min(word, head) + 1, max(word, head)) if head > 0 else ()
        crossing.append(not all(descends(heads, other, head) for other in between))
    return crossing


def universal(label):
    return label.split(":")[0]


def words_of(sentences, t):
    """Of each word: sentence, gold head and label, head and label in graph t, do the arcs cross."""
    for sentence in sentences:
        graph = sentence.graphs[min(t, len(sentence.graphs) - 1)]
        gold, crossing = sentence.gold, literal_non_projective(graph.heads)
        gold_crossing = literal_non_projective(gold.heads)
        for i in range(len(gold.heads)):
            label = universal(graph.deps[i])
            yield {
                "sentence": sentence,
                "gold": (gold.heads[i], universal(gold.deps[i])),
                "arc": (graph.heads[i], label),
                "crosses": crossing[i],
                "gold_crosses": gold_crossing[i],
                "projective": not any(gold_crossing),
            }


def share(right, of):
    of = list(of)
    return Fraction(sum(right(word) for word in of), len(of)) if of else None


def is_right(word):
    return word["gold"] == word["arc"]


def f_score(words, in_gold, in_graph):
    gold, found = [w for w in words if in_gold(w)], [w for w in words if in_graph(w)]
    if not gold and not found:
        return None
    if not any(map(is_right, gold)) or not any(map(is_right, found)):
        return 0
    p, r = share(is_right, found), share(is_right, gold)
    return 2 * p * r / (p + r)


def reductions(scores):
    pairs = [*pairwise(scores), (scores[0], scores[-1])]
    found = []
    for before, after in pairs:
        is_none = before is None or after is None or before == 1
        found.append(None if is_none else ((1 - before) - (1 - after)) / (1 - before))
    return found


def assert_curve(curve, scores):
    assert list(curve.scores) == pytest.approx([None if s is None else float(s) for s in scores])
    expected = [None if r is None else float(r) for r in reductions(scores)]
    assert [*curve.reductions, curve.total] == pytest.approx(expected)


def literal_changes(before, after):
    counts = {(False, True): 0, (True, False): 0, (False, False): 0, (True, True): 0}
    for old, new in zip(before, after, strict=True):
        both_missing = old["arc"][0] == new["arc"][0] == -1
        if old["arc"] != new["arc"] and not both_missing:
            counts[is_right(old), is_right(new)] += 1
    assert counts[True, True] == 0
    return Changes(counts[False, True], counts[True, False], counts[False, False])


def test_error_reduction_is_the_share_of_errors_that_are_gone():
    assert error_reduction(0.8, 0.9) == pytest.approx(0.5)
    assert error_reduction(0.8, 0.7) == pytest.approx(-0.5)
    assert error_reduction(0.8, 1.0) == 1
    assert error_reduction(1.0, 1.0) is None
    assert error_reduction(1.0, 0.5) is None
    assert error_reduction(None, 0.5) is error_reduction(0.5, None) is None


def test_error_reduction_is_that_of_the_paper():
    """Table 2: Chinese from 89.53 to 90.48 (+9.08%), Russian from 94.60 to 94.47 (-2.4%)."""
    assert error_reduction(0.8953, 0.9048) == pytest.approx(0.0908, abs=1e-4)
    assert error_reduction(0.9460, 0.9447) == pytest.approx(-0.024, abs=1e-4)


@given(st.lists(refined_sentences(), max_size=5))
@settings(max_examples=150)
def test_equals_the_definitions_word_by_word(sentences):
    found = analyse_refinement(sentences)
    n_graphs = max((len(sentence.graphs) for sentence in sentences), default=1)
    assert found.n_iterations == n_graphs - 1
    table = [list(words_of(sentences, t)) for t in range(n_graphs)]
    assert (found.n_sentences, found.n_words) == (len(sentences), len(table[0]))
    assert_curve(found.uas, [share(lambda w: w["gold"][0] == w["arc"][0], words) for words in table])
    assert_curve(found.las, [share(is_right, words) for words in table])
    for part, projective in ((found.projective, True), (found.non_projective, False)):
        chosen = [[w for w in words if w["projective"] == projective] for words in table]
        assert_curve(part.las, [share(is_right, words) for words in chosen])
        assert part.n_words == len(chosen[0])
        assert part.n_sentences == len({id(w["sentence"]) for w in chosen[0]})
    arcs = found.non_projective_arcs
    assert arcs.n_gold == sum(w["gold_crosses"] for w in table[0])
    assert_curve(arcs.recall, [share(is_right, (w for w in ws if w["gold_crosses"])) for ws in table])
    assert_curve(arcs.precision, [share(is_right, (w for w in ws if w["crosses"])) for ws in table])
    f1 = [f_score(words, lambda w: w["gold_crosses"], lambda w: w["crosses"]) for words in table]
    assert_curve(arcs.f1, f1)
    pairs = pairwise(table)
    assert list(found.changes) == [literal_changes(before, after) for before, after in pairs]


@given(st.lists(refined_sentences(), max_size=5))
@settings(max_examples=100)
def test_label_scores_equal_the_definitions_and_are_ranked(sentences):
    found = analyse_refinement(sentences)
    table = [list(words_of(sentences, t)) for t in range(found.n_iterations + 1)]
    assert set(found.labels) == {w["gold"][1] for w in table[0]}
    for label, scores in found.labels.items():

        def in_gold(word, label=label):
            return word["gold"][1] == label

        def in_graph(word, label=label):
            return word["arc"][1] == label and word["arc"][0] >= 0

        assert scores.n_gold == sum(map(in_gold, table[0]))
        assert_curve(scores.f1, [f_score(words, in_gold, in_graph) for words in table])
    totals = [scores.f1.total for scores in found.labels.values()]
    known = [total for total in totals if total is not None]
    assert totals == [*sorted(known, reverse=True), *[None] * (len(totals) - len(known))]


@given(st.lists(refined_sentences(), max_size=5))
def test_stopped_sentences_are_counted_by_passes(sentences):
    found = analyse_refinement(sentences)
    assert len(found.stopped) == found.n_iterations + 1
    most = max((s.passes for s in sentences), default=0)
    for t, row in enumerate(found.stopped):
        chosen = [s for s in sentences if s.passes == t]
        n_unchanged = sum(s.graphs[t] == s.graphs[t - 1] for s in chosen) if t == most else len(chosen)
        n_unchanged = n_unchanged if t else 0
        assert row == Stopped(len(chosen), sum(len(s.gold.heads) for s in chosen), n_unchanged)


@given(st.integers(1, 9).flatmap(graphs))
@example(Graph([2, 1, 1], ["", "", ""]))
def test_crossing_arcs_of_any_graph_equal_the_definition(graph):
    assert non_projective_arcs(graph.heads).tolist() == literal_non_projective(graph.heads)


@given(st.integers(1, 12), st.integers(0, 1000))
def test_crossing_arcs_of_trees_equal_the_definition(n, seed):
    heads = maximum_spanning_tree(np.random.default_rng(seed).random((n, n + 1))).tolist()
    assert non_projective_arcs(heads).tolist() == literal_non_projective(heads)


TREE = Graph([2, 0, 2], ["nsubj", "root", "obj"])


def test_without_errors_there_is_no_error_reduction():
    found = analyse_refinement([RefinedSentence(TREE, [TREE, TREE], 1)])
    assert found.las.scores == found.uas.scores == (1.0, 1.0)
    assert found.las.reductions == (None,)
    assert found.las.total is None
    assert {scores.f1.total for scores in found.labels.values()} == {None}
    assert found.non_projective.las.scores == (None, None)
    assert found.non_projective_arcs.f1.scores == (None, None)
    assert found.changes == (Changes(0, 0, 0),)
    assert found.stopped == (Stopped(0, 0, 0), Stopped(1, 3, 1))


def test_one_sentence_from_an_empty_graph():
    empty = Graph([-1, -1, -1], ["", "", ""])
    half = Graph([2, 0, 1], ["nsubj", "root", "obj"])
    found = analyse_refinement([RefinedSentence(TREE, [empty, half, TREE], 2)])
    assert found.las.scores == pytest.approx((0, 2 / 3, 1))
    assert found.las.reductions == pytest.approx((2 / 3, 1))
    assert found.las.total == 1
    assert found.labels["obj"].precision.scores == (None, 0.0, 1.0)
    assert found.labels["obj"].f1.scores == (0.0, 0.0, 1.0)
    assert found.labels["obj"].f1.reductions == (0.0, 1.0)
    assert found.changes == (Changes(2, 0, 1), Changes(1, 0, 0))


def test_a_sentence_that_stopped_early_keeps_its_last_graph():
    wrong = Graph([2, 0, 1], ["nsubj", "root", "obj"])
    early, late = RefinedSentence(TREE, [wrong, wrong], 1), RefinedSentence(TREE, [wrong] * 3 + [TREE], 3)
    found = analyse_refinement([early, late])
    assert found.las.scores == pytest.approx((4 / 6, 4 / 6, 4 / 6, 5 / 6))
    assert found.stopped == (Stopped(0, 0, 0), Stopped(1, 3, 1), Stopped(0, 0, 0), Stopped(1, 3, 0))


def test_a_sentence_that_stopped_early_is_unchanged_also_where_a_tree_was_decoded_in_the_end():
    cycle = Graph([2, 1, 2], ["nsubj", "root", "obj"])
    early = RefinedSentence(TREE, [TREE, cycle, TREE], 2)
    late = RefinedSentence(TREE, [TREE, cycle, cycle, TREE], 3)
    found = analyse_refinement([early, late, late])
    assert found.stopped[2:] == (Stopped(1, 3, 1), Stopped(2, 6, 0))


def test_subtypes_do_not_count_but_for_being_unchanged():
    other = Graph(TREE.heads, ["nsubj:pass", "root", "obj"])
    found = analyse_refinement([RefinedSentence(TREE, [other, TREE], 1)])
    assert found.las.scores == (1.0, 1.0)
    assert found.changes == (Changes(0, 0, 0),)
    assert found.stopped[1].n_unchanged == 0


def test_no_sentences_give_no_scores():
    found = analyse_refinement([])
    assert found.las.scores == (None,)
    assert (found.las.total, found.labels, found.changes) == (None, {}, ())
    assert json.loads(json.dumps(found.to_dict()))["stopped"][0]["share_of_sentences"] is None


@given(st.lists(refined_sentences(), max_size=3))
def test_all_figures_go_to_json(sentences):
    found = analyse_refinement(sentences)
    table = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert table["las"] == {
        "scores": list(found.las.scores),
        "error_reductions": list(found.las.reductions),
        "total": found.las.total,
    }
    assert list(table["labels"]) == list(found.labels)
    assert "universal part" in table["compared"]
    assert sum(row["sentences"] for row in table["stopped"]) == table["sentences"] == len(sentences)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (RefinedSentence(TREE, [Graph([0], ["root"])], 0), r"E608.*Sentence 0, graph 0.*\(1, 1\)"),
        (RefinedSentence(Graph([0], []), [], 0), r"E608.*graph gold"),
        (RefinedSentence(TREE, [Graph([2, 4, -2], TREE.deps)], 0), r"E609.*graph 0.*\[4, -2\].*-1 to 3"),
        (RefinedSentence(Graph([-1], ["x"]), [], 0), r"E609.*graph gold.*\[-1\].*0 to 1"),
        (RefinedSentence(TREE, [], 0), r"E610.*0 passes and 0 graphs"),
        (RefinedSentence(TREE, [TREE], 1), r"E610.*1 passes and 1 graphs"),
        (RefinedSentence(TREE, [TREE], -1), r"E610"),
    ],
)
def test_what_is_no_refinement_is_an_error(sentence, message):
    with pytest.raises(ValueError, match=message):
        analyse_refinement([sentence])
