"""Tables of relations, the vectors of the labels of graph input."""

import torch
from torch import LongTensor, Tensor, nn

from .encoder_config import EncoderConfig


class RelationTables(nn.Module):
    """Vectors that one layer of attention adds to keys and values, for each relation of graph input.

    config: Sizes, the number of relations, and whether keys are normalized; see ``GraphSelfAttention``.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.n_relations = n_relations = config.n_relations
        width = config.head_width
        if n_relations:
            self.relation_keys = nn.Parameter(torch.zeros(n_relations, width))
            self.relation_values = nn.Parameter(torch.zeros(n_relations, width))
            self.relation_norm: nn.Module = nn.Identity()
            if config.normalize_keys:
                self.relation_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
                nn.init.normal_(self.relation_keys, std=0.02)
                nn.init.zeros_(self.relation_norm.weight)

    def look_up(self, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the key and value vectors of relations, int [edges]; float [edges, width] each."""
        assert self.n_relations
        return self.relation_norm(self.relation_keys)[relations], self.relation_values[relations]

    def select_relations(self, rows: LongTensor) -> None:
        """Rebuild the tables from these rows of the present tables; rows may repeat."""
        rows = rows.to(self.relation_keys.device)  # type: ignore[assignment]
        self.relation_keys = nn.Parameter(self.relation_keys.data[rows])
        self.relation_values = nn.Parameter(self.relation_values.data[rows])
        self.n_relations = len(rows)
