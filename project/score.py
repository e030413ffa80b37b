"""Score a pipeline on a treebank's development and test sets.

    python -m project.score MODEL FOLDER METRICS [--run NAME] [--kind KIND] [--raw] ...

METRICS gets dev.json, test.json and facts.json, with the facts about the treebank and about the training.
With `--raw` it also gets scores from text, dev_raw.json and test_raw.json, and the speed, speed.json
(project/timing.py).
Each of the treebanks that were joined gets them in a folder of its name.
Scores that are up to date are not computed again. With `--amrs` the sets are the AMRs that
project/amr_data.py converted, and FOLDER is the folder that it fetched.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.cli._util import setup_gpu
from spacy.util import load_config
from wasabi import msg

import spacy_g2g
from spacy_g2g.amr.api import make_amr_corpus
from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.data.docs import TREEBANK_KEY
from spacy_g2g.files import sha256_of
from spacy_g2g.terminal.common import user_errors, write_json

from .timing import SPEED_FILE, measure
from .treebank_settings import AMR, UNSET, joined_treebanks, read_source
from .up_to_date import FACTS, is_up_to_date, one_at_a_time, read_facts, record_sources, today

KINDS = ("parser", "refined", "pipeline")
#: Prefixes of the metrics of AMRs in the scores of a pipeline.
AMR_SCORES = {"Smatch": "smatch", "Concepts": "amr_concepts"}


def score_once(
    model_digest: str, gold: Path, *, output: Path, write: Callable[[], None], **settings: Any
) -> None:
    """Write the scores of one set, unless they are up to date.

    model_digest: Digest of the pipeline.
    gold: File with the gold annotation.
    output: File for the scores.
    write: Function that writes them.
    settings: Settings that the scores depend on.
    """
    made = {"inputs": {"model": model_digest, "gold": sha256_of(gold)}, "settings": settings}
    if not is_up_to_date(output, made):
        write()
        record_sources(output, made)


def write_trees(model: Path, *, gold: Path, output: Path, **options: Any) -> None:
    """Write and print the scores of trees. Options are those of `g2g evaluate`."""
    msg.info(f"{gold.name}: {output}")
    evaluate(str(model), gold, output=output, **options)


def write_amrs(model: Path, *, gold: Path, output: Path) -> None:
    """Write and print Smatch and the scores of concepts, on gold words and sentences."""
    nlp = spacy.load(model)
    result = nlp.evaluate(list(make_amr_corpus(gold)(nlp)))
    keys = {"precision": "p", "recall": "r", "f1": "f"}
    scores, rows = {}, []
    for name, prefix in AMR_SCORES.items():
        scores[name] = {key: result[f"{prefix}_{letter}"] for key, letter in keys.items()}
        rows.append((name, *(f"{100 * value:.2f}" for value in scores[name].values())))
    write_json(output, scores)
    msg.divider(f"AMRs, from gold words and sentences: {output}")
    msg.table(rows, header=("Metric", "Precision", "Recall", "F1"), aligns=("l", *"rrr"))


def write_speed(model: Path, *, gold: Path, output: Path) -> None:
    """Write times and memory of a pipeline on the texts of a treebank."""
    msg.info(f"Time and memory: {output}")
    write_json(output, measure(model, gold))


def score(args: argparse.Namespace) -> None:
    """Score all sets of each treebank. Arguments are those of the command."""
    names = joined_treebanks(read_source(args.folder))
    run = args.run or args.metrics.name
    for name, prefix in names.items():
        paths = {"folder": args.folder / name, "metrics": args.metrics / name, "run": f"{name} of {run}"}
        score(argparse.Namespace(**{**vars(args), **paths, "treebank": prefix}))
    if not names:
        score_sets(args)
    write_facts(args, run)


def score_sets(args: argparse.Namespace) -> None:
    """Score all sets of one treebank."""
    exclude_punct = "" if args.exclude_punct in UNSET else args.exclude_punct
    model_digest = sha256_of(args.model)
    components = load_config(args.model / "config.cfg")["components"].values()
    reads_treebank = any(pipe.get("model", {}).get("tag_attr") == TREEBANK_KEY for pipe in components)
    options = {"exclude_punct": exclude_punct} | ({"treebank": args.treebank} if reads_treebank else {})
    for split in ("dev", "test"):
        gold = args.amrs / f"{split}.spacy" if args.amrs else args.folder and args.folder / f"{split}.conllu"
        for raw in (False, True) if args.raw else (False,):
            output = args.metrics / f"{split}{'_raw' if raw else ''}.json"
            if not gold or not gold.exists():
                output.unlink(missing_ok=True)
            elif args.amrs:
                score_once(
                    model_digest,
                    gold,
                    output=output,
                    write=partial(write_amrs, args.model, gold=gold, output=output),
                )
            else:
                write = partial(
                    write_trees, args.model, gold=gold, output=output, gpu_id=args.gpu, raw=raw, **options
                )
                score_once(model_digest, gold, output=output, write=write, raw=raw, **options)
                if raw and split == "dev":
                    output = args.metrics / SPEED_FILE
                    write = partial(write_speed, args.model, gold=gold, output=output)
                    score_once(model_digest, gold, output=output, write=write)


def write_facts(args: argparse.Namespace, run: str) -> None:
    """Write the facts about the scores of a run, with the date of their last change."""
    facts = {
        "run": run,
        "kind": AMR if args.amrs else args.kind,
        "treebank": read_source(args.folder),
        "training": read_facts(args.model.parent),
        "exclude_punct": "" if args.exclude_punct in UNSET else args.exclude_punct,
        "scored_by": f"spacy-g2g {spacy_g2g.__version__}",
    }
    old = read_facts(args.metrics)
    if {**old, "date": None} == {**facts, "date": None}:
        return
    write_json(args.metrics / FACTS, {**facts, "date": today()})


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path, help="folder of a trained pipeline, or name of a package")
    folder = 'folder with dev.conllu and perhaps test.conllu; "" for none'
    cli.add_argument("folder", type=lambda path: None if path in UNSET else Path(path), help=folder)
    cli.add_argument("metrics", type=Path, help="folder for the scores")
    cli.add_argument("--run", default="", help="name that a parser and its refiner share in the report")
    cli.add_argument("--kind", choices=KINDS, default="parser", help="what the pipeline is, in the report")
    cli.add_argument("--amrs", type=Path, help="folder with dev.spacy and perhaps test.spacy, of AMRs")
    cli.add_argument("--raw", action="store_true", help="also from text, not from gold words and sentences")
    cli.add_argument("--exclude-punct", default="", help="also without punctuation; see g2g evaluate")
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    args = cli.parse_args(namespace=argparse.Namespace(treebank=""))
    with user_errors(), one_at_a_time(args.metrics):
        setup_gpu(args.gpu)
        if not args.model.exists():
            args.model = spacy.load(str(args.model)).path  # a Path would be a folder
        score(args)


if __name__ == "__main__":
    main()
