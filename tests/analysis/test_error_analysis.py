import json
from io import StringIO
from itertools import combinations

import pytest

from spacy_g2g.analysis.error_analysis import worst_sentences
from spacy_g2g.evaluation.alignment import check_same_words
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

from ..formats.samples import row
from .test_error_rows import GOLD, SYSTEM, Tree, analysis_of, assert_rows

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


def test_each_pair_of_systems_is_compared_by_the_bootstrap():
    gold = [GOLD, SHORT, GOLD]
    systems = [gold, [SYSTEM, SHORT, GOLD], [WORSE, SHORT_WRONG, GOLD], gold]
    analysis = analysis_of(gold, *systems, resamples=3, seed=5)
    pairs = {(row.bin, row.system) for row in analysis.rows if row.quantity == "LAS_change"}
    assert pairs == set(combinations(analysis.names, 2))
    found = paired_bootstrap([3, 1, 5], correct_b=[3, 0, 5], totals=[5, 1, 5], resamples=3, seed=5)
    figures = analysis.to_dict()["systems"]["s2"]["LAS_change"]["s1"]
    assert {kind: figures[kind]["value"] for kind in ("difference", "low", "high", "p_value")} == {
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
    }
    # The word a has another wrong label.
    changes = ("wrong_to_right", "right_to_wrong", "wrong_to_wrong")
    assert [figures[kind] for kind in changes] == [{"value": n, "count": 11} for n in (1, 2, 1)]
    same = analysis.to_dict()["systems"]["s3"]["UAS_change"]["s0"]
    assert [same[kind]["value"] for kind in (*changes, "difference", "p_value")] == [0, 0, 0, 0, 1]


def test_sentences_of_punctuation_only_are_left_out_where_it_does_not_count():
    dots: Tree = [(".", 0, "root")]
    systems = [[GOLD, dots], [SYSTEM, dots]]
    analysis = analysis_of([GOLD, dots], *systems, exclude_punct="conllx", resamples=3)
    assert analysis.totals.tolist() == [4, 0]
    assert analysis["s1", "LAS_change", "s0", "difference"].value == -0.5
    assert_rows(analysis, ("overall", "compared"), {"UEM": (1, 1), "LEM": (1, 1)})


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
    # Of sentences as bad, the one with more errors comes first.
    two: Tree = [("a", 0, "root"), ("b", 1, "obj")]
    wrong: Tree = [("a", 2, "dep"), ("b", 0, "dep")]
    assert worst_sentences(analysis_of([SHORT, two], [SHORT_WRONG, wrong]), 9, "rate") == [1, 0]


def test_all_figures_go_to_json():
    analysis = analysis_of([GOLD], [SYSTEM], [WORSE], exclude_punct="ud", subtypes=True)
    found = json.loads(json.dumps(analysis.to_dict(), allow_nan=False))
    compared = "labels with their subtypes, punctuation does not count (PUNCT in UPOS)"
    assert (found["compared"], found["exclude_punct"], found["subtypes"]) == (compared, "ud", True)
    assert (found["sentences"], found["words"], found["compared_words"]) == (1, 5, 5)
    for each in analysis.rows:
        figure = found["systems"][each.system][each.quantity][each.bin].pop(each.metric)
        assert figure == {"value": each.value, "count": each.count}
    assert not any(b for s in found["systems"].values() for q in s.values() for b in q.values())


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
        ([[A, B]], r"Expected 'a' \(gold, line 4\), found the end of the file"),
        ([], r"Expected 'a' \(gold, line 1\), found the end of the file"),
        ([[A, B], [A, B], [C]], r"Expected the end of the file, found 'c' \(x.conllu, line 7\)"),
    ],
    ids=["word", "short sentence", "long sentence", "short file", "empty file", "long file"],
)
def test_the_first_difference_in_words_is_named_with_file_and_line(system, message):
    gold = sentences([A, B], [A, B], name="gold")
    check_same_words(gold, system=sentences([A, B], [A, B]), name="s")
    system = sentences(*([(form, str(min(i, 1))) for i, (form, _) in enumerate(own)] for own in system))
    with pytest.raises(ValueError, match=f"E601.*s does not have .*{message}"):
        check_same_words(gold, system=system, name="s")
