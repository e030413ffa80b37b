import json
from collections import Counter

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.util import load_config_from_str, registry

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row


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


def test_predicted_has_the_text_and_the_annotations_asked_for(nlp, folder):
    examples = make_corpus(folder / "b.conllu", annotations=["TAG", "POS", "MORPH", "LEMMA"])(nlp)
    token = next(examples).predicted[4]
    assert (token.tag_, token.pos_, str(token.morph), token.lemma_) == ("N", "NOUN", "Gender=Masc", "mar")
    assert not token.doc.has_annotation("SENT_START")
    example = next(make_corpus(folder / "b.conllu", annotations=[])(nlp))
    assert example.predicted.text == example.reference.text
    assert not example.predicted.has_annotation("SENT_START")


@pytest.mark.parametrize("name", ["HEAD", "DEP", "ENT_TYPE"])
def test_other_annotations_are_an_error(folder, name):
    with pytest.raises(ValueError, match=f"E502.*{name}"):
        make_corpus(folder, annotations=["SENT_START", name])


@pytest.mark.parametrize("name", ["limit", "max_length"])
def test_a_negative_limit_is_an_error(folder, name):
    with pytest.raises(ValueError, match=f"E512.*{name} is -1"):
        make_corpus(folder, **{name: -1})


def test_a_damaged_file_is_named(nlp, tmp_path):
    (tmp_path / "train.spacy").write_bytes(b"")
    with pytest.raises(ValueError, match=r"E528.*train\.spacy"):
        list(make_corpus(tmp_path)(nlp))


@pytest.mark.parametrize(
    ("settings", "lengths"),
    [({}, [13, 9, 1, 3]), ({"limit": 2}, [13, 9]), ({"limit": 2, "max_length": 9}, [9, 1])],
)
def test_a_folder_is_read_by_name_and_limit_and_max_length_choose_docs(nlp, folder, settings, lengths):
    assert [len(example.reference) for example in make_corpus(folder, **settings)(nlp)] == lengths


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


def test_a_path_without_a_corpus_is_an_error_when_called(nlp, tmp_path):
    corpus = make_corpus(None)
    with pytest.raises(ValueError, match="E506"):
        list(corpus(nlp))
    with pytest.raises(FileNotFoundError, match=r"E507.*nowhere"):
        list(make_corpus(tmp_path / "nowhere")(nlp))
    with pytest.raises(ValueError, match="E508"):
        list(make_corpus(tmp_path)(nlp))


@pytest.fixture
def treebanks(tmp_path):
    """Treebanks of 20 and 5 sentences of a word, which are numbered through."""
    ranges = {"large": range(20), "small": range(20, 25)}
    for name, numbers in ranges.items():
        text = "".join(row("1", str(i), deprel="root") + "\n" for i in numbers)
        (tmp_path / f"{name}.conllu").write_text(text)
    return {name: tmp_path / f"{name}.conllu" for name in ranges}


def words_of(examples):
    return [int(example.reference.text) for example in examples]


def test_several_treebanks_are_joined_and_docs_know_theirs(nlp, treebanks):
    examples = list(make_corpus(treebanks)(nlp))
    assert words_of(examples) == list(range(25))
    names = [example.reference.user_data["treebank"] for example in examples]
    assert names == ["large"] * 20 + ["small"] * 5


def test_a_limit_holds_for_each_treebank(nlp, treebanks):
    assert words_of(make_corpus(treebanks, limit=2)(nlp)) == [0, 1, 20, 21]


def test_a_treebank_without_a_path_is_left_out(nlp, treebanks):
    corpus = make_corpus({**treebanks, "missing": None}, weights={"small": 1.0, "missing": 1.0})
    assert Counter(words_of(corpus(nlp))) == dict.fromkeys(range(20), 1) | dict.fromkeys(range(20, 25), 4)
    with pytest.raises(ValueError, match="E506"):
        next(make_corpus({"missing": None})(nlp))


def test_weights_repeat_docs_and_leave_none_out(nlp, treebanks):
    counts = Counter(words_of(make_corpus(treebanks, weights={"large": 1.0, "small": 0.4})(nlp)))
    assert all(counts[i] == 1 for i in range(20))
    assert sorted(counts[i] for i in range(20, 25)) == [1, 1, 2, 2, 2]
    counts = Counter(words_of(make_corpus(treebanks, weights={"large": 8.0})(nlp)))
    assert counts == dict.fromkeys(range(20), 2) | dict.fromkeys(range(20, 25), 1)


def test_weights_count_words_not_docs(nlp, treebanks, tmp_path):
    (tmp_path / "whole.conllu").write_text(treebanks["small"].read_text())
    paths = {"large": treebanks["large"], "whole": tmp_path / "whole.conllu"}
    examples = list(make_corpus(paths, weights={"large": 1.0}, n_sents=5)(nlp))
    treebanks = [example.reference.user_data["treebank"] for example in examples]
    assert Counter(treebanks) == {"large": 4, "whole": 4}


def test_choices_follow_the_seed_and_change_where_the_reader_shuffles(nlp, treebanks):
    def epochs(shuffle):
        corpus = make_corpus(treebanks, weights={"small": 0.4}, shuffle=shuffle, seed=1)
        return [sorted(words_of(corpus(nlp))) for _ in range(3)]

    assert len(set(map(tuple, epochs(False)))) == 1
    assert len(set(map(tuple, epochs(True)))) > 1
    assert epochs(True) == epochs(True)


def test_bad_weights_and_paths_with_two_names_are_errors(treebanks):
    with pytest.raises(ValueError, match=r"E523.*'smal'.*'large', 'small'"):
        make_corpus(treebanks, weights={"smal": 1.0})
    with pytest.raises(ValueError, match=r"E523.*\[\]"):
        make_corpus(treebanks["small"], weights={"small": 1.0})
    for weight in (0.0, -1.0, float("nan"), float("inf"), "x", None, [1.0], 10**400):
        with pytest.raises(ValueError, match=r"E524.*small is"):
            make_corpus(treebanks, weights={"small": weight})
    with pytest.raises(ValueError, match=r"E525.*'small', 'again'"):
        make_corpus({"small": treebanks["small"], "again": treebanks["small"]})


@pytest.mark.parametrize(
    "weights",
    [{"small": 1e5}, {"large": 1e300, "small": 1e-300}, {"large": 1e308, "small": 1e308}, {"small": 5e-324}],
)
def test_weights_that_make_an_epoch_of_millions_of_docs_are_an_error(nlp, treebanks, weights):
    with pytest.raises(ValueError, match=r"E555.*'small': .*closer"):
        next(make_corpus(treebanks, weights=weights)(nlp))


def test_few_sentences_are_repeated_beside_many(nlp, tmp_path, treebanks):
    paths = {"large": treebanks["large"], "one": tmp_path / "one.conllu"}
    paths["one"].write_text(row("1", "100", deprel="root") + "\n")
    counts = Counter(words_of(make_corpus(paths, weights={"one": 50.0})(nlp)))
    assert counts == dict.fromkeys(range(20), 1) | {100: 1000}


@pytest.mark.parametrize(
    "spelling", ["x/./small.conllu", "x/../x/small.conllu", "link", "hard", "x", "folder"]
)
def test_files_with_two_names_are_an_error_however_their_path_is_spelled(tmp_path, spelling):
    (tmp_path / "x").mkdir()
    path = tmp_path / "x" / "small.conllu"
    path.write_text(row("1", "a", deprel="root") + "\n")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    (tmp_path / "hard").hardlink_to(path)
    for one, other in ((path, f"{tmp_path}/{spelling}"), (f"{tmp_path}/{spelling}", path)):
        with pytest.raises(ValueError, match=r"E525.*small"):
            make_corpus({"small": one, "again": other})


def test_a_config_takes_treebanks_as_a_section_and_as_a_value(nlp, treebanks):
    paths = {name: str(path) for name, path in treebanks.items()}
    text = '[paths]\ntrain = null\n[corpus]\n@readers = "spacy_g2g.Corpus.v1"\npath = ${paths.train}\n'
    config = load_config_from_str(text, overrides={"paths.train": paths}, interpolate=True)
    section = text.replace("path = ${paths.train}", "[corpus.path]\nlarge = {large}\nsmall = {small}")
    filled = section.format(**{name: json.dumps(path) for name, path in paths.items()})
    for of_kind in (config, load_config_from_str(filled, interpolate=True)):
        assert words_of(registry.resolve(of_kind)["corpus"](nlp)) == list(range(25))


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
