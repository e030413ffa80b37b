"""The component ``role_labeler``: what it learns, reads and writes, and how it is saved."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.roles import Predicate, set_roles
from spacy_g2g.pipeline import long_sentences

from ..util import overfit, plain_doc, randomize
from .util import ROLES, labeler_of, role_docs, role_examples, role_nlp

NAMES = ("role_predicates_f", "role_rolesets_f", "role_heads_f", "role_spans_f")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nlp = role_nlp()
    nlp.initialize(lambda: role_examples(nlp))
    overfit(nlp, role_examples(nlp), 80)
    nlp.to_disk(tmp_path_factory.mktemp("roles") / "nlp")
    return tmp_path_factory.getbasetemp() / "roles0" / "nlp"


@pytest.fixture
def trained(folder: Path) -> Language:
    return spacy.load(folder)


def roles_of(nlp: Language, docs: list[Doc]) -> list[Any]:
    """Roles of Docs, with rounded probabilities."""
    found = []
    for doc in nlp.pipe(docs):
        for word, roleset, arguments, probability in doc._.g2g_roles:
            rounded = [(*argument[:4], round(argument.probability, 4)) for argument in arguments]
            found.append((doc.text, word, roleset, rounded, round(probability, 4)))
    return found


def unlabeled(nlp: Language) -> list[Doc]:
    return [example.predicted for example in role_examples(nlp)]


def test_it_overfits_and_survives_disk_and_bytes(trained: Language):
    scores = trained.evaluate(role_examples(trained))
    assert [scores[name] for name in NAMES] == [1.0] * 4
    copied = spacy.blank("xx").from_config(trained.config).from_bytes(trained.to_bytes())
    assert roles_of(copied, unlabeled(copied)) == roles_of(trained, unlabeled(trained))


@pytest.mark.parametrize("trees", [True, False])
def test_it_learns_without_graph_input_too(trees: bool):
    nlp = role_nlp(graph_input=False)
    nlp.initialize(lambda: role_examples(nlp, trees=trees))
    overfit(nlp, role_examples(nlp, trees=trees), 80)
    scores = nlp.evaluate(role_examples(nlp, trees=trees))
    assert scores["role_heads_f"] == 1.0
    assert scores["role_spans_f"] == 1.0 if trees else scores["role_spans_f"] < 1.0


@pytest.mark.parametrize("graph_input", [True, False])
def test_the_tree_reaches_the_network_only_as_graph_input(graph_input: bool):
    nlp = role_nlp(graph_input=graph_input)
    nlp.initialize(lambda: role_examples(nlp))
    labeler = labeler_of(nlp)
    randomize(labeler.model, 1, scale=0.25)
    labeler.given_predicates = True
    probs = []
    for trees in (True, False):
        doc = role_examples(nlp, trees=trees)[0].predicted
        set_roles(doc, [Predicate(i) for i in range(5)])
        probs.append(labeler.predict([doc]).parses[0].predicate_probs)
    assert np.allclose(*probs) != graph_input


def test_roles_do_not_depend_on_the_batch(trained: Language):
    docs = unlabeled(trained)
    alone = [roles_of(trained, [doc.copy()]) for doc in docs]
    assert [row for rows in alone for row in rows] == roles_of(trained, docs)


def test_probabilities_are_those_of_predicate_and_argument(trained: Language):
    (doc,) = trained.pipe(unlabeled(trained)[:1])
    (predicate,) = doc._.g2g_roles
    assert 0.5 < predicate.probability <= 1
    assert all(0.25 < argument.probability <= 1 for argument in predicate.arguments)


def test_given_predicates_get_rolesets_and_arguments(trained: Language):
    labeler_of(trained).given_predicates = True
    doc = unlabeled(trained)[0]
    set_roles(doc, [Predicate(3)])
    doc = trained(doc)
    assert [(each.word, each.roleset) for each in doc._.g2g_roles] == [(3, "cat.01")]
    assert [each.word for each in trained(unlabeled(trained)[0])._.g2g_roles] == [1]
    set_roles(doc, [])
    assert trained(doc)._.g2g_roles == []


def test_senses_are_those_of_the_lemma_or_form_and_the_first_one_without_any(trained: Language):
    labeler_of(trained).given_predicates = True
    docs = [plain_doc(trained.vocab, f"dogs {form} it") for form in ("saw", "SEES", "ate|up")]
    docs[1][1].lemma_, docs[2][1].lemma_ = "saw", "eat up"
    for doc in docs:
        set_roles(doc, [Predicate(1)])
    names = [doc._.g2g_roles[0].roleset for doc in trained.pipe(docs)]
    assert names == ["see.01", "see.01", "eat_up.01"]


@pytest.mark.parametrize("words", [[], [" "], ["."] * 3, ["saw"] * 30])
def test_odd_docs_are_labeled(trained: Language, words: list[str]):
    doc = trained(Doc(trained.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]))
    assert isinstance(doc._.g2g_roles, list)


def test_a_sentence_of_500_predicates_is_labeled_in_parts(trained: Language, monkeypatch: pytest.MonkeyPatch):
    labeler_of(trained).given_predicates = True
    texts = ["dogs saw the cat"] * 125
    doc = plain_doc(trained.vocab, " ".join(texts))
    set_roles(doc, [Predicate(i) for i in range(500)])
    whole = labeler_of(trained).predict([doc.copy()]).parses[0]
    assert len(whole.predicates) == 500
    monkeypatch.setattr(long_sentences, "MAX_WORDS", 40)
    with pytest.warns(UserWarning, match="W806"):
        doc = trained(doc)
    assert [each.word for each in doc._.g2g_roles] == [*range(500)]
    assert all(abs(each.word - argument.head) < 40 for each in doc._.g2g_roles for argument in each.arguments)


def test_docs_without_roles_teach_nothing_and_no_roles_at_all_are_an_error():
    nlp = role_nlp()
    with pytest.raises(ValueError, match="E843"):
        nlp.initialize(lambda: [Example(doc, doc.copy()) for doc in [plain_doc(nlp.vocab, "dogs bark")]])
    nlp.initialize(lambda: role_examples(nlp))
    doc = plain_doc(nlp.vocab, "dogs bark")
    assert nlp.update([Example(doc, doc.copy())])["role_labeler"] == 0
    set_roles(doc, [])
    gold = doc.copy()
    set_roles(gold, [])
    assert nlp.update([Example(doc, gold)])["role_labeler"] > 0


def test_rolesets_and_roles_that_initialization_did_not_see_have_no_loss():
    nlp = role_nlp()
    nlp.initialize(lambda: role_examples(nlp)[:2])
    losses = []
    for arguments in ([("ARG0", 0, 0, 1)], [("ARG0", 0, 0, 1), ("ARG9", 1, 1, 2)]):
        gold = plain_doc(nlp.vocab, "dogs fly")
        set_roles(gold, [(1, "fly.09", arguments)])
        labeler = labeler_of(nlp)
        roles = labeler._read_gold([Example(plain_doc(nlp.vocab, "dogs fly"), gold)])[2][0]
        losses.append((roles.rolesets.tolist(), roles.arguments.tolist()))
    assert losses == [([-1], [[0, 0, 1]])] * 2


def test_words_of_the_predicted_doc_are_aligned_with_gold_words(trained: Language):
    gold = role_docs(trained.vocab)[0]
    split = plain_doc(trained.vocab, "she saw the c at .")
    (aligned,) = labeler_of(trained)._read_gold([Example(split, gold)])[2]
    assert aligned.predicates.tolist() == [1]
    roles = labeler_of(trained).labels
    assert aligned.arguments.tolist() == [[0, 0, roles.index("ARG0") + 1]]
    assert len(ROLES[0][0].arguments) == 2


def test_damaged_labels_are_an_error(trained: Language, tmp_path: Path):
    labeler_of(trained).cfg["roles"].append("ARG7")
    trained.to_disk(tmp_path)
    with pytest.raises(ValueError, match="E806"):
        spacy.load(tmp_path)
