"""What every architecture keeps to, whatever is inside it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.types import Arcs, ParserModel, Sentence
from spacy_g2g.trees.tree import are_trees

from ..util import ALL_LEVERS, LABELS, PAPER_ROWS, STACK_ROWS, mostly_slow
from . import systems, test_rngtr, test_syntr
from .checks import assert_batches_change_nothing
from .systems import GOLD, KINDS, SENTENCES

#: Makes an initialized model with random weights, and its shim, for each architecture or row of the papers.
MAKE: dict[str, Callable[..., tuple[ParserModel, G2GShim]]] = {
    "SynTr": test_syntr.make,
    "SynTr by trees": partial(test_syntr.make, head_loss="tree"),
    "RNGTr": test_rngtr.make,
    **{row: partial(systems.make, row) for row in systems.ROWS},
}
GREEDY = [(row, 1) for row in (*PAPER_ROWS, "Stack-a", "Stack-d")]
WIDE_BEAMS = [("SentTr+G2GTr", 3), ("StateTr+G2GTr+C", 3), ("Stack-bh", 4)]
WITH_BEAMS = [(row, beam_width) for row in (*KINDS, "Stack-bh") for beam_width in (1, 4)]


@pytest.mark.parametrize(
    ("name", "settings"),
    [("SynTr", {}), ("RNGTr", {"iterations": 4}), *((row, {"beam_width": n}) for row, n in WITH_BEAMS)],
)
def test_no_sentences_have_no_parses_and_one_word_is_the_root(name: str, settings: dict[str, Any]):
    model, _ = MAKE[name](**settings)
    assert model.predict([]) == []
    graph = Arcs(np.array([1]), np.array([8])) if name == "RNGTr" else None
    (parse,) = model.predict([Sentence(["yes"], graph=graph)])
    assert (parse.tree.heads.tolist(), parse.tree.labels.tolist()) == ([0], [0])
    assert (parse.head_probs.tolist(), parse.label_probs.tolist()) == ([1.0], [1.0])


# Batches


@pytest.mark.parametrize(
    ("name", "settings"),
    [("SynTr", {}), ("SynTr", ALL_LEVERS), ("RNGTr", {"iterations": 4, **ALL_LEVERS, "head_loss": "tree"})],
)
def test_a_parse_of_a_graph_parser_depends_on_nothing_else_in_its_batch(name: str, settings: dict[str, Any]):
    model, _ = MAKE[name](seed=3, **settings)
    sentences = test_rngtr.mixed_sentences(1)
    parses = assert_batches_change_nothing(model, sentences)
    assert {parse.coverage for parse in parses} == {"whole", "windows", "truncated"}


@pytest.mark.parametrize(
    "row_and_width",
    mostly_slow(
        [*GREEDY, *WIDE_BEAMS],
        [("SentTr", 1), *WIDE_BEAMS],
    ),
    ids=str,
)
def test_a_parse_of_a_transition_parser_depends_on_nothing_else_in_its_batch(
    row_and_width: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    row, beam_width = row_and_width
    monkeypatch.setattr("spacy_g2g.transition.models.action_decoder.MAX_HYPOTHESES", {"cpu": 12})
    tags = {} if row in STACK_ROWS else {"tag_attr": "POS"}
    model, _ = MAKE[row](seed=3, beam_width=beam_width, n_positions=20, **tags)
    # Too many words, and words of too many pieces, for 20 positions.
    long = [Sentence([f"w{i}" for i in range(18)]), Sentence(["the cat sat"] * 12)]
    parses = assert_batches_change_nothing(model, [*SENTENCES[3:9], *long], atol=1e-4)
    if row in STACK_ROWS:
        assert [parse.coverage for parse in parses[-2:]] == ["windows", "truncated"]
    for parse in parses:
        assert are_trees(parse.tree.heads[None], lengths=np.array([len(parse.tree.heads)])).all()
        assert ((parse.tree.labels == 0) == (parse.tree.heads == 0)).all()
    assert len({str((parse.tree.heads, parse.tree.labels)) for parse in parses}) > 4


# Loss


@pytest.mark.parametrize("name", ["SynTr", *KINDS])
def test_the_loss_of_a_batch_is_the_sum_over_its_sentences(name: str):
    if name == "SynTr":
        (model, _), sentences, gold = MAKE[name](seed=2), test_syntr.GOLD_SENTENCES, test_syntr.GOLD
    else:
        model, shim = MAKE[name](seed=2, states_per_sentence=None)
        numbers = systems.learnable(systems.has_swap(systems.network_of(shim)))
        sentences, gold = [SENTENCES[i] for i in numbers], [GOLD[i] for i in numbers]
    together, _ = model.begin_update((sentences, gold))
    alone = [model.begin_update(([s], [t]))[0] for s, t in zip(sentences, gold, strict=True)]
    assert together == pytest.approx(sum(alone), rel=1e-5 if name == "SynTr" else 1e-4)
    assert len(set(alone)) == len(alone)


@pytest.mark.parametrize("row", ["SentTr", "Stack-c"])
@pytest.mark.parametrize("swap", [True, False])
def test_trees_that_an_oracle_can_build_can_be_learned(row: str, swap: bool):
    model, _ = MAKE[row](swap=swap)
    needs_labels = row == "Stack-c"
    cases = [
        ([2, 0], [1, 0], True),
        ([3, 4, 0, 3], [1, 1, 0, 1], swap),  # not projective
        ([2, 0], [-1, 0], not needs_labels),
        ([2, 0], [0, 0], not needs_labels),  # the root label within the tree
        ([2, 0], [1, -1], True),  # the root has its label whatever the gold
        ([2, 0, -1], [1, 0, -1], False),
        ([0, 0], [0, 0], False),
        ([2, 1], [1, 1], False),
        ([], [], False),
    ]
    gold = [Arcs(np.array(heads, dtype=np.int64), np.array(labels)) for heads, labels, _ in cases]
    assert model.attrs["can_learn"](model, gold).tolist() == [expected for *_, expected in cases]
    assert model.attrs["can_learn"](model, []).tolist() == []


# Weights


@pytest.mark.parametrize("row", [*KINDS, "Stack-d"])
def test_all_weights_have_a_gradient(row: str):
    model, shim = MAKE[row](seed=2, **({} if row in KINDS else {"shift_labels": 5}))
    numbers = systems.learnable(systems.has_swap(systems.network_of(shim)))
    _, backprop = model.begin_update(([SENTENCES[i] for i in numbers], [GOLD[i] for i in numbers]))
    backprop(None)
    gradients = {name: weight.grad for name, weight in shim.network.named_parameters()}
    # Where CLS alone is read, there are no empty slots.
    reads_cls = row in PAPER_ROWS and PAPER_ROWS[row][1].get("output") == "cls"
    assert [name for name, grad in gradients.items() if grad is None] == (["empty"] if reads_cls else [])
    assert all(torch.isfinite(grad).all() for grad in gradients.values() if grad is not None)


@pytest.mark.parametrize("row", [*KINDS, "Stack-bh"])
def test_added_labels_leave_trees_and_can_be_learned_and_saved(row: str):
    model, shim = MAKE[row](seed=1)
    network = systems.network_of(shim)
    if row in KINDS:
        with torch.no_grad():
            # As after training: the labels known so far have scores above zero.
            network.classifiers.relation.bias.add_(10.0)
    before = model.predict(SENTENCES[:4])
    shim.resize_labels(len(LABELS) + 2)
    copied = MAKE[row]()[0].from_bytes(model.to_bytes())
    for other in (model, copied):
        for found, expected in zip(other.predict(SENTENCES[:4]), before, strict=True):
            assert found.tree.heads.tolist() == expected.tree.heads.tolist()
            assert found.tree.labels.tolist() == expected.tree.labels.tolist()
    number = systems.learnable(systems.has_swap(network))[0]
    heads = GOLD[number].heads
    gold = Arcs(heads, np.where(heads == 0, 0, len(LABELS) + 1))
    loss, backprop = model.begin_update(([SENTENCES[number]], [gold]))
    backprop(None)
    assert np.isfinite(loss)
    scorer = network.classifiers.relation if row in KINDS else network.parser.output
    assert scorer.weight.grad is not None


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("SynTr", "scorer.arc_weight"),
        ("SynTr by trees", "scorer.arc_weight"),
        *((row, f"classifiers.{weight}") for row in KINDS for weight in ("exist.weight", "relation.bias")),
        *((row, "encoder.embeddings.norm.weight") for row in KINDS),
        *(("Stack-bh", name) for name in ("parser.output.weight", "root", "parser.decoder.actions.weight")),
    ],
)
def test_weights_that_are_not_numbers_are_an_error_that_says_so(name: str, weight: str):
    model, shim = MAKE[name]()
    with torch.no_grad():
        dict(shim.network.named_parameters())[weight].flatten()[0] = torch.nan
    with pytest.raises(ValueError, match=r"E409.*NaN"):
        model.predict(SENTENCES)
