"""`scripts/train.py`: a refiner goes on top of any trained pipeline."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import spacy
from spacy.util import load_config

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        yield importlib.import_module("train")


def test_a_refiner_keeps_all_components_of_the_pipeline(script: ModuleType, trained_folder: Path):
    nlp = spacy.load(trained_folder)
    nlp.rename_pipe("g2g_parser", "mine")
    nlp.add_pipe("sentencizer", first=True)
    config = script.refiner_config(load_config(ROOT / "configs" / "rngtr.cfg"), nlp, "")
    assert config["nlp"]["pipeline"] == ["sentencizer", "mine", "rng_refiner"]
    assert config["components"]["mine"] == {"source": "${paths.parser}"}
    training = config["training"]
    assert training["frozen_components"] == training["annotating_components"] == ["sentencizer", "mine"]
    assert training["before_update"]["components"] == ["mine"]
    encoder = config["initialize"]["components"]["rng_refiner"]["encoder"]
    assert (encoder["@callbacks"], encoder["component"]) == ("spacy_g2g.EncoderFromPipeline.v1", "mine")


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ("", {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}),
        ("bert", {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": "bert"}),
    ],
)
def test_on_spacys_parser_a_refiner_has_an_encoder_of_its_own(
    script: ModuleType, encoder: str, expected: dict[str, str]
):
    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    config = script.refiner_config(load_config(ROOT / "configs" / "rngtr.cfg"), nlp, encoder)
    assert config["initialize"]["components"]["rng_refiner"]["encoder"] == expected
    assert config["training"]["before_update"]["components"] == ["parser"]


def test_a_pipeline_without_a_parser_is_an_error(script: ModuleType):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    with pytest.raises(SystemExit, match="sentencizer"):
        script.refiner_config(load_config(ROOT / "configs" / "rngtr.cfg"), nlp, "")
