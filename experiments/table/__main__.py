"""Train the rows of a table and compare them.

    python -m experiments.table TABLE TRAIN DEV OUTPUT --encoder NAME [--rows ROW ...] ...

A row is a shipped config with other values. TABLE `transition` has the transition-based parsers of the
papers, and `refinement` the refiner with several sources of its encoder and of its trees. Each row is trained
into OUTPUT/SEED/ROW, once for each seed. Trained rows are not trained again, so an interrupted run goes on,
and rows can be trained in several runs (`--rows` without names trains none).

Then all trained systems parse DEV (.conllu), and perhaps other files (`--also`), from gold words and
sentences. They are scored as by `g2g evaluate`, and compared by the paired bootstrap over the sentences of
all seeds. Counts are kept beside the model: delete OUTPUT/SEED/ROW/SYSTEM.FILE.json to count again. Where
OUTPUT has none, those of other machines are taken: `--kept` names folders with such files, laid out as OUTPUT
is. OUTPUT gets table.json and table.md. The published figures beside ours are for other data, the English
Penn Treebank.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.cli._util import parse_config_overrides, setup_gpu
from spacy.util import load_config
from thinc.api import Config
from wasabi import msg

from project.train import CONFIG, train_into
from project.training_config import BEST, CONFIGS, has_setting
from spacy_g2g.files import atomic_path

from .configs import (
    SCRATCH,
    check_checkpoint,
    check_file,
    make_config,
    train_file,
    write_part,
)
from .refinement import REFINEMENT
from .report import make_table, markdown
from .transition import TRANSITION

TABLES = {"transition": TRANSITION, "refinement": REFINEMENT}
STARTS = {
    "checkpoint": "from the checkpoint",
    "pipeline": "from the encoder of a trained parser",
    "scratch": "from scratch",
}


def train_row(name: str, seed: int, args: argparse.Namespace) -> None:
    """Train a row, unless it is trained already or this is a dry run."""
    row, folder = args.table.rows[name], args.output / str(seed) / name
    config = make_config(row, seed, args)
    if is_trained(folder, config):
        return
    msg.divider(str(folder))
    if args.dry_run:
        print(config.to_str(interpolate=False))
        return
    with train_into(folder, config, args.gpu):
        pass


def is_trained(folder: Path, config: Config) -> bool:
    """Return whether a folder has a trained model; warn if its settings differ."""
    if not (folder / BEST).exists():
        return False
    msg.info(f"{folder}: trained already")
    used = load_config(folder / CONFIG) if (folder / CONFIG).exists() else config
    if _without_folders(used) != _without_folders(config):
        msg.warn(f"{folder}: trained with other settings than the present ones, see {CONFIG}")
    return True


def _without_folders(config: Config) -> dict[str, Any]:
    """Return a config whose paths are names only."""
    return {**config, "paths": {name: path and Path(path).name for name, path in config["paths"].items()}}


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read and check the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("table", choices=TABLES, help="table to make")
    add("train", type=Path, help="training corpus, .spacy or .conllu")
    add("dev", type=Path, help="development corpus, .conllu")
    add("output", type=Path, help="folder for models and tables")
    add(
        "--rows",
        nargs="*",
        metavar="ROW",
        help="rows to train, and what they build on; all that the seeds allow by default",
    )
    add("--start", choices=STARTS, default="checkpoint", help="source of the parsers' encoders")
    add("--encoder", help="hub name or folder of a checkpoint, or folder of a pipeline")
    add("--layers", type=int, help="first layers of the checkpoint; 0 for all; the configs' by default")
    add("--seeds", type=int, nargs="+", default=[0], help="a model of each row for each of them")
    add("--also", type=Path, nargs="+", default=[], help="other .conllu files to score on, as the test set")
    kept = "folders with the counts of other machines, used for what is not trained here"
    add("--kept", type=Path, nargs="+", default=[], metavar="FOLDER", help=kept)
    add("--sentences", type=int, default=0, help="sentences of TRAIN, spread evenly over it; 0 for all")
    add("--check-sentences", type=int, default=0, help="sentences of DEV for training; 0 for all")
    add("--steps", type=int, default=0, help="optimizer steps of parsers; 0 for the config's")
    add("--refiner-steps", type=int, default=0, help="the same for refiners of a parser's trees")
    add("--empty-steps", type=int, default=0, help="the same for refiners of empty graphs")
    add("--eval-frequency", type=int, default=0, help="in steps; 0 for a tenth of them, or the config's")
    add("--encoder-rate-factor", type=float, help="in place of the configs'")
    add("--copy-rate-factor", type=float, help="the same for an encoder from a trained parser")
    settings = "settings of all rows whose config has them; they win over the rows' own"
    add("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=settings)
    add("--lang", default="xx", help="language code of the pipelines")
    add("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    add("--threads", type=int, default=0, help="of the CPU; 0 for PyTorch's choice")
    add("--dry-run", action="store_true", help="show the configs of what would be trained, and stop")
    args = cli.parse_args(arguments)
    check_arguments(cli, args)
    return args


def check_arguments(cli: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Check the options beyond their types, and turn text into settings."""
    args.table = TABLES[args.table]
    rows = args.table.rows
    if args.rows is None:
        args.rows = [name for name, row in rows.items() if row.encoder != "other" or len(args.seeds) > 1]
    for name in args.rows:
        if name not in rows:
            cli.error(f"--rows {name}: expected names out of {', '.join(rows)}")
    others = [name for name in args.rows if rows[name].encoder == "other"]
    if others and len(args.seeds) == 1:
        cli.error(f"--seeds {args.seeds[0]}: expected two or more for the rows {', '.join(others)}")
    if args.rows and args.start != "scratch" and not args.encoder:
        cli.error(f"--start {args.start} needs --encoder")
    for name in ("layers", "sentences", "check_sentences", "steps", "eval_frequency", "threads"):
        if (getattr(args, name) or 0) < 0:
            cli.error(f"--{name.replace('_', '-')} {getattr(args, name)}: expected 0 or more")
    files = {SCRATCH, *(row.config for row in rows.values())}
    configs = [load_config(CONFIGS / name) for name in files]
    args.set = parse_config_overrides([f"--{item}" for item in args.set], env_var=None)
    for setting in args.set:
        if not any(has_setting(config, setting) for config in configs):
            cli.error(f"--set: no config has the setting {setting}")
    try:
        spacy.blank(args.lang)
    except ImportError as error:
        cli.error(
            f"--lang {args.lang}: expected a language of spaCy, such as xx, with its tokenizer ({error})"
        )
    for path in filter(None, (args.dev, *args.also, args.train if args.sentences else None)):
        if path.suffix != ".conllu" or not path.is_file():
            cli.error(f"{path}: expected a CoNLL-U file, named .conllu")


def write_parts(args: argparse.Namespace) -> None:
    """Write the sentences of TRAIN and DEV that are chosen, where not all are."""
    parts = ((args.train, train_file, args.sentences), (args.dev, check_file, args.check_sentences))
    for source, target, n in parts:
        if n:
            write_part(source, target=target(args), n=n)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    args = read_arguments(arguments)
    if args.threads:
        torch.set_num_threads(args.threads)
    rows = args.table.rows
    names = {*args.rows, *(rows[name].base for name in args.rows)}
    if args.rows and not args.dry_run:
        if args.start == "checkpoint":
            check_checkpoint([row for name, row in rows.items() if name in names], args)
        write_parts(args)
    for name in rows:
        for seed in args.seeds if name in names else ():
            train_row(name, seed, args)
    if args.dry_run:
        return
    setup_gpu(args.gpu)
    tables = {gold.name: make_table(gold, args) for gold in (args.dev, *args.also)}
    start = "" if args.table is REFINEMENT else f", {STARTS[args.start]}"
    text = "\n".join(markdown(table, f"{name}{start}") for name, table in tables.items())
    for suffix, content in (("json", json.dumps(tables, indent=2) + "\n"), ("md", text)):
        with atomic_path(args.output / f"table.{suffix}") as path:
            path.write_text(content, encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
