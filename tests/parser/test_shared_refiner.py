"""A refiner on the encoder that the pipeline shares. Its tables of relations are its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from thinc.api import Adam

from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.types import Arcs, Sentence

from ..util import MIXED_WORDS, TINY_MODEL, graph_docs, graph_examples, overfit, randomize, tree_of
from .test_g2g_encoder import OURS, THEIRS, counted, shared_nlp
from .test_shared_encoder import TOK2VEC

pytestmark = pytest.mark.slow


def refining_nlp(grad_factor: float = 1.0, **settings: Any) -> Language:
    """A pipeline of a tiny encoder and a refiner that listens to it."""
    nlp = shared_nlp(precision="float32", **MIXED_WORDS)
    listener = {**OURS, "grad_factor": grad_factor}
    model = {"@architectures": "spacy_g2g.RNGTr.v1", "tok2vec": listener, "precision": "float32"}
    model |= {**TINY_MODEL, **settings}
    nlp.add_pipe("rng_refiner", config={"model": model})
    return nlp


def initialized(graphs: str, **settings: Any) -> Language:
    """The pipeline with random weights in all places of the refiner."""
    nlp = refining_nlp(**settings)
    nlp.initialize(lambda: graph_examples(nlp, graphs))
    randomize(nlp.get_pipe("rng_refiner").model)  # type: ignore[attr-defined]
    return nlp


def encoder_of(nlp: Language) -> Any:
    (shim,) = find_shims(nlp.get_pipe("g2g_encoder").model)  # type: ignore[attr-defined]
    return shim


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refiner") / "nlp"
    nlp = refining_nlp()
    nlp.initialize(lambda: graph_examples(nlp, "wrong"))
    overfit(nlp, graph_examples(nlp, "wrong"), steps=60)
    nlp.to_disk(folder)
    return folder


def trees(nlp: Language) -> list[Any]:
    return [tree_of(doc) for doc in nlp.pipe(graph_docs(nlp.vocab, "wrong"))]


def test_it_learns_and_is_the_same_after_loading_with_one_encoder_on_disk(trained: Path, tmp_path: Path):
    nlp = spacy.load(trained)
    assert nlp.evaluate(graph_examples(nlp, "wrong"))["ud_las"] == 1.0
    expected = trees(nlp)
    refiner: Any = nlp.get_pipe("rng_refiner")
    names = set(get_shim(refiner.model).network.state_dict())
    assert names
    assert not any(name.startswith("encoder") for name in names)
    copied = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert trees(copied) == expected
    nlp.replace_listeners("g2g_encoder", "rng_refiner", ["model.tok2vec"])
    nlp.remove_pipe("g2g_encoder")
    assert trees(nlp) == expected
    nlp.to_disk(tmp_path)
    assert trees(spacy.load(tmp_path)) == expected


def test_a_pass_with_a_graph_runs_the_shared_weights_with_tables_of_the_refiner():
    nlp = initialized("wrong")
    shim, upstream = get_shim(nlp.get_pipe("rng_refiner").model), encoder_of(nlp)  # type: ignore[attr-defined]
    shim.upstream = upstream
    network: Any = shim._connected(is_train=False)
    words = ["the", "hearing", "is", "set"]
    sentences = [Sentence(words, graph=Arcs(np.array([2, 4, 4, 0]), np.array([1, 2, 3, 0])))]
    batch = upstream.wordpieces.batch(sentences)
    with torch.no_grad():
        without = upstream.network.encode(batch)[:, 1:]
        found = network.encode(batch, network.edges(batch))[:, 1:]
        for parameter in network.tables.parameters():
            parameter.zero_()
        zeroed = network.encode(batch, network.edges(batch))[:, 1:]
    assert float((found - without).abs().max()) > 1e-3
    torch.testing.assert_close(zeroed, without, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("graphs", "n_passes"), [("empty", 1), ("gold", 2)])
def test_a_pass_without_a_graph_costs_nothing(graphs: str, n_passes: int):
    nlp = initialized(graphs, iterations=1)
    docs = graph_docs(nlp.vocab, graphs)
    with counted() as rows:
        list(nlp.pipe(docs))
    assert sum(rows) == n_passes * len(docs)


def gradient_of_encoder(nlp: Language, graphs: str) -> Any:
    """The gradient of all weights of the shared encoder after an update."""
    nlp.update(graph_examples(nlp, graphs), sgd=False)  # type: ignore[arg-type]
    parameters = encoder_of(nlp).network.parameters()
    return torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])


@pytest.mark.parametrize("graphs", ["empty", "wrong"])
def test_the_factor_of_a_refiner_holds_for_passes_with_and_without_graphs(graphs: str):
    half, whole = initialized(graphs, grad_factor=0.5), initialized(graphs)
    for name in ("g2g_encoder", "rng_refiner"):
        half.get_pipe(name).model.from_bytes(whole.get_pipe(name).model.to_bytes())  # type: ignore[attr-defined]
    expected = gradient_of_encoder(whole, graphs) / 2
    assert float(expected.abs().max()) > 0
    torch.testing.assert_close(gradient_of_encoder(half, graphs), expected)


def test_a_refiner_learns_to_read_graphs_where_the_encoder_takes_no_gradients_from_it():
    nlp = initialized("wrong", grad_factor=0.0)
    nlp.update(graph_examples(nlp, "wrong"), sgd=False)  # type: ignore[arg-type]
    tables = get_shim(nlp.get_pipe("rng_refiner").model).network.tables  # type: ignore[attr-defined]
    assert all(parameter.grad.abs().max() > 0 for parameter in tables.parameters())  # type: ignore[union-attr]
    gradients = [parameter.grad for parameter in encoder_of(nlp).network.parameters()]
    assert all(gradient is None or not gradient.any() for gradient in gradients)


@pytest.mark.parametrize("graphs", ["empty", "wrong"])
def test_gradients_of_all_passes_add_up_in_the_one_encoder(graphs: str):
    nlp = initialized(graphs, iterations=2)
    upstream = encoder_of(nlp)
    name = "layers.0.attention.qkv.weight"
    weight = upstream.network.encoder.get_parameter(name)

    def loss() -> float:
        losses = nlp.update(graph_examples(nlp, graphs), sgd=False)  # type: ignore[arg-type]
        return losses["rng_refiner"]

    loss()
    gradient = weight.grad.clone()
    place = divmod(int(gradient.abs().argmax()), gradient.shape[1])
    sizes = []
    for step in (1e-2, -2e-2):
        with torch.no_grad():
            weight[place] += step
        sizes.append(loss())
    assert float(gradient[place]) == pytest.approx((sizes[0] - sizes[1]) / 2e-2, rel=0.05)


def test_a_frozen_encoder_takes_no_gradients(trained: Path):
    nlp = spacy.load(trained)
    upstream = encoder_of(nlp)
    refiner = get_shim(nlp.get_pipe("rng_refiner").model)  # type: ignore[attr-defined]
    before = upstream.to_bytes(), refiner.to_bytes()
    examples = graph_examples(nlp, "wrong")
    nlp.update(examples, sgd=Adam(0.01), exclude=["g2g_encoder"], annotates=["g2g_encoder"])
    assert all(parameter.grad is None for parameter in upstream.network.parameters())
    assert upstream.to_bytes() == before[0]
    assert refiner.to_bytes() != before[1]


def test_added_labels_have_relations(trained: Path):
    nlp = spacy.load(trained)
    refiner: Any = nlp.get_pipe("rng_refiner")
    n_before = get_shim(refiner.model).network.tables[0].n_relations  # type: ignore[union-attr, index]
    expected = trees(nlp)
    refiner.add_label("new")
    assert get_shim(refiner.model).network.tables[0].n_relations == n_before + 2  # type: ignore[union-attr, index]
    assert trees(nlp) == expected


def test_an_encoder_that_takes_no_graphs_is_an_error():
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    model = {"@architectures": "spacy_g2g.RNGTr.v1", "tok2vec": THEIRS, **TINY_MODEL}
    nlp.add_pipe("rng_refiner", config={"model": model})
    with pytest.raises(ValueError, match=r"E419.*g2g_encoder"):
        nlp.initialize(lambda: graph_examples(nlp, "wrong"))
