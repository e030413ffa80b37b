"""Scores of arcs that Docs keep, and the best trees of a sentence over its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from ..data.doc_constraints import CONSTRAINTS, read_constraints
from ..data.layout import Layout
from ..errors import Errors
from ..trees.arc_scores import ArcScores, RankedTrees
from ..trees.constraints import Constraint
from .long_sentences import MAX_WORDS

if TYPE_CHECKING:
    from ..models.types import Parse, Sentence

#: Extension attribute of Docs for the scores of all arcs, written with ``keep_scores = true``.
SCORES = "g2g_scores"
#: How many words of a sentence an error shows.
SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class RankedTree:
    """One of the best trees of a sentence. Tokens count as in spaCy, and a root is its own head.

    score: Sum of the log-probabilities of the heads.
    tokens: Tokens of the sentence, without white space.
    heads: Head of each of them.
    deps: Label of each of them.
    head_probs: Probability of each head.
    dep_probs: Probability of each label, given the head.
    """

    score: float
    tokens: list[int]
    heads: list[int]
    deps: list[str]
    head_probs: list[float]
    dep_probs: list[float]


@dataclass(frozen=True, kw_only=True)
class TreeConfidence:
    """Probabilities of the tree of a sentence and of its parts.

    tree: Probability of all heads together.
    tokens: Tokens of the sentence, without white space.
    arcs: Probability of the head of each of them.
    labelled: Probability of head and label together.
    """

    tree: float
    tokens: list[int]
    arcs: list[float]
    labelled: list[float]


def over_tokens(trees: RankedTrees, tokens: Sequence[int], labels: Sequence[str]) -> Iterator[RankedTree]:
    """Yield the trees of a sentence over its tokens.

    tokens: Tokens of the sentence, without white space.
    labels: Labels of the parser.
    """
    for heads, ids, score, head_probs, label_probs in zip(*trees, strict=True):
        numbers = zip(tokens, heads.tolist(), strict=True)
        yield RankedTree(
            score=float(score),
            tokens=[*tokens],
            heads=[tokens[head - 1] if head else token for token, head in numbers],
            deps=[labels[i] for i in ids.tolist()],
            head_probs=head_probs.tolist(),
            dep_probs=label_probs.tolist(),
        )


def keep_scores(doc: Doc, parses: Sequence[Parse], name: str) -> None:
    """Write the scores of a Doc's sentences to ``doc._.g2g_scores``, as arrays in dicts.

    A Doc with a sentence that was parsed in parts keeps none.

    doc: The Doc.
    parses: Parses of its sentences that have words.
    name: Name of the component that has parsed it, the only one that may read the scores.
    """
    scores = [parse.scores for parse in parses if parse.scores is not None]
    kept = [{"arcs": of.arcs, "labels": of.labels} for of in scores]
    doc._.set(SCORES, {"parser": name, "sentences": kept} if len(kept) == len(parses) else None)


def kept_scores(doc: Doc, layout: Layout, name: str) -> list[ArcScores] | None:
    """Return the scores that a Doc keeps for its sentences that have words, or None if it keeps none.

    doc: The Doc.
    layout: Where its sentences are.
    name: Name of the component whose scores are wanted.
    Raises ValueError if the scores are not those of these sentences.
    """
    kept: dict[str, Any] | None = doc._.get(SCORES)
    if kept is None or kept["parser"] != name:
        return None
    arrays = kept["sentences"]
    found, expected = [len(scores["arcs"]) for scores in arrays], [n for n in layout.n_words.tolist() if n]
    if found != expected:
        raise ValueError(Errors.E813.format(found=found, expected=expected))
    return [ArcScores(scores["arcs"], scores["labels"]) for scores in arrays]


def constraints_of(
    docs: Sequence[Doc], layout: Layout, labels: Sequence[str]
) -> list[tuple[Constraint, ...]]:
    """Return the constraints of each sentence that has words; see ``read_constraints``."""
    if not any(doc._.get(CONSTRAINTS) for doc in docs):
        return [()] * int((layout.n_words > 0).sum())
    words: list[list[list[int]]] = [[] for _ in docs]
    for place, tokens in layout.word_places():
        words[place].append(tokens)
    pairs = zip(docs, words, strict=True)
    return [found for doc, sentences in pairs for found in read_constraints(doc, sentences, labels)]


def with_requests(
    sentences: Sequence[Sentence], constraints: Sequence[tuple[Constraint, ...]], keep_scores: bool
) -> list[Sentence]:
    """Return sentences that ask for scores, and for trees that meet the constraints.

    sentences: Sentences that have words.
    constraints: Constraints of each of them.
    keep_scores: Whether to ask for scores.
    Raises ValueError for constraints of a sentence that can't be parsed whole.
    """
    for sentence, found in zip(sentences, constraints, strict=True):
        if found:
            check_whole(sentence)
    return [
        replace(sentence, constraints=found, keep_scores=keep_scores and len(sentence.words) <= MAX_WORDS)
        for sentence, found in zip(sentences, constraints, strict=True)
    ]


def check_whole(sentence: Sentence) -> None:
    """Raise ValueError for a sentence that can't be parsed whole."""
    if len(sentence.words) > MAX_WORDS:
        start = " ".join(sentence.words[:SHOWN])
        raise ValueError(Errors.E817.format(n=len(sentence.words), most=MAX_WORDS, start=start))
