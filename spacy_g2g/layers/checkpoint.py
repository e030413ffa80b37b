"""Checkpoints of BERT and its relatives: where they are, and their names for our weights.

Names of configuration keys and tensors are those that Hugging Face transformers 4 and 5 write to
``config.json`` and ``model.safetensors``.
"""

import json
import pickle
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import Errors
from .encoder import EncoderConfig, GraphEncoder

CONFIG_FILE = "config.json"
TOKENIZER_FILE = "tokenizer.json"
WEIGHTS_FILE = "model.safetensors"
OLD_WEIGHTS_FILE = "pytorch_model.bin"

# Our activations, by the names of config.json.
ACTIVATION_NAMES = {
    "gelu": "gelu",
    "gelu_new": "gelu_new",
    "gelu_pytorch_tanh": "gelu_new",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}

# Fields of EncoderConfig, by the keys of config.json.
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

# Our modules, by theirs; {} is the number of a layer. Several modules stand in one of ours, row after row.
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
    """A kind of checkpoint.

    prefix: of tensor names in models with a task's head; models without one have none.
    keys: fields of EncoderConfig, by the keys of config.json.
    modules: our modules, by theirs.
    defaults: fields that config.json may leave out, or has no key for.
    positions_after_pad: whether positions are counted from the pad id + 1.
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


@dataclass(frozen=True)
class Checkpoint:
    """A pre-trained encoder.

    weights: by our names; all that a ``GraphEncoder`` of this config has, in 32-bit floats.
    tokenizer: the text of tokenizer.json.
    scorers: of a parser, the weights of its scorers and tags too, by their names there.
    labels, tags: of that parser.
    """

    config: EncoderConfig
    weights: dict[str, Tensor]
    tokenizer: str
    scorers: dict[str, Tensor] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None


def resolve_checkpoint(name: str, revision: str | None = None) -> Path:
    """Give the local folder of a checkpoint.

    name: a folder, taken as it is, or the name of a model of the Hugging Face hub, of which the
        needed files are downloaded where the hub's cache lacks them.
    revision: branch, tag or commit on the hub.
    Raises FileNotFoundError where there is neither.
    """
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download

    files = [CONFIG_FILE, TOKENIZER_FILE]
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=[*files, WEIGHTS_FILE]))
        if not (folder / WEIGHTS_FILE).exists():
            files.append(OLD_WEIGHTS_FILE)
            folder = Path(snapshot_download(name, revision=revision, allow_patterns=files))
    except (OSError, ValueError) as error:
        raise FileNotFoundError(Errors.E206.format(name=name, cause=error)) from error
    return folder


def load_checkpoint(folder: Path, n_layers: int | None = None) -> Checkpoint:
    """Read a checkpoint's config.json, tokenizer.json and weights.

    n_layers: how many layers to keep, from the first one on; None for all.
    Raises FileNotFoundError for a missing file; ValueError for a damaged one, an unknown type of
    model, a setting or tensor that does not fit, and for more layers than there are.
    """
    settings = _read_settings(folder / CONFIG_FILE)
    family = FAMILIES[settings["model_type"]]
    config = _read_config(folder / CONFIG_FILE, settings, family, n_layers)
    tokenizer = _read_text(folder / TOKENIZER_FILE)
    weights = _rename_weights(folder, family, config, settings["model_type"])
    return Checkpoint(config, weights, tokenizer)


def load_weights(encoder: GraphEncoder, weights: dict[str, Tensor]) -> None:
    """Copy a checkpoint's weights into an encoder, which may have added pieces and relations.

    Added pieces that the weights lack, and relation tables, keep the values that they have. Raises ValueError
    for weights that are missing, unknown or of another shape.
    """
    own = encoder.state_dict()
    missing = [name for name in own if name not in weights and ".relation_" not in name]
    unknown = [name for name in weights if name not in own]
    if missing or unknown:
        raise ValueError(Errors.E216.format(missing=missing, unknown=unknown))
    for name, weight in weights.items():
        target = own[name]
        if name == "embeddings.pieces.weight" and len(weight) == encoder.config.vocab_size:
            target = target[: encoder.config.vocab_size]
        if target.shape != weight.shape:
            found, expected = list(weight.shape), list(target.shape)
            raise ValueError(Errors.E215.format(name=name, found=found, expected=expected))
        target.copy_(weight)


def _read_text(path: Path) -> str:
    if not path.is_file():
        expected = f"the files {CONFIG_FILE}, {TOKENIZER_FILE} and {WEIGHTS_FILE} or {OLD_WEIGHTS_FILE}"
        raise FileNotFoundError(Errors.E207.format(folder=path.parent, file=path.name, expected=expected))
    try:
        text = path.read_text(encoding="utf8")
        json.loads(text)
    except ValueError as error:
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error
    return text


def _read_settings(path: Path) -> dict[str, Any]:
    """Read config.json, and check what decides whether we can load the checkpoint at all."""
    settings = json.loads(_read_text(path))
    if not isinstance(settings, dict):
        raise ValueError(Errors.E208.format(path=path, cause="no JSON object"))
    model_type = settings.get("model_type")
    if model_type not in FAMILIES:
        raise ValueError(Errors.E209.format(path=path, found=model_type, known=", ".join(sorted(FAMILIES))))
    kind = settings.get("position_embedding_type", "absolute")
    if kind != "absolute":
        raise ValueError(
            Errors.E211.format(path=path, key="position_embedding_type", found=kind, expected="'absolute'")
        )
    return settings


def _read_config(path: Path, settings: dict[str, Any], family: Family, n_layers: int | None) -> EncoderConfig:
    """Give our configuration for theirs, with the first n layers."""
    values = dict(family.defaults)
    for name, key in family.keys.items():
        if settings.get(key) is not None:
            values[name] = settings[key]
        elif name not in values:
            raise ValueError(Errors.E210.format(path=path, key=key, model_type=settings["model_type"]))
    activation = values["activation"]
    if activation not in ACTIVATION_NAMES:
        known = ", ".join(ACTIVATION_NAMES)
        raise ValueError(
            Errors.E211.format(
                path=path, key=family.keys["activation"], found=activation, expected=f"one of: {known}"
            )
        )
    values["activation"] = ACTIVATION_NAMES[activation]
    values.setdefault("embedding_width", values["width"])
    if family.positions_after_pad:
        values["position_offset"] = values["pad_id"] + 1
        values["n_positions"] -= values["position_offset"]
    if n_layers is not None:
        if not 1 <= n_layers <= values["n_layers"]:
            raise ValueError(Errors.E214.format(n_layers=n_layers, available=values["n_layers"]))
        values["n_layers"] = n_layers
    return EncoderConfig(**values)


def _rename_weights(
    folder: Path, family: Family, config: EncoderConfig, model_type: str
) -> dict[str, Tensor]:
    """Read the weights that our encoder has, by our names, and check their shapes."""
    path, theirs = _read_weights(folder)
    prefix = family.prefix if any(name.startswith(family.prefix) for name in theirs) else ""
    with torch.device("meta"):  # shapes only
        ours = GraphEncoder(config).state_dict()
    weights = {}
    for name, target in ours.items():
        parts = [
            _find(path, theirs, prefix + part, model_type) for part in _their_names(name, family.modules)
        ]
        weight = torch.cat(parts) if len(parts) > 1 else parts[0]
        if weight.shape != target.shape:
            found, expected = list(weight.shape), list(target.shape)
            their_names = " + ".join(_their_names(name, family.modules))
            raise ValueError(
                Errors.E213.format(
                    path=path, name=their_names, found=found, expected=expected, config=CONFIG_FILE
                )
            )
        weights[name] = weight.to(torch.float32)
    return weights


def _their_names(name: str, modules: dict[str, list[str]]) -> list[str]:
    """Give the names of the tensors that make up one of ours, without prefix."""
    module, parameter = name.rsplit(".", 1)
    number = re.search(r"\d+", module)
    theirs = modules[re.sub(r"\d+", "{}", module)]
    return [f"{part.format(number and number.group())}.{parameter}" for part in theirs]


def _find(path: Path, theirs: dict[str, Tensor], name: str, model_type: str) -> Tensor:
    """Look up a tensor, by its old name too: LayerNorm had gamma and beta."""
    old = re.sub("weight$", "gamma", re.sub("bias$", "beta", name))
    for candidate in (name, old):
        if candidate in theirs:
            return theirs[candidate]
    raise ValueError(Errors.E212.format(path=path, name=name, model_type=model_type))


def _read_weights(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """Read the file of weights; give its path and all its tensors by their names."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path, old_path = folder / WEIGHTS_FILE, folder / OLD_WEIGHTS_FILE
    try:
        if path.is_file():
            return path, load_file(path)
        if old_path.is_file():
            return old_path, torch.load(old_path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, EOFError, RuntimeError) as error:
        raise ValueError(
            Errors.E208.format(path=path if path.is_file() else old_path, cause=error)
        ) from error
    raise FileNotFoundError(
        Errors.E207.format(folder=folder, file=WEIGHTS_FILE, expected=f"it, or {OLD_WEIGHTS_FILE}")
    )
