"""What a parser tells a refiner beside its tree: log-probabilities of all heads, and of its arcs' labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..data.doc_graphs import PRIOR
from ..data.layout import Layout
from ..trees.arc_scores import ArcScores
from ..trees.tree import ROOT_LABEL, are_trees

if TYPE_CHECKING:
    from ..models.types import Parse, Prior, Sentence


class InformsRefiners:
    """Base of parsers that keep a prior for the refiners behind them.

    Whenever a pipeline changes, spaCy calls ``find_listeners`` of each component that has these attributes
    (``spacy.ty.ListenedToComponent``), with every later component. A refiner is no listener in spaCy's sense,
    so the lists stay empty.
    """

    keeps_prior = False
    listeners: Sequence[Model[Any, Any]] = ()
    listening_components: Sequence[str] = ()

    @property
    def listener_map(self) -> dict[str, Any]:
        """Return no listeners. spaCy sets this to an empty dict before it looks at the later components."""
        return {}

    @listener_map.setter
    def listener_map(self, _: Any) -> None:
        self.keeps_prior = False

    def find_listeners(self, component: Any) -> None:
        """Keep priors if a later component is a refiner that reads them."""
        attrs = getattr(getattr(component, "model", None), "attrs", {})
        if attrs.get("reads_prior") or getattr(component, "certain", 1.0) < 1:
            self.keeps_prior = True

    def add_listener(self, listener: Model[Any, Any], component_name: str) -> None:
        """Do nothing: spaCy asks for the method."""

    def remove_listener(self, listener: Model[Any, Any], component_name: str) -> bool:  # noqa: ARG002
        """Do nothing: spaCy asks for the method."""
        return False


def keep_prior(doc: Doc, parses: Sequence[Parse], labels: Sequence[str]) -> None:
    """Write the parser's labels, and the lengths and priors of a Doc's sentences, None without a prior."""
    lengths = [parse.n_words for parse in parses]
    priors = [parse.prior for parse in parses]
    doc._.set(PRIOR, {"labels": tuple(labels), "n_words": lengths, "sentences": priors})


def remove_priors(docs: Iterable[Doc]) -> None:
    """Remove the priors of Docs."""
    for doc in docs:
        if doc._.get(PRIOR) is not None:
            doc._.set(PRIOR, None)


def with_priors(
    sentences: Sequence[Sentence], docs: Sequence[Doc], layout: Layout, labels: Sequence[str]
) -> list[Sentence]:
    """Return sentences with the priors of their Docs. Docs that a parser cut otherwise have none.

    sentences: Sentences that have words.
    docs: The Docs.
    layout: Where the sentences are.
    labels: Labels of the refiner, the root label first. Priors of a parser with others have no labels.
    """
    is_read = layout.n_words > 0
    ends = np.cumsum(np.bincount(layout.doc_of[is_read], minlength=len(docs)))
    of_docs = np.split(layout.n_words[is_read], ends)[:-1]
    priors = [
        prior
        for doc, n_words in zip(docs, of_docs, strict=True)
        for prior in _priors(doc, n_words.tolist(), list(labels))
    ]
    return [
        sentence if prior is None else replace(sentence, prior=prior)
        for sentence, prior in zip(sentences, priors, strict=True)
    ]


def _priors(doc: Doc, n_words: list[int], labels: list[str]) -> list[Prior | None]:
    """Return the priors of a Doc's sentences, None where there is none.

    Labels are in the order of the refiner's, or None if the parser has others.
    """
    from ..models.types import Prior

    kept = doc._.get(PRIOR)
    if kept is None or kept["n_words"] != n_words:
        return [None] * len(n_words)
    known = list(kept["labels"])
    has_same = known[:1] == labels[:1] and sorted(known) == sorted(labels)
    order = [known.index(label) - 1 for label in labels[1:]] if has_same else []
    priors: list[Prior | None] = []
    for of_sentence in kept["sentences"]:
        # A Doc that was read from bytes has lists in place of tuples.
        prior = None if of_sentence is None else Prior(*of_sentence)
        if prior is not None and prior.label_log_probs is not None and known != labels:
            prior = prior._replace(label_log_probs=prior.label_log_probs[:, order] if has_same else None)
        priors.append(prior)
    return priors


def certain_parse(sentence: Sentence, certain: float, n_labels: int) -> Parse | None:
    """Return the tree that a sentence has, if its prior makes all heads certain; else None.

    Labels have the parser's probabilities, or 1 where the prior has none.

    sentence: Sentence with its graph. One with constraints is never certain.
    certain: Probability that each head must exceed.
    n_labels: Number of labels that a tree may have; a graph may have others, too.
    """
    from ..models.types import Parse

    graph, prior = sentence.graph, sentence.prior
    if graph is None or prior is None or sentence.constraints or graph.heads.min() < 0:
        return None
    probs = np.exp(prior.head_log_probs[np.arange(len(graph.heads)), graph.heads])
    own = (
        (graph.labels >= 0) & (graph.labels < n_labels) & ((graph.labels == ROOT_LABEL) == (graph.heads == 0))
    )
    is_tree = are_trees(graph.heads[None], np.array([len(graph.heads)]))[0]
    if probs.min() <= certain or not own.all() or not is_tree:
        return None
    label_probs = np.ones_like(probs)
    if prior.label_log_probs is not None:
        words = np.flatnonzero((graph.heads > 0) & (graph.heads == prior.heads))
        label_probs[words] = np.exp(prior.label_log_probs[words, graph.labels[words] - 1])
    return Parse(graph, probs, label_probs)


def with_scores(parse: Parse, prior: Prior | None, scores: ArcScores | None) -> Parse:
    """Return a tree that is certain with the parser's scores, by which it is the best one.

    prior: Prior of the parser. It lacks the scores of labels of arcs that are not the parser's.
    scores: Scores of the refiner, which has them.
    """
    assert prior is not None
    assert scores is not None
    labels = scores.labels.copy()
    if prior.label_log_probs is not None:
        words = np.flatnonzero(prior.heads > 0)
        labels[words, prior.heads[words] - 1] = prior.label_log_probs[words]
    return replace(parse, scores=ArcScores(prior.head_log_probs, labels))
