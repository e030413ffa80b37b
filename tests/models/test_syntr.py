"""SynTr: single-root trees whatever the weights, and losses as the papers have them."""

import itertools
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import Adam

from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.syntr import Graphs, SynTr, build_syntr
from spacy_g2g.models.types import Arcs, ParserModel, Sentence
from spacy_g2g.models.wordpieces import UNKNOWN_TAG
from spacy_g2g.trees.mst import decode
from spacy_g2g.trees.tree import are_trees

from ..layers.test_matrix_tree import TREES, brute_force
from ..trees.reference import maximum_spanning_tree
from ..util import LABELS, TINY_MODEL, initialized_model, randomize, read_treebank, start, tiny_encoder
from .checks import assert_same_parse

SENTENCES = [Sentence([w[0] for w in s], [w[1] for w in s]) for s in read_treebank()]
N_LABELS = len(LABELS)


def make(
    tag_attr: Literal["POS", "TAG"] | None = None, seed: int = 0, **settings: Any
) -> tuple[ParserModel, G2GShim]:
    model = build_syntr(tag_attr=tag_attr, **{**TINY_MODEL, **settings})
    return model, initialized_model(model, seed, N_LABELS)


@pytest.fixture(scope="module")
def model() -> ParserModel:
    return make()[0]


def network_of(model: ParserModel) -> SynTr:
    network = model.shims[0].network
    assert isinstance(network, SynTr)
    return network.eval()


# Trees

words = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=30)


@given(st.lists(words, min_size=1, max_size=6), st.integers(0, 1000))
def test_every_parse_is_a_tree_with_one_root_and_the_root_label_there_alone(
    model: ParserModel, sentences: list[list[str]], seed: int
):
    randomize(model, seed, scale=0.1)
    for parse, sentence in zip(model.predict([Sentence(s) for s in sentences]), sentences, strict=True):
        heads, labels = parse.tree.heads, parse.tree.labels
        assert len(heads) == len(labels) == len(parse.head_probs) == len(parse.label_probs) == len(sentence)
        assert are_trees(heads[None], lengths=np.array([len(heads)])).all()
        assert ((labels == 0) == (heads == 0)).all()
        assert ((labels >= 0) & (labels < N_LABELS)).all()
        for probs in (parse.head_probs, parse.label_probs):
            assert ((probs >= 0) & (probs <= 1 + 1e-6)).all()


# Tags


def test_tags_change_the_scores():
    model, _ = make("POS")
    words = ["she", "saw"]
    first, second = model.predict([Sentence(words, ["PRON", "VERB"]), Sentence(words, ["VERB", "PRON"])])
    assert not np.allclose(first.head_probs, second.head_probs)


def test_missing_and_unknown_tags_have_vectors_of_their_own():
    model, shim = make("TAG")
    assert shim.known_spec.tags is not None
    assert "VERB" in shim.known_spec.tags
    words = ["she", "saw", "cats"]
    sentences = [Sentence(words, ["PRON", tag, "NOUN"]) for tag in ("VERB", "", "NEW", "NEWER")]
    scores = [model.predict([sentence])[0].head_probs for sentence in sentences]
    for first, second in itertools.combinations(scores[:3], 2):
        assert not np.allclose(first, second)
    assert np.array_equal(scores[2], scores[3])


def test_a_tag_that_is_seen_once_trains_the_vector_of_unknown_tags():
    model = build_syntr(tag_attr="TAG", **TINY_MODEL)  # type: ignore[arg-type]
    sentences = [Sentence(["a", "b", "c"], ["X", "X", "ONCE"])]
    shim = start(model, sentences, tiny_encoder(min_frequency=1), n_labels=3)
    assert shim.known_spec.tags == ("X",)
    randomize(model)
    _, backprop = model.begin_update((sentences, [Arcs(np.array([2, 0, 2]), np.array([1, 0, 1]))]))
    backprop(None)
    gradient = shim.network.tags.weight.grad
    assert gradient[UNKNOWN_TAG].abs().sum() > 0


def test_without_tag_attr_tags_are_not_read():
    model, shim = make()
    assert shim.spec.tags is None
    first, second = model.predict([Sentence(["a", "b"], ["X", "Y"]), Sentence(["a", "b"], ["", "Z"])])
    assert_same_parse(first, second)


# Loss

GOLD = [
    Arcs(np.array([2, 0, 4, 2]), np.array([1, 0, 2, 3])),
    Arcs(np.array([0, -1]), np.array([0, -1])),  # a missing word
    Arcs(np.array([2, 0, 2]), np.array([5, 0, -1])),  # a missing label
    Arcs(np.array([0, 1]), np.array([0, 0])),  # the root label, where it does not belong
    Arcs(np.array([0, 1]), np.array([4, 2])),  # another label at the root
]
#: Words for each of them.
GOLD_SENTENCES = [Sentence([f"w{i}" for i in range(len(tree.heads))]) for tree in GOLD]


def test_the_loss_is_cross_entropy_of_heads_and_of_labels_at_gold_heads():
    model, shim = make(seed=1)
    network = network_of(model)
    found = network.loss(shim.wordpieces.batch(GOLD_SENTENCES), GOLD)
    expected = sum(_slow_loss(network, shim, s, tree) for s, tree in zip(GOLD_SENTENCES, GOLD, strict=True))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def _slow_loss(network: SynTr, shim: G2GShim, sentence: Sentence, gold: Arcs) -> torch.Tensor:
    """The loss of one sentence, by one word and one head at a time."""
    vectors = network.encode(shim.wordpieces.batch([sentence]))
    arcs, dependents, heads = network.scorer(vectors)
    loss = torch.zeros(())
    for i, (head, label) in enumerate(zip(gold.heads.tolist(), gold.labels.tolist(), strict=True)):
        if head < 0:
            continue
        others = [j for j in range(len(gold.heads) + 1) if j != i + 1]
        total = torch.stack([arcs[0, i, j].exp() for j in others]).sum()
        loss = loss - (arcs[0, i, head] - total.log())
        if head > 0 and label > 0:
            scores = network.scorer.labels(dependents[0, i : i + 1], heads=heads[0, head : head + 1])[0]
            loss = loss - (scores[label - 1] - scores.exp().sum().log())
    return loss


def test_the_loss_of_trees_is_that_of_all_trees_that_agree():
    model, shim = make(seed=1, head_loss="tree", distances=True)
    network, batch = network_of(model), shim.wordpieces.batch(GOLD_SENTENCES)
    local = network_of(make(seed=1, distances=True)[0])
    difference = network.loss(batch, GOLD) - local.loss(batch, GOLD)
    arcs = local.score(batch).arcs
    expected = 0.0
    for i, tree in enumerate(GOLD):
        n = len(tree.heads)
        log_probs = arcs[i, :n, : n + 1].log_softmax(-1).double()
        expected += brute_force(log_probs)[0] - brute_force(log_probs, tree.heads.tolist())[0]
        expected += sum(log_probs[j, head] for j, head in enumerate(tree.heads) if head >= 0)
    torch.testing.assert_close(difference.double(), expected, rtol=1e-4, atol=1e-4)
    assert abs(difference) > 0.1


@pytest.mark.parametrize("heads", [[0, 0, 1], [2, 1, 0], [0, 0, -1]])
def test_heads_of_no_tree_are_learned_one_by_one(heads: list[int]):
    gold = [Arcs(np.array(heads), np.full(3, -1)), Arcs(np.array([-1, -1, -1]), np.full(3, -1))]
    sentences = [Sentence(["a", "b", "c"]), Sentence(["d", "e", "f"])]
    losses = [make(head_loss=loss)[0].begin_update((sentences, gold))[0] for loss in ("local", "tree")]
    assert losses[0] == pytest.approx(losses[1])


def test_a_parser_by_trees_gives_the_marginal_probabilities_of_heads():
    model, shim = make(head_loss="tree")
    randomize(model, 3, scale=0.3)
    arcs = network_of(model).score(shim.wordpieces.batch(SENTENCES[:4])).arcs.detach().double()
    for i, parse in enumerate(model.predict(SENTENCES[:4])):
        n = len(parse.tree.heads)
        if n in TREES:
            _, expected = brute_force(arcs[i, :n, : n + 1])
            found = expected[range(n), parse.tree.heads]
            np.testing.assert_allclose(parse.head_probs, found, rtol=1e-4, atol=1e-6)
            best = expected.argmax(1).numpy()
            if are_trees(best[None], lengths=np.array([n])).all():
                assert parse.tree.heads.tolist() == best.tolist()


def test_the_loss_of_trees_stays_finite_at_a_high_rate():
    model, shim = make(head_loss="tree")
    optimizer = Adam(0.1, L2=0.0)
    trees = [Arcs(np.array([w[2] for w in s]), np.array([int(w[2] > 0) for w in s])) for s in read_treebank()]
    losses = []
    for _ in range(60):
        loss, backprop = model.begin_update((SENTENCES, trees))
        backprop(None)
        model.finish_update(optimizer)
        losses.append(loss)
    assert min(losses) > -1e-3
    assert all(weight.isfinite().all() for weight in shim.network.parameters())


def test_gold_without_any_label_has_a_loss_with_a_gradient():
    model, _ = make()
    tree = Arcs(np.array([2, 0]), np.array([-1, -1]))
    loss, backprop = model.begin_update(([Sentence(["a", "b"])], [tree]))
    backprop(None)
    assert loss > 0
    assert network_of(model).scorer.arc_weight.grad is not None


# Decoding


def decode_heads(arcs: torch.Tensor, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    log_probs = arcs.log_softmax(-1).numpy()
    graphs = Graphs.from_heads(decode(log_probs, lengths=lengths), log_probs, lengths, torch.zeros(0))
    return graphs.heads, graphs.head_probs


@given(st.integers(1, 9), st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]))
def test_arg_max_is_used_where_it_is_the_best_tree_and_else_the_best_tree_is_found(
    n: int, seed: int, scale: float
):
    generator = torch.Generator().manual_seed(seed)
    lengths = np.array([n, max(1, n - 2), 1])
    arcs = torch.randn(3, n, n + 1, generator=generator) * scale
    for i, length in enumerate(lengths):
        arcs[i, :, length + 1 :] = -torch.inf
        arcs[i, range(n), range(1, n + 1)] = -torch.inf
    found, probs = decode_heads(arcs, lengths)
    assert are_trees(np.maximum(found, 0), lengths=lengths).all()
    for i, length in enumerate(lengths):
        scores = arcs[i, :length, : length + 1].log_softmax(-1).numpy()
        best = maximum_spanning_tree(scores)
        own = scores[np.arange(length), found[i, :length]]
        assert own.sum() == pytest.approx(scores[np.arange(length), best].sum(), abs=1e-5)
        np.testing.assert_allclose(probs[i, :length], np.exp(own), rtol=1e-5)
        assert (found[i, length:] == -1).all()
