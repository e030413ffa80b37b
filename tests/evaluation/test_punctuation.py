"""Scores without punctuation, as treebanks other than UD are scored."""

import pytest

from spacy_g2g.evaluation.conll18 import Score, evaluate_sentences
from spacy_g2g.evaluation.punctuation import PUNCTUATION_RULES, punctuation_rule
from spacy_g2g.formats.rows import ConlluWord

from ..formats.samples import read


def word(form: str = "w", upos: str = "_", xpos: str = "_") -> ConlluWord:
    return ConlluWord(form, "_", upos, xpos, "_", 0, "root", "_", "_")


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("ptb", [word(xpos=t) for t in ("``", "''", ":", ",", ".")], [word(xpos="-LRB-"), word(xpos="$")]),
        ("ctb", [word(xpos="PU"), word(upos="PU")], [word("。", xpos="NN"), word(upos="PUNCT")]),
        ("ud", [word(upos="PUNCT")], [word(".", xpos="."), word(upos="SYM")]),
        ("conllx", [word("..."), word("。"), word("%"), word("'")], [word("$"), word("-LRB-"), word("3.")]),
    ],
)
def test_rules_match_their_tags(name, yes, no):
    matches = punctuation_rule(name).matches
    assert [matches(w) for w in yes] == [True] * len(yes)
    assert [matches(w) for w in no] == [False] * len(no)


def test_every_rule_is_named_in_the_error_for_another():
    with pytest.raises(ValueError, match=r"E615.*'penn'.*" + ", ".join(PUNCTUATION_RULES)):
        punctuation_rule("penn")


def sentence(text: str) -> str:
    """CoNLL-U of words that are given as FORM XPOS HEAD DEPREL, with semicolons between them."""
    rows = enumerate((row.split() for row in text.split(";")), start=1)
    return "".join(f"{i}\t{f}\t_\t_\t{x}\t_\t{h}\t{d}\t_\t_\n" for i, (f, x, h, d) in rows) + "\n"


GOLD = sentence(
    "He PRP 2 nsubj; left VBD 0 root; , , 2 punct; she PRP 5 nsubj; stayed VBD 2 ccomp; . . 2 punct"
)
#: A head, a label, and both punctuation marks are wrong; "she" hangs on punctuation.
SYSTEM = sentence("He _ 2 obj; left _ 0 root; , _ 1 punct; she _ 3 nsubj; stayed _ 2 ccomp; . _ 5 punct")


def scores_without(system: str) -> dict[str, Score]:
    is_punctuation = PUNCTUATION_RULES["ptb"].matches
    return evaluate_sentences(read(GOLD), system=read(system), is_punctuation=is_punctuation)


def test_gold_punctuation_is_left_out_of_both_sides_and_other_metrics_are_as_without():
    scores = scores_without(SYSTEM)
    found = {name: (scores[name].correct, scores[name].gold, scores[name].system) for name in scores}
    assert (found["UAS"], found["LAS"]) == ((3, 6, 6), (2, 6, 6))
    assert (found["UAS_nopunct"], found["LAS_nopunct"]) == ((3, 4, 4), (2, 4, 4))
    plain = evaluate_sentences(read(GOLD), system=read(SYSTEM))
    assert {name: scores[name] for name in plain} == plain
    assert set(scores) - set(plain) == {"UAS_nopunct", "LAS_nopunct"}


def test_words_that_do_not_align_count_against_the_system():
    words = "He _ 2 nsubj; left _ 0 root; , _ 1 punct; s _ 6 nsubj; he _ 4 dep; stayed _ 2 ccomp; . _ 2 punct"
    score = scores_without(sentence(words))["LAS_nopunct"]
    assert (score.correct, score.gold, score.system, score.aligned) == (3, 4, 5, 3)
