"""Every training config that ships can be used as it is."""

from pathlib import Path

import pytest
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry

ROOT = Path(__file__).parent.parent
CONFIGS = sorted((ROOT / "configs").rglob("*.cfg"))


@pytest.fixture(params=CONFIGS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_configs_are_found():
    assert {"syntr_scratch", "syntr_pretrained", "syntr_tiny"} <= {path.stem for path in CONFIGS}


def test_config_makes_its_pipeline(path: Path):
    nlp = load_model_from_config(load_config(path), auto_fill=True)
    assert nlp.pipe_names == nlp.config["nlp"]["pipeline"]


def test_training_and_initialize_blocks_resolve(path: Path):
    config = load_model_from_config(load_config(path), auto_fill=True).config.interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining, validate=True)
    initialize = registry.resolve(config["initialize"], schema=ConfigSchemaInit, validate=True)
    corpora = registry.resolve(config["corpora"])
    assert {training["train_corpus"], training["dev_corpus"]} == {f"corpora.{name}" for name in corpora}
    assert callable(initialize["components"]["g2g_parser"]["encoder"])


def test_component_leaves_no_setting_to_defaults(path: Path):
    given = load_config(path)["components"]
    filled = load_model_from_config(load_config(path), auto_fill=True).config["components"]
    if "Checkpoint" in load_config(path)["initialize"]["components"]["g2g_parser"]["encoder"]["@callbacks"]:
        filled["g2g_parser"]["model"]["encoder"] = given["g2g_parser"]["model"][
            "encoder"
        ]  # from the checkpoint
    assert given == filled


def test_learning_rate_ends_with_training(path: Path):
    """`total_steps` can't refer to `max_steps`: the optimizer's block is resolved alone."""
    training = load_config(path)["training"]
    assert training["optimizer"]["learn_rate"]["total_steps"] == training["max_steps"]


def test_packages_require_a_range_of_versions(path: Path):
    assert load_config(path)["training"]["before_to_disk"] == {
        "@callbacks": "spacy_g2g.package_requirements.v1"
    }
