"""`spacy train` for any treebank: `python scripts/train.py TRAIN DEV OUTPUT [--encoder NAME] ...`.

Without an encoder it trains one from scratch; with `--parser`, a refiner on top of a trained pipeline. OUTPUT
is there when the training is done, with facts.json that says what was trained. What is trained already, with
the same corpora and settings, is left as it is. It exists because project.yml has variables but no
conditions.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import spacy
import torch
from choices import UNSET, choose_encoder, choose_language, encoder_name, read_source
from comparison import BEST, LAST, TRAINING, has_setting, train_into
from once import FACTS, is_done, made_from, mark_done, read_facts
from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.util import load_config, registry
from spacy.vocab import Vocab
from thinc.api import Config
from wasabi import msg
from wordpiece_encoder import loadable_encoder

import spacy_g2g
from spacy_g2g.data.corpus import corpus_files, read_docs
from spacy_g2g.pipeline.g2g_parser import G2GParser
from spacy_g2g.pipeline.word_vectors import get_tok2vec

CONFIGS = Path(__file__).parent.parent / "configs"
REFINER, RATE = "rng_refiner", "training.optimizer.learn_rate"
#: Leaves the mean of several weights in model-last.
AVERAGE = "spacy_g2g.average_best.v1"


def choose_config(config: str, encoder: str, parser: str = "") -> Path:
    """The config of this path, or the one for a refiner, for a pre-trained encoder, or for none."""
    if config not in UNSET:
        return Path(config)
    if parser not in UNSET:
        return CONFIGS / "rngtr.cfg"
    return CONFIGS / ("syntr_scratch.cfg" if encoder in UNSET else "syntr_pretrained.cfg")


def used_encoder(config: Config, encoder: str) -> str:
    """The encoder that a training starts from: this one, or the config's if none is given; "" for none.

    A config without `paths.encoder` needs none.
    """
    if not has_setting(config, "paths.encoder"):
        return ""
    return encoder if encoder not in UNSET else config["paths"]["encoder"] or ""


def overrides(encoder: str, lang: str, steps: int = 0) -> dict[str, Any]:
    """Settings in place of the config's; steps: exactly so many, 0 to leave them (see `step_settings`)."""
    settings: dict[str, Any] = {"nlp.lang": lang}
    if encoder not in UNSET:
        settings["paths.encoder"] = loadable_encoder(encoder)
    if steps:
        settings["training.max_epochs"] = 0
        settings["training.max_steps"] = steps
        settings[f"{RATE}.total_steps"] = steps
    return settings


def step_settings(config: Config, steps: int) -> dict[str, Any]:
    """Settings of a training of so many steps, or up to nine more; none for 0, which leaves the config's.

    spaCy evaluates, and keeps the best, at multiples of the evaluations' frequency: the last step is one.
    """
    if not steps:
        return {}
    every = math.ceil(steps / 10)
    steps = every * math.ceil(steps / every)
    settings = {"training.max_epochs": 0, "training.max_steps": steps, "training.eval_frequency": every}
    config = config.interpolate()
    if has_setting(config, f"{RATE}.total_steps"):
        settings[f"{RATE}.total_steps"] = steps
    else:
        msg.warn(f"The config has no {RATE}.total_steps: its rate is not fitted to the {steps} steps.")
    if has_setting(config, f"{RATE}.warmup_steps"):
        warmup: int = config["training"]["optimizer"]["learn_rate"]["warmup_steps"]
        settings[f"{RATE}.warmup_steps"] = min(warmup, steps // 10)
    return settings


def refiner_config(config: Config, nlp: Language, encoder: str) -> Config:
    """The config of a refiner behind all components of a trained pipeline, which stay as they are.

    The refiner starts from the parser if it is one of ours with an encoder of its own, else from the
    checkpoint `encoder`, or from scratch.
    """
    if REFINER in {*nlp.pipe_names, *nlp.pipe_factories.values()}:
        raise SystemExit(
            f"The pipeline has the components {nlp.pipe_names}, a refiner among them. Expected one without, "
            "as the workflow all trains it."
        )
    parsers = [name for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser | DependencyParser)]
    if not parsers:
        raise SystemExit(f"The pipeline has the components {nlp.pipe_names}: expected a parser among them.")
    names, parser = nlp.pipe_names, parsers[-1]
    config["nlp"] |= {"lang": nlp.lang, "pipeline": [*names, REFINER]}
    refiner = config["components"][REFINER]
    config["components"] = {name: {"source": "${paths.parser}"} for name in names} | {REFINER: refiner}
    config["training"] |= {"frozen_components": names, "annotating_components": names}
    config["training"]["before_update"]["components"] = [parser]
    source: dict[str, Any] = {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}
    pipe = nlp.get_pipe(parser)
    if isinstance(pipe, G2GParser) and get_tok2vec(pipe.model) is None:
        source = config["initialize"]["components"][REFINER]["encoder"] | {"component": parser}
    elif encoder not in UNSET:
        source = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": loadable_encoder(encoder)}
    config["initialize"]["components"][REFINER]["encoder"] = source
    return config


def refiner_encoder(config: Config, parser: str, encoder: str) -> str:
    """The encoder that a refiner starts from, by its config (see `refiner_config`); "" for none."""
    source = config["initialize"]["components"][REFINER]["encoder"]
    if "component" in source:
        return str(read_facts(Path(parser).parent).get("encoder", "the parser's, which was not noted"))
    return encoder if "name" in source else ""


def count_corpus(path: Path, config: Config) -> dict[str, int]:
    """Sentences and words of a corpus, and the config's batches of them, that is steps of an epoch."""
    docs = list(read_docs(corpus_files(path), Vocab()))
    batcher = registry.resolve({"batcher": config.interpolate()["training"]["batcher"]})["batcher"]
    return {
        "sentences": sum(sum(1 for _ in doc.sents) for doc in docs),
        "words": sum(map(len, docs)),
        "batches": sum(1 for _ in batcher(docs)),
    }


def choose_steps(steps: int, epochs: float, batches: int) -> int:
    """Steps as given, or those of the epochs; 0, for those of the config, where neither is given."""
    return steps or max(1, round(epochs * batches)) * bool(epochs)


def pipeline_config(path: Path, settings: Mapping[str, Any]) -> Config:
    """A config with settings in place of its own; one without `paths.encoder` needs no encoder."""
    config = load_config(path)
    known = {name: value for name, value in settings.items() if name != "paths.encoder"}
    if "encoder" in config.get("paths", {}) and "paths.encoder" in settings:
        known["paths.encoder"] = settings["paths.encoder"]
    return load_config(path, overrides=known)


def result(config: Config) -> str:
    """The folder of what a training is for: model-best, or model-last where it is a mean of weights."""
    return LAST if config["training"].get("logger", {}).get("@loggers") == AVERAGE else BEST


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
    cli.add_argument("--train-parsed", default="", help="TRAIN as scripts/jackknife.py parsed it")
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
