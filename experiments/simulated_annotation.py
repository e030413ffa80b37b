"""Simulate an annotator who corrects a file on the page of `g2g serve`.

    python -m spacy g2g serve PIPELINE &
    python -m experiments.simulated_annotation http://127.0.0.1:8000 GOLD.conllu [--target 97]

The annotator looks at one word after another, and corrects a wrong head or label (with subtypes): in reading
order, or always at the word of the file whose labeled arc is the least probable. Suggestions follow each
correction as on the page: by the request of its script, with the arcs of the words that are set as
constraints. These are the words that were corrected, and with "keep" also those that were looked at and are
right (key k). The table has the corrections and the words looked at until LAS of the file reaches the target.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from project.markdown import markdown_table
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

#: Head and label of a word. Words count from 0, and a root is its own head.
Arc: TypeAlias = tuple[int, str]
#: Whether the least certain arcs come first, suggestions follow a correction, and right words are kept.
POLICIES = {
    "reading order": (False, False, False),
    "least certain first": (True, False, False),
    "reading order, suggestions, keep": (False, True, True),
    "least certain first, suggestions": (True, True, False),
    "least certain first, suggestions, keep": (True, True, True),
}


@dataclass
class Desk:
    """A sentence whose parse is being corrected.

    rows: The sentence in CoNLL-U.
    gold: Gold arc of each word.
    found: Arc of each word at present.
    sure: Probability of each labeled arc.
    seen: Words that the annotator has looked at.
    fixed: Words that are set.
    version: Number of parses.
    """

    rows: str
    gold: list[Arc]
    found: list[Arc] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    fixed: set[int] = field(default_factory=set)
    version: int = 0

    @property
    def n_right(self) -> int:
        """Number of words with the right head and label."""
        return sum(found == gold for found, gold in zip(self.found, self.gold, strict=True))

    def parse(self, service: httpx.Client, labels: Sequence[str]) -> None:
        """Parse with the arcs of the words that are set, which keep them."""
        heads = {str(i): self.gold[i][0] for i in self.fixed}
        deps = {str(i): self.gold[i][1] for i in self.fixed if self.gold[i][1] in labels}
        constraints = {"heads": heads, "deps": deps}
        reply = service.post("/parse", json={"rows": self.rows, "constraints": constraints})
        reply.raise_for_status()
        (parse,) = reply.json()["sentences"]
        self.found = list(zip(parse["heads"], parse["deps"], strict=True))
        self.sure = parse["labeled"]
        for i in self.fixed:
            self.found[i] = self.gold[i]
        self.version += 1


@dataclass
class Costs:
    """What an annotator did until the target was reached."""

    corrections: int = 0
    looks: int = 0


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("url", help="address of the service")
    cli.add_argument("gold", type=Path, help="sentences to annotate, .conllu")
    cli.add_argument("--target", type=float, default=97.0, help="LAS in percent at which the annotator stops")
    args = cli.parse_args(argv)
    gold = list(read_conllu(args.gold, trees="full"))
    rows = [["policy", "corrections", "words looked at"]]
    with httpx.Client(base_url=args.url, timeout=60.0) as service:
        labels = service.get("/pipeline").json()["labels"]
        for name, policy in POLICIES.items():
            desks = make_desks(gold)
            for desk in desks:
                desk.parse(service, labels)
            if len(rows) == 1:
                n_words, n_right = sum(len(desk.gold) for desk in desks), sum(desk.n_right for desk in desks)
                print(f"{len(desks)} sentences, {n_words:,} words; LAS {100 * n_right / n_words:.2f}")
            costs = annotate(service, labels, desks, args.target / 100, *policy)
            print(f"{name}: {costs}", flush=True)
            rows.append([name, f"{costs.corrections:,}", f"{costs.looks:,}"])
    print(markdown_table(rows))


def make_desks(gold: Sequence[ConlluSentence]) -> list[Desk]:
    """Return sentences with their gold trees."""
    return [
        Desk(str(s), [((w.head or i) - 1, w.deprel) for i, w in enumerate(s.words, start=1)]) for s in gold
    ]


def annotate(
    service: httpx.Client,
    labels: Sequence[str],
    desks: Sequence[Desk],
    target: float,
    by_certainty: bool,
    suggests: bool,
    keeps: bool,
) -> Costs:
    """Correct arcs until LAS reaches the target, from 0 to 1; return what that took."""
    costs = Costs()
    n_needed = math.ceil(target * sum(len(desk.gold) for desk in desks))
    n_right = sum(desk.n_right for desk in desks)
    for desk, i in least_certain(desks) if by_certainty else in_reading_order(desks):
        if n_right >= n_needed:
            break
        costs.looks += 1
        desk.seen.add(i)
        is_right = desk.found[i] == desk.gold[i]
        if not is_right or keeps:
            desk.fixed.add(i)
        if is_right:
            continue
        costs.corrections += 1
        n_right -= desk.n_right
        desk.found[i] = desk.gold[i]
        if suggests:
            desk.parse(service, labels)
        n_right += desk.n_right
    return costs


def in_reading_order(desks: Sequence[Desk]) -> Iterator[tuple[Desk, int]]:
    """Yield all words."""
    for desk in desks:
        for i in range(len(desk.gold)):
            yield desk, i


def least_certain(desks: Sequence[Desk]) -> Iterator[tuple[Desk, int]]:
    """Yield all words, the one with the least probable labeled arc first. A new parse changes the order."""
    queue: list[tuple[float, int, int, int]] = []

    def add(number: int) -> None:
        desk = desks[number]
        for i in set(range(len(desk.gold))) - desk.seen:
            heapq.heappush(queue, (desk.sure[i], number, i, desk.version))

    for number in range(len(desks)):
        add(number)
    while queue:
        _, number, i, version = heapq.heappop(queue)
        desk: Any = desks[number]
        if version == desk.version and i not in desk.seen:
            yield desk, i
            if desk.version > version:
                add(number)


if __name__ == "__main__":
    main()
