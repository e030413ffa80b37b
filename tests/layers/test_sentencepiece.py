"""Models of SentencePiece give the pieces that SentencePiece itself gives."""

import io
from typing import Any

import pytest
from tokenizers import Tokenizer

from spacy_g2g.layers.checkpoints.families import FAMILIES
from spacy_g2g.layers.checkpoints.sentencepiece import to_tokenizer

from ..util import sample_texts

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
OTHERS = ["ﬁne ½ café  é \u00a0x", "naïve…", "x²", "汉字 ok", "🙂"]
NAMES = ("pad", "bos", "eos", "unk")
DEBERTA: dict[str, Any] = {f"{name}_id": i for i, name in enumerate(NAMES)}
DEBERTA |= {f"{name}_piece": piece for name, piece in zip(NAMES, SPECIAL, strict=True)}


def train(**settings: Any) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sample_texts(100)),
        model_writer=model,
        minloglevel=2,
        **{"vocab_size": 300, **settings},
    )
    return model.getvalue()


@pytest.fixture(scope="module")
def model() -> bytes:
    return train()


def ids(text: str, tokenizer: str) -> list[int]:
    return Tokenizer.from_str(tokenizer).encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "settings",
    [
        DEBERTA,
        {"byte_fallback": True, "vocab_size": 500},
        {"normalization_rule_name": "identity", "user_defined_symbols": ["<x>"]},
        {"add_dummy_prefix": False},
    ],
    ids=["deberta", "bytes", "identity", "no prefix"],
)
def test_pieces_are_those_of_sentencepiece(settings: dict[str, Any]) -> None:
    content = train(**settings)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = Tokenizer.from_str(to_tokenizer(content, {}))
    for text in [*sample_texts(100), *OTHERS]:
        assert ours.encode(text, add_special_tokens=False).ids == theirs.encode(text), text


def test_settings_of_the_tokenizer_count(model: bytes) -> None:
    plain = to_tokenizer(model, {})
    assert ids("The Barn", to_tokenizer(model, {"do_lower_case": True})) == ids("the barn", plain)
    assert ids("barn.", to_tokenizer(model, {"split_by_punct": True})) == ids("barn .", plain)
    assert ids("barn.", plain) != ids("barn .", plain)


@pytest.mark.parametrize(("name", "offset"), [("xlm-roberta", 1), ("camembert", 4)])
def test_ids_of_fairseq_are_those_of_the_encoder(model: bytes, name: str, offset: int) -> None:
    family = FAMILIES[name]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    tokenizer = to_tokenizer(model, {}, family.first_pieces, family.n_dropped)
    for text in [*sample_texts(20), *OTHERS]:
        assert ids(text, tokenizer) == [i + offset if i else 3 for i in theirs.encode(text)], text
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    numbers = {"xlm-roberta": [0, 1, 2, 3], "camembert": [5, 1, 6, 3]}[name]
    assert [Tokenizer.from_str(tokenizer).token_to_id(piece) for piece in special] == numbers


def test_a_bpe_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"E220.*type 2"):
        to_tokenizer(train(model_type="bpe"), {})


@pytest.mark.parametrize("cut", [1, 7, 100, 5000])
def test_a_damaged_model_is_refused(model: bytes, cut: int) -> None:
    for damaged in (b"\x0b" + model[cut:], model[:cut]):
        with pytest.raises((ValueError, LookupError, TypeError)):
            to_tokenizer(damaged, {})
