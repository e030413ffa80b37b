"""Every system learns with encoders of newer families, and is kept."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from thinc.api import fix_random_seed

from spacy_g2g.layers.checkpoints.load import load_checkpoint
from spacy_g2g.models.sources import encoder_from_pipeline

from ..models.test_sources import make_checkpoint
from ..util import component_config, graph_examples, mostly_slow, overfit, tree_of

#: Factory and settings; sentences are longer than the window of ModernBERT's local layers.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "SynTr": ("g2g_parser", {"n_mixed_layers": 2}),
    "RNGTr": ("rng_refiner", {}),
    "StateTr": ("g2g_parser", {"row": "StateTr+G2GTr"}),
    "SentTr": ("g2g_parser", {"row": "SentTr+G2GTr"}),
}
CASES = [("modernbert", "SynTr"), ("modernbert", "RNGTr"), ("modernbert", "StateTr"), ("eurobert", "SentTr")]
CASES += [("deberta-v2", "SynTr"), ("deberta-v2", "RNGTr")]


@pytest.mark.parametrize("case", mostly_slow(CASES, [("modernbert", "SynTr")]), ids=str)
def test_systems_learn_with_newer_encoders_and_are_kept(case: tuple[str, str], tmp_path: Path):
    family, system = case
    factory, settings = SYSTEMS[system]
    source = make_checkpoint(tmp_path / "encoder", family)
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config=component_config(factory, half_precision_weights=True, **settings))
    encoder = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(source)}
    nlp.config["initialize"]["components"] = {factory: {"encoder": encoder}}
    nlp.initialize(lambda: graph_examples(nlp, "wrong"))
    examples = graph_examples(nlp, "wrong")
    first = overfit(nlp, examples, 1)[factory]
    if case == CASES[0]:
        overfit(nlp, examples, 28)
        assert nlp.evaluate(graph_examples(nlp, "wrong"))["ud_las"] == 1.0
    else:  # Learning by heart takes longer, and is tested with other encoders.
        assert overfit(nlp, examples, 8)[factory] < 0.8 * first

    expected = [tree_of(nlp(example.predicted)) for example in graph_examples(nlp, "wrong")]
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert [tree_of(loaded(example.predicted)) for example in graph_examples(loaded, "wrong")] == expected
    copied = encoder_from_pipeline(str(tmp_path / "nlp"), component=factory)([])
    original = load_checkpoint(source).config
    for name in ("rotary", "disentangled", "n_key_heads", "gated"):
        assert getattr(copied.config, name) == getattr(original, name)
