"""Each kind of tokenizer gives a word the same pieces alone and in its sentence."""

from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from spacy_g2g.layers.checkpoints.families import SPECIAL_PIECES
from spacy_g2g.models.types import Sentence
from spacy_g2g.models.wordpieces import WordPieces

from ..util import sample_texts

BERT, GEMMA, ROBERTA, EUROBERT = (list(dict.fromkeys(family)) for family in SPECIAL_PIECES)
#: How Llama 3 splits text.
LLAMA = Regex(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+")
WORD_START = "\u2581"


def learn(
    tokenizer: Tokenizer, trainer: type[trainers.Trainer], special: list[str], **settings: Any
) -> Tokenizer:
    own = trainer(special_tokens=special, show_progress=False, **settings)
    tokenizer.train_from_iterator(sample_texts(120), own)
    return tokenizer


def byte_bpe(special: list[str], *before: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not before)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before, byte_level]) if before else byte_level
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return learn(tokenizer, trainers.BpeTrainer, special, vocab_size=600, initial_alphabet=alphabet)


def gemma() -> Tokenizer:
    """BPE in which a normalizer turns spaces into the start of the next word."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", WORD_START)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(WORD_START, "merged_with_next")
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    learn(tokenizer, trainers.BpeTrainer, [*GEMMA, "<s>", "</s>", *byte_pieces], vocab_size=800)
    # Gemma's own splits at spaces, of which its normalizer leaves none.
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    return tokenizer


def unigram(special: list[str], prepend: str) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend)
    return learn(tokenizer, trainers.UnigramTrainer, special, vocab_size=300, unk_token=special[-1])


def llama2() -> Tokenizer:
    """BPE in which a normalizer puts the start of a word before every text."""
    tokenizer = gemma()
    spaces = [normalizers.Prepend(WORD_START), normalizers.Replace(" ", WORD_START)]
    tokenizer.normalizer = normalizers.Sequence(spaces)
    return tokenizer


def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return learn(tokenizer, trainers.WordPieceTrainer, BERT, vocab_size=600)


@pytest.mark.parametrize(
    ("make", "family", "prefix"),
    [
        (wordpiece, BERT, ""),
        (lambda: byte_bpe(ROBERTA), ROBERTA, " "),
        (lambda: byte_bpe(EUROBERT, pre_tokenizers.Split(LLAMA, "isolated")), EUROBERT, " "),
        (gemma, GEMMA, " "),
        (llama2, GEMMA, ""),
        (lambda: unigram(BERT, "always"), BERT, ""),
        (lambda: unigram(ROBERTA, "first"), ROBERTA, ""),
    ],
    ids=["WordPiece", "byte BPE", "Llama 3", "Gemma", "Llama 2", "Unigram", "Unigram, first"],
)
def test_a_word_alone_has_the_pieces_that_it_has_in_its_sentence(
    make: Callable[[], Tokenizer], family: list[str], prefix: str
) -> None:
    tokenizer = make()
    pieces = WordPieces(tokenizer.to_str(), 64, tokenizer.get_vocab_size(), None)
    assert pieces.prefix == prefix
    n_long = 0
    for text in sample_texts(120):
        # The first word has no space before it: without one, some tokenizers see it as the rest of a word.
        expected = tokenizer.encode(prefix + text, add_special_tokens=False).ids
        words = pieces.split([Sentence(text.split())])[0]
        assert [piece for word in words for piece in word] == expected
        n_long += sum(len(word) > 1 for word in words)
    assert n_long > 50
    for word in ("naïve", "汉字", "🙂", "don't", "(x)", "3,50", "a\u00a0b"):
        (before, alone, after) = pieces.split([Sentence(["the", word, "barn"])])[0]
        inside = tokenizer.encode(f"{prefix}the {word} barn", add_special_tokens=False).ids
        assert [*before, *alone, *after] == inside, word
    special = [pieces.cls_id, pieces.sep_id, pieces.pad_id, pieces.unk_id]
    names = next(names for names in SPECIAL_PIECES if set(names) == set(family))
    assert special == [tokenizer.token_to_id(name) for name in names]
