"""The record ``doc._.g2g_scores`` of a parser's scores.

It is a dict, which ``Doc.to_bytes`` and ``DocBin`` keep, with these keys:

parser: Name of the component.
labels: Its labels, the root label first.
is_prior: Whether a refiner behind the parser may decode with the scores.
n_words: Number of words of each sentence that has words.
sentences: For each of them, a dict of arrays, or None for a sentence without scores. ``heads`` is the
    parser's tree, int [n]. ``arcs`` is as in ``ArcScores``. ``labels`` has the labels of all arcs, float
    [n, n, labels - 1], or those of the arcs of the tree, float [n, labels - 1].
tokens: The tokens that the record was made for (see ``data/token_check.py``).

Questions about trees (``scored_trees``) need the labels of all arcs. A parser writes these if ``keep_scores``
is set. A refiner behind the parser needs only the labels of the tree, and removes a record with nothing else.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..data.segmentation import Segmentation
from ..data.token_check import fits, read_checked, with_tokens
from ..errors import Errors
from ..models.types import ArcScores, Parse

#: Extension attribute of Docs for the record.
SCORES = "g2g_scores"


def write_scores(
    doc: Doc, parses: Sequence[Parse], labels: Sequence[str], *, parser: str, is_prior: bool
) -> None:
    """Write the scores of a Doc's sentences. Only a prior may lack the scores of some sentences.

    doc: The Doc.
    parses: Parses of its sentences that have words.
    labels: Labels of the parser, the root label first.
    parser: Name of the component.
    is_prior: Whether a refiner behind the parser may decode with the scores.
    """
    sentences = [
        parse.scores and {"heads": parse.tree.heads, "arcs": parse.scores.arcs, "labels": parse.scores.labels}
        for parse in parses
    ]
    record = {
        "parser": parser,
        "labels": [*labels],
        "is_prior": is_prior,
        "n_words": [parse.n_words for parse in parses],
        "sentences": sentences,
    }
    doc._.set(SCORES, with_tokens(doc, record) if is_prior or None not in sentences else None)


def read_scores(
    doc: Doc, segmentation: Segmentation, labels: Sequence[str], *, parser: str
) -> list[ArcScores] | None:
    """Return the scores of all arcs and labels of a Doc's sentences that have words.

    doc: The Doc.
    segmentation: Where its sentences are.
    labels: Labels of the parser, the root label first.
    parser: Name of the component.
    Returns None if the Doc lacks such scores of this parser.
    Raises ValueError if the scores are not those of these sentences and words, or have other labels.
    """
    record: dict[str, Any] | None = doc._.get(SCORES)
    if record is None or record["parser"] != parser or not _has_all_labels(record):
        return None
    own_labels = list(record.get("labels", ()))
    if own_labels != [*labels]:
        raise ValueError(Errors.E860.format(name=parser, found=own_labels, expected=[*labels]))
    scores = [ArcScores(sentence["arcs"], sentence["labels"]) for sentence in record["sentences"]]
    n_words, expected = [len(own.arcs) for own in scores], _lengths([doc], segmentation)[0]
    if n_words != expected:
        raise ValueError(Errors.E813.format(found=n_words, expected=expected))
    if not fits(doc, record):
        raise ValueError(Errors.E861.format(text=doc.text[:40]))
    return scores


def read_priors(
    docs: Sequence[Doc], segmentation: Segmentation, labels: Sequence[str]
) -> list[ArcScores | None]:
    """Return the prior of each sentence that has words.

    It is None for a sentence without one, and if the parser cut the Doc into other sentences.

    docs: The Docs.
    segmentation: Where their sentences are.
    labels: Labels of the refiner, the root label first. Priors get this order of labels.
    """
    priors: list[ArcScores | None] = []
    for doc, n_words in zip(docs, _lengths(docs, segmentation), strict=True):
        record = read_checked(doc, SCORES) if _is_prior(doc) else None
        if record is None or record["n_words"] != n_words:
            priors += [None] * len(n_words)
            continue
        order = _label_order(record["labels"], labels)
        priors += [_to_prior(sentence, order, len(labels)) for sentence in record["sentences"]]
    return priors


def end_prior(doc: Doc) -> None:
    """Keep later refiners from reading the scores of a Doc. Remove scores without the labels of all arcs."""
    if _is_prior(doc):
        record = doc._.get(SCORES)
        doc._.set(SCORES, {**record, "is_prior": False} if _has_all_labels(record) else None)


def _is_prior(doc: Doc) -> bool:
    record = doc._.get(SCORES)
    return record is not None and bool(record.get("is_prior"))


def _has_all_labels(record: dict[str, Any]) -> bool:
    sentences = record["sentences"]
    return bool(sentences) and all(own is not None and own["labels"].ndim == 3 for own in sentences)


def _lengths(docs: Sequence[Doc], segmentation: Segmentation) -> list[list[int]]:
    """Return the number of words of each sentence that has words, for each Doc."""
    n_words: list[list[int]] = [[] for _ in docs]
    for place, n in zip(segmentation.doc_of.tolist(), segmentation.n_words.tolist(), strict=True):
        if n:
            n_words[place].append(n)
    return n_words


def _label_order(prior_labels: Sequence[str], labels: Sequence[str]) -> list[int] | None:
    """Return the columns of a parser's labels in the order of a refiner's; None if these are other labels."""
    if prior_labels[0] != labels[0] or sorted(prior_labels) != sorted(labels):
        return None
    return [prior_labels.index(label) - 1 for label in labels[1:]]


def _to_prior(sentence: dict[str, Any] | None, order: list[int] | None, n_labels: int) -> ArcScores | None:
    """Return the prior of a sentence of a record, without labels of arcs if the parser has other labels."""
    if sentence is None:
        return None
    arcs, labels, heads = sentence["arcs"], sentence["labels"], sentence["heads"]
    if order is None:
        n = len(arcs)
        return ArcScores(arcs, np.zeros((n, n_labels - 1), np.float32), np.full(n, -1))
    prior = ArcScores(arcs, labels[..., order])
    return prior.for_heads(heads) if labels.ndim == 3 else ArcScores(arcs, prior.labels, heads)
