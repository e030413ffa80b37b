import pytest
import spacy
from spacy.language import Language
from spacy.vocab import Vocab


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("xx")


@pytest.fixture(scope="package")
def vocab() -> Vocab:
    return spacy.blank("xx").vocab
