"""The input vectors of the encoder: piece, position and segment embeddings."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .encoder_config import EncoderConfig
from .norms import make_norm


class InputEmbeddings(nn.Module):
    """Sum of piece, position, segment and extra vectors, normalized (Devlin et al. 2019, figure 2).

    The tables have the width ``embedding_width``. If the layers have another width, a linear layer follows
    the norm (ELECTRA, Clark et al. 2020), or stands before it without a bias (``project_first``, DeBERTa).
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.embedding_width
        self.n_positions = config.n_positions
        self.position_offset = config.position_offset
        self.pieces = nn.Embedding(config.vocab_size + config.n_added_pieces, width)
        self.positions = None
        if config.position_table:
            self.positions = nn.Embedding(config.n_positions + config.position_offset, width)
        self.segments = nn.Embedding(config.n_segments, width) if config.n_segments else None
        self.project_first = config.project_first
        norm_width = config.width if config.project_first else width
        self.norm = make_norm(config, norm_width) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.projection: nn.Module = nn.Identity()
        if width != config.width:
            self.projection = nn.Linear(width, config.width, bias=not config.project_first)

    def forward(self, pieces: Tensor, segments: Tensor | None = None, extra: Tensor | None = None) -> Tensor:
        """Compute the input vectors of the first layer; see ``GraphEncoder.forward`` for the arguments."""
        n = pieces.shape[1]
        assert n <= self.n_positions
        x = pieces if pieces.is_floating_point() else self.look_up(pieces)
        added = self._added(n, segments)
        if added is not None:
            x = x + added
        if extra is not None:
            x = x + extra
        if self.project_first:
            return self.dropout(self.norm(self.projection(x)))  # type: ignore[no-any-return]
        return self.projection(self.dropout(self.norm(x)))  # type: ignore[no-any-return]

    def look_up(self, pieces: Tensor) -> Tensor:
        """Return the vectors of pieces. If the table has a gradient, only their rows are added to it."""
        return F.embedding(pieces, self.pieces.weight, sparse=self.pieces.weight.grad is not None)

    def _added(self, n: int, segments: Tensor | None) -> Tensor | None:
        """Sum position and segment vectors: [batch, n, embedding_width], or [n, ...] if all rows agree."""
        positions = None
        if self.positions is not None:
            positions = self.positions.weight[self.position_offset : self.position_offset + n]
        if self.segments is None:
            assert segments is None
            return positions
        vectors: Tensor = self.segments.weight[0] if segments is None else self.segments(segments)
        return vectors if positions is None else positions + vectors


def extend_table(table: nn.Embedding, n_rows: int) -> nn.Embedding:
    """Return a longer table, with new rows at the end that begin as the mean row."""
    weight = table.weight.data
    added = weight.mean(0).expand(n_rows - len(weight), -1)
    return nn.Embedding(
        n_rows, weight.shape[1], padding_idx=table.padding_idx, _weight=torch.cat([weight, added])
    )
