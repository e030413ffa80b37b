"""Words to pieces: words stay whole, long sentences are read whole, batches keep to their size."""

import json
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from spacy_g2g.models import wordpieces
from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.types import Sentence
from spacy_g2g.models.wordpieces import MISSING_TAG, NO_TAG, UNKNOWN_TAG, WordPieces

SPECIAL = ["[CLS]", "[SEP]", "[PAD]", "[UNK]"]
CLS, SEP, PAD, UNK = range(4)
ROOT = 1000


def char_tokenizer() -> Tokenizer:
    """A piece for each of the letters a to z."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocab = {piece: i for i, piece in enumerate([*SPECIAL, *letters, *(f"##{x}" for x in letters)])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def word_tokenizer(n: int) -> Tokenizer:
    """A piece for each of the words w0, w1, ..., from id 4 on."""
    vocab = {piece: i for i, piece in enumerate([*SPECIAL, *(f"w{i}" for i in range(n))])}
    return Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))


def make(tokenizer: Tokenizer, n_positions: int = 64, tags: list[str] | None = None) -> WordPieces:
    return WordPieces(tokenizer.to_str(), n_positions, ROOT, tags)


def sentence_of(*lengths: int) -> Sentence:
    """Words of given numbers of pieces, the i-th of the i-th letter."""
    return Sentence([chr(ord("a") + i) * n for i, n in enumerate(lengths)])


def first_pieces(batch: PieceBatch, sentence: int) -> list[int]:
    """The pieces at which the vectors of ROOT and of the words are taken."""
    places = batch.word_index[sentence, : batch.n_words[sentence] + 1]
    return batch.piece_ids.flatten()[places].tolist()


# Words


def test_a_row_is_cls_root_pieces_sep_and_padding():
    pieces = make(char_tokenizer())
    batch = pieces.batch([sentence_of(2, 1), sentence_of(1)])
    a, b = (pieces.tokenizer.token_to_id(letter) for letter in "ab")
    a_inside = pieces.tokenizer.token_to_id("##a")
    assert batch.piece_ids.tolist() == [[CLS, ROOT, a, a_inside, b, SEP], [CLS, ROOT, a, SEP, PAD, PAD]]
    assert batch.lengths.tolist() == [6, 4]
    assert batch.n_words.tolist() == [2, 1]
    assert batch.word_index.tolist() == [[1, 2, 4], [7, 8, 0]]
    assert batch.coverages == ["whole", "whole"]


@pytest.mark.parametrize(
    "word", ["don't", "New York", "a-b.c", "U.S.A.", "3,50 €", "x  y", "naïve\u00a0café"]
)
def test_a_gold_word_stays_one_word_whatever_the_tokenizer_splits(word: str):
    pieces = make(char_tokenizer())
    batch = pieces.batch([Sentence(["a", word, "b"])])
    assert batch.n_words.tolist() == [3]
    places = batch.word_index[0].tolist()
    assert places == sorted(set(places))
    assert first_pieces(batch, 0)[3] == pieces.tokenizer.token_to_id("b")


def test_a_word_with_a_space_has_the_pieces_of_its_parts():
    pieces = make(char_tokenizer())
    ((joined,), (first, second)) = pieces.split([Sentence(["ab cd"]), Sentence(["ab", "cd"])])
    assert joined == first + second


@pytest.mark.parametrize("word", ["\x00", "\u200b", "\u200d", "\ufeff", ""])
def test_a_word_without_pieces_is_unknown(word: str):
    assert make(char_tokenizer()).split([Sentence([word])]) == [[(UNK,)]]


def test_pieces_beyond_the_vocabulary_of_the_encoder_are_unknown():
    n_known = 3
    wordpieces = WordPieces(word_tokenizer(8).to_str(), 64, len(SPECIAL) + n_known, None)
    pieces = wordpieces.split([Sentence(["w0", "w2", "w3", "w7"])])[0]
    assert pieces == [(4,), (6,), (wordpieces.unk_id,), (wordpieces.unk_id,)]


def test_pieces_of_a_word_do_not_depend_on_its_sentence():
    ((alone,),) = make(char_tokenizer()).split([Sentence(["abc"])])
    assert make(char_tokenizer()).split([Sentence(["x", "abc", "x", "yz"])])[0][1] == alone


def test_a_tokenizer_adds_nothing_to_words_and_cuts_nothing_off():
    tokenizer = char_tokenizer()
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(2)
    spec = json.loads(tokenizer.to_str())
    spec["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", SEP], "cls": ["[CLS]", CLS]}
    pieces = WordPieces(json.dumps(spec), 64, ROOT, None)
    assert [len(p) for p in pieces.split([sentence_of(5, 1)])[0]] == [5, 1]


def test_a_tokenizer_that_can_not_be_used_is_an_error():
    with pytest.raises(ValueError, match=r"E401.*tokenizer"):
        WordPieces('{"model": {"type": "Nonsense"}}', 64, ROOT, None)
    no_special_pieces = Tokenizer(models.WordLevel({"a": 0, "<oov>": 1}, unk_token="<oov>"))
    with pytest.raises(ValueError, match=r"E402.*\[CLS\].*<s>"):
        make(no_special_pieces)


# Tags


NOUN, VERB = 3, 4


@pytest.mark.parametrize(
    ("known", "tags", "expected"),
    [
        (["NOUN", "VERB"], ["VERB", "NOUN", "", "X"], [[VERB, VERB], [NOUN], [MISSING_TAG], [UNKNOWN_TAG]]),
        (["NOUN"], None, [[MISSING_TAG, MISSING_TAG], *[[MISSING_TAG]] * 3]),
        (None, ["VERB", "NOUN", "", "X"], None),
    ],
)
def test_all_pieces_of_a_word_have_its_tag_and_special_pieces_have_none(known, tags, expected):
    batch = make(char_tokenizer(), tags=known).batch([Sentence(["aa", "b", "c", "d"], tags)])
    if expected is None:
        assert batch.tag_ids is None
    else:
        assert batch.tag_ids.tolist() == [[NO_TAG, NO_TAG, *chain.from_iterable(expected), NO_TAG]]


# Over-long sentences


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ((4, 4), (4, 4)),  # which just fits
        ((10, 1, 3), (4, 1, 3)),
        ((8, 1, 4), (3, 1, 3)),
        ((3, 3, 3), (2, 2, 2)),
        ((2,) * 8, (1,) * 8),
        ((99,), (8,)),
    ],
)
def test_words_keep_the_most_first_pieces_that_fit(lengths: tuple[int, ...], kept: tuple[int, ...]):
    pieces = make(char_tokenizer(), n_positions=11)
    sentence = sentence_of(*lengths)
    batch = pieces.batch([sentence])
    assert batch.coverages == ["whole" if kept == lengths else "truncated"]
    assert batch.piece_ids.shape == (1, sum(kept) + 3)
    whole = pieces.split([sentence])[0]
    row = [piece for word, n in zip(whole, kept, strict=True) for piece in word[:n]]
    assert batch.piece_ids[0, 2:-1].tolist() == row


@pytest.mark.parametrize("n_positions", [8, 9, 11, 20])
@pytest.mark.parametrize("n_words", [*range(6, 40), 97])
def test_windows_show_each_word_where_it_has_most_context(n_words: int, n_positions: int):
    limit = n_positions - 3
    pieces = make(word_tokenizer(n_words), n_positions)
    batch = pieces.batch([Sentence([f"w{i}" for i in range(n_words)])])
    if n_words <= limit:
        assert batch.coverages == ["whole"]
        assert len(batch.piece_ids) == 1
        return
    assert batch.coverages == ["windows"]
    assert batch.piece_ids.shape[1] == n_positions
    assert (batch.lengths == n_positions).all()
    assert first_pieces(batch, 0) == [ROOT, *range(4, n_words + 4)]
    _assert_most_context(batch, n_words)


def _assert_most_context(batch: PieceBatch, n_words: int) -> None:
    width = batch.piece_ids.shape[1]
    spans = [(row[2] - 4, row[-2] - 4) for row in batch.piece_ids.tolist()]
    assert (batch.piece_ids[:, :2] == [CLS, ROOT]).all()
    assert spans[0][0] == 0
    assert spans[-1][1] == n_words - 1
    for word, place in enumerate(batch.word_index[0, 1:].tolist()):
        context = [min(word - a, b - word) for a, b in spans if a <= word <= b]
        chosen = spans[place // width]
        assert min(word - chosen[0], chosen[1] - word) == max(context)
        # A quarter of a window on both sides, but for the ends of the sentence.
        assert max(context) >= min((width - 3) // 4 - 1, word, n_words - 1 - word)


def test_windows_beside_other_sentences_keep_all_places_apart():
    pieces = make(word_tokenizer(50), n_positions=13)
    sentences = [Sentence([f"w{i}" for i in range(n)]) for n in (3, 30, 10, 45, 1)]
    batch = pieces.batch(sentences)
    assert batch.coverages == ["whole", "windows", "whole", "windows", "whole"]
    for i, sentence in enumerate(sentences):
        assert first_pieces(batch, i) == [ROOT, *range(4, len(sentence.words) + 4)]


@pytest.mark.parametrize("n", [508, 509, 510, 511, 512, 513, 2000])
@pytest.mark.parametrize("pieces_a_word", [1, 4])
def test_up_to_512_positions_no_more_are_used(n: int, pieces_a_word: int):
    n_words, rest = divmod(n, pieces_a_word)
    lengths = [pieces_a_word] * n_words + ([rest] if rest else [])
    sentence = Sentence(["a" * length for length in lengths])
    batch = make(char_tokenizer(), n_positions=512).batch([sentence])
    fit = "whole" if n <= 509 else "windows" if len(lengths) > 509 else "truncated"
    assert batch.coverages == [fit]
    assert batch.piece_ids.shape[1] == (n + 3 if fit == "whole" else min(batch.lengths.max(), 512))
    assert batch.n_words.tolist() == [len(lengths)]
    assert len(set(batch.word_index[0].tolist())) == len(lengths) + 1


# Batches


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=24), min_size=1, max_size=20),
    st.integers(10, 200),
)
def test_batches_hold_each_sentence_once_and_keep_to_their_size(lengths: list[list[int]], max_padded: int):
    pieces = make(char_tokenizer(), n_positions=23)
    sentences = [sentence_of(*words) for words in lengths]
    seen: list[int] = []
    for members, batch in pieces.batches(sentences, max_padded):
        assert len(members) == 1 or batch.piece_ids.size <= max_padded
        assert batch.n_words.tolist() == [len(lengths[i]) for i in members]
        seen += members
    assert sorted(seen) == list(range(len(sentences)))


def test_sentences_of_a_length_come_together_the_longest_first():
    pieces = make(char_tokenizer())
    sentences = [sentence_of(n) for n in (3, 9, 4, 9, 3)]
    assert [members for members, _ in pieces.batches(sentences, 24)] == [[1, 3], [2, 0, 4]]


def test_no_sentences_make_no_batches():
    assert list(make(char_tokenizer()).batches([], 100)) == []


# Cache


def test_the_memory_of_words_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wordpieces, "MAX_CACHED_WORDS", 5)
    pieces = make(word_tokenizer(60))
    for start in range(0, 60, 3):
        words = [f"w{start + i}" for i in range(3)]
        assert pieces.split([Sentence(words)]) == [[(start + i + 4,) for i in range(3)]]
        assert len(pieces._pieces) <= 5 + 3


def test_a_known_word_is_not_split_again(monkeypatch: pytest.MonkeyPatch):
    pieces = make(word_tokenizer(3))
    first = pieces.split([Sentence(["w1", "w2"])])
    monkeypatch.setattr(pieces, "tokenizer", None)
    assert pieces.split([Sentence(["w1", "w2"])]) == first


# Words that are read as unknown


def test_words_can_be_read_as_one_unknown_piece():
    pieces = make(char_tokenizer(), tags=["A"])
    sentences = [Sentence(["aa", "bbb", "c"], ["A", "A", "A"]), Sentence(["bbb"], ["A"])]
    ((members, batch),) = pieces.batches(sentences, 100, {"bbb"})
    a, a_inside, c = (pieces.tokenizer.token_to_id(piece) for piece in ("a", "##a", "c"))
    assert members == [0, 1]
    assert batch.piece_ids[0].tolist() == [CLS, ROOT, a, a_inside, UNK, c, SEP]
    assert batch.piece_ids[1, :4].tolist() == [CLS, ROOT, UNK, SEP]
    # Nothing is remembered.
    ((_, batch),) = pieces.batches(sentences, 100)
    assert UNK not in batch.piece_ids
    assert pieces.split(sentences)[1] != [(UNK,)]
