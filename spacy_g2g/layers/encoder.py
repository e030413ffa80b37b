"""GraphEncoder: a Transformer encoder that takes a graph as input and equals BERT without one."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from torch import LongTensor, Tensor, nn

from .attention import Edges, GraphSelfAttention
from .dropout import Dropout
from .embeddings import InputEmbeddings
from .feedforward import FeedForward
from .packing import Packing
from .scalar_mix import ScalarMix


@dataclass(frozen=True)
class EncoderConfig:
    """Shape and arithmetic of an encoder. ``dataclasses.asdict`` of it is plain JSON.

    vocab_size: Number of pieces in the vocabulary.
    width: Width of the layers.
    embedding_width: Width of the embeddings, which differs from ``width`` in ELECTRA alone.
    n_layers: Number of layers.
    n_attention_heads: Attention heads of each layer.
    hidden_width: Width of the feed-forward networks.
    n_positions: Length of the longest input, in pieces (512 for RoBERTa's 514).
    position_offset: First row of the position table in use (RoBERTa family: pad id + 1).
    n_segments: Number of segment types; 0 for no segment table (DistilBERT).
    pad_id: Id of the padding piece.
    activation: "gelu", "gelu_new" (by tanh), "relu" or "silu".
    layer_norm_eps: Constant that keeps layer norms from dividing by zero.
    dropout: Dropout rate of hidden vectors.
    attention_dropout: Dropout rate of attention weights.
    initializer_range: Standard deviation of random weights.
    n_added_pieces: Number of pieces after the vocabulary that no checkpoint knows (ROOT).
    n_relations: Number of relations of the graph input; see ``GraphSelfAttention``.
    normalise_keys: Whether relation keys are normalised; see ``GraphSelfAttention``.
    """

    vocab_size: int
    width: int
    embedding_width: int
    n_layers: int
    n_attention_heads: int
    hidden_width: int
    n_positions: int = 512
    position_offset: int = 0
    n_segments: int = 2
    pad_id: int = 0
    activation: str = "gelu"
    layer_norm_eps: float = 1e-12
    dropout: float = 0.1
    attention_dropout: float = 0.1
    initializer_range: float = 0.02
    n_added_pieces: int = 0
    n_relations: int = 0
    normalise_keys: bool = False


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each followed by a residual connection and a norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = GraphSelfAttention(
            config.width,
            config.n_attention_heads,
            dropout=config.attention_dropout,
            n_relations=config.n_relations,
            normalise_keys=config.normalise_keys,
            layer_norm_eps=config.layer_norm_eps,
        )
        self.attention_norm = nn.LayerNorm(config.width, eps=config.layer_norm_eps)
        self.feedforward = FeedForward(config.width, config.hidden_width, config.activation)
        self.feedforward_norm = nn.LayerNorm(config.width, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        edges: Edges | None = None,
        packing: Packing | None = None,
    ) -> Tensor:
        """Transform all positions; see ``GraphSelfAttention.forward`` for shapes."""
        x = self.attention_norm(x + self.dropout(self.attention(x, mask, edges, packing)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class GraphEncoder(nn.Module):
    """BERT (Devlin et al. 2019) and its relatives, with graphs as a further input.

    Without edges it equals the checkpoint's own model. Weights are random at first, as BERT's were before
    training; ``checkpoint.load_weights`` sets them. Sentences are padded at their end.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = InputEmbeddings(
            n_pieces=config.vocab_size + config.n_added_pieces,
            n_positions=config.n_positions,
            position_offset=config.position_offset,
            n_segments=config.n_segments,
            embedding_width=config.embedding_width,
            width=config.width,
            layer_norm_eps=config.layer_norm_eps,
            dropout=config.dropout,
        )
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self._initialise()

    def forward(
        self,
        pieces: Tensor,
        mask: Tensor | None,
        *,
        positions: LongTensor | None = None,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
        edges: Edges | None = None,
        mix: ScalarMix | None = None,
    ) -> Tensor:
        """Encode a batch: [batch, n] pieces to [batch, n, width] vectors; see ``embed`` and ``encode``."""
        x = self.embed(pieces, positions=positions, segments=segments, extra=extra)
        return self.encode(x, mask, edges, mix)

    def embed(
        self,
        pieces: Tensor,
        *,
        positions: LongTensor | None = None,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
    ) -> Tensor:
        """Compute the input vectors of the first layer.

        pieces: Ids, int [batch, n], or vectors, float [batch, n, embedding_width].
        positions: int [batch, n] or [n], from 0 to n_positions - 1; None for 0, 1, 2, ...
        segments: int [batch, n]; None for segment 0 everywhere.
        extra: float [batch, n, embedding_width], added to the sum before the norm (tags).
        Returns float [batch, n, width].
        Raises ValueError for more pieces than positions, and for segments without a segment table.
        """
        return self.embeddings(pieces, positions, segments, extra)  # type: ignore[no-any-return]

    def encode(
        self, x: Tensor, mask: Tensor | None, edges: Edges | None = None, mix: ScalarMix | None = None
    ) -> Tensor:
        """Run the layers. On a CPU they compute real pieces alone; attention computes padding, too.

        x: float [batch, n, width], from ``embed``.
        mask: bool [batch, n], True for real pieces; at least one in each sentence. None if nothing is padded.
        edges: Graph input; None for no graph.
        mix: Mixes the outputs of the last layers; None for the output of the last layer alone.
        Returns float [batch, n, width]. Vectors of padding have no meaning.
        """
        n, packing = x.shape[1], None
        # A GPU would make the host wait for the number of real pieces.
        if x.device.type == "cpu":
            packing, mask = Packing.of(x, mask), None
            x = packing.pack(x)
        states = self.states(x, mask, edges, packing)
        if mix is not None:
            x = mix(islice(states, len(self.layers) + 1 - mix.n_layers, None))
        else:
            x = deque(states, maxlen=1).pop()
        return x if packing is None else packing.pad(x)[:, :n]

    def states(
        self, x: Tensor, mask: Tensor | None, edges: Edges | None = None, packing: Packing | None = None
    ) -> Iterator[Tensor]:
        """Yield the input of the first layer and the output of each layer.

        See ``encode``, and ``GraphSelfAttention.forward`` for shapes with a packing.
        """
        yield x
        for layer in self.layers:
            x = layer(x, mask, edges, packing)
            yield x

    def set_dropout(self, rate: float) -> None:
        """Set the dropout rate of all hidden vectors and attention weights, from 0 to 1."""
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate

    def select_relations(self, rows: LongTensor) -> None:
        """Rebuild the relation tables of all layers from these of their rows, which may repeat."""
        for layer in self.layers:
            layer.attention.select_relations(rows)  # type: ignore[union-attr, operator]
        self.config = replace(self.config, n_relations=len(rows))

    def _initialise(self) -> None:
        std = self.config.initializer_range
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
