"""The table of encoders, and the command that shows it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_g2g.cli import app
from spacy_g2g.data.encoders import MANY, encoder_sources, encoders_for, known_encoders, modern_encoder
from spacy_g2g.layers.families import FAMILIES


def test_every_encoder_has_a_family_and_sources() -> None:
    names = [encoder.name for encoder in known_encoders()]
    assert len(set(names)) == len(names) > 40
    for encoder in known_encoders():
        assert encoder.family in FAMILIES, encoder.name
        assert all(0 < score.las < 100 for score in encoder.scores)
        assert {score.source for score in encoder.scores} <= set(encoder_sources())


@pytest.mark.parametrize("language", ["en", "de", "fr", "hr", "sr", "eu"])
def test_the_first_choice_of_a_language_is_known_and_has_a_licence(language: str) -> None:
    encoders = {encoder.name: encoder for encoder in encoders_for(language)}
    assert encoders[modern_encoder(language)].license


def test_encoders_of_the_language_come_first_the_best_first() -> None:
    encoders = encoders_for("de")
    assert encoders[0].name == "german-nlp-group/electra-base-german-uncased"
    own = ["de" in encoder.languages for encoder in encoders]
    assert own == sorted(own, reverse=True)
    assert all({"de", MANY} & set(encoder.languages) for encoder in encoders)
    assert {MANY} == {language for encoder in encoders_for("eu") for language in encoder.languages}


def test_the_command_shows_names_sizes_licences_and_scores_with_their_source() -> None:
    result = CliRunner().invoke(app, ["encoders", "en"])
    assert result.exit_code == 0
    row = next(line for line in result.output.splitlines() if "electra-base" in line)
    assert row.split()[1:6] == ["electra", "en", "-", "Apache-2.0", "91.44"]
    assert "deberta-v3-small" in result.output
    assert "143" in result.output
    assert "default_packages.py" in result.output
    assert "To begin with: google/electra-base-discriminator" in result.output
    everything = CliRunner().invoke(app, ["encoders"]).output
    assert all(encoder.name in everything for encoder in known_encoders())


def test_the_table_comes_with_the_package() -> None:
    settings = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf8")
    assert "data/encoders.json" in settings
