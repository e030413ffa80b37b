"""Smatch of predicted AMRs, for ``nlp.evaluate`` and ``spacy train``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from ...data.docs import sentences_of
from ...errors import Errors
from ..data.docs import get_amrs, match_sentences
from ..evaluation.mapping import RESTARTS
from ..evaluation.smatch import smatch


def make_amr_scorer(
    restarts: int = RESTARTS, *, seed: int = 0, wiki: bool = False
) -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.amr_scorer.v1``, Smatch of AMRs over all sentences (see ``score_amrs``).

    restarts: Number of random starts in the search for the best mapping of nodes, besides the fixed starts.
    seed: Seed of the random starts.
    wiki: Count the relation :wiki.
    Raises ValueError for fewer than 0 restarts.
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
    gold: list[str | None] = []
    predicted: list[str | None] = []
    for example in examples:
        references = get_amrs(example.reference)
        if references is None:
            continue
        texts = get_amrs(example.predicted) or []
        spans = [(span.start, span.end) for span in sentences_of(example.predicted)] if texts else []
        pairs = list(zip(match_sentences(example, spans), texts, strict=True))
        matched, extra = dict(pairs), [text for number, text in pairs if number is None]
        gold += [*references, *[None] * len(extra)]
        predicted += [*map(matched.get, range(len(references))), *extra]
    triples, concepts = smatch(gold, predicted=predicted, restarts=restarts, seed=seed, wiki=wiki)
    return _summary("smatch", triples) | _summary("amr_concepts", concepts)


def _summary(name: str, score: PRFScore) -> dict[str, Any]:
    values = {"p": score.precision, "r": score.recall, "f": score.fscore}
    has_gold = score.tp + score.fn > 0
    return {f"{name}_{key}": value if has_gold else None for key, value in values.items()}
