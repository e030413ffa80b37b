"""Each run of the tests gives the same result; `make long` alone draws new inputs."""

import random
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

#: Random numbers that the first test has seen.
NUMBERS: list[tuple[float, float, float]] = []


def inputs_of(profile: str) -> list[tuple[str, list[int]]]:
    """Inputs of a random test in a profile."""
    found = []

    @settings(settings.get_profile(profile), max_examples=40)
    @given(st.text(max_size=3), st.lists(st.integers(), max_size=5))
    def test(text: str, numbers: list[int]) -> None:
        found.append((text, numbers))

    test()
    return found


@pytest.mark.parametrize("profile", ["spacy_g2g", "quick"])
def test_a_random_test_has_the_same_inputs_each_time(profile: str) -> None:
    expected = inputs_of(profile)
    random.seed(1)
    assert inputs_of(profile) == expected


def test_inputs_do_not_depend_on_the_modules_that_other_tests_have_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.py"
    path.write_text("NUMBER = 123456\n", encoding="utf8")
    module = ModuleType("module_of_another_test")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert 123456 not in providers._get_local_constants().integers


def test_a_random_test_has_new_inputs_by_night_alone() -> None:
    assert inputs_of("long") != inputs_of("long")
    assert settings.get_profile("long").max_examples >= 2000


@pytest.mark.parametrize("time", ["first", "second"])
def test_each_test_starts_from_the_same_random_numbers(time: str) -> None:
    NUMBERS.append((random.random(), float(np.random.rand()), float(torch.rand(()))))
    assert NUMBERS[0] == NUMBERS[-1]
