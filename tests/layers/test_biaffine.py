"""The biaffine scorers equal their formula, written word by word."""

import torch
from torch import Tensor

from spacy_g2g.layers.biaffine import ARCS_AT_ONCE, LEAKY_SLOPE, BiaffineScorer

WIDTH, N_LABELS, ARC, LABEL = 12, 5, 7, 4


def make_scorer(dropout: float = 0.0) -> BiaffineScorer:
    torch.manual_seed(0)
    scorer = BiaffineScorer(WIDTH, N_LABELS, arc_width=ARC, label_width=LABEL, dropout=dropout)
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return scorer.eval()


def project(scorer: BiaffineScorer, words: Tensor) -> list[Tensor]:
    """The four vectors of each word, each by a network of its own."""
    weights = scorer.project.weight.split([ARC, ARC, LABEL, LABEL])
    biases = scorer.project.bias.split([ARC, ARC, LABEL, LABEL])
    hidden = [words @ weight.T + bias for weight, bias in zip(weights, biases, strict=True)]
    return [torch.where(h > 0, h, LEAKY_SLOPE * h) for h in hidden]


def with_one(vector: Tensor) -> Tensor:
    return torch.cat([vector, torch.ones(1)])


def test_arc_scores_are_biaffine_in_dependent_and_head():
    scorer = make_scorer()
    words = torch.randn(2, 4, WIDTH)
    arcs, _, _ = scorer(words)
    assert arcs.shape == (2, 3, 4)
    arc_dep, arc_head, _, _ = project(scorer, words)
    for b in range(2):
        for dependent in range(3):
            for head in range(4):
                expected = with_one(arc_dep[b, dependent + 1]) @ scorer.arc_weight @ arc_head[b, head]
                torch.testing.assert_close(arcs[b, dependent, head], expected, rtol=1e-5, atol=1e-5)


def test_label_scores_are_biaffine_with_biases_of_both_sides():
    scorer = make_scorer()
    words = torch.randn(1, 4, WIDTH)
    _, dependents, heads = scorer(words)
    scores = scorer.labels(dependents[0], heads[0, [2, 0, 1]])
    assert scores.shape == (3, N_LABELS)
    _, _, label_dep, label_head = project(scorer, words)
    for i, head in enumerate([2, 0, 1]):
        for label in range(N_LABELS):
            weight = scorer.label_weight[:, label]
            expected = with_one(label_dep[0, i + 1]) @ weight @ with_one(label_head[0, head])
            torch.testing.assert_close(scores[i, label], expected, rtol=1e-5, atol=1e-5)


def test_no_arcs_have_no_label_scores():
    scorer = make_scorer()
    assert scorer.labels(torch.zeros(0, LABEL), torch.zeros(0, LABEL)).shape == (0, N_LABELS)


def test_dropout_changes_scores_in_training_alone():
    scorer = make_scorer(dropout=0.5)
    words = torch.randn(1, 6, WIDTH)
    assert torch.equal(scorer(words)[0], scorer(words)[0])
    scorer.train()
    assert not torch.equal(scorer(words)[0], scorer(words)[0])


def test_added_labels_score_zero_and_change_no_other_score():
    scorer = make_scorer()
    dependents, heads = torch.randn(3, LABEL), torch.randn(3, LABEL)
    before = scorer.labels(dependents, heads)
    scorer.resize(N_LABELS + 2)
    after = scorer.labels(dependents, heads)
    assert scorer.n_labels == N_LABELS + 2
    assert (after[:, N_LABELS:] == 0).all()
    torch.testing.assert_close(after[:, :N_LABELS], before)


def test_added_labels_can_be_learned():
    scorer = make_scorer()
    scorer.resize(N_LABELS + 1)
    scorer.labels(torch.randn(3, LABEL), torch.randn(3, LABEL)).log_softmax(-1)[:, -1].sum().backward()
    assert scorer.label_weight.grad is not None
    assert scorer.label_weight.grad[:, -1].abs().sum() > 0


def test_labels_of_many_arcs_are_those_of_each_arc():
    scorer = make_scorer()
    size = ARCS_AT_ONCE["cpu"]
    n = 2 * size + 3
    dependents, heads = torch.randn(n, LABEL), torch.randn(n, LABEL)
    scores = scorer.labels(dependents, heads)
    assert scores.shape == (n, N_LABELS)
    for i in (0, size - 1, size, n - 1):
        alone = scorer.labels(dependents[i : i + 1], heads[i : i + 1])[0]
        assert torch.allclose(scores[i], alone, atol=1e-5)
