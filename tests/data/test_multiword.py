"""Words of multiword tokens in Docs."""

import pickle

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences, read_bin, sentences_to_doc
from spacy_g2g.data.multiword import (
    attribute_hashes,
    copy_words,
    cut,
    is_split,
    mark_words,
    multiword_tokens,
    word_forms,
)
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.sentences.augmenters import make_running_text

from ..formats.samples import read, row, shared_treebank


@pytest.fixture
def doc() -> Doc:
    """ "Vámonos al mar", with two multiword tokens."""
    return sentences_to_doc(read()[:1], spacy.blank("xx").vocab, keep_source=False)


@pytest.mark.parametrize(
    ("form", "words", "pieces"),
    [
        ("della", ("di", "la"), ("del", "la")),
        ("dirglielo", ("dir", "glie", "lo"), ("dir", "glie", "lo")),
        ("Dámelo", ("Da", "me", "lo"), ("Dá", "me", "lo")),
        ("DELLA", ("di", "la"), ("DEL", "LA")),
        ("du", ("de", "le"), ("d", "u")),
        ("à", ("a", "a"), None),
        ("a" * 201, ("a", "a" * 200), None),
        ("a ", ("a", "a"), None),
        ("İki", ("İk", "i"), ("İk", "i")),
    ],
)
def test_a_cut_keeps_words_whole_where_it_can(
    form: str, words: tuple[str, ...], pieces: tuple[str, ...] | None
):
    assert cut(form, words) == pieces


@given(st.text(max_size=9), st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_pieces_join_to_the_token_and_none_is_blank(form: str, words: list[str]):
    pieces = cut(form, tuple(words))
    n_visible = len("".join(form.split()))
    if pieces is None:
        assert n_visible < len(words)
    else:
        assert "".join(pieces) == form
        assert len(pieces) == len(words)
        assert all(piece.strip() for piece in pieces)


def test_text_is_untouched_and_words_are_norms(doc: Doc):
    assert doc.text == "Vámonos al mar, 10 000 veces. "
    assert [doc[start:end].text for start, end in multiword_tokens(doc)] == ["Vámonos", "al"]
    assert word_forms(doc)[:5] == ["Vamos", "nos", "a", "el", "mar"]


#: Ways to keep a Doc.
WAYS = {
    "bytes": lambda doc: Doc(Vocab()).from_bytes(doc.to_bytes()),
    "DocBin": lambda doc: next(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())),
    "copy": Doc.copy,
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "from_docs": lambda doc: Doc.from_docs([doc]),
    "unparsed": lambda doc: unparsed_copy(doc, []),
}


@pytest.mark.parametrize("way", WAYS)
def test_words_survive(way: str, doc: Doc):
    found = WAYS[way](doc)
    assert (word_forms(found), multiword_tokens(found)) == (word_forms(doc), multiword_tokens(doc))


def test_a_doc_without_multiword_tokens_has_final_words_too(doc: Doc):
    plain = Doc(doc.vocab, words=["a", "b"])
    assert not is_split(plain)
    copy_words(plain, to=plain)
    assert is_split(plain.copy())
    assert (word_forms(plain), multiword_tokens(plain)) == (["a", "b"], [])


def test_a_token_with_too_few_characters_has_its_words_in_the_text():
    text = "".join(row(id_, form, "_", "_") for id_, form in (("1-2", "à"), ("1", "a"), ("2", "a"))) + "\n"
    doc = sentences_to_doc(read(text), spacy.blank("xx").vocab)
    assert ([token.text for token in doc], multiword_tokens(doc)) == (["a", "a"], [])
    assert "".join(map(str, doc_to_sentences(doc))) == text


def test_ranges_are_written(doc: Doc):
    rows = [line.split("\t") for line in str(doc_to_sentences(doc)[0]).splitlines()[2:] if line]
    assert [cells[0] for cells in rows[:6]] == ["1-2", "1", "2", "3-4", "3", "4"]
    assert [cells[1] for cells in rows[:6]] == ["Vámonos", "Vamos", "nos", "al", "a", "el"]
    assert all(cells[9] == "_" for cells in rows[:6])


def test_white_space_after_a_multiword_token_stands_in_its_range():
    doc = Doc(spacy.blank("xx").vocab, words=["d", "u", ",", "d", "u", "\n"], spaces=[False] * 6)
    mark_words(doc, [(0, 2), (3, 5)], ["de", "le", "de", "le"])
    (sentence,) = doc_to_sentences(doc)
    assert [(token.form, token.misc) for token in sentence.tokens] == [
        ("du", "SpaceAfter=No"),
        (",", "SpaceAfter=No"),
        ("du", "SpacesAfter=\\n"),
    ]
    assert (sentence.text, sentence.comment("text")) == ("du,du", "du,du")


def test_a_boundary_inside_makes_two_tokens():
    doc = Doc(spacy.blank("xx").vocab, words=["d", "u"], spaces=[False, True], sent_starts=[True, True])
    mark_words(doc, [(0, 2)], ["de", "le"])
    assert [[word.form for word in sentence.words] for sentence in doc_to_sentences(doc)] == [["d"], ["u"]]


def test_merging_other_tokens_leaves_the_marks_in_place(doc: Doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.merge(doc[5:7])
    assert [doc[start:end].text for start, end in multiword_tokens(doc)] == ["al"]
    assert word_forms(doc)[:4] == ["Vámonos", "a", "el", "mar"]


def test_marks_at_the_end_follow_their_tokens_where_earlier_ones_are_merged():
    doc = Doc(spacy.blank("xx").vocab, words=["vede", "al", "mare", "d", "u"])
    mark_words(doc, [(3, 5)], ["de", "le"])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:3])
    assert multiword_tokens(doc) == [(1, 3)]
    assert word_forms(doc)[1:] == ["de", "le"]
    assert doc.spans["mwt"].name == "mwt"


def test_attributes_are_those_of_the_form(doc: Doc):
    strings, hashes = doc.vocab.strings, attribute_hashes(doc, ["LOWER", "SHAPE"])
    assert [strings[int(value)] for value in hashes[:5, 0]] == ["vamos", "nos", "a", "el", "mar"]
    assert [strings[int(value)] for value in hashes[:2, 1]] == ["Xxxxx", "xxx"]


def test_augmented_text_keeps_words(doc: Doc):
    nlp = spacy.blank("xx")
    example = spacy.training.Example(unparsed_copy(doc, ["SENT_START"]), doc)
    (changed,) = make_running_text(drop_all_punct=1.0, lower_case=1.0)(nlp, example)
    for found in (changed.predicted, changed.reference):
        assert found.text == "vámonos al mar, 10 000 veces "
        assert word_forms(found)[:5] == ["vamos", "nos", "a", "el", "mar"]


@pytest.mark.parametrize("name", ["it_isdt", "he_htb"])
def test_treebanks_are_written_as_they_were_read(name: str):
    path = shared_treebank(f"dev-only/{name}-ud-dev.conllu")
    vocab = spacy.blank("xx").vocab
    for sentence in read_conllu(path):
        doc = sentences_to_doc([sentence], vocab, keep_source=False)
        (written,) = doc_to_sentences(doc)
        assert doc.text.rstrip() == sentence.text == written.text
        assert [word.form for word in written.words] == [word.form for word in sentence.words]
        found, expected = ([token[:1] + token[2:] for token in s.tokens] for s in (written, sentence))
        assert found == expected


def test_docs_of_a_doc_bin_have_final_words(doc: Doc):
    plain = Doc(doc.vocab, words=["a", "b"])
    read = list(read_bin(DocBin(docs=[doc, plain]).to_bytes(), spacy.blank("xx").vocab))
    assert [is_split(found) for found in read] == [True, True]
    assert word_forms(read[0]) == word_forms(doc)


@pytest.mark.parametrize(
    "kept",
    [
        lambda doc: Doc(spacy.blank("xx").vocab).from_json(doc.to_json()),
        lambda doc: next(DocBin(attrs=["ORTH"], docs=[doc]).get_docs(spacy.blank("xx").vocab)),
    ],
    ids=["json", "DocBin without NORM"],
)
def test_rows_have_the_words_where_norms_are_lost(kept, doc: Doc):
    (expected,), (found,) = doc_to_sentences(doc), doc_to_sentences(kept(doc))
    assert [token.form for token in found.tokens] == [token.form for token in expected.tokens]
    assert [word.form for word in found.words] == [word.form for word in expected.words]
    assert "el" in [word.form for word in found.words]


def test_a_part_gets_its_marks_back(doc: Doc):
    part = doc[2:5].as_doc()
    assert not is_split(part)
    copy_words(doc, to=part, places=range(2, 5))
    assert word_forms(part) == ["a", "el", "mar"]
