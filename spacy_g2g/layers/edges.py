"""Graphs over the positions of a batch."""

from __future__ import annotations

from typing import NamedTuple

from torch import LongTensor, Tensor


class Edges(NamedTuple):
    """Labeled edges of any graphs over the positions of a batch, in any order. Each field is int [n_edges].

    Edge e says that in sentence ``batch[e]`` the relation of position ``query[e]`` to position ``key[e]`` is
    ``relation[e]``. Pairs without an edge have the relation NONE, which has no id. Two edges on one pair add
    up.
    """

    batch: LongTensor
    query: LongTensor
    key: LongTensor
    relation: LongTensor

    def for_queries(self, places: Tensor) -> Edges:
        """Return the edges of some queries, renumbered.

        places: Positions of the queries in each sentence, int [batch, queries]; a position may repeat.
        """
        edge, query = (self.query[:, None] == places[self.batch]).nonzero().unbind(1)
        return Edges(self.batch[edge], query, self.key[edge], self.relation[edge])  # type: ignore[arg-type]
