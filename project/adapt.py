"""Continue training a pipeline on your own sentences, by configs/adapt.cfg.

    python -m project.adapt BASE FOLDER OUTPUT [--replay PATH] [--SECTION.SETTING VALUE]

FOLDER has train.conllu and dev.conllu, as project/treebank.py makes them. OUTPUT appears when training is
done, and its facts.json says what was trained. Training with the same data and settings is not repeated.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import spacy
from click import NoSuchOption
from spacy.cli._util import parse_config_overrides
from spacy.util import load_config

from spacy_g2g.terminal.common import user_errors

from .train import calibrate, count_corpus, device, train_into, write_facts
from .training_config import BEST, CONFIGS, step_settings
from .treebank_settings import UNSET, pipeline_name
from .up_to_date import is_up_to_date, one_at_a_time, read_facts, record_sources, sources_of

CONFIG = CONFIGS / "adapt.cfg"


def adapt(args: argparse.Namespace, settings: dict[str, Any]) -> None:
    """Continue training a pipeline, unless the output is up to date.

    args: Arguments of the command.
    settings: Settings that replace the config's.
    """
    train, dev = (args.folder / f"{split}.conllu" for split in ("train", "dev"))
    replay = "" if args.replay in UNSET else args.replay
    settings |= {"paths.base": args.base, "paths.train": str(train), "paths.dev": str(dev)}
    settings |= {"paths.replay": replay or None} | step_settings(load_config(CONFIG), args.steps)
    inputs = {"train": train, "dev": dev, "config": CONFIG}
    paths = {"base": args.base, "replay": replay}  # a base may be the name of a package
    inputs |= {name: Path(path) for name, path in paths.items() if path and Path(path).exists()}
    sources = sources_of(inputs, **settings)
    trained = args.output / BEST
    if is_up_to_date(trained, sources):
        return
    config = load_config(CONFIG, overrides=settings)
    with train_into(args.output, config, args.gpu) as folder:
        calibrate(folder / BEST, config)
        counts = count_corpus(train, config, "xx")
        max_steps = load_config(folder / BEST / "config.cfg")["training"]["max_steps"]
        facts = {
            "base": pipeline_name(args.base),
            "base_license": spacy.load(args.base).meta["license"] or "unknown",
            "encoder": read_facts(Path(args.base).parent).get("encoder", "that of the base"),
            "config": CONFIG.name,
            "max_steps": max_steps,
            "epochs": round(max_steps / counts["batches"], 2),
            **counts,
        }
        write_facts(folder, {**facts, "device": device(args.gpu)})
    record_sources(trained, sources)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("base", help="folder or name of the trained pipeline")
    cli.add_argument("folder", type=Path, help="folder with train.conllu and dev.conllu")
    cli.add_argument("output", type=Path, help="folder for model-best, model-last and facts.json")
    cli.add_argument("--replay", default="", help="sentences that the base learned from, to mix in")
    cli.add_argument("--steps", type=int, default=0, help="steps; 0 chooses by the number of sentences")
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    args, others = cli.parse_known_args()
    try:
        settings = parse_config_overrides(others)
    except NoSuchOption as error:
        cli.error(error.message)
    with user_errors(), one_at_a_time(args.output):
        adapt(args, settings)


if __name__ == "__main__":
    main()
