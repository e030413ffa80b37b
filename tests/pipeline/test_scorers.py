"""Scores as Universal Dependencies counts them, checked by hand."""

import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.evaluate import evaluate
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_g2g.pipeline.scorers import make_ud_scorer, score_ud

from ..util import gold_doc, initialized_nlp, treebank_examples

VOCAB = spacy.blank("xx").vocab


def parsed(words: list[str], heads: list[int], deps: list[str], **columns: Any) -> Doc:
    return Doc(VOCAB, words=words, heads=heads, deps=deps, **columns)


def score(predicted: Doc, reference: Doc) -> dict[str, Any]:
    return score_ud([Example(predicted, reference)])


WORDS = ["she", "saw", "cats", "."]
#: The gold tree, and the same without two labels.
WHOLE = Doc(VOCAB, words=WORDS, heads=[1, 1, 1, 1], deps=["nsubj", "root", "obj", "punct"])
PARTIAL = Doc(VOCAB, words=WORDS, heads=[1, 1, 1, 1], deps=["_", "root", "_", "punct"])


@pytest.mark.parametrize(
    ("heads", "deps", "reference", "uas", "las"),
    [
        pytest.param([1, 1, 1, 1], "nsubj root obj punct", WHOLE, 1, 1, id="perfect"),
        pytest.param(
            [1, 1, 1, 2], "nsubj root OBJ punct", WHOLE, 3 / 4, 2 / 4, id="all tokens and case count"
        ),
        pytest.param([1, 1, 1, 1], "nsubj:pass root obj punct", WHOLE, 1, 3 / 4, id="subtypes are labels"),
        pytest.param([1, 1, 1, 1], "nsubj root obj punct", PARTIAL, 1, 1, id="no gold label takes any"),
        pytest.param([1, 1, 1, 1], "nsubj root obj dep", PARTIAL, 1, 3 / 4, id="a gold label does not"),
        pytest.param([1, 1, 3, 1], "nsubj root obj punct", PARTIAL, 3 / 4, 3 / 4, id="its head counts"),
    ],
)
def test_heads_and_labels_count(heads: list[int], deps: str, reference: Doc, uas: float, las: float):
    found = score(parsed(WORDS, heads, deps.split()), reference)
    assert (found["ud_uas"], found["ud_las"], found["ud_sents_f"]) == pytest.approx((uas, las, 1.0))
    gold = {token.dep_ for token in reference} - {"_"}
    scored = deps.split() if reference is WHOLE else deps.split()[1::2]
    assert set(found["ud_las_per_type"]) == gold | {*scored}


def test_the_registered_scorer_scores_each_treebank_by_its_name():
    predicted = parsed(WORDS, [1, 1, 1, 2], ["nsubj", "root", "obj", "punct"])
    examples = [Example(doc, WHOLE.copy()) for doc in (WHOLE, predicted)]
    assert "ud_las_ewt" not in make_ud_scorer()(examples)
    for example, name in zip(examples, ["ewt", "gum"], strict=True):
        example.reference.user_data["treebank"] = name
    found = make_ud_scorer()(iter(examples))
    las = [found[name] for name in ("ud_las_ewt", "ud_las_gum", "ud_las")]
    assert las == [1.0, pytest.approx(3 / 4), pytest.approx(7 / 8)]


def test_scores_of_labels():
    found = score(parsed(WORDS, [1, 1, 1, 2], ["nsubj", "root", "nsubj", "punct"]), WHOLE)["ud_las_per_type"]
    assert found["nsubj"] == {"p": 1 / 2, "r": 1.0, "f": pytest.approx(2 / 3)}
    assert found["root"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert found["obj"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert found["punct"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert list(found) == sorted(found)


def test_a_word_without_gold_is_left_out():
    reference = Doc(VOCAB, words=WORDS, heads=[1, 1, None, 1], deps=["nsubj", "root", None, "punct"])
    found = score(parsed(WORDS, [1, 1, 0, 1], ["nsubj", "root", "obj", "obj"]), reference)
    assert found["ud_uas"] == 1.0
    assert found["ud_las"] == pytest.approx(2 / 3)


def test_docs_without_gold_have_no_scores_and_those_without_a_parse_are_wrong():
    found = score(WHOLE, Doc(VOCAB, words=WORDS))
    assert found
    assert all(value is None for value in found.values())
    assert all(value is None for value in score_ud([]).values())
    assert score(Doc(VOCAB, words=WORDS), WHOLE)["ud_uas"] == 0.0


def test_counts_are_over_all_docs():
    right = Example(WHOLE, WHOLE)
    wrong = Example(parsed(["a", "b"], [0, 0], ["root", "obj"]), parsed(["a", "b"], [1, 1], ["obj", "root"]))
    assert score_ud([right, wrong])["ud_las"] == pytest.approx(4 / 6)


def test_white_space_is_left_out():
    words, deps = ["she", "\n", "saw", "cats", "."], ["nsubj", "dep", "root", "obj", "punct"]
    found = score(parsed(words, [2, 0, 2, 2, 2], deps), WHOLE)
    assert found["ud_las"] == 1.0
    assert "dep" not in found["ud_las_per_type"]


def test_a_split_word_is_wrong_on_both_sides():
    # Two of five predicted words stand for one of four gold words; three words are right.
    words, deps = ["she", "saw", "ca", "ts", "."], ["nsubj", "root", "obj", "obj", "punct"]
    predicted = parsed(words, [1, 1, 1, 1, 1], deps, spaces=[True, True, False, True, False])
    found = score(predicted, WHOLE)
    precision, recall = 3 / 5, 3 / 4
    assert found["ud_las"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found["ud_las_per_type"]["obj"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_a_joined_word_is_wrong_on_both_sides():
    predicted = parsed(["shesaw", "cats", "."], [0, 0, 0], ["root", "obj", "punct"])
    deps = ["nsubj", "root", "obj", "punct"]
    reference = parsed(WORDS, [1, 1, 1, 2], deps, spaces=[False, True, True, False])
    found = score(predicted, reference)
    assert found["ud_uas"] == 0.0
    assert found["ud_las_per_type"]["nsubj"]["r"] == 0.0
    predicted[2].head = predicted[1]
    precision, recall = 1 / 3, 1 / 4
    expected = pytest.approx(2 * precision * recall / (precision + recall))
    assert score(predicted, reference)["ud_las"] == expected


def test_sentence_scores_are_of_whole_sentences():
    gold = [[("a", "X", 0, "root")], [("b", "X", 2, "obj"), ("c", "X", 0, "root")], [("d", "X", 0, "root")]]
    guess = [[(word, "X", 0, "root")] for word in "abcd"]
    found = score(gold_doc(VOCAB, guess), gold_doc(VOCAB, gold))
    assert found["ud_sents_p"] == pytest.approx(2 / 4)
    assert found["ud_sents_r"] == pytest.approx(2 / 3)
    assert found["ud_sents_f"] == pytest.approx(4 / 7)


def test_our_names_are_none_of_spacys():
    example = Example(WHOLE, WHOLE)
    theirs = {
        *Scorer.score_tokenization([example]),
        *Scorer.score_deps([example], "dep"),
        *Scorer.score_spans([example], "sents", getter=lambda doc, _: doc.sents),
        "dep_las_per_type",
    }
    assert not theirs & set(score_ud([example]))


def test_the_registered_scorer_also_gives_spacys_own_scores():
    """These leave punctuation out, and labels may differ in case."""
    predicted = parsed(WORDS, [1, 1, 1, 2], ["nsubj", "root", "OBJ", "punct"])
    examples = iter([Example(predicted, WHOLE)])
    found = make_ud_scorer()(examples, labels=("root",))
    assert (found["ud_uas"], found["ud_las"]) == (3 / 4, 2 / 4)
    assert (found["dep_uas"], found["dep_las"], found["sents_f"]) == (1.0, 1.0, 1.0)
    without = make_ud_scorer()([Example(predicted, Doc(VOCAB, words=WORDS))])
    assert {"dep_las", "sents_f", "ud_las"} <= set(without)
    assert all(value is None for value in without.values())


@pytest.mark.filterwarnings("ignore:.*W801")
@pytest.mark.parametrize("factory", ["g2g_parser", "rng_refiner"])
def test_spacy_evaluate_prints_trees_and_sentences(
    factory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    nlp = initialized_nlp(factory=factory)
    nlp.to_disk(tmp_path / "pipeline")
    DocBin(docs=[example.reference for example in treebank_examples(nlp)]).to_disk(tmp_path / "gold.spacy")
    found = evaluate(str(tmp_path / "pipeline"), tmp_path / "gold.spacy", silent=False)
    printed = capsys.readouterr().out
    for name, score in (("UAS", found["dep_uas"]), ("LAS", found["dep_las"]), ("SENT F", found["sents_f"])):
        assert re.search(rf"^{name} +{100 * score:.2f}", printed, re.M)
