"""GraphEncoder: a Transformer encoder that takes a graph as input and equals BERT without one."""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from torch import Tensor, nn

from .attention import GraphSelfAttention
from .convolution import Convolution
from .disentangled import DistanceTable
from .dropout import Dropout
from .edges import Edges
from .embeddings import InputEmbeddings
from .encoder_config import EncoderConfig
from .feedforward import FeedForward
from .geometry import PLAIN_ROWS, Geometry
from .norms import make_norm
from .packing import Packing
from .relations import RelationTables
from .scalar_mix import ScalarMix


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection and a norm.

    With its norm f, a sub-layer s gives f(x + s(x)), or x + s(f(x)) if ``pre_norm`` is set (Xiong et al.
    2020, "On Layer Normalization in the Transformer Architecture").

    config: Sizes and arithmetic.
    number: Number of the layer, from 0. If input vectors are normalized, the first sub-layer needs no norm
        before it.
    """

    def __init__(self, config: EncoderConfig, number: int = 0) -> None:
        super().__init__()
        self.attention = GraphSelfAttention(config)
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
        self, x: Tensor, geometry: Geometry = PLAIN_ROWS, tables: RelationTables | None = None
    ) -> Tensor:
        """Transform all positions; see ``GraphSelfAttention.forward`` for the arguments."""
        attend = partial(self.attention, geometry=geometry, tables=tables)
        if self.pre_norm:
            x = geometry.kept(x) + self.dropout(attend(self.attention_norm(x)))
            return x + self.dropout(self.feedforward(self.feedforward_norm(x)))  # type: ignore[no-any-return]
        x = self.attention_norm(geometry.kept(x) + self.dropout(attend(x)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class GraphEncoder(nn.Module):
    """BERT (Devlin et al. 2019) and its relatives, with graphs as a further input.

    Without edges it equals the checkpoint's own model. Weights are random at first, as BERT's were before
    training; ``load_weights`` sets them. Sentences are padded at their end.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = InputEmbeddings(config)
        self.distances = None if config.disentangled is None else DistanceTable(config, config.disentangled)
        self.convolution = None if config.convolution is None else Convolution(config, config.convolution)
        self.layers = nn.ModuleList(EncoderLayer(config, i) for i in range(config.n_layers))
        self.final_norm = make_norm(config, config.width) if config.pre_norm else nn.Identity()
        self._initialize()

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
        read: Tensor | None = None,
    ) -> Tensor:
        """Encode a batch; see ``encode`` for the other arguments.

        pieces: Ids, int [batch, n], or vectors, float [batch, n, embedding_width]; n is at most the number of
            positions.
        segments: int [batch, n]; None for segment 0 everywhere.
        extra: float [batch, n, embedding_width], added to the sum before the norm (tags).
        Returns float [batch, n, width], or with ``read`` float [batch, k, width].
        """
        x = self.embeddings(pieces, segments, extra)
        return self.encode(x, mask, edges, mix, tables, n_layers, read)

    def encode(
        self,
        x: Tensor,
        mask: Tensor | None,
        edges: Edges | None = None,
        mix: ScalarMix | None = None,
        tables: Sequence[RelationTables] | None = None,
        n_layers: int | None = None,
        read: Tensor | None = None,
        first: int = 0,
    ) -> Tensor:
        """Run the layers. On a CPU, all but attention skip padding.

        x: Input vectors of the layer ``first``, float [batch, n, width].
        mask: bool [batch, n], True for real pieces; at least one in each sentence. None if nothing is padded.
        edges: Graph input; None for no graph.
        mix: Mixes the outputs of the last layers, each after the final norm if there is one; None for the
            output of the last layer.
        tables: Relations of the edges for each layer; None for the encoder's own.
        n_layers: Number of layers to run; None for all. If some are left out, nothing is mixed.
        read: Positions whose vectors are returned, int [batch, k]; None for all. On a CPU, the last layer of
            most encoders computes only these, which is several times faster.
        first: Number of layers that x went through before. No mixed layer may be among these.
        Returns float [batch, n, width], or with ``read`` float [batch, k, width]. Vectors of padding are
            arbitrary.
        """
        n = x.shape[1]
        geometry = Geometry(mask, edges if edges is not None and len(edges.batch) else None)
        # A GPU would make the host wait for the number of real pieces.
        if x.device.type == "cpu":
            packing = Packing.of(x, mask)
            geometry = geometry._replace(mask=packing.mask, packing=packing)
            x = packing.pack(x)
        special = (mix, n_layers, self.config.rotary, self.config.disentangled)
        reads_last = geometry.packing is not None and all(part is None for part in special)
        states = self.states(x, geometry, tables, read if reads_last else None, first)
        if n_layers is not None and n_layers < len(self.layers):
            x = self.final_norm(next(islice(states, n_layers - first, None)))
        elif mix is not None:
            first_mixed = len(self.layers) + 1 - mix.n_layers
            x = mix(map(self.final_norm, islice(states, first_mixed - first, None)))
        else:
            x = self.final_norm(deque(states, maxlen=1).pop())
        if read is not None and reads_last:
            return x[: read.numel()].view(*read.shape, -1)
        x = x if geometry.packing is None else geometry.packing.pad(x)[:, :n]
        return x if read is None else x.gather(1, read[..., None].expand(-1, -1, x.shape[-1]))

    def states(
        self,
        x: Tensor,
        geometry: Geometry = PLAIN_ROWS,
        tables: Sequence[RelationTables] | None = None,
        read: Tensor | None = None,
        first: int = 0,
    ) -> Iterator[Tensor]:
        """Yield the input of the first layer and the output of each layer, without the final norm.

        See ``GraphSelfAttention.forward`` for shapes.
        read: Positions that the last layer computes; see ``Geometry``.
        first: Number of the first layer.
        """
        yield x
        inputs = x
        if self.distances is not None:
            rows = x if geometry.mask is None else geometry.mask
            geometry = geometry._replace(distances=self.distances(rows.shape[1]))
        kinds = [self.config.is_local(i) for i in range(len(self.layers))]
        geometries = {kind: geometry.for_layers(self.config, x, is_local=kind) for kind in set(kinds)}
        tables = self.tables if tables is None else tables
        for i, layer in islice(enumerate(self.layers), first, None):
            places = geometries[kinds[i]]
            if read is not None and i == len(self.layers) - 1:
                places = places.reading(read)
            x = layer(x, places, tables[i])
            if i == 0 and self.convolution is not None:
                x = self.convolution(x, inputs, geometry)
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

    def _initialize(self) -> None:
        std = self.config.initializer_range
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding | nn.Conv1d):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear | nn.Conv1d) and module.bias is not None:
                nn.init.zeros_(module.bias)
