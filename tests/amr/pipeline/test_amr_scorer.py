"""Smatch over Examples, checked against ``evaluation.smatch`` and by hand."""

import time

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from spacy_g2g.amr.data.docs import set_amrs
from spacy_g2g.amr.evaluation.smatch import smatch
from spacy_g2g.amr.pipeline.amr_scorer import make_amr_scorer, score_amrs

VOCAB = spacy.blank("xx").vocab
BARK = "(b / bark-01 :ARG0 (d / dog) :mod (l / loud))"
DOG = "(d / dog :ARG0-of (b / bark-01))"
WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
NAMES = ["smatch_p", "smatch_r", "smatch_f", "amr_concepts_p", "amr_concepts_r", "amr_concepts_f"]


def doc(sentences: list[str], amrs: list[str] | None) -> Doc:
    words = [word for sentence in sentences for word in sentence.split()]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence.split()))]
    made = Doc(VOCAB, words=words, sent_starts=starts)
    set_amrs(made, amrs)
    return made


def example(sentences: list[str], predicted: list[str] | None, gold: list[str] | None) -> Example:
    return Example(doc(sentences, predicted), doc(sentences, gold))


def values(score: dict[str, float]) -> list[float]:
    return [score[name] for name in NAMES]


def expected(gold: list[str], predicted: list[str | None]) -> list[float]:
    scores = smatch(gold, predicted=predicted)
    return [value for score in scores for value in (score.precision, score.recall, score.fscore)]


def test_gold_against_itself_has_full_scores():
    found = score_amrs([example(["Dogs bark", "Boys want to go"], [BARK, WANT], [BARK, WANT])])
    assert found == dict.fromkeys(NAMES, 1.0)


def test_scores_are_micro_averages_over_sentences_of_all_docs():
    examples = [
        example(["Dogs bark", "Boys want to go"], [DOG, WANT], [BARK, WANT]),
        example(["It barks"], [BARK], [DOG]),
    ]
    found = values(score_amrs(examples))
    assert found == pytest.approx(expected([BARK, WANT, DOG], [DOG, WANT, BARK]))
    assert 0.5 < found[2] < 1


def test_a_missing_or_ill_formed_prediction_counts_as_an_empty_graph():
    ill_formed = example(["Dogs bark", "Boys want to go"], ["(b / bark", WANT], [BARK, WANT])
    assert values(score_amrs([ill_formed])) == pytest.approx(expected([BARK, WANT], [None, WANT]))
    missing = example(["Dogs bark"], None, [BARK])
    assert score_amrs([missing]) == dict.fromkeys(NAMES, 0.0)


def test_without_gold_there_are_no_scores():
    assert score_amrs([]) == dict.fromkeys(NAMES)
    assert score_amrs([example(["Dogs bark"], [BARK], None)]) == dict.fromkeys(NAMES)
    assert score_amrs([Example(Doc(VOCAB), Doc(VOCAB))]) == dict.fromkeys(NAMES)
    with_gold = example(["Boys want to go"], [WANT], [WANT])
    found = score_amrs([example(["Dogs bark"], [BARK], None), with_gold])
    assert found["smatch_f"] == 1.0


def test_sentences_without_a_counterpart_count_on_their_side():
    # The second gold sentence is cut in two, so three of the four graphs have no counterpart.
    gold = doc(["Dogs bark", "Boys want to go"], [BARK, WANT])
    predicted = doc(["Dogs bark", "Boys want", "to go"], [BARK, WANT, "(g / go-02)"])
    found = score_amrs([Example(predicted, gold)])
    # Triples: BARK 6, WANT 7 and (g / go-02) 2, each with its top.
    assert found["smatch_p"] == pytest.approx(6 / (6 + 7 + 2))
    assert found["smatch_r"] == pytest.approx(6 / (6 + 7))
    assert found["amr_concepts_p"] == pytest.approx(3 / (3 + 3 + 1))
    assert found["amr_concepts_r"] == pytest.approx(3 / (3 + 3))
    # An ill-formed prediction without a counterpart counts nothing.
    predicted = doc(["Dogs bark", "Boys want", "to go"], [BARK, "(", ""])
    found = score_amrs([Example(predicted, gold)])
    assert (found["smatch_p"], found["smatch_r"]) == (1.0, pytest.approx(6 / 13))


def test_an_ill_formed_gold_amr_is_an_error_with_its_number():
    with pytest.raises(ValueError, match=r"E1002.*gold AMR 2"):
        score_amrs([example(["Dogs bark", "Boys want to go"], [BARK, WANT], [BARK, "(b / bark"])])


def test_the_scorer_is_registered_and_checks_its_settings():
    settings = {"@scorers": "spacy_g2g.amr_scorer.v1", "restarts": 1}
    scorer = registry.resolve({"scorer": settings})["scorer"]
    with_wiki = '(c / city :wiki "Rome" :name (n / name :op1 "Rome"))'
    pair = [example(["Rome"], [with_wiki.replace(':wiki "Rome" ', "")], [with_wiki])]
    assert scorer(pair, nlp=None)["smatch_f"] == 1.0
    assert registry.resolve({"scorer": {**settings, "wiki": True}})["scorer"](pair)["smatch_r"] < 1.0
    with pytest.raises(ValueError, match=r"E1022.*-1"):
        make_amr_scorer(restarts=-1)


def test_145_sentences_take_little_processor_time():
    sentences = ["Boys want to go"] * 145
    pair = example(sentences, [BARK, *[WANT] * 144], [WANT.replace("boy", "girl")] * 145)
    start = time.process_time()
    make_amr_scorer()([pair])
    assert time.process_time() - start < 10
