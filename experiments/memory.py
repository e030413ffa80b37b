"""Measure the memory of a long run of ``nlp.pipe``, and its growth after the first 2,000 sentences.

The sentences of a corpus are repeated.

    python -m experiments.memory PIPELINE DATA [--sentences 20000]
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_g2g.data.corpus import make_corpus

WARM_UP, EVERY = 2000, 500


def resident_mib() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sentences", type=int, default=20000)
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    examples = list(make_corpus(args.data)(nlp))

    def docs() -> Iterator[Doc]:
        for example in itertools.islice(itertools.cycle(examples), args.sentences):
            yield example.predicted.copy()

    counts, sizes = [], []
    for i, _ in enumerate(nlp.pipe(docs()), start=1):
        if i % EVERY == 0:
            counts.append(i)
            sizes.append(resident_mib())
    later = np.array(counts) > WARM_UP
    slope = np.polyfit(np.array(counts)[later], np.array(sizes)[later], 1)[0]
    print(
        json.dumps(
            {
                "sentences": args.sentences,
                "mib_after_2000": round(sizes[counts.index(WARM_UP)], 1),
                "mib_at_end": round(sizes[-1], 1),
                "mib_peak_later": round(float(np.array(sizes)[later].max()), 1),
                "slope_kib_per_1000_sentences": round(slope * 1000 * 1024, 1),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
