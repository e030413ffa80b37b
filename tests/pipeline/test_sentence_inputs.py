"""Docs to sentences and back: white space stays out of trees, boundaries stay where they were."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.arrays import IntArray
from spacy_g2g.data.gold import gold_parse, gold_starts
from spacy_g2g.data.segmentation import segment
from spacy_g2g.pipeline.sentence_inputs import make_sentences, read_tags
from spacy_g2g.pipeline.trees import SPACE_LABEL, write_trees

from ..util import gold_doc, plain_doc, tree_of

VOCAB = spacy.blank("xx").vocab
LABELS = ["root", "obj", "nsubj"]


def as_ints(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def write(docs: list[Doc], heads: list[int], labels: list[int]) -> None:
    write_trees(
        docs,
        segment(docs),
        heads=as_ints(heads),
        labels=as_ints(labels),
        label_hashes=np.array([VOCAB.strings.add(label) for label in LABELS], dtype=np.uint64),
        space=VOCAB.strings.add(SPACE_LABEL),
    )


def words_of(docs: list[Doc]) -> list[list[str]]:
    return [list(sentence.words) for sentence in make_sentences(docs, segment(docs))]


# Sentences


def doc_of(text: str, *starts: bool | None) -> Doc:
    return Doc(VOCAB, words=text.split(), sent_starts=list(starts) or None)


NO = Doc(VOCAB)


@pytest.mark.parametrize(
    ("docs", "words", "unset"),
    [
        ([plain_doc(VOCAB, "a b", "c"), plain_doc(VOCAB, "d")], ["a b", "c", "d"], [0, 0]),
        ([doc_of("a b"), plain_doc(VOCAB, "c", "d"), doc_of("e"), NO], ["a b", "c", "d", "e"], [1, 0, 0, 0]),
        ([doc_of("a b c", True, False, False)], ["a b c"], [0]),
        ([doc_of("a b c", None, None, True)], ["a b", "c"], [0]),
        ([plain_doc(VOCAB, ["\n", "a", " ", "b"], [" ", "\n"], ["c", "\t"])], ["a b", "c"], [0]),
        ([NO, NO], [], [0, 0]),
        ([], [], []),
    ],
    ids=["boundaries", "none set", "all ruled out", "some set", "white space", "no tokens", "no docs"],
)
def test_words_of_sentences(docs: list[Doc], words: list[str], unset: list[int]):
    segmentation = segment(docs)
    assert words_of(docs) == [sentence.split() for sentence in words]
    assert segmentation.unset.tolist() == [bool(value) for value in unset]


def test_sentences_know_their_docs_and_those_of_white_space_have_no_words():
    assert segment([plain_doc(VOCAB, "a b", "c"), plain_doc(VOCAB, "d")]).doc_of.tolist() == [0, 0, 1]
    spaces = plain_doc(VOCAB, ["\n", "a", " ", "b"], [" ", "\n"], ["c", "\t"])
    assert segment([spaces]).n_words.tolist() == [2, 0, 1]


@pytest.mark.parametrize("attr", ["TAG", "POS"])
def test_tags_are_those_of_the_words(attr: str):
    doc = Doc(VOCAB, words=["a", " ", "b"], tags=["NOUN", "SPACE", ""], pos=["NOUN", "SPACE", ""])
    (found,) = make_sentences([doc], segment([doc]), read_tags([doc], segment([doc]), attr))
    assert found.tags == ["NOUN", ""]


# Trees


def test_heads_are_tokens_and_roots_are_their_own_heads():
    docs = [plain_doc(VOCAB, "a b c", "d e"), plain_doc(VOCAB, "f g")]
    write(docs, [2, 0, 2, 0, 1, 2, 0], [2, 0, 1, 0, 1, 1, 0])
    assert tree_of(docs[0]) == [(1, "nsubj"), (1, "root"), (1, "obj"), (3, "root"), (3, "obj")]
    assert tree_of(docs[1]) == [(1, "obj"), (1, "root")]
    assert [[t.text for t in sent] for sent in docs[0].sents] == [["a", "b", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    ("words", "spaces"),
    [
        (["\n", "a", "b"], {0: 1}),
        (["\n", " ", "a", "b"], {0: 2, 1: 2}),
        (["a", "\n", "b"], {1: 0}),
        (["a", "b", "\n"], {2: 1}),
        (["a", " ", "\t", "b", "\n"], {1: 0, 2: 0, 4: 3}),
    ],
)
def test_white_space_hangs_on_the_word_before_it_and_the_first_on_the_next(
    words: list[str], spaces: dict[int, int]
):
    doc = plain_doc(VOCAB, words)
    write([doc], [0, 1], [0, 1])
    first, second = [i for i in range(len(words)) if i not in spaces]
    assert (doc[first].head.i, doc[first].dep_) == (first, "root")
    assert (doc[second].head.i, doc[second].dep_) == (first, "obj")
    for space, head in spaces.items():
        assert (doc[space].head.i, doc[space].dep_) == (head, SPACE_LABEL)
        assert not list(doc[space].children)


def test_white_space_of_one_sentence_never_hangs_on_another():
    doc = plain_doc(VOCAB, ["a", "b"], ["\n", "c"], [" ", "\n"])
    write([doc], [0, 1, 0], [0, 1, 0])
    assert [token.head.i for token in doc] == [0, 0, 3, 3, 4, 4]
    assert [token.dep_ for token in doc] == ["root", "obj", "dep", "root", "root", "dep"]
    assert [len(sent) for sent in doc.sents] == [2, 2, 2]


@given(st.lists(st.lists(st.sampled_from(["a", " ", "\n"]), min_size=1, max_size=6), min_size=1, max_size=6))
def test_whatever_the_white_space_trees_are_whole_and_boundaries_stay(sentences: list[list[str]]):
    doc = plain_doc(VOCAB, *sentences)
    n_words = [sum(word == "a" for word in sentence) for sentence in sentences]
    write([doc], [i for n in n_words for i in range(n)], [min(i, 1) for n in n_words for i in range(n)])
    assert [[t.text for t in sent] for sent in doc.sents] == sentences
    for sent in doc.sents:
        roots = [token for token in sent if token.head.i == token.i]
        assert [token.dep_ for token in roots] == ["root"]
        assert sent.root in roots
        assert all(sent.start <= token.head.i < sent.end for token in sent)
        has_word = any(not token.is_space for token in sent)
        assert not (has_word and any(token.head.is_space for token in sent))


# Gold


def test_a_reference_without_boundaries_gives_none():
    reference = Doc(VOCAB, words=["a", "b"])
    assert gold_starts(Example(plain_doc(VOCAB, "a b"), reference)) is None


CANNOT = [("we", "X", 2, "nsubj"), ("cannot", "X", 0, "root"), ("see", "X", 2, "obj")]
NEW_YORK = [
    ("we", "X", 2, "nsubj"),
    ("see", "X", 0, "root"),
    ("New", "X", 4, "compound"),
    ("York", "X", 2, "obj"),
]


@pytest.mark.parametrize(
    ("words", "gold", "heads", "deps"),
    [
        # A token keeps its gold where the gold head is aligned, and has none where it is split.
        (["we", "see", "NewYork"], NEW_YORK, [1, 1, -1], ["nsubj", "root", ""]),
        (["we", "can", "not", "see"], CANNOT, [-1, -1, -1, -1], None),
        # White space that gold does not have.
        (
            ["we", "\n", "see", "New", "York"],
            NEW_YORK,
            [2, -1, 2, 4, 2],
            ["nsubj", "", "root", "compound", "obj"],
        ),
    ],
)
def test_tokens_have_the_gold_of_those_that_they_are_aligned_with(words, gold, heads, deps):
    spaces = [word != "can" for word in words]
    found = gold_parse(Example(Doc(VOCAB, words=words, spaces=spaces), gold_doc(VOCAB, [gold])))
    assert found[0].tolist() == heads
    assert deps in (None, found[1])


def test_gold_sentences_begin_at_their_first_aligned_token():
    reference = Doc(VOCAB, words=["a", "\n", "b", "c"], sent_starts=[True, True, False, False])
    predicted = Doc(VOCAB, words=["a", "b", "c"])
    starts = gold_starts(Example(predicted, reference))
    assert starts is not None
    assert starts.tolist() == [True, True, False]
