"""Scores of roles, in training and by ``evaluate``."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.data.roles import Argument, Predicate, set_roles
from spacy_g2g.roles.role_scorer import score_roles

from ..util import overfit, plain_doc
from .util import role_docs, role_examples, role_nlp

GOLD = [
    Predicate(1, "see.01", (Argument("ARG0", 0, 0, 1), Argument("ARG1", 3, 2, 4))),
    Predicate(3, "cat.01"),
]


def scores_of(found: list[Predicate] | None, words: str = "she saw the cat .") -> list[float]:
    """F1 of predicates, rolesets, heads and spans."""
    vocab = Vocab()
    gold, predicted = plain_doc(vocab, "she saw the cat ."), plain_doc(vocab, words)
    set_roles(gold, GOLD)
    set_roles(predicted, found)
    scores = score_roles([Example(predicted, gold)])
    return [round(scores[f"role_{name}_f"], 3) for name in ("predicates", "rolesets", "heads", "spans")]


def test_each_score_counts_its_own_items():
    assert scores_of(GOLD) == [1, 1, 1, 1]
    assert scores_of([]) == scores_of(None) == [0, 0, 0, 0]
    see = GOLD[0]
    assert scores_of([see._replace(roleset="see.02")]) == [0.667, 0, 1, 1]
    other_span = see.arguments[1]._replace(start=3)
    assert scores_of([see._replace(arguments=(see.arguments[0], other_span))]) == [0.667, 0.667, 1, 0.5]
    other_role = see.arguments[1]._replace(role="ARG2")
    assert scores_of([see._replace(arguments=(see.arguments[0], other_role))]) == [0.667, 0.667, 0.5, 0.5]
    assert scores_of([see._replace(word=0, arguments=())]) == [0, 0, 0, 0]


def test_gold_tokens_that_were_cut_are_missed():
    see = Predicate(1, "see.01", (Argument("ARG0", 0, 0, 1), Argument("ARG1", 4, 2, 5)))
    assert scores_of([see], "she saw the c at .") == [0.667, 0.667, 0.5, 0.5]


def test_docs_without_gold_roles_have_no_scores():
    doc = plain_doc(Vocab(), "she saw it")
    assert set(score_roles([Example(doc, doc.copy())]).values()) == {None}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pipeline that knows the ten sentences by heart, and with their CoNLL-U."""
    folder = tmp_path_factory.mktemp("roles")
    nlp = role_nlp()
    nlp.initialize(lambda: role_examples(nlp))
    overfit(nlp, role_examples(nlp), 80)
    nlp.to_disk(folder / "nlp")
    rows = []
    for doc in role_docs(spacy.blank("xx").vocab):
        rows += [f"# roles = test\n{sentence}" for sentence in doc_to_sentences(doc)]
    (folder / "gold.conllu").write_text("".join(rows), encoding="utf8")
    return folder


@pytest.mark.filterwarnings("ignore:.*G2G-W80")
def test_evaluate_scores_roles_with_and_without_given_predicates(trained: Path, tmp_path: Path):
    gold = trained / "gold.conllu"
    for given in (False, True):
        output = tmp_path / "scores.json"
        scores = evaluate(
            str(trained / "nlp"), gold, initial=gold, given_predicates=given, output=output, silent=True
        )
        assert [scores[name].f1 for name in ("Predicates", "Rolesets", "Roles", "RoleSpans")] == [1.0] * 4
        assert json.loads(output.read_text())["Roles"]["gold"] == scores["Roles"].gold == 10
    raw = evaluate(str(trained / "nlp"), gold, raw=True, silent=True)
    assert raw["Predicates"].gold == 8
    assert raw["Predicates"].f1 > 0


def test_a_file_without_roles_has_no_scores_of_roles(trained: Path, tmp_path: Path):
    text = (trained / "gold.conllu").read_text(encoding="utf8")
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("# roles")]
    plain = "".join(lines)
    for word in ("Pred=", "Args="):
        plain = plain.replace(word, f"Other{word}")
    (tmp_path / "plain.conllu").write_text(plain, encoding="utf8")
    scores = evaluate(str(trained / "nlp"), tmp_path / "plain.conllu", silent=True)
    assert "Predicates" not in scores
