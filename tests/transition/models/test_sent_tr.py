"""SentTr: as a loop over the states of one sentence, with no more encoder passes than it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from spacy_g2g.layers.edges import Edges
from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.types import Arcs, Sentence
from spacy_g2g.transition.models.sent_tr import SentTr
from spacy_g2g.transition.parsing import action_table as arc_actions
from spacy_g2g.transition.parsing.arc_standard import Action, apply

from ...models.systems import GOLD, SENTENCES, make, oracle_of
from ..reference import PlainState, plain_oracle

HIDDEN = 32
N_WORDS = [len(tree.heads) for tree in GOLD]


def sent_tr(**settings: Any) -> tuple[G2GShim, SentTr]:
    _, shim = make("SentTr" if settings.get("graph_input") is False else "SentTr+G2GTr", seed=2, **settings)
    network = shim.network.eval()
    assert isinstance(network, SentTr)
    return shim, network


# One state at a time


def encode(
    shim: G2GShim, network: SentTr, sentence: Sentence, heads: dict[int, int], labels: dict[int, int]
) -> Tensor:
    """The vectors of ROOT and the words of one sentence with a partial tree: [words + 1, width]."""
    batch = shim.wordpieces.batch([sentence])
    words = batch.words[0].tolist()
    first = {word: words.index(word) for word in range(len(sentence.words) + 1)}
    arcs = [(first[head], first[word], labels[word] + 2) for word, head in heads.items()]
    arcs += [(first[word], i, 1) for i, word in enumerate(words) if word >= 0 and i != first[word]]
    extra, edges = None, None
    if network.tags is not None:
        assert batch.tag_ids is not None
        extra = network.tags(torch.from_numpy(batch.tag_ids))
    if network.graph_input:
        rows = [(0, head, dependent, 0) for head, dependent, _ in arcs]
        rows += [(0, dependent, head, 1) for head, dependent, _ in arcs]
        edges = Edges(*torch.tensor(rows).reshape(-1, 4).T)  # type: ignore[arg-type]
        # The vector of no label; training leaves it at zero.
        of_labels = network.label_embeddings.weight[0].repeat(1, len(words), 1)
        for _, dependent, row in arcs:
            of_labels[0, dependent] = network.label_embeddings.weight[row]
        extra = of_labels if extra is None else extra + of_labels
    vectors = network.encoder(torch.from_numpy(batch.piece_ids), None, extra=extra, edges=edges)[0]
    found: Tensor = vectors[list(first.values())]
    return found


def classify(network: SentTr, slots: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Scores of actions, [4], and of labels, [labels, 2], from the vectors of s2, s1 and b1."""
    classifiers = network.classifiers
    weights = list(classifiers.project_slots.weight.split(HIDDEN))
    exist = torch.cat(weights[:3], 1) @ torch.cat(slots) + classifiers.hidden_bias[0]
    relation = torch.cat(weights[3:], 1) @ torch.cat(slots[:2]) + classifiers.hidden_bias[1]
    return classifiers.exist(exist.relu()), classifiers.relation(relation.relu()).view(-1, 2)


def literal_loss(shim: G2GShim, network: SentTr, sentence: Sentence, gold: Arcs) -> Tensor:
    """The loss of one sentence; its vectors are those of the tree as of the last refresh."""
    state, loss = PlainState(len(sentence.words)), torch.zeros(())
    encoded = None
    for action in plain_oracle(gold.heads.tolist()):
        n_arcs = len(state.heads)
        if encoded is None or (network.graph_input and n_arcs - encoded >= network.refresh_every):
            vectors, encoded = encode(shim, network, sentence, state.heads, state.labels), n_arcs
        s2, s1 = [None, *state.stack][-2:]
        b1 = state.buffer[0] if state.buffer else None
        slots = [network.empty if word is None else vectors[word] for word in (s2, s1, b1)]
        exist, relation = classify(network, slots)
        valid = [a for a in Action if state.is_valid(a, network.settings.swap)]
        loss = loss - (exist[action] - exist[valid].logsumexp(0))
        label = -1
        if action in (Action.LEFT_ARC, Action.RIGHT_ARC):
            label = int(gold.labels[(s2 if action == Action.LEFT_ARC else s1) - 1])
            if label > 0:
                scores = relation[:, 0 if action == Action.LEFT_ARC else 1]
                loss = loss - (scores[label - 1] - scores.logsumexp(0))
        state.apply(action, label)
    return loss


@torch.no_grad()
@pytest.mark.parametrize(
    "settings",
    [
        {"graph_input": False},
        {"graph_input": False, "tag_attr": "POS"},
        {"refresh_every": 1},
        {"refresh_every": 1, "tag_attr": "POS"},
        {"refresh_every": 3},
    ],
    ids=str,
)
def test_the_loss_is_that_of_each_state_by_itself(settings: dict[str, Any]):
    shim, network = sent_tr(states_per_sentence=None, **settings)
    # Words of several pieces among them.
    sentences = [Sentence([*s.words[:-1], "the cat"], s.tags) for s in SENTENCES]
    assert any(len(pieces) > 1 for s in shim.wordpieces.split(sentences) for pieces in s)
    expected = sum(
        (literal_loss(shim, network, s, t) for s, t in zip(sentences, GOLD, strict=True)), torch.zeros(())
    )
    found = network.loss(shim.wordpieces.batch(sentences), GOLD)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_without_graph_input_there_are_no_weights_for_it():
    _, network = sent_tr(graph_input=False)
    names = dict(network.named_parameters())
    assert not [name for name in names if "relation_" in name or "label_embeddings" in name]
    _, network = sent_tr()
    tables = [weight for name, weight in network.named_parameters() if ".relation_" in name]
    assert tables
    assert {len(table) for table in tables} == {2}


def test_labels_of_the_partial_tree_change_the_scores():
    shim, network = sent_tr(states_per_sentence=None)
    sentence, heads = Sentence(["a", "b", "c"]), np.array([2, 0, 2])
    losses = []
    for label in (1, 2):
        actions, steps = oracle_of(network, [Arcs(heads, np.array([label, 0, 3]))])
        # The second arc is scored alone: the first one is in its tree.
        weights = np.zeros(actions.shape, dtype=np.float32)
        weights[0, -2] = 1.0
        loss = network.loss_of_samples(shim.wordpieces.batch([sentence]), steps, weights)
        losses.append(float(loss.detach()))
    assert losses[0] != pytest.approx(losses[1], abs=1e-6)


# Encoder passes


@contextmanager
def counted(network: SentTr) -> Iterator[tuple[list[int], list[int]]]:
    """The rows of each encoder pass, and one number for each step."""
    rows: list[int] = []
    steps: list[int] = []

    def counted_apply(states: Any, actions: Any, labels: Any = None) -> None:
        steps.append(len(rows))
        apply(states, actions, labels)

    hook = network.encoder.register_forward_hook(lambda _, args, __: rows.append(len(args[0])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_actions, "apply", counted_apply)
        yield rows, steps
    hook.remove()


@torch.inference_mode()
@pytest.mark.parametrize("beam_width", [1, 3])
def test_without_graph_input_each_sentence_is_encoded_once(beam_width: int):
    shim, network = sent_tr(graph_input=False, beam_width=beam_width)
    with counted(network) as (rows, _):
        network.parse(shim.wordpieces.batch(SENTENCES))
    assert rows == [len(SENTENCES)]


@torch.inference_mode()
@pytest.mark.parametrize("refresh_every", [1, 2, 4])
def test_with_graph_input_each_sentence_is_encoded_once_for_so_many_arcs(refresh_every: int):
    shim, network = sent_tr(refresh_every=refresh_every)
    with counted(network) as (rows, steps):
        network.parse(shim.wordpieces.batch(SENTENCES))
    assert rows[0] == len(SENTENCES)
    # After its last arc a sentence is finished.
    assert sum(rows) == sum(-(-n // refresh_every) for n in N_WORDS)
    passes = np.diff([0, *steps])
    assert passes.max() == 1
    assert (passes == 0).any()


@torch.inference_mode()
def test_with_a_beam_each_step_has_one_encoder_pass_at_most():
    shim, network = sent_tr(beam_width=3)
    with counted(network) as (rows, steps):
        network.parse(shim.wordpieces.batch(SENTENCES))
    assert np.diff([0, *steps]).max() == 1
    assert rows[0] == len(SENTENCES)
    assert max(rows) <= 3 * len(SENTENCES)


@pytest.mark.parametrize(("n", "refresh_every"), [(1, 1), (3, 1), (3, 2), (None, 1), (None, 2)])
def test_training_encodes_each_sampled_partial_tree_once(n: int | None, refresh_every: int):
    shim, network = sent_tr(states_per_sentence=n, refresh_every=refresh_every)
    with counted(network) as (rows, _):
        network.loss(shim.wordpieces.batch(SENTENCES), GOLD)
    versions = [-(-n_words // refresh_every) for n_words in N_WORDS]
    assert rows == [sum(v if n is None else min(v, n) for v in versions)]


def test_added_labels_have_zero_embeddings_and_leave_the_others():
    shim, network = sent_tr()
    before = network.label_embeddings.weight.detach().clone()
    shim.resize_labels(8)
    after = network.label_embeddings.weight
    assert after.shape == (10, 32)
    assert torch.equal(after[: len(before)], before)
    assert not after[len(before) :].any()
