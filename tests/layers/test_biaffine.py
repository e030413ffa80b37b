"""The biaffine scorers equal their formula, written word by word."""

import pytest
import torch
from torch import Tensor

from spacy_g2g.layers.biaffine import LABELED_AT_ONCE, LEAKY_SLOPE, BiaffineScorer

WIDTH, N_LABELS, ARC, LABEL = 12, 5, 7, 4


def make_scorer(dropout: float = 0.0, *, distances: bool = False) -> BiaffineScorer:
    torch.manual_seed(0)
    sizes = {"arc_width": ARC, "label_width": LABEL}
    scorer = BiaffineScorer(WIDTH, N_LABELS, **sizes, dropout=dropout, distances=distances)
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


def slow_bucket(dependent: int, head: int) -> int:
    """The bucket of the distance between two words, or of ROOT."""
    if head == 0:
        return 9
    starts = [1, 2, 3, 4, 5, 7, 10, 15, 25]
    size = sum(start <= abs(head - dependent) for start in starts)
    return 9 + size if head > dependent else 9 - size


def test_arc_scores_have_a_term_of_the_dependent_and_the_distance():
    plain, scorer = make_scorer(), make_scorer(distances=True)
    scorer.load_state_dict(plain.state_dict(), strict=False)
    words = torch.randn(2, 41, WIDTH)
    terms = scorer(words)[0] - plain(words)[0]
    dependents = project(scorer, words)[0]
    found = set()
    for dependent in range(1, 41):
        for head in range(41):
            if head != dependent:
                bucket = slow_bucket(dependent, head)
                found.add(bucket)
                expected = with_one(dependents[1, dependent]) @ scorer.distance_weight[:, bucket]
                torch.testing.assert_close(terms[1, dependent - 1, head], expected, rtol=1e-4, atol=1e-4)
    assert found == set(range(scorer.distance_weight.shape[1]))


@pytest.mark.parametrize("n_words", [1, 3])
def test_terms_of_distance_are_zero_at_first_and_are_learned(n_words: int):
    sizes = {"arc_width": ARC, "label_width": LABEL, "dropout": 0.0}
    torch.manual_seed(0)
    plain = BiaffineScorer(WIDTH, N_LABELS, **sizes)
    torch.manual_seed(0)
    scorer = BiaffineScorer(WIDTH, N_LABELS, distances=True, **sizes)
    words = torch.randn(1, n_words + 1, WIDTH)
    assert torch.equal(scorer(words)[0], plain(words)[0])
    scorer(words)[0].sum().backward()
    assert scorer.distance_weight.grad.abs().sum() > 0


def test_label_scores_are_biaffine_with_biases_of_both_sides():
    scorer = make_scorer()
    words = torch.randn(1, 4, WIDTH)
    _, dependents, heads = scorer(words)
    scores = scorer.labels(dependents[0], heads=heads[0, [2, 0, 1]])
    assert scores.shape == (3, N_LABELS)
    _, _, label_dep, label_head = project(scorer, words)
    for i, head in enumerate([2, 0, 1]):
        for label in range(N_LABELS):
            weight = scorer.label_weight[:, label]
            expected = with_one(label_dep[0, i + 1]) @ weight @ with_one(label_head[0, head])
            torch.testing.assert_close(scores[i, label], expected, rtol=1e-5, atol=1e-5)


def test_no_arcs_have_no_label_scores():
    scorer = make_scorer()
    assert scorer.labels(torch.zeros(0, LABEL), heads=torch.zeros(0, LABEL)).shape == (0, N_LABELS)


def test_dropout_changes_scores_in_training_alone():
    scorer = make_scorer(dropout=0.5)
    words = torch.randn(1, 6, WIDTH)
    assert torch.equal(scorer(words)[0], scorer(words)[0])
    scorer.train()
    assert not torch.equal(scorer(words)[0], scorer(words)[0])


def test_added_labels_score_zero_change_no_other_score_and_can_be_learned():
    scorer = make_scorer()
    dependents, heads = torch.randn(3, LABEL), torch.randn(3, LABEL)
    before = scorer.labels(dependents, heads=heads)
    scorer.resize(N_LABELS + 2)
    after = scorer.labels(dependents, heads=heads)
    assert scorer.n_labels == N_LABELS + 2
    assert (after[:, N_LABELS:] == 0).all()
    torch.testing.assert_close(after[:, :N_LABELS], before)
    after.log_softmax(-1)[:, -1].sum().backward()
    assert scorer.label_weight.grad[:, -1].abs().sum() > 0


def test_labels_of_many_arcs_are_those_of_each_arc():
    scorer = make_scorer()
    size = LABELED_AT_ONCE["cpu"]
    n = 2 * size + 3
    dependents, heads = torch.randn(n, LABEL), torch.randn(n, LABEL)
    scores = scorer.labels(dependents, heads=heads)
    assert scores.shape == (n, N_LABELS)
    for i in (0, size - 1, size, n - 1):
        alone = scorer.labels(dependents[i : i + 1], heads=heads[i : i + 1])[0]
        assert torch.allclose(scores[i], alone, atol=1e-5)


@pytest.mark.parametrize("is_train", [False, True])
def test_there_are_few_numbers_of_rows(is_train: bool, monkeypatch: pytest.MonkeyPatch):
    """oneDNN keeps code for each of them."""
    scorer, rows = make_scorer().train(is_train), set[int]()
    scorer.project.register_forward_hook(lambda module, inputs, output: rows.add(len(output)))
    labels = scorer._labels
    monkeypatch.setattr(scorer, "_labels", lambda x, *rest: rows.add(len(x)) or labels(x, *rest))
    for n in range(1, 300, 7):
        arcs, dependents, heads = scorer(torch.randn(2, n + 1, WIDTH))
        assert arcs.shape == (2, n, n + 1)
        assert scorer.labels(dependents[0], heads=heads[0, 1:]).shape == (n, N_LABELS)
    assert rows <= {16 * i for i in range(1, 17)} | {64 * i for i in range(1, 11)}


@pytest.mark.parametrize("n_heads", [0, 1, 3, 300])
def test_labels_by_head_are_those_of_each_arc(n_heads: int):
    scorer = make_scorer()
    heads = torch.randn(n_heads + 1, LABEL)
    owners = torch.randint(0, n_heads + 1, (2 * n_heads,))
    dependents = torch.randn(len(owners), LABEL)
    with torch.no_grad():
        scores = scorer.labels_by_head(dependents, heads=heads, owners=owners)
        expected = scorer.labels(dependents, heads=heads[owners])
    torch.testing.assert_close(scores, expected, rtol=1e-5, atol=1e-5)


def test_padding_is_not_computed_and_changes_no_score():
    scorer = make_scorer(distances=True).eval()
    words, n_rows = torch.randn(3, 20, WIDTH), set[int]()
    mask = torch.arange(20) < torch.tensor([[20], [5], [2]])
    whole = scorer(words)
    scorer.project.register_forward_hook(lambda module, inputs, output: n_rows.add(len(output)))
    real = scorer(words, mask)
    assert n_rows == {32}
    for found, expected in zip(real, whole, strict=True):
        for i, n in enumerate(mask.sum(1).tolist()):
            is_pair = found.shape[2] == 20
            part = (i, slice(n - 1), slice(n) if is_pair else slice(None))
            torch.testing.assert_close(found[part], expected[part])


def test_gradients_of_padded_sentences_are_those_of_single_ones():
    scorer, lengths = make_scorer(distances=True).train(), [20, 5, 2]
    words = torch.randn(3, 20, WIDTH, requires_grad=True)
    mask = torch.arange(20) < torch.tensor(lengths)[:, None]

    def gradients(losses: list[Tensor]) -> tuple[Tensor, ...]:
        parameters = (scorer.project.weight, scorer.arc_weight, scorer.distance_weight, words)
        return torch.autograd.grad(sum(losses), parameters)  # type: ignore[arg-type]

    def loss(arcs: Tensor, dependents: Tensor, heads: Tensor) -> Tensor:
        return arcs.sin().sum() + dependents.sin().sum() + heads.sin().sum()

    arcs, dependents, heads = scorer(words, mask)
    together = [
        loss(arcs[i, : n - 1, :n], dependents[i, : n - 1], heads[i, :n]) for i, n in enumerate(lengths)
    ]
    alone = [loss(*scorer(words[i : i + 1, :n])) for i, n in enumerate(lengths)]
    for found, expected in zip(gradients(together), gradients(alone), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
