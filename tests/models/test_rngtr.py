"""RNGTr: as a loop over one sentence at a time, whatever the initial graph and the batch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import Adam

from spacy_g2g.models.rngtr import RNGTr, build_rngtr
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.start import checkpoint_of
from spacy_g2g.models.syntr import Scores
from spacy_g2g.models.types import Arcs, Parse, ParserModel, Sentence, pad_trees
from spacy_g2g.trees.tree import are_trees, is_tree

from ..trees.reference import maximum_spanning_tree
from ..util import TINY_MODEL, initialized_model, read_treebank, tries
from .checks import assert_same_parse
from .systems import network_of
from .test_syntr import GOLD

N_LABELS, N_INITIAL = 6, 3
ROWS = read_treebank()
WORDS = [[word[0] for word in row] for row in ROWS]
TREES = [Arcs(np.array([w[2] for w in row]), np.arange(len(row)) % 5 + 1) for row in ROWS]


def make(seed: int = 0, n_initial: int = N_INITIAL, **settings: Any) -> tuple[ParserModel, G2GShim]:
    """A model that reads graphs so much that they change from pass to pass."""
    model = build_rngtr(**{**TINY_MODEL, **settings})
    shim = initialized_model(model, seed, N_LABELS, n_initial)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in shim.network.named_parameters():
            if ".relation_" in name:
                parameter.add_(torch.randn(parameter.shape, generator=generator))
    return model, shim


def random_graph(n: int, rng: np.random.Generator) -> Arcs:
    return Arcs(rng.integers(-1, n + 1, n), rng.integers(-1, N_LABELS + N_INITIAL, n))


def mixed_sentences(seed: int = 0) -> list[Sentence]:
    """The ten sentences twice, and over-long ones: a third each with no graph, a tree and a random graph."""
    rng = np.random.default_rng(seed)
    words = [*WORDS, *WORDS, [f"w{i}" for i in range(90)], ["the cat sat"] * 30]
    sentences = []
    for i, row in enumerate(words):
        tree = TREES[i % 10] if i < 20 else None
        graph = [None, tree, random_graph(len(row), rng)][i % 3]
        sentences.append(Sentence(row, graph=graph))
    return sentences


@pytest.fixture(scope="module")
def made() -> tuple[ParserModel, G2GShim]:
    return make(iterations=4)


@contextmanager
def counted_rows(shim: G2GShim) -> Iterator[list[int]]:
    """The rows of each encoder pass."""
    rows: list[int] = []
    hook = shim.network.encoder.register_forward_hook(lambda _, args, __: rows.append(len(args[0])))
    yield rows
    hook.remove()


def passes(parses: Sequence[Parse]) -> list[int]:
    return [len(parse.iterations) for parse in parses]


# One sentence at a time


def literal_arg_max(network: RNGTr, scores: Scores, n: int) -> tuple[Arcs, list[float], list[float]]:
    """The best head of each word of one sentence, and the best label at it."""
    heads = [int(scores.arcs[0, i].argmax()) for i in range(n)]
    return literal_labels(network, scores, heads)


@torch.no_grad()
def literal_labels(
    network: RNGTr, scores: Scores, heads: Sequence[int]
) -> tuple[Arcs, list[float], list[float]]:
    labels, head_probs, label_probs = [], [], []
    for i, head in enumerate(heads):
        head_probs.append(float(scores.arcs[0, i].softmax(-1)[head]))
        of_labels = network.scorer.labels(
            scores.dependents[0, i : i + 1], heads=scores.heads[0, head : head + 1]
        )[0]
        labels.append(int(of_labels.argmax()) + 1 if head else 0)
        label_probs.append(float(of_labels.softmax(-1).max()) if head else 1.0)
    return Arcs(np.array(heads), np.array(labels)), head_probs, label_probs


def same(first: Arcs | None, second: Arcs) -> bool:
    return first is not None and bool(
        (first.heads == second.heads).all() and (first.labels == second.labels).all()
    )


def literal_passes(network: RNGTr, shim: G2GShim, sentence: Sentence) -> Iterator[tuple[Scores, Arcs, bool]]:
    """The scores of each pass over one sentence, its arg-max graph, and whether it was the last pass."""
    graph = sentence.graph
    for t in range(1, network.iterations + 1):
        batch = shim.wordpieces.batch([replace(sentence, graph=graph)])
        scores = network.score(batch, network.edges(batch))
        new, _, _ = literal_arg_max(network, scores, len(sentence.words))
        last = t == network.iterations or (network.stop and same(graph, new))
        yield scores, new, last
        if last:
            return
        graph = new


def literal_parse(network: RNGTr, shim: G2GShim, sentence: Sentence) -> list[Parse]:
    """What each pass gives; the last one a tree."""
    found = []
    for scores, graph, last in literal_passes(network, shim, sentence):
        heads = graph.heads.tolist()
        if last:
            heads = maximum_spanning_tree(scores.arcs[0].log_softmax(-1).numpy()).tolist()
        tree, head_probs, label_probs = literal_labels(network, scores, heads)
        fit = shim.wordpieces.batch([sentence]).coverages[0]
        found.append(Parse(tree, np.array(head_probs), np.array(label_probs), fit))
    return found


@pytest.mark.parametrize("stop", [True, False])
def test_a_parse_is_that_of_a_loop_over_one_sentence(stop: bool):
    model, shim = make(seed=1, iterations=4, stop=stop)
    network = network_of(shim)
    sentences = mixed_sentences()
    parses = model.predict(sentences)
    with torch.inference_mode():
        for sentence, parse in zip(sentences, parses, strict=True):
            expected = literal_parse(network, shim, sentence)
            assert_same_parse(parse, expected[-1])
            assert len(parse.iterations) == len(expected)
            for found, one in zip(parse.iterations, expected, strict=True):
                assert_same_parse(found, one)
    if stop:
        assert len(set(passes(parses))) > 1
    assert any(not is_tree(graph.tree.heads) for parse in parses for graph in parse.iterations)


@pytest.mark.parametrize("stop", [True, False])
def test_the_loss_is_that_of_a_loop_over_one_sentence(stop: bool):
    model, shim = make(seed=1, iterations=4, stop=stop)
    network = network_of(shim)
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(4)]
    golds = [*GOLD, *TREES]
    sentences = [
        Sentence(WORDS[i - len(GOLD)] if i >= len(GOLD) else words[: len(gold.heads)])
        for i, gold in enumerate(golds)
    ]
    sentences = [
        replace(s, graph=[None, random_graph(len(s.words), rng), gold][i % 3])
        for i, (s, gold) in enumerate(zip(sentences, golds, strict=True))
    ]
    losses = []
    n_passes = []
    for sentence, gold in zip(sentences, golds, strict=True):
        heads, labels = pad_trees([gold], len(sentence.words))
        found = [
            network.loss_of_scores(scores, heads=heads, labels=labels)
            for scores, _, _ in literal_passes(network, shim, sentence)
        ]
        losses.append(torch.stack(found).sum())
        n_passes.append(len(found))
    expected = torch.stack(losses).sum().detach()
    torch.testing.assert_close(
        network.loss(shim.wordpieces.batch(sentences), golds).detach(), expected, rtol=1e-5, atol=1e-4
    )
    assert model.begin_update((sentences, golds))[0] == pytest.approx(float(expected), rel=1e-5)
    assert (len(set(n_passes)) > 1) == stop


def test_a_loss_has_the_gradient_of_its_passes_one_by_one():
    _, shim = make(seed=5, iterations=3, stop=False)
    network = network_of(shim)
    sentence, gold = Sentence(WORDS[0], graph=random_graph(5, np.random.default_rng(3))), TREES[0]
    network.loss(shim.wordpieces.batch([sentence]), [gold]).backward()
    found = {name: p.grad for name, p in network.named_parameters() if p.grad is not None}
    network.zero_grad(set_to_none=True)
    graphs = [sentence.graph, *(graph for _, graph, _ in literal_passes(network, shim, sentence))][:3]
    network.iterations = 1
    for graph in graphs:
        network.loss(shim.wordpieces.batch([replace(sentence, graph=graph)]), [gold]).backward()
    expected = {name: p.grad for name, p in network.named_parameters() if p.grad is not None}
    assert not same(graphs[1], graphs[2] or TREES[0])
    assert set(found) == set(expected)
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-4)
    relations = [name for name in found if ".relation_" in name]
    assert all(found[name].abs().sum() > 0 for name in relations)  # type: ignore[union-attr]
    assert relations


def test_graphs_between_passes_are_decoded_without_a_gradient(monkeypatch: pytest.MonkeyPatch):
    model, shim = make(iterations=3, stop=False)
    network = network_of(shim)
    enabled = []
    arg_max = network.arg_max
    monkeypatch.setattr(
        network, "arg_max", lambda *args: (enabled.append(torch.is_grad_enabled()), arg_max(*args))[1]
    )
    model.begin_update(([Sentence(WORDS[0])], [TREES[0]]))
    assert enabled == [False, False]


# Stopping


def test_finished_sentences_leave_the_batch(made: tuple[ParserModel, G2GShim]):
    model, shim = made
    sentences = [Sentence(words, graph=tree) for words, tree in zip(WORDS, TREES, strict=True)]
    with counted_rows(shim) as rows:
        n_passes = passes(model.predict(sentences))
    assert rows == [sum(n >= t for n in n_passes) for t in range(1, max(n_passes) + 1)]
    assert len(set(rows)) > 1
    with counted_rows(shim) as rows_in_training:
        model.begin_update((sentences, TREES))
    assert rows_in_training == rows


def test_a_graph_that_a_pass_leaves_as_it_is_needs_no_more_passes(made: tuple[ParserModel, G2GShim]):
    model, _ = made
    sentences = mixed_sentences()
    stopped = 0
    for sentence, parse in zip(sentences, model.predict(sentences), strict=True):
        if 1 < len(parse.iterations) < 4:
            graph = parse.iterations[-2].tree
            (again,) = model.predict([replace(sentence, graph=graph)])
            assert passes([again]) == [1]
            assert_same_parse(again, parse)
            stopped += 1
    assert stopped


def test_labels_alone_keep_a_sentence_from_stopping(made: tuple[ParserModel, G2GShim]):
    model, _ = made
    parses = model.predict([Sentence(words) for words in WORDS])
    i = next(i for i, parse in enumerate(parses) if 1 < len(parse.iterations) < 4)
    fixed = parses[i].iterations[-2].tree
    other = Arcs(fixed.heads, np.where(np.arange(len(fixed.labels)) == 0, -1, fixed.labels))
    finished, going_on = model.predict([Sentence(WORDS[i], graph=graph) for graph in (fixed, other)])
    assert len(finished.iterations) == 1
    assert len(going_on.iterations) > 1


def test_an_empty_graph_never_stops_in_the_first_pass(made: tuple[ParserModel, G2GShim]):
    model, _ = made
    empty = Arcs(np.full(1, -1), np.full(1, -1))
    with_empty, without = model.predict([Sentence(["yes"], graph=empty), Sentence(["yes"])])
    # The only tree of one word: the second pass finds it again.
    assert passes([with_empty, without]) == [2, 2]


@pytest.mark.parametrize("iterations", [1, 3])
def test_without_stopping_there_are_as_many_passes_as_wanted(iterations: int):
    model, shim = make(iterations=iterations, stop=False)
    sentences = [Sentence(words, graph=tree) for words, tree in zip(WORDS, TREES, strict=True)]
    with counted_rows(shim) as rows:
        parses = model.predict(sentences)
    assert passes(parses) == [iterations] * 10
    assert rows == [10] * iterations
    with counted_rows(shim) as rows:
        model.begin_update((sentences, TREES))
    assert rows == [10] * iterations


def test_stopping_gives_the_trees_that_more_passes_give():
    sentences = mixed_sentences()
    stopping = make(seed=2, iterations=4)[0].predict(sentences)
    going_on = make(seed=2, iterations=4, stop=False)[0].predict(sentences)
    assert min(passes(stopping)) < 4
    for found, expected in zip(stopping, going_on, strict=True):
        assert_same_parse(found, expected)


# Trees


@tries(30)
@given(st.data())
def test_whatever_the_graph_the_parse_is_a_tree_and_passes_are_kept(
    made: tuple[ParserModel, G2GShim], data: st.DataObject
):
    model, _ = made
    sentences = []
    for _ in range(data.draw(st.integers(1, 4))):
        words = data.draw(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=14))
        n = len(words)
        heads = data.draw(st.lists(st.integers(-1, n), min_size=n, max_size=n))
        labels = data.draw(st.lists(st.integers(-1, N_LABELS + N_INITIAL - 1), min_size=n, max_size=n))
        sentences.append(Sentence(words, graph=Arcs(np.array(heads), np.array(labels))))
    for sentence, parse in zip(sentences, model.predict(sentences), strict=True):
        n = len(sentence.words)
        assert are_trees(parse.tree.heads[None], lengths=np.array([n])).all()
        assert 1 <= len(parse.iterations) <= 4
        last = parse.iterations[-1]
        assert_same_parse(last, parse)
        for graph in parse.iterations:
            heads, labels = graph.tree.heads, graph.tree.labels
            assert graph is last or graph.iterations == ()
            assert heads.shape == labels.shape == graph.head_probs.shape == graph.label_probs.shape == (n,)
            assert ((heads >= 0) & (heads <= n) & (heads != np.arange(1, n + 1))).all()
            assert ((labels == 0) == (heads == 0)).all()
            assert ((labels >= 0) & (labels < N_LABELS)).all()
            for probs in (graph.head_probs, graph.label_probs):
                assert ((probs >= 0) & (probs <= 1 + 1e-6)).all()


# Training and keeping


def test_an_update_is_one_step_of_the_optimizer(monkeypatch: pytest.MonkeyPatch):
    model, shim = make(iterations=3, stop=False)
    steps = []
    step = torch.optim.AdamW.step
    monkeypatch.setattr(
        torch.optim.AdamW, "step", lambda self, *args: (steps.append(1), step(self, *args))[1]
    )
    batch = [Sentence(words) for words in WORDS], TREES
    loss, backprop = model.begin_update(batch)
    backprop(None)
    assert not steps
    shim.finish_update(Adam(0.01))
    assert len(steps) == 1
    assert model.begin_update(batch)[0] < loss


@pytest.mark.parametrize("resized", [False, True])
def test_a_kept_model_parses_alike(resized: bool):
    model, shim = make(seed=1)
    if resized:
        shim.resize_labels(N_LABELS + 2)
    kept = build_rngtr(**TINY_MODEL).from_bytes(model.to_bytes())  # type: ignore[arg-type]
    assert get_shim(kept).spec == shim.spec
    sentences = mixed_sentences()
    for found, expected in zip(kept.predict(sentences), model.predict(sentences), strict=True):
        assert_same_parse(found, expected)
        assert len(found.iterations) == len(expected.iterations)


def test_weights_of_a_model_with_another_graph_input_are_an_error():
    data = make()[0].to_bytes()
    with pytest.raises(ValueError, match=r"E406(.|\n)*relation_"):
        build_rngtr(graph_input=False, **TINY_MODEL).from_bytes(data)  # type: ignore[arg-type]


def test_its_checkpoint_is_an_encoder_without_graph_input():
    _, shim = make()
    checkpoint = checkpoint_of(shim)
    assert checkpoint.config.n_relations == 0
    assert not any("relation" in name for name in checkpoint.weights)
    assert "embeddings.pieces.weight" in checkpoint.weights
