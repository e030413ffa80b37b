"""The logger that gives model-last the mean weights of the best evaluations."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_g2g.layers import linear
from spacy_g2g.layers.linear import Linear
from spacy_g2g.training import averaging
from spacy_g2g.training.averaging import copy_weights, make_average_best, mean_weights, set_weights

from ..util import (
    TINY_SIZES,
    TINY_STACK,
    gold_doc,
    initialised_nlp,
    parser_of,
    randomise,
    read_treebank,
    tree_of,
    treebank_docs,
    treebank_examples,
    weights_of,
)

ROOT = Path(__file__).parent.parent.parent
INFO = {"epoch": 0, "step": 0, "losses": {"g2g_parser": 1.0}, "other_scores": {}}


@pytest.fixture
def nlp() -> Language:
    return initialised_nlp(row="Stack-c")


def run_logger(nlp: Language, n: int, scores: list[float]) -> list[dict[str, torch.Tensor]]:
    """Evaluations with these scores, each of other weights, which are returned; then the end of training."""
    evaluated = []
    log_step, finalize = make_average_best(n)(nlp, io.StringIO(), io.StringIO())
    for seed, score in enumerate(scores):
        randomise(parser_of(nlp).model, seed)
        evaluated.append(weights_of(nlp))
        log_step({**INFO, "score": score})
        log_step(None)
    finalize()
    return evaluated


def assert_mean(found: dict[str, Any], of: list[dict[str, Any]]) -> None:
    for name, weight in found.items():
        torch.testing.assert_close(weight, torch.stack([each[name] for each in of]).mean(0))


@pytest.mark.parametrize(
    ("n", "scores", "best"),
    [
        (2, [0.1, 0.4, 0.3, 0.2], [1, 2]),
        (2, [0.4, 0.4, 0.4], [1, 2]),
        (3, [0.2, 0.1], [0, 1]),
        (1, [0.2, 0.5, 0.1], [1]),
        (3, [0.5, 0.1, 0.2, 0.3, 0.6], [0, 3, 4]),
    ],
)
def test_the_weights_are_the_mean_of_the_best_evaluations(
    nlp: Language, n: int, scores: list[float], best: list[int]
):
    evaluated = run_logger(nlp, n, scores)
    assert_mean(weights_of(nlp), [evaluated[i] for i in best])


def test_the_pipeline_parses_and_is_kept_with_the_mean(nlp: Language, tmp_path: Path):
    evaluated = run_logger(nlp, 3, [0.1, 0.2, 0.3])
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert_mean(weights_of(loaded), evaluated)
    docs = [list(pipeline.pipe(treebank_docs(nlp.vocab))) for pipeline in (nlp, loaded)]
    assert [tree_of(doc) for doc in docs[0]] == [tree_of(doc) for doc in docs[1]]


@pytest.mark.skipif(not linear.has_onednn(), reason="needs oneDNN, which this PyTorch lacks")
def test_a_pipeline_that_has_predicted_uses_its_new_weights(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    """Layers keep their weights in another layout, too, until these change."""
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: True)
    layer = next(m for m in parser_of(nlp).model.shims[0].network.modules() if isinstance(m, Linear))
    components = [nlp.get_pipe("g2g_parser")]
    list(nlp.pipe(treebank_docs(nlp.vocab)))
    set_weights(components, {name: 2 * weight for name, weight in copy_weights(components).items()})
    x = torch.ones(1, layer.in_features)
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), torch.nn.functional.linear(x, layer.weight, layer.bias))


def test_without_an_evaluation_nothing_changes(nlp: Language):
    before = weights_of(nlp)
    assert run_logger(nlp, 3, []) == []
    assert all(torch.equal(weight, before[name]) for name, weight in weights_of(nlp).items())


def test_what_is_not_trained_is_not_copied_and_what_thinc_trains_is(nlp: Language):
    nlp.add_pipe("tagger")
    nlp.initialize(lambda: treebank_examples(nlp))
    network = parser_of(nlp).model.shims[0].network
    network.encoder.requires_grad_(False)
    components = [nlp.get_pipe(name) for name in ("g2g_parser", "tagger")]
    weights = copy_weights(components)
    assert not any(".encoder.embeddings" in name for name in weights)
    output = nlp.get_pipe("tagger").model.get_ref("softmax")
    first = output.get_param("W").copy()
    output.set_param("W", first + 2.0)
    mean = mean_weights([weights, copy_weights(components)])
    set_weights(components, mean)
    np.testing.assert_allclose(output.get_param("W"), first + 1.0, rtol=1e-5)


@pytest.mark.slow
def test_training_ends_with_the_mean_in_model_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[dict[str, Any]] = []
    monkeypatch.setattr(averaging, "copy_weights", lambda c: (kept.append(copy_weights(c)), kept[-1])[1])
    vocab = spacy.blank("xx").vocab
    DocBin(docs=[gold_doc(vocab, [s]) for s in read_treebank()]).to_disk(tmp_path / "corpus.spacy")
    config = load_config(ROOT / "configs" / "stack_transformer.cfg")
    config["paths"] |= {"train": str(tmp_path / "corpus.spacy"), "dev": str(tmp_path / "corpus.spacy")}
    config["initialize"]["components"]["g2g_parser"]["encoder"] = {
        "@callbacks": "spacy_g2g.EncoderFromScratch.v1",
        "min_frequency": 1,
        **TINY_SIZES,
    }
    model = config["components"]["g2g_parser"]["model"]
    model |= TINY_STACK
    config["training"] |= {"max_steps": 3, "eval_frequency": 1}
    config["training"]["logger"] |= {"progress_bar": False, "n": 2}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "out")
    # Scores of three steps are as they come; two of the evaluations are the best.
    assert len(kept) >= 3
    nlp = spacy.load(tmp_path / "out" / "model-last")
    found = copy_weights([nlp.get_pipe("g2g_parser")])
    names = {name: name.partition(".")[2] for name in found}
    pairs = [(a, b) for i, a in enumerate(kept) for b in kept[:i]]
    means = [mean_weights(pair) for pair in pairs]
    by_end = [{name.partition(".")[2]: weight for name, weight in mean.items()} for mean in means]
    assert sum(all(torch.equal(found[n], mean[end]) for n, end in names.items()) for mean in by_end) == 1
    assert len(list(nlp.pipe(treebank_docs(nlp.vocab)))) == 10


def test_less_than_one_evaluation_is_an_error():
    with pytest.raises(ValueError, match=r"E408.*n is 0.*1 or more"):
        make_average_best(0)
