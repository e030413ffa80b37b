"""Simulate an annotator who corrects parses: in reading order, or the least certain arcs first.

    python -m experiments.simulated_annotation PIPELINE GOLD.conllu [--target 97]

The annotator looks at one word after another, and corrects a wrong head or label (with subtypes). With
re-parse, the sentence is then parsed again, with the gold arcs of all words that were seen as constraints.
The least certain word is the one, in the whole file, whose labelled arc is the least probable.

The encoder runs once: new parses come from the kept scores. The table has, for each policy, the corrections
and the words looked at until LAS of the whole file reaches the target.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import spacy
import torch
from spacy.tokens import Doc

from project.markdown import markdown_table
from spacy_g2g.data.doc_constraints import constrain
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.pipeline.final_parser import final_parser
from spacy_g2g.pipeline.g2g_parser import G2GParser

#: Head and label of a word.
Arc: TypeAlias = tuple[int, str]
#: Whether the least certain arcs come first, and whether a correction is followed by a new parse.
POLICIES = {
    "reading order": (False, False),
    "least certain first": (True, False),
    "reading order, re-parse": (False, True),
    "least certain first, re-parse": (True, True),
}


@dataclass
class Desk:
    """A sentence whose parse is being corrected.

    doc: The sentence, which keeps its scores.
    gold: Gold head and label of each token; a root is its own head.
    found: Head and label of each token at present.
    seen: Tokens that the annotator has looked at.
    version: Number of parses.
    """

    doc: Doc
    gold: list[Arc]
    found: list[Arc]
    seen: set[int] = field(default_factory=set)
    version: int = 0

    @property
    def n_right(self) -> int:
        """Number of tokens with the right head and label."""
        return sum(found == gold for found, gold in zip(self.found, self.gold, strict=True))

    def reparse(self, parser: G2GParser) -> None:
        """Parse again, so that all tokens that were seen keep their gold arcs."""
        arcs = {i: self.gold[i] for i in self.seen}
        heads = {i: head for i, (head, _) in arcs.items()}
        deps = {i: dep for i, (_, dep) in arcs.items() if dep in parser.labels}
        constrain(self.doc, heads=heads, deps=deps)
        self.found = arcs_of(parser.reparse(self.doc))
        for i, arc in arcs.items():
            self.found[i] = arc
        self.version += 1


@dataclass
class Costs:
    """What an annotator did until the target was reached."""

    corrections: int = 0
    looks: int = 0


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    args = read_arguments(argv)
    torch.set_num_threads(1)
    nlp = spacy.load(args.pipeline)
    parser = final_parser(nlp, keep_scores=True)
    gold = list(read_conllu(args.gold, trees="full"))
    docs = list(nlp.pipe(sentences_to_docs(gold, nlp.vocab, annotations=["SENT_START"])))
    n_words = sum(map(len, docs))
    n_right = sum(desk.n_right for desk in make_desks(docs, gold))
    print(f"{len(docs)} sentences, {n_words:,} words; LAS with subtypes {100 * n_right / n_words:.2f}")
    rows = [["policy", "corrections", "words looked at"]]
    for name, (by_certainty, reparse) in POLICIES.items():
        copies = [doc.copy() for doc in docs]
        costs = annotate(parser, make_desks(copies, gold), args.target / 100, by_certainty, reparse)
        rows.append([name, f"{costs.corrections:,}", f"{costs.looks:,}"])
        print(f"{name}: {costs}", flush=True)
    print(markdown_table(rows))


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="folder or name of a trained pipeline")
    cli.add_argument("gold", type=Path, help="sentences to annotate, .conllu")
    cli.add_argument("--target", type=float, default=97.0, help="LAS in percent at which the annotator stops")
    return cli.parse_args(argv)


def arcs_of(doc: Doc) -> list[Arc]:
    """Return the head and the label of each token."""
    return [(token.head.i, token.dep_) for token in doc]


def make_desks(docs: Sequence[Doc], gold: Sequence[ConlluSentence]) -> list[Desk]:
    """Return parsed sentences with their gold trees."""
    desks = []
    for doc, sentence in zip(docs, gold, strict=True):
        heads = [(word.head or i) - 1 for i, word in enumerate(sentence.words, start=1)]
        deps = [word.deprel for word in sentence.words]
        desks.append(Desk(doc, list(zip(heads, deps, strict=True)), arcs_of(doc)))
    return desks


def annotate(
    parser: G2GParser, desks: Sequence[Desk], target: float, by_certainty: bool, reparse: bool
) -> Costs:
    """Correct arcs until LAS reaches the target, from 0 to 1; return what that took."""
    costs = Costs()
    n_needed = math.ceil(target * sum(len(desk.gold) for desk in desks))
    n_right = sum(desk.n_right for desk in desks)
    for desk, i in least_certain(parser, desks) if by_certainty else in_reading_order(desks):
        if n_right >= n_needed:
            break
        costs.looks += 1
        desk.seen.add(i)
        if desk.found[i] == desk.gold[i]:
            continue
        costs.corrections += 1
        n_right -= desk.n_right
        if reparse:
            desk.reparse(parser)
        else:
            desk.found[i] = desk.gold[i]
        n_right += desk.n_right
    return costs


def in_reading_order(desks: Sequence[Desk]) -> Iterator[tuple[Desk, int]]:
    """Yield all words."""
    for desk in desks:
        for i in range(len(desk.gold)):
            yield desk, i


def least_certain(parser: G2GParser, desks: Sequence[Desk]) -> Iterator[tuple[Desk, int]]:
    """Yield all words, the one with the least probable labelled arc first. A new parse changes the order."""
    queue: list[tuple[float, int, int, int]] = []

    def add(number: int) -> None:
        desk = desks[number]
        for found in parser.confidence(desk.doc):
            for i, p in zip(found.tokens, found.labelled, strict=True):
                if i not in desk.seen:
                    heapq.heappush(queue, (p, number, i, desk.version))

    for number in range(len(desks)):
        add(number)
    while queue:
        _, number, i, version = heapq.heappop(queue)
        desk = desks[number]
        if version == desk.version and i not in desk.seen:
            yield desk, i
            if desk.version > version:
                add(number)


if __name__ == "__main__":
    main()
