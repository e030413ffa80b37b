"""Measure how well pipelines find the boundaries between short sentences.

    python -m experiments.short_sentences PIPELINE FILE.conllu ... [--seed 0]

The sentences of treebanks are shuffled and joined by spaces: pairs of up to four words, pairs of five to
seven words, and runs of three to eight sentences of up to seven words. Punctuation does not count as a word.
Each sentence is in one text of each kind. A sentence that does not end with a mark such as a full stop only
ends a text. The table has the share of the boundaries that are found, and the wrong starts inside sentences
as a share of the sentences.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import spacy

from project.markdown import markdown_table
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

#: Marks that end sentences, and those that may follow them.
ENDS, CLOSING = tuple(".!?\u2026\u3002\uff01\uff1f\u0964\u061f"), "\"')]\u201d\u2019\u00bb"
#: Finds the offsets at which sentences start in each text.
FindStarts = Callable[[Sequence[str]], Iterable[Collection[int]]]


class Kind(NamedTuple):
    """A kind of texts: its sentences have least to most words, and there are some to many of them."""

    name: str
    least: int
    most: int
    n_sentences: range


KINDS = (
    Kind("pairs of 1 to 4 words", 1, 4, range(2, 3)),
    Kind("pairs of 5 to 7 words", 5, 7, range(2, 3)),
    Kind("3 to 8 of 1 to 7 words", 1, 7, range(3, 9)),
)


class Result(NamedTuple):
    """Numbers of texts, of boundaries and of those found, of sentences and of wrong starts inside them."""

    n_texts: int
    n_boundaries: int
    n_found: int
    n_sentences: int
    n_wrong: int


def n_words(sentence: ConlluSentence) -> int:
    """Count the words of a sentence that are not punctuation."""
    return sum(word.upos != "PUNCT" for word in sentence.words)


def has_end(sentence: ConlluSentence) -> bool:
    """Return whether a sentence ends with a mark such as a full stop, perhaps before a closing quote."""
    return sentence.text.rstrip(CLOSING).endswith(ENDS)


def make_texts(sentences: Sequence[ConlluSentence], kind: Kind, seed: int) -> Iterator[list[str]]:
    """Yield the sentences of each text of a kind."""
    chance = random.Random(seed)
    chosen = [sentence for sentence in sentences if kind.least <= n_words(sentence) <= kind.most]
    chance.shuffle(chosen)
    inner = [sentence for sentence in chosen if has_end(sentence)]
    last = [sentence for sentence in chosen if not has_end(sentence)]
    while True:
        n = chance.choice(kind.n_sentences)
        if len(inner) < n:
            return
        # Sentences without an end mark end as many of the texts as they can.
        text = [inner.pop() for _ in range(n - 1)] + [(last or inner).pop()]
        yield [" ".join(sentence.text.split()) for sentence in text]


def measure(texts: Sequence[Sequence[str]], find_starts: FindStarts) -> Result:
    """Compare the starts of sentences that are found in texts with their sentences."""
    n_found = n_wrong = 0
    for text, starts in zip(texts, find_starts([" ".join(text) for text in texts]), strict=True):
        gold, start = set[int](), 0
        for sentence in text:
            gold.add(start)
            start += len(sentence) + 1
        n_found += len(gold & {*starts} - {0})
        n_wrong += len({*starts} - gold)
    n_sentences = len([*chain.from_iterable(texts)])
    return Result(len(texts), n_sentences - len(texts), n_found, n_sentences, n_wrong)


def row(kind: Kind, result: Result) -> list[str]:
    """Return the row of the table for a kind of texts."""
    found, wrong = result.n_found / max(1, result.n_boundaries), result.n_wrong / max(1, result.n_sentences)
    return [kind.name, str(result.n_texts), f"{100 * found:.1f}", f"{100 * wrong:.1f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="a pipeline's folder or package")
    cli.add_argument("treebanks", type=Path, nargs="+", help="treebank files, .conllu")
    cli.add_argument("--seed", type=int, default=0, help="seed of the order of the sentences")
    args = cli.parse_args(arguments)
    nlp = spacy.load(args.pipeline)
    sentences = [*chain.from_iterable(read_conllu(path) for path in args.treebanks)]

    def find_starts(texts: Sequence[str]) -> Iterator[Collection[int]]:
        for doc in nlp.pipe(texts):
            yield [sentence[0].idx for sentence in doc.sents]

    head = ["texts", "number", "boundaries found, %", "wrong starts, %"]
    results = {kind: measure([*make_texts(sentences, kind, args.seed)], find_starts) for kind in KINDS}
    print(markdown_table([head, *(row(kind, result) for kind, result in results.items())]))


if __name__ == "__main__":
    main()
