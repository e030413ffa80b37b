"""Every training config that ships can be used as it is."""

from pathlib import Path
from typing import Any

import pytest
from spacy.cli.debug_config import debug_config
from spacy.cli.init_config import fill_config
from spacy.language import Language
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config

ROOT = Path(__file__).parent.parent
CONFIGS = sorted((ROOT / "configs").rglob("*.cfg"))


@pytest.fixture(params=CONFIGS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole pipeline, not trained."""
    folder = tmp_path_factory.mktemp("whole")
    load_model_from_config(load_config(ROOT / "configs" / "pipeline.cfg"), auto_fill=True).to_disk(folder)
    return folder


@pytest.fixture
def config(path: Path, trained_folder: Path, whole_folder: Path) -> Config:
    """The config, on top of a trained parser or a whole pipeline where it needs one."""
    config = load_config(path)
    if path.stem == "tasks":
        config["paths"]["base"] = str(whole_folder)
    if "parser" in config["paths"]:
        config["paths"]["parser"] = str(trained_folder)
        config["nlp"]["lang"] = "xx"
    return config


def has_encoder(component: dict[str, Any]) -> bool:
    """Whether it has an encoder of its own, which must come from somewhere."""
    model = component.get("model", {})
    model = model.get("model", model)  # Inside spacy_g2g.RateFactor.v1.
    name = model.get("@architectures", "")
    return name.startswith("spacy_g2g.") and name != "spacy_g2g.Splitter.v1" and model.get("tok2vec") is None


def test_configs_are_found():
    parsers = {"syntr_scratch", "syntr_pretrained", "syntr_tiny", "rngtr", "rngtr_empty"}
    pipelines = {"pipeline", "pipeline_transformers", "pipeline_light", "pipeline_scratch"}
    assert parsers | pipelines <= {path.stem for path in CONFIGS}


def test_config_makes_its_pipeline(config: Config):
    nlp = load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names == nlp.config["nlp"]["pipeline"]


def test_training_and_initialize_blocks_resolve(config: Config):
    config = load_model_from_config(config, auto_fill=True).config.interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining, validate=True)
    initialize = registry.resolve(config["initialize"], schema=ConfigSchemaInit, validate=True)
    corpora = registry.resolve(config["corpora"])
    assert {training["train_corpus"], training["dev_corpus"]} == {f"corpora.{name}" for name in corpora}
    trained = set(config["nlp"]["pipeline"]) - set(training["frozen_components"])
    with_encoder = {name for name in trained if has_encoder(config["components"][name])}
    assert set(initialize["components"]) == with_encoder
    assert all(callable(block["encoder"]) for block in initialize["components"].values())


def test_debug_config_takes_what_fill_config_makes_of_it(config: Config, tmp_path: Path):
    """spaCy's command fills in nothing, and the tokenizer is that of the language."""
    config.to_disk(tmp_path / "config.cfg", interpolate=False)
    fill_config(tmp_path / "filled.cfg", tmp_path / "config.cfg", silent=True)
    debug_config(tmp_path / "filled.cfg")


def test_component_leaves_no_setting_to_defaults(config: Config):
    given = config["components"]
    filled = load_model_from_config(config.copy(), auto_fill=True).config["components"]
    for name, block in config["initialize"]["components"].items():
        if block["encoder"]["@callbacks"] == "spacy_g2g.EncoderFromScratch.v1":
            assert registry.fill(block) == block, name
    # A block that is not in the pipeline takes the place of another one if its user names it there.
    for name in given.keys() - filled.keys():
        settings = Language.get_factory_meta(given[name]["factory"]).default_config
        assert given[name] == {"factory": given[name]["factory"], **settings}
        filled[name] = given[name]
    sourced = {name for name, block in given.items() if "source" in block}
    assert {name: given[name] for name in given if name not in sourced} == {
        name: filled[name] for name in filled if name not in sourced
    }


def test_learning_rate_ends_with_training_and_packages_require_a_range_of_versions(path: Path):
    training = load_config(path)["training"]
    # `total_steps` can't refer to `max_steps`: the optimizer's block is resolved alone.
    assert training["optimizer"]["learn_rate"]["total_steps"] == training["max_steps"]
    assert training["before_to_disk"] == {"@callbacks": "spacy_g2g.package_requirements.v1"}
