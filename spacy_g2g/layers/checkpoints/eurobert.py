"""EuroBERT (Boizard et al. 2025): Llama without the causal mask."""

from ..encoder_config import EncoderConfig, Rotary
from .family import ConfigJson, Family, SpecialPieces, common_sizes, expect, rotary_base

#: The vocabulary lacks an unknown piece, so the mask replaces it.
EUROBERT_PIECES: SpecialPieces = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|end_of_text|>",
    "<|mask|>",
)
_ATTENTION, _MLP = "layers.{}.self_attn", "layers.{}.mlp"
EUROBERT_MODULES = {
    "embeddings.pieces": ["embed_tokens"],
    "layers.{}.attention.qkv": [f"{_ATTENTION}.{part}_proj" for part in "qkv"],
    "layers.{}.attention.output": [f"{_ATTENTION}.o_proj"],
    "layers.{}.attention_norm": ["layers.{}.input_layernorm"],
    "layers.{}.feedforward.hidden": [f"{_MLP}.gate_proj", f"{_MLP}.up_proj"],
    "layers.{}.feedforward.output": [f"{_MLP}.down_proj"],
    "layers.{}.feedforward_norm": ["layers.{}.post_attention_layernorm"],
    "final_norm": ["norm"],
}


def read_eurobert(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of EuroBERT."""
    sizes = common_sizes(settings)
    expect(settings, head_dim=sizes["width"] // sizes["n_attention_heads"])
    return EncoderConfig(
        **sizes,
        n_key_heads=settings.get("num_key_value_heads", 0),
        n_positions=settings.get("max_position_embeddings", 8192),
        position_table=False,
        n_segments=0,
        embedding_norm=False,
        norm="rms",
        layer_norm_eps=settings.get("rms_norm_eps", 1e-5),
        pre_norm=True,
        attention_bias=settings.get("attention_bias", False),
        feedforward_bias=settings.get("mlp_bias", False),
        activation=settings.get("hidden_act", "silu"),
        gated=True,
        dropout=0.0,
        attention_dropout=settings.get("attention_dropout", 0.0),
        rotary=Rotary(rotary_base=rotary_base(settings, None, "rope_theta", 10_000.0)),
    )


EUROBERT = Family(read_eurobert, "model.", EUROBERT_MODULES, (EUROBERT_PIECES,))
