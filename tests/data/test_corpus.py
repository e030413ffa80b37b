import pytest
import spacy
from spacy.tokens import DocBin

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row


@pytest.fixture
def nlp():
    return spacy.blank("xx")


@pytest.fixture
def folder(tmp_path):
    """b.conllu with three sentences, and a.spacy with the same in one Doc."""
    path = tmp_path / "b.conllu"
    path.write_bytes(SAMPLE.encode("utf8"))
    docs = sentences_to_docs(read_conllu(path), spacy.blank("xx").vocab, n_sents=3)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    (tmp_path / "notes.txt").write_text("no corpus")
    return tmp_path


def test_predicted_has_gold_words_and_sentences_only(nlp, folder):
    (example,) = make_corpus(folder / "a.spacy")(nlp)
    assert [token.text for token in example.predicted] == [token.text for token in example.reference]
    assert [sent.start for sent in example.predicted.sents] == [0, 9, 10]
    for name in ("HEAD", "DEP", "TAG", "POS", "MORPH", "LEMMA"):
        assert not example.predicted.has_annotation(name)
    assert example.reference[1].dep_ == "obj"


def test_docs_of_conllu_have_up_to_n_sentences(nlp, folder):
    sizes = [len(list(example.reference.sents)) for example in make_corpus(folder, n_sents=2)(nlp)]
    assert sizes == [3, 2, 1]
    with pytest.raises(ValueError, match="E501"):
        next(make_corpus(folder / "b.conllu", n_sents=0)(nlp))


def test_predicted_has_the_annotations_asked_for(nlp, folder):
    examples = make_corpus(folder / "b.conllu", annotations=["TAG", "POS", "MORPH", "LEMMA"])(nlp)
    token = next(examples).predicted[4]
    assert (token.tag_, token.pos_, str(token.morph), token.lemma_) == ("N", "NOUN", "Gender=Masc", "mar")
    assert not token.doc.has_annotation("SENT_START")


def test_predicted_keeps_the_text(nlp, folder):
    example = next(make_corpus(folder / "b.conllu", annotations=[])(nlp))
    assert example.predicted.text == example.reference.text
    assert not example.predicted.has_annotation("SENT_START")


@pytest.mark.parametrize("name", ["HEAD", "DEP", "ENT_TYPE"])
def test_other_annotations_are_an_error(folder, name):
    with pytest.raises(ValueError, match=f"E502.*{name}"):
        make_corpus(folder, annotations=["SENT_START", name])


def test_folder_is_read_in_the_order_of_names(nlp, folder):
    assert [len(example.reference) for example in make_corpus(folder)(nlp)] == [13, 9, 1, 3]


def test_limit_and_max_length_choose_docs(nlp, folder):
    assert [len(example.reference) for example in make_corpus(folder, limit=2)(nlp)] == [13, 9]
    assert [len(example.reference) for example in make_corpus(folder, limit=2, max_length=9)(nlp)] == [9, 1]


def test_epochs_share_gold_but_not_predictions(nlp, folder):
    corpus = make_corpus(folder / "b.conllu")
    first, second = list(corpus(nlp)), list(corpus(nlp))
    assert first[0].reference is second[0].reference
    assert first[0].predicted is not second[0].predicted


def test_another_pipeline_gets_docs_of_its_own_vocab(nlp, folder):
    corpus = make_corpus(folder)
    list(corpus(nlp))
    other = spacy.blank("xx")
    assert all(example.reference.vocab is other.vocab for example in corpus(other))


def test_shuffle_changes_the_order_in_each_epoch_by_the_seed(nlp, tmp_path):
    path = tmp_path / "c.conllu"
    path.write_text("".join(row("1", str(i), deprel="root") + "\n" for i in range(20)))

    def epochs(seed):
        corpus = make_corpus(path, shuffle=True, seed=seed)
        return [[int(example.reference.text) for example in corpus(nlp)] for _ in range(2)]

    first, second = epochs(0)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert [first, second] == epochs(0) != epochs(1)


def test_raw_text_is_not_kept_in_memory(nlp, folder):
    assert all(not example.reference.user_data for example in make_corpus(folder)(nlp))


def test_no_path_is_an_error_when_called(nlp):
    corpus = make_corpus(None)
    with pytest.raises(ValueError, match="E506"):
        list(corpus(nlp))


def test_path_without_corpus_is_an_error(nlp, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"E507.*nowhere"):
        list(make_corpus(tmp_path / "nowhere")(nlp))
    with pytest.raises(ValueError, match="E508"):
        list(make_corpus(tmp_path)(nlp))


def test_sentences_without_gold_heads_stay_in_the_corpus(nlp, tmp_path):
    path = tmp_path / "partial.conllu"
    path.write_text(row("1", head="_", deprel="_") + row("2", head="_", deprel="_"))
    (example,) = make_corpus(path)(nlp)
    heads, deps = example.get_aligned_parse(projectivize=False)
    assert (len(heads), deps) == (2, ["", ""])


def test_bad_treebank_is_an_error_with_file_and_line(nlp, tmp_path):
    path = tmp_path / "bad.conllu"
    path.write_text(row("1", head="7"))
    with pytest.raises(ValueError, match=r"E304.*bad\.conllu, line 1"):
        list(make_corpus(path)(nlp))
