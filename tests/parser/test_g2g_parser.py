"""What parser and refiner write to Docs, and how they behave in a pipeline."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_g2g.data.doc_record import DEP_PROB, HEAD_PROB

from ..util import (
    initialized_nlp,
    make_nlp,
    parser_of,
    plain_doc,
    read_treebank,
    tree_of,
    treebank_examples,
    trees_of,
)

ROOT = Path(__file__).parents[2]
GOLD_TREES = [
    [(head - 1 if head else i, dep) for i, (_, _, head, dep) in enumerate(sentence)]
    for sentence in read_treebank()
]


@pytest.fixture(scope="module")
def nlp(factory: str) -> Language:
    """A component with random weights: its trees are arbitrary."""
    return initialized_nlp(factory=factory)


def assert_whole(doc: Doc, nlp: Language) -> None:
    """Each sentence is a tree with one root, which alone has the root label, and is inside its boundaries."""
    root_label = parser_of(nlp).labels[0]
    for sent in doc.sents:
        roots = [token for token in sent if token.head.i == token.i]
        assert len(roots) == 1
        assert [token for token in sent if token.dep_ == root_label] == roots
        for token in sent:
            assert sent.start <= token.head.i < sent.end
            assert roots[0] in (token, *token.ancestors)


# Meta


def test_the_factory_says_what_it_assigns_and_how_it_is_scored(factory: str):
    meta = spacy.blank("xx").get_factory_meta(factory)
    own = {"doc._.g2g_iterations", "doc._.g2g_graphs"} if factory == "rng_refiner" else set()
    assert set(meta.assigns) == {"token.head", "token.dep", "token.is_sent_start", "doc.sents"} | own
    weights = {"ud_las": 1.0, "ud_uas": 0.0, "ud_sents_f": 0.0, "ud_las_per_type": None}
    assert meta.default_score_weights == weights


def test_the_scores_of_the_component_are_those_it_is_weighted_by(nlp: Language, factory: str):
    scores = parser_of(nlp).score(treebank_examples(nlp))
    assert set(nlp.get_factory_meta(factory).default_score_weights) <= set(scores)


def test_pipelines_are_analysed_without_problems(factory: str):
    nlp = make_nlp(factory=factory)
    assert not nlp.analyze_pipes()["problems"][factory]


# Trees


def test_prediction_writes_nothing(nlp: Language):
    doc = plain_doc(nlp.vocab, "she saw the cat")
    parser_of(nlp).predict([doc])
    assert not doc.has_annotation("DEP")


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_parses_do_not_depend_on_batches_or_order(factory: str, batch_size: int):
    nlp = initialized_nlp(factory=factory, store_probabilities=True)
    rng = random.Random(0)
    words = [word[0] for sentence in read_treebank() for word in sentence]
    texts = [[rng.choice(words) for _ in range(rng.randint(1, 20))] for _ in range(20)]
    order = rng.sample(range(20), 20)
    alone = [nlp(plain_doc(nlp.vocab, text)) for text in texts]
    piped = nlp.pipe([plain_doc(nlp.vocab, texts[i]) for i in order], batch_size=batch_size)
    for i, doc in zip(order, piped, strict=True):
        assert tree_of(doc) == tree_of(alone[i])
        for token, expected in zip(doc, alone[i], strict=True):
            assert token._.g2g_head_prob == pytest.approx(expected._.g2g_head_prob, abs=1e-5)
            assert token._.g2g_dep_prob == pytest.approx(expected._.g2g_dep_prob, abs=1e-5)


def test_long_runs_of_docs_give_whole_trees(nlp: Language):
    rng = random.Random(1)
    words = ["she", "saw", "x", "\n", "cat", " "]
    docs = []
    for _ in range(60):
        texts = [[rng.choice(words) for _ in range(rng.randint(1, 9))] for _ in range(rng.randint(1, 4))]
        docs.append(plain_doc(nlp.vocab, *texts))
    for doc in nlp.pipe(docs, batch_size=7):
        assert_whole(doc, nlp)


# Sentences


def test_boundaries_are_kept_and_no_arc_crosses_one(nlp: Language):
    sentences = ["she saw", "the", "cat . dogs bark", "Go !"]
    doc = nlp(plain_doc(nlp.vocab, *sentences))
    assert [sent.text for sent in doc.sents] == sentences
    assert_whole(doc, nlp)


def test_an_older_parse_does_not_change_the_new_one_and_boundaries_stay(trained: Language):
    doc = plain_doc(trained.vocab, "she saw the cat .", "dogs bark")
    expected = tree_of(trained(doc))
    assert tree_of(trained(doc)) == expected
    for sentence in list(doc.sents):
        for token in sentence:
            token.head, token.dep_ = sentence[0], f"old{token.i}"
    assert tree_of(trained(doc)) == expected
    assert len(list(doc.sents)) == 2
    trained.add_pipe("sentencizer", first=True)
    doc = trained("She saw the cat. Dogs bark! Go!")
    assert [sent.text for sent in doc.sents] == ["She saw the cat.", "Dogs bark!", "Go!"]


def test_without_boundaries_a_doc_is_one_sentence_and_one_warning_says_so_once(factory: str):
    nlp = initialized_nlp(factory=factory)
    with pytest.warns(UserWarning, match=rf"W801.*'{factory}'.*senter") as caught:
        docs = list(nlp.pipe(["She saw the cat. Dogs bark.", "Go! Go!", "Yes. No."], batch_size=1))
    assert len(caught) == 1
    assert [len(list(doc.sents)) for doc in docs] == [1, 1, 1]


@pytest.mark.filterwarnings("error")
def test_an_untrained_component_says_so_and_nothing_of_boundaries(factory: str):
    with pytest.raises(ValueError, match="E405"):
        make_nlp(factory=factory)("She saw the cat. Dogs bark.")


@pytest.mark.filterwarnings("error")
def test_one_token_needs_no_boundaries(factory: str):
    assert tree_of(initialized_nlp(factory=factory)("yes")) == [(0, "root")]


# White space


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (["\n", "she", "saw"], [1, 2, 2]),
        (["she", " ", "saw"], [2, 0, 2]),
        (["she", "saw", "\n\n"], [1, 1, 1]),
        ([" ", "\t", "she", "\n", "saw", " "], [2, 2, 4, 2, 4, 4]),
    ],
)
def test_white_space_changes_no_arc_and_heads_nothing(trained: Language, words: list[str], heads: list[int]):
    (plain,) = trained.pipe([plain_doc(trained.vocab, "she saw")])
    assert [token.head.i for token in plain] == [1, 1]
    doc = trained(plain_doc(trained.vocab, words))
    assert [token.head.i for token in doc] == heads
    assert [token.dep_ for token in doc if not token.is_space] == [token.dep_ for token in plain]
    assert_whole(doc, trained)


def test_a_second_sentence_of_white_space_alone_stays_one(nlp: Language):
    doc = nlp(plain_doc(nlp.vocab, ["she", "saw"], ["\n", " "]))
    assert [len(sent) for sent in doc.sents] == [2, 2]
    assert tree_of(doc)[2:] == [(2, "root"), (2, "dep")]


# Probabilities


def test_probabilities_are_those_of_the_parse_and_white_space_has_none(factory: str):
    nlp = initialized_nlp(factory=factory, store_probabilities=True)
    texts = ((["she", " ", "saw", "it"], ["yes"]), ("dogs bark", "Go !"))
    docs = [plain_doc(nlp.vocab, *text) for text in texts]
    parses = parser_of(nlp).predict(docs).by_doc()
    for doc, doc_parses in zip(nlp.pipe(docs), parses, strict=True):
        for name, own in (("g2g_head_prob", "head_probs"), ("g2g_dep_prob", "label_probs")):
            expected = [prob for parse in doc_parses for prob in getattr(parse, own).tolist()]
            assert [token._.get(name) for token in doc if not token.is_space] == pytest.approx(expected)
            assert {token._.get(name) for token in doc if token.is_space} <= {None}
            assert all(0 < prob <= 1 for prob in expected)
    assert docs[0][4]._.g2g_head_prob == 1.0


def test_a_trained_parser_is_sure_of_what_it_has_learned(trained_path: Path, factory: str):
    nlp = spacy.load(trained_path, config={"components": {factory: {"store_probabilities": True}}})
    doc = nlp(plain_doc(nlp.vocab, "she saw the cat ."))
    assert min(token._.g2g_head_prob for token in doc) > 0.9


def test_nothing_is_stored_unless_it_is_wanted(nlp: Language, factory: str):
    doc = nlp(plain_doc(nlp.vocab, "she saw it"))
    # The refiner always says how many passes it made.
    assert [key[1] for key in doc.user_data] == ["g2g_iterations"] * (factory == "rng_refiner")
    assert Token.has_extension(HEAD_PROB) == Token.has_extension(DEP_PROB)


# In a pipeline


def test_a_failing_batch_is_reported_and_the_others_go_on(factory: str, monkeypatch: pytest.MonkeyPatch):
    nlp = initialized_nlp(factory=factory)
    parser = parser_of(nlp)
    predict = parser.predict
    reported: list[tuple[str, list[str], str]] = []

    def sometimes(docs: list[Doc]) -> Any:
        docs = list(docs)
        if any("boom" in doc.text for doc in docs):
            raise RuntimeError("no parse today")
        return predict(docs)

    monkeypatch.setattr(parser, "predict", sometimes)
    nlp.set_error_handler(
        lambda name, proc, docs, error: reported.append((name, [doc.text for doc in docs], str(error)))
    )
    texts = ["she saw", "boom", "dogs bark", "Go !"]
    found = nlp.pipe([plain_doc(nlp.vocab, text) for text in texts], batch_size=1)
    assert [doc.text.strip() for doc in found] == ["she saw", "dogs bark", "Go !"]
    assert [(name, error) for name, _, error in reported] == [(factory, "no parse today")]


@pytest.mark.parametrize("n_bad", [1, 2, 4])
def test_a_doc_whose_constraints_conflict_takes_no_other_doc_of_its_batch_along(factory: str, n_bad: int):
    nlp = initialized_nlp(factory=factory)
    docs = [plain_doc(nlp.vocab, text) for text in ("she saw", "dogs bark", "Go !", "yes")]
    alone = [tree_of(nlp(doc.copy())) for doc in docs]
    for doc in docs[:n_bad]:
        doc._.g2g_constraints = {"heads": [[0, 0], [0, 5]]}
    with pytest.raises(ValueError, match="G2G-E"):
        list(nlp.pipe([doc.copy() for doc in docs]))
    reported: list[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: reported.extend(doc.text for doc in docs))
    found = list(nlp.pipe([doc.copy() for doc in docs]))
    assert [tree_of(doc) for doc in found] == alone[n_bad:]
    assert reported == [doc.text for doc in docs[:n_bad]]


def test_an_error_in_writing_is_that_of_the_batch(factory: str, monkeypatch: pytest.MonkeyPatch):
    nlp = initialized_nlp(factory=factory)
    reported: list[int] = []
    nlp.set_error_handler(lambda name, proc, docs, error: reported.append(len(docs)))
    monkeypatch.setattr(parser_of(nlp), "set_annotations", lambda docs, found: 1 / 0)
    assert list(nlp.pipe([plain_doc(nlp.vocab, "she saw")] * 3)) == []
    assert reported == [3]


@pytest.mark.slow
def test_several_processes_parse_as_one_does_and_do_not_hang(
    trained_folder: Path, trained_refiner_folder: Path
):
    code = """if True:
        import sys
        import spacy, torch
        torch.set_num_threads(2)
        texts = ["She saw the cat. Dogs bark at the man with the hat and the milk today."] * 20
        trees = lambda docs: [[(t.head.i, t.dep_) for t in doc] for doc in docs]
        x = torch.randn(300, 300) @ torch.randn(300, 300)  # starts threads
        for folder in sys.argv[1:]:
            nlp = spacy.load(folder)
            nlp.add_pipe("sentencizer", first=True)
            alone = trees(nlp.pipe(texts))
            assert trees(nlp.pipe(texts, n_process=2, batch_size=5)) == alone
            assert torch.get_num_threads() == 2
        nlp.get_pipe("rng_refiner").store_graphs = True
        graphs = lambda docs: [str(doc._.g2g_graphs).translate({40: 91, 41: 93}) for doc in docs]
        docs = list(nlp.pipe(texts[:4]))
        alone = graphs(nlp.pipe([doc.copy() for doc in docs]))
        assert graphs(nlp.pipe(docs, n_process=2, batch_size=2)) == alone
    """
    env = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    env["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", code, str(trained_folder), str(trained_refiner_folder)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_a_parser_can_be_taken_from_another_pipeline(trained: Language, factory: str):
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, source=trained)
    assert trees_of(nlp) == GOLD_TREES
