"""The errors of parsers on the words of one gold file, and whether one parser is better than another.

What the tables hold is defined in ``error_tables``. The papers call scores different at a significance level
of 0.01 (Mohammadshahi & Henderson 2021, Tables 2 and 3).
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
from .punctuation import punctuation_rule

#: Number of words by gold and system label, which differ; the most frequent confusions first.
Confusions = dict[tuple[str, str], int]


@dataclass(frozen=True)
class Compared:
    """What is compared.

    subtypes: Of labels: nmod:poss is not nmod.
    exclude_punct: Name of a rule of ``punctuation`` for the gold words that do not count; "" for none.
    """

    subtypes: bool = False
    exclude_punct: str = ""

    def __str__(self) -> str:
        labels = "labels with their subtypes" if self.subtypes else "universal part of labels"
        if not self.exclude_punct:
            return f"{labels}, punctuation counts"
        return f"{labels}, punctuation does not count ({punctuation_rule(self.exclude_punct).text})"

    def counts(self, sentences: Iterable[ConlluSentence]) -> BoolArray:
        """Whether each gold word counts, [words]."""
        words = [word for sentence in sentences for word in sentence.words]
        if not self.exclude_punct:
            return np.ones(len(words), dtype=np.bool_)
        is_punctuation = punctuation_rule(self.exclude_punct).matches
        return np.array([not is_punctuation(word) for word in words], dtype=np.bool_)


DEFAULT = Compared()

#: What makes a sentence bad.
WORST_BY = {
    "errors": "wrong words of all systems together",
    "rate": "the share of wrong words, of all systems together",
    "difference": "wrong words of the worst system more than of the best one",
}


class Significance(NamedTuple):
    """System b against system a by paired bootstrap.

    metric: "UAS" or "LAS", of what is compared.
    only_a, only_b: Words that only one of the two has right.
    """

    a: str
    b: str
    metric: str
    only_a: int
    only_b: int
    comparison: Comparison


@dataclass(frozen=True)
class Analysis:
    """What was found of the systems, each by its name.

    n_words: All gold words. n_compared: Those that count.
    tables: Of each system, by quantity, as ``error_tables.make_tables`` gives them.
    confusions: Of each system, over all words that count. confusions_at_right_heads: Over those with the
        right head.
    wrong: Words that count and have a wrong head or label, [systems, sentences].
    totals: Words that count, [sentences].
    """

    compared: Compared
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
        """The systems, in the order given."""
        return list(self.tables)

    def to_dict(self) -> dict[str, Any]:
        """All figures but those of single sentences, for JSON."""
        return {
            "compared": str(self.compared),
            **asdict(self.compared),
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
        """Rows of system, quantity, bin, metric, value and count."""
        for name, tables in self.tables.items():
            for quantity, table in tables.items():
                for bin_, measures in table.items():
                    for metric, measure in measures.items():
                        yield name, quantity, bin_, metric, measure.value, measure.count


def analyse_errors(
    gold: Sequence[ConlluSentence],
    systems: Mapping[str, Sequence[ConlluSentence]],
    *,
    compared: Compared = DEFAULT,
    resamples: int = 10_000,
    seed: int = 0,
) -> Analysis:
    """Compare the trees of systems with the gold trees and, where there are several systems, with each other.

    gold: Sentences with complete trees.
    systems: By name, the same sentences and words with complete trees.
    resamples, seed: Of the paired bootstrap.
    RAISES (ValueError): where sentences or words differ, for an unknown rule of punctuation, and where no
        word counts.
    """
    for name, sentences in systems.items():
        check_same_words(gold, sentences, name)
    counts = compared.counts(gold)
    if not counts.any():
        raise ValueError(Errors.E218.format(n=len(counts), compared=compared))
    gold_words = Words(gold, subtypes=compared.subtypes)
    pairs = {
        name: Pair(gold_words, Words(sentences, subtypes=compared.subtypes), counts)
        for name, sentences in systems.items()
    }
    labels = _all_labels(gold_words, [pair.system for pair in pairs.values()], counts)
    return Analysis(
        compared=compared,
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
    """Labels of words that count, the most frequent ones of the gold trees first."""
    n_gold = Counter(gold.labels[counts].tolist())
    for words in systems:
        n_gold.update(dict.fromkeys(words.labels[counts].tolist(), 0))
    return sorted(n_gold, key=lambda label: (-n_gold[label], label))


def _confusions(pair: Pair, chosen: BoolArray) -> Confusions:
    """chosen: Words to look at, [words]."""
    wrong = chosen & ~pair.right_labels
    found = Counter(zip(pair.gold.labels[wrong].tolist(), pair.system.labels[wrong].tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _significance(pairs: Mapping[str, Pair], resamples: int, seed: int) -> Iterator[Significance]:
    """Of sentences with words that count."""
    for (a, first), (b, second) in combinations(pairs.items(), 2):
        totals = first.gold.per_sentence(first.counts)
        chosen = totals > 0
        for metric, right_a, right_b in (
            ("UAS", first.right_heads, second.right_heads),
            ("LAS", first.right, second.right),
        ):
            of_a, of_b = (first.gold.per_sentence(right)[chosen] for right in (right_a, right_b))
            only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
            comparison = paired_bootstrap(of_a, of_b, totals[chosen], resamples, seed)
            yield Significance(a, b, metric, only_a, only_b, comparison)


def _list_confusions(confusions: Mapping[str, Confusions]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{"gold": gold, "system": system, "count": n} for (gold, system), n in found.items()]
        for name, found in confusions.items()
    }


def worst_sentences(analysis: Analysis, limit: int, by: str = "errors") -> list[int]:
    """Places of the sentences that went worst, the worst first, without those in which nothing did.

    by: One of WORST_BY. Of those that are as bad, the sentence with more wrong words comes first.
    RAISES (ValueError): for another name.
    """
    check_order(by)
    errors = analysis.wrong.sum(axis=0)
    badness = {
        "errors": errors,
        "rate": errors / np.maximum(analysis.totals, 1),
        "difference": np.ptp(analysis.wrong, axis=0),
    }[by]
    order = np.lexsort((-errors, -badness))
    return [place for place in order.tolist() if badness[place] > 0][:limit]


def check_order(by: str) -> None:
    """Raise a ValueError unless it is one of WORST_BY."""
    if by not in WORST_BY:
        raise ValueError(Errors.E219.format(by=by, known=", ".join(WORST_BY)))
