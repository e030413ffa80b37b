"""The loss of the network of roles, against a plain computation."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from spacy_g2g.models.shim import get_shim
from spacy_g2g.roles.role_network import PRIOR, build_role_network
from spacy_g2g.roles.role_types import PREDICATE_LABEL, RoleInput, Roles, RoleStart

from ..util import TINY_MODEL, randomize, tiny_encoder

CANDIDATES = [(), (0, 2), (1,), (), (0, 1, 2)]
SENTENCES = [
    RoleInput(["a", "b", "c", "d", "e"], candidates=CANDIDATES),
    RoleInput(["b", "a"], candidates=[(0, 1), ()]),
    RoleInput(["c"], candidates=[()]),
]


def roles(n: int, predicates: list, rolesets: list, arguments: list) -> Roles:
    ints = [np.array(values, dtype=np.int64) for values in (predicates, rolesets, arguments)]
    return Roles(n, ints[0], ints[1], ints[2].reshape(-1, 3))


GOLD = [
    roles(5, [1, 4], [2, -1], [[0, 0, 1], [0, 3, 2], [1, 3, 1], [1, 1, 2]]),
    roles(2, [0], [1], []),
    roles(1, [], [], []),
]


@pytest.fixture(scope="module")
def model():
    model = build_role_network(**TINY_MODEL, graph_input=False, precision="float32")
    start = RoleStart(
        labels=(PREDICATE_LABEL, "ARG0", "ARG1"), n_rolesets=3, encoder=tiny_encoder(min_frequency=1)
    )
    model.initialize(X=SENTENCES, Y=start)
    randomize(model)
    return model


def plain_loss(network, batch, gold: list[Roles]) -> float:
    """The loss of a batch, arc by arc."""
    scores, total = network.score(batch, network.edges(batch)), 0.0
    for i, own in enumerate(gold):
        columns = [0, *(own.predicates + 1).tolist()]
        arguments = {(word, columns[place + 1]): role for place, word, role in own.arguments.tolist()}
        for word in range(own.n_words):
            for column in columns:
                if column == word + 1:
                    continue
                is_arc = word in own.predicates if column == 0 else (word, column) in arguments
                total -= F.logsigmoid(scores.arcs[i, word, column] * (1 if is_arc else -1)).item()
        for (word, column), role in arguments.items():
            one = [
                vectors[i, at : at + 1] for vectors, at in ((scores.dependents, word), (scores.heads, column))
            ]
            total += F.cross_entropy(
                network.scorer.labels(one[0], heads=one[1]), torch.tensor([role - 1])
            ).item()
        for word, roleset in zip(own.predicates.tolist(), own.rolesets.tolist(), strict=True):
            candidates = [*batch.sentences[i].candidates[word]]
            if roleset in candidates:
                logits = network.rolesets(scores.heads[i, word + 1])[candidates]
                total -= logits.log_softmax(-1)[candidates.index(roleset)].item()
    return total


def test_the_loss_is_the_sum_of_that_of_each_decision(model):
    shim = get_shim(model)
    loss, _ = model.begin_update((SENTENCES, GOLD))
    expected = 0.0
    network = shim.network.eval()
    for members, batch in shim._batches(shim.wordpieces, SENTENCES):
        expected += plain_loss(network, batch, [GOLD[i] for i in members])
    assert loss == pytest.approx(expected, rel=1e-5)


def test_found_roles_are_the_arcs_above_one_half(model):
    parses = model.predict(SENTENCES)
    shim = get_shim(model)
    for members, batch in shim._batches(shim.wordpieces, SENTENCES):
        arcs = shim.network.score(batch).arcs.sigmoid().detach().numpy()
        for row, i in enumerate(members):
            n, parse = len(SENTENCES[i].words), parses[i]
            assert parse.predicates.tolist() == np.flatnonzero(arcs[row, :n, 0] > 0.5).tolist()
            found = {(parse.predicates[place], word) for place, word, _ in parse.arguments.tolist()}
            pairs = [(head, word) for head in parse.predicates.tolist() for word in range(n)]
            assert found == {(head, word) for head, word in pairs if arcs[row, word, head + 1] > 0.5}
            for word, roleset in zip(parse.predicates, parse.rolesets, strict=True):
                assert roleset in (SENTENCES[i].candidates[word] or (-1,))


def test_arcs_are_improbable_before_training():
    model = build_role_network(**{**TINY_MODEL, "distances": True}, graph_input=False, precision="float32")
    start = RoleStart(labels=(PREDICATE_LABEL, "A"), n_rolesets=3, encoder=tiny_encoder(min_frequency=1))
    model.initialize(X=SENTENCES, Y=start)
    shim = get_shim(model)
    ((_, batch), *_) = shim._batches(shim.wordpieces, SENTENCES)
    arcs = shim.network.score(batch).arcs[int(batch.n_words.argmax())]
    assert arcs[~arcs.isneginf()].detach().numpy() == pytest.approx(PRIOR)
