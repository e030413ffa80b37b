"""Files of models that are damaged or hostile: a clear error, before they take memory or time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import srsly

from spacy_g2g.models.saving import digest_of
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.types import ParserModel
from spacy_g2g.models.wordpieces import WordPieces, load_tokenizer

from ..util import ALL_LEVERS, mostly_slow
from .systems import SENTENCES
from .test_contract import MAKE
from .tiny_syntr import make


def with_spec(shim: G2GShim, part: str = "spec", **changes: Any) -> bytes:
    """The bytes of a model whose specification is another, as an attacker would write them."""
    msg = srsly.msgpack_loads(shim.to_bytes())
    (msg["spec"] if part == "spec" else msg["spec"][part]).update(changes)
    msg["sha256"] = digest_of(msg["spec"], msg["weights"])
    return srsly.msgpack_dumps(msg)


@pytest.mark.linux
@pytest.mark.parametrize(
    "changes",
    [
        {"n_layers": 10**9},
        {"n_layers": "2"},
        {"width": 10**12},
        {"n_positions": 10**9},
        {"n_attention_heads": 5},
        {"activation": "sine"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_an_encoder_of_other_sizes_is_an_error_without_memory(changes: dict[str, Any]):
    import resource  # Windows has none.

    _, shim = make()
    shim.from_bytes(shim.to_bytes())  # PyTorch imports modules when it loads for the first time
    data = with_spec(shim, "encoder", **changes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="E406"):
        shim.from_bytes(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


@pytest.mark.parametrize(
    "changes", [{"n_labels": 10**9}, {"vector_width": 32}, {"encoder": None}, {"tokenizer": "{}"}], ids=str
)
def test_another_specification_is_an_error(changes: dict[str, Any]):
    _, shim = make()
    data = with_spec(shim, **changes)
    with pytest.raises(ValueError, match="E406"):
        shim.from_bytes(data)


def test_a_changed_byte_is_an_error():
    _, shim = make()
    data = bytearray(shim.to_bytes())
    for place in np.random.default_rng(0).integers(0, len(data), 40).tolist():
        damaged = data.copy()
        damaged[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match="E406"):
            shim.from_bytes(bytes(damaged))
    msg = srsly.msgpack_loads(bytes(data))
    del msg["sha256"]
    with pytest.raises(ValueError, match="E430"):
        shim.from_bytes(srsly.msgpack_dumps(msg))


def test_a_model_of_an_earlier_version_is_loaded():
    """Its encoder has a field for each setting of every family, and some fields have earlier names."""
    model, shim = make()
    msg = srsly.msgpack_loads(shim.to_bytes())
    msg["spec"]["encoder"] |= {"rotary_base": 0.0, "window": 0, "global_every": 1, "local_rotary_base": 0.0}
    msg["spec"]["encoder"] |= {"content_to_position": False, "position_to_content": False, "max_distance": 0}
    msg["spec"]["encoder"] |= {"distance_buckets": 0, "distance_norm": False, "share_projections": True}
    msg["spec"]["encoder"] |= {"convolution_width": 0, "convolution_groups": 1, "pad_id": 0}
    msg["spec"]["encoder"] |= {"convolution_activation": "tanh"}
    msg["spec"]["encoder"]["normalise_keys"] = msg["spec"]["encoder"].pop("normalize_keys")
    msg["spec"]["facts"] = msg["spec"].pop("learned")
    msg["spec"]["pretrained"] = ["encoder", "scorers"]
    expected = model.predict(SENTENCES)
    msg["sha256"] = digest_of(msg["spec"], msg["weights"])
    shim.from_bytes(srsly.msgpack_dumps(msg))
    assert shim.known_spec.pretrained == ("encoder", "task")
    for parse, other in zip(model.predict(SENTENCES), expected, strict=True):
        assert np.array_equal(parse.head_probs, other.head_probs)


@pytest.mark.parametrize(
    "name", mostly_slow(MAKE, ["SynTr", "RNGTr", "SentTr", "StateTr+G2GTr+C", "Stack-d"])
)
def test_every_architecture_is_loaded_whole(name: str):
    settings = ALL_LEVERS if name in ("SynTr", "RNGTr") else {}
    make_other: Callable[..., tuple[ParserModel, G2GShim]] = MAKE[name]
    model, _ = make_other(**settings)
    expected = model.predict(SENTENCES)
    loaded = model.copy()
    tensors = [*get_shim(loaded).network.parameters(), *get_shim(loaded).network.buffers()]
    assert not any(tensor.is_meta for tensor in tensors)
    assert all(parameter.requires_grad for parameter in get_shim(loaded).network.parameters())
    for parse, other in zip(loaded.predict(SENTENCES), expected, strict=True):
        assert np.array_equal(parse.tree.heads, other.tree.heads)
        assert np.array_equal(parse.head_probs, other.head_probs)


# Pieces


def test_special_pieces_beyond_the_vocabulary_are_an_error():
    tokenizer = make()[1].known_spec.tokenizer
    with pytest.raises(ValueError, match=r"E402.*below 1.*\[SEP\]"):
        WordPieces(tokenizer, 64, 1, None)


FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")


@pytest.mark.parametrize("normalizer", [None, {"type": "BertNormalizer", **dict.fromkeys(FLAGS, True)}])
def test_a_tokenizer_that_fails_on_unknown_words_is_an_error(normalizer: dict[str, Any] | None):
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model |= {"vocab": {"[CLS]": 0, "[SEP]": 1, "[PAD]": 2, "a": 3}, "max_input_chars_per_word": 100}
    text = srsly.json_dumps({"version": "1.0", "normalizer": normalizer, "model": model})
    with pytest.raises(ValueError, match=r"E401.*\[UNK\]"):
        load_tokenizer(text)


def test_a_full_table_of_pieces_is_not_emptied_while_others_read_it(monkeypatch: pytest.MonkeyPatch):
    """A thread holds the table that it reads; another thread fills and replaces it."""
    monkeypatch.setattr("spacy_g2g.models.wordpieces.MAX_CACHED_WORDS", 3)
    _, shim = make()
    pieces = shim.wordpieces
    pieces.split(SENTENCES)
    table = pieces._pieces
    before = dict(table)
    assert len(before) > 3
    pieces.split(SENTENCES[:1])
    assert table == before
    assert pieces._pieces is not table
