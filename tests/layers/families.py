"""Small random checkpoints of each family, written by transformers itself."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

with warnings.catch_warnings():
    # Some versions of transformers use what newer Pythons and libraries deprecate, on import.
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", FutureWarning)
    import transformers

BERT_SIZES = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 20,
}
DISTILBERT_SIZES = {
    "vocab_size": 50,
    "dim": 24,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 40,
    "max_position_embeddings": 20,
}
# Family to names of configuration class, model, model with a head; and its sizes.
FAMILIES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertModel", "BertForMaskedLM", BERT_SIZES),
    "roberta": ("RobertaConfig", "RobertaModel", "RobertaForMaskedLM", {**BERT_SIZES, "type_vocab_size": 1}),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel", "XLMRobertaForMaskedLM", BERT_SIZES),
    "camembert": ("CamembertConfig", "CamembertModel", "CamembertForMaskedLM", BERT_SIZES),
    "electra": (
        "ElectraConfig",
        "ElectraModel",
        "ElectraForPreTraining",
        {**BERT_SIZES, "embedding_size": 16},
    ),
    "distilbert": ("DistilBertConfig", "DistilBertModel", "DistilBertForMaskedLM", DISTILBERT_SIZES),
}
TOKENIZER = '{"model": {"type": "WordPiece"}}'


def make_model(family: str, *, head: bool = False, **settings: Any) -> Any:
    """Build a random model of transformers in which no weight is a plain 0 or 1."""
    config_name, model_name, head_name, sizes = FAMILIES[family]
    torch.manual_seed(1)
    config = getattr(transformers, config_name)(**{**sizes, **settings})
    model = getattr(transformers, head_name if head else model_name)(config)
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
    """Name the two dropout rates as the family does."""
    if family == "distilbert":
        return {"dropout": rate, "attention_dropout": rate}
    return {"hidden_dropout_prob": rate, "attention_probs_dropout_prob": rate}


def padded_batch(pad_id: int, lengths: tuple[int, ...] = (9, 4, 7)) -> tuple[Any, Tensor]:
    """Draw piece ids [batch, n], padded at the end, and their mask."""
    generator = torch.Generator().manual_seed(0)
    piece_ids = torch.randint(5, 50, (len(lengths), max(lengths)), generator=generator)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return piece_ids.masked_fill(~mask, pad_id), mask
