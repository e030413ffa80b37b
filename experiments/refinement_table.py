"""Train refiners and compare them: `refinement_table.py TRAIN DEV OUTPUT --encoder NAME ...`.

For each seed every row is trained with a shipped config into OUTPUT/SEED/ROW/model-best, unless it is there:
an interrupted run goes on, and rows may be trained apart (`--rows` without names trains none). Then all
systems are scored on DEV (.conllu), on gold words and sentences, as `g2g evaluate` does, and compared by the
paired bootstrap over sentences, the seeds together. What a system has right in each sentence is kept beside
its model and not counted again: delete OUTPUT/SEED/ROW to have a row anew. OUTPUT gets table.json and
table.md, where rows that are not trained yet are missing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.cli._util import parse_config_overrides, setup_gpu
from spacy.util import load_config
from thinc.api import Config
from wasabi import msg

from project import jackknife
from project.train import train_into
from project.training_config import BEST, CONFIGS, has_setting, overrides
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.data.refiner_corpus import read_aligned
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.pipeline.rng_refiner import ITERATIONS

from .comparison import (
    METRICS,
    Counts,
    compare,
    comparison_line,
    count,
    count_parameters,
    difference,
    is_trained,
    kept_counts,
    markdown_table,
    mean_and_values,
    percent,
    write_atomically,
)

REFINER = "components.rng_refiner"
CORRUPTION = {f"{REFINER}.head_corruption": 0.12, f"{REFINER}.label_corruption": 0.06}
ENCODERS = {
    "checkpoint": {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": "${paths.encoder}"},
    "parser": {"@callbacks": "spacy_g2g.EncoderFromPipeline.v1", "path": "${paths.parser}"},
}


@dataclass(frozen=True)
class Row:
    """What is trained.

    config: A shipped one. steps: The option that says for how many steps.
    base: The row whose pipeline is refined, or gives the encoder.
    encoder: Where the refiner's encoder comes from, if not as in the config.
    refiner: The config whose refiner it has, if not that of ``config``.
    trees: Of which system the initial trees are, if they come from files: "jackknife" or "spacy".
    settings: Dotted names and values.
    """

    config: str
    steps: str
    base: str = ""
    encoder: str = ""
    refiner: str = ""
    trees: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


REFINES = Row("rngtr.cfg", "refiner_steps", base="syntr")
ROWS = {
    "syntr": Row("syntr_pretrained.cfg", "parser_steps"),
    "rngtr": REFINES,
    "control": replace(REFINES, settings={f"{REFINER}.model.graph_input": False}),
    "corruption": replace(REFINES, settings=CORRUPTION),
    "jackknife": replace(REFINES, trees="jackknife"),
    "checkpoint": replace(REFINES, encoder="checkpoint"),
    "spacy": replace(REFINES, config="rngtr_empty.cfg", refiner="rngtr.cfg", encoder="parser", trees="spacy"),
    "empty": Row("rngtr_empty.cfg", "empty_steps", base="syntr", encoder="parser"),
    "empty-checkpoint": Row("rngtr_empty.cfg", "empty_steps"),
}


@dataclass(frozen=True)
class System:
    """What is scored.

    row: Whose pipeline; "" for the trees of spaCy's parser as they are.
    against: The systems that it is compared with.
    settings: Of the refiner's model, in place of those that it was trained with.
    """

    row: str
    against: Sequence[str] = ("syntr",)
    settings: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS = {
    "syntr": System("syntr", against=()),
    "rngtr": System("rngtr", against=("syntr", "control")),
    **{f"rngtr, T = {t}": System("rngtr", settings={"iterations": t}) for t in (1, 2, 3)},
    "rngtr, T = 3, no stop": System("rngtr", settings={"iterations": 3, "stop": False}),
    **{name: System(name) for name in ("control", "corruption", "jackknife", "checkpoint")},
    "spacy-parser": System(""),
    "spacy": System("spacy", against=("syntr", "spacy-parser", "rngtr")),
    "empty": System("empty", against=("syntr", "rngtr")),
    "empty-checkpoint": System("empty-checkpoint", against=("syntr", "rngtr")),
}


# Training


def make_config(row: Row, seed: int, args: argparse.Namespace) -> Config:
    """The row's config with all settings, places of files in ``[paths]``."""
    config = load_config(CONFIGS / row.config)
    if row.refiner:
        config["components"]["rng_refiner"] = load_config(CONFIGS / row.refiner)["components"]["rng_refiner"]
    if row.encoder:
        config["initialize"]["components"]["rng_refiner"]["encoder"] = ENCODERS[row.encoder]
    train_parsed, dev_parsed = parsed_files(row, args)
    paths = {"train": args.train, "dev": args.dev, "train_parsed": train_parsed, "dev_parsed": dev_parsed}
    parser = args.output / str(seed) / row.base / BEST if row.base else None
    paths |= {"encoder": args.encoder, "parser": parser}
    config["paths"] |= {name: path and str(path) for name, path in paths.items()}
    is_copy = row.base and row.encoder != "checkpoint"
    factors = {"g2g_parser": args.encoder_rate_factor}
    factors["rng_refiner"] = args.copy_rate_factor if is_copy else args.encoder_rate_factor
    general = {f"components.{name}.model.encoder_rate_factor": factor for name, factor in factors.items()}
    general |= args.set
    settings = overrides("", args.lang, getattr(args, row.steps)) | {"system.seed": seed}
    settings |= {name: value for name, value in general.items() if has_setting(config, name)}
    return Config().from_str(config.to_str(), overrides={**settings, **row.settings}, interpolate=False)


def parsed_files(row: Row, args: argparse.Namespace) -> tuple[Path | None, Path | None]:
    """TRAIN and DEV with a row's initial trees, if they come from files."""
    if row.trees == "spacy":
        return args.spacy_train_parsed, args.spacy_dev_parsed
    return (args.output / "jackknife.spacy" if row.trees else None), None


def train_row(name: str, seed: int, args: argparse.Namespace) -> None:
    """Train a row, unless it is trained already, lacks its files, or this is a dry run."""
    row, folder = ROWS[name], args.output / str(seed) / name
    if row.trees == "spacy" and None in parsed_files(row, args):
        msg.warn(f"{folder}: needs --spacy-train-parsed and --spacy-dev-parsed")
        return
    config = make_config(row, seed, args)
    if is_trained(folder, config):
        return
    msg.divider(str(folder))
    if args.dry_run:
        print(config.to_str(interpolate=False))
        return
    if row.trees == "jackknife":
        make_jackknife(args)
    train_into(folder, config, args.gpu)


def make_jackknife(args: argparse.Namespace) -> None:
    """Parse the training set by `jackknife.py`, once for all seeds, with parsers like `syntr`."""
    output, config = args.output / "jackknife.spacy", args.output / "jackknife.cfg"
    if output.exists():
        return
    make_config(ROWS["syntr"], 0, args).to_disk(config, interpolate=False)
    options = {"--dev": args.dev, "--folds": args.folds, "--config": config, "--encoder": args.encoder}
    options |= {"--lang": args.lang, "--steps": args.jackknife_steps, "--gpu": args.gpu}
    pairs = [str(item) for option in options.items() for item in option]
    jackknife.main([str(args.train), str(output), *pairs])


# Scores


def score(name: str, seed: int, gold: Path, parsed: Path | None, args: argparse.Namespace) -> Counts | None:
    """What a system has right in a file; None if it can't parse it yet.

    parsed: The same sentences with the trees of spaCy's parser.
    """
    system, folder = SYSTEMS[name], args.output / str(seed) / SYSTEMS[name].row
    sentences = list(read_conllu(gold, trees="full"))
    if not system.row:
        trees = read_conllu(parsed, trees="any") if parsed else ()
        return {**count(sentences, trees), "passes": None, "parameters": {}} if parsed else None
    path = folder / f"{name}.{gold.stem}.json"
    if (found := kept_counts(path, sentences)) is not None:
        return found
    needs_trees = ROWS[system.row].trees == "spacy"
    if not (folder / BEST).exists() or (needs_trees and parsed is None):
        return None
    settings = {f"{REFINER}.model.{setting}": value for setting, value in system.settings.items()}
    nlp = spacy.load(folder / BEST, config=settings)
    docs = list(sentences_to_docs(sentences, nlp.vocab, annotations=("SENT_START",)))
    if needs_trees and parsed is not None:
        for doc, (_, graph) in zip(docs, read_aligned(gold, parsed, nlp.vocab), strict=True):
            if graph is not None:
                graph.write(doc)
    docs = list(nlp.pipe(docs))
    passes = [max(doc._.get(ITERATIONS)) for doc in docs] if nlp.has_pipe("rng_refiner") else None
    counts = count(sentences, (sentence for doc in docs for sentence in doc_to_sentences(doc)))
    counts |= {"passes": passes, "parameters": count_parameters(nlp)}
    write_atomically(path, json.dumps(counts) + "\n")
    return counts


# The table


def make_table(gold: Path, parsed: Path | None, args: argparse.Namespace) -> dict[str, Any]:
    """Scores and comparisons of all systems on a file; None for those that are missing."""
    counts: dict[str, dict[int, Counts]] = {}
    for name in SYSTEMS:
        found = {seed: score(name, seed, gold, parsed, args) for seed in args.seeds}
        counts[name] = {seed: result for seed, result in found.items() if result is not None}
    return {name: summary(name, counts) if counts[name] else None for name in SYSTEMS}


def summary(name: str, counts: Mapping[str, Mapping[int, Counts]]) -> dict[str, Any]:
    """Scores between 0 and 1 and passes per word, of each seed and their mean; parameters; comparisons."""
    seeds = counts[name]
    values = {m: [sum(c[m]) / sum(c["words"]) for c in seeds.values()] for m in METRICS}
    passed = [c for c in seeds.values() if c["passes"]]
    values["passes"] = [float(np.average(c["passes"], weights=c["words"])) for c in passed]
    return {
        "seeds": list(seeds),
        **{key: mean_and_values(v) for key, v in values.items()},
        "parameters": next(iter(seeds.values()))["parameters"],
        "against": {other: compare(seeds, counts[other]) for other in SYSTEMS[name].against},
    }


def markdown(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """A table and a list of further comparisons for each file, in percent."""
    header = ["system", *METRICS.values(), "LAS to syntr", "95% interval", "p", "passes", "parameters"]
    lines = []
    for file, table in tables.items():
        rows = [[name, *cells(entry)] for name, entry in table.items()]
        lines += [f"## {file}", "", *markdown_table([header, *rows]), ""]
        for name, entry in table.items():
            for other, comparison in (entry["against"] if entry else {}).items():
                if comparison and other != "syntr":
                    lines.append(comparison_line(name, other, comparison))
        lines.append("")
    return "\n".join(lines)


def cells(entry: Mapping[str, Any] | None) -> list[str]:
    """A system's row, after its name."""
    if entry is None:
        return ["missing", *[""] * (len(METRICS) + 4)]
    scores = [percent(entry[metric]) for metric in METRICS]
    passes = f"{entry['passes']['mean']:.2f}" if entry["passes"] else "-"
    parameters = f"{sum(entry['parameters'].values()):,}" if entry["parameters"] else "-"
    return [*scores, *difference(entry["against"].get("syntr")), passes, parameters]


# The command


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("train", type=Path, help="training corpus, .spacy")
    add("dev", type=Path, help="development corpus, .conllu")
    add("output", type=Path, help="folder for models and tables")
    add("--encoder", required=True, help="hub name or folder of a checkpoint")
    add("--rows", nargs="*", choices=ROWS, default=list(ROWS), help="rows to train, and what they build on")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2], help="a model of each row for each of them")
    add("--also", type=Path, help="another .conllu file to score on, as the test set")
    for part in ("train", "dev", "also"):
        add(f"--spacy-{part}-parsed", type=Path, help=f"{part.upper()} as spaCy's parser parsed it, .conllu")
    for steps in ("parser", "refiner", "empty"):
        add(f"--{steps}-steps", type=int, default=0, help="of the optimizer; 0 for the config's")
    add("--jackknife-steps", type=int, default=0, help="of each of its parsers; 0 for those of row syntr")
    add("--folds", type=int, default=5, help="number of parsers of row jackknife")
    add("--encoder-rate-factor", type=float, default=0.1, help="0.1 is for a small encoder, see configs")
    add("--copy-rate-factor", type=float, default=0.03, help="the same of what comes from a trained parser")
    of_all = "settings of all rows whose config has them"
    add("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=of_all)
    add("--lang", default="en", help="language code of the pipelines")
    add("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    add("--dry-run", action="store_true", help="show the configs of what would be trained, and stop")
    args = cli.parse_args(arguments)
    args.set = parse_config_overrides([f"--{item}" for item in args.set], env_var=None)
    configs = [load_config(CONFIGS / row.config) for row in ROWS.values()]
    for setting in args.set:
        if not any(has_setting(config, setting) for config in configs):
            cli.error(f"--set: no config has the setting {setting}")
    return args


def main(arguments: Sequence[str] | None = None) -> None:
    args = read_arguments(arguments)
    files = {args.dev: args.spacy_dev_parsed}
    if args.also:
        files[args.also] = args.spacy_also_parsed
    for path in files:
        if path.suffix != ".conllu" or not path.is_file():
            raise SystemExit(f"{path}: expected a CoNLL-U file to score on, named .conllu")
    bases = {ROWS[name].base for name in args.rows}
    for seed in args.seeds:
        for name in ROWS:
            if name in args.rows or name in bases:
                train_row(name, seed, args)
    if args.dry_run:
        return
    setup_gpu(args.gpu)
    tables = {gold.name: make_table(gold, parsed, args) for gold, parsed in files.items()}
    for name, text in (("json", json.dumps(tables, indent=2) + "\n"), ("md", markdown(tables))):
        write_atomically(args.output / f"table.{name}", text)
    print(markdown(tables))


if __name__ == "__main__":
    main()
