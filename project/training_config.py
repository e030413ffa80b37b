"""Training configs: choice of config, encoder and number of steps; refiners on top of pipelines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.util import get_lang_class, load_config
from thinc.api import Config
from wasabi import msg

from spacy_g2g.data.docs import TREEBANK_KEY
from spacy_g2g.models.network_shim import find_upstream
from spacy_g2g.parser.g2g_parser import G2GParser

from .treebank_settings import RULES, SPACED, UNSET, can_tokenize, joined_treebanks
from .up_to_date import read_facts
from .wordpiece_encoder import loadable_encoder

CONFIGS = Path(__file__).parent.parent / "configs"
BEST = "model-best"
REFINER, RATE = "rng_refiner", "training.optimizer.learn_rate"
LISTENER = {"@architectures": "spacy_g2g.EncoderListener.v1", "upstream": "*", "grad_factor": 1.0}


def has_setting(config: Mapping[str, Any], setting: str) -> bool:
    """Return whether a config has a setting, given by its dotted name."""
    value: Any = config
    for part in setting.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def choose_config(config: str, *, encoder: str, parser: str = "") -> Path:
    """Return the given config's path, or the default for a refiner, an encoder, or neither."""
    if config not in UNSET:
        return Path(config)
    if parser not in UNSET:
        return CONFIGS / "rngtr.cfg"
    return CONFIGS / ("syntr_scratch.cfg" if encoder in UNSET else "syntr_pretrained.cfg")


def used_encoder(config: Config, encoder: str) -> str:
    """Return the encoder that training starts from: the given one or the config's; "" for none.

    A config without `paths.encoder` needs no encoder.
    """
    if not has_setting(config, "paths.encoder"):
        return ""
    return encoder if encoder not in UNSET else config["paths"]["encoder"] or ""


def overrides(encoder: str, *, lang: str, steps: int = 0) -> dict[str, Any]:
    """Return settings that replace the config's.

    encoder: Encoder to start from; empty for the config's.
    lang: Language code.
    steps: Exact number of steps; 0 for the config's.
    """
    settings: dict[str, Any] = {"nlp.lang": lang}
    if lang in SPACED or not can_tokenize(lang):
        settings["nlp.tokenizer"] = RULES["nlp"]["tokenizer"]
    if encoder not in UNSET:
        settings["paths.encoder"] = loadable_encoder(encoder)
    if steps:
        settings["training.max_epochs"] = 0
        settings["training.max_steps"] = steps
        settings[f"{RATE}.total_steps"] = steps
    return settings


def step_settings(config: Config, steps: int) -> dict[str, Any]:
    """Return settings for a number of steps, or up to nine more; no settings for 0 steps.

    spaCy evaluates, and keeps the best model, only at multiples of the evaluation frequency. The last step
    must be one of these.
    """
    if not steps:
        return {}
    every = math.ceil(steps / 10)
    steps = every * math.ceil(steps / every)
    settings = {"training.max_epochs": 0, "training.max_steps": steps, "training.eval_frequency": every}
    config = config.interpolate()
    if has_setting(config, f"{RATE}.total_steps"):
        settings[f"{RATE}.total_steps"] = steps
    else:
        msg.warn(f"The config has no {RATE}.total_steps: its rate is not fitted to the {steps} steps.")
    if has_setting(config, f"{RATE}.warmup_steps"):
        warmup: int = config["training"]["optimizer"]["learn_rate"]["warmup_steps"]
        settings[f"{RATE}.warmup_steps"] = min(warmup, steps // 10)
    return settings


def refiner_config(config: Config, nlp: Language, encoder: str, *, shares: bool = True) -> Config:
    """Return the config of a refiner on top of a trained pipeline, whose components are frozen.

    The refiner starts from the pipeline's parser if the parser reads an encoder of this library. Otherwise it
    starts from a checkpoint, or from scratch.

    config: Config of a refiner.
    nlp: Trained pipeline.
    encoder: Checkpoint; empty for none.
    shares: Whether the refiner listens to the encoder that the parser listens to. If not, it has a copy.
    Raises SystemExit if the pipeline has a refiner or no parser.
    """
    if REFINER in {*nlp.pipe_names, *nlp.pipe_factories.values()}:
        raise SystemExit(
            f"The pipeline has the components {nlp.pipe_names}, a refiner among them. Expected one without, "
            "as the workflow all trains it."
        )
    parsers = [name for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser | DependencyParser)]
    if not parsers:
        raise SystemExit(f"The pipeline has the components {nlp.pipe_names}: expected a parser among them.")
    names, parser = nlp.pipe_names, parsers[-1]
    tokenizer = nlp.config["nlp"]["tokenizer"]
    config["nlp"] |= {"lang": nlp.lang, "pipeline": [*names, REFINER], "tokenizer": tokenizer}
    copy = {"@callbacks": "spacy.copy_from_base_model.v1", "tokenizer": "${paths.parser}", "vocab": None}
    config["initialize"]["before_init"] = copy
    refiner = config["components"][REFINER]
    config["components"] = {name: {"source": "${paths.parser}"} for name in names} | {REFINER: refiner}
    config["training"] |= {"frozen_components": names, "annotating_components": names}
    config["training"]["before_update"]["components"] = [parser]
    source: dict[str, Any] = {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}
    pipe = nlp.get_pipe(parser)
    upstream = find_upstream(pipe.model) if isinstance(pipe, G2GParser) else None
    if shares and upstream is not None:
        refiner["model"] |= {"tok2vec": LISTENER, "n_mixed_layers": 1, "pooling": "first"}
    if isinstance(pipe, G2GParser) and (upstream or pipe.model.maybe_get_ref("tok2vec") is None):
        source = config["initialize"]["components"][REFINER]["encoder"] | {"component": parser}
    elif encoder not in UNSET:
        source = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": loadable_encoder(encoder)}
        source["vocabulary"] = "training"
    config["initialize"]["components"][REFINER]["encoder"] = source
    return config


def tell_treebanks_apart(config: Config, source: Mapping[str, Any]) -> None:
    """Make a config score each of the joined treebanks, and make its parser read their names.

    The training log and the pipeline's meta show these scores, but they have no weight. A parser that shares
    an encoder, or reads tags, reads no names.

    config: Config to change.
    source: Source record of the data, see ``read_source``.
    """
    names = joined_treebanks(source).values()
    config["training"]["score_weights"] |= {f"ud_las_{name}": 0.0 for name in names}
    model = config["components"].get("g2g_parser", {}).get("model", {})
    if names and model.get("tag_attr", "") is None and model.get("tok2vec") is None:
        model["tag_attr"] = TREEBANK_KEY


def refiner_encoder(config: Config, parser: str, *, encoder: str) -> str:
    """Return the encoder that a refiner starts from, by its config (see ``refiner_config``); "" for none."""
    source = config["initialize"]["components"][REFINER]["encoder"]
    if "component" in source:
        return str(read_facts(Path(parser).parent).get("encoder", "the parser's, which was not noted"))
    return encoder if "name" in source else ""


def choose_steps(steps: int, epochs: float, batches: int) -> int:
    """Return the given steps, or the steps of the given epochs; 0 if neither is given."""
    return steps or max(1, round(epochs * batches)) * bool(epochs)


def pipeline_config(path: Path, settings: Mapping[str, Any]) -> Config:
    """Read a config and replace its settings. `paths.encoder` is not set if the config has none.

    A component loses the settings that its language's own factory lacks: spaCy's morphologizer of Japanese
    has no `label_smoothing`.
    """
    config = load_config(path)
    if "encoder" not in config.get("paths", {}):
        settings = {name: value for name, value in settings.items() if name != "paths.encoder"}
    config = load_config(path, overrides=dict(settings))
    language = get_lang_class(config["nlp"]["lang"])
    for component in config["components"].values():
        factory = component.get("factory", "")
        if language.has_factory(factory) and language.has_factory(f"{language.lang}.{factory}"):
            known = {"factory", *(language.get_factory_meta(factory).default_config or ())}
            for name in component.keys() - known:
                del component[name]
    return config
