"""Settings of architectures and components. Each has its default, its description and its check in one place.

The settings of an architecture are a dataclass, and its network takes an object of that class. ``builder``
makes the function for the registry, to which a config gives the settings one by one. Components do the same
(``pipeline/component.py``), so this module must stay light: no torch.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass, field, fields
from functools import update_wrapper
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import Errors
from .types import WordVectorModel

#: Arithmetic of matrix products.
Precision = Literal["auto", "float32", "bfloat16"]
#: Unit whose likelihood is learned: each head by itself, or the whole tree.
HeadLoss = Literal["local", "tree"]
#: How the vectors of a word's pieces become the vector of the word.
Pooling = Literal["first", "mean"]


@dataclass(frozen=True)
class Range:
    """Numbers that a setting may have.

    expected: Text after "a number" in an error.
    contains: Returns whether a number is in the range.
    """

    expected: str
    contains: Callable[[float], bool]


COUNT = Range("of 1 or more", lambda value: value >= 1)
FROM_ZERO = Range("of 0 or more", lambda value: 0 <= value < math.inf)
SHARE = Range("from 0 to below 1", lambda value: 0 <= value < 1)
FACTOR = Range("above 0", lambda value: value > 0)
RATE = Range("from 0 to 1", lambda value: 0 <= value <= 1)

#: The default learning rate of an encoder falls with this power of its width.
WIDTH_POWER = 3
#: Default learning rate of a whole parser that is trained again, as a share of that of a checkpoint.
COPY_SHARE = 0.3


def setting(default: Any, description: str, allowed: Range | None = None) -> Any:
    """Return a field of a class of settings.

    default: Default value.
    description: Sentences for the page of settings. None is null there, as in a config.
    allowed: Numbers that the setting may have; None for other types.
    """
    metadata = {"default": default, "description": description, "allowed": allowed}
    return field(default_factory=lambda: copy(default), metadata=metadata)


def with_default(settings: type[CheckedSettings], name: str, default: Any) -> Any:
    """Return the field of a class of settings with another default."""
    metadata = settings.__dataclass_fields__[name].metadata
    return setting(default, metadata["description"], metadata["allowed"])


@dataclass(frozen=True, kw_only=True)
class CheckedSettings:
    """Settings whose values are checked."""

    def __post_init__(self) -> None:
        for name, hint, metadata in describe(type(self)):
            check_choice(name, getattr(self, name), hint=hint)
            value, allowed = getattr(self, name), metadata["allowed"]
            if allowed and value is not None and not allowed.contains(value):
                raise ValueError(Errors.E408.format(setting=name, value=value, expected=allowed.expected))


def check_choice(name: str, value: Any, *, hint: Any) -> None:
    """Raise ValueError if the value of a setting is not in its literal type."""
    choices = _choices(hint)
    if choices and value not in choices:
        raise ValueError(Errors.E411.format(setting=name, value=value, choices=choices))


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(CheckedSettings):
    """Settings of all networks."""

    rate_factor: float = setting(
        1.0,
        "Learning rate of the other weights, as a multiple of the optimizer's rate. An encoder that the "
        "pipeline shares has the optimizer's rate.",
        FACTOR,
    )
    precision: Precision = setting(
        "auto",
        'Arithmetic of matrix products: "float32", "bfloat16", or "auto" for bfloat16 where the CPU or GPU '
        "has instructions for it.",
    )

    def pretrained_factor(self, width: int, parts: Collection[str]) -> float:  # noqa: ARG002
        """Return the learning rate of pretrained weights, as a multiple of the rate of the other weights."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Settings(NetworkSettings):
    """Settings of all architectures with an encoder."""

    #: Rate factor of an encoder of width 384. Those of other widths follow from it.
    factor_at_384 = 0.1

    encoder_rate_factor: float | None = setting(
        None,
        "Learning rate of weights from a checkpoint or a trained pipeline, as a multiple of the rate of the "
        "other weights. null chooses it by the encoder's width. At the rates of the shipped configs, an "
        "encoder of width 384 learns at 2e-4, and one of width 768 at 2.5e-5. A parser that is copied with "
        "its scorers learns at 0.3 times these rates.",
        FACTOR,
    )

    def pretrained_factor(self, width: int, parts: Collection[str]) -> float:
        """Return the learning rate of pretrained weights, as a multiple of the rate of the other weights.

        width: Width of the encoder.
        parts: Parts of the network that are pretrained.
        """
        if self.encoder_rate_factor is not None:
            return self.encoder_rate_factor
        factor = min(1.0, self.factor_at_384 * (384 / width) ** WIDTH_POWER)
        return factor * COPY_SHARE if "task" in parts else factor


@dataclass(frozen=True, kw_only=True)
class TagSettings(Settings):
    """Settings of architectures that can read tags."""

    tag_attr: Literal["POS", "TAG", "treebank"] | None = setting(
        None,
        "Token attribute whose embedding is added to the embeddings of the word's pieces; null for none. "
        'With "treebank" it is the name of the treebank that a corpus gives the Doc. At parse time '
        "`parser.treebank` names the treebank whose guidelines the trees follow: at first, the first one.",
    )


@dataclass(frozen=True, kw_only=True)
class WordSettings(Settings):
    """Settings of architectures that take words' vectors from the layers of an encoder of pieces."""

    n_mixed_layers: int = setting(
        1,
        "Number of the encoder's last layers whose outputs are mixed with learned weights; 1 takes only "
        "the last layer. A number above that of the layers takes all, and the input of the first layer.",
        COUNT,
    )
    pooling: Pooling = setting(
        "first", 'Vector of a word: that of its "first" piece, or the "mean" over its pieces.'
    )


@dataclass(frozen=True, kw_only=True)
class VectorSettings(Settings):
    """Settings of architectures that can read word vectors in place of pieces."""

    tok2vec: WordVectorModel | None = setting(
        None,
        "Layer that gives the words' vectors, such as a listener to the pipeline's `g2g_encoder` or "
        "`transformer`; null for a parser with an encoder of its own.",
    )


@dataclass(frozen=True, kw_only=True)
class ScorerSettings(WordSettings, TagSettings, VectorSettings):
    """Settings of graph-based networks, which have an encoder or share one."""

    arc_width: int = setting(500, "Width of the head and dependent vectors that arcs are scored with.", COUNT)
    label_width: int = setting(
        100, "Width of the head and dependent vectors that labels are scored with.", COUNT
    )
    dropout: float = setting(
        0.33,
        "Dropout rate of the vectors that arcs and labels are scored with. `[training] dropout` is the rate "
        "of the encoder.",
        SHARE,
    )
    distances: bool = setting(
        False, "Let the score of an arc depend on its direction and on the distance between its words."
    )
    n_context_layers: int = setting(
        0,
        "Number of layers of a bidirectional LSTM between the words' vectors and the scorers. It has the "
        "dropout of the scorers. It pays where the vectors know only a few neighbors, as those of spaCy's "
        "`tok2vec` do; 0 for no LSTM.",
        FROM_ZERO,
    )
    context_width: int = setting(128, "Width of the LSTM in each direction.", COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tok2vec is None:
            return
        if self.tag_attr is not None:
            raise ValueError(Errors.E414.format(tag_attr=self.tag_attr))
        if self.n_mixed_layers != 1 or self.pooling != "first":
            raise ValueError(Errors.E418.format(n_layers=self.n_mixed_layers, pooling=self.pooling))


@dataclass(frozen=True, kw_only=True)
class BiaffineSettings(ScorerSettings):
    """Settings of graph-based parsers, whose words have one head each."""

    head_loss: HeadLoss = setting(
        "local",
        'Likelihood that is learned: of each head by itself ("local"), or of the heads of a sentence among '
        'all trees with one root ("tree"). Probabilities of heads are of the same kind.',
    )


def describe(settings: type[CheckedSettings]) -> tuple[tuple[str, Any, Any], ...]:
    """Return the name, type and metadata of each setting of a class, before those of its base classes."""
    hints = get_type_hints(settings)
    metadata = {f.name: f.metadata for f in fields(settings)}
    names: dict[str, None] = {}
    for base in settings.__mro__:
        names |= dict.fromkeys(inspect.get_annotations(base))
    return tuple((name, hints[name], metadata[name]) for name in names)


def _choices(hint: Any) -> tuple[object, ...]:
    """Return the values of a literal type, with None if allowed. Another type has no values."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    choices: list[object] = []
    for member in members:
        if get_origin(member) is Literal:
            choices += get_args(member)
    return (*choices, *([None] if choices and NoneType in members else ()))


AnySettings = TypeVar("AnySettings", bound=CheckedSettings)
Built = TypeVar("Built")


def builder(
    settings: type[AnySettings], *first: str
) -> Callable[[Callable[..., Built]], Callable[..., Built]]:
    """Return a decorator for a function that builds something from settings.

    The decorated function takes each setting by name, as a config gives them. The class determines its
    signature and docstring, so that the registry checks types and fills in defaults.

    settings: Class of the settings.
    first: Names of further arguments of the function, which come before the settings.
    """

    def decorate(build: Callable[..., Built]) -> Callable[..., Built]:
        def build_from_settings(**values: Any) -> Built:
            return build(*(values.pop(name) for name in first), settings(**values))

        function: Any = update_wrapper(build_from_settings, build)
        hints = get_type_hints(build)
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(name, keyword, annotation=hints[name]) for name in first]
        parameters += [
            inspect.Parameter(name, keyword, default=data["default"], annotation=hint)
            for name, hint, data in describe(settings)
        ]
        function.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": hints["return"]}
        function.__signature__ = inspect.Signature(parameters, return_annotation=hints["return"])
        texts = [f"{name}: {data['description']}" for name, _, data in describe(settings)]
        raises = "Raises ValueError for values out of range."
        function.__doc__ = "\n".join([inspect.getdoc(build) or "", "", *texts, raises])
        return build_from_settings

    return decorate
