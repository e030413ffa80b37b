"""Adapter of hopsparser, with its lexer of transformers alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapter import (
    Job,
    LoadedParser,
    Tree,
    Words,
    main,
    read_sentences,
    sentences_of,
    use_threads,
    write_sentences,
)
from hopsparser import parser as hopsparser

#: Name of the parser's folder.
PARSER = "parser"
#: Part of speech of all words. The parser always has a tagger, which needs a tag to learn.
TAG = "X"
WARMUP = 0.1


def train(job: Job) -> dict[str, Any]:
    """Train as `hopsparser train` does; it keeps the epoch with the most right heads, before decoding."""
    use_threads(job["threads"])
    model = Path(job["model"])
    model.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev"):
        write_sentences(model / f"{part}.conllu", read_sentences(job[part]), tag=TAG)
    settings = dict(job["settings"])
    batch_size = sentences_of(settings.pop("words"), job["train"])
    steps = -(-sum(1 for _ in read_sentences(job["train"])) // batch_size) * job["epochs"]
    if settings["lr"]["shape"] == "linear":
        settings["lr"] = {**settings["lr"], "warmup_steps": max(1, round(WARMUP * steps))}
    lexer = {"name": "encoder", "type": "bert", "model": job["encoder"], "layers": "*"}
    config = {
        "mlp_tag_hidden": 16,
        "mlp_arc_hidden": 512,
        "mlp_lab_hidden": 128,
        "encoder_dropout": 0.5,
        "mlp_dropout": 0.5,
        "lexers": [{**lexer, "subwords_reduction": "mean"}],
        "batch_size": batch_size,
        "epochs": job["epochs"],
        **settings,
    }
    # JSON is YAML, too.
    (model / "config.yaml").write_text(json.dumps(config), encoding="utf8")
    hopsparser.train(
        config_file=model / "config.yaml",
        model_path=model / PARSER,
        train_file=model / "train.conllu",
        dev_file=model / "dev.conllu",
        device=device(job),
        rand_seed=job["seed"],
    )
    return {"steps": steps}


def device(job: Job) -> str:
    return "cpu" if job["gpu"] < 0 else f"cuda:{job['gpu']}"


def tree_of(nodes: Any) -> Tree:
    return [(node.head, node.deprel) for node in nodes]


def load(job: Job) -> LoadedParser:
    use_threads(job["threads"])
    parser = hopsparser.BiAffineParser.load(Path(job["model"], PARSER)).to(device(job))

    def parse(sentences: list[Words]) -> Any:
        return list(parser.parse(sentences, raw=True))

    def trees(graphs: Any) -> list[Tree]:
        return [tree_of(graph.nodes) for graph in graphs]

    return LoadedParser(parse, trees, sum(p.numel() for p in parser.parameters()))


if __name__ == "__main__":
    main(train, load, ("hopsparser", "transformers", "torch"))
