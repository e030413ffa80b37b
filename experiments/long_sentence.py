"""Measure the memory and time that one sentence needs, by its number of words.

Each line has the memory that the process needed at most, beyond what it had before the first sentence, so
give the numbers of words in rising order.

    python -m experiments.long_sentence PIPELINE --words 1000 2000 20000
"""

from __future__ import annotations

import argparse
import resource
import time

import spacy
from spacy.tokens import Doc


def peak_mib() -> float:
    """Return the largest resident memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline")
    parser.add_argument("--words", type=int, nargs="+", default=[1000, 2000, 4000, 20000])
    parser.add_argument("--word", default="!", help="word that the sentence repeats")
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    before = 0.0
    for n in [20, *args.words]:
        doc = Doc(nlp.vocab, words=[args.word] * n, sent_starts=[True] + [False] * (n - 1))
        start = time.process_time()
        nlp(doc)
        seconds = time.process_time() - start
        before = before or peak_mib()
        print(f"{n:,} words: {peak_mib() - before:,.0f} MiB more, {seconds:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
