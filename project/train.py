"""Train a pipeline by `spacy train`, for any treebank.

    python -m project.train TRAIN DEV OUTPUT [--encoder NAME] [--parser PIPELINE] [--SECTION.SETTING VALUE]

Settings of the config can be replaced as for `spacy train`. Without `--encoder`, an encoder is trained from
scratch. With `--parser`, a refiner is trained on top of a trained pipeline. OUTPUT appears when training is
done, and its facts.json says what was trained. Training with the same corpora and settings is not repeated.
This command exists because project.yml has variables but no conditions.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import spacy
import torch
from click import NoSuchOption
from spacy.cli._util import parse_config_overrides
from spacy.cli.train import train as spacy_train
from spacy.training import Example
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import Config
from wasabi import msg

import spacy_g2g
from spacy_g2g.data.corpus import corpus_files, read_gold_docs
from spacy_g2g.parser.fitting import fit
from spacy_g2g.pipeline.saved_pipe import SavedPipe
from spacy_g2g.terminal.common import user_errors, write_json

from .training_config import (
    BEST,
    CONFIGS,
    choose_config,
    choose_steps,
    has_setting,
    overrides,
    pipeline_config,
    refiner_config,
    refiner_encoder,
    step_settings,
    tell_treebanks_apart,
    used_encoder,
)
from .treebank_settings import UNSET, blank, choose_encoder, choose_language, encoder_name, read_source
from .up_to_date import (
    FACTS,
    is_up_to_date,
    one_at_a_time,
    out_of_the_way,
    read_json,
    record_sources,
    sources_of,
    today,
)

CONFIG, TRAINING = "train.cfg", "training.json"
#: What an unfinished training began with, and the folder of its state.
BEGUN, STATE = "begun.json", "state"


@contextmanager
def train_into(folder: Path, config: Config, gpu: int) -> Iterator[Path]:
    """Train a model, and yield its folder, which takes its name at the end.

    A training that was stopped goes on from its last evaluation, if its config has `paths.state` and neither
    the config nor a file of its paths has changed.

    folder: Folder to make. Its training.json has the minutes of `spacy train`, evaluations included.
    config: Config of the training.
    gpu: Number of the GPU; -1 for the CPU.
    """
    # spaCy writes its first model-best long before the end.
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    resumable = {"paths.state": str(unfinished / STATE)} if has_setting(config, "paths.state") else {}
    begun = {**sources_of(_files(config.get("paths", {}))), "config": config.to_str(interpolate=False)}
    if read_json(unfinished / BEGUN) != begun or not (unfinished / STATE).exists():
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
    config.to_disk(unfinished / CONFIG, interpolate=False)
    write_json(unfinished / BEGUN, begun)
    minutes, start = read_json(unfinished / TRAINING).get("minutes", 0.0), time.perf_counter()
    try:
        spacy_train(unfinished / CONFIG, unfinished, use_gpu=gpu, overrides=resumable)
    finally:
        write_json(unfinished / TRAINING, {"minutes": minutes + (time.perf_counter() - start) / 60})
    yield unfinished
    shutil.rmtree(unfinished / STATE, ignore_errors=True)
    (unfinished / BEGUN).unlink()
    with out_of_the_way(folder):
        unfinished.rename(folder)


def _files(paths: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files that the paths of a config name. Some paths are dictionaries of treebanks."""
    files: dict[str, Path] = {}
    for value in paths.values():
        if isinstance(value, Mapping):
            files |= _files(value)
        elif isinstance(value, str) and Path(value).is_file():
            files[value] = Path(value)
    return files


def calibrate(folder: Path, config: Config) -> None:
    """Fit a trained pipeline on the development corpus, as `spacy g2g calibrate` does.

    A pipeline without a parser or an encoder of this library stays as it is.

    folder: Folder of the pipeline.
    config: Config of its training.
    """
    nlp = spacy.load(folder)
    if any(isinstance(pipe, SavedPipe) for _, pipe in nlp.pipeline):
        (corpus,) = resolve_dot_names(config.interpolate(), [config["training"]["dev_corpus"]])
        examples = list(corpus(nlp))
        for line in fit(nlp, folder, examples=examples, documents=examples, silent=False):
            msg.good(line)


def count_corpus(path: Path, config: Config, lang: str) -> dict[str, int]:
    """Return the numbers of sentences, words and batches. The batches are the steps of an epoch.

    path: Training corpus.
    config: Config of the training. Its batcher may change words, by what the language knows about them.
    lang: Language code of the pipeline.
    """
    docs = list(read_gold_docs(corpus_files(path), blank(lang).vocab))
    batcher = registry.resolve({"batcher": config.interpolate()["training"]["batcher"]})["batcher"]
    examples = [Example(doc, doc) for doc in docs]
    return {
        "sentences": sum(len(list(doc.sents)) for doc in docs),
        "words": sum(map(len, docs)),
        "batches": len(list(batcher(examples))),
    }


def versions() -> dict[str, str]:
    """Return the versions of the software, with the commit if the project is a checkout."""
    software = {
        "spacy-g2g": spacy_g2g.__version__,
        "spaCy": version("spacy"),
        "PyTorch": torch.__version__,
        "Python": platform.python_version(),
    }
    project = CONFIGS.parent.resolve()
    command = ["git", "-C", str(project), "rev-parse", "--show-toplevel", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return software
    top, _, commit = done.stdout.strip().partition("\n")
    # The commit of an unrelated repository around the project would be misleading.
    is_checkout = done.returncode == 0 and Path(top).resolve() == project
    return {**software, "commit": commit[:12]} if is_checkout else software


def device(gpu: int) -> str:
    """Return the name of the device."""
    return torch.cuda.get_device_name(gpu) if gpu >= 0 and torch.cuda.is_available() else "CPU"


def write_facts(output: Path, facts: Mapping[str, Any]) -> None:
    """Write facts, minutes, date and versions beside a trained pipeline."""
    minutes = round(read_json(output / TRAINING)["minutes"], 2)
    write_json(output / FACTS, {**facts, "minutes": minutes, "date": today(), "versions": versions()})


def read_arguments() -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="training corpus, .spacy")
    cli.add_argument("dev", type=Path, help="development corpus, .spacy")
    cli.add_argument("output", type=Path, help="folder for model-best, model-last and facts.json")
    parsers = "trained pipelines; a refiner is trained on the first one whose name is not empty"
    cli.add_argument("--parser", nargs="+", default=(), help=parsers)
    cli.add_argument("--tokenizer", default="-", help="pipeline whose tokenizer is used, if it exists")
    cli.add_argument("--train-parsed", default="", help="TRAIN as project/jackknife.py parsed it")
    add_training_arguments(cli)
    args, others = cli.parse_known_args()
    try:
        args.settings = parse_config_overrides(others)
    except NoSuchOption as error:
        cli.error(error.message)
    return args


def add_training_arguments(cli: argparse.ArgumentParser) -> None:
    """Add the arguments of every command that trains."""
    add = cli.add_argument
    encoders = "hub name or folder of a checkpoint; papers, modern or multilingual; empty for none"
    add("--data", type=Path, help="folder of the treebank, for its name and language")
    add("--config", default="", help="path of a config; chosen by the encoder if empty")
    add("--encoder", default="", help=encoders)
    add("--lang", default="", help="language code of the pipeline; empty for the treebank's")
    add("--steps", type=int, default=0, help="steps of the optimizer; 0 for the config's")
    add("--epochs", type=float, default=0, help="number of epochs in place of steps; 0 for the config's")
    add("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")


def main() -> None:
    args = read_arguments()
    with user_errors(), one_at_a_time(args.output):
        train(args)


def train(args: argparse.Namespace) -> None:
    """Train unless the output is up to date.

    args: Arguments of the command.
    """
    source = read_source(args.data)
    lang, encoder = choose_language(args.lang, source), choose_encoder(args.encoder, source)
    parser = next((path for path in args.parser if path not in UNSET), "")
    train_parsed = "" if args.train_parsed in UNSET else args.train_parsed
    path = choose_config(args.config, encoder=encoder, parser=parser)
    config = load_config(path)
    encoder = encoder if parser else used_encoder(config, encoder)
    has_tokenizer = Path(args.tokenizer).exists() and has_setting(config, "paths.tokenizer")
    counts = count_corpus(args.train, config, lang)
    steps = step_settings(config, choose_steps(args.steps, args.epochs, counts["batches"])) | args.settings
    inputs = {"train": args.train, "dev": args.dev, "config": path, "parser": Path(parser or "-")}
    inputs |= {"encoder": Path(encoder or "-"), "train_parsed": Path(train_parsed or "-")}
    inputs |= {"tokenizer": Path(args.tokenizer)} if has_tokenizer else {}
    sources = sources_of(
        {name: file for name, file in inputs.items() if file.exists()},
        parser=parser, encoder=encoder, lang=lang, steps=steps,
    )  # fmt: skip
    trained = args.output / BEST
    if is_up_to_date(trained, sources):
        return
    settings = overrides("" if parser else encoder, lang=lang) | steps
    settings |= {"paths.train": str(args.train), "paths.dev": str(args.dev)}
    if has_tokenizer:
        settings["paths.tokenizer"] = args.tokenizer
    if train_parsed:
        settings["paths.train_parsed"] = train_parsed
    if parser:
        nlp = spacy.load(parser)
        lang = str(nlp.lang)
        settings |= {"paths.parser": parser, "nlp.lang": lang}
        config = refiner_config(pipeline_config(path, settings), nlp, encoder)
        encoder = refiner_encoder(config, parser, encoder=encoder)
    else:
        config = pipeline_config(path, settings)
    tell_treebanks_apart(config, source)
    max_steps = config["training"]["max_steps"]  # patience or epochs may end training earlier
    facts = {"lang": lang, "encoder": encoder_name(encoder), "config": path.name, "parser": parser}
    facts |= {"max_steps": max_steps, "epochs": round(max_steps / counts["batches"], 2), **counts}
    with train_into(args.output, config, args.gpu) as folder:
        calibrate(folder / BEST, config)
        write_facts(folder, {**facts, "device": device(args.gpu)})
    record_sources(trained, sources)


if __name__ == "__main__":
    main()
