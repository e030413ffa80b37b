"""Differences between families of checkpoints.

Settings and tensors have the names that Hugging Face transformers 4 and 5 write to ``config.json`` and
``model.safetensors``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import Errors
from ..encoder_config import EncoderConfig

#: Content of config.json without its nulls.
ConfigJson = Mapping[str, Any]
#: Start, end, padding and unknown piece of a vocabulary.
SpecialPieces = tuple[str, str, str, str]


@dataclass(frozen=True)
class Family:
    """A family of checkpoints.

    read: Function from config.json to the encoder's configuration. It raises ValueError for a setting that
        our encoder does not support, and KeyError for a missing setting.
    prefix: Prefix of tensor names in models with a task head. Models without a head have no prefix.
    modules: Names of their modules by the name of ours; {} is the number of a layer. Several of their modules
        are joined row by row into one of ours.
    special_pieces: Special pieces of the vocabularies that such checkpoints have.
    read_vocabulary: Function from vocab.txt and tokenizer_config.json to the text of a tokenizer.json; None
        if vocab.txt lacks something that the tokenizer needs.
    first_pieces: Pieces before those of sentencepiece.bpe.model, whose ids differ from the encoder's.
    n_dropped: Number of first pieces of sentencepiece.bpe.model that ``first_pieces`` replaces.
    """

    read: Callable[[ConfigJson], EncoderConfig]
    prefix: str
    modules: Mapping[str, list[str]]
    special_pieces: tuple[SpecialPieces, ...]
    read_vocabulary: Callable[[str, ConfigJson], str] | None = None
    first_pieces: tuple[str, ...] = ("<s>", "<pad>", "</s>", "<unk>")
    n_dropped: int = 3


def common_sizes(settings: ConfigJson) -> dict[str, Any]:
    """Return the fields of ``EncoderConfig`` for which most families have one name."""
    return {
        "vocab_size": settings["vocab_size"],
        "width": settings["hidden_size"],
        "embedding_width": settings["hidden_size"],
        "n_layers": settings["num_hidden_layers"],
        "n_attention_heads": settings["num_attention_heads"],
        "hidden_width": settings["intermediate_size"],
        "initializer_range": settings.get("initializer_range", 0.02),
    }


def expect(settings: ConfigJson, **values: Any) -> None:
    """Raise ValueError if a setting is present with another value."""
    for key, value in values.items():
        if settings.get(key, value) != value:
            raise ValueError(Errors.E211.format(key=key, found=settings[key], expected=repr(value)))


def rotary_base(settings: ConfigJson, kind: str | None, key: str, default: float) -> float:
    """Find the base of rotary positions, which transformers 4 and 5 write to different places.

    kind: Kind of layers, if bases differ by kind.
    key: Key of transformers 4.
    Raises ValueError for rotary positions that are scaled.
    """
    expect(settings, rope_scaling=None)
    parameters = settings.get("rope_parameters", {})
    if kind is not None:
        parameters = parameters.get(kind) or {}
    expect({"rope_type": parameters.get("rope_type", parameters.get("type", "default"))}, rope_type="default")
    return float(parameters.get("rope_theta", settings.get(key, default)))
