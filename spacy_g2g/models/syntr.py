"""SynTr: a transformer encoder with biaffine scorers, decoded without a previous graph.

Mohammadshahi & Henderson 2021 (RNGTr), section 4: the model of one pass from an empty graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import Errors
from ..layers.biaffine import BiaffineScorer
from ..parsing.mst import decode
from .encoder import EncoderSizes
from .network import ROOT_LABEL, Network, NetworkSpec, pad_trees
from .shim import G2GShim, make_model
from .types import IntArray, Parse, ParserModel, Tree
from .wordpieces import PieceBatch


def build_syntr(
    encoder: EncoderSizes,
    tag_attr: Literal["POS", "TAG"] | None = None,
    arc_width: int = 500,
    label_width: int = 100,
    dropout: float = 0.33,
    encoder_rate_factor: float = 0.1,
    mixed_precision: bool = True,
) -> ParserModel:
    """Registered as ``spacy_g2g.SynTr.v1``: the graph-based parser of one encoder pass.

    encoder: sizes of an encoder trained from scratch (a checkpoint brings its own).
    tag_attr: the token attribute whose embedding is added to the words' pieces; None for none.
    arc_width, label_width: of the dependent and head vectors of the biaffine scorers.
    dropout: rate on those vectors (the encoder's is ``[training] dropout``).
    encoder_rate_factor: the learning rate of checkpoint weights as a multiple of the optimizer's rate.
    mixed_precision: compute in bfloat16 on CUDA; the CPU always computes in float32.
    Raises ValueError for values out of range.
    """
    if tag_attr not in (None, "POS", "TAG"):
        raise ValueError(Errors.E408.format(tag_attr=tag_attr))
    if not 0.0 <= dropout < 1.0 or arc_width < 1 or label_width < 1 or encoder_rate_factor <= 0.0:
        raise ValueError(
            Errors.E409.format(
                dropout=dropout,
                arc_width=arc_width,
                label_width=label_width,
                encoder_rate_factor=encoder_rate_factor,
            )
        )
    shim = G2GShim(
        partial(SynTr, arc_width=arc_width, label_width=label_width, dropout=dropout),
        encoder,
        reads_tags=tag_attr is not None,
        encoder_rate_factor=encoder_rate_factor,
        mixed_precision=mixed_precision,
    )
    return make_model("syntr", shim, tag_attr)


class SynTr(Network):
    """Encoder and biaffine scorers. The scorer has no root label: the root arc has it, and no other."""

    def __init__(self, spec: NetworkSpec, *, arc_width: int, label_width: int, dropout: float) -> None:
        super().__init__(spec)
        self.scorer = BiaffineScorer(
            spec.encoder.width,
            spec.n_labels - 1,
            arc_width=arc_width,
            label_width=label_width,
            dropout=dropout,
        )

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        self.scorer.resize(n_labels - 1)

    def score(self, batch: PieceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Arc scores, -inf at a word itself and in padding, and the vectors for label scores.

        Returns float [sentences, words, words + 1], [sentences, words, label_width],
        [sentences, words + 1, label_width].
        """
        arcs, dependents, heads = self.scorer(self.encode(batch))
        columns = np.arange(arcs.shape[2])
        possible = (columns <= batch.n_words[:, None])[:, None] & (columns != columns[1:, None])
        return arcs.float().masked_fill(~self.tensor(possible), -torch.inf), dependents, heads

    def loss(self, batch: PieceBatch, gold: Sequence[Tree]) -> Tensor:
        """Cross-entropy of gold heads and of gold labels at gold heads, summed."""
        arcs, dependents, head_vectors = self.score(batch)
        heads, labels = pad_trees(gold, arcs.shape[1])
        targets = self.tensor(heads).flatten()
        loss = F.cross_entropy(arcs.flatten(0, 1), targets, ignore_index=-1, reduction="sum")
        rows, words = np.nonzero((heads > 0) & (labels > ROOT_LABEL))
        scores = self.score_labels(dependents, head_vectors, rows, words, heads[rows, words])
        labels_of_arcs = self.tensor(labels[rows, words] - 1)
        return loss + F.cross_entropy(scores, labels_of_arcs, reduction="sum")

    def score_labels(
        self, dependents: Tensor, head_vectors: Tensor, rows: IntArray, words: IntArray, heads: IntArray
    ) -> Tensor:
        """Scores of all labels but the root's for arcs to words (from 0) in rows; float32 [arcs, labels]."""
        rows_ = self.tensor(rows)
        scores = self.scorer.labels(
            dependents[rows_, self.tensor(words)], head_vectors[rows_, self.tensor(heads)]
        )
        return scores.float()

    def parse(self, batch: PieceBatch) -> list[Parse]:
        """Arg-max heads where they are a tree with one root, else Chu-Liu/Edmonds; then arg-max labels."""
        arcs, dependents, head_vectors = self.score(batch)
        heads, head_probs = decode_heads(arcs, batch.n_words)
        rows, words = np.nonzero(np.arange(heads.shape[1]) < batch.n_words[:, None])
        scores = self.score_labels(dependents, head_vectors, rows, words, heads[rows, words])
        best = scores.log_softmax(-1).max(-1)
        labels = np.zeros_like(heads)
        label_probs = np.ones_like(head_probs)
        is_root = heads[rows, words] == 0
        labels[rows, words] = np.where(is_root, ROOT_LABEL, best.indices.cpu().numpy() + 1)
        label_probs[rows, words] = np.where(is_root, 1.0, best.values.exp().cpu().numpy())
        return [
            Parse(Tree(heads[i, :n], labels[i, :n]), head_probs[i, :n], label_probs[i, :n], batch.fits[i])
            for i, n in enumerate(batch.n_words)
        ]


def decode_heads(arcs: Tensor, n_words: IntArray) -> tuple[IntArray, np.ndarray]:
    """The best single-root tree of each sentence, and the probability of each head.

    arcs: float [sentences, words, words + 1], -inf where no arc can be.
    n_words: int [sentences].
    Returns int [sentences, words], 0 in padding, and float [sentences, words].
    Raises ValueError for scores that are not numbers.
    """
    log_probs = arcs.log_softmax(-1).cpu().numpy()
    if np.isnan(log_probs).any():
        raise ValueError(Errors.E410)
    heads = decode(log_probs, n_words)
    return heads, np.exp(np.take_along_axis(log_probs, heads[..., None], axis=2)[..., 0])
