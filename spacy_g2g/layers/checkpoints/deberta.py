"""DeBERTa-v2 (He et al. 2021), with DeBERTa-v3, mDeBERTa and CamemBERTa-v2: attention to distances."""

from ...errors import Errors
from ..encoder_config import Disentangled, EncoderConfig, SideConvolution
from .bert import BERT_MODULES, BERT_PIECES
from .family import ConfigJson, Family, common_sizes, expect

_SELF = "encoder.layer.{}.attention.self"
DEBERTA_MODULES = {
    **BERT_MODULES,
    "embeddings.projection": ["embeddings.embed_proj"],
    "distances.rows": ["encoder.rel_embeddings"],
    "distances.norm": ["encoder.LayerNorm"],
    "layers.{}.attention.qkv": [f"{_SELF}.query_proj", f"{_SELF}.key_proj", f"{_SELF}.value_proj"],
    "layers.{}.attention.distances.key": [f"{_SELF}.pos_key_proj"],
    "layers.{}.attention.distances.query": [f"{_SELF}.pos_query_proj"],
    "convolution.convolution": ["encoder.conv.conv"],
    "convolution.norm": ["encoder.conv.LayerNorm"],
}


def read_deberta(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of DeBERTa-v2."""
    expect(settings, is_decoder=False)
    sizes = common_sizes(settings)
    width, n_heads = sizes["width"], sizes["n_attention_heads"]
    expect(settings, attention_head_size=width // n_heads)
    sizes["embedding_width"] = settings.get("embedding_size", width)
    convolution = None
    if settings.get("conv_kernel_size", 0) > 0:
        convolution = SideConvolution(
            convolution_width=settings["conv_kernel_size"],
            convolution_groups=settings.get("conv_groups", 1),
            convolution_activation=settings.get("conv_act", "tanh"),
        )
    return EncoderConfig(
        **sizes,
        n_positions=settings.get("max_position_embeddings", 512),
        position_table=settings.get("position_biased_input", True),
        project_first=True,
        n_segments=settings.get("type_vocab_size", 0),
        activation=settings.get("hidden_act", "gelu"),
        layer_norm_eps=settings.get("layer_norm_eps", 1e-7),
        dropout=settings.get("hidden_dropout_prob", 0.1),
        attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
        disentangled=_read_distances(settings),
        convolution=convolution,
    )


def _read_distances(settings: ConfigJson) -> Disentangled | None:
    terms = _names(settings.get("pos_att_type", []))
    if not settings.get("relative_attention", False):
        expect({"pos_att_type": terms}, pos_att_type=[])
        return None
    farthest = settings.get("max_relative_positions", -1)
    max_distance = farthest if farthest > 0 else settings.get("max_position_embeddings", 512)
    n_buckets = max(0, settings.get("position_buckets", -1))
    if n_buckets and not 0 < n_buckets // 2 < max_distance - 1:
        expected = f"2 to {2 * max_distance - 3}"
        raise ValueError(Errors.E211.format(key="position_buckets", found=n_buckets, expected=expected))
    return Disentangled(
        max_distance=max_distance,
        distance_buckets=n_buckets,
        distance_norm="layer_norm" in _names(settings.get("norm_rel_ebd", [])),
        content_to_position="c2p" in terms,
        position_to_content="p2c" in terms,
        share_projections=settings.get("share_att_key", False),
    )


def _names(value: str | list[str]) -> list[str]:
    """Return names from a list, or from a text in which bars separate them."""
    return [name.strip() for name in value.lower().split("|")] if isinstance(value, str) else value


DEBERTA = Family(read_deberta, "deberta.", DEBERTA_MODULES, (BERT_PIECES,))
