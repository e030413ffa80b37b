"""Enhanced graphs on Docs, and their way to CoNLL-U and back."""

from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.data.docs import ALL_COLUMNS, doc_to_sentences, read_bin, sentences_to_doc, sentences_to_docs
from spacy_g2g.data.enhanced import get_enhanced
from spacy_g2g.formats.conllu import read_conllu, write_conllu

from ..formats.samples import SAMPLE, read, shared_treebank


def sample_doc(vocab: Vocab) -> Doc:
    return sentences_to_doc(read(), vocab)


def to_text(doc: Doc, **settings: Any) -> str:
    return "".join(write_conllu(doc_to_sentences(doc, **settings)))


def small_doc(vocab: Vocab) -> Doc:
    """A Doc of one sentence with an enhanced graph."""
    words, deps = ["tea", "\n", "and", "milk", "mix"], ["nsubj", "dep", "cc", "conj", "root"]
    doc = Doc(vocab, words=words, heads=[4, 0, 3, 0, 4], deps=deps)
    doc._.g2g_enhanced = ARCS
    return doc


ARCS = [[(4, "nsubj")], [], [(3, "cc")], [(0, "conj:and"), (4, "nsubj")], [(4, "root")]]


def test_a_doc_from_conllu_has_the_graph_of_its_deps(vocab: Vocab) -> None:
    doc = sample_doc(vocab)
    assert doc[7]._.g2g_enhanced == [(0, "obl"), (0, "dep>dep")]
    assert doc._.g2g_enhanced[0] == [(0, "root")]
    assert doc._.g2g_enhanced[9:] == [[], [], [], []]
    assert get_enhanced(next(sentences_to_docs(doc_to_sentences(doc)[1:], vocab))) is None


def test_deps_and_empty_nodes_stay_byte_for_byte(vocab: Vocab) -> None:
    assert to_text(sample_doc(vocab)) == SAMPLE
    doc_bin = DocBin(docs=[sample_doc(vocab)], store_user_data=True)
    (doc,) = DocBin().from_bytes(doc_bin.to_bytes()).get_docs(vocab)
    assert to_text(doc) == SAMPLE
    assert doc._.g2g_enhanced == sample_doc(vocab)._.g2g_enhanced


def test_a_graph_that_is_set_replaces_deps_alone(vocab: Vocab) -> None:
    doc = sample_doc(vocab)
    arcs = [*doc._.g2g_enhanced]
    arcs[7] = [(0, "obl:a"), (3, "nmod")]
    doc._.g2g_enhanced = arcs
    text = to_text(doc)
    assert text == SAMPLE.replace("1:obl|8.1:dep", "1:obl:a|4:nmod")
    assert doc[7]._.g2g_enhanced == arcs[7]
    doc._.g2g_enhanced = None
    assert to_text(doc) == SAMPLE
    assert "8.1:dep" not in to_text(doc, columns=(*ALL_COLUMNS, "deps"))


def test_a_graph_becomes_deps_of_words_without_white_space(vocab: Vocab) -> None:
    doc = small_doc(vocab)
    (sentence,) = doc_to_sentences(doc)
    assert [word.deps for word in sentence.words] == ["4:nsubj", "3:cc", "1:conj:and|4:nsubj", "0:root"]


def test_a_graph_survives_bytes_copies_and_doc_bins(vocab: Vocab) -> None:
    doc = small_doc(vocab)
    (from_bin,) = DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes()).get_docs(vocab)
    from_bytes, part = Doc(vocab).from_bytes(doc.to_bytes()), doc[:].as_doc(copy_user_data=True)
    for copy in (from_bytes, doc.copy(), from_bin, part):
        assert copy._.g2g_enhanced == ARCS
    assert doc.to_json(underscore=["g2g_enhanced"])["_"]["g2g_enhanced"] == ARCS


def test_docs_that_are_read_to_be_parsed_lose_their_graph(vocab: Vocab) -> None:
    doc = small_doc(vocab)
    (read,) = read_bin(DocBin(docs=[doc], store_user_data=True).to_bytes(), vocab)
    assert isinstance(read, Doc)
    assert read._.g2g_enhanced is None
    assert read[0]._.g2g_enhanced == []


@pytest.mark.parametrize(
    "arcs",
    [
        [],
        [[]] * 4,
        5,
        [[], [], [], [], [(5, "nsubj")]],
        [[("0", "x")]] * 5,
        [[0]] * 5,
        *([[], [], [], [], [(0, label)]] for label in ("", "a b", "y|z", "\t", "x\n")),
    ],
)
def test_a_graph_must_fit_its_doc(vocab: Vocab, arcs: Any) -> None:
    doc = small_doc(vocab)
    with pytest.raises(ValueError, match="G2G-E522"):
        doc._.g2g_enhanced = arcs


def test_an_arc_to_white_space_or_another_sentence_can_not_be_written(vocab: Vocab) -> None:
    doc = small_doc(vocab)
    doc._.g2g_enhanced = [[(1, "nsubj")], *ARCS[1:]]
    with pytest.raises(ValueError, match="G2G-E505"):
        doc_to_sentences(doc)


@pytest.mark.parametrize("name", ["UD_English-EWT/en_ewt-ud-dev.conllu", "dev-only/nl_alpino-ud-dev.conllu"])
def test_graphs_of_treebanks_are_read_and_written_back(name: str, vocab: Vocab) -> None:
    path = shared_treebank(name)
    docs = list(sentences_to_docs(read_conllu(path), vocab, n_sents=10))
    assert "".join(map(to_text, docs)) == path.read_text(encoding="utf8")
    assert all(len(doc._.g2g_enhanced) == len(doc) for doc in docs)
