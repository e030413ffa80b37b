"""GraphEncoder: a Transformer encoder that equals BERT where no graph is given."""

from dataclasses import dataclass, replace

from torch import LongTensor, Tensor, nn

from .attention import Edges, GraphSelfAttention
from .dropout import Dropout
from .embeddings import InputEmbeddings
from .feedforward import FeedForward


@dataclass(frozen=True)
class EncoderConfig:
    """Everything that fixes an encoder's shape and arithmetic; ``dataclasses.asdict`` of it is plain JSON.

    vocab_size: pieces of the vocabulary.
    n_added_pieces: pieces after the vocabulary that no checkpoint knows (ROOT).
    width, embedding_width: of the layers, and of the embeddings (ELECTRA; equal elsewhere).
    hidden_width: of the feed-forward networks.
    n_positions: the longest input, in pieces (512 for RoBERTa's 514).
    position_offset: first row of the position table in use (RoBERTa family: pad id + 1).
    n_segments: kinds of segments; 0 where there is no such table (DistilBERT).
    pad_id: the piece that pads.
    activation: "gelu", "gelu_new" (by tanh), "relu" or "silu".
    dropout, attention_dropout: probabilities of the hidden vectors and of the attention weights.
    initializer_range: standard deviation of random weights.
    n_relations, normalise_keys: graph input, see ``GraphSelfAttention``.
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
    """Self-attention and feed-forward network, each with a residual connection, normalised after it."""

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

    def forward(self, x: Tensor, mask: Tensor | None = None, edges: Edges | None = None) -> Tensor:
        """Shapes as in ``GraphSelfAttention.forward``."""
        x = self.attention_norm(x + self.dropout(self.attention(x, mask, edges)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class GraphEncoder(nn.Module):
    """BERT (Devlin et al. 2019) and its relatives, with graphs as a further input.

    Without edges it equals the checkpoint's own model. Weights are random here, as BERT's were
    before training; see ``checkpoint.load_weights``. Every sentence is padded at its end, if at all.
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
    ) -> Tensor:
        """Encode a batch: [batch, n] pieces to [batch, n, width] vectors; see ``embed`` and ``encode``."""
        x = self.embed(pieces, positions=positions, segments=segments, extra=extra)
        return self.encode(x, mask, edges)

    def embed(
        self,
        pieces: Tensor,
        *,
        positions: LongTensor | None = None,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
    ) -> Tensor:
        """Give the input vectors of the first layer.

        pieces: ids, int [batch, n], or vectors in their place, float [batch, n, embedding_width].
        positions: [batch, n] or [n], from 0 to n_positions - 1; None for 0, 1, 2, ...
        segments: [batch, n]; None for segment 0 everywhere.
        extra: [batch, n, embedding_width], added to the sum before it is normalised (tags).
        Returns [batch, n, width]. Raises ValueError for more pieces than positions, and for segments
        where there is no such table.
        """
        return self.embeddings(pieces, positions, segments, extra)  # type: ignore[no-any-return]

    def encode(self, x: Tensor, mask: Tensor | None, edges: Edges | None = None) -> Tensor:
        """Run the layers.

        x: [batch, n, width], from ``embed``.
        mask: [batch, n], boolean, True for real pieces, of which each sentence has one at least; None where
            nothing is padded.
        edges: graph input; None for none.
        Returns [batch, n, width]; vectors of padding mean nothing.
        """
        for layer in self.layers:
            x = layer(x, mask, edges)
        return x

    def set_dropout(self, rate: float) -> None:
        """Set the dropout of all hidden vectors and attention weights to a rate from 0 to 1."""
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate

    def select_relations(self, rows: LongTensor) -> None:
        """Give all layers relation tables of these rows of the present ones; rows may repeat."""
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
