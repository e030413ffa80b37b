"""Smatch: the share of an AMR's triples that another AMR has, under the best mapping of nodes.

Cai & Knight: Smatch: an evaluation metric for semantic feature structures (ACL 2013). The triples are those
of the package smatch 1.0.4: concepts, constants and edges, with the graph's top as a constant, in lower case,
without quotes, inverse roles turned around, and (a :mod b) as (b :domain a). Both ignore a constant under an
inverse role or :mod. Unlike in the package, a triple that is written twice matches at most twice. The search
is the package's hill-climbing by moves and swaps, with better first starts and seeded random starts.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from spacy.scorer import PRFScore

from ..formats.penman_text import parse_penman
from .mapping import RESTARTS, best_mapping
from .triples import Triples, to_triples


def smatch(
    gold: Iterable[str | None],
    *,
    predicted: Iterable[str | None],
    restarts: int = RESTARTS,
    seed: int = 0,
    wiki: bool = False,
) -> tuple[PRFScore, PRFScore]:
    """Return Smatch over all sentences (micro average), and the score of the concepts alone, as bags.

    gold: The text of a graph for each sentence; None for an empty graph.
    predicted: The text of a graph for each sentence. None and ill-formed text count as an empty graph.
    restarts: Number of random starts of the search, after the first ones from equal concepts.
    seed: Seed of the random starts; the same seed gives the same result.
    wiki: Whether :wiki counts.
    Raises ValueError for an ill-formed gold graph, and for different numbers of graphs.
    """
    triples, concepts = PRFScore(), PRFScore()
    for number, (gold_text, text) in enumerate(zip(gold, predicted, strict=True), start=1):
        reference = system = Triples([], Counter(), Counter())
        if gold_text is not None:
            reference = to_triples(parse_penman(gold_text, where=f"gold AMR {number}"), wiki=wiki)
        with suppress(ValueError):
            system = to_triples(parse_penman(text or ""), wiki=wiki)
        n_matched, _ = best_mapping(system, b=reference, restarts=restarts, seed=seed)
        n_shared = (Counter(system.concepts) & Counter(reference.concepts)).total()
        triples += make_score(n_matched, predicted=system.size, gold=reference.size)
        concepts += make_score(n_shared, predicted=len(system.concepts), gold=len(reference.concepts))
    return triples, concepts


def make_score(matched: int, *, predicted: int, gold: int) -> PRFScore:
    """Return the score for numbers of matched, predicted and gold items."""
    return PRFScore(tp=matched, fp=predicted - matched, fn=gold - matched)
