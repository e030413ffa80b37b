"""The figures of an analysis against a slow second implementation, and against figures worked out by hand."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.analysis.error_analysis import Analysis, analyze_errors
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence
from spacy_g2g.formats.graph import Graph

from ..formats.samples import row
from ..util import tries

LABELS = ["nsubj", "nsubj:pass", "obj", "case", "punct"]
FORMS = ["a", "b", "."]

Tree = list[tuple[str, int, str]]  # form, head and label of each word


def sentence_of(tree: Tree) -> ConlluSentence:
    rows = [row(str(i), form, str(head), label) for i, (form, head, label) in enumerate(tree, start=1)]
    return parse_sentence([*rows, "\n"], trees="full")


@st.composite
def arcs(draw, n: int) -> list[tuple[int, str]]:
    """Heads and labels of any tree with one root."""
    order = draw(st.permutations(range(1, n + 1)))
    heads = {order[0]: 0}
    for i, word in enumerate(order[1:], start=1):
        heads[word] = order[draw(st.integers(0, i - 1))]
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n))
    return [(heads[word], label) for word, label in zip(range(1, n + 1), labels, strict=True)]


@st.composite
def treebanks(draw) -> tuple[list[Tree], list[Tree]]:
    """Gold trees, and a system's, which has some arcs from them."""
    gold, system = [], []
    for n in draw(st.lists(st.integers(1, 12), min_size=1, max_size=5)):
        forms = draw(st.lists(st.sampled_from(FORMS), min_size=n, max_size=n))
        right = draw(arcs(n))
        found = right if draw(st.booleans()) else draw(arcs(n))
        labels = draw(st.lists(st.none() | st.sampled_from(LABELS), min_size=n, max_size=n))
        found = [(head, other or label) for (head, label), other in zip(found, labels, strict=True)]
        for trees, own in ((gold, right), (system, found)):
            trees.append([(form, *arc) for form, arc in zip(forms, own, strict=True)])
    return gold, system


# A slow second implementation: one word after the other, with exact fractions.


def path_to_root(tree: Tree, word: int) -> list[int]:
    path = [word]
    while path[-1]:
        path.append(tree[path[-1] - 1][1])
    return path


def crosses(tree: Tree, word: int) -> bool:
    head = tree[word - 1][1]
    between = range(min(word, head) + 1, max(word, head))
    return any(head not in path_to_root(tree, other) for other in between)


def length_bin(tree: Tree, word: int) -> str:
    head = tree[word - 1][1]
    length = abs(word - head)
    return "ROOT" if head == 0 else str(length) if length <= 7 else ">7"


def distance_bin(tree: Tree, word: int) -> str:
    distance = len(path_to_root(tree, word)) - 1
    return str(distance) if distance <= 7 else ">7"


def projectivity_bin(tree: Tree, word: int) -> str:
    return "non-projective" if crosses(tree, word) else "projective"


def tree_bin(tree: Tree) -> str:
    return "non-projective" if any(crosses(tree, i) for i in range(1, len(tree) + 1)) else "projective"


def sentence_bin(tree: Tree) -> str:
    bins = {"1-9": 9, "10-19": 19, "20-29": 29, "30-39": 39, "40-49": 49}
    return next((name for name, most in bins.items() if len(tree) <= most), "≥50")


def label_of(tree: Tree, word: int, subtypes: bool) -> str:
    label = tree[word - 1][2]
    return label if subtypes else label.split(":")[0]


def words_of(gold: list[Tree], system: list[Tree], subtypes: bool, exclude: bool):
    for place, (right, found) in enumerate(zip(gold, system, strict=True)):
        for word in range(1, len(right) + 1):
            if exclude and right[word - 1][0] == ".":
                continue
            labels = [label_of(tree, word, subtypes) for tree in (right, found)]
            yield {
                "place": place,
                "dependency_length": (length_bin(right, word), length_bin(found, word)),
                "distance_to_root": (distance_bin(right, word), distance_bin(found, word)),
                "arc_projectivity": (projectivity_bin(right, word), projectivity_bin(found, word)),
                "label": tuple(labels),
                "sentence_length": sentence_bin(right),
                "tree_projectivity": tree_bin(right),
                "UAS": right[word - 1][1] == found[word - 1][1],
                "label accuracy": labels[0] == labels[1],
            }


def share(items: list[bool]) -> tuple[Fraction | None, int]:
    return (Fraction(sum(items), len(items)) if items else None), len(items)


def scores(pairs: list[tuple[str, str, bool]], name: str) -> dict[str, tuple[Fraction | None, int]]:
    """Of the bin of this name. pairs: Gold bin, system's bin, is it right."""
    precision = share([right for _, found, right in pairs if found == name])
    recall = share([right for gold, _, right in pairs if gold == name])
    p, r = precision[0], recall[0]
    f1 = None if p is None and r is None else Fraction(0) if not p or not r else 2 * p * r / (p + r)
    return {"precision": precision, "recall": recall, "f1": (f1, recall[1])}


def assert_rows(analysis: Analysis, part: tuple[str, str], expected) -> None:
    """Compare the rows of a quantity and bin with values and counts by metric."""
    for metric, (value, count) in expected.items():
        row = analysis[("s0", *part, metric)]
        assert row.value == pytest.approx(None if value is None else float(value)), (part, metric)
        assert row.count == count, (part, metric)


def analysis_of(gold: list[Tree], *systems: list[Tree], **settings) -> Analysis:
    named = {f"s{i}": [sentence_of(tree).graph() for tree in trees] for i, trees in enumerate(systems)}
    return analyze_errors([sentence_of(tree) for tree in gold], named, **settings)


@given(treebanks(), st.booleans(), st.booleans())
def test_equals_the_definitions_word_by_word(trees, subtypes, exclude):
    gold, system = trees
    words = list(words_of(gold, system, subtypes, exclude))
    options = {"subtypes": subtypes, "exclude_punct": "conllx" if exclude else ""}
    if not words:
        with pytest.raises(ValueError, match="E602"):
            analysis_of(gold, system, **options)
        return
    analysis = analysis_of(gold, system, **options)
    assert analysis.totals.sum() == len(words)
    for word in words:
        word["LAS"] = word["UAS"] and word["label accuracy"]
    expected = {
        metric: share([word[metric] for word in words]) for metric in ("UAS", "LAS", "label accuracy")
    }
    by_sentence = [[w for w in words if w["place"] == place] for place in range(len(gold))]
    for name, metric in (("UEM", "UAS"), ("LEM", "LAS")):
        expected[name] = share([all(w[metric] for w in own) for own in by_sentence if own])
    assert_rows(analysis, ("overall", "compared"), expected)
    for quantity in ("dependency_length", "distance_to_root", "arc_projectivity", "label"):
        pairs = [(*word[quantity], word["LAS"]) for word in words]
        for name in analysis.bins(quantity):
            assert_rows(analysis, (quantity, name), scores(pairs, name))
        assert {bin_ for pair in pairs for bin_ in pair[:2]} <= set(analysis.bins(quantity))
    for quantity in ("sentence_length", "tree_projectivity"):
        for name in analysis.bins(quantity):
            own = [word for word in words if word[quantity] == name]
            of_words = {m: share([word[m] for word in own]) for m in ("UAS", "LAS")}
            assert_rows(analysis, (quantity, name), of_words)
    bins = [(tree_bin(right), tree_bin(found)) for right, found in zip(gold, system, strict=True)]
    for name in analysis.bins("tree_projectivity"):
        expected = scores([(one, other, one == other) for one, other in bins], name)
        assert_rows(analysis, ("tree_projectivity", name), expected)
    for quantity, metric in (("confusions", "label accuracy"), ("confusions_at_right_heads", "UAS")):
        wrong = [word["label"] for word in words if word["label"][0] != word["label"][1]]
        if metric == "UAS":
            wrong = [w["label"] for w in words if w["UAS"] and not w["label accuracy"]]
        found = {row.bin: row.value for row in analysis.rows if row.quantity == quantity}
        assert found == Counter(" → ".join(pair) for pair in wrong)


@given(treebanks(), st.booleans(), st.booleans())
@tries(20)
def test_ud_scores_are_those_of_the_shared_task_whatever_is_compared(trees, subtypes, exclude):
    gold, system = trees
    if exclude and all(form == "." for tree in gold for form, _, _ in tree):
        return
    found = analysis_of(gold, system, subtypes=subtypes, exclude_punct="conllx" if exclude else "")
    expected = evaluate_sentences(map(sentence_of, gold), system=map(sentence_of, system))
    for metric in ("UAS", "LAS", "CLAS"):
        row = found["s0", "overall", "conll18", metric]
        # None stands for the shared task's 0 where no word is a content word on either side.
        assert (row.value or 0) == pytest.approx(expected[metric].f1)
        assert row.count == expected[metric].gold


@given(treebanks(), st.booleans())
@tries(10)
def test_gold_against_gold_is_right_in_every_bin(trees, subtypes):
    rows = analysis_of(trees[0], trees[0], subtypes=subtypes).rows
    assert {row.value for row in rows} <= {1.0, None}
    assert all(row.value is None or row.count for row in rows)


#: The system calls a an object, and hangs d on the full stop.
GOLD: Tree = [("a", 2, "nsubj"), ("b", 0, "root"), ("c", 4, "case"), ("d", 2, "obj"), (".", 2, "punct")]
SYSTEM: Tree = [("a", 2, "obj"), ("b", 0, "root"), ("c", 4, "case"), ("d", 5, "obj"), (".", 2, "punct")]


def test_figures_of_a_sentence_worked_out_by_hand():
    analysis = analysis_of([GOLD], [SYSTEM])
    for part, expected in {
        ("overall", "compared"): {
            "UAS": (0.8, 5),
            "LAS": (0.6, 5),
            "label accuracy": (0.8, 5),
            "UEM": (0, 1),
            "LEM": (0, 1),
        },
        # Content words of gold: a, b, d; of the system: a, b, d; right: b.
        ("overall", "conll18"): {"CLAS": (1 / 3, 3)},
        # Length 1: gold a and c; the system's a, c and d (from 5); right: c.
        ("dependency_length", "1"): {"precision": (1 / 3, 3), "recall": (0.5, 2), "f1": (0.4, 2)},
        ("dependency_length", "2"): {"precision": (None, 0), "recall": (0, 1), "f1": (0, 1)},
        ("dependency_length", "3"): {"precision": (1, 1), "recall": (1, 1), "f1": (1, 1)},
        ("dependency_length", "4"): {"precision": (None, 0), "recall": (None, 0), "f1": (None, 0)},
        # c is right, but at distance 3 by gold (c, d, b) and 4 by the system (c, d, ., b).
        ("distance_to_root", "3"): {"precision": (0, 1), "recall": (1, 1), "f1": (0, 1)},
        ("distance_to_root", "4"): {"precision": (1, 1), "recall": (None, 0), "f1": (0, 0)},
        ("label", "obj"): {"precision": (0, 2), "recall": (0, 1), "f1": (0, 1)},
        ("sentence_length", "1-9"): {"UAS": (0.8, 5), "LAS": (0.6, 5)},
    }.items():
        assert_rows(analysis, part, expected)
    assert analysis.bins("dependency_length") == ["ROOT", "1", "2", "3", "4", "5", "6", "7", ">7"]


def test_subtypes_count_only_where_they_are_asked_for():
    other = [(form, head, label.replace("nsubj", "nsubj:pass")) for form, head, label in GOLD]
    assert_rows(analysis_of([GOLD], [other]), ("overall", "compared"), {"LAS": (1, 5)})
    analysis = analysis_of([GOLD], [other], subtypes=True)
    assert_rows(analysis, ("overall", "compared"), {"LAS": (0.8, 5)})
    assert_rows(analysis, ("overall", "conll18"), {"LAS": (1, 5)})
    assert set(analysis.bins("label")) == {"nsubj", "nsubj:pass", "root", "case", "obj", "punct"}


@pytest.mark.parametrize(
    ("n", "name"), [(1, "1-9"), (9, "1-9"), (10, "10-19"), (49, "40-49"), (50, "≥50"), (80, "≥50")]
)
def test_a_chain_is_long_and_deep_up_to_the_last_bin(n, name):
    chain = [("a", i, "dep" if i else "root") for i in range(n)]
    analysis = analysis_of([chain], [chain])

    def counts(quantity, metric):
        return {bin_: analysis["s0", quantity, bin_, metric].count for bin_ in analysis.bins(quantity)}

    assert {bin_: n for bin_, n in counts("sentence_length", "LAS").items() if n} == {name: n}
    depths = list(counts("distance_to_root", "recall").values())
    assert depths == [*(int(n >= distance) for distance in range(1, 8)), max(0, n - 7)]
    assert counts("dependency_length", "recall")["1"] == n - 1


def test_labels_come_by_their_frequency_and_are_those_of_all_systems():
    odd = [("a", 2, "z"), *GOLD[1:]]
    analysis = analysis_of([GOLD, GOLD[:2]], [GOLD, GOLD[:2]], [odd, GOLD[:2]])
    assert analysis.bins("label") == ["nsubj", "root", "case", "obj", "punct", "z"]
    assert {row.system for row in analysis.rows if row.bin == "z"} == {"s0", "s1"}


def test_words_without_a_head_are_wrong_and_arcs_of_a_cycle_are_far_from_the_root():
    graph = Graph([2, 1, -1, 3, 2], ["nsubj", "root", "", "obj", "punct"])
    analysis = analyze_errors([sentence_of(GOLD)], {"s0": [graph]})
    assert_rows(analysis, ("overall", "compared"), {"UAS": (0.4, 5), "LAS": (0.4, 5)})
    assert_rows(analysis, ("distance_to_root", ">7"), {"precision": (2 / 3, 3), "recall": (None, 0)})
    assert_rows(analysis, ("arc_projectivity", "projective"), {"precision": (1 / 3, 3), "recall": (0.4, 5)})
