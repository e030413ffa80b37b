"""Adapter of SuPar's biaffine dependency parser with a fine-tuned encoder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import supar.parsers.parser  # noqa: F401
import torch
from adapter import Job, LoadedParser, Tree, Words, main, read_sentences, use_threads, write_sentences
from supar import BiaffineDependencyParser

# Its files hold objects beside weights, which torch.load refuses by default since 2.6.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"


def train(job: Job) -> dict[str, Any]:
    """Train with the settings of `supar biaffine-dep train --encoder bert`; it keeps the best epoch."""
    use_threads(job["threads"])
    torch.manual_seed(job["seed"])
    model = Path(job["model"])
    model.mkdir(parents=True, exist_ok=True)
    # A test set is asked for, and parsed each epoch.
    test = model / "test.conllu"
    write_sentences(test, [next(read_sentences(job["dev"]))])
    arguments = {
        "path": str(model / "parser"),
        "train": job["train"],
        "dev": job["dev"],
        "test": str(test),
        "encoder": "bert",
        "bert": job["encoder"],
        "feat": None,
        "embed": None,
        "build": True,
        "checkpoint": False,
        "epochs": job["epochs"],
        "punct": True,
        "tree": True,
        **job["settings"],
    }
    parser = BiaffineDependencyParser.build(**arguments)
    parser.train(**arguments)
    return {"steps": parser.scheduler.last_epoch}


def load(job: Job) -> LoadedParser:
    use_threads(job["threads"])
    parser = BiaffineDependencyParser.load(str(Path(job["model"], "parser")))

    def parse(sentences: list[Words]) -> Any:
        return parser.predict(sentences, tree=True, verbose=False)

    def trees(dataset: Any) -> list[Tree]:
        pairs = zip(dataset.arcs, dataset.rels, strict=True)
        return [list(zip(arcs, rels, strict=True)) for arcs, rels in pairs]

    return LoadedParser(parse, trees, sum(p.numel() for p in parser.model.parameters()))


if __name__ == "__main__":
    main(train, load, ("supar", "transformers", "torch"))
