"""Families of checkpoints: their names for our configuration fields and modules.

The names of configuration keys and tensors are those that Hugging Face transformers 4 and 5 write to
``config.json`` and ``model.safetensors``.
"""

from dataclasses import dataclass, field
from typing import Any

# From the activation names of config.json to ours.
ACTIVATION_NAMES = {
    "gelu": "gelu",
    "gelu_new": "gelu_new",
    "gelu_pytorch_tanh": "gelu_new",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}

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


@dataclass(frozen=True)
class Family:
    """A family of checkpoints.

    prefix: Prefix of tensor names in models with a task head. Models without a head have no prefix.
    keys: From fields of EncoderConfig to keys of config.json.
    modules: From our modules to theirs.
    defaults: Values of fields that config.json may leave out or has no key for.
    positions_after_pad: Whether positions are counted from the pad id + 1.
    """

    prefix: str
    keys: dict[str, str]
    modules: dict[str, list[str]]
    defaults: dict[str, Any] = field(default_factory=dict)
    positions_after_pad: bool = False


BERT_DEFAULTS = {
    "n_segments": 2,
    "pad_id": 0,
    "layer_norm_eps": 1e-12,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "initializer_range": 0.02,
}
ROBERTA = Family(
    "roberta.", BERT_KEYS, BERT_MODULES, {**BERT_DEFAULTS, "pad_id": 1}, positions_after_pad=True
)
FAMILIES = {
    "bert": Family("bert.", BERT_KEYS, BERT_MODULES, BERT_DEFAULTS),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "electra": Family(
        "electra.",
        {**BERT_KEYS, "embedding_width": "embedding_size"},
        ELECTRA_MODULES,
        BERT_DEFAULTS,
    ),
    "distilbert": Family(
        "distilbert.", DISTILBERT_KEYS, DISTILBERT_MODULES, {**BERT_DEFAULTS, "n_segments": 0}
    ),
}
