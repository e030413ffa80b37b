"""Sums over trees equal those of brute force, for partial trees too, and stay finite whatever the scores."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from spacy_g2g.layers.matrix_tree import log_partition, marginals, restrict
from spacy_g2g.trees.tree import are_trees

#: All trees with one root of sentences of up to five words.
TREES: dict[int, np.ndarray] = {}
for n in range(1, 6):
    heads = np.array(list(product(range(n + 1), repeat=n)))
    TREES[n] = heads[are_trees(heads, lengths=np.full(len(heads), n))]

scales = st.sampled_from([0.1, 1.0, 10.0, 100.0])
seeds = st.integers(0, 10_000)


def random_scores(seed: int, scale: float, lengths: Sequence[int] = (5, 4, 3, 2, 1)) -> tuple[Tensor, Tensor]:
    """Scores of a batch of sentences, and which places hold words."""
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths)
    scores = torch.randn(len(lengths), width, width + 1, generator=generator, dtype=torch.double) * scale
    return scores, torch.arange(width) < torch.tensor(lengths)[:, None]


def brute_force(scores: Tensor, known: Sequence[int] | None = None) -> tuple[Tensor, Tensor]:
    """The log-partition and the marginals of one sentence, by all of its trees, or those with known heads."""
    n = len(scores)
    trees = TREES[n]
    if known is not None:
        trees = trees[((trees == known) | (np.array(known) < 0)).all(axis=1)]
    of_trees = scores[torch.arange(n), torch.from_numpy(trees)].sum(1)
    probabilities = torch.zeros_like(scores)
    for tree, probability in zip(trees, of_trees.softmax(0), strict=True):
        probabilities[range(n), tree] += probability
    return of_trees.logsumexp(0), probabilities


def test_there_are_as_many_trees_as_cayley_says():
    for n, trees in TREES.items():
        assert len(trees) == n ** (n - 1)
        log_z = log_partition(torch.zeros(n, n + 1), is_word=torch.ones(n, dtype=torch.bool))
        assert log_z.exp().item() == pytest.approx(len(trees))


@given(seeds, scales)
def test_sums_and_marginals_are_those_over_all_trees(seed: int, scale: float):
    scores, is_word = random_scores(seed, scale)
    scores[1, 0, 2] = -torch.inf
    scores.requires_grad_()
    log_z = log_partition(scores, is_word=is_word)
    found = marginals(scores, is_word=is_word)
    (gradient,) = torch.autograd.grad(log_z.sum(), scores)
    assert torch.equal(gradient, found)
    for i, n in enumerate(is_word.sum(1).tolist()):
        expected, probabilities = brute_force(scores[i, :n, : n + 1].detach())
        torch.testing.assert_close(log_z[i], expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(found[i, :n, : n + 1], probabilities, rtol=1e-9, atol=1e-11)
        assert found[i, n:].sum() == found[i, :, n + 1 :].sum() == 0
        torch.testing.assert_close(found[i, :n].sum(1), torch.ones(n).double())
        assert found[i, :, 0].sum().item() == pytest.approx(1.0)


@given(seeds, scales, st.integers(2, 5), st.data())
def test_partial_trees_have_the_probability_of_all_trees_that_agree(
    seed: int, scale: float, n: int, data: st.DataObject
):
    tree = data.draw(st.sampled_from(TREES[n].tolist()))
    known = [head if data.draw(st.booleans()) else -1 for head in tree]
    scores, is_word = random_scores(seed, scale, [n])
    agreeing = restrict(scores, heads=torch.tensor([known])).requires_grad_()
    expected, probabilities = brute_force(scores[0], known)
    found = log_partition(agreeing, is_word=is_word)
    torch.testing.assert_close(found[0], expected, rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(found.sum(), agreeing)
    torch.testing.assert_close(gradient[0], probabilities, rtol=1e-9, atol=1e-11)


def test_a_constant_on_all_arcs_from_root_changes_no_probability():
    scores, is_word = random_scores(1, 2.0)
    expected = marginals(scores, is_word=is_word)
    for constant in (-1e4, 1e4):
        moved = scores.clone()
        moved[..., 0] += constant
        torch.testing.assert_close(marginals(moved, is_word=is_word), expected, rtol=1e-7, atol=1e-9)
        difference = log_partition(moved, is_word=is_word) - log_partition(scores, is_word=is_word)
        torch.testing.assert_close(difference, torch.full_like(difference, constant))


def test_confident_cycles_keep_all_digits():
    """Two words that want each other: a determinant in float64 would be 1 - 1."""
    scores = torch.tensor([[0.0, -torch.inf, 80.0], [1.0, 80.0, -torch.inf]])
    log_z = log_partition(scores, is_word=torch.ones(2, dtype=torch.bool))
    assert log_z.item() == pytest.approx(81 + np.log1p(np.exp(-1)))


@given(seeds, st.sampled_from([1e3, 1e5, 1e30]), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_extreme_float32_scores_have_finite_sums_and_gradients(seed: int, scale: float, lengths: list[int]):
    scores, is_word = random_scores(seed, scale, lengths)
    scores = scores.float().requires_grad_()
    log_z = log_partition(scores, is_word=is_word)
    (gradient,) = torch.autograd.grad(log_z.sum(), scores)
    assert log_z.isfinite().all()
    assert ((gradient >= 0) & (gradient <= 1)).all()


@pytest.mark.parametrize("known", [[0, 0, -1], [2, 1, -1], [2, 1, 0], [0, 0, 0]])
def test_heads_of_no_tree_are_improbable_but_finite(known: list[int]):
    scores, is_word = random_scores(0, 1.0, [3])
    agreeing = restrict(scores, heads=torch.tensor([known])).requires_grad_()
    log_z = log_partition(agreeing, is_word=is_word)
    log_z.sum().backward()
    assert -2000 < log_z.item() < -300
    assert agreeing.grad.isfinite().all()


def test_leading_dimensions_are_those_of_the_scores():
    scores, is_word = random_scores(3, 1.0)
    log_z = log_partition(torch.stack([scores, 2 * scores]), is_word=is_word.expand(2, -1, -1))
    torch.testing.assert_close(log_z[1], log_partition(2 * scores, is_word=is_word))
    assert marginals(scores[0], is_word=is_word[0]).shape == scores[0].shape
