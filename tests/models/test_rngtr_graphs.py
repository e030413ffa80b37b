"""RNGTr and graphs: what is read of the initial one, a first pass that is SynTr, labels that are added."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from thinc.api import Adam

from spacy_g2g.models.rngtr import build_rngtr
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.syntr import build_syntr
from spacy_g2g.models.types import Arcs, Sentence

from ..util import TINY_MODEL, initialized_model
from .checks import assert_same_parse
from .test_rngtr import N_INITIAL, N_LABELS, TREES, WORDS, make, mixed_sentences, network_of, random_graph

# The initial graph


@pytest.mark.parametrize("graph_input", [True, False])
def test_the_initial_graph_is_read_where_graph_input_is_not_cut(graph_input: bool):
    model, shim = make(graph_input=graph_input)
    words = WORDS[0]
    rng = np.random.default_rng(0)
    graphs = [None, TREES[0], random_graph(5, rng), random_graph(5, rng)]
    parses = model.predict([Sentence(words, graph=graph) for graph in graphs])
    first = [parse.iterations[0].head_probs for parse in parses]
    for probs in first[1:]:
        assert np.allclose(probs, first[0], atol=1e-5) != graph_input
    names = [name for name, _ in shim.network.named_parameters() if ".relation_" in name]
    assert bool(names) == graph_input


@pytest.mark.parametrize("change", ["head", "direction", "label", "initial label"])
def test_each_part_of_a_graph_matters(change: str):
    model, _ = make(iterations=4)
    first = Arcs(np.array([2, 0, 2]), np.array([1, 0, 2]))
    second = {
        "head": Arcs(np.array([3, 0, 2]), np.array([1, 0, 2])),
        "direction": Arcs(np.array([0, 1, 2]), np.array([0, 1, 2])),
        "label": Arcs(np.array([2, 0, 2]), np.array([1, 0, 3])),
        "initial label": Arcs(np.array([2, 0, 2]), np.array([1, 0, N_LABELS + 1])),
    }[change]
    probs = [
        model.predict([Sentence(["a", "b", "c"], graph=graph)])[0].iterations[0].head_probs
        for graph in (first, second)
    ]
    assert abs(probs[0] - probs[1]).max() > 1e-3


def test_a_new_refiner_begins_without_a_use_for_graphs():
    """As a checkpoint knows none."""
    model = build_rngtr(stop=False, **TINY_MODEL)  # type: ignore[arg-type]
    shim = initialized_model(model, n_labels=N_LABELS, n_initial_labels=N_INITIAL)
    source = get_shim(build_rngtr(**TINY_MODEL))  # type: ignore[arg-type]
    source.build_network(shim.spec)
    fresh = network_of(source)
    batches = [source.wordpieces.batch([Sentence(WORDS[0], graph=graph)]) for graph in (None, TREES[0])]
    torch.testing.assert_close(*(fresh.encode(batch, fresh.edges(batch)) for batch in batches))


# SynTr is its first pass


@pytest.mark.parametrize("case", ["no graph", "zero tables", "cut"])
def test_one_pass_without_graph_input_is_syntr(case: str):
    syntr = build_syntr(**TINY_MODEL)  # type: ignore[arg-type]
    other = initialized_model(syntr, 4, N_LABELS)
    model, shim = make(seed=5, iterations=1, graph_input=case != "cut")
    missing = shim.network.load_state_dict(other.network.state_dict(), strict=False).missing_keys
    assert all(".relation_" in name for name in missing)
    sentences = mixed_sentences()[:20]
    if case == "no graph":
        sentences = [Sentence(words) for words in WORDS]
        assert all(len(word) == 1 for words in shim.wordpieces.split(sentences) for word in words)
    if case == "zero tables":
        with torch.no_grad():
            for name, parameter in shim.network.named_parameters():
                if ".relation_norm" in name or ".relation_values" in name:
                    parameter.zero_()
    for found, expected in zip(model.predict(sentences), syntr.predict(sentences), strict=True):
        assert_same_parse(found, expected)
    gold = [TREES[i % 10] for i in range(len(sentences))]
    assert model.begin_update((sentences, gold))[0] == pytest.approx(
        syntr.begin_update((sentences, gold))[0], rel=1e-5
    )


# Labels


def test_added_labels_change_nothing_for_graphs_that_have_none_of_them():
    _, shim = make(iterations=1)
    rng = np.random.default_rng(2)
    graphs = [random_graph(len(words), rng) for words in WORDS]
    sentences = [Sentence(words, graph=graph) for words, graph in zip(WORDS, graphs, strict=True)]
    batch = shim.wordpieces.batch(sentences)
    network = network_of(shim)
    arcs = np.ones((10, 7), dtype=bool) & (np.arange(7) < batch.n_words[:, None])
    with torch.inference_mode():
        before = network.score(batch, network.edges(batch))
        labels = network.score_labels(before, np.zeros((10, 7), dtype=np.int64), arcs)
    shim.resize_labels(N_LABELS + 2)
    # Labels that only initial graphs have come after the parser's.
    moved = [Arcs(g.heads, np.where(g.labels >= N_LABELS, g.labels + 2, g.labels)) for g in graphs]
    batch = shim.wordpieces.batch([replace(s, graph=g) for s, g in zip(sentences, moved, strict=True)])
    with torch.inference_mode():
        after = network.score(batch, network.edges(batch))
        new_labels = network.score_labels(after, np.zeros((10, 7), dtype=np.int64), arcs)
    for found, expected in zip(after, before, strict=True):
        np.testing.assert_array_equal(found, expected)
    torch.testing.assert_close(new_labels[:, : N_LABELS - 1], labels)
    assert not new_labels[:, N_LABELS - 1 :].any()
    assert (shim.known_spec.n_labels, shim.known_spec.learned["n_initial_labels"]) == (
        N_LABELS + 2,
        N_INITIAL,
    )
    assert network.n_labels == N_LABELS + 2 + N_INITIAL


def test_an_added_label_begins_as_any_other_label_and_is_learned():
    model, shim = make(iterations=1)
    shim.resize_labels(N_LABELS + 1)
    graphs = [Arcs(np.array([2, 0]), np.array([label, 0])) for label in (-1, N_LABELS)]
    sentences = [Sentence(["a", "b"], graph=graph) for graph in graphs]
    other, added = model.predict(sentences)
    assert_same_parse(added, other)
    _, backprop = model.begin_update((sentences[1:], [Arcs(np.array([2, 0]), np.array([1, 0]))]))
    backprop(None)
    shim.finish_update(Adam(0.01))
    other, added = model.predict(sentences)
    assert not np.array_equal(added.head_probs, other.head_probs)


def test_added_labels_need_no_relations_where_graph_input_is_cut():
    model, shim = make(graph_input=False)
    shim.resize_labels(N_LABELS + 1)
    graph = Arcs(np.array([2, 0]), np.array([N_LABELS + N_INITIAL, 0]))
    assert model.predict([Sentence(["a", "b"], graph=graph)])[0].tree.heads.tolist().count(0) == 1
