"""What a parser tells a refiner beside its tree, and which trees the refiner leaves as they are.

A refiner that reads priors listens to the parsers before it. They write log-probabilities of all heads, and
of the labels of their arcs, to ``doc._.g2g_prior``, and the refiner removes them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..data.doc_graphs import PRIOR
from ..data.kept import read_kept, with_tokens
from ..data.segmentation import Segmentation
from ..models.types import ArcScores, Parse, Sentence
from ..trees.tree import ROOT_LABEL, are_trees


class PriorSource:
    """Part of a parser that knows the refiners behind it, which read its prior.

    Whenever a pipeline changes, spaCy empties ``listener_map`` of the components that others may listen to
    (``spacy.ty.ListenedToComponent``), and offers them each later component. A refiner has no layer that
    listens: it reads priors from Docs. So its name has no layers here.
    """

    listener_map: dict[str, list[Model[Any, Any]]] = {}  # noqa: RUF012 (replaced, never changed)
    listeners: Sequence[Model[Any, Any]] = ()

    @property
    def listening_components(self) -> list[str]:
        """Names of the refiners that read priors."""
        return [*self.listener_map]

    def find_listeners(self, component: Any) -> None:
        """Add a later component if it is a refiner that reads priors."""
        if getattr(component, "reads_prior", False):
            self.listener_map = {**self.listener_map, component.name: []}

    def add_listener(self, listener: Model[Any, Any], component_name: str) -> None:
        """Do nothing: a refiner has no layer that listens."""

    def remove_listener(self, listener: Model[Any, Any], component_name: str) -> bool:  # noqa: ARG002
        """Return False: a refiner has no layer that listens."""
        return False


def keep_prior(doc: Doc, parses: Sequence[Parse], labels: Sequence[str]) -> None:
    """Write the parser's labels, and the lengths and priors of a Doc's sentences, None without a prior."""
    lengths = [parse.n_words for parse in parses]
    priors = [parse.prior and vars(parse.prior) for parse in parses]
    doc._.set(PRIOR, with_tokens(doc, {"labels": [*labels], "n_words": lengths, "sentences": priors}))


def with_priors(
    sentences: Sequence[Sentence], docs: Sequence[Doc], segmentation: Segmentation, labels: Sequence[str]
) -> list[Sentence]:
    """Return sentences with the priors of their Docs. Docs that a parser cut otherwise have none.

    sentences: Sentences that have words.
    docs: The Docs.
    segmentation: Where the sentences are.
    labels: Labels of the refiner, the root label first.
    """
    n_words: list[list[int]] = [[] for _ in docs]
    for place, n in zip(segmentation.doc_of.tolist(), segmentation.n_words.tolist(), strict=True):
        n_words[place] += [n] if n else []
    priors = [prior for doc, n in zip(docs, n_words, strict=True) for prior in _priors(doc, n, list(labels))]
    return [
        sentence if prior is None else replace(sentence, prior=prior)
        for sentence, prior in zip(sentences, priors, strict=True)
    ]


def _priors(doc: Doc, n_words: list[int], labels: list[str]) -> Iterator[ArcScores | None]:
    """Yield the priors of a Doc's sentences, None where there is none.

    Labels are in the order of the refiner's. The prior of a parser with other labels knows no arc's labels.
    """
    kept = read_kept(doc, PRIOR)
    if kept is None or kept["n_words"] != n_words:
        yield from [None] * len(n_words)
        return
    known = list(kept["labels"])
    has_same = known[:1] == labels[:1] and sorted(known) == sorted(labels)
    order = [known.index(label) - 1 for label in labels[1:]] if has_same else []
    for arrays in kept["sentences"]:
        prior = arrays and ArcScores(**arrays)
        if prior and not has_same:
            n = len(prior.arcs)
            prior = ArcScores(prior.arcs, np.zeros((n, len(labels) - 1), np.float32), np.full(n, -1))
        elif prior and known != labels:
            prior = replace(prior, labels=prior.labels[:, order])
        yield prior


def keep_if_certain(sentence: Sentence, certain: float, n_labels: int) -> Parse | None:
    """Return the tree that a sentence has, if its prior makes all heads certain; else None.

    Labels have the parser's probabilities, or 1 where the prior has none.

    sentence: Sentence with its graph. One with constraints is never certain.
    certain: Probability that each head must exceed.
    n_labels: Number of labels that a tree may have; a graph may have others, too.
    """
    graph, prior = sentence.graph, sentence.prior
    if graph is None or prior is None or sentence.constraints or certain >= 1:
        return None
    words, is_root = np.arange(len(graph.heads)), graph.heads == 0
    probs = np.exp(prior.arcs[words, graph.heads])
    is_label = (graph.labels >= 0) & (graph.labels < n_labels) & ((graph.labels == ROOT_LABEL) == is_root)
    is_tree = are_trees(graph.heads[None], [len(words)])[0]
    if probs.min() <= certain or not is_label.all() or not is_tree:
        return None
    label_probs = np.ones_like(probs)
    known = np.flatnonzero(~is_root & (graph.heads == prior.heads))
    label_probs[known] = np.exp(prior.labels[known, graph.labels[known] - 1])
    return Parse(graph, probs, label_probs)


def attach_prior_scores(parse: Parse, prior: ArcScores, scores: ArcScores) -> Parse:
    """Return a tree that is certain with the parser's scores, by which it is the best one.

    prior: Prior of the parser. It lacks the scores of labels of arcs that are not the parser's.
    scores: Scores of the refiner, which has them.
    """
    assert prior.heads is not None
    labels, words = scores.labels.copy(), np.flatnonzero(prior.heads > 0)
    labels[words, prior.heads[words] - 1] = prior.labels[words]
    return replace(parse, scores=ArcScores(prior.arcs, labels))
