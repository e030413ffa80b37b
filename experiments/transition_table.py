"""Train transition-based parsers of the papers and compare them: `transition_table.py TRAIN DEV OUTPUT ...`.

TRAIN and DEV are .conllu files. A row has the name of a system in the papers; it is a shipped config with
other values of its model. For each seed it is trained from a checkpoint (`--encoder`) or from scratch, or
both (`--start checkpoint scratch`), into OUTPUT/SEED/START/ROW/model-best, unless it is there: an interrupted
run goes on, and rows may be trained apart (`--rows` without names trains none). Then all rows that are there
are scored on DEV, on gold words and sentences, as `g2g evaluate` does, and compared by the paired bootstrap
over sentences, the seeds together. What is counted and timed in a row is kept beside its model: delete
OUTPUT/SEED/START/ROW/counts.json to have it anew. OUTPUT gets table.json and table.md, with the papers'
figures for the English Penn Treebank, which are those of other data, beside ours.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from spacy.cli._util import parse_config_overrides, setup_gpu
from spacy.util import load_config
from thinc.api import Config
from wasabi import msg

from project.train import TRAINING, train_into
from project.training_config import CONFIGS, has_setting, overrides
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu
from spacy_g2g.layers.checkpoint import load_checkpoint, resolve_checkpoint
from spacy_g2g.models.shim import get_shim
from spacy_g2g.parsing.tree import non_projective_arcs

from .comparison import (
    METRICS,
    Counts,
    compare,
    comparison_line,
    count,
    count_parameters,
    is_trained,
    kept_counts,
    markdown_table,
    mean_and_values,
    percent,
    watch_encoder,
    write_atomically,
)
from .transition_rows import AGAINST, ROWS, published

COUNTS = "counts.json"
PARSER = "components.g2g_parser"
SCRATCH = "syntr_scratch.cfg"
CHECKPOINT = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": "${paths.encoder}"}
STARTS = {"checkpoint": "from the checkpoint", "scratch": "from scratch"}
#: Sentences that are parsed before the clock starts.
N_WARM_UP = 8


# Training


def make_config(name: str, start: str, seed: int, args: argparse.Namespace) -> Config:
    """The row's config with all settings, places of files in ``[paths]``."""
    row = ROWS[name]
    config = load_config(CONFIGS / row.config)
    steps = args.eval_frequency or args.steps // 10 or args.steps
    settings = overrides("", args.lang, args.steps) | {"system.seed": seed}
    settings |= {"training.eval_frequency": steps} if steps else {}
    settings |= {f"{PARSER}.model.{setting}": value for setting, value in row.model.items()}
    paths = {"train": train_file(args), "dev": check_file(args), "encoder": None}
    if start == "scratch":
        start_from_scratch(config)
        settings |= {f"{PARSER}.model.encoder.{name}": size for name, size in args.sizes.items()}
    else:
        encoder = CHECKPOINT | {"n_layers": args.layers or None}
        config["initialize"]["components"]["g2g_parser"]["encoder"] = encoder
        if args.encoder_rate_factor is not None:
            settings[f"{PARSER}.model.encoder_rate_factor"] = args.encoder_rate_factor
        paths["encoder"] = args.encoder
    config["paths"] |= {name: path and str(path) for name, path in paths.items()}
    chosen = args.set | (args.set_scratch if start == "scratch" else {})
    settings |= {name: value for name, value in chosen.items() if has_setting(config, name)}
    return Config().from_str(config.to_str(), overrides=settings, interpolate=False)


def start_from_scratch(config: Config) -> None:
    """Give a config the encoder and the rates of the one that ships for training from scratch."""
    shipped = load_config(CONFIGS / SCRATCH)
    model = shipped["components"]["g2g_parser"]["model"]
    config["components"]["g2g_parser"]["model"]["encoder"] = model["encoder"]
    config["initialize"]["components"]["g2g_parser"] = shipped["initialize"]["components"]["g2g_parser"]
    config["training"]["dropout"] = shipped["training"]["dropout"]
    rates = shipped["training"]["optimizer"]["learn_rate"]
    rate = config["training"]["optimizer"]["learn_rate"]
    rate |= {name: rates[name] for name in ("initial_rate", "warmup_steps")}


def train_file(args: argparse.Namespace) -> Path:
    """TRAIN, or the file of those of its sentences that are trained on."""
    return Path(args.output / f"train.{args.sentences}.conllu" if args.sentences else args.train)


def check_file(args: argparse.Namespace) -> Path:
    """DEV, or the file of those of its sentences that tell the best model in training."""
    return Path(args.output / f"dev.{args.check_sentences}.conllu" if args.check_sentences else args.dev)


def write_part(source: Path, target: Path, n: int) -> None:
    """Write n sentences of a treebank, spread evenly over it; the same in every run."""
    sentences = list(read_conllu(source))
    if n > len(sentences):
        raise SystemExit(f"{source} has {len(sentences)} sentences: expected at least the {n} asked for")
    chosen = [sentences[i * len(sentences) // n] for i in range(n)]
    write_atomically(target, "".join(write_conllu(chosen)))


def train_row(name: str, start: str, seed: int, args: argparse.Namespace) -> None:
    """Train a row, unless it is trained already or this is a dry run."""
    folder = folder_of(name, start, seed, args)
    config = make_config(name, start, seed, args)
    if is_trained(folder, config):
        return
    msg.divider(str(folder))
    if args.dry_run:
        print(config.to_str(interpolate=False))
        return
    train_into(folder, config, args.gpu)


def folder_of(name: str, start: str, seed: int, args: argparse.Namespace) -> Path:
    return Path(args.output, str(seed), start, name)


# Scores


def score(name: str, start: str, seed: int, args: argparse.Namespace) -> Counts | None:
    """What a row has right in DEV, and what it took to parse it; None if it is not trained."""
    folder = folder_of(name, start, seed, args)
    if not folder.exists():
        return None
    sentences = list(read_conllu(args.dev, trees="full"))
    counts = kept_counts(folder / COUNTS, sentences)
    model = folder / ROWS[name].scored
    if counts is None and model.exists():
        counts = parse_and_count(model, sentences) | {"training": read_training(folder)}
        write_atomically(folder / COUNTS, json.dumps(counts) + "\n")
    return counts


def parse_and_count(model: Path, sentences: Sequence[ConlluSentence]) -> Counts:
    """The counts of a trained pipeline: right words, encoder passes, seconds of parsing, parameters."""
    nlp = spacy.load(model)
    encoder: Any = get_shim(nlp.get_pipe("g2g_parser").model).network.encoder  # type: ignore[attr-defined]
    list(nlp.pipe(sentences_to_docs(sentences[:N_WARM_UP], nlp.vocab, annotations=("SENT_START",))))
    docs = list(sentences_to_docs(sentences, nlp.vocab, annotations=("SENT_START",)))
    with watch_encoder(encoder) as watch:
        start = time.perf_counter()
        docs = list(nlp.pipe(docs))
        seconds = time.perf_counter() - start
    parsed = [sentence for doc in docs for sentence in doc_to_sentences(doc)]
    speed = {"seconds": seconds, "encoder_seconds": watch.seconds, "threads": torch.get_num_threads()}
    passes = {"passes": watch.rows, "calls": watch.calls}
    counts = count(sentences, parsed) | count_non_projective(sentences, parsed)
    return counts | passes | speed | {"parameters": count_parameters(nlp)}


def count_non_projective(gold: Sequence[ConlluSentence], system: Sequence[ConlluSentence]) -> Counts:
    """Non-projective gold arcs, and how many the system has with the right head, and with the label, too."""
    found = {"non_projective": 0, "non_projective_uas": 0, "non_projective_las": 0}
    for a, b in zip(gold, system, strict=True):
        for i in np.flatnonzero(non_projective_arcs([word.head or 0 for word in a.words])).tolist():
            x, y = a.words[i], b.words[i]
            is_right = x.head == y.head
            found["non_projective"] += 1
            found["non_projective_uas"] += is_right
            found["non_projective_las"] += is_right and x.deprel.split(":")[0] == y.deprel.split(":")[0]
    return found


def read_training(folder: Path) -> dict[str, float]:
    """What is known of a row's training."""
    path = folder / TRAINING
    known: dict[str, float] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return known


# The table


def make_table(args: argparse.Namespace) -> dict[str, Any]:
    """Scores and comparisons of the rows that are there, by start and row."""
    table: dict[str, Any] = {}
    for start in STARTS:
        counts = {}
        for name in ROWS:
            found = {seed: score(name, start, seed, args) for seed in args.seeds}
            counts[name] = {seed: result for seed, result in found.items() if result is not None}
        rows = {name: summary(name, counts) for name in ROWS if counts[name]}
        for name, entry in rows.items():
            entry["published"] = published(name, start, args.layers)
        table[start] = rows
    return table


def summary(name: str, counts: Mapping[str, Mapping[int, Counts]]) -> dict[str, Any]:
    """Scores and shares between 0 and 1, passes per word, and times, of each seed and their mean."""
    seeds = counts[name]
    of_seeds = list(seeds.values())
    values = {m: [sum(c[m]) / sum(c["words"]) for c in of_seeds] for m in METRICS}
    crossed = [c for c in of_seeds if c["non_projective"]]
    for m in ("non_projective_uas", "non_projective_las"):
        values[m] = [c[m] / c["non_projective"] for c in crossed]
    values["minutes"] = [c["training"]["minutes"] for c in of_seeds if "minutes" in c["training"]]
    values["seconds"] = [c["seconds"] for c in of_seeds]
    values["outside_encoder"] = [1 - c["encoder_seconds"] / c["seconds"] for c in of_seeds]
    values["passes_per_word"] = [c["passes"] / sum(c["words"]) for c in of_seeds]
    values["calls"] = [c["calls"] for c in of_seeds]
    return {
        "seeds": list(seeds),
        **{key: mean_and_values(v) for key, v in values.items()},
        "non_projective": of_seeds[0]["non_projective"],
        "words": sum(of_seeds[0]["words"]),
        "threads": [c["threads"] for c in of_seeds],
        "parameters": sum(of_seeds[0]["parameters"].values()),
        "against": {other: compare(seeds, counts[other]) for other in AGAINST.get(name, ())},
    }


#: Headings of the Markdown table, and how a row's entry fills the column.
COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "UAS": lambda e: percent(e["uas"]),
    "LAS": lambda e: percent(e["las"]),
    "paper's UAS": lambda e: f"{e['published']['uas']:.2f}" if e["published"] else "-",
    "paper's LAS (layers)": lambda e: (
        f"{e['published']['las']:.2f} ({e['published']['layers']})" if e["published"] else "-"
    ),
    "non-projective heads": lambda e: percent(e["non_projective_uas"]),
    "and labels": lambda e: percent(e["non_projective_las"]),
    "training, min": lambda e: f"{e['minutes']['mean']:.1f}" if e["minutes"] else "-",
    "parsing, s": lambda e: f"{e['seconds']['mean']:.1f}",
    "threads": lambda e: ", ".join(str(n) for n in sorted(set(e["threads"]))),
    "passes per word": lambda e: f"{e['passes_per_word']['mean']:.3f}",
    "encoder calls": lambda e: f"{e['calls']['mean']:,.0f}",
    "time outside encoder": lambda e: f"{100 * e['outside_encoder']['mean']:.1f}%",
    "parameters": lambda e: f"{e['parameters']:,}",
}


def markdown(table: Mapping[str, Mapping[str, Any]], file: str) -> str:
    """A table and a list of comparisons for each start, scores in percent."""
    lines = []
    for start, rows in table.items():
        if not rows:
            continue
        entry = next(iter(rows.values()))
        cells = [[name, *(fill(entry) for fill in COLUMNS.values())] for name, entry in rows.items()]
        lines += [f"## {file}, {STARTS[start]}", ""]
        lines += [
            f"{entry['words']:,} words, of which {entry['non_projective']:,} have non-projective arcs.",
            "",
        ]
        lines += [*markdown_table([["row", *COLUMNS], *cells]), ""]
        pairs = [(name, *pair) for name, entry in rows.items() for pair in entry["against"].items()]
        if compared := [comparison_line(*pair) for pair in pairs if pair[-1]]:
            lines += [*compared, ""]
    return "\n".join(lines)


# The command


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("train", type=Path, help="training corpus, .conllu")
    add("dev", type=Path, help="development corpus, .conllu")
    add("output", type=Path, help="folder for models and tables")
    add(
        "--rows", nargs="*", choices=ROWS, default=list(ROWS), metavar="ROW", help=f"out of {', '.join(ROWS)}"
    )
    add("--start", nargs="+", choices=STARTS, default=["checkpoint"], help="where the encoder comes from")
    add("--encoder", help="hub name or folder of a checkpoint")
    add("--layers", type=int, default=6, help="first layers of the checkpoint; 0 for all")
    add("--scratch-width", type=int, help="of an encoder from scratch; a quarter of its feed-forward width")
    add("--scratch-layers", type=int, help="of an encoder from scratch")
    add("--scratch-heads", type=int, help="attention heads of an encoder from scratch")
    add("--seeds", type=int, nargs="+", default=[0], help="a model of each row for each of them")
    add("--sentences", type=int, default=0, help="of TRAIN, spread evenly over it; 0 for all")
    add(
        "--check-sentences",
        type=int,
        default=0,
        help="of DEV, that tell the best model in training; 0 for all",
    )
    add("--steps", type=int, default=0, help="of the optimizer; 0 for the config's")
    add("--eval-frequency", type=int, default=0, help="in steps; 0 for a tenth of them, or the config's")
    add("--encoder-rate-factor", type=float, help="in place of the configs'; 0.1 is for a small checkpoint")
    for option, rows in (("--set", "all rows"), ("--set-scratch", "all rows from scratch")):
        help_ = f"settings of {rows} whose config has them; they win over the rows' own"
        add(option, nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=help_)
    add("--lang", default="xx", help="language code of the pipelines")
    add("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    add("--threads", type=int, default=0, help="of the CPU; 0 for PyTorch's choice")
    add("--dry-run", action="store_true", help="show the configs of what would be trained, and stop")
    args = cli.parse_args(arguments)
    check_arguments(cli, args)
    return args


def check_arguments(cli: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Check what the options' types do not, and make settings of text."""
    if args.rows and "checkpoint" in args.start and not args.encoder:
        cli.error("--start checkpoint needs --encoder")
    for name in ("layers", "sentences", "check_sentences", "steps", "eval_frequency", "threads"):
        if getattr(args, name) < 0:
            cli.error(f"--{name.replace('_', '-')} {getattr(args, name)}: expected 0 or more")
    sizes = {
        "width": args.scratch_width,
        "hidden_width": args.scratch_width and 4 * args.scratch_width,
        "n_layers": args.scratch_layers,
        "n_attention_heads": args.scratch_heads,
    }
    args.sizes = {name: size for name, size in sizes.items() if size is not None}
    configs = [load_config(CONFIGS / name) for name in {SCRATCH, *(row.config for row in ROWS.values())}]
    for option in ("set", "set_scratch"):
        items = parse_config_overrides([f"--{item}" for item in getattr(args, option)], env_var=None)
        setattr(args, option, items)
        for setting in items:
            if not any(has_setting(config, setting) for config in configs):
                cli.error(f"--{option.replace('_', '-')}: no config has the setting {setting}")
    for path in (args.train, args.dev):
        if path.suffix != ".conllu" or not path.is_file():
            cli.error(f"{path}: expected a CoNLL-U file, named .conllu")


def check_checkpoint(args: argparse.Namespace) -> None:
    """Read the checkpoint, so that one without enough layers is told before anything is trained."""
    try:
        load_checkpoint(resolve_checkpoint(args.encoder, None), args.layers or None)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from error


def main(arguments: Sequence[str] | None = None) -> None:
    args = read_arguments(arguments)
    if args.threads:
        torch.set_num_threads(args.threads)
    if args.rows and not args.dry_run:
        if "checkpoint" in args.start:
            check_checkpoint(args)
        parts = (
            (args.train, train_file(args), args.sentences),
            (args.dev, check_file(args), args.check_sentences),
        )
        for source, target, n in parts:
            if n:
                write_part(source, target, n)
    for seed in args.seeds:
        for start in args.start:
            for name in ROWS:
                if name in args.rows:
                    train_row(name, start, seed, args)
    if args.dry_run:
        return
    setup_gpu(args.gpu)
    table = make_table(args)
    write_atomically(args.output / "table.json", json.dumps({args.dev.name: table}, indent=2) + "\n")
    write_atomically(args.output / "table.md", markdown(table, args.dev.name))
    print(markdown(table, args.dev.name))


if __name__ == "__main__":
    main()
