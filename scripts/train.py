"""`spacy train` for any treebank: `python scripts/train.py TRAIN DEV OUTPUT [--encoder NAME] ...`.

Without an encoder it trains one from scratch; with `--parser`, a refiner on top of a trained pipeline.
It exists because project.yml has variables but no conditions.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.util import load_config
from thinc.api import Config

from spacy_g2g.pipeline.g2g_parser import G2GParser

CONFIGS = Path(__file__).parent.parent / "configs"
UNSET = ("", "null", "None")


def choose_config(config: str, encoder: str, parser: str = "") -> Path:
    """The config of this path, or the one for a refiner, for a pre-trained encoder, or for none."""
    if config not in UNSET:
        return Path(config)
    if parser not in UNSET:
        return CONFIGS / "rngtr.cfg"
    return CONFIGS / ("syntr_scratch.cfg" if encoder in UNSET else "syntr_pretrained.cfg")


def overrides(encoder: str, lang: str, steps: int) -> dict[str, Any]:
    """Settings in place of the config's; steps: of the optimizer, 0 for as many as the config says."""
    settings: dict[str, Any] = {"nlp.lang": lang}
    if encoder not in UNSET:
        settings["paths.encoder"] = encoder
    if steps:
        settings["training.max_epochs"] = 0
        settings["training.max_steps"] = steps
        settings["training.optimizer.learn_rate.total_steps"] = steps
    return settings


def refiner_config(config: Config, nlp: Language, encoder: str) -> Config:
    """The config of a refiner behind all components of a trained pipeline, which stay as they are.

    The refiner starts from the parser if it is one of ours, else from the encoder, or from scratch.
    """
    parsers = [name for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser | DependencyParser)]
    if not parsers:
        raise SystemExit(f"The pipeline has the components {nlp.pipe_names}: expected a parser among them.")
    names, parser = nlp.pipe_names, parsers[-1]
    config["nlp"] |= {"lang": nlp.lang, "pipeline": [*names, "rng_refiner"]}
    refiner = config["components"]["rng_refiner"]
    config["components"] = {name: {"source": "${paths.parser}"} for name in names} | {"rng_refiner": refiner}
    config["training"] |= {"frozen_components": names, "annotating_components": names}
    config["training"]["before_update"]["components"] = [parser]
    source: dict[str, Any] = {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}
    if isinstance(nlp.get_pipe(parser), G2GParser):
        source = config["initialize"]["components"]["rng_refiner"]["encoder"] | {"component": parser}
    elif encoder not in UNSET:
        source = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": encoder}
    config["initialize"]["components"]["rng_refiner"]["encoder"] = source
    return config


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("train", help="training corpus, .spacy")
    cli.add_argument("dev", help="development corpus, .spacy")
    cli.add_argument("output", type=Path, help="folder for model-best and model-last")
    cli.add_argument("--config", default="", help="path of a config; chosen by the encoder if empty")
    cli.add_argument("--encoder", default="", help="hub name or folder of a checkpoint; empty for none")
    cli.add_argument(
        "--parser", nargs="+", default=(), help="trained pipeline to refine the trees of; the first not empty"
    )
    cli.add_argument("--train-parsed", default="", help="TRAIN as scripts/jackknife.py parsed it")
    cli.add_argument("--lang", default="xx", help="language code of the pipeline")
    cli.add_argument("--steps", type=int, default=0, help="steps of the optimizer; 0 for the config's")
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    args = cli.parse_args()
    parser = next((path for path in args.parser if path not in UNSET), "")
    settings = overrides("" if parser else args.encoder, args.lang, args.steps)
    settings |= {"paths.train": args.train, "paths.dev": args.dev}
    if parser:
        del settings["nlp.lang"]  # is the pipeline's
        settings["paths.parser"] = parser
    if args.train_parsed not in UNSET:
        settings["paths.train_parsed"] = args.train_parsed
    path = choose_config(args.config, args.encoder, parser)
    if parser:
        config = refiner_config(load_config(path), spacy.load(parser), args.encoder)
        args.output.mkdir(parents=True, exist_ok=True)
        path = args.output / "train.cfg"
        config.to_disk(path)
    train(path, args.output, use_gpu=args.gpu, overrides=settings)


if __name__ == "__main__":
    main()
