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

from ..data.docs import TREEBANK_KEY
from ..data.gold import gold_parse, gold_starts
from ..data.source import known


def make_ud_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.ud_scorer.v1``: as UD does, and as spaCy's own parser does."""
    return score_trees


def score_trees(examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
    """Return the scores of ``score_ud``, and those of spaCy's parser under its names, such as ``dep_las``.

    The LAS of each treebank that a corpus names is added, such as ``ud_las_ewt``.

    settings: What spaCy's scorer takes.
    """
    examples, treebanks = list(examples), dict[str, list[Example]]()
    for example in examples:
        if name := example.reference.user_data.get(TREEBANK_KEY):
            treebanks.setdefault(name, []).append(example)
    score_as_spacy = registry.scorers.get("spacy.parser_scorer.v1")()
    of_each = {f"ud_las_{name}": score_ud(part)["ud_las"] for name, part in treebanks.items()}
    return {**score_as_spacy(examples, **settings), **score_ud(examples), **of_each}


def score_ud(examples: Iterable[Example]) -> dict[str, Any]:
    """Return UAS, LAS and sentence scores, between 0 and 1.

    Unlike spaCy's ``dep_uas`` and ``dep_las``, these scores count punctuation, and labels are compared
    unchanged.
    White-space tokens, tokens without gold and Docs without any gold labels are left out. Precision and
    recall differ only where tokens are misaligned; UAS and LAS are F-scores.

    Returns ``ud_uas``, ``ud_las``, ``ud_las_per_type`` (label to p, r, f) and ``ud_sents_p``,
    ``ud_sents_r``, ``ud_sents_f``; each is None without gold.
    """
    unlabeled, labeled, sentences = PRFScore(), PRFScore(), PRFScore()
    per_type: dict[str, PRFScore] = {}
    for example in examples:
        if example.reference.has_annotation("DEP"):
            guessed, gold = _arc_sets(example)
            unlabeled.score_set({arc[:2] for arc in guessed}, {arc[:2] for arc in gold})
            labeled.score_set(guessed, gold)
            for label in {arc[2] for arc in guessed | gold} - {""}:
                of_label = ({arc for arc in arcs if arc[2] == label} for arcs in (guessed, gold))
                per_type.setdefault(label, PRFScore()).score_set(*of_label)
            sentences.score_set(*_span_sets(example))
    found = len(labeled) > 0
    p, r, f = (
        (sentences.precision, sentences.recall, sentences.fscore) if len(sentences) else (None, None, None)
    )
    return {
        "ud_uas": unlabeled.fscore if found else None,
        "ud_las": labeled.fscore if found else None,
        "ud_las_per_type": {k: v.to_dict() for k, v in sorted(per_type.items())} if found else None,
        "ud_sents_p": p,
        "ud_sents_r": r,
        "ud_sents_f": f,
    }


def _arc_sets(example: Example) -> tuple[set[tuple[int, int, str]], set[tuple[int, int, str]]]:
    """Return token, head and label of the guessed arcs and of the gold arcs, in terms of the predicted Doc.

    A gold word that is not a token of it has a number below 0. Where gold has a head without a label, the
    guessed label is left out, too.
    """
    heads, deps = gold_parse(example)
    words = [token for token in example.predicted if not token.is_space]
    gold = {(token.i, int(heads[token.i]), deps[token.i]) for token in words if heads[token.i] >= 0}
    unlabeled = {i for i, _, dep in gold if not dep}
    guessed = {
        (token.i, token.head.i if token.has_head() else -1, "" if token.i in unlabeled else token.dep_)
        for token in words
        if heads[token.i] >= 0 or _has_gold(example, token.i)
    }
    rest = Counter(known(token.dep_) for token in example.reference if token.dep and not token.is_space)
    rest.subtract(dep for _, _, dep in gold)
    return guessed, gold | {(-1 - n, -1, dep) for n, dep in enumerate(rest.elements())}


def _has_gold(example: Example, i: int) -> bool:
    """Return whether a predicted token is scored: some reference token that it covers is annotated."""
    places = example.alignment.x2y[i].tolist()
    return not places or any(example.reference[place].dep for place in places)


def _span_sets(example: Example) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return start and end of the guessed and of the gold sentences. Those that are lost end below 0."""
    starts = gold_starts(example)
    if starts is None:
        return set(), set()
    guessed = np.array([bool(token.is_sent_start) for token in example.predicted], dtype=np.bool_)
    guessed[:1] = True
    spans, gold = (set(pairwise([*np.flatnonzero(of).tolist(), len(of)])) for of in (guessed, starts))
    n_lost = len(list(example.reference.sents)) - len(gold)
    return spans, gold | {(0, -1 - n) for n in range(n_lost)}
