"""Models of SentencePiece (spm.model), read without its library and written as tokenizer.json.

A model is a message of protocol buffers. The numbers of its fields are those of SentencePiece's
``sentencepiece_model.proto``. The tokenizer is the one that Hugging Face transformers makes of the model.
"""

import base64
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Errors

#: Start of a word, in pieces.
WORD_START = "\u2581"
UNIGRAM, NORMAL, CONTROL, USER_DEFINED = 1, 1, 3, 4
#: Pieces that XLM-R and CamemBERT put before the model's own, and how many of the model's pieces they drop.
FAIRSEQ = {
    "xlm-roberta": (("<s>", "<pad>", "</s>", "<unk>"), 3),
    "camembert": (("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), 1),
}

Message = dict[int, list[Any]]
Vocabulary = list[tuple[str, float]]


def to_tokenizer(model: bytes, settings: Mapping[str, Any], fairseq: str | None = None) -> str:
    """Return the text of a tokenizer.json with the pieces of a SentencePiece model.

    model: Content of the file.
    settings: Content of tokenizer_config.json, whose ``do_lower_case`` and ``split_by_punct`` count.
    fairseq: Key of ``FAIRSEQ`` for an encoder with other ids than the model; None for the model's ids.
    Raises ValueError for content that is no model of the type Unigram.
    """
    try:
        return json.dumps(_tokenizer(_message(model), settings, fairseq), ensure_ascii=False)
    except (IndexError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(Errors.E219.format(cause=repr(error))) from error


def _tokenizer(model: Message, settings: Mapping[str, Any], fairseq: str | None) -> dict[str, Any]:
    trainer, normalizer = (_message(model.get(number, [b""])[0]) for number in (2, 3))
    if (kind := _number(trainer, 3, UNIGRAM)) != UNIGRAM:
        raise ValueError(Errors.E220.format(kind=kind))
    pieces = [_message(piece) for piece in model[1]]
    vocabulary = [(piece[1][0].decode(), struct.unpack("<f", piece[2][0])[0]) for piece in pieces]
    types = [_number(piece, 3, NORMAL) for piece in pieces]
    unknown = _number(trainer, 40, 0)
    if fairseq is not None:
        first, n_dropped = FAIRSEQ[fairseq]
        vocabulary = [*((piece, 0.0) for piece in first), *vocabulary[n_dropped:]]
        types = [*(CONTROL for _ in first), *types[n_dropped:]]
        unknown = first.index("<unk>")
    charsmap = normalizer.get(2, [b""])[0]
    return {
        "version": "1.0",
        "added_tokens": [
            _added_token(i, vocabulary[i][0], kind == CONTROL)
            for i, kind in enumerate(types)
            if kind in (CONTROL, USER_DEFINED)
        ],
        "normalizer": _normalizer(charsmap, lowercase=bool(settings.get("do_lower_case"))),
        "pre_tokenizer": _pre_tokenizer(
            has_prefix=bool(_number(normalizer, 3, 1)), split_punctuation=bool(settings.get("split_by_punct"))
        ),
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": vocabulary,
            "byte_fallback": bool(_number(trainer, 35, 0)),
        },
    }


def _normalizer(charsmap: bytes, *, lowercase: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"type": "Lowercase"}] if lowercase else []
    steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
    if charsmap:
        text = base64.b64encode(charsmap).decode()
        steps.append({"type": "Precompiled", "precompiled_charsmap": text})
    steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    return {"type": "Sequence", "normalizers": steps}


def _pre_tokenizer(*, has_prefix: bool, split_punctuation: bool) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    if split_punctuation:
        steps.append({"type": "Punctuation", "behavior": "Isolated"})
    scheme = "always" if has_prefix else "never"
    steps.append({"type": "Metaspace", "replacement": WORD_START, "prepend_scheme": scheme, "split": True})
    return {"type": "Sequence", "pretokenizers": steps}


def _added_token(number: int, piece: str, is_special: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": piece, **flags, "special": is_special}


def _number(message: Message, field: int, default: int) -> int:
    return int(message.get(field, [default])[0])


def _message(data: bytes) -> Message:
    """Read the fields of a message by their numbers; a field may repeat."""
    message: Message = {}
    for number, value in _fields(data):
        message.setdefault(number, []).append(value)
    return message


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: an int, or the bytes of texts, messages and floats."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(data, place)
            yield number, value
            continue
        if kind == 2:
            size, place = _varint(data, place)
        else:
            size = {1: 8, 5: 4}[kind]
        if place + size > len(data):
            raise IndexError(f"a field of {size} bytes at {place} of {len(data)}")
        yield number, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, in groups of seven bits, and the place after it."""
    value, shift = 0, 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
