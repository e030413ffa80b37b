"""Scores of parses as Universal Dependencies counts them, beside spaCy's own."""

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
from .gold import gold_parse, gold_starts


def make_ud_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.ud_scorer.v1``: as UD does, and as spaCy's own parser does."""
    return score_trees


def score_trees(examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
    """Return the scores of ``score_ud``, and those of spaCy's parser under its names, such as ``dep_las``.

    settings: What spaCy's scorer takes.
    """
    examples = list(examples)
    score_as_spacy = registry.scorers.get("spacy.parser_scorer.v1")()
    return {**score_as_spacy(examples, **settings), **score_ud(examples)}


def score_ud(examples: Iterable[Example]) -> dict[str, Any]:
    """Return UAS, LAS and sentence scores, between 0 and 1.

    Unlike spaCy's ``dep_uas`` and ``dep_las``, these scores count punctuation, and labels are compared
    unchanged.
    White-space tokens, tokens without gold and Docs without any gold labels are left out. Precision and
    recall differ only where tokens are misaligned; UAS and LAS are F-scores.

    Returns ``ud_uas``, ``ud_las``, ``ud_las_per_type`` (label to p, r, f) and ``ud_sents_p``,
    ``ud_sents_r``, ``ud_sents_f``; each is None without gold.
    """
    scores = _Scores()
    for example in examples:
        if not example.reference.has_annotation("DEP"):
            continue
        scores.add(example)
    return scores.summary()


class _Scores:
    """Counts over Examples."""

    def __init__(self) -> None:
        self.unlabelled, self.labelled, self.sentences = PRFScore(), PRFScore(), PRFScore()
        self.per_type: dict[str, PRFScore] = {}

    def add(self, example: Example) -> None:
        heads, deps = gold_parse(example)
        gold = Counter(token.dep_ for token in example.reference if token.dep and not token.is_space)
        guessed: Counter[str] = Counter()
        right: Counter[str] = Counter()
        n_right_heads = 0
        for token in example.predicted:
            if token.is_space or not (deps[token.i] or _has_gold(example, token.i)):
                continue
            guessed[token.dep_] += 1
            if token.has_head() and token.head.i == heads[token.i]:
                n_right_heads += 1
                right[token.dep_] += token.dep_ == deps[token.i]
        n_guessed, n_gold = sum(guessed.values()), sum(gold.values())
        _count(self.unlabelled, n_right_heads, n_guessed, n_gold)
        _count(self.labelled, sum(right.values()), n_guessed, n_gold)
        for label in {*guessed, *gold} - {""}:
            score = self.per_type.setdefault(label, PRFScore())
            _count(score, right[label], guessed[label], gold[label])
        self._add_sentences(example)

    def _add_sentences(self, example: Example) -> None:
        gold = gold_starts(example)
        if gold is None:
            return
        guessed = np.array([bool(token.is_sent_start) for token in example.predicted], dtype=np.bool_)
        guessed[:1] = True
        gold_spans, spans = _spans(gold), _spans(guessed)
        _count(self.sentences, len(gold_spans & spans), len(spans), len(list(example.reference.sents)))

    def summary(self) -> dict[str, Any]:
        found = len(self.labelled) > 0
        sentences = self.sentences if len(self.sentences) else None
        return {
            "ud_uas": self.unlabelled.fscore if found else None,
            "ud_las": self.labelled.fscore if found else None,
            "ud_las_per_type": {k: v.to_dict() for k, v in sorted(self.per_type.items())} if found else None,
            "ud_sents_p": sentences.precision if sentences else None,
            "ud_sents_r": sentences.recall if sentences else None,
            "ud_sents_f": sentences.fscore if sentences else None,
        }


def _has_gold(example: Example, i: int) -> bool:
    """Return whether a predicted token is scored: some reference token that it covers is annotated."""
    places = example.alignment.x2y[i].tolist()
    return not places or any(example.reference[place].dep for place in places)


def _count(score: PRFScore, right: int, guessed: int, gold: int) -> None:
    score.tp += right
    score.fp += guessed - right
    score.fn += gold - right


def _spans(starts: BoolArray) -> set[tuple[int, int]]:
    places = [*np.flatnonzero(starts).tolist(), len(starts)]
    return set(pairwise(places))
