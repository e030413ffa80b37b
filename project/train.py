"""`spacy train` for any treebank: `python -m project.train TRAIN DEV OUTPUT [--encoder NAME] ...`.

Without an encoder it trains one from scratch; with `--parser`, a refiner on top of a trained pipeline. OUTPUT
is there when the training is done, with facts.json that says what was trained. What is trained already, with
the same corpora and settings, is left as it is. It exists because project.yml has variables but no
conditions.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.cli.train import train as spacy_train
from spacy.util import load_config, registry
from spacy.vocab import Vocab
from thinc.api import Config

import spacy_g2g
from spacy_g2g.data.corpus import corpus_files, read_docs

from .training_config import (
    CONFIGS,
    choose_config,
    choose_steps,
    overrides,
    pipeline_config,
    refiner_config,
    refiner_encoder,
    result,
    step_settings,
    used_encoder,
)
from .treebank_settings import UNSET, choose_encoder, choose_language, encoder_name, read_source
from .up_to_date import FACTS, is_done, made_from, mark_done

CONFIG, TRAINING = "train.cfg", "training.json"


def train_into(folder: Path, config: Config, gpu: int) -> None:
    """Train a model; FOLDER is there when it is trained to the end.

    training.json in it has the minutes from the start of `spacy train` to its end, evaluations included.
    """
    # spaCy writes its first model-best long before the end.
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    config.to_disk(unfinished / CONFIG, interpolate=False)
    start = time.perf_counter()
    spacy_train(unfinished / CONFIG, unfinished, use_gpu=gpu)
    minutes = (time.perf_counter() - start) / 60
    (unfinished / TRAINING).write_text(json.dumps({"minutes": minutes}) + "\n", encoding="utf8")
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def count_corpus(path: Path, config: Config) -> dict[str, int]:
    """Sentences and words of a corpus, and the config's batches of them, that is steps of an epoch."""
    docs = list(read_docs(corpus_files(path), Vocab()))
    batcher = registry.resolve({"batcher": config.interpolate()["training"]["batcher"]})["batcher"]
    return {
        "sentences": sum(sum(1 for _ in doc.sents) for doc in docs),
        "words": sum(map(len, docs)),
        "batches": sum(1 for _ in batcher(docs)),
    }


def versions() -> dict[str, str]:
    """Of what trained a pipeline; "commit" where the project is a checkout."""
    found = {
        "spacy-g2g": spacy_g2g.__version__,
        "spaCy": spacy.__version__,
        "PyTorch": torch.__version__,
        "Python": platform.python_version(),
    }
    project = CONFIGS.parent.resolve()
    command = ["git", "-C", str(project), "rev-parse", "--show-toplevel", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return found
    top, _, commit = done.stdout.strip().partition("\n")
    # Not of a repository that the project is only a folder of.
    is_checkout = done.returncode == 0 and Path(top).resolve() == project
    return {**found, "commit": commit[:12]} if is_checkout else found


def device(gpu: int) -> str:
    return torch.cuda.get_device_name(gpu) if gpu >= 0 and torch.cuda.is_available() else "CPU"


def write_facts(output: Path, facts: Mapping[str, Any]) -> None:
    minutes = json.loads((output / TRAINING).read_text(encoding="utf8"))["minutes"]
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    text = json.dumps({**facts, "minutes": round(minutes, 2), "date": date, "versions": versions()}, indent=2)
    (output / FACTS).write_text(text + "\n", encoding="utf8")


def arguments() -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", help="training corpus, .spacy")
    cli.add_argument("dev", help="development corpus, .spacy")
    cli.add_argument("output", type=Path, help="folder for model-best, model-last and facts.json")
    cli.add_argument("--data", type=Path, help="folder of the treebank, which says its name and language")
    cli.add_argument("--config", default="", help="path of a config; chosen by the encoder if empty")
    cli.add_argument(
        "--encoder",
        default="",
        help="hub name or folder of a checkpoint; papers or modern for the treebank's; empty for none",
    )
    cli.add_argument(
        "--parser", nargs="+", default=(), help="trained pipeline to refine the trees of; the first not empty"
    )
    cli.add_argument("--train-parsed", default="", help="TRAIN as project/jackknife.py parsed it")
    cli.add_argument("--lang", default="", help="language code of the pipeline; empty for the treebank's")
    cli.add_argument("--steps", type=int, default=0, help="steps of the optimizer; 0 for the config's")
    cli.add_argument(
        "--epochs", type=float, default=0, help="the steps of so many epochs; 0 for the config's"
    )
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    return cli.parse_args()


def main() -> None:
    args = arguments()
    source = read_source(args.data)
    lang, encoder = choose_language(args.lang, source), choose_encoder(args.encoder, source)
    parser = next((path for path in args.parser if path not in UNSET), "")
    path = choose_config(args.config, encoder, parser)
    config = load_config(path)
    counts = count_corpus(Path(args.train), config)
    steps = step_settings(config, choose_steps(args.steps, args.epochs, counts["batches"]))
    inputs = {"train": Path(args.train), "dev": Path(args.dev), "config": path}
    if parser:
        inputs["parser"] = Path(parser)
    else:
        encoder = used_encoder(config, encoder)
    if encoder and Path(encoder).is_dir():
        inputs["encoder"] = Path(encoder)
    if args.train_parsed not in UNSET:
        inputs["train_parsed"] = Path(args.train_parsed)
    made = made_from(
        {name: file for name, file in inputs.items() if file.exists()},
        parser=parser, encoder=encoder, lang=lang, steps=steps,
    )  # fmt: skip
    trained = args.output / result(config)
    if is_done(trained, made):
        return
    settings = overrides("" if parser else encoder, lang) | steps
    settings |= {"paths.train": args.train, "paths.dev": args.dev}
    if parser:
        del settings["nlp.lang"]  # is the pipeline's
        settings["paths.parser"] = parser
    if args.train_parsed not in UNSET:
        settings["paths.train_parsed"] = args.train_parsed
    config = pipeline_config(path, settings)
    if parser:
        nlp = spacy.load(parser)
        lang, config = nlp.lang, refiner_config(config, nlp, encoder)
        encoder = refiner_encoder(config, parser, encoder)
    train_into(args.output, config, args.gpu)
    max_steps = config["training"]["max_steps"]
    facts = {"lang": lang, "encoder": encoder_name(encoder), "config": path.name, "parser": parser}
    facts["max_steps"] = max_steps  # fewer where the config has patience or epochs
    facts |= {"epochs": round(max_steps / counts["batches"], 2), **counts, "device": device(args.gpu)}
    write_facts(args.output, facts)
    mark_done(trained, made)


if __name__ == "__main__":
    main()
