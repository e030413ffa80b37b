from collections.abc import Iterable

import numpy as np
import pytest

from spacy_g2g.scored.reliability import Reliability, reliability


def reliability_of(probs: Iterable[float], right: Iterable[bool]) -> Reliability:
    predictions = [("arcs", float(prob), bool(is_right)) for prob, is_right in zip(probs, right, strict=True)]
    return reliability(predictions)["arcs"]


def test_the_error_is_the_mean_gap_between_probability_and_rate():
    found = reliability_of([0.95, 0.95, 0.95, 0.95, 0.5], [True, True, True, False, True])
    assert found.error == pytest.approx((4 * 0.2 + 0.5) / 5)
    assert found.counts[-1] == 4
    assert found.rates[-1] == 0.75


def test_probabilities_that_come_true_as_often_have_no_error():
    rng = np.random.default_rng(0)
    probs = rng.random(200_000)
    assert reliability_of(probs, rng.random(200_000) < probs).error < 0.01
    assert reliability_of(probs**3, rng.random(200_000) < probs).error > 0.1


def test_each_kind_has_its_own_bins_up_to_the_ends_of_the_range():
    found = reliability([("arcs", 0.0, False), ("trees", 0.5, True), ("arcs", 1.0, True)])
    assert {kind: bins.error for kind, bins in found.items()} == {"arcs": 0.0, "trees": 0.5}
    assert [bins.counts.sum() for bins in found.values()] == [2, 1]
    assert reliability([]) == {}
