from itertools import islice

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_g2g.data import source
from spacy_g2g.data.docs import ALL_COLUMNS, doc_to_sentences, sentences_to_doc, sentences_to_docs
from spacy_g2g.data.multiword import word_forms
from spacy_g2g.data.source import restore_sentences, source_arcs
from spacy_g2g.formats import conllu
from spacy_g2g.formats.conllu import read_conllu, write_conllu

from ..formats.samples import SAMPLE, read, row, shared_treebank


def to_text(docs, **kwargs):
    return "".join(write_conllu(s for doc in docs for s in doc_to_sentences(doc, **kwargs)))


def through_doc_bin(docs):
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    return list(DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab))


def test_tokens_are_syntactic_words_and_may_have_spaces(vocab):
    doc = next(sentences_to_docs(read(), vocab))
    assert word_forms(doc) == ["Vamos", "nos", "a", "el", "mar", ",", "10 000", "veces", "."]
    assert [token.text for token in doc][:4] == ["Vámo", "nos", "a", "l"]
    assert doc.text == "Vámonos al mar, 10 000 veces. "


def test_docs_carry_the_columns(vocab):
    token = next(sentences_to_docs(read(), vocab))[4]
    assert (token.lemma_, token.pos_, token.tag_, str(token.morph)) == ("mar", "NOUN", "N", "Gender=Masc")
    assert (token.head.norm_, token.dep_) == ("Vamos", "obl:arg")


@pytest.mark.parametrize("field", ["words", "lemmas", "tags", "deps"])
def test_line_breaks_in_what_a_doc_holds_do_not_break_rows(vocab, field):
    given = {"words": ["a", "b"], "lemmas": ["c", "d"], "tags": ["e", "f"], "deps": ["ROOT", "g"]}
    given[field] = [given[field][0], "x\r\n1\ty"]
    doc = Doc(vocab, heads=[0, 0], **given)
    text = to_text([doc], doc_id="1\n2\t_")
    first, second = text.splitlines()[2:4]
    assert [line.count("\t") for line in text.splitlines()] == [0, 0, 9, 9, 0]
    assert (first.split("\t")[0], second.split("\t")[0]) == ("1", "2")
    assert "x 1 y" in second


def test_underscore_is_missing_annotation_but_for_a_word_that_is_one(vocab):
    token = list(sentences_to_docs(read(), vocab))[2][1]
    assert (token.text, token.lemma_, token.tag_) == ("_", "_", "")


def test_missing_heads_have_no_label(vocab):
    (doc,) = sentences_to_docs(read(row("1", head="_", deprel="_") + row("2", head="1")), vocab)
    assert [token.dep_ for token in doc] == ["", "dep"]
    assert to_text([doc]) == row("1", head="_", deprel="_") + row("2", head="1")


UNLABELLED = row("1", "a", "0", "root") + row("2", "b", "1", "_") + row("3", "c", "2", "_") + "\n"


@pytest.mark.parametrize("keep_source", [True, False])
def test_a_head_without_a_label_is_kept_through_a_doc_bin(vocab, keep_source):
    docs = sentences_to_docs(read(UNLABELLED), vocab, keep_source=keep_source)
    (doc,) = through_doc_bin(docs)
    assert [(token.head.i, token.dep_) for token in doc] == [(0, "root"), (0, "_"), (1, "_")]
    (sentence,) = doc_to_sentences(doc)
    assert [(word.head, word.deprel) for word in sentence.words] == [(0, "root"), (1, "_"), (2, "_")]
    assert not keep_source or str(sentence) == UNLABELLED


def test_an_empty_label_is_a_missing_one(vocab):
    doc = next(sentences_to_docs(read(row("1", "a", "2", "") + row("2", "b", "0", "")), vocab))
    assert [(token.head.i, token.dep_) for token in doc] == [(1, "_"), (1, "_")]
    assert source_arcs(doc) == ({0: 1, 1: 1}, {})


def test_a_label_without_a_head_makes_no_root(vocab):
    (doc,) = sentences_to_docs(read(row("1", deprel="root") + row("2", head="_", deprel="nsubj")), vocab)
    assert [token.has_head() for token in doc] == [True, False]
    assert [word.head for word in doc_to_sentences(doc)[0].words] == [0, None]
    assert source_arcs(doc) == ({0: 0}, {0: "root", 1: "nsubj"})


def test_white_space_has_no_arcs_to_be_kept(vocab):
    text = row("1") + row("2", "\u3000", "1", "punct") + row("3", "b", "2", "dep")
    (doc,) = sentences_to_docs(read(text), vocab)
    heads, deps = source_arcs(doc)
    assert heads == {0: 0}
    assert sorted(deps) == [0, 2]


@pytest.mark.parametrize(("n_documents", "sizes"), [(12, [5, 5, 2]), (9, [1] * 8 + [4])])
def test_documents_of_one_sentence_each_do_not_keep_sentences_apart(vocab, n_documents, sizes):
    sentence = row("1", "w", "0", "root") + "\n"
    text = "# newdoc\n".join(["", *[sentence] * n_documents]) + sentence * (12 - n_documents)
    docs = [*sentences_to_docs(read(text), vocab, n_sents=5)]
    assert [len([*doc.sents]) for doc in docs] == sizes
    assert to_text(docs) == text


def test_docs_have_n_sents_sentences_and_start_at_newdoc(vocab):
    sentences = [*read(), *read()]
    assert [len(list(doc.sents)) for doc in sentences_to_docs(sentences, vocab, n_sents=2)] == [2, 1, 2, 1]
    assert [len(list(doc.sents)) for doc in sentences_to_docs(sentences, vocab, n_sents=9)] == [3, 3]


def test_boundaries_are_kept_without_heads(vocab):
    docs = sentences_to_docs(read(), vocab, n_sents=3, annotations=["SENT_START"])
    doc = next(docs)
    assert [sent.start for sent in doc.sents] == [0, 9, 10]
    assert not doc.has_annotation("DEP")
    assert not doc.has_annotation("POS")


def test_unknown_annotations_are_an_error(vocab):
    with pytest.raises(ValueError, match=r"E502.*\['NER'\].*SENT_START"):
        list(sentences_to_docs(read(), vocab, annotations=["NER"]))
    with pytest.raises(ValueError, match="E503"):
        list(sentences_to_docs(read(), vocab, annotations=["HEAD"]))


@pytest.mark.parametrize("n_sents", [1, 2, 3])
def test_conllu_is_given_back_byte_for_byte_after_a_doc_bin(vocab, n_sents):
    for text in (SAMPLE, SAMPLE.replace("\n", "\r\n"), SAMPLE.rstrip("\n")):
        docs = through_doc_bin(sentences_to_docs(read(text), vocab, n_sents=n_sents))
        assert to_text(docs) == text


def test_boundaries_of_sentences_without_heads_survive_a_doc_bin(vocab):
    text = (row("1", head="_", deprel="_") + "\n") * 2 + row("1", deprel="root")
    (doc,) = through_doc_bin(sentences_to_docs(read(text), vocab, n_sents=3))
    restore_sentences(doc)
    assert [token.is_sent_start for token in doc] == [True, True, True]


def test_new_annotation_goes_to_the_columns_asked_for(vocab):
    (doc,) = sentences_to_docs(read(SAMPLE.split("\n\n")[1] + "\n"), vocab)
    doc[0].pos_, doc[0].tag_, doc[0].dep_ = "NOUN", "nn", "ROOT"
    (sentence,) = doc_to_sentences(doc)
    assert (sentence.words[0].upos, sentence.words[0].deprel) == ("INTJ", "root")
    (sentence,) = doc_to_sentences(doc, columns=ALL_COLUMNS)
    assert (sentence.words[0].upos, sentence.words[0].xpos) == ("NOUN", "nn")


def test_a_doc_with_merged_tokens_is_written_from_its_tokens_with_one_warning(vocab):
    doc = next(sentences_to_docs(read(), vocab))
    first, second = doc[0].text, doc[1].text
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.warns(UserWarning, match=r"W560.*user_data\['conllu'\].*Vámonos") as caught:
        (sentence,) = doc_to_sentences(doc)
    assert len(caught) == 1
    assert sentence.words[0].form == first + second
    assert len(sentence.words) == len(doc)
    assert [str(s) for s in doc_to_sentences(doc)] == [str(sentence)]


def test_the_conllu_of_another_text_is_an_error(vocab):
    doc, other = islice(sentences_to_docs(read(), vocab), 2)
    other.user_data["conllu"] = doc.user_data["conllu"]
    with pytest.raises(ValueError, match=r"E504.*sentence 'Vámo"):
        doc_to_sentences(other)


@pytest.mark.parametrize("last", [1, 2, 3])
def test_a_part_of_a_doc_is_written_as_its_own_sentences(vocab, last: int):
    others = [f"# sent_id = {i}\n" + row("1", f"w{i}") + "\n" for i in (1, 2, 3)]
    text = "".join([SAMPLE.split("\n\n")[0], "\n\n", *others])
    (doc,) = sentences_to_docs(read(text), vocab, n_sents=4)
    sentences = list(doc.sents)
    part = doc[sentences[1].start : sentences[last].end].as_doc(copy_user_data=True)
    assert [str(s) for s in doc_to_sentences(part)] == [str(s) for s in read(text)][1 : last + 1]
    whole = doc[:].as_doc(copy_user_data=True)
    assert len(doc_to_sentences(whole)) == 4


@pytest.mark.parametrize(("start", "end"), [(1, 3), (0, 1)])
def test_a_part_that_is_no_sentences_or_fits_twice_is_written_from_its_tokens(vocab, start: int, end: int):
    text = (row("1", "Go") + "\n") * 2 + row("1", "to", head="2") + row("2", "bed")
    (doc,) = sentences_to_docs(read(text), vocab, n_sents=3)
    part = doc[start:end].as_doc(copy_user_data=True)
    with pytest.warns(UserWarning, match=r"W560.*user_data\['conllu'\]"):
        sentences = doc_to_sentences(part)
    assert [word.form for s in sentences for word in s.words] == [token.text for token in part]


@pytest.mark.filterwarnings("ignore:.*W102")
def test_docs_that_are_joined_are_written_from_their_tokens(vocab):
    docs = list(sentences_to_docs(read((row("1", "Go") + "\n") * 2), vocab))
    assert [word.form for s in doc_to_sentences(Doc.from_docs(docs)) for word in s.words] == ["Go", "Go"]


def test_arcs_over_a_boundary_are_an_error(vocab):
    doc = next(sentences_to_docs(read(), vocab, n_sents=2))
    doc[9].head = doc[0]
    with pytest.raises(ValueError, match=r"E505.*'Vámo'.*'Sí'"):
        doc_to_sentences(doc)


def make_doc(vocab, words, heads, deps=None, spaces=None):
    deps = deps or ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]
    return Doc(vocab, words=words, heads=heads, deps=deps, spaces=spaces)


def written(doc):
    """ID, form, head, deprel and MISC of each row."""
    return [
        (i, word.form, word.head, word.deprel, word.misc)
        for sentence in doc_to_sentences(doc)
        for i, word in enumerate(sentence.words, start=1)
    ]


def test_docs_from_text_give_rows(vocab):
    doc = make_doc(vocab, ["It", "works", ".", "Yes"], [1, 1, 1, 3], spaces=[True, False, True, False])
    first, second = doc_to_sentences(doc, doc_id="7")
    assert first.comments == ["# sent_id = 7-1", "# text = It works."]
    assert second.comments == ["# sent_id = 7-2", "# text = Yes"]
    assert written(doc) == [
        (1, "It", 2, "dep", "_"),
        (2, "works", 0, "root", "SpaceAfter=No"),
        (3, ".", 2, "dep", "_"),
        (1, "Yes", 0, "root", "_"),
    ]


def test_unparsed_docs_give_rows_without_heads(vocab):
    assert written(Doc(vocab, words=["a", "b"])) == [(1, "a", None, "_", "_"), (2, "b", None, "_", "_")]


def test_white_space_is_left_out_and_its_dependents_move_up(vocab):
    doc = make_doc(
        vocab, ["\n", "a", "\n\n", "b", "c"], [3, 2, 3, 3, 2], spaces=[False, True, False, True, False]
    )
    assert written(doc) == [
        (1, "a", 2, "dep", "SpacesAfter=\\s\\n\\n|SpacesBefore=\\n"),
        (2, "b", 0, "root", "_"),
        (3, "c", 2, "dep", "_"),
    ]


def test_first_dependent_of_a_white_space_root_becomes_the_root(vocab):
    doc = make_doc(vocab, ["a", " ", "b", "c"], [1, 1, 1, 2])
    assert written(doc) == [
        (1, "a", 0, "root", "SpacesAfter=\\s\\s\\s"),
        (2, "b", 1, "dep", "_"),
        (3, "c", 2, "dep", "_"),
    ]


@pytest.mark.parametrize("words", [[], [" "], ["\n", "\t"]])
def test_docs_without_words_give_no_sentence(vocab, words):
    assert doc_to_sentences(Doc(vocab, words=words)) == []


def test_sentence_of_white_space_gives_none(vocab):
    doc = make_doc(vocab, ["a", "\n", "b"], [0, 1, 2], spaces=[False, False, False])
    first, second = doc_to_sentences(doc)
    assert first.words[0].misc == "SpacesAfter=\\n"
    assert second.comment("sent_id") == "1-2"


@pytest.mark.parametrize("text", [SAMPLE, SAMPLE.replace("\n\n", "\n\n\n"), SAMPLE.rstrip("\n")])
def test_the_text_of_recent_sentences_is_not_parsed_again(vocab, monkeypatch, text):
    source._parse.cache_clear()
    docs = list(sentences_to_docs(read(text), vocab, n_sents=2))
    monkeypatch.setattr(conllu, "parse_sentence", None)
    assert to_text(docs) == to_text(through_doc_bin(docs)) == text
    monkeypatch.undo()
    sentences = [source.source_sentences(doc) for doc in docs]
    source._parse.cache_clear()
    assert [source.source_sentences(doc) for doc in docs] == sentences


def test_sentences_that_other_lines_make_are_parsed_from_their_text(vocab):
    """Without line ends, the lines of a sentence are one line of its text."""
    lines = [row("1").rstrip("\n"), row("2", head="1").rstrip("\n")]
    doc = sentences_to_doc([*read_conllu(lines)], vocab)
    with pytest.raises(ValueError, match="E301"):
        doc_to_sentences(doc)


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "\x00", "👩‍👩‍👧", "é", "שלום", "x" * 600])
def test_odd_words_give_one_row(vocab, word):
    (sentence,) = doc_to_sentences(make_doc(vocab, [word], [0]))
    assert len(sentence.words) == 1
    assert sentence.words[0].form == word.replace("\t", " ").replace("\n", " ")


@pytest.mark.parametrize("word", ["\x00", "👩‍👩‍👧", "é", "שלום", "x" * 600, "\u00a0"])
def test_odd_words_of_conllu_are_given_back(vocab, word):
    text = row("1", word, deprel="root")
    assert to_text(through_doc_bin(sentences_to_docs(read(text), vocab))) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dev-only/he_htb-ud-dev.conllu", "dev-only/fi_tdt-ud-dev.conllu"])
def test_real_treebanks_are_given_back_after_a_doc_bin(vocab, name):
    path = shared_treebank(name)
    docs = through_doc_bin(sentences_to_docs(read_conllu(path), vocab, n_sents=5))
    columns = ["lemma", "upos", "xpos", "head", "deprel"]
    assert to_text(docs, columns=columns).encode("utf8") == path.read_bytes()
