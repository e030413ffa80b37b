"""Base classes of all networks. Shims wrap the networks for Thinc."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import Errors
from ..layers.edges import Edges
from ..layers.encoder import GraphEncoder
from ..layers.encoder_config import EncoderConfig
from ..layers.relations import RelationTables
from ..layers.scalar_mix import ScalarMix
from .batch import Batch, PieceBatch, WordBatch
from .settings import WordSettings
from .wordpieces import N_SPECIAL_TAGS, NO_TAG

#: A part of a network's parameters: its encoder; the layers of its task, such as scorers of arcs; and graph
#: input. The first two can start from another parser's weights.
Part = Literal["encoder", "task", "graph_input"]
#: Batches that a network reads: of pieces, of words as vectors, or of both kinds.
B = TypeVar("B", bound=Batch)
W = TypeVar("W", bound="WordNetwork")
#: Names of fields and parts in saved pipelines of earlier versions.
EARLIER_NAMES = {"facts": "learned", "scorers": "task"}
#: Maximum number of pieces whose states in lower layers are kept: 25 MB for an encoder of width 384.
MAX_KEPT_PIECES = 2**14
# Standard deviation of a random vector for ROOT.
ROOT_RANGE = 0.02


@dataclass(frozen=True, kw_only=True)
class NetworkSpec:
    """Specification from which a network is built, saved beside its weights.

    encoder: Sizes of the encoder, with one added piece for ROOT; None if words come as vectors.
    tokenizer: Content of a ``tokenizer.json``; "" if words come as vectors.
    n_labels: Number of labels, at least 2, of which the first (id 0) is the root label; 0 without labels.
    tags: Tags that have their own vectors; None for a network that does not read tags.
    vector_width: Width of words that come as vectors, from an encoder that the pipeline shares; else 0.
    pretrained: Parts whose weights came from a checkpoint or a parser.
    learned: Facts of the training sentences that the network is built from, in types of JSON. The
        architecture chooses the names.
    """

    encoder: EncoderConfig | None = None
    tokenizer: str = ""
    n_labels: int
    tags: tuple[str, ...] | None = None
    vector_width: int = 0
    pretrained: tuple[Part, ...] = ()
    learned: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> NetworkSpec:
        """Return the specification that ``to_dict`` gave, in this version or an earlier one.

        Raises ValueError or TypeError for an invalid encoder.
        """
        values = {EARLIER_NAMES.get(name, name): value for name, value in fields.items()}
        assert (values["encoder"] is None) == bool(values["vector_width"])
        if values["encoder"] is not None:
            values["encoder"] = EncoderConfig.from_dict(values["encoder"])
        if values["tags"] is not None:
            values["tags"] = tuple(values["tags"])
        values["pretrained"] = tuple(EARLIER_NAMES.get(part, part) for part in values["pretrained"])
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {**asdict(self), "encoder": None if self.encoder is None else self.encoder.to_dict()}

    @property
    def own_encoder(self) -> EncoderConfig:
        """Sizes of the encoder. Raises ValueError if words come as vectors."""
        if self.encoder is None:
            raise ValueError(Errors.E415)
        return self.encoder

    @property
    def width(self) -> int:
        """Width of the words' vectors."""
        return self.vector_width if self.encoder is None else self.encoder.width


class WordNetwork(nn.Module):
    """The part that all networks share: an encoder with tag embeddings, from pieces to vectors of words.

    has_root_vector: Whether ROOT has its own vector instead of a piece that the encoder reads; None for a
        vector only where words come as vectors.
    n_relations: Number of relations in graph input; 0 for a network without graph input.
    normalize_keys: See ``GraphSelfAttention``.
    words: How ``encode`` makes vectors of words from layers of pieces; None for the first piece's vector in
        the last layer.
    """

    #: Patterns of the names of the parameters of graph input.
    graph_parameters: ClassVar[tuple[str, ...]] = ("encoder.*.relation_*", "tables.*")
    #: What the weights of the task depend on: names in ``NetworkSpec.learned``, or "pooling".
    task_depends_on: ClassVar[tuple[str, ...]] = ("pooling",)

    encoder: GraphEncoder
    here: Tensor
    #: A number of layers, and the states of rows after these, float [pieces, width], by the rows' pieces.
    lower: tuple[int, dict[bytes, Tensor]] = (0, {})

    def __init__(
        self,
        spec: NetworkSpec,
        *,
        has_root_vector: bool | None = None,
        n_relations: int = 0,
        normalize_keys: bool = False,
        words: WordSettings | None = None,
    ) -> None:
        super().__init__()
        self.tags = None
        self.mix = None
        self.pooling = "first" if words is None else words.pooling
        self.has_root_vector = spec.encoder is None if has_root_vector is None else has_root_vector
        # It moves with the parameters. To look for one of these in all modules takes longer.
        self.register_buffer("here", torch.empty(0, device="cpu"), persistent=False)
        if spec.encoder is not None:
            self.encoder = GraphEncoder(
                replace(spec.encoder, n_relations=n_relations, normalize_keys=normalize_keys)
            )
            if spec.tags is not None:
                self.tags = TagEmbeddings(len(spec.tags), spec.encoder)
            if words is not None and words.n_mixed_layers > 1:
                self.mix = ScalarMix(min(words.n_mixed_layers, spec.encoder.n_layers + 1))
        if self.has_root_vector:
            self.root = nn.Parameter(torch.empty(spec.width))
            nn.init.normal_(self.root, std=ROOT_RANGE)

    @classmethod
    def part_of(cls, name: str) -> Part:
        """Return the part that a parameter belongs to, by its name."""
        if any(fnmatchcase(name, pattern) for pattern in cls.graph_parameters):
            return "graph_input"
        return "encoder" if name.startswith("encoder.") else "task"

    def weights(self, part: Part) -> dict[str, Tensor]:
        """Return the weights of a part by their names, on the CPU."""
        weights = self.state_dict().items()
        return {name: weight.detach().cpu() for name, weight in weights if self.part_of(name) == part}

    def encode(
        self,
        batch: Batch,
        edges: Edges | None = None,
        extra: Tensor | None = None,
        tables: Sequence[RelationTables] | None = None,
        n_layers: int | None = None,
    ) -> Tensor:
        """Return the vectors of ROOT and of the words, float [sentences, words + 1, width].

        extra: Vectors to add to the input, float [rows, width of the rows, embedding_width].
        tables: Relations of the edges for each layer; None for the encoder's own.
        n_layers: Number of the encoder's layers to run; None for all.
        """
        if isinstance(batch, WordBatch):
            return self.with_root(batch.vectors)
        assert isinstance(batch, PieceBatch)
        piece_ids = self.tensor(batch.piece_ids)
        mask = None
        if int(batch.lengths.min()) < batch.piece_ids.shape[1]:
            mask = self.tensor(np.arange(batch.piece_ids.shape[1]) < batch.lengths[:, None])
        if self.tags is not None and batch.tag_ids is not None:
            tags = self.tags(self.tensor(batch.tag_ids))
            extra = tags if extra is None else extra + tags
        is_plain = edges is None and extra is None
        pieces = self._go_on(batch, mask) if is_plain and n_layers is None else None
        if pieces is None:
            pieces = self.encoder(
                piece_ids, mask, extra=extra, edges=edges, mix=self.mix, tables=tables, n_layers=n_layers
            )
        if is_plain and n_layers:
            self._keep(batch, pieces, n_layers)
        if self.pooling == "mean":
            return self.mean_pieces(pieces, batch)
        return pieces.flatten(0, 1)[self.tensor(batch.word_index)]

    def _keep(self, batch: PieceBatch, states: Tensor, n_layers: int) -> None:
        """Keep the states of rows after lower layers, float [rows, width of the rows, width], for ``_go_on``.

        Lower layers read whole texts to find boundaries. If a text is a single sentence, all layers then read
        the same row, and can go on from its states.
        """
        first_mixed = len(self.encoder.layers) + 1 - (1 if self.mix is None else self.mix.n_layers)
        n_kept = sum(map(len, self.lower[1].values())) + int(batch.lengths.sum())
        fits = n_layers <= first_mixed and not self.encoder.config.pre_norm and n_kept <= MAX_KEPT_PIECES
        if fits and torch.is_inference_mode_enabled() and states.device.type == "cpu":
            rows = zip(_keys(batch), states, batch.lengths.tolist(), strict=True)
            self.lower = n_layers, {**self.lower[1], **{key: row[:n] for key, row, n in rows}}

    def _go_on(self, batch: PieceBatch, mask: Tensor | None) -> Tensor | None:
        """Return the output of all layers, from the states that were kept; None if none of these rows was."""
        n_layers, rows = self.lower
        keys = _keys(batch) if rows and self.device.type == "cpu" else ()
        kept = {i: rows[key] for i, key in enumerate(keys) if key in rows}
        if not kept:
            return None
        states = torch.zeros(*batch.piece_ids.shape, self.encoder.config.width, dtype=kept[min(kept)].dtype)
        others = [i for i in range(len(states)) if i not in kept]
        if others:
            other_mask = None if mask is None else mask[others]
            pieces = self.tensor(batch.piece_ids[others])
            states[others] = self.encoder(pieces, other_mask, n_layers=n_layers)
        for i, row in kept.items():
            states[i, : len(row)] = row
        return self.encoder.encode(states, mask, mix=self.mix, first=n_layers)

    def with_root(self, vectors: Tensor) -> Tensor:
        """Put ROOT's vector in front of those of the words, float [sentences, words, width]."""
        return torch.cat([self.root.expand(len(vectors), 1, -1), vectors], dim=1)

    def mean_pieces(self, vectors: Tensor, batch: PieceBatch) -> Tensor:
        """Return the mean over the pieces of ROOT and of each word. A word may be in several rows.

        vectors: Vectors of the batch's pieces, float [rows, width of the rows, any width].
        Returns float32 [sentences, words + 1, any width], zeros for words without pieces.
        """
        n, width = batch.word_index.shape
        pieces = np.flatnonzero(batch.words >= 0)
        owners = (batch.sentence_of[:, None] * width + batch.words).ravel()[pieces]
        order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[order], np.arange(n * width))
        means = F.embedding_bag(
            self.tensor(pieces[order]), vectors.flatten(0, 1).float(), self.tensor(starts), mode="mean"
        )
        return means.view(n, width, -1)

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return self.here.device

    def train(self: W, mode: bool = True) -> W:
        """Switch training mode on or off. If it is off already, do not visit all modules."""
        return super().train(mode) if mode or self.training else self

    def forget(self) -> None:
        """Forget the states of lower layers, which hold for the present weights."""
        self.lower = 0, {}

    def tensor(self, array: npt.NDArray[Any]) -> Tensor:
        """Return an array as a tensor on the network's device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)


def _keys(batch: PieceBatch) -> list[bytes]:
    return [row[:n].tobytes() for row, n in zip(batch.piece_ids, batch.lengths.tolist(), strict=True)]


class Network(WordNetwork, ABC, Generic[B]):
    """A parser as a PyTorch module.

    Its attributes declare its abilities beyond plain trees. Without them, components raise an error for
    constraints and scores, and do not keep priors.
    """

    #: Whether ``parse`` returns trees that meet ``Sentence.constraints``.
    meets_constraints: ClassVar[bool] = False
    #: Whether ``parse`` returns the scores of all arcs, and the priors, that sentences request.
    scores_arcs: ClassVar[bool] = False
    #: Function of the settings and gold trees that returns which trees give a loss, bool [trees]. With None,
    #: each tree with at least one head gives a loss.
    can_learn: ClassVar[Any] = None
    #: Words that training treats as unknown.
    unknown_words: frozenset[str] = frozenset()
    #: Whether the network runs an encoder that the pipeline shares again, on graphs.
    runs_upstream: bool = False
    #: The ``NetworkShim`` of that encoder. Its weights do not belong to this network.
    upstream: Any = None
    #: Scale of gradients from graph passes into that encoder; above 0.
    upstream_factor = 1.0

    @classmethod
    def reads_prior(cls, settings: Any) -> bool:  # noqa: ARG003
        """Return whether ``parse`` decodes with ``Sentence.prior``, with these settings."""
        return False

    @abstractmethod
    def loss(self, batch: B, gold: Sequence[Any]) -> Tensor:
        """Return the loss of a batch, a sum over its words. Words without gold do not count."""

    @abstractmethod
    def parse(self, batch: B) -> list[Any]:
        """Return the parse of each sentence of a batch."""

    def count_targets(self, gold: Sequence[Any]) -> int:
        """Return the number of predictions in a loss; by default, of words that have heads."""
        return sum(int((tree.heads >= 0).sum()) for tree in gold)

    @property
    def n_hypotheses(self) -> int:
        """Number of hypotheses of a sentence. Each needs as much memory as a sentence."""
        return 1

    @abstractmethod
    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""


class TagEmbeddings(nn.Embedding):
    """Vectors added to the pieces of a word. Missing tags have one vector, unknown tags another."""

    def __init__(self, n_tags: int, config: EncoderConfig) -> None:
        super().__init__(n_tags + N_SPECIAL_TAGS, config.embedding_width, padding_idx=NO_TAG)
        nn.init.normal_(self.weight, std=config.initializer_range)
        with torch.no_grad():
            self.weight[NO_TAG].zero_()
