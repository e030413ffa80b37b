"""Fit the threshold from which on a sentence starts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from spacy.training import Example

from ..arrays import BoolArray
from ..data.docs import write_tree
from ..data.layout import lay_out
from .gold import gold_starts
from .sentences import THRESHOLD, SentenceFinder

#: Thresholds that are tried.
THRESHOLDS = tuple(np.linspace(-3.0, 3.0, 13).tolist())


def fit_sentences(finder: SentenceFinder, examples: Iterable[Example]) -> tuple[float, float]:
    """Fit the threshold of boundaries, and keep it with the component.

    finder: Component that was trained to find sentences.
    examples: Examples of whole documents that were not trained on, with gold boundaries. The trees and
        boundaries of their predicted Docs do not count.
    Returns the threshold, and the F1 of sentences on the examples.
    """
    examples = [example for example in examples if gold_starts(example) is not None]
    docs = [example.predicted.copy() for example in examples]
    for doc in docs:
        write_tree(doc, np.zeros((len(doc), 2), dtype=np.uint64), np.zeros(len(doc), dtype=np.uint64))
    layout = lay_out(docs)
    gold = np.concatenate([np.zeros(0, dtype=np.bool_), *(gold_starts(example) for example in examples)])
    is_gold = gold[layout.words].astype(np.bool_)
    log_odds = finder.log_odds(docs)
    log_odds[np.diff(layout.sentence_of[layout.words], prepend=-1) > 0] = np.inf
    found = [(sentence_f(is_gold, log_odds > threshold), threshold) for threshold in THRESHOLDS]
    # Of equally good thresholds, the one that is nearest to even odds is the safest.
    best_f, best = max(found, key=lambda pair: (pair[0], -abs(pair[1])))
    finder.cfg[THRESHOLD] = best
    return best, best_f


def sentence_f(gold: BoolArray, found: BoolArray) -> float:
    """Return the F1 of sentences. A sentence is right if it starts and ends as a gold one.

    gold: Whether a gold sentence starts at each word, bool [words].
    found: The same of found sentences, bool [words].
    """
    return 2 * n_right(gold, found) / max(1, int(gold.sum() + found.sum()))


def n_right(gold: BoolArray, found: BoolArray) -> int:
    """Return the number of sentences that start and end as gold ones; see ``sentence_f``."""
    both = np.flatnonzero(gold | found)
    agrees = np.append((gold & found)[both], True)
    return int((agrees[:-1] & agrees[1:]).sum())
