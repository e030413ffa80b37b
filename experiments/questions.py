"""Measure what the k best trees contain, and what questions to a parser cost.

    python -m experiments.questions PIPELINE GOLD.conllu

The table has the best LAS and UAS among the k best trees of each sentence (with subtypes of labels), the CPU
time of searches a sentence, and the time of ``reparse`` after one head was fixed to the second best one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_g2g.data.doc_constraints import constrain
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.pipeline.final_parser import final_parser
from spacy_g2g.trees.kbest import best_trees, near_trees
from spacy_g2g.trees.mst import contract_cycles, decode

RANKS = (1, 2, 5, 10)
#: Lengths of the sentences whose corrections are timed.
SHORTEST, LONGEST = 25, 35


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline")
    parser.add_argument("gold", type=Path)
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    asked = final_parser(nlp, keep_scores=True)
    gold = list(read_conllu(args.gold, trees="full"))
    docs = list(nlp.pipe(sentences_to_docs(gold, nlp.vocab, annotations=["SENT_START"])))
    print_oracle(asked, docs, gold)
    print_search(docs)
    print_reparse(asked, [doc for doc in docs if SHORTEST <= len(doc) <= LONGEST])


def print_oracle(parser: Any, docs: Sequence[Doc], gold: Sequence[ConlluSentence]) -> None:
    right = np.zeros((2, len(RANKS)), dtype=np.int64)
    for doc, sentence in zip(docs, gold, strict=True):
        (trees,) = parser.kbest(doc, RANKS[-1])
        heads = [i if word.head == 0 else (word.head or 0) - 1 for i, word in enumerate(sentence.words)]
        deps = [word.deprel for word in sentence.words]
        uas = np.array([np.equal(tree.heads, heads) for tree in trees])
        las = uas & np.array([np.array(tree.deps) == np.array(deps) for tree in trees])
        for row, of_trees in enumerate((las, uas)):
            right[row] += [of_trees[:k].sum(axis=1).max() for k in RANKS]
    n_words = sum(map(len, docs))
    for name, counts in zip(("LAS", "UAS"), right, strict=True):
        figures = ", ".join(f"{100 * n / n_words:.2f} at {k}" for n, k in zip(counts, RANKS, strict=True))
        print(f"{name} of the best of k trees, {n_words:,} words: {figures}")


def print_search(docs: Sequence[Doc]) -> None:
    """Print CPU times of a sentence; each is the median of five rounds, which take turns."""
    scores = [doc._.g2g_scores["sentences"][0]["arcs"].astype(np.float64) for doc in docs if len(doc) > 1]
    n_trees = sum(near_trees(arcs, 1) is not None for arcs in scores)
    print(f"the best heads are a tree in {100 * n_trees / len(scores):.0f} % of {len(scores)} sentences")
    tasks: dict[str, Callable[[Any], Any]] = {
        "best tree, decode": lambda arcs: decode(arcs[None], [len(arcs)]),
        "best tree, contractions always": lambda arcs: contract_cycles(arcs),
        "kbest, k = 1": lambda arcs: best_trees(arcs, 1),
        "kbest, k = 10": lambda arcs: best_trees(arcs, 10),
    }
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(5):
        for name, task in tasks.items():
            start = time.process_time()
            for arcs in scores:
                task(arcs)
            times[name].append((time.process_time() - start) / len(scores))
    for name, found in times.items():
        print(f"{name}: {1e6 * np.median(found):.0f} microseconds a sentence")


def print_reparse(parser: Any, docs: Sequence[Doc]) -> None:
    seconds = []
    for doc in docs:
        (first, second, *_) = parser.kbest(doc, 2)[0]
        differ = [i for i, (a, b) in enumerate(zip(first.heads, second.heads, strict=True)) if a != b]
        constrain(doc, heads={first.tokens[differ[0]]: second.heads[differ[0]]})
        start = time.process_time()
        parser.reparse(doc)
        seconds.append(time.process_time() - start)
    size = sum(array.nbytes for array in docs[0]._.g2g_scores["sentences"][0].values())
    print(
        f"reparse after a correction, {len(docs)} sentences of {SHORTEST} to {LONGEST} words: median "
        f"{1e3 * np.median(seconds):.2f} ms, longest {1e3 * max(seconds):.2f} ms; {len(docs[0])} "
        f"words keep {size / 2**20:.2f} MiB"
    )


if __name__ == "__main__":
    main()
