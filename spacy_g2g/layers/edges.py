"""Graphs over the positions of a batch."""

from typing import NamedTuple

from torch import LongTensor


class Edges(NamedTuple):
    """Labelled edges of any graphs over the positions of a batch, in any order. Each field is int [n_edges].

    Edge e says that in sentence ``batch[e]`` the relation of position ``query[e]`` to position ``key[e]`` is
    ``relation[e]``. Pairs without an edge have the relation NONE, which has no id. Two edges on one pair add
    up.
    """

    batch: LongTensor
    query: LongTensor
    key: LongTensor
    relation: LongTensor
