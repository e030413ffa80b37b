from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from ..util import mostly_slow


@pytest.fixture(scope="session", params=mostly_slow(["g2g_parser", "rng_refiner"], ["g2g_parser"]))
def factory(request: pytest.FixtureRequest) -> str:
    """Each of the components: what both do is tested with both."""
    return request.param


@pytest.fixture(scope="session")
def trained_path(factory: str, request: pytest.FixtureRequest) -> Path:
    """A saved pipeline of the component, which has learned the ten sentences of ``tests.util`` by heart."""
    folders = {"g2g_parser": "trained_folder", "rng_refiner": "trained_refiner_folder"}
    return request.getfixturevalue(folders[factory])


@pytest.fixture
def trained(trained_path: Path) -> Language:
    """The trained pipeline, loaded for this test alone."""
    return spacy.load(trained_path)
