"""Biaffine scorers of arcs and labels (Dozat & Manning 2017; Mohammadshahi & Henderson 2021, section 3)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout
from .linear import Linear
from .packing import Packing, fill_up

LEAKY_SLOPE = 0.1
# Number of arcs labeled at once, by device. It bounds memory: each arc takes n_labels * label_width numbers.
LABELED_AT_ONCE = {"cpu": 256, "cuda": 8192}
# Minimum distance of each bucket. Words on the left and on the right have separate buckets.
DISTANCES = (1, 2, 3, 4, 5, 7, 10, 15, 25)


class BiaffineScorer(nn.Module):
    """Scores of all possible arcs, and of the labels of some arcs.

    Four one-layer LeakyReLU(0.1) networks, computed as one product, give each word a vector as a dependent
    and as a head, for arcs and for labels.

    width: Width of the word vectors.
    n_labels: Number of labels.
    arc_width: Width of the dependent and head vectors for arcs.
    label_width: Width of the dependent and head vectors for labels.
    dropout: Rate on the dependent and head vectors.
    distances: Add to the score of each arc a term of its dependent's vector and the head's signed distance.
    """

    distance_weight: nn.Parameter | None
    starts: Tensor

    def __init__(
        self,
        width: int,
        n_labels: int,
        *,
        arc_width: int,
        label_width: int,
        dropout: float,
        distances: bool = False,
    ) -> None:
        super().__init__()
        self.widths = [arc_width, arc_width, label_width, label_width]
        self.project = Linear(width, sum(self.widths))
        self.activation = nn.LeakyReLU(LEAKY_SLOPE)
        self.dropout = Dropout(dropout)
        self.arc_weight = nn.Parameter(torch.zeros(arc_width + 1, arc_width))
        self.label_weight = nn.Parameter(torch.zeros(label_width + 1, n_labels, label_width + 1))
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        self.distance_weight = None
        if distances:
            self.distance_weight = nn.Parameter(torch.zeros(arc_width + 1, 2 * len(DISTANCES) + 1))
            # Not on the device "meta", where networks are built before they are loaded.
            self.register_buffer("starts", torch.tensor(DISTANCES, device="cpu"), persistent=False)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.label_weight.shape[1]

    def forward(self, words: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Score all arcs.

        words: float [batch, n + 1, width], ROOT first.
        mask: bool [batch, n + 1], True for ROOT and words; None if nothing is padded. A CPU does not compute
            padding.
        Returns the arc scores, float [batch, n, n + 1] (dependents by heads), and the vectors that ``labels``
            takes: dependents, float [batch, n, label_width], and heads, float [batch, n + 1, label_width].
        """
        packing = Packing.of(words, mask) if words.device.type == "cpu" else None
        rows = words.flatten(0, 1) if packing is None else packing.pack(words)
        projected = self.dropout(self.activation(self.project(rows)))

        def padded(x: Tensor) -> Tensor:
            """Return rows as [batch, n + 1, width]."""
            return x.view(*words.shape[:2], -1) if packing is None else packing.pad(x)[:, : words.shape[1]]

        # Only heads have a bias term: a bias of dependents would be equal for all heads, so softmax drops it.
        # The product includes ROOT's row, which spares PyTorch a copy of the weights for each sentence.
        arc_dep, arc_head, labels = projected.split([*self.widths[:2], sum(self.widths[2:])], dim=-1)
        dependents = padded(arc_dep @ self.arc_weight[:-1])[:, 1:]
        with torch.autocast(words.device.type, enabled=False):  # scores are 32-bit floats
            heads = padded(arc_head).transpose(1, 2).float()
            arcs = (dependents + self.arc_weight[-1]) @ heads
            if self.distance_weight is not None:
                terms = padded(
                    torch.addmm(self.distance_weight[-1], arc_dep.float(), self.distance_weight[:-1])
                )
                arcs = arcs + terms[:, 1:].gather(2, self._distances(arcs.shape[1]).expand(arcs.shape))
        label_dep, label_head = torch.split(padded(labels), self.widths[2:], dim=-1)
        return arcs, label_dep[:, 1:], label_head

    def labels(self, dependents: Tensor, *, heads: Tensor) -> Tensor:
        """Score the labels of some arcs.

        dependents: float [arcs, label_width].
        heads: float [arcs, label_width].
        Returns float [arcs, n_labels].
        """
        size = LABELED_AT_ONCE.get(heads.device.type, LABELED_AT_ONCE["cpu"])
        n = len(heads)
        dependents, heads = fill_up(dependents), fill_up(heads)
        parts = [slice(start, start + size) for start in range(0, max(1, n), size)]
        # In the precision of the vectors, so that it is not rounded for each part.
        weight = self.label_weight.to(dependents.dtype)
        return torch.cat([self._labels(dependents[part], heads[part], weight) for part in parts])[:n]

    def labels_by_head(self, dependents: Tensor, *, heads: Tensor, owners: Tensor) -> Tensor:
        """Score the labels of arcs. On a CPU, the products of a head are shared by all its dependents.

        dependents: float [arcs, label_width].
        heads: float [heads, label_width].
        owners: Number of each arc's head, int [arcs].
        Returns float32 [arcs, n_labels].
        """
        if heads.device.type != "cpu":
            return self.labels(dependents, heads=heads[owners])
        owners, numbers, counts = torch.unique(owners, return_inverse=True, return_counts=True)
        # Heads with equal numbers of dependents are together, so there is hardly any padding.
        counts, ranks = counts.sort(descending=True)
        arcs = ranks.argsort()[numbers].argsort()
        starts = counts.cumsum(0) - counts
        heads = F.pad(fill_up(heads[owners[ranks]]), (0, 1), value=1.0)
        dependents = F.pad(dependents, (0, 1), value=1.0).float()
        weight = self.label_weight.to(heads.dtype).flatten(0, 1)
        scores = dependents.new_empty(len(dependents), self.n_labels)
        for part in range(0, len(counts), LABELED_AT_ONCE["cpu"]):
            rows = slice(part, part + LABELED_AT_ONCE["cpu"])
            places = torch.arange(int(counts[part]))
            is_arc = places < counts[rows, None]
            members = arcs[torch.where(is_arc, starts[rows, None] + places, 0)]
            mixed = F.linear(heads[rows], weight)[: len(is_arc)].view(len(is_arc), -1, self.n_labels)
            with torch.autocast("cpu", enabled=False):  # scores are 32-bit floats
                products = dependents[members] @ mixed.float()
            scores[members[is_arc]] = products[is_arc]
        return scores

    def _distances(self, n_words: int) -> Tensor:
        """Return the bucket of each head's distance from each dependent, int [words, words + 1].

        Buckets are numbered from left to right. ROOT has the middle bucket.
        """
        places = torch.arange(n_words + 1, device=self.starts.device)
        distances = places - places[1:, None]
        distances[:, 0] = 0
        return torch.bucketize(distances.abs(), self.starts, right=True) * distances.sign() + len(DISTANCES)

    def _labels(self, dependents: Tensor, heads: Tensor, weight: Tensor) -> Tensor:
        n_rows, n_labels, n_columns = weight.shape
        weight = weight.view(n_rows, n_labels * n_columns)
        mixed = torch.addmm(weight[-1], dependents, weight[:-1]).view(-1, n_labels, n_columns)
        with torch.autocast(heads.device.type, enabled=False):  # scores are 32-bit floats
            mixed, heads = mixed.float(), heads.float()
            return torch.baddbmm(mixed[..., -1:], mixed[..., :-1], heads.unsqueeze(-1)).squeeze(-1)

    def resize(self, n_labels: int) -> None:
        """Add labels after the present ones, with zero weights."""
        weight = self.label_weight.data
        added = weight.new_zeros(weight.shape[0], n_labels - weight.shape[1], weight.shape[2])
        self.label_weight = nn.Parameter(torch.cat([weight, added], dim=1))
