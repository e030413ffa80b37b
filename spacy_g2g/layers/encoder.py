"""GraphEncoder: a Transformer encoder that takes a graph as input and equals BERT without one."""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from torch import Tensor, nn

from .attention import GraphSelfAttention
from .convolution import Convolution
from .disentangled import DistanceProjections, DistanceTable
from .dropout import Dropout
from .edges import Edges
from .embeddings import InputEmbeddings
from .encoder_config import EncoderConfig
from .feedforward import FeedForward
from .geometry import PLAIN, Geometry
from .norms import make_norm
from .packing import Packing
from .relations import RelationTables
from .scalar_mix import ScalarMix


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection and a norm.

    With its norm f, a sub-layer s gives f(x + s(x)), or x + s(f(x)) if ``pre_norm`` is set (Xiong et al.
    2020, "On Layer Normalization in the Transformer Architecture").

    config: Sizes and arithmetic.
    number: Number of the layer, from 0. If input vectors are normalised, the first sub-layer needs no norm
        before it.
    """

    def __init__(self, config: EncoderConfig, number: int = 0) -> None:
        super().__init__()
        self.attention = GraphSelfAttention(
            config.width,
            config.n_attention_heads,
            n_key_heads=config.n_key_heads,
            bias=config.attention_bias,
            n_terms=1 + config.content_to_position + config.position_to_content,
            distances=DistanceProjections(config) if config.max_distance else None,
            dropout=config.attention_dropout,
            n_relations=config.n_relations,
            normalise_keys=config.normalise_keys,
            layer_norm_eps=config.layer_norm_eps,
        )
        self.pre_norm = config.pre_norm
        is_normed = config.pre_norm and config.embedding_norm and number == 0
        self.attention_norm = nn.Identity() if is_normed else make_norm(config, config.width)
        self.feedforward = FeedForward(
            config.width,
            config.hidden_width,
            config.activation,
            gated=config.gated,
            bias=config.feedforward_bias,
        )
        self.feedforward_norm = make_norm(config, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        edges: Edges | None = None,
        packing: Packing | None = None,
        geometry: Geometry = PLAIN,
        tables: RelationTables | None = None,
    ) -> Tensor:
        """Transform all positions; see ``GraphSelfAttention.forward`` for shapes."""
        attend = partial(
            self.attention, mask=mask, edges=edges, packing=packing, geometry=geometry, tables=tables
        )
        if self.pre_norm:
            x = x + self.dropout(attend(self.attention_norm(x)))
            return x + self.dropout(self.feedforward(self.feedforward_norm(x)))  # type: ignore[no-any-return]
        x = self.attention_norm(x + self.dropout(attend(x)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class GraphEncoder(nn.Module):
    """BERT (Devlin et al. 2019) and its relatives, with graphs as a further input.

    Without edges it equals the checkpoint's own model. Weights are random at first, as BERT's were before
    training; ``checkpoint.load_weights`` sets them. Sentences are padded at their end.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = InputEmbeddings(config)
        self.distances = DistanceTable(config) if config.max_distance else None
        self.convolution = Convolution(config) if config.convolution_width else None
        self.layers = nn.ModuleList(EncoderLayer(config, i) for i in range(config.n_layers))
        self.final_norm = make_norm(config, config.width) if config.pre_norm else nn.Identity()
        self._initialise()

    def forward(
        self,
        pieces: Tensor,
        mask: Tensor | None,
        *,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
        edges: Edges | None = None,
        mix: ScalarMix | None = None,
        tables: Sequence[RelationTables] | None = None,
        n_layers: int | None = None,
    ) -> Tensor:
        """Encode a batch: [batch, n] pieces to [batch, n, width] vectors; see ``embed`` and ``encode``."""
        x = self.embed(pieces, segments=segments, extra=extra)
        return self.encode(x, mask, edges, mix, tables, n_layers)

    def embed(
        self,
        pieces: Tensor,
        *,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
    ) -> Tensor:
        """Compute the input vectors of the first layer.

        pieces: Ids, int [batch, n], or vectors, float [batch, n, embedding_width].
        segments: int [batch, n]; None for segment 0 everywhere.
        extra: float [batch, n, embedding_width], added to the sum before the norm (tags).
        Returns float [batch, n, width].
        Raises ValueError for more pieces than positions, and for segments without a segment table.
        """
        return self.embeddings(pieces, segments, extra)  # type: ignore[no-any-return]

    def encode(
        self,
        x: Tensor,
        mask: Tensor | None,
        edges: Edges | None = None,
        mix: ScalarMix | None = None,
        tables: Sequence[RelationTables] | None = None,
        n_layers: int | None = None,
    ) -> Tensor:
        """Run the layers. On a CPU they compute real pieces alone; attention computes padding, too.

        x: float [batch, n, width], from ``embed``.
        mask: bool [batch, n], True for real pieces; at least one in each sentence. None if nothing is padded.
        edges: Graph input; None for no graph.
        mix: Mixes the outputs of the last layers, each after the final norm if there is one; None for the
            output of the last layer alone.
        tables: Relations of the edges for each layer; None for the encoder's own.
        n_layers: Number of layers to run; None for all. If some are left out, nothing is mixed.
        Returns float [batch, n, width]. Vectors of padding have no meaning.
        """
        n, packing = x.shape[1], None
        # A GPU would make the host wait for the number of real pieces.
        if x.device.type == "cpu":
            packing, mask = Packing.of(x, mask), None
            x = packing.pack(x)
        states = self.states(x, mask, edges, packing, tables)
        if n_layers is not None and n_layers < len(self.layers):
            x = self.final_norm(next(islice(states, n_layers, None)))
        elif mix is not None:
            x = mix(map(self.final_norm, islice(states, len(self.layers) + 1 - mix.n_layers, None)))
        else:
            x = self.final_norm(deque(states, maxlen=1).pop())
        return x if packing is None else packing.pad(x)[:, :n]

    def states(
        self,
        x: Tensor,
        mask: Tensor | None,
        edges: Edges | None = None,
        packing: Packing | None = None,
        tables: Sequence[RelationTables] | None = None,
    ) -> Iterator[Tensor]:
        """Yield the input of the first layer and the output of each layer, without the final norm.

        See ``encode``, and ``GraphSelfAttention.forward`` for shapes with a packing.
        """
        yield x
        inputs = x
        kinds = [self.config.is_local(i) for i in range(len(self.layers))]
        geometries = {
            is_local: Geometry.of(self.config, x, mask, edges, packing, is_local=is_local)
            for is_local in set(kinds)
        }
        if self.distances is not None:
            distances = self.distances(x.shape[1] if packing is None else packing.mask.shape[1])
            geometries = {kind: found._replace(distances=distances) for kind, found in geometries.items()}
        tables = self.tables if tables is None else tables
        for i, (layer, is_local) in enumerate(zip(self.layers, kinds, strict=True)):
            x = layer(x, mask, edges, packing, geometries[is_local], tables[i])
            if i == 0 and self.convolution is not None:
                x = self.convolution(x, inputs, mask, packing)
            yield x

    def set_dropout(self, rate: float) -> None:
        """Set the dropout rate of all hidden vectors and attention weights, from 0 to 1."""
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate

    @property
    def tables(self) -> Sequence[RelationTables]:
        """Tables of relations of all layers."""
        return [layer.attention for layer in self.layers]  # type: ignore[misc]

    def _initialise(self) -> None:
        if self.embeddings.pieces.weight.is_meta:  # where random numbers take time and have no place
            return
        std = self.config.initializer_range
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding | nn.Conv1d):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear | nn.Conv1d) and module.bias is not None:
                nn.init.zeros_(module.bias)
