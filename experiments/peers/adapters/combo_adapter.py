"""Adapter of COMBO 4. Its licence is the GPL: its commands are run, and nothing of it is imported."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from adapter import (
    Job,
    LoadedParser,
    Sentence,
    Tree,
    Words,
    main,
    read_sentences,
    sentences_of,
    write_sentences,
)

#: Names that its files of training and its model's folder get.
LANGUAGE, TREEBANK, NAME = "English", "Peers", "parser"
#: Sentences that are parsed at once.
BATCH = 32
#: Sizes of its lemmatizer, which cannot be left out, as small as they can be.
NO_LEMMAS = {"char_embed_dim": 1, "lemma_cnn_filters": [1, 1, 1], "lemma_gru_hidden_dim": 1}


def train(job: Job) -> dict[str, Any]:
    """Train by `combo-nlp-train`; it keeps the epoch with the best LAS on gold words."""
    model = Path(job["model"])
    corpus = model / "data" / f"UD_{LANGUAGE}-{TREEBANK}"
    corpus.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev"):
        write_sentences(corpus / f"peers-{part}.conllu", read_sentences(job[part]))
    settings = dict(job["settings"])
    batch_size = sentences_of(settings.pop("words"), job["train"])
    config = {
        "data": {
            "ud_path": str(model / "data"),
            "language": LANGUAGE,
            "treebanks": [TREEBANK],
            "train_batch_size": batch_size,
            "num_workers": 0,
        },
        "model": {
            "base_model": job["encoder"],
            # Tags and lemmas are neither given nor learned.
            "morpho_weight": 0.0,
            "lemma_weight": 0.0,
            **NO_LEMMAS,
        },
        "training": {
            "epochs": job["epochs"],
            "metric_for_best": "LAS",
            "save_every_epoch": False,
            "eval_on_train": False,
            "fulltext_eval": False,
            **settings,
        },
        "wandb": {"enabled": False},
        "naming": {"base_model_short": "encoder", "ud_version": "0", "model_name": NAME},
        "output_dir": str(model),
        "seed": job["seed"],
        "device": "cpu" if job["gpu"] < 0 else f"cuda:{job['gpu']}",
    }
    (model / "config.json").write_text(json.dumps(config), encoding="utf8")
    # A second file, whose settings would win, is asked for.
    (model / "task.yaml").write_text("{}", encoding="utf8")
    run("train", job)
    checkpoint(job, "latest").unlink(missing_ok=True)
    n = sum(1 for _ in read_sentences(job["train"]))
    return {"steps": -(-n // batch_size) * job["epochs"]}


def run(command: str, job: Job, *arguments: str) -> None:
    """Run one of its commands, which lie beside Python."""
    model, program = Path(job["model"]), Path(sys.executable).parent / f"combo-nlp-{command}"
    files = ["--config", str(model / "config.json"), "--task-config", str(model / "task.yaml")]
    subprocess.run([str(program), *files, *arguments], check=True)


def checkpoint(job: Job, name: str) -> Path:
    return Path(job["model"], NAME, "checkpoints", f"checkpoint_{name}.pt")


def load(job: Job) -> LoadedParser:
    given, parsed = (Path(job["model"], f"{name}.conllu") for name in ("given", "parsed"))
    files = ("--checkpoint", str(checkpoint(job, "best")), "--input", str(given), "--output", str(parsed))

    def parse(sentences: list[Words]) -> None:
        write_sentences(given, (Sentence(words, [(0, "_")] * len(words)) for words in sentences))
        run("predict", job, *files, "--batch-size", str(BATCH))

    def trees(_: None) -> list[Tree]:
        return [sentence.tree for sentence in read_sentences(parsed)]

    return LoadedParser(parse, trees, count_parameters(job), is_program=True)


def count_parameters(job: Job) -> int:
    """Return the number of parameters, which its training prints."""
    log = Path(job["model"]).with_name("train.log").read_text(encoding="utf8")
    found = re.search(r"Total params: ([\d,]+)", log)
    return int(found[1].replace(",", "")) if found else 0


if __name__ == "__main__":
    main(train, load, ("combo-nlp", "transformers", "torch"))
