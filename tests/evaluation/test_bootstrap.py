import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.evaluation import bootstrap
from spacy_g2g.evaluation.bootstrap import paired_bootstrap


def literal_bootstrap(a, b, totals, resamples, seed):
    """Difference and p-value of each resample by the definition, with exact fractions of whole numbers."""
    rng = np.random.default_rng(seed)
    n = len(totals)
    observed = (sum(b) - sum(a)) / sum(totals)
    differences, n_far = [], 0
    for _ in range(resamples):
        drawn = [int(i) for i in rng.integers(n, size=n)]
        words = sum(totals[i] for i in drawn)
        difference = sum(b[i] - a[i] for i in drawn) / words
        differences.append(difference)
        n_far += abs(difference - observed) >= abs(observed) - 1e-12
    return observed, differences, (n_far + 1) / (resamples + 1)


@st.composite
def systems(draw):
    totals = draw(st.lists(st.integers(1, 9), min_size=1, max_size=12))
    return [[draw(st.integers(0, total)) for total in totals] for _ in "ab"], totals


def random_systems(n_sentences, rate_a, rate_b, seed=0):
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 40, n_sentences)
    return rng.binomial(totals, rate_a), rng.binomial(totals, rate_b), totals


def compare(a, b, totals, **settings):
    return paired_bootstrap(a, correct_b=b, totals=totals, **settings)


@given(systems(), st.integers(1, 30), st.integers(0, 100))
def test_equals_the_definition(data, resamples, seed):
    (a, b), totals = data
    found = compare(a, b, totals, resamples=resamples, seed=seed)
    difference, differences, p_value = literal_bootstrap(a, b, totals, resamples, seed)
    assert found.difference == pytest.approx(difference)
    assert found.score_b - found.score_a == pytest.approx(difference)
    assert found.p_value == pytest.approx(p_value)
    assert [found.low, found.high] == pytest.approx(np.quantile(differences, [0.025, 0.975]).tolist())


def test_identical_systems_do_not_differ():
    a, _, totals = random_systems(50, 0.8, 0.8)
    found = compare(a, a, totals)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_clearly_better_system_is_significant_and_the_interval_says_by_how_much():
    found = compare(*random_systems(300, 0.80, 0.90))
    assert found.p_value == pytest.approx(1 / 10_001)
    assert 0.09 < found.low < found.difference < found.high < 0.13


def test_swapping_the_systems_turns_the_sign_only():
    a, b, totals = random_systems(40, 0.80, 0.83)
    forth, back = compare(a, b, totals), compare(b, a, totals)
    assert (back.difference, back.low, back.high) == pytest.approx(
        (-forth.difference, -forth.high, -forth.low)
    )
    assert back.p_value == forth.p_value


def test_equally_good_systems_are_called_different_about_as_often_as_the_level_says():
    p_values = [
        compare(*random_systems(60, 0.85, 0.85, seed=seed), resamples=200).p_value for seed in range(400)
    ]
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.10
    assert 0.40 < np.mean(np.array(p_values) < 0.50) < 0.60


def test_pairing_finds_small_but_steady_gains():
    """b has one word more right in ten of a thousand sentences, which differ a lot from each other."""
    a, _, totals = random_systems(1000, 0.5, 0.5)
    gains = np.zeros_like(a)
    gains[np.flatnonzero(a < totals)[:10]] = 1
    assert compare(a, a + gains, totals).p_value < 0.01


def test_longer_sentences_weigh_more():
    found = compare([0, 9], [1, 0], [1, 9])
    assert (found.score_a, found.score_b) == (0.9, 0.1)


def test_results_do_not_depend_on_how_draws_are_grouped(monkeypatch):
    data = random_systems(30, 0.8, 0.82)
    whole = compare(*data, resamples=100)
    for n in (7 * 30, 1):
        monkeypatch.setattr(bootstrap, "DRAWS_PER_BATCH", n)
        assert compare(*data, resamples=100) == whole


def test_the_seed_decides():
    data = random_systems(30, 0.8, 0.82)
    assert compare(*data, seed=1) == compare(*data, seed=1)
    assert compare(*data, seed=1) != compare(*data, seed=2)


def test_a_development_set_takes_a_second_or_so_of_computing():
    data = random_systems(2000, 0.88, 0.885)
    start = time.process_time()
    compare(*data)
    assert time.process_time() - start < 5
