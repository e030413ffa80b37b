"""Families of checkpoints: their names for our configuration fields and modules.

The names of configuration keys and tensors are those that Hugging Face transformers 4 and 5 write to
``config.json`` and ``model.safetensors``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import deberta
from .config_check import UnfitSettingError

# From fields of EncoderConfig to keys of config.json.
BERT_KEYS = {
    "vocab_size": "vocab_size",
    "width": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_attention_heads": "num_attention_heads",
    "hidden_width": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "n_segments": "type_vocab_size",
    "pad_id": "pad_token_id",
    "activation": "hidden_act",
    "layer_norm_eps": "layer_norm_eps",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "initializer_range": "initializer_range",
}
DISTILBERT_KEYS = {
    "vocab_size": "vocab_size",
    "width": "dim",
    "n_layers": "n_layers",
    "n_attention_heads": "n_heads",
    "hidden_width": "hidden_dim",
    "n_positions": "max_position_embeddings",
    "pad_id": "pad_token_id",
    "activation": "activation",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
    "initializer_range": "initializer_range",
}

# From our modules to theirs. {} is the number of a layer. Several modules are joined row by row in one of
# ours.
BERT_MODULES = {
    "embeddings.pieces": ["embeddings.word_embeddings"],
    "embeddings.positions": ["embeddings.position_embeddings"],
    "embeddings.segments": ["embeddings.token_type_embeddings"],
    "embeddings.norm": ["embeddings.LayerNorm"],
    "layers.{}.attention.qkv": [
        "encoder.layer.{}.attention.self.query",
        "encoder.layer.{}.attention.self.key",
        "encoder.layer.{}.attention.self.value",
    ],
    "layers.{}.attention.output": ["encoder.layer.{}.attention.output.dense"],
    "layers.{}.attention_norm": ["encoder.layer.{}.attention.output.LayerNorm"],
    "layers.{}.feedforward.hidden": ["encoder.layer.{}.intermediate.dense"],
    "layers.{}.feedforward.output": ["encoder.layer.{}.output.dense"],
    "layers.{}.feedforward_norm": ["encoder.layer.{}.output.LayerNorm"],
}
ELECTRA_MODULES = {**BERT_MODULES, "embeddings.projection": ["embeddings_project"]}
DISTILBERT_MODULES = {
    "embeddings.pieces": ["embeddings.word_embeddings"],
    "embeddings.positions": ["embeddings.position_embeddings"],
    "embeddings.norm": ["embeddings.LayerNorm"],
    "layers.{}.attention.qkv": [
        "transformer.layer.{}.attention.q_lin",
        "transformer.layer.{}.attention.k_lin",
        "transformer.layer.{}.attention.v_lin",
    ],
    "layers.{}.attention.output": ["transformer.layer.{}.attention.out_lin"],
    "layers.{}.attention_norm": ["transformer.layer.{}.sa_layer_norm"],
    "layers.{}.feedforward.hidden": ["transformer.layer.{}.ffn.lin1"],
    "layers.{}.feedforward.output": ["transformer.layer.{}.ffn.lin2"],
    "layers.{}.feedforward_norm": ["transformer.layer.{}.output_layer_norm"],
}
MODERNBERT_KEYS = {
    "vocab_size": "vocab_size",
    "width": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_attention_heads": "num_attention_heads",
    "hidden_width": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "pad_id": "pad_token_id",
    "norm_bias": "norm_bias",
    "layer_norm_eps": "norm_eps",
    "attention_bias": "attention_bias",
    "feedforward_bias": "mlp_bias",
    "activation": "hidden_activation",
    "dropout": "mlp_dropout",
    "attention_dropout": "attention_dropout",
    "initializer_range": "initializer_range",
}
EUROBERT_KEYS = {
    "vocab_size": "vocab_size",
    "width": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_attention_heads": "num_attention_heads",
    "n_key_heads": "num_key_value_heads",
    "hidden_width": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "pad_id": "pad_token_id",
    "layer_norm_eps": "rms_norm_eps",
    "attention_bias": "attention_bias",
    "feedforward_bias": "mlp_bias",
    "activation": "hidden_act",
    "attention_dropout": "attention_dropout",
    "initializer_range": "initializer_range",
}
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
EUROBERT_MODULES = {
    "embeddings.pieces": ["embed_tokens"],
    "layers.{}.attention.qkv": [
        "layers.{}.self_attn.q_proj",
        "layers.{}.self_attn.k_proj",
        "layers.{}.self_attn.v_proj",
    ],
    "layers.{}.attention.output": ["layers.{}.self_attn.o_proj"],
    "layers.{}.attention_norm": ["layers.{}.input_layernorm"],
    "layers.{}.feedforward.hidden": ["layers.{}.mlp.gate_proj", "layers.{}.mlp.up_proj"],
    "layers.{}.feedforward.output": ["layers.{}.mlp.down_proj"],
    "layers.{}.feedforward_norm": ["layers.{}.post_attention_layernorm"],
    "final_norm": ["norm"],
}

#: Content of config.json.
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Family:
    """A family of checkpoints.

    prefix: Prefix of tensor names in models with a task head. Models without a head have no prefix.
    keys: From fields of EncoderConfig to keys of config.json.
    modules: From our modules to theirs.
    defaults: Values of fields that config.json may leave out or has no key for.
    positions_after_pad: Whether positions are counted from the pad id + 1.
    fixed: The one value that a key of config.json may have, if it is there.
    derive: Function that returns the fields that are no plain copy of a key, given config.json; None if all
        are. It raises UnfitSettingError.
    """

    prefix: str
    keys: dict[str, str]
    modules: dict[str, list[str]]
    defaults: dict[str, Any] = field(default_factory=dict)
    positions_after_pad: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    derive: Callable[[Settings], dict[str, Any]] | None = None


def rotary_base(settings: Settings, kind: str | None, key: str, default: float) -> Any:
    """Find the base of rotary positions, which transformers 4 and 5 write to different places.

    kind: Kind of layers, if bases differ by kind.
    key: Key of transformers 4.
    """
    parameters = settings.get("rope_parameters") or {}
    if kind is not None:
        parameters = parameters.get(kind) or {}
    if settings.get("rope_scaling") is not None:
        raise UnfitSettingError("rope_scaling", settings["rope_scaling"], "null")
    rope_type = parameters.get("rope_type", parameters.get("type", "default"))
    if rope_type != "default":
        raise UnfitSettingError("rope_type", rope_type, "'default'")
    base = parameters.get("rope_theta", settings.get(key, default))
    if isinstance(base, bool) or not isinstance(base, int | float) or base <= 0:
        raise UnfitSettingError(key, base, "a number above 0")
    return float(base)


def layers_of_modernbert(settings: Settings) -> dict[str, Any]:
    """Find which layers of ModernBERT see a window, and the bases of their rotary positions."""
    types = settings.get("layer_types")
    every = settings.get("global_attn_every_n_layers", 3)
    if types is not None:
        every = next((n for n in range(1, len(types) + 1) if types == _layer_types(len(types), n)), None)
        if every is None:
            raise UnfitSettingError("layer_types", types, "each n-th layer from the first 'full_attention'")
    elif isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise UnfitSettingError("global_attn_every_n_layers", every, "a whole number of 1 or more")
    size = settings.get("local_attention", 128)
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise UnfitSettingError("local_attention", size, "a whole number of 2 or more")
    return {
        "window": size // 2,
        "global_every": every,
        "rotary_base": rotary_base(settings, "full_attention", "global_rope_theta", 160_000.0),
        "local_rotary_base": rotary_base(settings, "sliding_attention", "local_rope_theta", 10_000.0),
    }


def _layer_types(n: int, every: int) -> list[str]:
    return ["sliding_attention" if i % every else "full_attention" for i in range(n)]


def positions_of_eurobert(settings: Settings) -> dict[str, Any]:
    """Find the base of EuroBERT's rotary positions."""
    width, n_heads = settings.get("hidden_size"), settings.get("num_attention_heads")
    head_width = settings.get("head_dim")
    if head_width is not None and head_width * n_heads != width:
        raise UnfitSettingError("head_dim", head_width, "hidden_size / num_attention_heads")
    return {"rotary_base": rotary_base(settings, None, "rope_theta", 10_000.0)}


BERT_DEFAULTS = {
    "n_segments": 2,
    "pad_id": 0,
    "layer_norm_eps": 1e-12,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "initializer_range": 0.02,
}
#: BERT's arithmetic is another with other values of these.
BERT_FIXED = {"position_embedding_type": "absolute", "is_decoder": False}
ROBERTA = Family(
    "roberta.",
    BERT_KEYS,
    BERT_MODULES,
    {**BERT_DEFAULTS, "pad_id": 1},
    positions_after_pad=True,
    fixed=BERT_FIXED,
)
#: What layers and embeddings of ModernBERT and EuroBERT have in common.
ROTARY_DEFAULTS = {
    "position_table": False,
    "n_segments": 0,
    "pre_norm": True,
    "layer_norm_eps": 1e-5,
    "attention_bias": False,
    "feedforward_bias": False,
    "gated": True,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "initializer_range": 0.02,
}
FAMILIES = {
    "bert": Family("bert.", BERT_KEYS, BERT_MODULES, BERT_DEFAULTS, fixed=BERT_FIXED),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "electra": Family(
        "electra.",
        {**BERT_KEYS, "embedding_width": "embedding_size"},
        ELECTRA_MODULES,
        BERT_DEFAULTS,
        fixed=BERT_FIXED,
    ),
    "deberta-v2": Family(
        "deberta.",
        BERT_KEYS,
        {**BERT_MODULES, **deberta.MODULES},
        {**BERT_DEFAULTS, "n_segments": 0, "layer_norm_eps": 1e-7, "n_positions": 512, "activation": "gelu"},
        fixed={"is_decoder": False},
        derive=deberta.derive,
    ),
    "distilbert": Family(
        "distilbert.", DISTILBERT_KEYS, DISTILBERT_MODULES, {**BERT_DEFAULTS, "n_segments": 0}
    ),
    "modernbert": Family(
        "model.",
        MODERNBERT_KEYS,
        MODERNBERT_MODULES,
        {**ROTARY_DEFAULTS, "norm_bias": False, "activation": "gelu", "pad_id": 50283, "n_positions": 8192},
        derive=layers_of_modernbert,
    ),
    "eurobert": Family(
        "model.",
        EUROBERT_KEYS,
        EUROBERT_MODULES,
        {
            **ROTARY_DEFAULTS,
            "embedding_norm": False,
            "norm": "rms",
            "n_key_heads": 0,
            "activation": "silu",
            "pad_id": 128001,
            "n_positions": 8192,
        },
        derive=positions_of_eurobert,
    ),
}
