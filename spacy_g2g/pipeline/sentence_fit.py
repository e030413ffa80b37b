"""Fit how a parser decides about sentence boundaries."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from spacy.training import Example

from ..arrays import BoolArray
from ..data.docs import write_tree
from ..data.layout import lay_out
from ..parsing.sentences import find_rows
from .gold import gold_starts
from .sentences import DECISION, Decision, Known, SentencePipe, decide

#: Thresholds and weights of trees that are tried.
THRESHOLDS = tuple(np.linspace(-3.0, 3.0, 13).tolist())
TREE_WEIGHTS = (0.0, 0.25, 0.5, 1.0)


def fit_sentences(parser: SentencePipe, examples: Iterable[Example]) -> tuple[Decision, float]:
    """Fit the threshold of boundaries and the weight of trees, and keep them with the parser.

    parser: Parser that was trained to find sentences.
    examples: Examples of whole documents that were not trained on, with gold boundaries. Their predicted Docs
        have what the parser reads of earlier components: tags, or vectors. Trees and boundaries do not count.
    Returns how boundaries are decided from now on, and the F1 of sentences on the examples.
    """
    examples = [example for example in examples if gold_starts(example) is not None]
    docs = [example.predicted.copy() for example in examples]
    for doc in docs:
        write_tree(doc, np.zeros((len(doc), 2), dtype=np.uint64), np.zeros(len(doc), dtype=np.uint64))
    layout = lay_out(docs)
    gold = np.concatenate([np.zeros(0, dtype=np.bool_), *(gold_starts(example) for example in examples)])
    is_gold = gold[layout.words].astype(np.bool_)
    log_odds = parser.log_odds(docs)[layout.words]
    firsts = np.diff(layout.sentence_of[layout.words], prepend=-1) > 0
    best, best_f = parser.decision, -1.0
    known: Known = {}
    for threshold in THRESHOLDS:
        above = np.where(firsts, np.inf, log_odds - threshold)
        for weight in TREE_WEIGHTS if parser.doubt else (0.0,):
            is_start, rows = find_rows(above, parser.doubt if weight else 0.0)
            spans = {span for row in rows for span in row.spans} - known.keys()
            known |= parser.parse_spans(docs, sorted(spans))
            decide(is_start, above, rows, known, weight)
            f = sentence_f(is_gold, is_start)
            if f > best_f:
                best, best_f = Decision(threshold, weight), f
    parser.cfg[DECISION] = [*best]
    return best, best_f


def sentence_f(gold: BoolArray, found: BoolArray) -> float:
    """Return the F1 of sentences. A sentence is right if it starts and ends as a gold one.

    gold: Whether a gold sentence starts at each word, bool [words].
    found: The same of found sentences, bool [words].
    """
    both = np.flatnonzero(gold | found)
    agrees = np.append((gold & found)[both], True)
    n_right = int((agrees[:-1] & agrees[1:]).sum())
    return 2 * n_right / max(1, int(gold.sum() + found.sum()))
