"""Priors of a refiner, the scores of the parser before it, and the trees that the refiner does not change.

If a later refiner reads priors, a parser writes its scores to Docs (``scored/score_record.py``).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from thinc.api import Model

from ..models.types import ArcScores, Parse, Sentence
from ..trees.tree import ROOT_LABEL, are_trees


class PriorSource:
    """Part of a parser that collects the names of later refiners that read its scores.

    To a component with all members of ``spacy.ty.ListenedToComponent``, spaCy offers each later component,
    after emptying ``listener_map``. There is no other way to learn of these. A refiner reads scores from
    Docs, not through a layer, so its name has no layers in ``listener_map``.
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
        """Do nothing: a refiner does not listen through a layer."""

    def remove_listener(self, listener: Model[Any, Any], component_name: str) -> bool:  # noqa: ARG002
        """Return False: a refiner does not listen through a layer."""
        return False


def keep_if_certain(sentence: Sentence, certain: float, n_labels: int) -> Parse | None:
    """Return the tree of a sentence if the prior makes all its heads certain, and None otherwise.

    Labels have the parser's probabilities, or 1 where the prior lacks them.

    sentence: Sentence with its graph. A sentence with constraints is never certain.
    certain: Probability that each head must exceed.
    n_labels: Number of labels that a tree may have. A graph may also have others.
    """
    graph, prior = sentence.graph, sentence.request.prior
    if graph is None or prior is None or sentence.request.constraints or certain >= 1:
        return None
    words, is_root = np.arange(len(graph.heads)), graph.heads == 0
    probs = np.exp(prior.arcs[words, graph.heads])
    is_label = (graph.labels >= 0) & (graph.labels < n_labels) & ((graph.labels == ROOT_LABEL) == is_root)
    is_tree = are_trees(graph.heads[None], lengths=[len(words)])[0]
    if probs.min() <= certain or not is_label.all() or not is_tree:
        return None
    label_probs = np.ones_like(probs)
    own = np.flatnonzero(~is_root & (graph.heads == prior.heads))
    label_probs[own] = np.exp(prior.labels[own, graph.labels[own] - 1])
    return Parse(graph, probs, label_probs)


def attach_prior_scores(parse: Parse, *, prior: ArcScores, scores: ArcScores) -> Parse:
    """Attach the parser's scores to a certain tree, which is the best one by these scores.

    prior: Prior of the parser, with the labels of the parser's arcs.
    scores: Scores of the refiner, for the labels of all other arcs.
    """
    assert prior.heads is not None
    labels, words = scores.labels.copy(), np.flatnonzero(prior.heads > 0)
    labels[words, prior.heads[words] - 1] = prior.labels[words]
    return replace(parse, scores=ArcScores(prior.arcs, labels))
