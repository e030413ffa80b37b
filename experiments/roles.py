"""Score a role labeler sentence by sentence, and compare labelers over seeds.

    python -m experiments.roles score MODEL dev.conllu --trees TREES.conllu --output predicted-0.json
    python -m experiments.roles compare none-*.json --with predicted-*.json

``score`` counts arguments by their heads, once with the gold predicates and once with the words alone. TREES
are the trees that the labeler reads: those of a parser over the same sentences, or the gold file itself.
Without this option, it reads none. ``compare`` takes a file of each seed for two ways of training, in the
order of the seeds.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_g2g.data.refiner_corpus import make_refiner_corpus
from spacy_g2g.data.roles import get_roles, set_roles
from spacy_g2g.roles.role_labeler import RoleLabeler
from spacy_g2g.roles.role_scorer import METRICS, items

RESAMPLES, SEED = 10_000, 0
#: Distances in the tree from here on count as one.
FAR = 4


def f1(counts: Any) -> Any:
    """Return F1 in percent of right, found and gold items, [3, ...]."""
    return 200 * counts[0] / np.maximum(counts[1] + counts[2], 1)


def tree_distance(doc: Doc, a: int, *, b: int) -> int:
    """Return the number of arcs between two tokens in the tree of a Doc."""
    first = [doc[a], *doc[a].ancestors]
    second = [doc[b], *doc[b].ancestors]
    shared = [i + second.index(token) for i, token in enumerate(first) if token in second]
    return min(shared, default=FAR)


def score(model: Path, *, gold: Path, trees: Path | None) -> dict[str, Any]:
    """Return F1 of each metric, and counts by sentence and by distance in the gold tree."""
    nlp = spacy.load(model)
    labeler = nlp.get_pipe("role_labeler")
    assert isinstance(labeler, RoleLabeler)
    report: dict[str, Any] = {}
    for way in ("given", "words"):
        labeler.given_predicates = way == "given"
        examples = [*make_refiner_corpus(gold, predicted=trees)(nlp)]
        for example in examples if labeler.given_predicates else ():
            set_roles(example.predicted, get_roles(example.reference))
        totals, sentences = {metric: np.zeros(3, int) for metric in METRICS}, []
        distances: dict[int, Any] = defaultdict(lambda: np.zeros(3, int))
        for doc, example in zip(nlp.pipe([each.predicted for each in examples]), examples, strict=True):
            found, expected = items(get_roles(doc) or []), items(get_roles(example.reference) or [])
            for metric, total in totals.items():
                total += [len(each) for each in _sides(found[metric], expected[metric])]
            sides = _sides(found["heads"], expected["heads"])
            sentences.append([len(side) for side in sides])
            for column, side in enumerate(sides):
                for word, _, head in side:
                    distances[min(FAR, tree_distance(example.reference, word, b=head))][column] += 1
        scores = {metric: float(f1(total)) for metric, total in totals.items()}
        by_distance = {str(n): distances[n].tolist() for n in sorted(distances)}
        report[way] = {"f1": scores, "sentences": sentences, "by_distance": by_distance}
    return report


def _sides(found: set[Any], expected: set[Any]) -> tuple[set[Any], set[Any], set[Any]]:
    return found & expected, found, expected


def compare(counts: Any, seed: int = SEED) -> dict[str, float]:
    """Compare two ways of training by the paired bootstrap over seeds and sentences.

    Each resample draws seeds and sentences with replacement, the same ones for both ways. F1 is the mean over
    the seeds. The p-value is the two-sided one of ``spacy_g2g.evaluation.bootstrap``.

    counts: Right, found and gold arguments, int [ways, seeds, sentences, 3].
    """
    _, n_seeds, n_sentences, _ = counts.shape
    rng, drawn = np.random.default_rng(seed), []
    scores = f1(np.moveaxis(counts.sum(axis=2), -1, 0)).mean(axis=1)
    difference = scores[1] - scores[0]
    for _ in range(RESAMPLES):
        weights = np.bincount(rng.integers(n_sentences, size=n_sentences), minlength=n_sentences)
        sums = np.einsum(
            "wksc,s->wkc", counts[:, rng.integers(n_seeds, size=n_seeds)], weights, optimize=True
        )
        first, second = f1(np.moveaxis(sums, -1, 0)).mean(axis=1)
        drawn.append(second - first)
    low, high = np.quantile(drawn, [0.025, 0.975])
    n_far = sum(abs(each - difference) >= abs(difference) for each in drawn)
    values = {"first": scores[0], "second": scores[1], "difference": difference, "low": low, "high": high}
    return {**{name: float(value) for name, value in values.items()}, "p": (int(n_far) + 1) / (RESAMPLES + 1)}


def read_report(path: Path) -> dict[str, Any]:
    """Read what ``score`` has written."""
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return report


def main() -> None:
    """Print the scores or the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    scoring = commands.add_parser("score")
    scoring.add_argument("model", type=Path)
    scoring.add_argument("gold", type=Path)
    scoring.add_argument("--trees", type=Path)
    scoring.add_argument("--output", type=Path, required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("first", type=Path, nargs="+")
    comparing.add_argument("--with", type=Path, nargs="+", dest="second", required=True)
    args = parser.parse_args()
    if args.command == "score":
        report = score(args.model, gold=args.gold, trees=args.trees)
        args.output.write_text(json.dumps(report), encoding="utf8")
        print({way: report[way]["f1"] for way in report})
        return
    ways = [[*map(read_report, paths)] for paths in (args.first, args.second)]
    for way in ("given", "words"):
        counts = [[*map(itemgetter("sentences"), map(itemgetter(way), reports))] for reports in ways]
        difference = compare(np.array(counts))
        print(way, {name: round(value, 4) for name, value in difference.items()})


if __name__ == "__main__":
    main()
