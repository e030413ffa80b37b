"""Count by module the mutants that tests catch, and fail if fewer than nine of ten are caught.

    python -m experiments.mutants results.txt

`make mutants` runs it. The file is what `mutmut results --all true` prints: each line has a mutant and its
fate. A mutant that no test runs is not caught. One that never ends is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from project.markdown import markdown_table

#: Least share of all mutants that are caught.
LEAST = 0.9
#: Fates of mutants that no test catches, and of those that were not tried.
MISSED, UNTRIED = {"survived", "no tests"}, {"not checked", "skipped"}


def count(lines: Iterable[str]) -> dict[str, Counter[bool]]:
    """Return how many mutants of each module are caught, and how many are not."""
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for line in lines:
        name, _, fate = line.strip().rpartition(": ")
        if name and fate not in UNTRIED:
            counts[name.rpartition(".")[0]][fate not in MISSED] += 1
    return dict(counts)


def table(counts: dict[str, Counter[bool]]) -> str:
    """Return a row for each module, and one for all of them."""
    rows = [["module", "mutants", "caught"]]
    for name, found in {**counts, "all": sum(counts.values(), Counter[bool]())}.items():
        rows.append([name, str(found.total()), f"{found[True] / found.total():.1%}"])
    return markdown_table(rows)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path)
    lines = parser.parse_args(argv).results.read_text(encoding="utf8").splitlines()
    print("Mutants that no test catches, each of which `mutmut show NAME` shows:")
    print(*(line for line in lines if line.rpartition(": ")[2] in MISSED), sep="\n")
    counts = count(lines)
    if not counts:
        sys.exit(f"Expected mutants in the results of mutmut, got {lines[:3]}")
    print(table(counts))
    found = sum(counts.values(), Counter[bool]())
    if found[True] < LEAST * found.total():
        sys.exit(f"Expected {LEAST:.0%} of all mutants to be caught, got {found[True]} of {found.total()}")


if __name__ == "__main__":
    main()
