"""Smatch: the share of an AMR's triples that another AMR has, under the best mapping of nodes.

Cai & Knight: Smatch: an evaluation metric for semantic feature structures (ACL 2013). The triples are those
of the package smatch 1.0.4: concepts, constants and edges, with the graph's top as a constant, in lower case,
without quotes, inverse roles turned around, and (a :mod b) as (b :domain a). Both ignore a constant under an
inverse role or :mod. Unlike in the package, a triple that is written twice matches at most twice. The search
is the package's hill-climbing by moves and swaps, with better first starts and seeded random starts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...errors import Errors
from ..formats.penman_text import parse_penman
from .mapping import RESTARTS, best_mapping
from .triples import Triples, to_triples


@dataclass
class SmatchScore:
    """Counts of triples, which add up over sentences, and their scores.

    matched: Triples of the prediction that the gold graph has.
    predicted: Triples of the prediction.
    gold: Triples of the gold graph.
    ill_formed: Predictions that are not AMRs; they count as empty graphs.
    """

    matched: int = 0
    predicted: int = 0
    gold: int = 0
    ill_formed: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted triples that match, from 0 to 1; 0 without predicted triples."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold triples that match, from 0 to 1; 0 without gold triples."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f_score(self) -> float:
        """Harmonic mean of precision and recall, from 0 to 1."""
        total = self.predicted + self.gold
        return 2 * self.matched / total if self.predicted and self.gold else 0.0

    def __add__(self, other: "SmatchScore") -> "SmatchScore":
        return SmatchScore(
            self.matched + other.matched,
            self.predicted + other.predicted,
            self.gold + other.gold,
            self.ill_formed + other.ill_formed,
        )


def smatch(
    gold: Iterable[str],
    predicted: Iterable[str | None],
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    wiki: bool = False,
) -> SmatchScore:
    """Return the Smatch of predicted AMRs over all sentences (micro average).

    gold: The text of a graph for each sentence.
    predicted: The text of a graph for each sentence. None and ill-formed text count as an empty graph.
    restarts: Random starts of the search, after the first ones, which go by equal concepts.
    seed: Seed of the random starts; the same seed gives the same result.
    wiki: Whether :wiki counts.
    Raises ValueError for an ill-formed gold graph, and for different numbers of graphs.
    """
    return sum(smatch_scores(gold, predicted, restarts=restarts, seed=seed, wiki=wiki), start=SmatchScore())


def smatch_scores(
    gold: Iterable[str],
    predicted: Iterable[str | None],
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    wiki: bool = False,
) -> list[SmatchScore]:
    """Return the score of each sentence. Arguments and errors are those of ``smatch``."""
    if restarts < 0:
        raise ValueError(Errors.E1022.format(restarts=restarts))
    return [
        SmatchScore(
            best_mapping(found, expected, restarts=restarts, seed=seed)[0],
            found.size,
            expected.size,
            ill_formed,
        )
        for expected, found, ill_formed in _pairs(gold, predicted, wiki)
    ]


def concept_scores(
    gold: Iterable[str], predicted: Iterable[str | None], *, wiki: bool = False
) -> SmatchScore:
    """Return the score of the concepts alone, as bags. Arguments and errors are those of ``smatch``."""
    total = SmatchScore()
    for expected, found, ill_formed in _pairs(gold, predicted, wiki):
        shared = (Counter(found.concepts) & Counter(expected.concepts)).total()
        total += SmatchScore(shared, len(found.concepts), len(expected.concepts), ill_formed)
    return total


def _pairs(
    gold: Iterable[str], predicted: Iterable[str | None], wiki: bool
) -> Iterator[tuple[Triples, Triples, int]]:
    """Yield the triples of each gold graph and of its prediction, and 1 for an ill-formed prediction."""
    golds, predictions = list(gold), list(predicted)
    if len(golds) != len(predictions):
        raise ValueError(Errors.E1021.format(gold=len(golds), predicted=len(predictions)))
    for number, (gold_text, text) in enumerate(zip(golds, predictions, strict=True), start=1):
        expected = to_triples(parse_penman(gold_text, f"gold AMR {number}"), wiki=wiki)
        try:
            found, ill_formed = to_triples(parse_penman(text or ""), wiki=wiki), 0
        except ValueError:
            found, ill_formed = Triples([], Counter(), Counter()), 1
        yield expected, found, ill_formed
