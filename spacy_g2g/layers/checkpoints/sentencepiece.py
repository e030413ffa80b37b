"""Models of SentencePiece (spm.model), read without its library and written as tokenizer.json.

A model is a message of protocol buffers. The numbers of its fields are those of SentencePiece's
``sentencepiece_model.proto``. The tokenizer is the one that Hugging Face transformers makes of the model.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import Errors

UNIGRAM = 1
#: Kinds of pieces; the last are those that a user defined.
NORMAL, CONTROL, DEFINED = 1, 3, 4

Message = dict[int, list[Any]]


def to_tokenizer(
    model: bytes, settings: Mapping[str, Any], first_pieces: tuple[str, ...] = (), n_dropped: int = 0
) -> str:
    """Return the text of a tokenizer.json with the pieces of a SentencePiece model.

    model: Content of the file.
    settings: Content of tokenizer_config.json, whose ``do_lower_case`` and ``split_by_punct`` count.
    first_pieces: Pieces before those of the model, for an encoder with other ids.
    n_dropped: Number of the model's own first pieces, which these replace; 0 without them.
    Raises exceptions of many kinds for content that is not a model of the type Unigram.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    message = _message(model)
    trainer, normalizer = (_message(message.get(number, [b""])[0]) for number in (2, 3))
    if (kind := _number(trainer, 3, UNIGRAM)) != UNIGRAM:
        raise ValueError(Errors.E220.format(kind=kind))
    pieces = [_message(piece) for piece in message[1]][n_dropped if first_pieces else 0 :]
    rows = [(piece, 0.0, CONTROL) for piece in first_pieces]
    for piece in pieces:
        rows.append((piece[1][0].decode(), struct.unpack("<f", piece[2][0])[0], _number(piece, 3, NORMAL)))
    unknown = first_pieces.index("<unk>") if first_pieces else _number(trainer, 40, 0)
    vocabulary = [(piece, score) for piece, score, _ in rows]
    tokenizer = Tokenizer(
        models.Unigram(vocabulary, unk_id=unknown, byte_fallback=bool(_number(trainer, 35, 0)))
    )
    tokenizer.add_special_tokens([AddedToken(piece) for piece, _, kind in rows if kind == CONTROL])
    tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece, _, kind in rows if kind == DEFINED])
    tokenizer.normalizer = normalizers.Sequence(
        [
            *([normalizers.Lowercase()] if settings.get("do_lower_case") else []),
            normalizers.Strip(),
            *(normalizers.Precompiled(charsmap) for charsmap in normalizer.get(2, []) if charsmap),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    scheme = "always" if _number(normalizer, 3, 1) else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *([pre_tokenizers.Punctuation()] if settings.get("split_by_punct") else []),
            pre_tokenizers.Metaspace(prepend_scheme=scheme),
        ]
    )
    return str(tokenizer.to_str())


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
