"""Convert models of SentencePiece (spm.model) to tokenizer.json, without its library.

A model is a message of protocol buffers. SentencePiece's ``sentencepiece_model.proto`` gives the numbers of
its fields. The tokenizer equals the one that Hugging Face transformers makes from the model.
"""

import struct
from collections import defaultdict
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from ...errors import Errors

UNIGRAM = 1
#: Kinds of pieces; users define the last kind.
NORMAL, CONTROL, DEFINED = 1, 3, 4

#: Values of the fields of a message, by their numbers.
Message = dict[int, list[Any]]


def to_tokenizer(
    model: bytes, settings: Mapping[str, Any], first_pieces: tuple[str, ...] = (), n_dropped: int = 0
) -> str:
    """Return the text of a tokenizer.json with the pieces of a SentencePiece model.

    model: Content of the file.
    settings: Content of tokenizer_config.json, whose ``do_lower_case`` and ``split_by_punct`` count.
    first_pieces: Pieces before those of the model, for an encoder with other ids.
    n_dropped: Number of first pieces of the model that ``first_pieces`` replaces; 0 without them.
    Raises exceptions of many types for content that is not a Unigram model.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    message = _message(model)
    trainer, normalizer = (_message(message.get(number, [b""])[0]) for number in (2, 3))
    if (kind := _int_field(trainer, 3, UNIGRAM)) != UNIGRAM:
        raise ValueError(Errors.E220.format(kind=kind))
    rows, unknown = _read_pieces(message), _int_field(trainer, 40, 0)
    if first_pieces:
        rows = [*((piece, 0.0, CONTROL) for piece in first_pieces), *rows[n_dropped:]]
        unknown = first_pieces.index("<unk>")
    vocabulary = [(piece, score) for piece, score, _ in rows]
    tokenizer = Tokenizer(
        models.Unigram(vocabulary, unk_id=unknown, byte_fallback=bool(_int_field(trainer, 35, 0)))
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
    scheme = "always" if _int_field(normalizer, 3, 1) else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *([pre_tokenizers.Punctuation()] if settings.get("split_by_punct") else []),
            pre_tokenizers.Metaspace(prepend_scheme=scheme),
        ]
    )
    return str(tokenizer.to_str())


def _read_pieces(model: Message) -> list[tuple[str, float, int]]:
    """Return text, score and kind of each piece."""
    pieces = map(_message, model[1])
    return [(p[1][0].decode(), struct.unpack("<f", p[2][0])[0], _int_field(p, 3, NORMAL)) for p in pieces]


def _int_field(message: Message, field: int, default: int) -> int:
    return int(message.get(field, [default])[0])


def _message(data: bytes) -> Message:
    """Read a message: ints, and the bytes of texts, messages and floats. A field may repeat."""
    message: Message = defaultdict(list)
    stream = BytesIO(data)
    while stream.tell() < len(data):
        key = _varint(stream)
        kind = key & 7
        if kind == 0:
            message[key >> 3].append(_varint(stream))
            continue
        size = _varint(stream) if kind == 2 else {1: 8, 5: 4}[kind]
        message[key >> 3].append(stream.read(size))
        if len(message[key >> 3][-1]) < size:
            raise IndexError(f"a field of {size} bytes at {stream.tell()} of {len(data)}")
    return message


def _varint(stream: BytesIO) -> int:
    """Read a number, in groups of seven bits."""
    byte = stream.read(1)[0]
    return byte if byte < 128 else byte - 128 + (_varint(stream) << 7)
