import numpy as np
import pytest

from spacy_g2g.models.decoding import best_parses
from spacy_g2g.models.types import Arcs, ArcScores
from spacy_g2g.scored.confidence import Temperatures, confidences, fit_temperatures

from ..trees.all_trees import all_trees

RNG = np.random.default_rng(4)
N_LABELS = 4


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def random_scores(n: int, scale: float = 2.0) -> ArcScores:
    arcs = RNG.normal(size=(n, n + 1)) * scale
    arcs[np.arange(n), np.arange(1, n + 1)] = -np.inf
    labels = RNG.normal(size=(n, n, N_LABELS - 1)) * scale
    return ArcScores(log_softmax(arcs), log_softmax(labels))


@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.5])
def test_probabilities_are_those_of_all_trees(temperature: float):
    """Three sentences of different lengths at once."""
    scores = [random_scores(n) for n in (4, 1, 3)]
    trees = [best_parses(of)[0].tree for of in scores]
    found = confidences(scores, trees, Temperatures(temperature, 2.0))
    for of, tree, (tree_prob, arc_probs, labeled) in zip(scores, trees, found, strict=True):
        n = len(tree.heads)
        every = all_trees(n)
        weights = np.exp(of.arcs[np.arange(n), every].sum(axis=1) / temperature)
        weights /= weights.sum()
        assert tree_prob == pytest.approx(weights[(every == tree.heads).all(axis=1)].item())
        arcs = ((every == tree.heads) * weights[:, None]).sum(axis=0)
        assert arc_probs == pytest.approx(arcs)
        labels = np.exp(log_softmax(of.labels[np.arange(n), tree.heads - 1] / 2.0))
        of_labels = np.where(tree.heads == 0, 1.0, labels[np.arange(n), tree.labels - 1])
        assert labeled == pytest.approx(arcs * of_labels)


@pytest.mark.parametrize(("labels", "possible"), [([0, -1], [1, 0]), ([0, 0], [1, 0]), ([2, 1], [0, 1])])
def test_a_label_that_a_parser_would_never_give_has_no_probability(labels: list[int], possible: list[int]):
    ((_, arcs, labeled),) = confidences(
        [random_scores(2)], [Arcs(np.array([0, 1]), np.array(labels))], Temperatures()
    )
    assert (arcs > 0).all()
    assert (labeled > 0).tolist() == [bool(value) for value in possible]


def test_temperatures_that_no_tree_tells_are_1():
    one_word = Arcs(np.array([0]), np.array([0]))
    assert fit_temperatures([]) == fit_temperatures([(random_scores(1), one_word)]) == (1, 1)


def test_the_temperature_undoes_a_scale():
    """Trees and labels drawn from a distribution; the scores are its logarithms times three and times two."""
    scores, trees = [], []
    for _ in range(300):
        of = random_scores(3, scale=1.0)
        every = all_trees(3)
        weights = np.exp(of.arcs[np.arange(3), every].sum(axis=1))
        heads = every[RNG.choice(len(every), p=weights / weights.sum())]
        probs = np.exp(of.labels[np.arange(3), heads - 1])
        labels = np.array([RNG.choice(N_LABELS - 1, p=row) + 1 for row in probs])
        trees.append(Arcs(heads, np.where(heads == 0, 0, labels)))
        scores.append(ArcScores(3 * of.arcs, 2 * of.labels))
    found = fit_temperatures(zip(scores, trees, strict=True))
    assert found.heads == pytest.approx(3, rel=0.15)
    assert found.labels == pytest.approx(2, rel=0.15)
