"""Run the oracle on treebanks: number of actions and swaps, share of trees that are rebuilt, and time.

    python -m experiments.oracle FILES_OR_FOLDERS... [--limit 10000] [--batch-size 512]

Sentences whose heads are not a tree with one root are counted ("no tree") and left out. "oracle s" is the
time in seconds to find the actions of all sentences, and "replay s" the time to apply them. "s/10k" is the
sum of both for 10,000 sentences.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, apply
from spacy_g2g.transition.parsing.oracle import can_learn, oracle_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import IntArray

COLUMNS = (
    "sentences",
    "no tree",
    "words",
    "actions",
    "swaps",
    "non-proj.",
    "rebuilt",
    "oracle s",
    "replay s",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="FILES_OR_FOLDERS")
    parser.add_argument("--limit", type=int, help="take the first sentences of a file only")
    parser.add_argument("--batch-size", type=int, default=512, help="sentences that step together")
    args = parser.parse_args()
    print(f"{'file':<24}" + "".join(f"{name:>10}" for name in (*COLUMNS, "s/10k")))
    total: Counter[str] = Counter()
    for path in files(args.paths):
        counts = measure(read_heads(path)[: args.limit], args.batch_size)
        print(row(path.stem, counts), flush=True)
        total.update(counts)
    print(row("total", total))


def files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.conllu"))
        else:
            yield path


def read_heads(path: Path) -> list[list[int]]:
    """Return the heads of each sentence; -1 for a word without a head."""
    return [
        [-1 if word.head is None else word.head for word in sentence.words]
        for sentence in read_conllu(path, trees="any")
    ]


def measure(sentences: list[list[int]], batch_size: int) -> Counter[str]:
    """Return the counts and seconds of a file."""
    counts: Counter[str] = Counter()
    for heads, n_words in batches(sentences, batch_size):
        learnable = can_learn(heads, n_words, swap=True)
        counts["no tree"] += int((~learnable).sum())
        heads, n_words = heads[learnable], n_words[learnable]
        counts["non-proj."] += int((~can_learn(heads, n_words, swap=False)).sum())

        start = time.perf_counter()
        actions = oracle_actions(heads, n_words, swap=True)
        found = time.perf_counter()
        states = States.begin(n_words, heads.shape[1])
        for step in actions.T:
            apply(states, step)
        end = time.perf_counter()

        counts["sentences"] += len(n_words)
        counts["words"] += int(n_words.sum())
        counts["actions"] += int((actions != NO_ACTION).sum())
        counts["swaps"] += int((actions == Action.SWAP).sum())
        counts["rebuilt"] += int((states.is_final & (states.heads == heads).all(axis=1)).sum())
        counts["oracle s"] += found - start
        counts["replay s"] += end - found
    return counts


def batches(sentences: list[list[int]], batch_size: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield padded heads, int [sentences, words], and lengths, int [sentences], by similar length."""
    by_length = sorted(sentences, key=len)
    for start in range(0, len(by_length), batch_size):
        batch = by_length[start : start + batch_size]
        n_words = np.array([len(heads) for heads in batch])
        padded = np.full((len(batch), n_words.max()), -1)
        padded[np.arange(padded.shape[1]) < n_words[:, None]] = np.concatenate(batch)
        yield padded, n_words


def row(name: str, counts: Counter[str]) -> str:
    n = max(counts["sentences"], 1)
    seconds = counts["oracle s"] + counts["replay s"]
    cells = {column: f"{counts[column]}" for column in COLUMNS}
    cells |= {column: f"{counts[column] / n:.2%}" for column in ("non-proj.", "rebuilt")}
    cells |= {column: f"{counts[column]:.2f}" for column in ("oracle s", "replay s")}
    return f"{name:<24}" + "".join(f"{cell:>10}" for cell in (*cells.values(), f"{1e4 * seconds / n:.2f}"))


if __name__ == "__main__":
    main()
