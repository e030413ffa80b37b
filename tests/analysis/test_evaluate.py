import json

import pytest

from spacy_g2g.analysis.evaluate import evaluate

from ..formats.samples import SAMPLE, row
from .util import first_cells, run

ROWS = ["# newdoc\n# text = It works.\n", row("1", "It", "2", "nsubj")]
ROWS += [row("2", "works", "0", "root").replace("_\t_\n", "_\tSpaceAfter=No\n"), row("3", ".", "2", "punct")]
ROWS += ["\n# newdoc\n# text = We do not know\n", row("1", "We", "0", "root"), row("2", "do", "1", "dep")]
ROWS += [row("3", "not", "2", "dep"), row("4", "know", "3", "dep"), "\n"]
TEXT = "".join(ROWS)


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(TEXT)
    return path


def test_gold_words_and_sentences_are_given(pipeline, gold):
    scores = evaluate(pipeline, gold)
    assert scores["Words"].f1 == scores["Sentences"].f1 == 1
    assert (scores["UAS"].correct, scores["UAS"].gold) == (5, 7)
    assert (scores["LAS"].correct, scores["LAS"].gold) == (4, 7)
    # The text is simple.
    assert evaluate(pipeline, gold, raw=True) == scores


def test_raw_text_is_cut_by_the_pipeline(pipeline, sample):
    scores = evaluate(pipeline, sample, raw=True)
    # The multiword tokens and "10 000" are out of reach for the tokenizer.
    assert (scores["Words"].system, scores["Words"].gold) == (12, 13)
    assert 0 < scores["Words"].f1 < 1
    assert scores["Tokens"].correct == 10


def test_sentences_are_predicted_over_gold_words(pipeline, gold, tmp_path):
    scores = evaluate(pipeline, gold, predict_sentences=True)
    assert scores["Words"].f1 == 1
    # The two paragraphs are a sentence each.
    assert scores == evaluate(pipeline, gold)
    one = tmp_path / "one.conllu"
    one.write_text(TEXT.replace("\n# newdoc", "\n", 1))
    scores = evaluate(pipeline, one, predict_sentences=True)
    assert (scores["Words"].f1, scores["Sentences"].system) == (1, 2)
    assert evaluate(pipeline, one, predict_sentences=True, gold_tags=True)["Sentences"].system == 2


def test_words_of_multiword_tokens_have_places_in_the_text_or_there_is_an_error(pipeline, sample):
    assert evaluate(pipeline, sample, predict_sentences=True)["Words"].f1 == 1
    sample.write_text(SAMPLE.replace("\tal\t", "\tà\t"))
    with pytest.raises(ValueError, match="E605"):
        evaluate(pipeline, sample, predict_sentences=True)


@pytest.mark.parametrize(
    "options",
    [
        ["--predict-sentences", "--raw"],
        ["--predict-sentences", "--initial=x.conllu"],
        ["--raw", "--gold-tags"],
        ["--raw", "--plot=a.png"],
    ],
)
def test_options_that_contradict_each_other_are_refused(pipeline, gold, options):
    printed = run("evaluate", pipeline, gold, *options, status=2)
    assert "expected" in printed
    assert options[-1].partition("=")[0] in printed


def test_tags_are_those_of_the_pipeline_unless_gold_ones_are_asked_for(pipeline, sample):
    assert evaluate(pipeline, sample)["UPOS"].correct == 0
    scores = evaluate(pipeline, sample, gold_tags=True)
    assert scores["AllTags"].f1 == scores["Lemmas"].f1 == 1


def test_gold_needs_complete_trees(pipeline, tmp_path):
    (tmp_path / "gold.conllu").write_text(row("1") + row("2", head="_"))
    with pytest.raises(ValueError, match=r"E304.*gold\.conllu, line 2"):
        evaluate(pipeline, tmp_path / "gold.conllu")


def test_command_prints_percentages_and_writes_json_without_scores_of_missing_columns(
    pipeline, gold, tmp_path
):
    out = tmp_path / "metrics" / "scores.json"
    table = first_cells(run("evaluate", pipeline, gold, "--output", out))
    assert table["LAS"] == ["57.14"] * 4
    assert table["Words"] == ["100.00"] * 3
    scores = json.loads(out.read_text())
    assert scores["LAS"]["f1"] == pytest.approx(4 / 7)
    assert scores["LAS"]["correct"] == 4
    assert scores["Tokens"]["aligned_accuracy"] is None
    for metric in ("UPOS", "XPOS", "UFeats", "Lemmas"):
        assert table[metric] == ["-"] * 4
        assert scores[metric]["f1"] is None


def test_trees_of_a_file_are_what_a_pipeline_begins_with(no_parser, sample):
    assert evaluate(no_parser, sample)["LAS"].f1 == 0.0
    assert evaluate(no_parser, sample, initial=sample)["LAS"].f1 == 1.0


CONLLX = """\
1\tIt\t_\tPRP\tPRP\t_\t0\troot\t_\t_
2\tworks\t_\tVBZ\tVBZ\t_\t1\tverb\t_\t_
3\t.\t_\t.\t.\t_\t1\tpunct\t1\tP
"""


def test_conllx_is_scored_without_punctuation_on_request(pipeline, tmp_path):
    path = tmp_path / "gold.conllx"
    path.write_text(CONLLX)
    assert "UAS_nopunct" not in evaluate(pipeline, path)
    scores = evaluate(pipeline, path, exclude_punct="ptb")
    assert [(scores[name].correct, scores[name].gold) for name in ("UAS", "UAS_nopunct")] == [(2, 3), (2, 2)]
    out = tmp_path / "scores.json"
    run("evaluate", pipeline, path, "--exclude-punct", "conllx", "--output", out)
    assert json.loads(out.read_text())["LAS_nopunct"]["f1"] == 0.5


def test_bad_punctuation_is_a_warning_or_an_error(pipeline, gold):
    with pytest.warns(UserWarning, match=r"W901.*None of the 7 words of .*gold\.conllu.*'ctb'.*tag PU"):
        scores = evaluate(pipeline, gold, exclude_punct="ctb")
    assert scores["LAS_nopunct"] == scores["LAS"]
    with pytest.raises(ValueError, match="E615"):
        evaluate(pipeline, gold, exclude_punct="yes")
