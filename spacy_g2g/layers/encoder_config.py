"""Shape and arithmetic of an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import Errors


@dataclass(frozen=True)
class Rotary:
    """Rotary positions (Su et al. 2021), and layers in which a position sees a window.

    rotary_base: Base of the rotation; above 0.
    local_rotary_base: Base of the rotation in local layers; above 0 if there are any.
    window: Maximum distance at which positions see each other in a local layer; 0 if no layer is local.
    global_every: Layer i is global if this number divides i, and otherwise local.
    """

    rotary_base: float
    local_rotary_base: float = 0.0
    window: int = 0
    global_every: int = 1


@dataclass(frozen=True)
class Disentangled:
    """Disentangled attention; see ``disentangled.py``.

    max_distance: Number of distances on each side, or the end of their scale; above 0.
    distance_buckets: Number of buckets of distances on each side; 0 for a vector for each distance.
    distance_norm: Whether the vectors of distances are normalized.
    content_to_position: Whether attention has this term.
    position_to_content: Whether attention has this term.
    share_projections: Whether the vectors of distances share the projections of queries and keys.
    """

    max_distance: int
    distance_buckets: int = 0
    distance_norm: bool = False
    content_to_position: bool = False
    position_to_content: bool = False
    share_projections: bool = True


@dataclass(frozen=True)
class SideConvolution:
    """A convolution beside the first layer; see ``convolution.py``.

    convolution_width: Number of positions that it reads; odd.
    convolution_groups: Number of groups of channels.
    convolution_activation: As ``EncoderConfig.activation``.
    """

    convolution_width: int
    convolution_groups: int = 1
    convolution_activation: str = "tanh"


#: Parts that only some encoders have, by their names in ``EncoderConfig``. The first field of a part is
#: never 0.
PARTS: dict[str, type] = {
    "rotary": Rotary,
    "disentangled": Disentangled,
    "convolution": SideConvolution,
}
#: Fields that saved pipelines of earlier versions have by other names.
EARLIER_NAMES = {"normalise_keys": "normalize_keys"}


@dataclass(frozen=True)
class EncoderConfig:
    """Shape and arithmetic of an encoder.

    vocab_size: Number of pieces in the vocabulary.
    width: Width of the layers.
    embedding_width: Width of the embeddings, which may differ from ``width``.
    n_layers: Number of layers.
    n_attention_heads: Attention heads of each layer.
    hidden_width: Width of the feed-forward networks.
    n_key_heads: Heads of keys and values, which neighboring heads of queries share (Ainslie et al. 2023,
        "GQA"); 0 for as many as attention heads.
    n_positions: Maximum length of an input, in pieces (512 for RoBERTa's 514).
    position_table: Whether positions have vectors, which are added to the input.
    position_offset: First row of the position table in use.
    project_first: Whether embeddings of another width are projected before their norm, not after it.
    n_segments: Number of segment types; 0 for no segment table.
    embedding_norm: Whether the input vectors are normalized.
    norm: Kind of all norms: "layer" (Ba et al. 2016) or "rms" (Zhang & Sennrich 2019).
    norm_bias: Whether layer norms have a bias.
    layer_norm_eps: Constant that keeps norms from dividing by zero.
    pre_norm: Whether norms stand before attention and feed-forward networks instead of after the residual
        connections. Then one more norm follows the last layer.
    attention_bias: Whether the linear layers of attention have a bias.
    feedforward_bias: Whether the linear layers of the feed-forward networks have a bias.
    activation: Activation of the feed-forward networks, a key of ``ACTIVATIONS``.
    gated: Whether feed-forward networks are gated; see ``FeedForward``.
    dropout: Dropout rate of hidden vectors.
    attention_dropout: Dropout rate of attention weights.
    initializer_range: Standard deviation of random weights.
    n_added_pieces: Number of pieces after the vocabulary that checkpoints lack (ROOT).
    n_relations: Number of relations of the graph input; see ``GraphSelfAttention``.
    normalize_keys: Whether relation keys are normalized; see ``GraphSelfAttention``.
    rotary: Rotary positions; None for none.
    disentangled: Disentangled attention; None for none.
    convolution: Convolution beside the first layer; None for none.
    Raises ValueError for invalid sizes.
    """

    vocab_size: int
    width: int
    embedding_width: int
    n_layers: int
    n_attention_heads: int
    hidden_width: int
    n_key_heads: int = 0
    n_positions: int = 512
    position_table: bool = True
    position_offset: int = 0
    project_first: bool = False
    n_segments: int = 2
    embedding_norm: bool = True
    norm: str = "layer"
    norm_bias: bool = True
    layer_norm_eps: float = 1e-12
    pre_norm: bool = False
    attention_bias: bool = True
    feedforward_bias: bool = True
    activation: str = "gelu"
    gated: bool = False
    dropout: float = 0.1
    attention_dropout: float = 0.1
    initializer_range: float = 0.02
    n_added_pieces: int = 0
    n_relations: int = 0
    normalize_keys: bool = False
    rotary: Rotary | None = None
    disentangled: Disentangled | None = None
    convolution: SideConvolution | None = None

    def __post_init__(self) -> None:
        sizes = (self.width, self.n_layers, self.n_attention_heads, self.hidden_width)
        heads = (self.n_attention_heads, self.n_key_heads or self.n_attention_heads)
        if min(*sizes, *heads) < 1 or self.width % heads[0] or heads[0] % heads[1]:
            raise ValueError(Errors.E403.format(sizes=sizes, n_key_heads=heads[1]))
        if self.n_positions < 8:
            raise ValueError(Errors.E404.format(n_positions=self.n_positions))

    @property
    def head_width(self) -> int:
        """Width of an attention head."""
        return self.width // self.n_attention_heads

    def is_local(self, number: int) -> bool:
        """Return whether the positions of a layer see a window. Layers are numbered from 0."""
        return self.rotary is not None and self.rotary.window > 0 and number % self.rotary.global_every > 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. The fields of the parts stand beside the others."""
        values = asdict(self)
        for name in PARTS:
            values |= values.pop(name) or {}
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EncoderConfig:
        """Return the configuration that ``to_dict`` gave, in this version or an earlier one.

        Raises TypeError for fields that are unknown or missing, and ValueError as above.
        """
        own = {EARLIER_NAMES.get(key, key): value for key, value in values.items() if key != "pad_id"}
        for name, kind in PARTS.items():
            keys = [field.name for field in fields(kind)]
            part = {key: own.pop(key) for key in keys if key in own}
            own[name] = kind(**part) if part.get(keys[0]) else None
        return cls(**own)
