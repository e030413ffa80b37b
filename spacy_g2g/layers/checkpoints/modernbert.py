"""ModernBERT (Warner et al. 2024) and mmBERT: rotary positions, and layers that see a window."""

from ...errors import Errors
from ..encoder_config import EncoderConfig, Rotary
from .bert import BERT_PIECES
from .family import ConfigJson, Family, SpecialPieces, common_sizes, rotary_base

GEMMA_PIECES: SpecialPieces = ("<bos>", "<eos>", "<pad>", "<unk>")
MODERNBERT_MODULES = {
    "embeddings.pieces": ["embeddings.tok_embeddings"],
    "embeddings.norm": ["embeddings.norm"],
    "layers.{}.attention.qkv": ["layers.{}.attn.Wqkv"],
    "layers.{}.attention.output": ["layers.{}.attn.Wo"],
    "layers.{}.attention_norm": ["layers.{}.attn_norm"],
    "layers.{}.feedforward.hidden": ["layers.{}.mlp.Wi"],
    "layers.{}.feedforward.output": ["layers.{}.mlp.Wo"],
    "layers.{}.feedforward_norm": ["layers.{}.mlp_norm"],
    "final_norm": ["final_norm"],
}


def read_modernbert(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of ModernBERT."""
    return EncoderConfig(
        **common_sizes(settings),
        n_positions=settings.get("max_position_embeddings", 8192),
        position_table=False,
        n_segments=0,
        norm_bias=settings.get("norm_bias", False),
        layer_norm_eps=settings.get("norm_eps", 1e-5),
        pre_norm=True,
        attention_bias=settings.get("attention_bias", False),
        feedforward_bias=settings.get("mlp_bias", False),
        activation=settings.get("hidden_activation", "gelu"),
        gated=True,
        dropout=settings.get("mlp_dropout", 0.0),
        attention_dropout=settings.get("attention_dropout", 0.0),
        rotary=Rotary(
            rotary_base=rotary_base(settings, "full_attention", "global_rope_theta", 160_000.0),
            local_rotary_base=rotary_base(settings, "sliding_attention", "local_rope_theta", 10_000.0),
            window=settings.get("local_attention", 128) // 2,
            global_every=_global_every(settings),
        ),
    )


def _global_every(settings: ConfigJson) -> int:
    """Return n if every n-th layer, from the first on, sees all positions."""
    types = settings.get("layer_types")
    if types is None:
        return int(settings.get("global_attn_every_n_layers", 3))
    for n in range(1, len(types) + 1):
        if types == ["sliding_attention" if i % n else "full_attention" for i in range(len(types))]:
            return n
    expected = "each n-th layer from the first 'full_attention'"
    raise ValueError(Errors.E211.format(key="layer_types", found=types, expected=expected))


MODERNBERT = Family(read_modernbert, "model.", MODERNBERT_MODULES, (BERT_PIECES, GEMMA_PIECES))
