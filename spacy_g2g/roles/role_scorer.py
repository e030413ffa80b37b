"""Score semantic roles: predicates, rolesets, and arguments by their heads and by their spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..data.docs import sentences_to_doc
from ..data.roles import Predicate, aligned_roles, get_roles, own_roles
from ..formats.conllu import ConlluSentence

#: Names of the scores in training, and of the same metrics in reports.
METRICS = {"predicates": "Predicates", "rolesets": "Rolesets", "heads": "Roles", "spans": "RoleSpans"}


def make_role_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_g2g.role_scorer.v1`` of predicates, rolesets and roles."""
    return score_roles


def score_roles(examples: Iterable[Example], **_: Any) -> dict[str, Any]:
    """Return scores of roles between 0 and 1, over all Docs with gold roles.

    A roleset is correct if its predicate is. An argument is correct if its predicate, role and head are, or
    for ``role_spans`` its predicate, role and span.

    Returns ``role_predicates_p``, ``_r`` and ``_f``, and the same for ``role_rolesets``, ``role_heads`` and
    ``role_spans``; each is None without gold roles.
    """
    scores = count_roles(examples)
    has_gold = scores["predicates"].tp + scores["predicates"].fn > 0
    values = dict[str, Any]()
    for name, score in scores.items():
        for letter, rate in score.to_dict().items():
            values[f"role_{name}_{letter}"] = rate if has_gold else None
    return values


def count_roles(examples: Iterable[Example]) -> dict[str, PRFScore]:
    """Return the score of each of ``METRICS``."""
    scores = {name: PRFScore() for name in METRICS}
    for example in examples:
        gold = aligned_roles(example)
        if gold is None:
            continue
        expected, found = items(gold), items(own_roles(example.predicted) or [])
        for name, score in scores.items():
            score.score_set(found[name], expected[name])
    return scores


def pair_roles(
    docs: Iterable[Doc], gold: Iterable[Sequence[ConlluSentence]], examples: list[Example]
) -> Iterator[Doc]:
    """Yield Docs, and collect an Example of each whose gold sentences have roles.

    docs: Docs, as a pipeline has annotated them.
    gold: Sentences of each Doc.
    examples: List that gets the Examples.
    """
    for doc, sentences in zip(docs, gold, strict=True):
        reference = sentences_to_doc(sentences, doc.vocab)
        if get_roles(reference) is not None:
            examples.append(Example(doc, reference))
        yield doc


def items(predicates: Iterable[Predicate]) -> dict[str, set[tuple[Any, ...]]]:
    """Return what each of ``METRICS`` counts."""
    items: dict[str, set[tuple[Any, ...]]] = {name: set() for name in METRICS}
    for word, roleset, arguments, _ in predicates:
        items["predicates"].add((word,))
        if roleset:
            items["rolesets"].add((word, roleset))
        for role, head, start, end, _ in arguments:
            items["heads"].add((word, role, head))
            items["spans"].add((word, role, start, end))
    return items
