import json
from io import StringIO

import pytest

from spacy_g2g.evaluation.alignment import check_same_words
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.evaluation.error_analysis import analyse_errors, worst_sentences
from spacy_g2g.evaluation.error_tables import Rate
from spacy_g2g.evaluation.scoring_options import ScoringOptions
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

from ..formats.samples import row
from .test_error_tables import GOLD, SYSTEM, Tree, analysis_of

#: Word 1 is wrong in WORSE and right in SYSTEM, word 4 the other way round.
WORSE: Tree = [("a", 2, "x"), ("b", 0, "root"), ("c", 2, "mark"), ("d", 2, "obj"), (".", 2, "punct")]
SHORT: Tree = [("a", 0, "root")]
SHORT_WRONG: Tree = [("a", 0, "dep")]


def sentences(*blocks: list[tuple[str, str]], name: str = "x.conllu") -> list[ConlluSentence]:
    """Sentences of (form, head) pairs, read from a file of this name."""
    lines = []
    for block in blocks:
        lines += [row(str(i), form, head) for i, (form, head) in enumerate(block, start=1)] + ["\n"]

    file_ = StringIO("".join(lines))
    file_.name = name
    return list(read_conllu(file_))


def test_a_system_is_not_different_from_itself():
    analysis = analysis_of([GOLD, SHORT], [SYSTEM, SHORT], [SYSTEM, SHORT])
    assert [found.metric for found in analysis.significance] == ["UAS", "LAS"]
    for found in analysis.significance:
        assert (found.a, found.b, found.only_a, found.only_b) == ("s0", "s1", 0, 0)
        assert (found.comparison.difference, found.comparison.p_value) == (0, 1)


def test_each_pair_of_systems_is_compared_by_the_bootstrap():
    gold = [GOLD, SHORT, GOLD]
    analysis = analysis_of(gold, gold, [SYSTEM, SHORT, GOLD], [WORSE, SHORT_WRONG, GOLD], seed=5)
    pairs = [(found.a, found.b, found.metric) for found in analysis.significance]
    names = [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert pairs == [(*pair, metric) for pair in names for metric in ("UAS", "LAS")]
    found = analysis.significance[-1]
    assert found.comparison == paired_bootstrap([3, 1, 5], [3, 0, 5], [5, 1, 5], 3, 5)
    assert (found.only_a, found.only_b) == (2, 1)


def test_one_system_is_compared_with_none():
    assert analysis_of([GOLD], [SYSTEM]).significance == ()


def test_sentences_of_punctuation_only_are_left_out_where_it_does_not_count():
    dots: Tree = [(".", 0, "root")]
    analysis = analysis_of(
        [GOLD, dots], [GOLD, dots], [SYSTEM, dots], options=ScoringOptions(False, "conllx")
    )
    assert analysis.totals.tolist() == [4, 0]
    assert analysis.significance[1].comparison.score_b == 0.5
    overall = analysis.tables["s0"]["overall"]["compared"]
    assert overall["UEM"] == overall["LEM"] == Rate(1.0, 1)


def test_confusions_are_counted_by_gold_and_wrong_label_the_most_frequent_first():
    analysis = analysis_of([GOLD, GOLD], [SYSTEM, WORSE])
    # a is an obj in one tree and an x in the other; c has a wrong head in WORSE.
    assert analysis.confusions["s0"] == {("case", "mark"): 1, ("nsubj", "obj"): 1, ("nsubj", "x"): 1}
    assert analysis.confusions_at_right_heads["s0"] == {("nsubj", "obj"): 1, ("nsubj", "x"): 1}
    analysis = analysis_of([GOLD, GOLD], [SYSTEM, SYSTEM])
    assert analysis.confusions["s0"] == {("nsubj", "obj"): 2}


def test_the_worst_sentences_come_first_and_right_ones_never():
    gold = [GOLD, SHORT, GOLD, GOLD, SHORT]
    analysis = analysis_of(
        gold, [SYSTEM, SHORT_WRONG, GOLD, GOLD, SHORT], [SYSTEM, SHORT_WRONG, GOLD, WORSE, SHORT]
    )
    assert analysis.wrong.tolist() == [[2, 1, 0, 0, 0], [2, 1, 0, 2, 0]]
    assert worst_sentences(analysis, 9) == [0, 1, 3] == worst_sentences(analysis, 9, "errors")
    assert worst_sentences(analysis, 9, "rate") == [1, 0, 3]
    assert worst_sentences(analysis, 9, "difference") == [3]
    assert worst_sentences(analysis, 2) == [0, 1]
    assert worst_sentences(analysis, 0) == []
    with pytest.raises(ValueError, match=r"E603.*'length'.*errors, rate, difference"):
        worst_sentences(analysis, 1, "length")


def test_of_sentences_as_bad_the_one_with_more_errors_comes_first():
    two: Tree = [("a", 0, "root"), ("b", 1, "obj")]
    wrong: Tree = [("a", 2, "dep"), ("b", 0, "dep")]
    assert worst_sentences(analysis_of([SHORT, two], [SHORT_WRONG, wrong]), 9, "rate") == [1, 0]


def test_what_is_compared_is_said():
    assert str(ScoringOptions()) == "universal part of labels, punctuation counts"
    excluded = str(ScoringOptions(True, "ud"))
    assert excluded == "labels with their subtypes, punctuation does not count (PUNCT in UPOS)"


def test_all_figures_go_to_json():
    analysis = analysis_of([GOLD], [SYSTEM], [WORSE])
    found = json.loads(json.dumps(analysis.to_dict(), allow_nan=False))
    assert found == analysis.to_dict()
    assert found["systems"]["s0"]["dependency_length"]["1"]["recall"] == {"value": 0.5, "count": 2}
    assert found["systems"]["s0"]["dependency_length"]["7"]["f1"] == {"value": None, "count": 0}
    assert found["confusions"]["s0"] == [{"gold": "nsubj", "system": "obj", "count": 1}]
    assert found["significance"][1]["comparison"]["score_a"] == 0.6
    assert (found["sentences"], found["words"], found["compared_words"]) == (1, 5, 5)


def test_tidy_rows_are_the_figures_of_the_tables():
    analysis = analysis_of([GOLD], [SYSTEM], [WORSE])
    rows = list(analysis.tidy())
    assert len({row[:4] for row in rows}) == len(rows)
    for system, quantity, bin_, metric, value, count in rows:
        rate = analysis.tables[system][quantity][bin_][metric]
        assert (rate.value, rate.count) == (value, count)
    assert len(rows) == sum(
        len(bin_)
        for tables in analysis.tables.values()
        for table in tables.values()
        for bin_ in table.values()
    )


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError, match=r"E602.*None of the 0 gold words"):
        analyse_errors([], {"s": []})


A, B, C = ("a", "0"), ("b", "1"), ("c", "1")


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ([[A, B], [A, C]], r"Expected 'b' \(gold, line 5\), found 'c' \(x.conllu, line 5\)"),
        ([[A, B], [A]], r"Expected 'b' \(gold, line 5\), found the end of the sentence \(x.conllu, line 4\)"),
        (
            [[A, B, C], [A, B]],
            r"Expected the end of the sentence \(gold, line 2\), found 'c' \(x.conllu, line 3\)",
        ),
        ([[A, B]], r"Expected the sentence 'a b' \(gold, line 4\), found the end of the file"),
        ([], r"Expected the sentence 'a b' \(gold, line 1\), found the end of the file"),
        ([[A, B], [A, B], [C]], r"Expected the end of the file, found the sentence 'c' \(x.conllu, line 7\)"),
    ],
    ids=["word", "short sentence", "long sentence", "short file", "empty file", "long file"],
)
def test_the_first_difference_in_words_is_named_with_file_and_line(system, message):
    gold = sentences([A, B], [A, B], name="gold")
    check_same_words(gold, sentences([A, B], [A, B]), "s")
    system = sentences(*([(form, str(min(i, 1))) for i, (form, _) in enumerate(own)] for own in system))
    with pytest.raises(ValueError, match=f"E601.*s does not have .*{message}"):
        check_same_words(gold, system, "s")
