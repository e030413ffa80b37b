"""What a parser's PyTorch module is given and must do; ``G2GShim`` wraps any such module for Thinc."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..layers.attention import Edges
from ..layers.encoder import EncoderConfig, GraphEncoder
from .wordpieces import N_SPECIAL_TAGS, NO_TAG, PieceBatch

# Standard deviation of a random vector for ROOT.
ROOT_RANGE = 0.02


@dataclass(frozen=True)
class NetworkSpec:
    """All that must be known to build a network, and to save one with its weights.

    encoder: sizes of the encoder, with one added piece, ROOT; None where words come as vectors.
    tokenizer: content of a ``tokenizer.json``; "" where words come as vectors.
    n_labels: labels, the root label (id 0) included; at least 2.
    tags: tags that have a vector of their own; None where no tags are read.
    pretrained: the encoder's weights came from a checkpoint.
    n_initial_labels: labels that only the initial graphs of a refiner have.
    pretrained_scorers: the scorers' weights came from a parser.
    rare_words: words that are read as unknown in training.
    vector_width: of words that come as vectors, from an encoder that the pipeline shares.
    frequent_words: the most frequent training words, the first most so, of a network that tells them apart.
    actions: of a parser of AMR, its table of actions as ``ActionTable.to_dict`` gives it.
    """

    encoder: EncoderConfig | None
    tokenizer: str
    n_labels: int
    tags: tuple[str, ...] | None
    pretrained: bool
    n_initial_labels: int = 0
    pretrained_scorers: bool = False
    rare_words: tuple[str, ...] = ()
    vector_width: int = 0
    frequent_words: tuple[str, ...] = ()
    actions: dict[str, Any] | None = None

    @property
    def own_encoder(self) -> EncoderConfig:
        """The encoder, of a network that must have one of its own."""
        if self.encoder is None:
            raise ValueError(Errors.E416)
        return self.encoder

    @property
    def width(self) -> int:
        """Of the words' vectors."""
        return self.vector_width if self.encoder is None else self.encoder.width


class Network(nn.Module, ABC):
    """A parser as a PyTorch module: the encoder with its tag embeddings, and what a subclass adds.

    Parameters of the encoder are named ``encoder.*``. Where words come as vectors there is none, but a vector
    for ROOT.

    n_relations, normalise_keys: graph input, see ``GraphSelfAttention``; 0 for a network that takes none.
    """

    #: Whether the network learns from whole trees alone.
    needs_trees: ClassVar[bool] = False
    encoder: GraphEncoder

    def __init__(self, spec: NetworkSpec, *, n_relations: int = 0, normalise_keys: bool = False) -> None:
        super().__init__()
        self.tags = None
        if spec.encoder is None:
            self.root = nn.Parameter(torch.empty(spec.vector_width))
            nn.init.normal_(self.root, std=ROOT_RANGE)
            return
        self.encoder = GraphEncoder(
            replace(spec.encoder, n_relations=n_relations, normalise_keys=normalise_keys)
        )
        if spec.tags is not None:
            self.tags = TagEmbeddings(len(spec.tags), spec.encoder)

    def encode(self, batch: PieceBatch, edges: Edges | None = None, extra: Tensor | None = None) -> Tensor:
        """The vectors of ROOT and of the words' first pieces, float [sentences, words + 1, width].

        extra: added to the input vectors, float [rows, width of the rows, embedding_width].
        """
        piece_ids = self.tensor(batch.piece_ids)
        if batch.vectors is not None:
            words = batch.vectors[(piece_ids[:, 1:] - 1).clamp(min=0)]
            return torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)
        mask = None
        if int(batch.lengths.min()) < batch.piece_ids.shape[1]:
            mask = self.tensor(np.arange(batch.piece_ids.shape[1]) < batch.lengths[:, None])
        if self.tags is not None and batch.tag_ids is not None:
            tags = self.tags(self.tensor(batch.tag_ids))
            extra = tags if extra is None else extra + tags
        pieces: Tensor = self.encoder(piece_ids, mask, extra=extra, edges=edges)
        return pieces.flatten(0, 1)[self.tensor(batch.word_index)]

    def mean_pieces(self, vectors: Tensor, words: IntArray, batch: PieceBatch) -> Tensor:
        """The mean over the pieces of ROOT and of each word, which may be in several rows.

        vectors: float [rows, width of the rows, any width]; words: int [rows, width of the rows], as
            ``batch.words``.
        Returns float32 [sentences, words + 1, any width], zeros for what has no pieces.
        """
        n, width = batch.word_index.shape
        rows, places = np.nonzero(words >= 0)
        owners = batch.sentences[rows] * width + words[rows, places]
        counts = np.maximum(np.bincount(owners, minlength=n * width), 1).astype(np.float32)
        picked = vectors[self.tensor(rows), self.tensor(places)].float()
        sums = picked.new_zeros(n * width, picked.shape[1]).index_add(0, self.tensor(owners), picked)
        return (sums / self.tensor(counts)[:, None]).view(n, width, -1)

    @abstractmethod
    def loss(self, batch: PieceBatch, gold: Sequence[Any]) -> Tensor:
        """The loss of a batch, a sum that grows with its words; words whose gold is missing have none."""

    @abstractmethod
    def parse(self, batch: PieceBatch) -> list[Any]:
        """The parse of each sentence of a batch, as the protocol in ``types`` has it."""

    def count_targets(self, gold: Sequence[Any]) -> int:
        """How many predictions a loss is the sum of: here words that have heads."""
        return sum(int((tree.heads >= 0).sum()) for tree in gold)

    @property
    def n_hypotheses(self) -> int:
        """Rows that the encoder may be given for each of a sentence's."""
        return 1

    def can_learn(self, gold: Sequence[Any]) -> BoolArray:
        """Which gold trees give a loss, bool [trees]: here those with a head at least."""
        return np.array([bool((tree.heads >= 0).any()) for tree in gold], dtype=np.bool_)

    @abstractmethod
    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def tensor(self, array: npt.NDArray[Any]) -> Tensor:
        """An array on the network's device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)


class TagEmbeddings(nn.Embedding):
    """Vectors added to the pieces of a word; missing and unknown tags have vectors of their own."""

    def __init__(self, n_tags: int, config: EncoderConfig) -> None:
        super().__init__(n_tags + N_SPECIAL_TAGS, config.embedding_width, padding_idx=NO_TAG)
        nn.init.normal_(self.weight, std=config.initializer_range)
        with torch.no_grad():
            self.weight[NO_TAG].zero_()
