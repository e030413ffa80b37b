"""Language code and encoder of a treebank, as `assets/treebanks.json` has them.

    python -m project.treebank_settings

prints the treebanks of the papers, a line each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wasabi import msg

TABLE = Path(__file__).parent.parent / "assets" / "treebanks.json"
#: What `spacy project run` gives for an empty variable.
UNSET = ("", "null", "None")
#: Encoders that a treebank's row names.
CHOICES = ("papers", "modern")
SOURCE = "source.json"
#: The kind of data, in its source.json, and of a pipeline.
AMR = "amr"
#: The language that needs no tokenizer of its own.
NEUTRAL = "xx"


def read_table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf8"))
    return table


def papers_treebanks() -> list[str]:
    """Repositories of the UD treebanks of the papers."""
    return [name for name, row in read_table()["treebanks"].items() if not row.get("by_path")]


def read_source(data: Path | None) -> dict[str, Any]:
    """What project/treebank.py or amr_data.py wrote of its data; empty where it wrote nothing."""
    if data is None or not (data / SOURCE).exists():
        return {}
    source: dict[str, Any] = json.loads((data / SOURCE).read_text(encoding="utf8"))
    return source


def choose_language(lang: str, source: dict[str, Any]) -> str:
    """This language code, or the treebank's: of the table, else of its file names, where spaCy can use it.

    source: As of ``read_source``.
    """
    if lang not in UNSET:
        return lang
    import spacy  # here, since it takes seconds

    row = read_table()["treebanks"].get(source.get("treebank"), {})
    code = row.get("lang") or source.get("code") or NEUTRAL
    try:
        spacy.blank(code)
    except ImportError as error:
        reason = str(error).splitlines()[0]
        msg.warn(f"The pipeline's language is {NEUTRAL} in place of {code}: {reason}")
        return NEUTRAL
    return str(code)


def choose_encoder(encoder: str, source: dict[str, Any]) -> str:
    """This encoder, or for "papers" and "modern" the treebank's of that name; "" for none."""
    if encoder in UNSET:
        return ""
    if encoder not in CHOICES:
        return encoder
    table = read_table()
    others = table[AMR if source.get("kind") == AMR else "others"]
    row = table["treebanks"].get(source.get("treebank"), others)
    return str(row[encoder])


def encoder_name(encoder: str) -> str:
    """A hub name as it is, and of a folder the last part of its path."""
    return Path(encoder).name if encoder and Path(encoder).is_dir() else encoder


def pipeline_name(path: str) -> str:
    """The name of a pipeline, or of a folder the last part of its path, the training's for model-best."""
    parts = Path(path).parts
    return parts[-2 if len(parts) > 1 and parts[-1] in ("model-best", "model-last") else -1] if parts else ""


def encoder_license(encoder: str) -> str:
    """The licence of a checkpoint, where it is known; else "unknown"."""
    return str(read_table()["encoder_licenses"].get(encoder, "unknown"))


if __name__ == "__main__":
    print("\n".join(papers_treebanks()))
