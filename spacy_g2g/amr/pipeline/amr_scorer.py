"""Smatch of predicted AMRs, for ``nlp.evaluate`` and ``spacy train``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from spacy.training import Example

from ...data.docs import sentences_of
from ...errors import Errors
from ..data.docs import get_amrs, match_sentences
from ..evaluation.mapping import RESTARTS
from ..evaluation.smatch import SmatchScore, concept_scores, smatch
from ..evaluation.triples import to_triples
from ..formats.penman_text import parse_penman


def make_amr_scorer(
    restarts: int = RESTARTS, seed: int = 0, wiki: bool = False
) -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.amr_scorer.v1``, Smatch of AMRs over all sentences (see ``score_amrs``).

    restarts: Number of random starts in the search for the best mapping of nodes, besides the fixed starts.
    seed: Seed of the random starts.
    wiki: Count the relation :wiki.
    Raises ValueError for less than 0 restarts.
    """
    if restarts < 0:
        raise ValueError(Errors.E1022.format(restarts=restarts))
    return partial(score_amrs, restarts=restarts, seed=seed, wiki=wiki)


def score_amrs(
    examples: Iterable[Example], *, restarts: int = RESTARTS, seed: int = 0, wiki: bool = False, **_: Any
) -> dict[str, Any]:
    """Return Smatch and the scores of concepts alone, from 0 to 1, over all sentences (micro average).

    A missing or ill-formed prediction counts as an empty graph. If boundaries differ, sentences match by
    their text. A gold sentence without a match lowers the recall, and a predicted one lowers the precision.
    References without AMRs are left out. The settings are those of ``make_amr_scorer``.

    examples: The Examples.
    Returns ``smatch_p``, ``smatch_r``, ``smatch_f``, ``amr_concepts_p``, ``amr_concepts_r`` and
    ``amr_concepts_f``; each is None without gold AMRs.
    Raises ValueError for an ill-formed gold AMR, and unless there is one AMR for each sentence.
    """
    gold: list[str] = []
    predicted: list[str | None] = []
    triples, concepts = SmatchScore(), SmatchScore()
    for example in examples:
        references = get_amrs(example.reference)
        if references is None:
            continue
        found, without_gold = _predictions(example, len(references))
        gold += references
        predicted += found
        for text in without_gold:
            n_triples, n_concepts = _sizes(text, wiki)
            triples += SmatchScore(predicted=n_triples)
            concepts += SmatchScore(predicted=n_concepts)
    triples += smatch(gold, predicted, restarts=restarts, seed=seed, wiki=wiki)
    concepts += concept_scores(gold, predicted, wiki=wiki)
    return _summary("smatch", triples) | _summary("amr_concepts", concepts)


def _predictions(example: Example, n_gold: int) -> tuple[list[str | None], list[str]]:
    """Return the prediction or None for each gold sentence, and the predictions without a gold sentence."""
    found: list[str | None] = [None] * n_gold
    without_gold: list[str] = []
    texts = get_amrs(example.predicted) or []
    spans = [(span.start, span.end) for span in sentences_of(example.predicted)] if texts else []
    for number, text in zip(match_sentences(example, spans), texts, strict=True):
        if number is None:
            without_gold.append(text)
        else:
            found[number] = text
    return found, without_gold


def _sizes(text: str, wiki: bool) -> tuple[int, int]:
    """Return the number of triples and of concepts of a predicted AMR; 0 for an ill-formed AMR."""
    try:
        triples = to_triples(parse_penman(text), wiki=wiki)
    except ValueError:
        return 0, 0
    return triples.size, len(triples.concepts)


def _summary(name: str, score: SmatchScore) -> dict[str, Any]:
    values = {"p": score.precision, "r": score.recall, "f": score.f_score}
    return {f"{name}_{key}": value if score.gold else None for key, value in values.items()}
