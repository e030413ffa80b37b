"""The white space that CoNLL-U gives in MISC reaches the text of a Doc."""

import io

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_g2g.data.docs import TOKEN_ANNOTATIONS, doc_to_sentences, sentences_to_doc
from spacy_g2g.data.multiword import word_forms
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.sentences.rewriting import rewrite, segments_of, with_white_space

VOCAB = spacy.blank("xx").vocab


def row(id_: str, form: str, misc: str = "_", tag: str = "X") -> str:
    return f"{id_}\t{form}\t_\t_\t{tag}\t_\t{'0' if id_ == '1' else '1'}\tdep\t_\t{misc}\n"


def read(text: str):
    sentences = list(read_conllu(io.StringIO(text, newline="\n")))
    doc = sentences_to_doc(sentences, VOCAB, annotations=TOKEN_ANNOTATIONS)
    return doc, *with_white_space(doc, sentences)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (row("1", "Soft", "SpacesAfter=\\s\\s\\s") + row("2", "wind"), "Soft   wind"),
        (row("1", "a", "SpacesBefore=\\n\\s|SpacesAfter=\\r\\n") + row("2", "b"), "\n a\r\nb"),
        (row("1", "a") + row("2", "b", "SpacesBefore=\\t"), "a \tb"),
        (row("1", "a", "SpacesAfter=\\u00a0") + row("2", "b", "SpacesAfter=\\n"), "a\u00a0b"),
        (row("1", "10 000", "SpacesInToken=10\\u00a0000") + row("2", "b"), "10\u00a0000 b"),
        (row("1", "10 000", "SpacesInToken=other") + row("2", "b"), "10 000 b"),
        (row("1", "việt nam", "SpacesAfter=\\s\\s") + row("2", "b"), "việt nam  b"),
        (row("1", "a", "SpacesAfter=\\s\\s") + row("2", "\u3000"), "a  \u3000"),
    ],
)
def test_the_text_is_as_misc_says(rows: str, text: str):
    doc, spaced, places = read(rows)
    assert spaced.text == text
    assert [spaced[i].tag_ for i in places] == [token.tag_ for token in doc]
    assert sum(token.tag_ == "X" for token in spaced) == len(places)
    assert len(list(spaced.sents)) == 1


def test_multiword_tokens_and_sentences_stay():
    text = row("1", "a") + row("2-3", "della", "SpacesAfter=\\s\\s").replace("1\tdep", "_\t_")
    text += row("2", "di") + row("3", "la") + row("4", "b", "SpacesAfter=\\n\\n") + "\n" + row("1", "c")
    _, spaced, places = read(text)
    assert spaced.text == "a della  b\n\nc"
    assert [word_forms(spaced)[i] for i in places] == ["a", "di", "la", "b", "c"]
    assert [sent.text for sent in spaced.sents] == ["a della  b\n\n", "c"]


def test_the_white_space_of_a_doc_is_written_to_misc_again():
    misc = ["SpacesAfter=\\s\\s\\s", "SpaceAfter=No", "SpacesAfter=\\s\\u00a0", "_", "_"]
    _, spaced, _ = read("".join(row(str(i), f"w{i}", m) for i, m in enumerate(misc, start=1)))
    (sentence,) = doc_to_sentences(spaced)
    assert [word.misc for word in sentence.words] == misc


def test_a_doc_without_such_features_stays_as_it_is():
    doc, spaced, places = read(row("1", "a", "SpaceAfter=No") + row("2", "b"))
    assert spaced is doc
    assert places == [0, 1]


def test_lower_case_has_the_letters_of_the_language():
    for lang, text in (("tr", "\u0131\u015f\u0131k iyi"), ("en", "i\u015f\u0131k i\u0307yi")):
        doc = Doc(spacy.blank(lang).vocab, words=["I\u015f\u0131k", "\u0130yi"], spaces=[True, False])
        assert rewrite(doc, segments_of(doc, np.ones(2, dtype=np.bool_)), lower=True).text == text
