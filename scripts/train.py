"""`spacy train` for any treebank: `python scripts/train.py TRAIN DEV OUTPUT [--encoder NAME] ...`.

Without an encoder it trains one from scratch; with `--parser`, a refiner on top of a trained pipeline.
It exists because project.yml has variables but no conditions.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from spacy.cli.train import train

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
    settings = overrides(args.encoder, args.lang, args.steps)
    settings |= {"paths.train": args.train, "paths.dev": args.dev}
    parser = next((path for path in args.parser if path not in UNSET), "")
    if parser:
        settings["paths.parser"] = parser
    if args.train_parsed not in UNSET:
        settings |= {"paths.train_parsed": args.train_parsed}
        # These trees are as wrong as those that will be refined.
        settings |= {f"components.rng_refiner.{name}_corruption": 0.0 for name in ("head", "label")}
    config = choose_config(args.config, args.encoder, parser)
    train(config, args.output, use_gpu=args.gpu, overrides=settings)


if __name__ == "__main__":
    main()
