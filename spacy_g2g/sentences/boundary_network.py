"""The network of sentence boundaries, which reads features of words and white space, and vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

import numpy as np
import torch
import torch.nn.functional as F
from thinc.api import Model, xp2torch
from thinc.types import Floats1d, Floats2d
from torch import Tensor, nn

from ..arrays import FloatArray, HashArray, IntArray
from ..models.network import NetworkSpec
from ..models.scoring import ScoringNetwork, make_side_network
from ..models.settings import COUNT, FROM_ZERO, SHARE, NetworkSettings, builder, setting
from .boundary_layers import BoundaryScorer
from .lines import N_FEATURES

#: Attributes of words that have vectors, and the number of vectors for each.
ROWS = {"LOWER": 5000, "PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}
#: Number of small hashes in each hash. Their vectors are added (hash embeddings, Svenstrup et al. 2017).
HASHES = 4
#: Width of the vectors of attributes, and bound of their initial values.
ATTRIBUTE_WIDTH, ATTRIBUTE_RANGE = 48, 0.1
#: Width of the mixed features of a word, and number of inputs of each maximum.
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
        "Number of layers of the encoder to run on text before it is split into sentences. More layers take "
        "more time. With null the network reads only features.",
        FROM_ZERO,
    )
    dropout: float = setting(
        0.3, "Dropout rate of the network. `[training] dropout` has no effect here.", SHARE
    )


class Boundaries(ScoringNetwork):
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

    def loss(self, scores: Tensor, gold: IntArray) -> Tensor:
        """Return the loss, summed over words.

        gold: Whether a sentence starts at each word: 1, 0, or -1 for unknown.
        """
        words, targets = self.tensor(np.flatnonzero(gold >= 0)), self.tensor(gold.astype(np.float32))
        return F.binary_cross_entropy_with_logits(scores[words], targets[words], reduction="sum")


@builder(BoundarySettings)
def build_boundaries(settings: BoundarySettings) -> BoundaryModel:
    """Build a network that finds sentence boundaries, for ``g2g_encoder``, or a ``g2g_parser`` without one.

    Convolutions read attributes of words, features of white space and lines (``sentences/lines.py``), and
    vectors from lower layers of the component's encoder, or the input of its first layer. The encoder does
    not learn from boundaries. A parser that listens to spaCy's ``tok2vec`` has no encoder, so its network
    reads only features. Registered as ``spacy_g2g.Boundaries.v2``.
    """
    build = partial(Boundaries, settings=settings)
    return make_side_network("boundaries", build, settings, _spec_of_texts, n_layers=settings.n_layers)


def _spec_of_texts(texts: Texts) -> NetworkSpec:
    width = texts.white_space.shape[1] + texts.vectors.shape[1]
    return NetworkSpec(n_labels=0, vector_width=width)
