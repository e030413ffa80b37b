"""A trained ``amr_parser``: what it gives, kept by whatever way, and for whatever text comes in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import penman
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.amr.data.docs import get_amrs, sentences_of
from spacy_g2g.amr.formats.penman_text import parse_penman
from spacy_g2g.amr.pipeline.amr_parser import EMPTY_AMR
from spacy_g2g.models.shim import get_shim

from ...roundtrips import COMPONENT_WAYS, PIPELINE_WAYS, Keep, Kept, through_disk
from ...util import forks, overfit, plain_doc, randomize
from ..parsing.samples import ODD_WORDS
from ..util import AMRS, amr_examples, amr_nlp, amr_parser_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved pipeline that has learned the sentences by heart."""
    path = tmp_path_factory.mktemp("amr")
    nlp = amr_nlp(shift_labels=3)
    nlp.initialize(lambda: amr_examples(nlp))
    overfit(nlp, amr_examples(nlp), steps=30)
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="module")
def trained(folder: Path) -> Language:
    """The trained pipeline; not to be changed."""
    return spacy.load(folder)


@pytest.fixture(scope="module")
def expected(trained: Language) -> list[list[str]]:
    return amrs_of(trained)


@pytest.fixture(scope="module")
def kept(trained: Language) -> Kept:
    return Kept(trained, sample_docs)


@pytest.fixture(scope="module")
def rambling() -> Language:
    """A pipeline with random weights, of which any label can come."""
    nlp = amr_nlp(label_candidates="vocab")
    nlp.initialize(lambda: amr_examples(nlp))
    randomize(amr_parser_of(nlp).model, 3)
    return nlp


def sample_docs(vocab: Vocab) -> list[Doc]:
    """The sentences, two of them in one Doc."""
    first, second, *others = AMRS
    return [plain_doc(vocab, first, second), *(plain_doc(vocab, text) for text in others)]


def amrs_of(nlp: Language, **settings: Any) -> list[list[str]]:
    return [get_amrs(doc) or [] for doc in nlp.pipe(sample_docs(nlp.vocab), **settings)]


def assert_amrs(doc: Doc) -> None:
    """An AMR that can be read for each sentence."""
    texts = get_amrs(doc)
    assert texts is not None
    assert len(texts) == len(sentences_of(doc))
    for text in texts:
        parse_penman(text)
        graph = penman.decode(text)
        assert {graph.top, *(edge.target for edge in graph.edges())} <= graph.variables()
    assert [len(graph.triples) > 0 for graph in doc._.amr_graphs] == [True] * len(texts)


def test_sentences_are_learned_by_heart(trained: Language):
    assert trained.evaluate(amr_examples(trained))["smatch_f"] == 1.0
    doc = trained(plain_doc(trained.vocab, *AMRS))
    gold = Doc(trained.vocab, words=[t.text for t in doc], sent_starts=[t.is_sent_start for t in doc])
    gold._.amr = list(AMRS.values())
    assert trained.evaluate([Example(doc, gold)])["smatch_f"] == 1.0
    assert [span._.amr for span in doc.sents] == list(doc._.amr)


def test_predictions_leave_docs_alone(trained: Language):
    docs = sample_docs(trained.vocab)
    before = [doc.to_bytes() for doc in docs]
    parses = amr_parser_of(trained).predict(docs).by_doc()
    assert [len(of_doc) for of_doc in parses] == [2, *[1] * (len(docs) - 1)]
    assert [doc.to_bytes() for doc in docs] == before


# Kept


@pytest.mark.parametrize("keep", [*PIPELINE_WAYS, *COMPONENT_WAYS])
def test_a_kept_parser_gives_the_same(kept: Kept, keep: Keep, tmp_path: Path):
    kept.check(keep, tmp_path)


@forks
def test_processes_change_nothing(trained: Language, expected: list[list[str]]):
    assert amrs_of(trained, n_process=2, batch_size=2) == expected


def test_a_wider_beam_can_be_set_on_a_kept_parser(folder: Path):
    setting = {"components": {"amr_parser": {"model": {"beam_width": 4}}}}
    nlp = spacy.load(folder, config=setting)
    assert get_shim(amr_parser_of(nlp).model).network.parser.settings.beam_width == 4
    assert nlp.evaluate(amr_examples(nlp))["smatch_f"] == 1.0


@pytest.mark.parametrize("is_sourced", [False, True])
def test_a_kept_parser_learns_on(folder: Path, is_sourced: bool):
    nlp = spacy.load(folder)
    if is_sourced:
        source, nlp = nlp, spacy.blank("xx")
        nlp.add_pipe("amr_parser", source=source)
    losses = nlp.update(amr_examples(nlp), sgd=nlp.resume_training(), drop=0.0)
    n_actions = sum(len(replay.ids) for replay in amr_parser_of(nlp)._read_gold(amr_examples(nlp))[2])
    assert 0 < losses["amr_parser"] < 0.3 * n_actions
    assert nlp.evaluate(amr_examples(nlp))["smatch_f"] > 0.9


@pytest.mark.parametrize("excluded", ["cfg", "model"])
def test_what_is_excluded_is_not_loaded(folder: Path, excluded: str):
    parser = amr_parser_of(amr_nlp()).from_disk(folder / "amr_parser", exclude=[excluded, "vocab"])
    assert (parser.scheme is None) == (excluded == "cfg")
    assert (get_shim(parser.model).spec is None) == (excluded == "model")


def test_a_parser_that_is_not_initialized_can_be_kept_and_says_so(tmp_path: Path):
    nlp = through_disk(amr_nlp(), tmp_path)
    assert amr_parser_of(nlp).label_data is None
    for use in (lambda: nlp("x"), lambda: nlp.update(amr_examples(nlp), sgd=nlp.create_optimizer())):
        with pytest.raises(ValueError, match="E405"):
            use()
    nlp.initialize(lambda: amr_examples(nlp))
    assert_amrs(nlp(plain_doc(nlp.vocab, "Yes")))


def other_scheme(cfg: Any) -> Any:
    cfg["scheme"]["table"]["actions"].append(["PRED", "other", ""])
    return cfg


@pytest.mark.parametrize(
    ("file", "damage", "text"),
    [
        ("model", lambda data: None, "E804"),
        ("cfg", lambda data: data[:-9], "E805"),
        ("cfg", lambda data: b"[1]", "E805"),
        ("cfg", lambda data: b'{"scheme": {}}', r"E805(.|\n)*cfg(.|\n)*E1020"),
        ("cfg", lambda data: None, "E1029"),
        ("cfg", lambda data: b"{}", "E1029"),
        ("cfg", lambda data: srsly.json_dumps(other_scheme(srsly.json_loads(data))).encode(), "E1029"),
    ],
)
def test_damaged_files_are_an_error_that_names_them(
    folder: Path, tmp_path: Path, file: str, damage: Callable[[bytes], bytes | None], text: str
):
    for name in ("cfg", "model"):
        data: bytes | None = (folder / "amr_parser" / name).read_bytes()
        if name == file and data is not None:
            data = damage(data)
        if data is not None:
            (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=text) as caught:
        amr_parser_of(amr_nlp()).from_disk(tmp_path, exclude=["vocab"])
    assert str(tmp_path) in str(caught.value)


# Bad input


def test_no_docs_and_empty_docs(trained: Language):
    assert list(trained.pipe([])) == []
    assert amr_parser_of(trained).predict([]).by_doc() == []
    docs = [Doc(trained.vocab), plain_doc(trained.vocab, "Yes"), Doc(trained.vocab)]
    assert [len(get_amrs(doc) or []) for doc in trained.pipe(docs)] == [0, 1, 0]
    assert get_amrs(trained("")) == []


def test_white_space_is_no_word(trained: Language, expected: list[list[str]]):
    text, *_ = AMRS
    words = text.split()
    doc = plain_doc(trained.vocab, ["\n"], [" ", words[0], "\t", *words[1:], " "], ["\u3000", "\x85"])
    found = get_amrs(trained(doc))
    assert found == [EMPTY_AMR, expected[0][0], EMPTY_AMR]
    assert_amrs(doc)


@pytest.mark.parametrize("pipeline", ["trained", "rambling"])
def test_any_word_is_parsed(pipeline: str, request: pytest.FixtureRequest):
    nlp: Language = request.getfixturevalue(pipeline)
    docs = [plain_doc(nlp.vocab, [word], ["The", word, "sleeps"]) for word in ODD_WORDS]
    for doc in nlp.pipe(docs):
        assert_amrs(doc)


def test_long_sentences_are_read_in_windows_with_one_warning(trained: Language):
    doc = plain_doc(trained.vocab, ["boy"] * 45, "Yes", ["girl"] * 40)
    with pytest.warns(UserWarning, match=r"W803.*2 sentence.*45 words.*windows") as caught:
        trained(doc)
    assert len(caught) == 1
    assert_amrs(doc)


def test_many_sentences_of_a_doc_have_an_amr_each(trained: Language, expected: list[list[str]]):
    texts = [text for text in AMRS for _ in range(5)]
    doc = trained(plain_doc(trained.vocab, *texts))
    assert get_amrs(doc) == [amr for of_doc in expected for amr in of_doc for _ in range(5)]


def test_a_doc_without_boundaries_is_one_sentence_with_one_warning(folder: Path, expected: list[list[str]]):
    nlp = spacy.load(folder)
    text, *_ = AMRS
    with pytest.warns(UserWarning, match=r"W801.*'amr_parser'.*one sentence") as caught:
        docs = list(nlp.pipe([Doc(nlp.vocab, words=text.split()) for _ in range(3)]))
    assert len(caught) == 1
    assert [get_amrs(doc) for doc in docs] == [expected[0][:1]] * 3


def test_a_threshold_that_is_not_a_number_is_an_error_when_it_is_loaded():
    parser = amr_parser_of(amr_nlp())
    parser.cfg["sentence_threshold"] = "x"
    saved = parser.to_bytes(exclude=["boundaries"])
    with pytest.raises(ValueError, match=r"E805.*E865"):
        parser.from_bytes(saved, exclude=["boundaries"])
