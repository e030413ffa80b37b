"""Sums over all dependency trees with one root: the log-partition, and the marginal probability of each arc.

The weight of a tree is the product of the exponentials of its arcs' scores. The matrix-tree theorem (Koo,
Globerson, Carreras & Collins 2007, section 3) gives the sum over all trees as a determinant. Computing a
determinant takes subtractions. If scores are confident, these leave no correct digit, even in float64. This
module eliminates words one by one, using only sums and quotients of positive numbers, as Grassmann, Taksar &
Heyman (1985) eliminate the states of Markov chains.

Let w[i, j] be the weight of head j for word i, and r[i] that of ROOT. The last word n leaves the sentence:

    a = w[n, 1] + ... + w[n, n - 1]
    w[i, j] += w[i, n] * w[n, j] / a        words with head n get the heads of n
    r[i] += w[i, n] * r[n] / a

The sum over the trees of n words is a times the sum over the trees of the n - 1 words that are left. The sum
over the trees of one word is r[1].

Every tree has one arc from ROOT. So adding a constant to all scores of ROOT does not change probabilities. To
keep precision with such a constant, arcs from ROOT are logarithms with a scale of their own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Minimum logarithm of an arc's weight, where the weights of a word's heads sum to 1. It keeps sums and
#: gradients finite. Trees with worse arcs than this weigh more than they should.
MIN_LOG_WEIGHT = -400.0


def log_partition(scores: Tensor, *, is_word: Tensor) -> Tensor:
    """Return the logarithm of the sum of the weights of all trees with one root.

    Its gradient is the marginal probability of each arc.

    scores: Scores of arcs, float [..., words, words + 1], ROOT first; -inf forbids an arc. The scores of a
        word as its own head, and of padding, are ignored.
    is_word: Whether each place holds a word, bool [..., words]; padding comes last.
    Returns float64 [...]. It is finite even if scores are extreme or no tree is possible.
    """
    result: Tensor = _LogPartition.apply(scores, is_word)  # type: ignore[no-untyped-call]
    return result


def marginals(scores: Tensor, *, is_word: Tensor) -> Tensor:
    """Return the probability of each arc among all trees with one root, float64 [..., words, words + 1].

    The probabilities of a word's heads sum to 1, and so do those of the words as the root. Padding has zeros.

    scores: See ``log_partition``.
    is_word: See ``log_partition``.
    """
    with torch.no_grad():
        return _outside(*_eliminate(scores, is_word)[1:]).view(scores.shape)


def restrict(scores: Tensor, *, heads: Tensor) -> Tensor:
    """Forbid all other heads of the words whose heads are given.

    The log-partition of the result, minus that of the scores, is the log-probability of the given heads.

    scores: float [..., words, words + 1].
    heads: Given heads, int [..., words]; -1 for a word that may have any head.
    Returns float [..., words, words + 1].
    """
    heads = heads[..., None]
    is_possible = (torch.arange(scores.shape[-1], device=scores.device) == heads) | (heads < 0)
    return scores.masked_fill(~is_possible, -torch.inf)


class _LogPartition(torch.autograd.Function):
    """The log-partition. Its backward pass takes no more memory than the scores."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, is_word: Tensor) -> Tensor:
        log_z, *weights = _eliminate(scores, is_word)
        ctx.save_for_backward(*weights)
        ctx.shape, ctx.dtype = scores.shape, scores.dtype
        return log_z.view(scores.shape[:-2])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        probabilities = _outside(*ctx.saved_tensors).view(ctx.shape)
        return (gradients[0][..., None, None] * probabilities).to(ctx.dtype), None


def _eliminate(scores: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Eliminate all words but the first.

    Returns the log-partition; the first weights of arcs between words, and the logarithms of those from ROOT;
        and the last values of both, when one of an arc's words leaves.
    """
    n = scores.shape[-2]
    is_word = is_word.reshape(-1, n)
    arcs = scores.detach().reshape(-1, n, n + 1).double()
    is_arc = is_word[:, :, None] & is_word[:, None] & ~torch.eye(n, dtype=torch.bool, device=arcs.device)
    words = arcs[:, :, 1:].masked_fill(~is_arc, -torch.inf)
    scale = words.logsumexp(2)
    scale = torch.where(scale.isfinite(), scale, arcs[:, :, 0])
    scale = torch.where(scale.isfinite() & is_word, scale, 0.0)
    weights = (words - scale[:, :, None]).clamp(min=MIN_LOG_WEIGHT).exp() * is_arc
    log_roots = (arcs[:, :, 0] - scale).masked_fill(~is_word, -torch.inf)
    shift = log_roots.amax(1, keepdim=True)
    shift = torch.where(shift.isfinite(), shift, 0.0)
    log_roots = (log_roots - shift).clamp(min=MIN_LOG_WEIGHT)
    first, first_roots = weights.clone(), log_roots.clone()
    log_z = scale.sum(1) + shift[:, 0]
    for k in range(n - 1, 0, -1):
        column, row = weights[:, :k, k], weights[:, k, :k]
        total = row.sum(1).where(is_word[:, k], 1.0)
        weights[:, :k, :k].addcmul_(column[:, :, None], (row / total[:, None])[:, None])
        taken = column.log() + (log_roots[:, k] - total.log())[:, None]
        log_roots[:, :k] = torch.logaddexp(log_roots[:, :k], taken)
        log_z += total.log()
    return log_z + log_roots[:, 0], first, first_roots, weights, log_roots


def _outside(first: Tensor, first_roots: Tensor, weights: Tensor, log_roots: Tensor) -> Tensor:
    """Return the marginal probabilities of arcs, from what ``_eliminate`` returns.

    This is the backward pass of the elimination: words come back one by one.
    """
    n = weights.shape[1]
    is_word = (weights[:, 0] + weights[:, :, 0]) > 0
    # Gradients of the log-partition by weights, and their logarithms for arcs from ROOT.
    by_weight = torch.zeros_like(weights)
    by_root = torch.full_like(log_roots, -torch.inf)
    by_root[:, 0] = -log_roots[:, 0]
    for k in range(1, n):
        column, row = weights[:, :k, k], weights[:, k, :k]
        total = row.sum(1, keepdim=True).where(is_word[:, k, None], 1.0)
        share = row / total
        inner = by_weight[:, :k, :k]
        by_root[:, k] = (by_root[:, :k] + column.log()).logsumexp(1) - total[:, 0].log()
        root_term = (by_root[:, :k] + (log_roots[:, k] - total[:, 0].log())[:, None]).exp()
        by_weight[:, :k, k] = (inner @ share[:, :, None])[..., 0] + root_term
        by_row = (column[:, None] @ inner)[:, 0]
        is_root = (log_roots[:, k] + by_root[:, k]).exp()
        rest = 1.0 - is_root - (by_row * share).sum(1)
        by_weight[:, k, :k] = (by_row + rest[:, None]) / total
    probabilities = torch.cat([(first_roots + by_root).exp()[..., None], first * by_weight], dim=2)
    return probabilities.clamp(0.0, 1.0)
