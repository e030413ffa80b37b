"""The input vectors of the encoder: piece, position and segment embeddings."""

import torch
from torch import LongTensor, Tensor, nn

from ..errors import Errors
from .dropout import Dropout


class InputEmbeddings(nn.Module):
    """Sum of piece, position, segment and extra vectors, normalised (Devlin et al. 2019, figure 2).

    n_pieces: Number of rows in the piece table.
    n_positions: Length of the longest input, in pieces.
    position_offset: Row of the position table that the first piece takes (RoBERTa: pad id + 1).
    n_segments: Number of rows in the segment table; 0 for no table (DistilBERT).
    embedding_width: Width of the tables.
    width: Width of the output. If it differs from ``embedding_width``, a linear layer follows (ELECTRA, Clark
        et al. 2020).
    layer_norm_eps: Constant that keeps the norm from dividing by zero.
    dropout: Rate on the output.
    """

    def __init__(
        self,
        *,
        n_pieces: int,
        n_positions: int,
        position_offset: int,
        n_segments: int,
        embedding_width: int,
        width: int,
        layer_norm_eps: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.n_positions = n_positions
        self.position_offset = position_offset
        self.pieces = nn.Embedding(n_pieces, embedding_width)
        self.positions = nn.Embedding(n_positions + position_offset, embedding_width)
        self.segments = nn.Embedding(n_segments, embedding_width) if n_segments else None
        self.norm = nn.LayerNorm(embedding_width, eps=layer_norm_eps)
        self.dropout = Dropout(dropout)
        self.projection = nn.Linear(embedding_width, width) if embedding_width != width else None

    def forward(
        self,
        pieces: Tensor,
        positions: LongTensor | None = None,
        segments: Tensor | None = None,
        extra: Tensor | None = None,
    ) -> Tensor:
        """Embed pieces; see ``GraphEncoder.embed`` for shapes and errors."""
        x: Tensor = pieces if pieces.is_floating_point() else self.pieces(pieces)
        x = x + self._positions(pieces.shape[1], positions, segments)
        if extra is not None:
            x = x + extra
        x = self.dropout(self.norm(x))
        return x if self.projection is None else self.projection(x)

    def _positions(self, n: int, positions: LongTensor | None, segments: Tensor | None) -> Tensor:
        """Sum position and segment vectors: [batch, n, embedding_width], or [n, ...] if all rows agree."""
        if positions is not None:
            vectors: Tensor = self.positions(positions + self.position_offset)
        elif n <= self.n_positions:
            vectors = self.positions.weight[self.position_offset : self.position_offset + n]
        else:
            raise ValueError(Errors.E202.format(n=n, n_positions=self.n_positions))
        if self.segments is None:
            if segments is not None:
                raise ValueError(Errors.E203)
            return vectors
        return vectors + (self.segments.weight[0] if segments is None else self.segments(segments))


def extend_table(table: nn.Embedding, n_rows: int) -> nn.Embedding:
    """Return a longer table, with new rows at the end that begin as the mean row."""
    weight = table.weight.data
    added = weight.mean(0).expand(n_rows - len(weight), -1)
    return nn.Embedding(
        n_rows, weight.shape[1], padding_idx=table.padding_idx, _weight=torch.cat([weight, added])
    )
