"""Configs of rows: a shipped config with the settings of the row and of the options, and with paths."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from thinc.api import Config

from project.training_config import BEST, CONFIGS, has_setting, load_config, overrides, refiner_config
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import read_conllu, write_conllu
from spacy_g2g.layers.checkpoints.load import load_checkpoint, resolve_checkpoint

from .rows import PARSER, REFINER, Row

SCRATCH = "syntr_scratch.cfg"
SOURCES = {
    "checkpoint": {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": "${paths.encoder}"},
    "parser": {"@callbacks": "spacy_g2g.EncoderFromPipeline.v1", "path": "${paths.parser}"},
    "pipeline": {
        "@callbacks": "spacy_g2g.EncoderFromPipeline.v1",
        "path": "${paths.encoder}",
        "scorers": False,
    },
}


def make_config(row: Row, seed: int, args: argparse.Namespace) -> Config:
    """Return the row's config with all settings.

    row: Row to train.
    seed: Seed of the training.
    args: Options of the command. Its settings win over those of the row.
    """
    config = load_config(CONFIGS / row.config)
    for name in row.without:
        config["nlp"]["pipeline"].remove(name)
        del config["components"][name]
        config["training"]["annotating_components"] = []
    parser = args.output / str(seed) / row.base / BEST if row.base else None
    if row.shares is not None:
        config = refiner_config(config, spacy.load(parser), "", shares=row.shares)
    sources = config["initialize"]["components"]
    if row.encoder in SOURCES:
        sources[REFINER]["encoder"] = SOURCES[row.encoder]
    from_scratch = args.start == "scratch" and PARSER in sources
    if from_scratch:
        start_from_scratch(config)
    elif args.start == "pipeline" and PARSER in sources:
        sources[PARSER]["encoder"] = SOURCES["pipeline"]
    elif args.layers is not None and PARSER in sources:
        sources[PARSER]["encoder"]["n_layers"] = args.layers or None
    paths = {
        "train": train_file(args),
        "dev": check_file(args),
        "encoder": None if from_scratch else args.encoder,
        "parser": parser,
    }
    if row.encoder == "other":
        paths["start"] = args.output / str(next_seed(seed, args.seeds)) / row.base / BEST
    config["paths"] |= {name: path and str(path) for name, path in paths.items()}
    steps = getattr(args, row.steps)
    settings = overrides("", lang=args.lang, steps=steps) | {"system.seed": seed} | row.settings
    if frequency := args.eval_frequency or steps // 10 or steps:
        settings["training.eval_frequency"] = frequency
    general = ({} if from_scratch else rate_factors(row, args)) | args.set
    settings |= {name: value for name, value in general.items() if has_setting(config, name)}
    return Config().from_str(config.to_str(), overrides=settings, interpolate=False)


def next_seed(seed: int, seeds: Sequence[int]) -> int:
    """Return the seed after another one; the first comes after the last."""
    return seeds[(seeds.index(seed) + 1) % len(seeds)]


def start_from_scratch(config: Config) -> None:
    """Give a config the encoder and the rates of the config that ships for training from scratch."""
    shipped = load_config(CONFIGS / SCRATCH)
    config["initialize"]["components"][PARSER] = shipped["initialize"]["components"][PARSER]
    config["training"]["dropout"] = shipped["training"]["dropout"]
    rates = shipped["training"]["optimizer"]["learn_rate"]
    rate = config["training"]["optimizer"]["learn_rate"]
    rate |= {name: rates[name] for name in ("initial_rate", "warmup_steps")}


def rate_factors(row: Row, args: argparse.Namespace) -> dict[str, Any]:
    """Return the encoders' rate factors by setting. A refiner whose encoder is a parser's has its own."""
    is_copy = row.base and row.encoder != "checkpoint"
    factors = {PARSER: args.encoder_rate_factor}
    factors[REFINER] = args.copy_rate_factor if is_copy else args.encoder_rate_factor
    return {
        f"components.{name}.model.encoder_rate_factor": factor
        for name, factor in factors.items()
        if factor is not None
    }


def train_file(args: argparse.Namespace) -> Path:
    """Return the path of the training sentences: TRAIN, or a part of it."""
    return Path(args.output / f"train.{args.sentences}.conllu" if args.sentences else args.train)


def check_file(args: argparse.Namespace) -> Path:
    """Return the path of the sentences that choose the best model in training: DEV, or a part of it."""
    return Path(args.output / f"dev.{args.check_sentences}.conllu" if args.check_sentences else args.dev)


def write_part(source: Path, *, target: Path, n: int) -> None:
    """Write n sentences of a treebank, spread evenly over it; the same in every run.

    Raises SystemExit if there are fewer.
    """
    sentences = list(read_conllu(source))
    if n > len(sentences):
        raise SystemExit(f"{source} has {len(sentences)} sentences: expected at least the {n} asked for")
    with atomic_path(target) as path:
        chosen = (sentences[i * len(sentences) // n] for i in range(n))
        path.write_text("".join(write_conllu(chosen)), encoding="utf8")


def check_checkpoint(rows: Sequence[Row], args: argparse.Namespace) -> None:
    """Read the checkpoint with the most layers that a row takes.

    Raises SystemExit if the checkpoint cannot be read or has fewer layers.
    """
    wanted = [0 if args.layers is None else args.layers]
    for row in rows if args.layers is None else ():
        sources = load_config(CONFIGS / row.config)["initialize"]["components"]
        wanted += [source["encoder"].get("n_layers") or 0 for source in sources.values()]
    try:
        load_checkpoint(resolve_checkpoint(args.encoder, None), max(wanted) or None)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from error
