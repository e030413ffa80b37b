"""Score a pipeline on a treebank's development and test sets: `score.py MODEL FOLDER METRICS ...`.

METRICS gets dev.json and test.json, and facts.json that says of what: the treebank and what scripts/train.py
noted beside the pipeline. What is scored already is left as it is.
"""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timezone
from pathlib import Path

from choices import UNSET, read_source
from once import FACTS, digest, is_done, mark_done, read_facts
from spacy.cli._util import setup_gpu

import spacy_g2g
from spacy_g2g.cli.common import atomic_path, user_errors
from spacy_g2g.cli.evaluate import evaluate, print_scores, write_scores

KINDS = ("parser", "refined", "pipeline")


def score_once(
    model: Path, model_digest: str, gold: Path, output: Path, raw: bool, exclude_punct: str
) -> bool:
    """Write the metrics of one set, unless they are there; whether they were written."""
    made = {"inputs": {"model": model_digest, "gold": digest(gold)}}
    made["settings"] = {"raw": raw, "exclude_punct": exclude_punct}
    if is_done(output, made):
        return False
    scores = evaluate(str(model), gold, raw=raw, exclude_punct=exclude_punct, silent=False)
    write_scores(scores, output)
    mark_done(output, made)
    print_scores(scores, f"{'text' if raw else 'gold words and sentences'}: {output}")
    return True


def score(args: argparse.Namespace) -> None:
    exclude_punct = "" if args.exclude_punct in UNSET else args.exclude_punct
    model_digest = digest(args.model)
    for split in ("dev", "test"):
        gold = args.folder / f"{split}.conllu"
        for raw in (False, True) if args.raw else (False,):
            output = args.metrics / f"{split}{'_raw' if raw else ''}.json"
            if not gold.exists():
                output.unlink(missing_ok=True)
                continue
            score_once(args.model, model_digest, gold, output, raw, exclude_punct)
    write_facts(args, exclude_punct)


def write_facts(args: argparse.Namespace, exclude_punct: str) -> None:
    """Note what was scored, with the date at which it changed."""
    facts = {
        "run": args.run or args.metrics.name,
        "kind": args.kind,
        "treebank": read_source(args.folder),
        "training": read_facts(args.model.parent),
        "exclude_punct": exclude_punct,
        "scored_by": f"spacy-g2g {spacy_g2g.__version__}",
    }
    old = read_facts(args.metrics)
    if {**old, "date": None} == {**facts, "date": None}:
        return
    facts["date"] = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    with atomic_path(args.metrics / FACTS) as path:
        path.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf8")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path, help="folder of a trained pipeline")
    cli.add_argument("folder", type=Path, help="folder with dev.conllu and perhaps test.conllu")
    cli.add_argument("metrics", type=Path, help="folder for the scores")
    cli.add_argument("--run", default="", help="name that a parser and its refiner share in the report")
    cli.add_argument("--kind", choices=KINDS, default="parser", help="what the pipeline is, in the report")
    cli.add_argument("--raw", action="store_true", help="also from text, not from gold words and sentences")
    cli.add_argument("--exclude-punct", default="", help="also without punctuation; see g2g evaluate")
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    args = cli.parse_args()
    with user_errors():
        setup_gpu(args.gpu)
        score(args)


if __name__ == "__main__":
    main()
