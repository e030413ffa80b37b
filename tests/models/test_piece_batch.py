"""Batches of pieces tell where words are, take sentences out, and hold the graphs of refiners."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.types import Arcs, Sentence

from .test_wordpieces import CLS, PAD, ROOT, SEP, char_tokenizer, make, sentence_of, word_tokenizer


def graph_of(n: int, seed: int) -> Arcs:
    rng = np.random.default_rng(seed)
    return Arcs(rng.integers(-1, n + 1, n), rng.integers(-1, 5, n))


def assert_same_batch(found: PieceBatch, expected: PieceBatch) -> None:
    assert all(a is b for a, b in zip(found.sentences, expected.sentences, strict=True))
    for name, value in vars(expected).items():
        assert name == "sentences" or np.array_equal(getattr(found, name), value), name


def test_words_and_sentences_of_pieces_are_told():
    batch = make(char_tokenizer()).batch([sentence_of(2, 1), sentence_of(1)])
    assert batch.words.tolist() == [[-1, 0, 1, 1, 2, -1], [-1, 0, 1, -1, -1, -1]]
    assert batch.sentence_of.tolist() == [0, 1]


def test_pieces_that_are_cut_off_have_no_place():
    batch = make(char_tokenizer(), n_positions=11).batch([sentence_of(10, 1, 3)])
    assert batch.words.tolist() == [[-1, 0, 1, 1, 1, 1, 2, 3, 3, 3, -1]]


def test_windows_tell_their_sentence_and_its_words():
    sentences = [Sentence([f"w{i}" for i in range(n)]) for n in (3, 30, 10)]
    batch = make(word_tokenizer(30), n_positions=13).batch(sentences)
    n_windows = len(batch.piece_ids) - 2
    assert batch.sentence_of.tolist() == [0, *[1] * n_windows, 2]
    # Word i is piece i + 3, as the tokenizer's first word is piece 4.
    is_word = (batch.piece_ids >= 4) & (batch.piece_ids != ROOT)
    assert np.array_equal(batch.words[is_word], batch.piece_ids[is_word] - 3)
    assert np.array_equal(batch.words == 0, batch.piece_ids == ROOT)
    assert ((batch.words == -1) == np.isin(batch.piece_ids, [CLS, SEP, PAD])).all()


def test_graphs_are_padded_and_missing_ones_are_empty():
    pieces = make(char_tokenizer())
    graph = Arcs(np.array([2, 0]), np.array([3, 0]))
    batch = pieces.batch([Sentence(["a", "b"], graph=graph), sentence_of(1, 1, 1)])
    assert batch.heads.tolist() == [[2, 0, -1], [-1, -1, -1]]
    assert batch.labels.tolist() == [[3, 0, -1], [-1, -1, -1]]
    without = pieces.batch([sentence_of(1)])
    assert without.heads is without.labels is None


@given(
    st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=26), min_size=1, max_size=6),
    st.sets(st.integers(0, 5), min_size=1),
    st.booleans(),
)
def test_some_sentences_of_a_batch_are_a_batch_of_them(
    lengths: list[list[int]], wanted: set[int], with_graphs: bool
):
    pieces = make(char_tokenizer(), n_positions=13, tags=["A", "B"])
    sentences = [
        Sentence(
            sentence_of(*words).words,
            ["AB"[i % 2] for i in range(len(words))],
            graph_of(len(words), seed) if with_graphs else None,
        )
        for seed, words in enumerate(lengths)
    ]
    members = sorted({i % len(sentences) for i in wanted})
    found = pieces.batch(sentences).take(np.array(members))
    assert_same_batch(found, pieces.batch([sentences[i] for i in members]))
    again = found.take(np.arange(len(members)))
    assert_same_batch(again, found)


def test_taken_sentences_without_a_graph_have_an_empty_one():
    pieces = make(char_tokenizer())
    batch = pieces.batch([Sentence(["a", "b"], graph=graph_of(2, 0)), sentence_of(1)])
    taken = batch.take(np.array([1]))
    assert (taken.heads.tolist(), taken.labels.tolist()) == ([[-1]], [[-1]])


@given(
    st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=26), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_taken_sentences_may_repeat_in_any_order(lengths: list[list[int]], wanted: list[int]):
    pieces = make(char_tokenizer(), n_positions=13, tags=["A"])
    sentences = [Sentence(sentence_of(*of).words, graph=graph_of(len(of), i)) for i, of in enumerate(lengths)]
    members = [i % len(sentences) for i in wanted]
    found = pieces.batch(sentences).take(np.array(members))
    assert_same_batch(found, pieces.batch([sentences[i] for i in members]))


def test_index_arrays_are_int64():
    batch = make(char_tokenizer(), tags=["A"]).batch([sentence_of(1, 2)])
    arrays = (batch.piece_ids, batch.lengths, batch.word_index, batch.n_words, batch.tag_ids)
    assert {array.dtype for array in arrays if array is not None} == {np.dtype(np.int64)}
