"""The tables of an analysis against a slow second implementation, and against figures worked out by hand."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.evaluation.error_analysis import Analysis, analyse_errors
from spacy_g2g.evaluation.scoring_options import ScoringOptions
from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence

from ..formats.samples import row

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


def words_of(gold: list[Tree], system: list[Tree], options: ScoringOptions):
    for place, (right, found) in enumerate(zip(gold, system, strict=True)):
        for word in range(1, len(right) + 1):
            if options.exclude_punct and right[word - 1][0] == ".":
                continue
            labels = [label_of(tree, word, options.subtypes) for tree in (right, found)]
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


def assert_measures(found, expected) -> None:
    assert set(found) == set(expected)
    for metric, (value, count) in expected.items():
        assert found[metric].value == pytest.approx(None if value is None else float(value)), metric
        assert found[metric].count == count, metric


def analysis_of(gold: list[Tree], *systems: list[Tree], **settings) -> Analysis:
    named = {f"s{i}": [sentence_of(tree) for tree in trees] for i, trees in enumerate(systems)}
    return analyse_errors([sentence_of(tree) for tree in gold], named, resamples=3, **settings)


@given(treebanks(), st.booleans(), st.booleans())
def test_equals_the_definitions_word_by_word(trees, subtypes, exclude):
    gold, system = trees
    options = ScoringOptions(subtypes, "conllx" if exclude else "")
    words = list(words_of(gold, system, options))
    if not words:
        with pytest.raises(ValueError, match="E602"):
            analysis_of(gold, system, options=options)
        return
    analysis = analysis_of(gold, system, options=options)
    tables = analysis.tables["s0"]
    assert analysis.n_compared == len(words)
    for word in words:
        word["LAS"] = word["UAS"] and word["label accuracy"]
    expected = {
        metric: share([word[metric] for word in words]) for metric in ("UAS", "LAS", "label accuracy")
    }
    by_sentence = [[w for w in words if w["place"] == place] for place in range(len(gold))]
    for name, metric in (("UEM", "UAS"), ("LEM", "LAS")):
        expected[name] = share([all(w[metric] for w in own) for own in by_sentence if own])
    assert_measures(tables["overall"]["compared"], expected)
    for quantity in ("dependency_length", "distance_to_root", "arc_projectivity", "label"):
        pairs = [(*word[quantity], word["LAS"]) for word in words]
        for name, measures in tables[quantity].items():
            assert_measures(measures, scores(pairs, name))
        assert {bin_ for pair in pairs for bin_ in pair[:2]} <= set(tables[quantity])
    for name, measures in tables["sentence_length"].items():
        own = [word for word in words if word["sentence_length"] == name]
        assert_measures(measures, {m: share([word[m] for word in own]) for m in ("UAS", "LAS")})
    pairs = [
        (tree_bin(right), tree_bin(found), tree_bin(right) == tree_bin(found))
        for right, found in zip(gold, system, strict=True)
    ]
    for name, measures in tables["tree_projectivity"].items():
        own = [word for word in words if word["tree_projectivity"] == name]
        of_words = {metric: share([word[metric] for word in own]) for metric in ("UAS", "LAS")}
        assert_measures(measures, of_words | scores(pairs, name))


@given(treebanks(), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_ud_scores_are_those_of_the_shared_task_whatever_is_compared(trees, subtypes, exclude):
    gold, system = trees
    options = ScoringOptions(subtypes, "conllx" if exclude else "")
    if exclude and all(form == "." for tree in gold for form, _, _ in tree):
        return
    found = analysis_of(gold, system, options=options).tables["s0"]["overall"]["conll18"]
    expected = evaluate_sentences(map(sentence_of, gold), map(sentence_of, system))
    for metric in ("UAS", "LAS", "CLAS"):
        # None stands for the shared task's 0 where no word is a content word on either side.
        assert (found[metric].value or 0) == pytest.approx(expected[metric].f1)
        assert found[metric].count == expected[metric].gold


@given(treebanks(), st.booleans())
@settings(max_examples=10, deadline=None)
def test_gold_against_gold_is_right_in_every_bin(trees, subtypes):
    gold, _ = trees
    tables = analysis_of(gold, gold, options=ScoringOptions(subtypes)).tables["s0"]
    values = {
        measure.value for table in tables.values() for bin_ in table.values() for measure in bin_.values()
    }
    assert values <= {1.0, None}
    assert all(
        measure.value is None or measure.count
        for table in tables.values()
        for bin_ in table.values()
        for measure in bin_.values()
    )


#: The system calls a an object, and hangs d on the full stop.
GOLD: Tree = [("a", 2, "nsubj"), ("b", 0, "root"), ("c", 4, "case"), ("d", 2, "obj"), (".", 2, "punct")]
SYSTEM: Tree = [("a", 2, "obj"), ("b", 0, "root"), ("c", 4, "case"), ("d", 5, "obj"), (".", 2, "punct")]


def test_figures_of_a_sentence_worked_out_by_hand():
    tables = analysis_of([GOLD], [SYSTEM]).tables["s0"]
    assert_measures(
        tables["overall"]["compared"],
        {"UAS": (0.8, 5), "LAS": (0.6, 5), "label accuracy": (0.8, 5), "UEM": (0, 1), "LEM": (0, 1)},
    )
    # Content words of gold: a, b, d; of the system: a, b, d; right: b.
    assert tables["overall"]["conll18"]["CLAS"].value == pytest.approx(1 / 3)
    lengths = tables["dependency_length"]
    assert list(lengths) == ["ROOT", "1", "2", "3", "4", "5", "6", "7", ">7"]
    # Length 1: gold a and c; the system's a, c and d (from 5); right: c.
    assert_measures(lengths["1"], {"precision": (1 / 3, 3), "recall": (0.5, 2), "f1": (0.4, 2)})
    assert_measures(lengths["2"], {"precision": (None, 0), "recall": (0, 1), "f1": (0, 1)})
    assert_measures(lengths["3"], {"precision": (1, 1), "recall": (1, 1), "f1": (1, 1)})
    assert_measures(lengths["4"], {"precision": (None, 0), "recall": (None, 0), "f1": (None, 0)})
    distances = tables["distance_to_root"]
    # c is right, but at distance 3 by gold (c, d, b) and 4 by the system (c, d, ., b).
    assert_measures(distances["3"], {"precision": (0, 1), "recall": (1, 1), "f1": (0, 1)})
    assert_measures(distances["4"], {"precision": (1, 1), "recall": (None, 0), "f1": (0, 0)})
    assert_measures(tables["label"]["obj"], {"precision": (0, 2), "recall": (0, 1), "f1": (0, 1)})
    assert_measures(tables["sentence_length"]["1-9"], {"UAS": (0.8, 5), "LAS": (0.6, 5)})


def test_subtypes_count_only_where_they_are_asked_for():
    other = [(form, head, label.replace("nsubj", "nsubj:pass")) for form, head, label in GOLD]
    assert analysis_of([GOLD], [other]).tables["s0"]["overall"]["compared"]["LAS"].value == 1
    tables = analysis_of([GOLD], [other], options=ScoringOptions(subtypes=True)).tables["s0"]
    assert tables["overall"]["compared"]["LAS"].value == 0.8
    assert tables["overall"]["conll18"]["LAS"].value == 1
    assert set(tables["label"]) == {"nsubj", "nsubj:pass", "root", "case", "obj", "punct"}


@pytest.mark.parametrize(
    ("n", "name"), [(1, "1-9"), (9, "1-9"), (10, "10-19"), (49, "40-49"), (50, "≥50"), (80, "≥50")]
)
def test_a_chain_is_long_and_deep_up_to_the_last_bin(n, name):
    chain = [("a", i, "dep" if i else "root") for i in range(n)]
    tables = analysis_of([chain], [chain]).tables["s0"]
    counts = {bin_: measures["LAS"].count for bin_, measures in tables["sentence_length"].items()}
    assert {bin_: count for bin_, count in counts.items() if count} == {name: n}
    depths = [measures["recall"].count for measures in tables["distance_to_root"].values()]
    assert depths == [*(int(n >= distance) for distance in range(1, 8)), max(0, n - 7)]
    assert tables["dependency_length"]["1"]["recall"].count == n - 1


def test_labels_come_by_their_frequency_and_are_those_of_all_systems():
    odd = [("a", 2, "z"), *GOLD[1:]]
    analysis = analysis_of([GOLD, GOLD[:2]], [GOLD, GOLD[:2]], [odd, GOLD[:2]])
    for tables in analysis.tables.values():
        assert list(tables["label"]) == ["nsubj", "root", "case", "obj", "punct", "z"]
