"""DistilBERT (Sanh et al. 2019): half of BERT's layers, without segments."""

from ..encoder_config import EncoderConfig
from .bert import BERT_MODULES, BERT_PIECES, read_word_pieces
from .family import ConfigJson, Family

_LAYER = "transformer.layer.{}"
DISTILBERT_MODULES = {
    **BERT_MODULES,
    "layers.{}.attention.qkv": [f"{_LAYER}.attention.{part}_lin" for part in "qkv"],
    "layers.{}.attention.output": [f"{_LAYER}.attention.out_lin"],
    "layers.{}.attention_norm": [f"{_LAYER}.sa_layer_norm"],
    "layers.{}.feedforward.hidden": [f"{_LAYER}.ffn.lin1"],
    "layers.{}.feedforward.output": [f"{_LAYER}.ffn.lin2"],
    "layers.{}.feedforward_norm": [f"{_LAYER}.output_layer_norm"],
}


def read_distilbert(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of DistilBERT."""
    return EncoderConfig(
        vocab_size=settings["vocab_size"],
        width=settings["dim"],
        embedding_width=settings["dim"],
        n_layers=settings["n_layers"],
        n_attention_heads=settings["n_heads"],
        hidden_width=settings["hidden_dim"],
        n_positions=settings["max_position_embeddings"],
        n_segments=0,
        activation=settings["activation"],
        dropout=settings.get("dropout", 0.1),
        attention_dropout=settings.get("attention_dropout", 0.1),
        initializer_range=settings.get("initializer_range", 0.02),
    )


DISTILBERT = Family(read_distilbert, "distilbert.", DISTILBERT_MODULES, (BERT_PIECES,), read_word_pieces)
