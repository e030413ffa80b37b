import pyarrow.parquet as pq
import pytest
import spacy
from spacy.tokens import Doc, Token

from spacy_g2g.corpus_job.documents import Document
from spacy_g2g.corpus_job.reading import read_docs
from spacy_g2g.corpus_job.table import annotations_of, docs_to_table, make_schema
from spacy_g2g.data.doc_record import ANNOTATIONS, DEP_PROB, HEAD_PROB
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms

from ..util import make_nlp

TREES = ("sent_starts", "heads", "deps")


def write(docs, path, annotations=ANNOTATIONS, keep=(), text=True):
    schema = make_schema(annotations, keep=keep, text=text)
    parsed = [
        (Document(f"d{i}", i, doc.text, ("v",) * len(keep), "", "a"), doc) for i, doc in enumerate(docs)
    ]
    pq.write_table(docs_to_table(parsed, schema, keep), path)


def facts(doc):
    return [
        (t.text, t.whitespace_, t.head.i, t.dep_, t.is_sent_start, t.tag_, t.pos_, t.lemma_, str(t.morph))
        for t in doc
    ]


@pytest.fixture
def docs():
    vocab = spacy.blank("xx").vocab
    for extension in (HEAD_PROB, DEP_PROB):
        if not Token.has_extension(extension):
            Token.set_extension(extension, default=None)
    full = Doc(
        vocab,
        words=["She", "saw", " ", "it", ".", "Ünï", "😀"],
        spaces=[True, True, False, False, True, True, False],
        tags=["PRP", "VBD", "_SP", "PRP", ".", "UH", ""],
        pos=["PRON", "VERB", "SPACE", "PRON", "PUNCT", "INTJ", ""],
        lemmas=["she", "see", " ", "it", ".", "", ""],
        morphs=["Case=Nom|Person=3", "Tense=Past", "", "", "", "", ""],
        heads=[1, 1, 1, 1, 1, 6, 6],
        deps=["nsubj", "ROOT", "dep", "obj", "punct", "dep", "ROOT"],
    )
    for i, token in enumerate(full):
        if token.pos_ != "SPACE":
            token._.set(HEAD_PROB, i / 8)
    crossing = Doc(vocab, words=list("abcd"), heads=[2, 3, 2, 2], deps=["x", "y", "ROOT", "z"])
    only_sentences = Doc(vocab, words=list("abcd"), sent_starts=[True, False, True, False])
    contracted = Doc(vocab, words=["vede", "de", "l", "mare"], spaces=[True, False, True, False])
    mark_words(contracted, [(1, 3)], ["di", "il"])
    return [full, Doc(vocab), crossing, Doc(vocab, words=["\n"]), only_sentences, contracted]


def test_docs_come_back_as_they_were(docs, tmp_path):
    write(docs, tmp_path / "x.parquet", keep=("source",))
    vocab = spacy.blank("xx").vocab
    read = list(read_docs(tmp_path, vocab))
    assert [facts(doc) for doc in read] == [facts(doc) for doc in docs]
    assert [doc.text for doc in read] == [doc.text for doc in docs]
    assert (word_forms(read[-1]), multiword_tokens(read[-1])) == (["vede", "di", "il", "mare"], [(1, 3)])
    for name in ("HEAD", "DEP", "SENT_START"):
        assert [doc.has_annotation(name) for doc in read] == [doc.has_annotation(name) for doc in docs]
    assert [t._.get(HEAD_PROB) for t in read[0]] == [t._.get(HEAD_PROB) for t in docs[0]]
    assert read[2].user_data == {"id": "d2", "file": "a", "place": 2, "source": "v"}


def test_columns_can_be_chosen_in_writing_and_reading(docs, tmp_path):
    write(docs, tmp_path / "x.parquet", annotations=TREES, text=False)
    assert pq.read_schema(tmp_path / "x.parquet").names == [
        *("id", "file", "place", "words", "spaces", "sent_starts", "heads", "deps")
    ]
    (first, *_) = read_docs(tmp_path / "x.parquet", docs[0].vocab, columns=["heads", "deps"])
    assert [t.head.i for t in first] == [t.head.i for t in docs[0]]
    assert first.user_data == {}
    (heads, *_) = pq.read_table(tmp_path / "x.parquet")["heads"].to_pylist()
    assert heads == [t.head.i for t in docs[0]]
    with pytest.raises(FileNotFoundError, match=r"E1109.*nowhere"):
        next(read_docs(tmp_path / "nowhere", docs[0].vocab))


def test_the_schema_does_not_depend_on_the_docs(docs, tmp_path):
    write(docs, tmp_path / "full.parquet")
    write([], tmp_path / "empty.parquet")
    write(docs[1:2], tmp_path / "blank.parquet")
    schemas = [pq.read_schema(tmp_path / f"{name}.parquet") for name in ("full", "empty", "blank")]
    assert schemas[0] == schemas[1] == schemas[2]
    assert list(read_docs(tmp_path / "empty.parquet", docs[0].vocab)) == []


def test_columns_are_those_that_components_assign():
    nlp = make_nlp(store_probabilities=True)
    assert annotations_of(nlp) == (*TREES, "head_probs", "dep_probs")
    nlp.add_pipe("morphologizer", first=True)
    nlp.disable_pipe("g2g_parser")
    assert annotations_of(nlp) == ("pos", "morphs")
    nlp.add_pipe("attribute_ruler")
    assert annotations_of(nlp) == ("tags", "pos", "lemmas", "morphs")
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_encoder")  # it finds sentences
    nlp.add_pipe("tagger")
    assert annotations_of(nlp) == ("sent_starts", "tags")


def test_unknown_and_clashing_columns_are_errors():
    with pytest.raises(ValueError, match=r"E1107.*\['trees'\].*heads"):
        make_schema(["trees"], keep=(), text=True)
    with pytest.raises(ValueError, match=r"E1108.*\['heads', 'id'\]"):
        make_schema(TREES, keep=("n", "id", "heads"), text=True)
    assert make_schema(TREES, keep=("text",), text=False).names[-1] == "text"
