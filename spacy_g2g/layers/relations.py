"""Tables of relations, the vectors of the labels of graph input."""

import torch
from torch import LongTensor, Tensor, nn


class RelationTables(nn.Module):
    """Vectors of the relations in graph input, which one layer of attention adds to keys and values.

    n_relations: Number of rows in each table; 0 for no tables.
    width: Width of an attention head.
    normalise: Whether keys are normalised; see ``GraphSelfAttention``.
    layer_norm_eps: Constant that keeps the norm from dividing by zero.
    """

    def __init__(self, n_relations: int, width: int, *, normalise: bool, layer_norm_eps: float) -> None:
        super().__init__()
        self.n_relations = n_relations
        if n_relations:
            self.relation_keys = nn.Parameter(torch.zeros(n_relations, width))
            self.relation_values = nn.Parameter(torch.zeros(n_relations, width))
            self.relation_norm: nn.Module = nn.Identity()
            if normalise:
                self.relation_norm = nn.LayerNorm(width, eps=layer_norm_eps)
                nn.init.normal_(self.relation_keys, std=0.02)
                nn.init.zeros_(self.relation_norm.weight)

    def look_up(self, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Return what relations, int [edges], add to keys and values, float [edges, width] each."""
        return self.relation_norm(self.relation_keys)[relations], self.relation_values[relations]

    def select_relations(self, rows: LongTensor) -> None:
        """Rebuild the tables from these rows of the present tables; rows may repeat."""
        rows = rows.to(self.relation_keys.device)  # type: ignore[assignment]
        self.relation_keys = nn.Parameter(self.relation_keys.data[rows])
        self.relation_values = nn.Parameter(self.relation_values.data[rows])
        self.n_relations = len(rows)
