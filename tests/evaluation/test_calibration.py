import numpy as np
import pytest

from spacy_g2g.evaluation.calibration import N_BINS, reliability


def test_the_error_is_the_mean_gap_between_probability_and_rate():
    found = reliability([0.95, 0.95, 0.95, 0.95, 0.5], [True, True, True, False, True])
    assert found.error == pytest.approx((4 * 0.2 + 0.5) / 5)
    assert found.counts[-1] == 4
    assert found.rates[-1] == 0.75


def test_probabilities_that_come_true_as_often_have_no_error():
    rng = np.random.default_rng(0)
    probs = rng.random(200_000)
    found = reliability(probs, rng.random(200_000) < probs)
    assert found.error < 0.01
    assert reliability(probs**3, rng.random(200_000) < probs).error > 0.1


def test_the_ends_of_the_range_and_no_predictions_are_possible():
    assert reliability([0.0, 1.0], [False, True]).error == 0.0
    assert reliability([], []).counts.tolist() == [0] * N_BINS
