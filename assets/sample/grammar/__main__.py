"""Make the sample treebank.

    python -m assets.sample.grammar [--output DIR] [--seed N] ...

The same seed and sizes give the same bytes on every Python. No sentence occurs twice in the three
files. The development and test sets also have a few words that the training set lacks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from .sentences import Grammar
from .tree import Dice, Sentence

SHORTEST, LONGEST = 3, 30  # words
SPLITS = ("train", "dev", "test")


def unique_sentences(grammar: Grammar, count: int, seen: set[str]) -> Iterator[Sentence]:
    """Yield sentences that have not been seen, and add them to the seen ones.

    grammar: Grammar that makes the sentences.
    count: Number of sentences.
    seen: Texts of the seen sentences in lower case.
    """
    while count:
        sentence = Sentence(grammar.sentence())
        text = sentence.text.lower()
        if SHORTEST <= len(sentence.nodes) <= LONGEST and text not in seen:
            seen.add(text)
            count -= 1
            yield sentence


def conllu_lines(split: str, sentences: Iterator[Sentence]) -> Iterator[str]:
    """Yield the lines of a file, with documents of 20 sentences and paragraphs of 5."""
    for i, sentence in enumerate(sentences):
        if i % 20 == 0:
            yield f"# newdoc id = sample-{split}-{i // 20 + 1:03}"
        if i % 5 == 0:
            yield "# newpar"
        yield f"# sent_id = sample-{split}-{i + 1:04}"
        yield f"# text = {sentence.text}"
        yield from sentence.lines()
        yield ""


def make_sample(output: Path, seed: int, sizes: dict[str, int]) -> None:
    """Write a CoNLL-U file for each set.

    output: Folder for the files.
    seed: Seed of the random choices.
    sizes: Number of sentences in each set.
    """
    output.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    for offset, split in enumerate(SPLITS):
        grammar = Grammar(Dice(seed * len(SPLITS) + offset), rare=split != "train")
        lines = conllu_lines(split, unique_sentences(grammar, sizes[split], seen))
        path = output / f"en_sample-ud-{split}.conllu"
        path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the sample treebank.")
    parser.add_argument("--output", type=Path, default=Path("assets/sample"), help="folder to write to")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices")
    for split, size in zip(SPLITS, (2400, 200, 200), strict=True):
        parser.add_argument(f"--{split}", type=int, default=size, help=f"sentences in {split}")
    args = parser.parse_args()
    make_sample(args.output, args.seed, {split: getattr(args, split) for split in SPLITS})


if __name__ == "__main__":
    main()
