"""Whatever text comes in, a whole tree comes out; see also the tests of files, labels and checkpoints."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.types import Sentence

from ..util import initialized_nlp, parser_of, plain_doc, tree_of


@pytest.fixture(scope="module")
def nlp(factory: str) -> Language:
    passes = {"iterations": 2} if factory == "rng_refiner" else {}
    return initialized_nlp(factory=factory, n_positions=512, **passes)


def assert_tree(doc: Doc) -> None:
    """One tree over all tokens, written in full."""
    assert doc.has_annotation("DEP", require_complete=True)
    roots = [token for token in doc if token.head.i == token.i]
    assert [token for token in doc if token.dep_ == "root"] == roots
    assert len(roots) == 1
    assert len(list(roots[0].subtree)) == len(doc)


def test_an_empty_doc_stays_empty(nlp: Language):
    doc = nlp(Doc(nlp.vocab))
    assert len(doc) == 0
    assert [len(doc) for doc in nlp.pipe(["", ""])] == [0, 0]


def test_no_docs_are_no_docs(nlp: Language):
    assert list(nlp.pipe([])) == []
    assert parser_of(nlp).predict([]).by_doc() == []


@pytest.mark.parametrize("words", [[" "], ["\n", "\t", " "], ["\u00a0", "\u3000"]])
def test_a_doc_of_white_space_alone_is_whole(nlp: Language, words: list[str]):
    doc = nlp(plain_doc(nlp.vocab, words))
    assert_tree(doc)
    assert doc[0].dep_ == "root"


def test_empty_docs_and_white_space_among_others_change_nothing(nlp: Language):
    texts = [["she", "saw"], [], ["\n"], ["dogs", "bark"], []]
    docs = [plain_doc(nlp.vocab, words) if words else Doc(nlp.vocab) for words in texts]
    alone = [nlp(doc.copy()) for doc in docs]
    assert [tree_of(doc) for doc in nlp.pipe(docs)] == [tree_of(doc) for doc in alone]


WORDS = ["x" * 600, "she" * 200, "🙂", "👩‍👩‍👧‍👦", "e\u0301\u0302\u0303\u0304", "\u0301", "שלום", "مرحبا"]
WORDS += ["\u202eabc\u202c", "\x00", "a\x00b", "\ufffd", "\u200b", "\u200d", "中文", "\U0001d518\U0001d52b"]
WORDS += ["[SEP]", "[PAD]", "[CLS]", "New York"]


@pytest.mark.parametrize("word", WORDS, ids=ascii)
def test_any_word_is_parsed(nlp: Language, word: str):
    doc = nlp(plain_doc(nlp.vocab, ["she", word, "the", word, "cat", word]))
    assert_tree(doc)
    assert [token.text for token in doc] == ["she", word, "the", word, "cat", word]
    assert_tree(nlp(plain_doc(nlp.vocab, [word])))


def n_pieces(nlp: Language, words: list[str]) -> int:
    wordpieces = get_shim(parser_of(nlp).model).wordpieces
    return sum(map(len, wordpieces.split([Sentence(words)])[0]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [508, 509])
def test_a_sentence_that_fits_is_parsed_without_a_warning(nlp: Language, n: int):
    assert_tree(nlp(plain_doc(nlp.vocab, ["a"] * n)))


LONG = pytest.mark.parametrize("n", [510, 511, 512, 513, 2000])


@LONG
def test_a_sentence_of_more_words_than_positions_is_parsed_whole_with_one_warning(nlp: Language, n: int):
    doc = plain_doc(nlp.vocab, ["a"] * n)
    with pytest.warns(UserWarning, match=rf"W803.*1 sentence.*{n} words.*windows") as caught:
        nlp(doc)
    assert len(caught) == 1
    assert_tree(doc)


@LONG
def test_a_sentence_of_more_pieces_than_positions_is_parsed_whole_with_one_warning(nlp: Language, n: int):
    # A letter the vocabulary has, n times in words of up to 30.
    words = ["w" * 30] * (n // 30) + (["w" * (n % 30)] if n % 30 else [])
    assert n_pieces(nlp, words) == n
    doc = plain_doc(nlp.vocab, words)
    with pytest.warns(UserWarning, match=rf"W802.*1 sentence.*{len(words)} words.*first pieces") as caught:
        nlp(doc)
    assert len(caught) == 1
    assert_tree(doc)


def test_one_warning_a_doc_tells_of_all_its_long_sentences(nlp: Language):
    doc = plain_doc(nlp.vocab, ["cat"] * 600, ["she", "saw"], ["cat"] * 700)
    other = plain_doc(nlp.vocab, ["dogs"] * 600)
    with pytest.warns(UserWarning, match="W803") as caught:
        list(nlp.pipe([doc, other, plain_doc(nlp.vocab, "dogs bark")]))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert "2 sentence(s)" in texts[0]
    assert "700 words" in texts[0]
    assert "'dogs dogs" in texts[1]
    assert [len(sent) for sent in doc.sents] == [600, 2, 700]


def test_a_long_sentence_does_not_change_its_neighbors(nlp: Language):
    expected = [t.head.i for t in nlp(plain_doc(nlp.vocab, "she saw the cat"))]
    docs = [plain_doc(nlp.vocab, ["cat"] * 600), plain_doc(nlp.vocab, "she saw the cat")]
    with pytest.warns(UserWarning, match="W803"):
        _, doc = nlp.pipe(docs)
    assert [t.head.i for t in doc] == expected


def test_many_windows_of_the_smallest_encoder_make_one_tree(factory: str):
    nlp = initialized_nlp(factory=factory, n_positions=8)
    with pytest.warns(UserWarning, match="W803"):
        assert_tree(nlp(plain_doc(nlp.vocab, ["she", "saw", "cats"] * 40)))
