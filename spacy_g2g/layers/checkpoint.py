"""Checkpoints of BERT and its relatives: find them, read them, and rename their weights."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import Errors
from . import sentencepiece, wordpiece
from .config_check import UnfitSettingError, checked_config
from .encoder import GraphEncoder
from .encoder_config import EncoderConfig
from .families import FAMILIES, Family
from .feedforward import ACTIVATION_NAMES
from .meta import on_meta
from .sentencepiece import FAIRSEQ

CONFIG_FILE = "config.json"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_SETTINGS_FILE = "tokenizer_config.json"
#: Files of pieces that take the place of tokenizer.json. The second has other ids than its encoder.
PIECES_FILES = ("spm.model", "sentencepiece.bpe.model", "vocab.txt")
#: Types of models whose vocab.txt has word pieces.
WITH_WORD_PIECES = ("bert", "electra", "distilbert")
WEIGHTS_FILE = "model.safetensors"
#: Says which file has each tensor of a large checkpoint; files of the hub that it names.
INDEX_FILE, PARTS = "model.safetensors.index.json", "model-*.safetensors"
OLD_WEIGHTS_FILE = "pytorch_model.bin"


@dataclass(frozen=True)
class Checkpoint:
    """A pre-trained encoder.

    weights: All weights of a ``GraphEncoder`` with this config, by our names, in 32-bit floats.
    tokenizer: Text of tokenizer.json, or of what it would be.
    scorers: Weights of a parser's scorers and tags, by their names in the parser.
    labels: Labels of that parser.
    tags: Tags of that parser; None if it reads no tags.
    facts: Facts that that parser learned from its training sentences, besides tags and pieces.
    """

    config: EncoderConfig
    weights: dict[str, Tensor]
    tokenizer: str
    scorers: dict[str, Tensor] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def resolve_checkpoint(name: str, revision: str | None = None) -> Path:
    """Return the local folder of a checkpoint.

    name: A folder, or the name of a model on the Hugging Face hub. Files that the hub's cache lacks are
        downloaded.
    revision: Branch, tag or commit on the hub.
    Raises FileNotFoundError if there is neither a folder nor a model of that name.
    """
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download

    files = [CONFIG_FILE, TOKENIZER_FILE, TOKENIZER_SETTINGS_FILE, *PIECES_FILES]
    try:
        patterns = [*files, WEIGHTS_FILE, INDEX_FILE, PARTS]
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
        if not any((folder / file).exists() for file in (WEIGHTS_FILE, INDEX_FILE)):
            files.append(OLD_WEIGHTS_FILE)
            folder = Path(snapshot_download(name, revision=revision, allow_patterns=files))
    except (OSError, ValueError) as error:
        raise FileNotFoundError(Errors.E206.format(name=name, cause=error)) from error
    return folder


def load_checkpoint(folder: Path, n_layers: int | None = None) -> Checkpoint:
    """Read a checkpoint's config.json, tokenizer.json (or model of SentencePiece) and weights.

    folder: The checkpoint's folder.
    n_layers: Number of layers to keep, counted from the first; None keeps all.
    Raises FileNotFoundError for a missing file, and ValueError for a damaged file, an unknown type of model,
        a setting or tensor that does not fit, or more layers than the checkpoint has.
    """
    settings = _read_settings(folder / CONFIG_FILE)
    family = FAMILIES[settings["model_type"]]
    config = _read_config(folder / CONFIG_FILE, settings, family, n_layers)
    tokenizer = _read_tokenizer(folder, settings["model_type"])
    weights = _rename_weights(folder, family, config, settings["model_type"])
    return Checkpoint(config, weights, tokenizer)


def load_weights(encoder: GraphEncoder, weights: dict[str, Tensor]) -> None:
    """Copy a checkpoint's weights into an encoder, which may have added pieces and relations.

    Relation tables, and added pieces that the weights lack, keep their values.

    Raises ValueError for weights that are missing, unknown or of another shape.
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
    except (ValueError, RecursionError) as error:
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error
    return text


def _read_tokenizer(folder: Path, model_type: str) -> str:
    """Return the text of tokenizer.json, or make it from another file of pieces if there is none."""
    others = [folder / name for name in PIECES_FILES if (folder / name).is_file()]
    if model_type not in WITH_WORD_PIECES:
        others = [path for path in others if path.name != "vocab.txt"]
    if (folder / TOKENIZER_FILE).is_file() or not others:
        return _read_text(folder / TOKENIZER_FILE)
    path, settings_path = others[0], folder / TOKENIZER_SETTINGS_FILE
    settings = json.loads(_read_text(settings_path)) if settings_path.is_file() else {}
    if not isinstance(settings, dict):
        raise ValueError(Errors.E208.format(path=settings_path, cause="no JSON object"))
    try:
        if path.name == "vocab.txt":
            return wordpiece.to_tokenizer(path.read_text(encoding="utf8"), settings)
        layout = model_type if model_type in FAIRSEQ else "xlm-roberta"
        return sentencepiece.to_tokenizer(
            path.read_bytes(), settings, layout if path.name == PIECES_FILES[1] else None
        )
    except ValueError as error:
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error


def _read_settings(path: Path) -> dict[str, Any]:
    """Read config.json, and check that we can load this type of model."""
    settings = json.loads(_read_text(path))
    if not isinstance(settings, dict):
        raise ValueError(Errors.E208.format(path=path, cause="no JSON object"))
    model_type = settings.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise ValueError(Errors.E209.format(path=path, found=model_type, known=", ".join(sorted(FAMILIES))))
    return settings


def _read_config(path: Path, settings: dict[str, Any], family: Family, n_layers: int | None) -> EncoderConfig:
    """Translate their configuration to ours, with the first n layers."""
    values = dict(family.defaults)
    for name, key in family.keys.items():
        if settings.get(key) is not None:
            values[name] = settings[key]
        elif name not in values:
            raise ValueError(Errors.E210.format(path=path, key=key, model_type=settings["model_type"]))
    activation = values["activation"]
    if not isinstance(activation, str) or activation not in ACTIVATION_NAMES:
        known = ", ".join(ACTIVATION_NAMES)
        raise ValueError(
            Errors.E211.format(
                path=path, key=family.keys["activation"], found=activation, expected=f"one of: {known}"
            )
        )
    values["activation"] = ACTIVATION_NAMES[activation]
    values |= _derived(path, settings, family)
    values.setdefault("embedding_width", values["width"])
    try:
        config = checked_config(values)
        if family.positions_after_pad:
            offset = config.pad_id + 1
            values |= {"position_offset": offset, "n_positions": config.n_positions - offset}
            config = checked_config(values)
    except ValueError as error:
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error
    if n_layers is None:
        return config
    if not 1 <= n_layers <= config.n_layers:
        raise ValueError(Errors.E214.format(n_layers=n_layers, available=config.n_layers))
    return replace(config, n_layers=n_layers)


def _derived(path: Path, settings: dict[str, Any], family: Family) -> dict[str, Any]:
    """Return the fields that are no plain copy of a key, and check the keys that may have one value alone."""
    try:
        for key, value in family.fixed.items():
            if settings.get(key) not in (None, value):
                raise UnfitSettingError(key, settings[key], repr(value))
        return {} if family.derive is None else family.derive(settings)
    except UnfitSettingError as error:
        raise ValueError(
            Errors.E211.format(path=path, key=error.key, found=error.found, expected=error.expected)
        ) from error


def _rename_weights(
    folder: Path, family: Family, config: EncoderConfig, model_type: str
) -> dict[str, Tensor]:
    """Read the weights of our encoder, rename them and check their shapes."""
    path, theirs = _read_weights(folder)
    prefix = family.prefix if any(name.startswith(family.prefix) for name in theirs) else ""
    try:
        with on_meta(len(theirs)):  # shapes only
            ours = GraphEncoder(config).state_dict()
    except (ValueError, RuntimeError) as error:
        raise ValueError(Errors.E208.format(path=folder / CONFIG_FILE, cause=error)) from error
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
    """Return their names of the tensors that make up one of ours, without prefix."""
    module, parameter = name.rsplit(".", 1)
    number = re.search(r"\d+", module)
    theirs = modules[re.sub(r"\d+", "{}", module)]
    return [f"{part.format(number and number.group())}.{parameter}" for part in theirs]


def _find(path: Path, theirs: dict[str, Tensor], name: str, model_type: str) -> Tensor:
    """Look up a tensor by its name or its old name: LayerNorm had gamma and beta."""
    old = re.sub("weight$", "gamma", re.sub("bias$", "beta", name))
    for candidate in (name, old):
        if candidate in theirs:
            return theirs[candidate]
    raise ValueError(Errors.E212.format(path=path, name=name, model_type=model_type))


def _read_weights(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """Read weights. Returns the path of their file, or of the index of their files, and tensors by name."""
    readers = {WEIGHTS_FILE: _read_safetensors, INDEX_FILE: _read_parts, OLD_WEIGHTS_FILE: _read_pickled}
    for name, read in readers.items():
        path = folder / name
        if path.is_file():
            try:
                return path, read(path)
            except Exception as error:  # PyTorch raises many kinds for a damaged file
                raise ValueError(Errors.E208.format(path=path, cause=error)) from error
    expected = f"it, {INDEX_FILE} or {OLD_WEIGHTS_FILE}"
    raise FileNotFoundError(Errors.E207.format(folder=folder, file=WEIGHTS_FILE, expected=expected))


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    weights: dict[str, Tensor] = load_file(path)
    return weights


def _read_parts(index: Path) -> dict[str, Tensor]:
    """Read the files that an index names, which are beside it."""
    weights: dict[str, Tensor] = {}
    for name in sorted(set(json.loads(index.read_text(encoding="utf8"))["weight_map"].values())):
        weights |= _read_safetensors(index.parent / Path(name).name)
    return weights


def _read_pickled(path: Path) -> dict[str, Tensor]:
    weights = torch.load(path, map_location="cpu", weights_only=True)
    return {name: weight for name, weight in weights.items() if isinstance(weight, Tensor)}
