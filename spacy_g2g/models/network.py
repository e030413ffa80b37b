"""What a parser's PyTorch module is given and must do; ``G2GShim`` wraps any such module for Thinc."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..arrays import IntArray
from ..errors import Errors
from ..layers.attention import Edges
from ..layers.encoder import EncoderConfig, GraphEncoder
from .wordpieces import N_SPECIAL_TAGS, NO_TAG, PieceBatch

#: A part of a network's parameters. All parts but graph input can start from another parser's weights.
Part = Literal["encoder", "scorers", "graph_input"]
# Standard deviation of a random vector for ROOT.
ROOT_RANGE = 0.02


@dataclass(frozen=True, kw_only=True)
class NetworkSpec:
    """All that must be known to build a network, and to save one with its weights.

    encoder: Sizes of the encoder, with one added piece for ROOT; None where words come as vectors.
    tokenizer: Content of a ``tokenizer.json``; "" where words come as vectors.
    n_labels: Number of labels, at least 2, of which the first (id 0) is the root label; 0 without labels.
    tags: Tags that have a vector of their own; None for a network that reads no tags.
    vector_width: Width of words that come as vectors, from an encoder that the pipeline shares; else 0.
    pretrained: Parts whose weights came from a checkpoint or a parser.
    facts: What the network learned from the training sentences before it was built, in types of JSON. The
        architecture chooses the names.
    """

    encoder: EncoderConfig | None
    tokenizer: str
    n_labels: int
    tags: tuple[str, ...] | None = None
    vector_width: int = 0
    pretrained: tuple[Part, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> NetworkSpec:
        """Return the specification that ``dataclasses.asdict`` and JSON or msgpack gave."""
        encoder, tags = fields["encoder"], fields["tags"]
        return cls(
            **{
                **fields,
                "encoder": None if encoder is None else EncoderConfig(**encoder),
                "tags": None if tags is None else tuple(tags),
                "pretrained": tuple(fields["pretrained"]),
            }
        )

    @property
    def own_encoder(self) -> EncoderConfig:
        """Sizes of the encoder. Raises ValueError where words come as vectors."""
        if self.encoder is None:
            raise ValueError(Errors.E416)
        return self.encoder

    @property
    def width(self) -> int:
        """Width of the words' vectors."""
        return self.vector_width if self.encoder is None else self.encoder.width


class Network(nn.Module, ABC):
    """A parser as a PyTorch module: the encoder with its tag embeddings, and what a subclass adds.

    A subclass may also have a method ``can_learn(gold)`` that returns which gold trees give a loss, bool
    [trees]. Without it, each tree with at least one head gives a loss.

    n_relations: Number of relations in graph input; 0 for a network that takes none.
    normalise_keys: See ``GraphSelfAttention``.
    """

    #: Patterns of the names of parameters that only graph input has.
    graph_parameters: ClassVar[tuple[str, ...]] = ("encoder.*.relation_*",)
    #: Facts of the specification that the scorers' weights depend on.
    scorer_facts: ClassVar[tuple[str, ...]] = ()

    encoder: GraphEncoder

    def __init__(self, spec: NetworkSpec, *, n_relations: int = 0, normalise_keys: bool = False) -> None:
        super().__init__()
        #: Words that are read as unknown in training.
        self.unknown_words = frozenset(spec.facts.get("rare_words", ()))
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

    @classmethod
    def part_of(cls, name: str) -> Part:
        """Return the part that a parameter belongs to, by its name."""
        if any(fnmatchcase(name, pattern) for pattern in cls.graph_parameters):
            return "graph_input"
        return "encoder" if name.startswith("encoder.") else "scorers"

    def weights(self, part: Part) -> dict[str, Tensor]:
        """Return the weights of a part by their names, on the CPU."""
        weights = self.state_dict().items()
        return {name: weight.detach().cpu() for name, weight in weights if self.part_of(name) == part}

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
        """Return how many predictions a loss is the sum of; by default, words that have heads."""
        return sum(int((tree.heads >= 0).sum()) for tree in gold)

    @property
    def n_hypotheses(self) -> int:
        """Rows that the encoder may be given for each of a sentence's."""
        return 1

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
