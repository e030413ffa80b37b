"""Settings that several architectures of transition-based parsers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from ...errors import Errors
from ...models.settings import COUNT, SHARE, Settings, TagSettings, VectorSettings, setting, with_default
from ..layers.state_attention import StateHead


@dataclass(frozen=True, kw_only=True)
class SwapSettings(Settings):
    """Settings of architectures on the arc-standard system."""

    swap: bool = setting(True, "Use the action SWAP. Without it all trees are projective.")


@dataclass(frozen=True, kw_only=True)
class BeamSettings(Settings):
    """Settings of architectures that search with a beam."""

    beam_width: int = setting(
        1, "Number of hypotheses that are kept while a sentence is parsed; 1 is greedy.", COUNT
    )


@dataclass(frozen=True, kw_only=True)
class TransitionSettings(BeamSettings, SwapSettings, TagSettings):
    """Settings of transition-based parsers with classifiers."""

    states_per_sentence: int | None = setting(
        4,
        "Number of encoder passes that are sampled from a sentence for each update. A pass reads a partial "
        "tree in SentTr with graph input, and a parser state in StateTr. null takes all of them, which needs "
        "more memory.",
        COUNT,
    )
    hidden_width: int = setting(200, "Width of the hidden layer of the classifiers.", COUNT)
    dropout: float = setting(
        0.05, "Dropout rate of the classifiers. `[training] dropout` is the rate of the encoder.", SHARE
    )
    unknown_share: float = setting(
        0.05,
        "Share of the distinct training words, the rarest, that are read as unknown in training. It applies "
        "only to an encoder trained from scratch.",
        SHARE,
    )


@dataclass(frozen=True, kw_only=True)
class ActionSettings(BeamSettings, VectorSettings):
    """Settings of stack-Transformers."""

    #: The other weights learn at a quarter of the usual rate, so the encoder's multiple of it is larger.
    factor_at_384 = 4 * Settings.factor_at_384

    state_heads: list[StateHead] = setting(
        ["buffer", "stack"],
        'Words that each of the first heads of cross-attention sees: "stack" or "buffer" for all words '
        'there, "stack_top2" or "buffer_top2" for the first two words there. The other heads see all words.',
    )
    state_positions: bool = setting(
        False, "Tell the heads of `state_heads` how deep in the stack or buffer each word is."
    )
    n_encoder_layers: int = setting(
        6, "Number of layers of the Transformer encoder that reads the words' vectors.", COUNT
    )
    n_layers: int = setting(6, "Number of layers of the Transformer decoder.", COUNT)
    width: int = setting(
        256, "Width of the Transformer encoder and decoder, a multiple of `n_attention_heads`.", COUNT
    )
    n_attention_heads: int = setting(
        4, "Number of attention heads in each layer of the Transformer encoder and decoder.", COUNT
    )
    hidden_width: int = setting(
        512, "Hidden width of the feed-forward networks in the Transformer encoder and decoder.", COUNT
    )
    dropout: float = setting(
        0.3,
        "Dropout rate of the Transformer encoder and decoder. `[training] dropout` is the rate of a trained "
        "encoder of pieces.",
        SHARE,
    )
    label_smoothing: float = setting(
        0.01, "Share of the probability of each step that is spread over its valid actions.", SHARE
    )
    beam_width: int = with_default(BeamSettings, "beam_width", 10)
    train_encoder: bool = setting(
        False,
        "Whether the weights of a checkpoint are trained. If not, the vectors of the training words are kept "
        "in memory: 4 bytes a number, of up to a million words. An encoder from scratch is always trained.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.n_attention_heads:
            raise ValueError(Errors.E204.format(width=self.width, n_heads=self.n_attention_heads))
        unknown = [head for head in self.state_heads if head not in get_args(StateHead)]
        if unknown:
            choices = list(get_args(StateHead))
            raise ValueError(Errors.E411.format(setting="state_heads", value=unknown, choices=choices))
        if len(self.state_heads) > self.n_attention_heads:
            raise ValueError(Errors.E417.format(heads=list(self.state_heads), n_heads=self.n_attention_heads))
