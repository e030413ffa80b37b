"""DeBERTa-v2: names of its modules, and what its config.json says of distances.

DeBERTa-v3, mDeBERTa and CamemBERTa-v2 are of this type.
"""

from collections.abc import Mapping
from typing import Any

from .config_check import UnfitSettingError
from .feedforward import ACTIVATION_NAMES

_SELF = "encoder.layer.{}.attention.self"
#: From our modules to theirs, where they differ from BERT's.
MODULES = {
    "embeddings.projection": ["embeddings.embed_proj"],
    "distances.rows": ["encoder.rel_embeddings"],
    "distances.norm": ["encoder.LayerNorm"],
    "layers.{}.attention.qkv": [f"{_SELF}.query_proj", f"{_SELF}.key_proj", f"{_SELF}.value_proj"],
    "layers.{}.attention.distances.key": [f"{_SELF}.pos_key_proj"],
    "layers.{}.attention.distances.query": [f"{_SELF}.pos_query_proj"],
    "convolution.convolution": ["encoder.conv.conv"],
    "convolution.norm": ["encoder.conv.LayerNorm"],
}


def derive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of ``EncoderConfig`` that are no plain copy of a key of config.json.

    Raises UnfitSettingError.
    """
    terms = _names(settings, "pos_att_type")
    width, n_heads = (_whole(settings, key, 0) for key in ("hidden_size", "num_attention_heads"))
    head_width = settings.get("attention_head_size")
    if head_width is not None and _whole(settings, "attention_head_size", 1) * n_heads != width:
        raise UnfitSettingError("attention_head_size", head_width, "hidden_size / num_attention_heads")
    has_distances = settings.get("relative_attention", False)
    most = _whole(settings, "max_relative_positions", -1)
    if most < 1:
        most = _whole(settings, "max_position_embeddings", 512)
    return {
        "embedding_width": settings.get("embedding_size", width),
        "project_first": True,
        "position_table": settings.get("position_biased_input", True),
        "content_to_position": "c2p" in terms,
        "position_to_content": "p2c" in terms,
        "max_distance": most if has_distances else 0,
        "distance_buckets": max(0, _whole(settings, "position_buckets", -1)) if has_distances else 0,
        "distance_norm": "layer_norm" in _names(settings, "norm_rel_ebd"),
        "share_projections": settings.get("share_att_key", False),
        "convolution_width": max(0, _whole(settings, "conv_kernel_size", 0)),
        "convolution_groups": _whole(settings, "conv_groups", 1),
        "convolution_activation": _activation(settings.get("conv_act", "tanh")),
    }


def _activation(found: object) -> str:
    if not isinstance(found, str) or found not in ACTIVATION_NAMES:
        raise UnfitSettingError("conv_act", found, f"one of: {', '.join(ACTIVATION_NAMES)}")
    return ACTIVATION_NAMES[found]


def _whole(settings: Mapping[str, Any], key: str, default: int) -> int:
    found = settings.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int):
        raise UnfitSettingError(key, found, "a whole number")
    return found


def _names(settings: Mapping[str, Any], key: str) -> list[str]:
    """Return names from a list, or from a text in which bars separate them."""
    found = settings.get(key)
    if isinstance(found, str):
        return [name.strip() for name in found.lower().split("|")]
    if found is not None and not isinstance(found, list):
        raise UnfitSettingError(key, found, "a list, or names with bars between them")
    return found or []
