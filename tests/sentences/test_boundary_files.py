"""The file of the network of boundaries: damage is an error, nothing is unpickled, weights may be halved."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.sentences.finder import BOUNDARIES

from ..parser.test_g2g_encoder import shared_nlp
from ..util import gold_doc, make_nlp, read_treebank


def make(factory: str) -> Language:
    """A pipeline of a component that finds sentences."""
    settings = {**BOUNDARIES, "width": 16}
    nlp = shared_nlp(boundaries=settings) if factory == "g2g_encoder" else make_nlp()
    rows = read_treebank()
    gold = [gold_doc(nlp.vocab, rows[i : i + 3]) for i in range(0, 9, 3)]
    nlp.initialize(lambda: [Example(unparsed_copy(doc, []), doc) for doc in gold])
    return nlp


@pytest.fixture(scope="module", params=["g2g_encoder", "g2g_parser"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("boundaries")
    make(request.param).to_disk(path)
    return path


def file_of(folder: Path) -> Path:
    (file,) = folder.glob("*/boundaries")
    return file


def finder_of(nlp: Language) -> Any:
    return nlp.get_pipe("g2g_encoder" if nlp.has_pipe("g2g_encoder") else "g2g_parser")


def log_odds_of(nlp: Language) -> np.ndarray:
    words = ["she", "saw", "him", ".", "\n\n", "dogs", "bark", "Go"]
    found: np.ndarray
    (found,) = finder_of(nlp).finder.log_odds([Doc(nlp.vocab, words=words)])
    return found


class Attack:
    """Pickled, it is a call of ``print``."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("unpickled",)


def test_a_changed_byte_and_other_content_are_errors(saved: Path, capsys: pytest.CaptureFixture[str]):
    finder, file = finder_of(spacy.load(saved)), file_of(saved)
    data = file.read_bytes()
    contents = [b"", data[: len(data) // 2], pickle.dumps(Attack())]
    for place in (0, len(data) - 1, *np.random.default_rng(0).integers(0, len(data), 12).tolist()):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        contents.append(bytes(damaged))
    try:
        for content in contents:
            file.write_bytes(content)
            with pytest.raises(ValueError, match=r"E805.*boundaries"):
                finder.from_disk(file.parent)
    finally:
        file.write_bytes(data)
    assert "unpickled" not in capsys.readouterr().out


def test_nothing_is_unpickled(saved: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("nothing is to be unpickled")

    for owner, name in ((torch, "load"), (pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")):
        monkeypatch.setattr(owner, name, refuse)
    nlp = spacy.load(saved)
    assert np.isfinite(log_odds_of(nlp)[1:4]).all()
    finder = finder_of(nlp)
    finder.from_bytes(finder.to_bytes())
    assert b"PK\x03\x04" not in file_of(saved).read_bytes()[:4096]


def test_half_precision_halves_it(saved: Path, tmp_path: Path):
    nlp = spacy.load(saved)
    finder = finder_of(nlp)
    expected = log_odds_of(nlp)
    finder.half_precision_weights = True
    nlp.to_disk(tmp_path)
    assert file_of(tmp_path).stat().st_size < 0.55 * file_of(saved).stat().st_size
    found = log_odds_of(spacy.load(tmp_path))
    is_finite = np.isfinite(expected)
    assert (np.isfinite(found) == is_finite).all()
    np.testing.assert_allclose(found[is_finite], expected[is_finite], atol=0.02)
    assert (found != expected).any()
    # Bytes keep all digits, as those of the model do.
    copy = spacy.util.load_model_from_config(nlp.config, vocab=nlp.vocab).from_bytes(nlp.to_bytes())
    np.testing.assert_array_equal(log_odds_of(copy), expected)
