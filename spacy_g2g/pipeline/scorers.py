"""Score parses as Universal Dependencies does, and as spaCy does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.scorer import PRFScore
from spacy.training import Example
from spacy.util import registry

from ..arrays import BoolArray
from ..data.docs import TREEBANK_KEY
from ..data.gold import gold_parse, gold_starts
from ..data.source import cell_value

#: Token, head and label.
Arc = tuple[int, int, str]


def make_ud_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.ud_scorer.v1``: as UD does, and as spaCy's own parser does."""
    return score_trees


def score_trees(examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
    """Return the scores of ``score_ud``, and those of spaCy's parser under its names, such as ``dep_las``.

    If the corpus names treebanks, add the LAS of each one, such as ``ud_las_ewt``.

    settings: Settings of spaCy's scorer.
    """
    examples, treebanks = list(examples), dict[str, list[Example]]()
    for example in examples:
        if name := example.reference.user_data.get(TREEBANK_KEY):
            treebanks.setdefault(name, []).append(example)
    score_as_spacy = registry.scorers.get("spacy.parser_scorer.v1")()
    scores: dict[str, Any] = score_as_spacy(examples, **settings) | score_ud(examples)
    for name, own_examples in treebanks.items():
        scores[f"ud_las_{name}"] = score_ud(own_examples)["ud_las"]
    return scores


def score_ud(examples: Iterable[Example]) -> dict[str, Any]:
    """Return UAS, LAS and sentence scores, between 0 and 1.

    Unlike spaCy's ``dep_uas`` and ``dep_las``, these scores count punctuation and compare labels unchanged.
    They skip white-space tokens, tokens without gold and Docs without any gold labels. UAS and LAS are
    F-scores; their precision and recall differ only where tokens are misaligned.

    Returns ``ud_uas``, ``ud_las``, ``ud_las_per_type`` (label to p, r, f) and ``ud_sents_p``,
    ``ud_sents_r``, ``ud_sents_f``; each is None without gold.
    """
    unlabeled, labeled, sentences = PRFScore(), PRFScore(), PRFScore()
    per_type: dict[str, PRFScore] = {}
    for example in examples:
        if example.reference.has_annotation("DEP"):
            predicted, gold = _arc_sets(example)
            unlabeled.score_set(_without_labels(predicted), _without_labels(gold))
            labeled.score_set(predicted, gold)
            for label in {label for _, _, label in predicted | gold} - {""}:
                score = per_type.setdefault(label, PRFScore())
                score.score_set(_with_label(predicted, label), _with_label(gold, label))
            sentences.score_set(*_span_sets(example))
    types = {label: score.to_dict() for label, score in sorted(per_type.items())}
    has_gold, has_sentences = len(labeled) > 0, len(sentences) > 0
    return {
        "ud_uas": unlabeled.fscore if has_gold else None,
        "ud_las": labeled.fscore if has_gold else None,
        "ud_las_per_type": types if has_gold else None,
        "ud_sents_p": sentences.precision if has_sentences else None,
        "ud_sents_r": sentences.recall if has_sentences else None,
        "ud_sents_f": sentences.fscore if has_sentences else None,
    }


def _without_labels(arcs: set[Arc]) -> set[tuple[int, int]]:
    return {(token, head) for token, head, _ in arcs}


def _with_label(arcs: set[Arc], label: str) -> set[Arc]:
    return {arc for arc in arcs if arc[2] == label}


def _arc_sets(example: Example) -> tuple[set[Arc], set[Arc]]:
    """Return the predicted arcs and the gold arcs, with token indices of the predicted Doc.

    A gold word that is not a token of this Doc has an index below 0. If gold has a head without a label, the
    predicted label becomes "".
    """
    heads, deps = gold_parse(example)
    words = [token for token in example.predicted if not token.is_space]
    gold = {(token.i, int(heads[token.i]), deps[token.i]) for token in words if heads[token.i] >= 0}
    unlabeled = {i for i, _, dep in gold if not dep}
    predicted = {
        (token.i, token.head.i if token.has_head() else -1, "" if token.i in unlabeled else token.dep_)
        for token in words
        if heads[token.i] >= 0 or _has_gold(example, token.i)
    }
    rest = Counter(cell_value(token.dep_) for token in example.reference if token.dep and not token.is_space)
    rest.subtract(dep for _, _, dep in gold)
    return predicted, gold | {(-1 - n, -1, dep) for n, dep in enumerate(rest.elements())}


def _has_gold(example: Example, i: int) -> bool:
    """Return whether to score a predicted token, which covers gold tokens with annotation, or none at all."""
    places = example.alignment.x2y[i].tolist()
    return not places or any(example.reference[place].dep for place in places)


def _span_sets(example: Example) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return start and end of the predicted and of the gold sentences. Unaligned ones end below 0."""
    starts = gold_starts(example)
    if starts is None:
        return set(), set()
    predicted = np.array([bool(token.is_sent_start) for token in example.predicted], dtype=np.bool_)
    predicted[:1] = True
    gold = _spans(starts)
    n_unaligned = len(list(example.reference.sents)) - len(gold)
    return _spans(predicted), gold | {(0, -1 - n) for n in range(n_unaligned)}


def _spans(starts: BoolArray) -> set[tuple[int, int]]:
    return set(pairwise([*np.flatnonzero(starts).tolist(), len(starts)]))
