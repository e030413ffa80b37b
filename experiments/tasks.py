"""Train tasks of a whole pipeline alone and together on one encoder, and score each of them.

    python -m experiments.tasks NAME TRAIN DEV OUTPUT --encoder ENCODER --components tagger g2g_parser ...
        [--config configs/pipeline.cfg] [--steps 265] [--set KEY=VALUE ...] [--also TEST.conllu ...]

TRAIN and DEV are .conllu files. The components of a config, without those that are not named, are
trained into OUTPUT/NAME on Docs of up to ten sentences. A pipeline that is there is not trained again. Then
it is scored on DEV and the other files from gold words and sentences, as by `g2g evaluate`. The table has
all pipelines of OUTPUT.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import spacy
import torch
from spacy.cli._util import parse_config_overrides
from spacy.tokens import DocBin
from thinc.api import Config

from project.markdown import markdown_table
from project.train import TRAINING, train_into
from project.training_config import BEST, CONFIGS, load_config, overrides
from spacy_g2g.cli.common import write_json
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import read_conllu

#: Components that every pipeline keeps.
ALWAYS = ("g2g_encoder", "transformer", "tok2vec", "g2g_layout")
#: Metrics of ``g2g evaluate`` by component.
METRICS = {
    "tagger": ("XPOS",),
    "morphologizer": ("UPOS", "UFeats"),
    "trainable_lemmatizer": ("Lemmas",),
    "g2g_parser": ("UAS", "LAS"),
    "parser": ("UAS", "LAS"),
}
COLUMNS = list(dict.fromkeys(metric for metrics in METRICS.values() for metric in metrics))
SENTENCES_PER_DOC = 10


def main(argv: Sequence[str] | None = None) -> None:
    """Train what is not trained yet, score what is not scored yet, and print the table."""
    args = read_arguments(argv)
    torch.set_num_threads(1)
    folder = args.output / args.name
    if not folder.exists():
        train_into(folder, make_config(args), gpu=-1)
    for gold in (args.dev, *args.also):
        scores = folder / f"{gold.stem}.json"
        if not scores.exists():
            found = evaluate(str(folder / BEST), gold)
            write_json(scores, {metric: 100 * found[metric].f1 for metric in COLUMNS})
    print(markdown(args.output, [path.stem for path in (args.dev, *args.also)]))


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("name", help="name of the pipeline, a folder in OUTPUT")
    add("train", type=Path, help="training sentences, .conllu")
    add("dev", type=Path, help="development sentences, .conllu")
    add("output", type=Path, help="folder for the pipelines")
    add("--encoder", required=True, help="checkpoint: a folder or a name on the hub")
    add("--components", nargs="+", default=list(METRICS), help="components beside the encoder")
    add("--config", type=Path, default=CONFIGS / "pipeline.cfg", help="config of a whole pipeline")
    add("--lang", default="en", help="language code of the pipelines")
    add("--steps", type=int, default=265, help="number of updates")
    add("--seed", type=int, default=0, help="seed of the training")
    add("--also", type=Path, nargs="+", default=[], help="other .conllu files to score on")
    add("--set", nargs="+", default=[], metavar="KEY=VALUE", help="other values in the config")
    return cli.parse_args(argv)


def make_config(args: argparse.Namespace) -> Config:
    """Return the config with the named components alone; write the corpora that it names."""
    config = load_config(args.config)
    kept = {*ALWAYS, *args.components}
    config["nlp"]["pipeline"] = [name for name in config["nlp"]["pipeline"] if name in kept]
    for section in (config["components"], config["initialize"]["components"]):
        for name in [*section]:
            if name not in kept:
                del section[name]
    if "rng_refiner" not in kept:
        config["training"]["annotating_components"] = []
    settings = overrides(args.encoder, args.lang, args.steps) | {"system.seed": args.seed}
    settings["training.optimizer.learn_rate.warmup_steps"] = max(1, args.steps // 10)
    # The learning rate falls to zero, so the last evaluation is the one that counts.
    settings["training.eval_frequency"] = args.steps
    settings |= {"corpora.dev.annotations": ["SENT_START"], "corpora.dev.limit": 20}
    for part, path in (("train", args.train), ("dev", args.dev)):
        corpus = args.output / f"{path.stem}.spacy"
        if not corpus.exists():
            write_corpus(path, corpus)
        settings[f"paths.{part}"] = str(corpus)
    settings |= parse_config_overrides([f"--{item}" for item in args.set], env_var=None)
    return Config().from_str(config.to_str(), overrides=settings, interpolate=False)


def write_corpus(path: Path, output: Path) -> None:
    """Write Docs of several sentences."""
    vocab = spacy.blank("xx").vocab
    docs = DocBin(
        docs=sentences_to_docs(read_conllu(path), vocab, n_sents=SENTENCES_PER_DOC), store_user_data=True
    )
    with atomic_path(output) as temporary:
        docs.to_disk(temporary)


def markdown(output: Path, names: Sequence[str]) -> str:
    """Return the scores of all pipelines in a folder on the named files, where they are counted."""
    rows = [("", "", *COLUMNS, "training, min")]
    for name in names:
        for path in sorted(output.glob(f"*/{name}.json")):
            scores = json.loads(path.read_text(encoding="utf8"))
            components = spacy.util.load_config(path.parent / BEST / "config.cfg")["nlp"]["pipeline"]
            trained = {metric for part in components for metric in METRICS.get(part, ())}
            shown = [f"{scores[metric]:.2f}" if metric in trained else "" for metric in COLUMNS]
            minutes = json.loads((path.parent / TRAINING).read_text(encoding="utf8"))["minutes"]
            rows.append((path.parent.name, name, *shown, f"{minutes:.1f}"))
    return markdown_table(rows)


if __name__ == "__main__":
    main()
