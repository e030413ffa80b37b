"""The network of sentence boundaries, from features of words and white space and vectors of an encoder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import torch.nn.functional as F
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats1d, Floats2d
from torch import Tensor, nn

from ..arrays import FloatArray, HashArray, IntArray
from ..data.lines import N_FEATURES
from ..layers.boundary_scorer import BoundaryScorer
from .model import adapt_to_fork
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim, find_shims
from .settings import COUNT, FROM_ZERO, SHARE, NetworkSettings, builder, setting

#: Attributes of words that have vectors, and the number of these for each.
ROWS = {"LOWER": 5000, "PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}
#: Each hash is read as several small ones, whose vectors are added (hash embeddings, Svenstrup et al. 2017).
HASHES = 4
#: Width of the vectors of attributes, and bound of their initial values.
ATTRIBUTE_WIDTH, ATTRIBUTE_RANGE = 48, 0.1
#: Width of the mixed features of a word, and number of the sums of which each is the largest.
FEATURE_WIDTH, MAXOUT = 64, 3


class Texts(NamedTuple):
    """The words of texts, end to end.

    attributes: Hashes of ``ROWS``; uint64 [words, attributes].
    white_space: Features of the white space before each word; float [words, any width].
    vectors: Vectors of an encoder, float [words, width]; of width 0 for none.
    lengths: Number of words of each text; int [texts].
    """

    attributes: HashArray
    white_space: FloatArray
    vectors: Floats2d
    lengths: IntArray


#: Network of boundaries: the log-odds that a sentence starts at each word, float [words].
BoundaryModel = Model[Texts, Floats1d]


@dataclass(frozen=True, kw_only=True)
class BoundarySettings(NetworkSettings):
    """Settings of the network of boundaries."""

    width: int = setting(128, "Width of the convolutions.", COUNT)
    n_layers: int | None = setting(
        0,
        "Number of layers of the encoder to run on text that is not cut into sentences yet. More of them "
        "cost more time. With null the network reads features alone.",
        FROM_ZERO,
    )
    dropout: float = setting(
        0.3, "Dropout rate of the network. `[training] dropout` has no effect here.", SHARE
    )


class Boundaries(WordNetwork):
    """Convolutions over a projection of attributes, white space and vectors."""

    def __init__(self, spec: NetworkSpec, settings: BoundarySettings) -> None:
        super().__init__(spec, has_root_vector=False)
        rows = np.array([*ROWS.values()])
        self.rows, self.firsts = rows[:, None], (np.cumsum(rows) - rows)[:, None]
        self.attributes = nn.Embedding(int(rows.sum()), ATTRIBUTE_WIDTH)
        nn.init.uniform_(self.attributes.weight, -ATTRIBUTE_RANGE, ATTRIBUTE_RANGE)
        n_inputs = len(ROWS) * ATTRIBUTE_WIDTH + N_FEATURES
        self.maxout = nn.Linear(n_inputs, MAXOUT * FEATURE_WIDTH)
        self.norm = nn.LayerNorm(FEATURE_WIDTH)
        self.inputs = nn.Linear(FEATURE_WIDTH + spec.vector_width - N_FEATURES, settings.width)
        self.scorer = BoundaryScorer(settings.width, settings.dropout)

    def forward(self, texts: Texts) -> Tensor:
        """Return the log-odds that a sentence starts at each word, float32 [words]."""
        n_words = len(texts.attributes)
        hashes = np.ascontiguousarray(texts.attributes).view(np.uint16).reshape(n_words, len(ROWS), HASHES)
        attributes = self.attributes(self.tensor(hashes % self.rows + self.firsts)).sum(dim=2)
        features = torch.cat([attributes.flatten(1), self.tensor(texts.white_space)], dim=1)
        mixed = self.norm(self.maxout(features).unflatten(1, (MAXOUT, -1)).amax(dim=1))
        vectors = xp2torch(texts.vectors, device=self.device)
        inputs = self.inputs(torch.cat([mixed, vectors], dim=1))
        return cast(Tensor, self.scorer(inputs, texts.lengths))


class BoundaryShim(NetworkShim[Boundaries]):
    """Runs a network of boundaries."""

    def predict(self, texts: Texts) -> Floats1d:
        """Return the log-odds that a sentence starts at each word, float32 [words]."""
        network = self.network.eval()
        with torch.inference_mode(), self.arithmetic():
            return cast(Floats1d, torch2xp(network(texts)))

    def begin_update(self, inputs: tuple[Texts, IntArray]) -> tuple[float, Callable[[Any], None]]:
        """Return the loss, summed over words, and a callback that adds its gradient to the parameters.

        inputs: The texts, and whether a sentence starts at each word: 1, 0, or -1 if that is not known.
        """
        texts, gold = inputs
        network = self.network.train()
        known = network.tensor(np.flatnonzero(gold >= 0))
        with self.arithmetic():
            scores = network(texts)
        targets = network.tensor(gold.astype(np.float32))
        loss = F.binary_cross_entropy_with_logits(scores[known], targets[known], reduction="sum")

        def backprop(_: Any) -> None:
            loss.backward()  # type: ignore[no-untyped-call]
            # The sum is clipped, not the mean, so that all updates count alike.
            self.n_targets = 1

        return float(loss.detach()), backprop


@builder(BoundarySettings)
def build_boundaries(settings: BoundarySettings) -> BoundaryModel:
    """Build a network that finds sentence boundaries, for ``g2g_encoder``, or a ``g2g_parser`` without one.

    Convolutions read attributes of words, features of white space and lines (``data/lines.py``), and vectors.
    The component's encoder gives those that its first layer reads, or runs lower layers. It does not learn
    from boundaries. A parser that listens to spaCy's ``tok2vec`` has no encoder, so its network reads
    features alone. Registered as ``spacy_g2g.Boundaries.v2``.
    """
    shim = BoundaryShim(
        partial(Boundaries, settings=settings),
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    attrs = {"n_layers": settings.n_layers}
    return Model("boundaries", _run, init=_build, shims=[shim], attrs=attrs)


def _build(model: BoundaryModel, X: Texts | None = None, Y: Any = None) -> None:  # noqa: ARG001, N803
    """Build the network for the widths of texts. Do nothing without them, as for a model that was loaded."""
    if X is not None:
        width = X.white_space.shape[1] + X.vectors.shape[1]
        spec = NetworkSpec(encoder=None, tokenizer="", n_labels=0, vector_width=width)
        _shim(model).build_network(spec)


def _run(model: BoundaryModel, inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Return the log-odds of texts; in training, the loss of texts with gold boundaries, and its callback."""
    adapt_to_fork(os.getpid())
    if is_train:
        return _shim(model).begin_update(inputs)
    return _shim(model).predict(inputs), lambda d_scores: d_scores


def _shim(model: BoundaryModel) -> BoundaryShim:
    (shim,) = find_shims(model)
    assert isinstance(shim, BoundaryShim)
    return shim
