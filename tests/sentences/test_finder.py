"""Sentences that the parser finds itself."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.gold import gold_boundaries
from spacy_g2g.models import model
from spacy_g2g.sentences import finder as sentences
from spacy_g2g.sentences.finder import BOUNDARIES, NEW_PRICE, PRICE, THRESHOLD, sentence_f

from ..parser.test_g2g_encoder import OURS, components, shared_nlp
from ..util import gold_doc, make_nlp, overfit, parser_of, read_treebank, tree_of, tries

SENTENCES = read_treebank()


def words_of(*numbers: int) -> list[str]:
    return [word[0] for i in numbers for word in SENTENCES[i]]


def unsplit(nlp: Language, *numbers: int) -> Doc:
    return Doc(nlp.vocab, words=words_of(*numbers))


def starts_of(doc: Doc) -> list[int]:
    return [token.i for token in doc if token.is_sent_start]


def three_sentences(nlp: Language, *annotations: str) -> list[Example]:
    """Examples of three sentences each; annotations: what the predicted Docs have of the gold ones."""
    gold = [gold_doc(nlp.vocab, [SENTENCES[(i + j) % 10] for j in (0, 3, 7)]) for i in range(10)]
    return [Example(unparsed_copy(doc, [*annotations]), doc) for doc in gold]


def taught(nlp: Language, examples: list[Example], steps: int, folder: Path) -> Path:
    """Save a pipeline that has learned examples by heart."""
    nlp.initialize(lambda: examples)
    overfit(nlp, examples, steps=steps)
    nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that finds sentences."""
    nlp = make_nlp()
    return taught(nlp, three_sentences(nlp), 25, tmp_path_factory.mktemp("sentences"))


@pytest.fixture
def nlp(saved: Path) -> Language:
    return spacy.load(saved)


def test_the_parser_alone_gives_sentences_and_trees(nlp: Language):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doc = nlp(unsplit(nlp, 0, 3, 7))
        assert [len(sent) for sent in doc.sents] == [len(SENTENCES[i]) for i in (0, 3, 7)]
        # It depends on no other Doc of the batch.
        texts = [(5, 8, 2), (0, 3, 7), (9,), (1, 4, 8)]
        found = list(nlp.pipe([unsplit(nlp, *numbers) for numbers in texts]))
    assert tree_of(found[1]) == tree_of(doc)
    assert [starts_of(nlp(unsplit(nlp, *numbers))) for numbers in texts] == [*map(starts_of, found)]
    copy = spacy.util.load_model_from_config(nlp.config, vocab=nlp.vocab)
    parser_of(copy).from_bytes(parser_of(nlp).to_bytes())
    assert tree_of(copy(unsplit(nlp, 0, 3, 7))) == tree_of(doc)


def test_white_space_never_starts_a_found_sentence(nlp: Language):
    words = ["\n", *words_of(0), "\n\n", " ", *words_of(3), "\n"]
    parser_of(nlp).cfg[THRESHOLD] = -np.inf
    doc = nlp(Doc(nlp.vocab, words=words))
    # The first word belongs to the white space before it.
    assert starts_of(doc) == [0, *(token.i for token in doc[2:] if not token.is_space)]
    assert [starts_of(nlp(Doc(nlp.vocab, words=words))) for words in (["\n"], ["\n", " "])] == [[0], [0]]


TOKENS = [*words_of(0, 3), "\n", " ", "\u200b"]


@settings(tries(20), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    docs=st.lists(
        st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from([-1, 0, 0, 0, 1])), max_size=12),
        max_size=4,
    )
)
def test_any_docs_get_whole_sentences_that_respect_them(docs: list[list[tuple[str, int]]], nlp: Language):
    parser = parser_of(nlp)
    parser.sentences = "predicted"
    made = []
    for tokens in docs:
        doc = Doc(nlp.vocab, words=[word for word, _ in tokens])
        doc.from_array(
            "SENT_START", np.array([start for _, start in tokens], dtype=np.int64).astype(np.uint64)
        )
        made.append(doc)
    alone = [tree_of(nlp(doc.copy())) for doc in made]
    for tokens, doc, tree in zip(docs, nlp.pipe([doc.copy() for doc in made]), alone, strict=True):
        assert tree_of(doc) == tree
        for token, (_, start) in list(zip(doc, tokens, strict=True))[1:]:
            assert start == 0 or token.is_sent_start == (start == 1)
            assert start or not (token.is_space and token.is_sent_start)
        for sentence in doc.sents:
            assert sum(token.head == token for token in sentence) == 1
            assert all(token.head in sentence for token in sentence)


def test_the_threshold_is_fitted_on_gold_sentences(nlp: Language):
    parser = parser_of(nlp)
    gold = [gold_doc(nlp.vocab, [SENTENCES[i] for i in numbers]) for numbers in ((0, 3), (1, 4, 8))]
    examples = [Example(unparsed_copy(doc, ["SENT_START"]), doc) for doc in gold]
    parser.cfg[THRESHOLD] = 50.0
    assert parser.finder.fit(examples) == (0.0, 1.0)
    assert parser.cfg[THRESHOLD] == 0.0
    found = nlp(Doc(nlp.vocab, words=[token.text for token in gold[1]]))
    assert starts_of(found) == starts_of(gold[1])
    scores = nlp.evaluate([Example(unparsed_copy(doc, []), doc) for doc in gold])
    assert scores["ud_sents_f"] == 1.0


def test_a_start_in_bare_text_has_a_price(nlp: Language):
    parser = parser_of(nlp)
    assert parser.cfg[PRICE] == NEW_PRICE
    doc = Doc(nlp.vocab, words=["We", "left", ".", "They", "stayed"])
    (priced,) = parser.finder.log_odds([doc])
    del parser.cfg[PRICE]  # as in pipelines that were saved before there was a price
    (free,) = parser.finder.log_odds([doc])
    assert (free - priced).round(4).tolist() == [0.0, NEW_PRICE, NEW_PRICE, 0.0, NEW_PRICE]


def test_a_sentence_starts_behind_closing_marks(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    words = ["(", "Stop", ".", ")", '"', "We", "left"]
    doc = Doc(nlp.vocab, words=words, spaces=[False] * 4 + [True] * 3)
    parser = parser_of(nlp)
    values = np.array([5.0, -5.0, -5.0, 2.0, -5.0, -1.0, -5.0])
    network = SimpleNamespace(predict=lambda _: values, ops=parser.boundaries.ops, attrs={})
    monkeypatch.setattr(parser, "boundaries", network)
    parser.cfg[PRICE] = 0.0
    (log_odds,) = parser.finder.log_odds([doc])
    assert log_odds[1:].tolist() == [-5.0, -5.0, -np.inf, -np.inf, 2.0, -5.0]


def test_the_price_is_fitted_with_the_threshold(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    """Where the network cuts bare text, log-odds are above the price; after a full stop they are 3."""
    bare = NEW_PRICE + 1.5
    words = ["We", "like", "the", "Evening", "Post", ".", "They", "left", "."]
    gold = Doc(nlp.vocab, words=words * 30, sent_starts=[i % 9 in (0, 6) for i in range(270)])
    values = np.array([3.0, -5.0, -5.0, -5.0, bare, -5.0, 3.0, -5.0, -5.0] * 30)
    monkeypatch.setattr(sentences.SentenceFinder, "log_odds", lambda *_: [values.copy()])
    parser = parser_of(nlp)
    _, f = parser.finder.fit([Example(Doc(nlp.vocab, words=words * 30), gold)])
    assert f == 1.0
    assert parser.cfg[THRESHOLD] + parser.cfg[PRICE] >= bare > parser.cfg[PRICE] >= NEW_PRICE


def test_a_sentence_is_right_if_both_its_ends_are():
    gold, found = np.array([1, 0, 1, 1, 0, 1], dtype=bool), np.array([1, 0, 1, 0, 0, 1], dtype=bool)
    assert sentence_f(gold=gold, predicted=gold) == 1.0
    assert sentence_f(gold=gold, predicted=found) == pytest.approx(2 * 2 / (4 + 3))


def test_the_encoder_reads_long_docs_in_windows(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    texts = [words_of(*range(10)), words_of(0), [], words_of(3, 1)]
    parser = parser_of(nlp).model
    expected = model.read_words(parser, texts, 2)
    monkeypatch.setattr(model, "WINDOW", 7)
    monkeypatch.setattr(model, "MARGIN", 5)
    found = model.read_words(parser, texts, 2)
    monkeypatch.setattr(model, "MARGIN", 0)
    without = model.read_words(parser, texts, 2)
    assert found.shape == expected.shape == (sum(map(len, texts)), expected.shape[1])
    # Words around a window matter.
    assert np.abs(found - expected).mean() < np.abs(without - expected).mean()


def test_all_docs_may_be_read_at_once_or_one_by_one(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    docs = [unsplit(nlp, *range(10)), unsplit(nlp, 0), Doc(nlp.vocab), unsplit(nlp, 3, 1)]
    finder = parser_of(nlp).finder
    at_once = finder.log_odds(docs)
    monkeypatch.setattr(sentences, "TOKENS_AT_ONCE", 1)
    for found, expected in zip(finder.log_odds(docs), at_once, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_boundaries_that_are_not_annotated_have_no_loss(nlp: Language):
    gold = unsplit(nlp, 0, 3)
    for i, value in ((2, False), (5, True)):
        gold[i].is_sent_start = value
    example = Example(unsplit(nlp, 0, 3), gold)
    assert [i for i, value in enumerate(gold_boundaries(example)) if value >= 0] == [2, 5]
    assert gold_boundaries(example)[5] == 1
    # Tokens that are cut in another way keep the boundaries around them.
    words = words_of(0, 3)
    cut = gold_boundaries(Example(Doc(nlp.vocab, words=[words[0] + words[1], *words[2:]]), gold))
    assert cut.tolist()[:5] == [-1, 0, -1, -1, 1]
    gold[6].is_sent_start = True
    pieces = ["\n", *words[:6], words[6][:1], words[6][1:], *words[7:]]
    assert gold_boundaries(Example(Doc(nlp.vocab, words=pieces), gold)).tolist()[:10] == [
        *(-1, -1, -1, 0, -1, -1, 1, 1, 0, -1)
    ]
    parser = parser_of(nlp)
    unknown = Example(unsplit(nlp, 0, 3), unsplit(nlp, 0, 3))
    losses: dict[str, float] = {}
    parser.finder.update([unknown], losses)
    assert losses == {"g2g_parser_boundaries": 0.0}
    assert parser.update([example], losses=losses) is losses
    boundaries = losses["g2g_parser_boundaries"]
    assert boundaries > 0.0
    # The loss of trees has a key of its own.
    trees = parser.update([unknown])["g2g_parser"]
    assert losses["g2g_parser"] >= 0.0
    assert trees == 0.0


def test_parsers_without_several_sentences_in_a_doc_find_none():
    nlp = make_nlp()
    nlp.initialize(lambda: [Example(unsplit(nlp, 0), gold_doc(nlp.vocab, SENTENCES[:1]))])
    assert parser_of(nlp).finder.trained is None
    with pytest.warns(UserWarning, match="W801"):
        nlp(unsplit(nlp, 0, 3))


def test_a_missing_network_is_named(saved: Path, tmp_path: Path, nlp: Language):
    nlp.to_disk(tmp_path)
    (tmp_path / "g2g_parser" / "boundaries").unlink()
    with pytest.raises(ValueError, match=r"E804.*boundaries"):
        spacy.load(tmp_path)


# A shared encoder


def shared_with_boundaries() -> Language:
    """A pipeline whose parser listens to an encoder that finds sentences."""
    nlp = shared_nlp(boundaries={**BOUNDARIES, "width": 32, "dropout": 0.0})
    nlp.add_pipe("g2g_parser", config={"model": components(OURS)["g2g_parser"]})
    return nlp


@pytest.fixture(scope="module")
def saved_with_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nlp = shared_with_boundaries()
    examples = three_sentences(nlp, "SENT_START")[:4]
    return taught(nlp, examples, 30, tmp_path_factory.mktemp("encoder"))


def test_an_encoder_finds_the_sentences_that_it_reads(saved_with_encoder: Path):
    nlp = spacy.load(saved_with_encoder)
    gold = [example.reference for example in three_sentences(nlp)[:4]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(nlp.pipe([unparsed_copy(doc, []) for doc in gold], batch_size=3))
    assert [starts_of(doc) for doc in found] == [starts_of(doc) for doc in gold]
    assert [tree_of(doc) for doc in found] == [tree_of(doc) for doc in gold]
    # The vectors are those of given sentences, and a prediction changes no Doc.
    encoder: Any = nlp.get_pipe("g2g_encoder")
    doc = unparsed_copy(gold[0], [])
    encoded = encoder.predict([doc, unparsed_copy(gold[1], ["SENT_START"])])
    given = encoder.predict([unparsed_copy(of, ["SENT_START"]) for of in gold[:2]])
    for vectors, expected in zip(encoded.vectors, given.vectors, strict=True):
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert not doc.has_annotation("SENT_START")
    # A Doc does not depend on the others of its batch.
    docs = [unparsed_copy(of, []) for of in gold]
    finder = encoder.finder
    together = np.concatenate(finder.log_odds(docs))
    np.testing.assert_allclose(np.concatenate([finder.log_odds([of])[0] for of in docs]), together, atol=1e-4)
    copy = spacy.util.load_model_from_config(nlp.config, vocab=nlp.vocab)
    copy.get_pipe("g2g_encoder").from_bytes(encoder.to_bytes())  # type: ignore[attr-defined]
    again = copy.get_pipe("g2g_encoder").finder.log_odds(docs)  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.concatenate(again), together)


@pytest.mark.parametrize(("folder", "name"), [("saved", "g2g_parser"), ("saved_with_encoder", "g2g_encoder")])
def test_what_a_doc_says_of_boundaries_stays(folder: str, name: str, request: pytest.FixtureRequest):
    nlp = spacy.load(request.getfixturevalue(folder))
    pipe: Any = nlp.get_pipe(name)
    second, third = len(SENTENCES[0]), len(SENTENCES[0]) + len(SENTENCES[3])
    ruled_out, partial = unsplit(nlp, 0, 3, 7), unsplit(nlp, 0, 3, 7)
    ruled_out[second].is_sent_start = False
    partial[1].is_sent_start = True
    for setting, of_ruled_out, of_partial in (
        ("auto", [0, third], [0, 1]),
        ("predicted", [0, third], [0, 1, second, third]),
        ("given", [0], [0, 1]),
    ):
        pipe.sentences = setting
        assert starts_of(nlp(ruled_out.copy())) == of_ruled_out
        assert starts_of(nlp(partial.copy())) == of_partial
    parser_of(nlp)._warned_unset = False
    with pytest.warns(UserWarning, match="W801"):
        nlp(unsplit(nlp, 0, 3))
    with pytest.raises(ValueError, match=r"E411.*some"):
        pipe.sentences = "some"


def test_parsers_behind_an_encoder_leave_sentences_to_it(saved_with_encoder: Path):
    nlp = spacy.load(saved_with_encoder)
    assert nlp.get_pipe("g2g_encoder").finder.trained is not None  # type: ignore[attr-defined]
    parser = parser_of(nlp)
    assert parser.boundaries is not None
    assert not parser.finder.can_learn
    assert parser.finder.trained is None
    nlp.replace_listeners("g2g_encoder", "g2g_parser", ["model.tok2vec"])
    assert not parser_of(nlp).finder.can_learn


def test_in_training_an_encoder_reads_the_sentences_of_the_reference(saved_with_encoder: Path):
    nlp = spacy.load(saved_with_encoder)
    encoder: Any = nlp.get_pipe("g2g_encoder")
    tensors = []
    for annotations in (["SENT_START"], []):
        examples = three_sentences(nlp, *annotations)[:2]
        encoder.update(examples)
        tensors.append(np.concatenate([example.predicted.tensor for example in examples]))
    np.testing.assert_array_equal(*tensors)


def test_the_loss_of_boundaries_is_beside_that_of_an_encoder():
    nlp = shared_with_boundaries()
    examples = three_sentences(nlp, "SENT_START")[:2]
    nlp.initialize(lambda: examples)
    losses = nlp.update(examples, losses={"g2g_encoder_boundaries": 100.0}, sgd=False)  # type: ignore[arg-type]
    encoder: Any = nlp.get_pipe("g2g_encoder")
    encoder.cfg.pop(THRESHOLD)
    again = nlp.update(examples, sgd=False)  # type: ignore[arg-type]
    assert losses["g2g_encoder_boundaries"] > 100.0
    assert set(losses) - set(again) == {"g2g_encoder_boundaries"}
    assert losses["g2g_encoder"] == pytest.approx(again["g2g_encoder"])


def test_an_encoder_learns_nothing_from_boundaries():
    nlp = shared_with_boundaries()
    examples = three_sentences(nlp)[:2]
    nlp.initialize(lambda: examples)
    encoder: Any = nlp.get_pipe("g2g_encoder")
    before = encoder.model.to_bytes()
    (log_odds,) = encoder.finder.log_odds([examples[0].predicted])
    for _ in range(2):
        losses: dict[str, float] = {}
        encoder.finder.update(examples, losses)
        assert losses["g2g_encoder_boundaries"] > 0.0
        encoder.finish_update(nlp.create_optimizer())
    assert encoder.model.to_bytes() == before
    assert (encoder.finder.log_odds([examples[0].predicted])[0] != log_odds).any()
