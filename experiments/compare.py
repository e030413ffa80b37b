"""Compare the LAS of two systems that were trained with several seeds.

    python -m experiments.compare GOLD --first A.0.conllu A.1.conllu ... --second B.0.conllu B.1.conllu ...

The files have the trees of each seed for the words of GOLD, as `g2g parse` writes them, the seeds in the same
order. The paired bootstrap takes samples of sentences, each with the trees of all seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from spacy_g2g.formats.conllu import read_conllu

from .table.report import compare
from .table.scores import count


def main(argv: Sequence[str] | None = None) -> None:
    """Print the LAS of each seed, and the difference of the means."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("gold", type=Path, help="treebank, .conllu")
    cli.add_argument(
        "--first", type=Path, nargs="+", required=True, help="trees of a system, a file for each seed"
    )
    cli.add_argument("--second", type=Path, nargs="+", required=True, help="trees of another system")
    args = cli.parse_args(argv)
    if len(args.first) != len(args.second):
        cli.error(
            f"{len(args.first)} and {len(args.second)} files: expected one of each system for each seed"
        )
    gold = list(read_conllu(args.gold))
    systems = [
        {seed: count(gold, read_conllu(path)) for seed, path in enumerate(paths)}
        for paths in (args.first, args.second)
    ]
    n_words = sum(len(sentence.words) for sentence in gold)
    for name, system in zip(("first", "second"), systems, strict=True):
        values = [100 * sum(counts["las"]) / n_words for counts in system.values()]
        shown = ", ".join(f"{value:.2f}" for value in values)
        print(f"{name}: LAS {sum(values) / len(values):.2f} ({shown})")
    found = compare(systems[1], systems[0])
    assert found is not None
    difference, low, high = (100 * found[key] for key in ("difference", "low", "high"))
    print(f"second - first: {difference:+.2f} ({low:+.2f} to {high:+.2f}), p {found['p_value']:.4f}")


if __name__ == "__main__":
    main()
