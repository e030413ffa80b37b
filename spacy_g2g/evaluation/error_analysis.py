"""Errors of parsers on one gold file, and significance tests between the parsers.

``error_tables`` defines the tables. The papers test at a significance level of 0.01 (Mohammadshahi &
Henderson 2021, Tables 2 and 3).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..formats.conllu import ConlluSentence
from .alignment import check_same_words
from .bootstrap import Comparison, paired_bootstrap
from .error_tables import Pair, Table, Words, make_tables
from .scoring_options import DEFAULT_OPTIONS, ScoringOptions

#: Number of words by gold label and the different label of the system, the most frequent pairs first.
Confusions = dict[tuple[str, str], int]


#: Orders in which the worst sentences are ranked, with a description of each.
WORST_BY = {
    "errors": "number of wrong words, summed over the systems",
    "rate": "share of wrong words, summed over the systems",
    "difference": "difference in wrong words between the worst and the best system",
}


class Significance(NamedTuple):
    """Paired bootstrap of system b against system a.

    a: Name of the first system.
    b: Name of the second system.
    metric: "UAS" or "LAS" over the scored words.
    only_a: Number of words that only system a has right.
    only_b: Number of words that only system b has right.
    comparison: Result of the paired bootstrap.
    """

    a: str
    b: str
    metric: str
    only_a: int
    only_b: int
    comparison: Comparison


@dataclass(frozen=True)
class Analysis:
    """Error analysis of one or more systems.

    options: Options that the systems were scored with.
    n_sentences: Number of gold sentences.
    n_words: Number of gold words.
    n_compared: Number of gold words that are scored.
    tables: Tables of ``error_tables.make_tables`` by system and quantity.
    significance: Significance tests of UAS and LAS for each pair of systems.
    confusions: Label confusions over all scored words, by system.
    confusions_at_right_heads: Label confusions over the scored words with the right head, by system.
    wrong: Number of scored words with a wrong head or label, int [systems, sentences].
    totals: Number of scored words, int [sentences].
    """

    options: ScoringOptions
    n_sentences: int
    n_words: int
    n_compared: int
    tables: dict[str, dict[str, Table]]
    significance: tuple[Significance, ...]
    confusions: dict[str, Confusions]
    confusions_at_right_heads: dict[str, Confusions]
    wrong: IntArray
    totals: IntArray

    @property
    def names(self) -> list[str]:
        """Names of the systems in the order given."""
        return list(self.tables)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures except the figures of single sentences, for JSON."""
        return {
            "compared": str(self.options),
            **asdict(self.options),
            "sentences": self.n_sentences,
            "words": self.n_words,
            "compared_words": self.n_compared,
            "systems": {
                name: {
                    quantity: {
                        bin_: {metric: asdict(measure) for metric, measure in measures.items()}
                        for bin_, measures in table.items()
                    }
                    for quantity, table in tables.items()
                }
                for name, tables in self.tables.items()
            },
            "confusions": _list_confusions(self.confusions),
            "confusions_at_right_heads": _list_confusions(self.confusions_at_right_heads),
            "significance": [
                {**found._asdict(), "comparison": asdict(found.comparison)} for found in self.significance
            ],
        }

    def tidy(self) -> Iterator[tuple[str, str, str, str, float | None, int]]:
        """Return rows of system, quantity, bin, metric, value and count."""
        for name, tables in self.tables.items():
            for quantity, table in tables.items():
                for bin_, measures in table.items():
                    for metric, measure in measures.items():
                        yield name, quantity, bin_, metric, measure.value, measure.count


def analyse_errors(
    gold: Sequence[ConlluSentence],
    systems: Mapping[str, Sequence[ConlluSentence]],
    *,
    options: ScoringOptions = DEFAULT_OPTIONS,
    resamples: int = 10_000,
    seed: int = 0,
) -> Analysis:
    """Compare the trees of systems with the gold trees and with each other.

    gold: Sentences with complete gold trees.
    systems: The same sentences and words with complete trees, by name of the system.
    options: Options that decide which words are scored and when labels are equal.
    resamples: Number of resamples of the paired bootstrap.
    seed: Seed of the paired bootstrap.
    Raises ValueError if sentences or words differ, if the punctuation rule is unknown, or if no word is
        scored.
    """
    for name, sentences in systems.items():
        check_same_words(gold, sentences, name)
    counts = options.scored_words(gold)
    if not counts.any():
        raise ValueError(Errors.E602.format(n=len(counts), compared=options))
    gold_words = Words(gold, subtypes=options.subtypes)
    pairs = {
        name: Pair(gold_words, Words(sentences, subtypes=options.subtypes), counts)
        for name, sentences in systems.items()
    }
    labels = _all_labels(gold_words, [pair.system for pair in pairs.values()], counts)
    return Analysis(
        options=options,
        n_sentences=len(gold),
        n_words=len(counts),
        n_compared=int(counts.sum()),
        tables={name: make_tables(pair, labels) for name, pair in pairs.items()},
        significance=tuple(_significance(pairs, resamples, seed)),
        confusions={name: _confusions(pair, pair.counts) for name, pair in pairs.items()},
        confusions_at_right_heads={name: _confusions(pair, pair.right_heads) for name, pair in pairs.items()},
        wrong=np.array([gold_words.per_sentence(counts & ~pair.right) for pair in pairs.values()]),
        totals=gold_words.per_sentence(counts),
    )


def _all_labels(gold: Words, systems: Iterable[Words], counts: BoolArray) -> list[str]:
    """Return the labels of scored words, ordered by their frequency in the gold trees."""
    n_gold = Counter(gold.labels[counts].tolist())
    for words in systems:
        n_gold.update(dict.fromkeys(words.labels[counts].tolist(), 0))
    return sorted(n_gold, key=lambda label: (-n_gold[label], label))


def _confusions(pair: Pair, chosen: BoolArray) -> Confusions:
    """Count pairs of different labels.

    pair: Words of gold trees and system.
    chosen: Words to count, bool [words].
    """
    wrong = chosen & ~pair.right_labels
    found = Counter(zip(pair.gold.labels[wrong].tolist(), pair.system.labels[wrong].tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _significance(pairs: Mapping[str, Pair], resamples: int, seed: int) -> Iterator[Significance]:
    """Compare each two systems by UAS and LAS, over sentences that have scored words."""
    for (a, first), (b, second) in combinations(pairs.items(), 2):
        totals = first.gold.per_sentence(first.counts)
        chosen = totals > 0
        for metric, right_a, right_b in (
            ("UAS", first.right_heads, second.right_heads),
            ("LAS", first.right, second.right),
        ):
            n_right_a, n_right_b = (first.gold.per_sentence(right)[chosen] for right in (right_a, right_b))
            only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
            comparison = paired_bootstrap(n_right_a, n_right_b, totals[chosen], resamples, seed)
            yield Significance(a, b, metric, only_a, only_b, comparison)


def _list_confusions(confusions: Mapping[str, Confusions]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{"gold": gold, "system": system, "count": n} for (gold, system), n in found.items()]
        for name, found in confusions.items()
    }


def worst_sentences(analysis: Analysis, limit: int, by: str = "errors") -> list[int]:
    """Return the indices of the worst sentences, the worst first. Sentences with a rank of 0 are left out.

    analysis: Analysis of the sentences.
    limit: Largest number of sentences to return.
    by: Key of WORST_BY. Among equals, the sentence with more wrong words comes first.
    Raises ValueError if the order is unknown.
    """
    check_order(by)
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
