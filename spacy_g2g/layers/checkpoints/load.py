"""Checkpoints of BERT and its relatives: find them, read them, and rename their weights."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import Errors
from ..encoder import GraphEncoder
from ..encoder_config import EncoderConfig
from ..meta import on_meta
from . import sentencepiece
from .families import FAMILIES
from .family import Family

CONFIG_FILE = "config.json"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_SETTINGS_FILE = "tokenizer_config.json"
#: Files of pieces that replace tokenizer.json. The ids of the second differ from its encoder's.
PIECES_FILES = ("spm.model", "sentencepiece.bpe.model", "vocab.txt")
WEIGHTS_FILE = "model.safetensors"
#: Index of the tensors of a large checkpoint, and the files that it names.
INDEX_FILE, PARTS = "model.safetensors.index.json", "model-*.safetensors"
OLD_WEIGHTS_FILE = "pytorch_model.bin"


@dataclass(frozen=True)
class Checkpoint:
    """A pre-trained encoder.

    weights: All weights of a ``GraphEncoder`` with this config, by our names, in 32-bit floats.
    tokenizer: Text of tokenizer.json, or the text made from another file of pieces.
    task_weights: Weights of a parser beside its encoder, by their names in the parser.
    labels: Labels of that parser.
    tags: Tags of that parser; None if it does not read tags.
    learned: Other facts that the parser collected from its training sentences.
    """

    config: EncoderConfig
    weights: dict[str, Tensor]
    tokenizer: str
    task_weights: dict[str, Tensor] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)


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
    """Read a checkpoint's config.json, tokenizer.json (or another file of pieces) and weights.

    folder: The checkpoint's folder.
    n_layers: Number of layers to keep, counted from the first; None keeps all.
    Raises FileNotFoundError for a missing file, and ValueError for a damaged file, an unknown type of model,
        a setting or tensor that does not fit, or more layers than the checkpoint has.
    """
    path = folder / CONFIG_FILE
    settings = {key: value for key, value in _read_json(path).items() if value is not None}
    model_type = str(settings.get("model_type"))
    if model_type not in FAMILIES:
        raise ValueError(Errors.E209.format(path=path, found=model_type, known=", ".join(sorted(FAMILIES))))
    family = FAMILIES[model_type]
    weights_path, theirs = _read_weights(folder)
    try:
        config = family.read(settings)
        with on_meta(len(theirs)):
            encoder = GraphEncoder(config)
    except KeyError as error:
        raise ValueError(Errors.E210.format(path=path, key=error.args[0], model_type=model_type)) from error
    except Exception as error:  # wrong settings may lead to any error
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error
    if n_layers is not None:
        if not 1 <= n_layers <= config.n_layers:
            raise ValueError(Errors.E214.format(n_layers=n_layers, available=config.n_layers))
        config = replace(config, n_layers=n_layers)
        encoder.layers = encoder.layers[:n_layers]
    tokenizer = _read_tokenizer(folder, family)
    return Checkpoint(config, _rename_weights(weights_path, theirs, family, encoder), tokenizer)


def load_weights(encoder: GraphEncoder, weights: dict[str, Tensor]) -> None:
    """Copy a checkpoint's weights into an encoder, which may have added pieces and relations.

    Relation tables, and added pieces that the weights lack, keep their values.

    Raises RuntimeError for weights that are missing, unknown or of another shape.
    """
    own = encoder.state_dict()
    relations = {name: weight for name, weight in own.items() if ".relation_" in name}
    name = "embeddings.pieces.weight"
    added = own[name][len(weights[name]) :].to(weights[name].device)
    pieces = torch.cat([weights[name], added])
    encoder.load_state_dict({**relations, **weights, name: pieces})


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        expected = f"the files {CONFIG_FILE}, {TOKENIZER_FILE} and {WEIGHTS_FILE} or {OLD_WEIGHTS_FILE}"
        raise FileNotFoundError(Errors.E207.format(folder=path.parent, file=path.name, expected=expected))
    try:
        return dict(json.loads(path.read_text(encoding="utf8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error


def _read_tokenizer(folder: Path, family: Family) -> str:
    """Return the text of tokenizer.json. If the file is missing, make it from another file of pieces."""
    others = [folder / name for name in PIECES_FILES if (folder / name).is_file()]
    if family.read_vocabulary is None:
        others = [path for path in others if path.name != "vocab.txt"]
    path, settings_path = folder / TOKENIZER_FILE, folder / TOKENIZER_SETTINGS_FILE
    if path.is_file() or not others:
        _read_json(path)
        return path.read_text(encoding="utf8")
    path, settings = others[0], _read_json(settings_path) if settings_path.is_file() else {}
    try:
        if path.name == "vocab.txt" and family.read_vocabulary is not None:
            return family.read_vocabulary(path.read_text(encoding="utf8"), settings)
        first = family.first_pieces if path.name == PIECES_FILES[1] else ()
        return sentencepiece.to_tokenizer(path.read_bytes(), settings, first, family.n_dropped)
    except Exception as error:  # damaged files may lead to any error; tokenizers raises bare Exception
        raise ValueError(Errors.E208.format(path=path, cause=error)) from error


def _rename_weights(
    path: Path, theirs: dict[str, Tensor], family: Family, encoder: GraphEncoder
) -> dict[str, Tensor]:
    """Return the weights of an encoder by our names, and check their shapes."""
    prefix = family.prefix if any(name.startswith(family.prefix) for name in theirs) else ""
    weights = {}
    for name, target in encoder.state_dict().items():
        names = [prefix + part for part in _their_names(name, family)]
        weight = torch.cat([_find_tensor(path, theirs, part) for part in names])
        if weight.shape != target.shape:
            shapes = {"found": list(weight.shape), "expected": list(target.shape)}
            raise ValueError(Errors.E213.format(path=path, name=" + ".join(names), **shapes))
        weights[name] = weight.to(torch.float32)
    return weights


def _their_names(name: str, family: Family) -> list[str]:
    """Return the checkpoint's names of the tensors that make up one of ours, without prefix."""
    module, parameter = name.rsplit(".", 1)
    number = re.search(r"\d+", module)
    theirs = family.modules[re.sub(r"\d+", "{}", module)]
    return [f"{part.format(number and number.group())}.{parameter}" for part in theirs]


def _find_tensor(path: Path, theirs: dict[str, Tensor], name: str) -> Tensor:
    """Look up a tensor by its name or its old name: weight and bias of LayerNorm were gamma and beta."""
    old = re.sub("weight$", "gamma", re.sub("bias$", "beta", name))
    for candidate in (name, old):
        if candidate in theirs:
            return theirs[candidate]
    raise ValueError(Errors.E212.format(path=path, name=name))


def _read_weights(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """Return the path of the weights' file or index, and the tensors by name."""
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

    return load_file(path)


def _read_parts(index: Path) -> dict[str, Tensor]:
    """Read the files that an index names. They are in the folder of the index."""
    weights: dict[str, Tensor] = {}
    for name in sorted(set(json.loads(index.read_text(encoding="utf8"))["weight_map"].values())):
        weights |= _read_safetensors(index.parent / Path(name).name)
    return weights


def _read_pickled(path: Path) -> dict[str, Tensor]:
    weights = torch.load(path, map_location="cpu", weights_only=True)
    return {name: weight for name, weight in weights.items() if isinstance(weight, Tensor)}
