"""A tiny SynTr, and trees that it learns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from thinc.api import Optimizer

from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.syntr import build_syntr
from spacy_g2g.models.types import Arcs, ParserModel, Sentence

from ..util import TINY_MODEL, initialized_model, read_treebank, weights_of

SENTENCES = [Sentence([w[0] for w in s]) for s in read_treebank()]
GOLD = [
    Arcs(np.array([w[2] for w in s]), np.array([i % 5 + 1 for i in range(len(s))])) for s in read_treebank()
]
MISSING = [Arcs(np.full(len(s), -1), np.full(len(s), -1)) for s in read_treebank()]


def make(**settings: Any) -> tuple[ParserModel, G2GShim]:
    """A tiny SynTr with random weights, and its shim."""
    model = build_syntr(**{**TINY_MODEL, **settings})
    return model, initialized_model(model)


def learn(
    model: ParserModel, gold: Sequence[Arcs] = GOLD, sentences: Sequence[Sentence] = SENTENCES
) -> float:
    """The loss of sentences, whose gradient goes to the weights."""
    loss, backprop = model.begin_update((sentences, gold))
    backprop(None)
    return float(loss)


def step(
    model: ParserModel,
    optimizer: Optimizer,
    gold: Sequence[Arcs] = GOLD,
    sentences: Sequence[Sentence] = SENTENCES,
) -> float:
    """The loss of sentences, from which the weights have been moved."""
    loss = learn(model, gold, sentences)
    model.finish_update(optimizer)
    return loss


def changes(before: dict[str, torch.Tensor], model: ParserModel) -> dict[str, float]:
    """How far each weight has moved."""
    return {name: float((w - before[name]).abs().max()) for name, w in weights_of(model).items()}
