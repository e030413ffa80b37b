"""Small random checkpoints of each family, written by transformers itself."""

import importlib
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from spacy_g2g.layers.checkpoints.load import Checkpoint
from spacy_g2g.layers.encoder import GraphEncoder

with warnings.catch_warnings():
    # Some versions of transformers use what newer Pythons and libraries deprecate, on import.
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", FutureWarning)
    import transformers

    # Version 4 decorates functions by torch.compile on import, which takes seconds and is never run here.
    with mock.patch("torch.compile", return_value=lambda function: function):
        importlib.import_module("transformers.models.modernbert.modeling_modernbert")
    importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2")

BERT_SIZES = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 20,
}
ELECTRA_SIZES = {**BERT_SIZES, "embedding_size": 16}
DISTILBERT_SIZES = {
    "vocab_size": 50,
    "dim": 24,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 40,
    "max_position_embeddings": 20,
}
SPECIAL_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
MODERNBERT_SIZES = {
    **BERT_SIZES,
    **SPECIAL_IDS,
    "num_hidden_layers": 4,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "local_attention": 6,
    "global_rope_theta": 160.0,
    "local_rope_theta": 10.0,
    "cls_token_id": 1,
    "sep_token_id": 2,
    "reference_compile": False,
}
EUROBERT_SIZES = {**BERT_SIZES, **SPECIAL_IDS, "num_key_value_heads": 2, "rope_theta": 250.0}
DEBERTA_SIZES = {
    **BERT_SIZES,
    "relative_attention": True,
    "position_buckets": 8,
    "position_biased_input": True,
    "pos_att_type": ["c2p", "p2c"],
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
}
# Family to names of configuration class, model, model with a head; and its sizes.
FAMILIES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertModel", "BertForMaskedLM", BERT_SIZES),
    "roberta": ("RobertaConfig", "RobertaModel", "RobertaForMaskedLM", {**BERT_SIZES, "type_vocab_size": 1}),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel", "XLMRobertaForMaskedLM", BERT_SIZES),
    "camembert": ("CamembertConfig", "CamembertModel", "CamembertForMaskedLM", BERT_SIZES),
    "electra": ("ElectraConfig", "ElectraModel", "ElectraForPreTraining", ELECTRA_SIZES),
    "deberta-v2": ("DebertaV2Config", "DebertaV2Model", "DebertaV2ForMaskedLM", DEBERTA_SIZES),
    "distilbert": ("DistilBertConfig", "DistilBertModel", "DistilBertForMaskedLM", DISTILBERT_SIZES),
    "modernbert": ("ModernBertConfig", "ModernBertModel", "ModernBertForMaskedLM", MODERNBERT_SIZES),
    "eurobert": ("EuroBertConfig", "EuroBertModel", "EuroBertForMaskedLM", EUROBERT_SIZES),
}
DROPOUTS = {
    "distilbert": ["dropout", "attention_dropout"],
    "modernbert": ["embedding_dropout", "attention_dropout", "mlp_dropout"],
    "eurobert": ["attention_dropout"],
}
TOKENIZER = '{"model": {"type": "WordPiece"}}'


class EuroBertConfig(transformers.LlamaConfig):
    """EuroBERT is Llama without the causal mask. These classes take its place before transformers 5."""

    model_type = "eurobert"

    def __init__(self, attention_dropout: float = 0.0, **settings: Any) -> None:
        super().__init__(**{"rms_norm_eps": 1e-5, **settings}, attention_dropout=attention_dropout)


class EuroBertModel(transformers.LlamaModel):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **settings: Any) -> Any:
        n = input_ids.shape[1]
        sees = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        bias = torch.zeros(len(sees), 1, n, n).masked_fill(~sees.bool()[:, None, None], torch.finfo().min)
        return super().forward(input_ids, attention_mask=bias, use_cache=False, **settings)


class EuroBertForMaskedLM(transformers.LlamaForCausalLM):
    def __init__(self, config: EuroBertConfig) -> None:
        super().__init__(config)
        self.model = EuroBertModel(config)


def class_named(name: str) -> Any:
    """Return a class of transformers, or what takes its place."""
    return getattr(transformers, name, None) or globals()[name]


def build(checkpoint: Checkpoint) -> GraphEncoder:
    """Return the encoder of a checkpoint."""
    encoder = GraphEncoder(checkpoint.config)
    encoder.load_state_dict(checkpoint.weights)
    return encoder.eval()


def make_model(family: str, *, head: bool = False, **settings: Any) -> Any:
    """Build a random model of transformers in which no weight is a plain 0 or 1."""
    config_name, model_name, head_name, sizes = FAMILIES[family]
    torch.manual_seed(1)
    config = class_named(config_name)(**{**sizes, **settings})
    model = class_named(head_name if head else model_name)(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model.eval()


def save(model: Any, folder: Path) -> Path:
    """Write a model as a checkpoint folder with some tokenizer.json."""
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(TOKENIZER, encoding="utf8")
    return folder


def dropout_settings(family: str, rate: float) -> dict[str, float]:
    """Name the dropout rates as the family does."""
    names = DROPOUTS.get(family, ["hidden_dropout_prob", "attention_probs_dropout_prob"])
    return dict.fromkeys(names, rate)


def padded_batch(pad_id: int, lengths: tuple[int, ...] = (9, 4, 7)) -> tuple[Any, Tensor]:
    """Draw piece ids [batch, n], padded at the end, and their mask."""
    generator = torch.Generator().manual_seed(0)
    piece_ids = torch.randint(5, 50, (len(lengths), max(lengths)), generator=generator)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return piece_ids.masked_fill(~mask, pad_id), mask
