from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import registry

from spacy_g2g.amr.data.corpus import AMR_SUFFIXES, AmrReader, make_amr_corpus
from spacy_g2g.amr.data.docs import get_amrs
from spacy_g2g.data.corpus import corpus_files

FILE = """# AMR release

# ::id a.1 ::date 2012
# ::snt Dogs bark .
(b / bark-01 :ARG0 (d / dog))

# ::id a.2
# ::snt Don't go.
# ::tok Do n't go .
(g / go-01 :mode imperative :polarity -)

# ::id a.3
# ::snt Cats sleep
(s / sleep-01
   :ARG0 (c / cat))
"""
BROKEN = """# ::id b.1
# ::snt Broken
(b / break-01

# ::id b.2
(n / no-words)

# ::id b.3
# ::snt Birds sing
(s / sing-01 :ARG0 (b / bird))
"""


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text(FILE, encoding="utf8")
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "b.amr"
    path.write_text(BROKEN, encoding="utf8")
    return path


def texts(path: Path, nlp: Language, **settings) -> list[str]:
    return [example.reference.text for example in make_amr_corpus(path, **settings)(nlp)]


def test_the_reference_has_the_amr_and_the_prediction_words_and_boundaries_only(path: Path, nlp: Language):
    first, second, third = make_amr_corpus(path)(nlp)
    assert get_amrs(first.reference) == ["(b / bark-01\n   :ARG0 (d / dog))"]
    assert first.predicted._.amr is None
    assert [token.text for token in second.predicted] == ["Do", "n't", "go", "."]
    assert second.predicted.text == "Don't go."
    for doc in (third.predicted, third.reference):
        assert [sentence.text for sentence in doc.sents] == ["Cats sleep"]
        assert doc.has_annotation("SENT_START")
    assert third.predicted.user_data == {}


def test_the_reader_is_registered(path: Path, nlp: Language):
    config = {"corpus": {"@readers": "spacy_g2g.AMRCorpus.v1", "path": str(path), "ids": ["a.2..3"]}}
    corpus = registry.resolve(config)["corpus"]
    assert [example.reference.text for example in corpus(nlp)] == ["Don't go.", "Cats sleep"]


def test_ids_and_limit_choose(path: Path, nlp: Language):
    assert texts(path, nlp, ids=["a.3", "a.1..1"]) == ["Dogs bark .", "Cats sleep"]
    assert texts(path, nlp, limit=2) == ["Dogs bark .", "Don't go."]
    assert texts(path, nlp, ids=["a.2..9"], limit=1) == ["Don't go."]


def test_ids_that_no_amr_has_are_told(path: Path, nlp: Language):
    with pytest.warns(UserWarning, match=r"W1005.*\['a.9', 'b.1..3'\]"):
        assert texts(path, nlp, ids=["a.3", "a.9", "b.1..3"]) == ["Cats sleep"]


def test_words_are_those_of_the_pipeline_if_asked_for(path: Path, nlp: Language):
    examples = make_amr_corpus(path, gold_tokens=False, ids=["a.2"])(nlp)
    assert [token.text for token in next(examples).reference] == ["Do", "n't", "go", "."]
    other = make_amr_corpus(path, gold_tokens=False, ids=["a.2"])(spacy.blank("xx"))
    assert [token.text for token in next(other).reference] == ["Don't", "go", "."]


def test_a_folder_is_read_in_the_order_of_names(path: Path, nlp: Language, tmp_path: Path):
    (tmp_path / "0.amr").write_text("# ::id z\n# ::snt First\n(f / first)\n")
    (tmp_path / "readme.md").write_text("no corpus")
    assert texts(tmp_path, nlp) == ["First", "Dogs bark .", "Don't go.", "Cats sleep"]
    assert texts(tmp_path, nlp, limit=2) == ["First", "Dogs bark ."]
    assert texts(tmp_path, nlp, ids=["a.3"]) == ["Cats sleep"]


def test_a_doc_bin_gives_what_its_file_gave(path: Path, nlp: Language, tmp_path: Path):
    docs = [example.reference for example in make_amr_corpus(path)(nlp)]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    found = list(make_amr_corpus(tmp_path / "a.spacy")(nlp))
    assert [get_amrs(example.reference) for example in found] == [get_amrs(doc) for doc in docs]
    assert [len(list(example.predicted.sents)) for example in found] == [1, 1, 1]
    assert texts(tmp_path / "a.spacy", nlp, ids=["a.2", "a.3"], limit=1) == ["Don't go."]
    by_spacy = list(spacy.training.Corpus(tmp_path / "a.spacy")(nlp))
    assert [get_amrs(example.reference) for example in by_spacy] == [get_amrs(doc) for doc in docs]
    assert all(get_amrs(example.predicted) is None for example in by_spacy)


def test_epochs_share_gold_but_not_predictions(path: Path, nlp: Language):
    corpus = make_amr_corpus(path)
    first, second = list(corpus(nlp)), list(corpus(nlp))
    assert first[0].reference is second[0].reference
    assert first[0].predicted is not second[0].predicted
    other = spacy.blank("en")
    assert all(example.reference.vocab is other.vocab for example in corpus(other))


def test_an_amr_that_cannot_be_read_is_an_error_with_file_line_and_id(broken: Path, nlp: Language):
    with pytest.raises(ValueError, match=r"E1002.*b\.amr, line 1, id b\.1"):
        list(make_amr_corpus(broken)(nlp))
    with pytest.raises(ValueError, match=r"E1019.*b\.amr, line 5, id b\.2"):
        list(make_amr_corpus(broken, ids=["b.2..3"])(nlp))


def test_amrs_that_cannot_be_read_are_skipped_and_counted(broken: Path, nlp: Language):
    reader = AmrReader(on_error="skip")
    with pytest.warns(UserWarning, match=r"W1001\] 2 AMR\(s\) of .*b\.amr.*id b\.1"):
        docs = list(reader.read(nlp, [broken]))
    assert [doc.text for doc in docs] == ["Birds sing"]
    assert len(reader.skipped) == 2


def test_a_limit_ends_the_reading_before_what_is_broken(path: Path, nlp: Language):
    path.write_text(FILE + "\n" + BROKEN, encoding="utf8")
    assert len(texts(path, nlp, limit=3)) == 3


def test_text_that_is_not_tokenized_leads_to_a_warning(nlp: Language, tmp_path: Path):
    path = tmp_path / "raw.txt"
    block = "# ::id r.{}\n# ::snt {}\n(b / bark-01)\n\n"
    path.write_text(block.format(1, "Dogs, I say, bark") + block.format(2, "It barks.") + FILE)
    with pytest.warns(UserWarning, match=r"W1002\] 2 of 3 sentences of .*raw\.txt.*'Dogs,'"):
        assert len(texts(path, nlp, ids=["r.1..2", "a.3"])) == 3
    assert len(texts(path, nlp)) == 5
    assert len(texts(path, nlp, ids=["r.1..2"], gold_tokens=False)) == 2


def test_wrong_paths_and_settings_are_errors(path: Path, nlp: Language, tmp_path: Path):
    for nothing in (None, ""):
        with pytest.raises(ValueError, match="E506"):
            texts(nothing, nlp)
    with pytest.raises(FileNotFoundError, match=r"E507.*nowhere"):
        texts(tmp_path / "nowhere", nlp)
    (tmp_path / "a.conllu").touch()
    with pytest.raises(ValueError, match=r"E508.*a\.conllu.*\.amr"):
        texts(tmp_path / "a.conllu", nlp)
    with pytest.raises(ValueError, match="E508"):
        corpus_files(tmp_path / "a.conllu", AMR_SUFFIXES)
    with pytest.raises(ValueError, match=r"E1007.*a\.txt"):
        texts(path, nlp, ids=["c.1"])
    with pytest.raises(ValueError, match=r"E1008.*'ignore'"):
        make_amr_corpus(path, on_error="ignore")
