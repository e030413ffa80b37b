"""Errors of parsers on one gold file, and significance tests between the parsers.

``error_rows`` defines the figures. The papers test at a significance level of 0.01 (Mohammadshahi &
Henderson 2021, Tables 2 and 3).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property  # noqa: TID251
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import IntArray
from ..errors import Errors
from ..evaluation.punctuation import describe_scoring, scored_words
from ..formats.conllu import ConlluSentence
from ..formats.graph import Graph
from .error_rows import Comparison, Row, TreebankArcs, compare_systems, score_system

#: Orders in which the worst sentences are ranked, with a description of each.
WORST_BY = {
    "errors": "number of wrong words, summed over the systems",
    "rate": "share of wrong words, summed over the systems",
    "difference": "difference in wrong words between the worst and the best system",
}


@dataclass(frozen=True)
class Analysis:
    """Error analysis of one or more systems.

    gold: Gold sentences.
    systems: Graphs of the sentences by name of the system.
    subtypes: Whether labels are compared with their subtypes.
    exclude_punct: Name of the rule in ``punctuation`` for gold words that are not scored, "" to score all.
    rows: All figures, see ``error_rows``.
    wrong: Number of scored words with a wrong head or label, int [systems, sentences].
    totals: Number of scored words, int [sentences].
    """

    gold: Sequence[ConlluSentence]
    systems: Mapping[str, Sequence[Graph]]
    subtypes: bool
    exclude_punct: str
    rows: Sequence[Row]
    wrong: IntArray
    totals: IntArray

    @property
    def names(self) -> list[str]:
        """Names of the systems, in their order."""
        return list(self.systems)

    @property
    def n_words(self) -> int:
        """Number of gold words."""
        return sum(len(sentence.words) for sentence in self.gold)

    @property
    def compared(self) -> str:
        """Description of the scored words and of the labels."""
        return describe_scoring(subtypes=self.subtypes, exclude_punct=self.exclude_punct)

    @cached_property
    def _index(self) -> dict[tuple[str, str, str, str], Row]:
        return {(row.system, row.quantity, row.bin, row.metric): row for row in self.rows}

    def __getitem__(self, key: tuple[str, str, str, str]) -> Row:
        """Return the row with this system, quantity, bin and metric."""
        return self._index[key]

    def bins(self, quantity: str) -> list[str]:
        """Return the bins that a quantity has in any system, in order."""
        return list(dict.fromkeys(row.bin for row in self.rows if row.quantity == quantity))

    def to_dict(self) -> dict[str, Any]:
        """Return all figures for JSON, by system, quantity, bin and metric."""
        systems: dict[str, Any] = {}
        for row in self.rows:
            bins = systems.setdefault(row.system, {}).setdefault(row.quantity, {})
            bins.setdefault(row.bin, {})[row.metric] = {"value": row.value, "count": row.count}
        return {
            "compared": self.compared,
            "subtypes": self.subtypes,
            "exclude_punct": self.exclude_punct,
            "sentences": len(self.gold),
            "words": self.n_words,
            "compared_words": int(self.totals.sum()),
            "systems": systems,
        }


def analyze_errors(
    gold: Sequence[ConlluSentence],
    systems: Mapping[str, Sequence[Graph]],
    *,
    subtypes: bool = False,
    exclude_punct: str = "",
    resamples: int = 0,
    seed: int = 0,
) -> Analysis:
    """Compare the graphs of systems with complete gold trees and with each other.

    ``Analysis`` explains the other arguments.

    resamples: Number of resamples of the paired bootstrap; 0 for no bootstrap.
    seed: Seed of the paired bootstrap.
    Raises ValueError if the punctuation rule is unknown, or if no word is scored.
    """
    is_scored = scored_words(gold, exclude_punct)
    if not is_scored.any():
        description = describe_scoring(subtypes=subtypes, exclude_punct=exclude_punct)
        raise ValueError(Errors.E602.format(n=len(is_scored), compared=description))
    gold_arcs = TreebankArcs([sentence.graph() for sentence in gold], subtypes=subtypes)
    n_gold = Counter(gold_arcs.labels[is_scored].tolist())
    labels = set(n_gold)
    compared = {}
    for name, graphs in systems.items():
        arcs = TreebankArcs(graphs, subtypes=subtypes)
        compared[name] = Comparison(gold_arcs, arcs, is_scored)
        labels.update(arcs.labels[is_scored].tolist())
    ordered = sorted(labels, key=lambda label: (-n_gold[label], label))
    rows = []
    for name, system in compared.items():
        rows += [Row(name, *cells) for cells in score_system(system, ordered)]
    for (a, first), (b, second) in combinations(compared.items(), 2):
        changes = compare_systems(first, second=second, name=a, resamples=resamples, seed=seed)
        rows += [Row(b, *cells) for cells in changes]
    return Analysis(
        gold=gold,
        systems=systems,
        subtypes=subtypes,
        exclude_punct=exclude_punct,
        rows=rows,
        wrong=np.array([gold_arcs.per_sentence(is_scored & ~system.right) for system in compared.values()]),
        totals=gold_arcs.per_sentence(is_scored),
    )


def worst_sentences(analysis: Analysis, limit: int, by: str = "errors") -> list[int]:
    """Return the indices of the worst sentences, the worst first. Sentences with a rank of 0 are left out.

    limit: Maximum number of sentences.
    by: Key of WORST_BY. Among equals, the sentence with more wrong words comes first.
    """
    errors = analysis.wrong.sum(axis=0)
    badness = {
        "errors": errors,
        "rate": errors / np.maximum(analysis.totals, 1),
        "difference": np.ptp(analysis.wrong, axis=0),
    }[by]
    order = np.lexsort((-errors, -badness))
    return [index for index in order.tolist() if badness[index] > 0][:limit]


def check_order(by: str) -> None:
    """Raise a ValueError unless the order is a key of WORST_BY."""
    if by not in WORST_BY:
        raise ValueError(Errors.E603.format(by=by, known=", ".join(WORST_BY)))
