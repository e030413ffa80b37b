"""Every architecture on a second device: the CPU's results, no more transfers than the algorithm needs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_g2g.amr.data.docs import get_amrs
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.sources import encoder_from_checkpoint

from .amr.util import amr_examples, amr_model, amr_nlp
from .models.test_sources import make_checkpoint
from .parser.test_prior import make_pair
from .parser.test_shared_encoder import shared_nlp as shared_syntr
from .parser.test_stack_transformer import shared_nlp as shared_stack_transformer
from .pretend_device import DEVICE, Transfers
from .util import (
    ALL_LEVERS,
    graph_examples,
    initialized_nlp,
    make_nlp,
    mostly_slow,
    randomize,
    tree_of,
    treebank_docs,
    treebank_examples,
)

#: Transfers that go with each call of a module, by its name; "" is for the whole batch.
Rates = dict[str, int]


class Needs(NamedTuple):
    """Transfers that a batch needs, when it is parsed and when it is learned from.

    uploads: Arrays that the host makes.
    downloads: What the host must know before it can go on.
    """

    parse_uploads: Rates
    update_uploads: Rates
    parse_downloads: Rates
    update_downloads: Rates


GRAPH_BASED = Needs(
    # Pieces, mask, places of words, edges; words' tags. Possible arcs, then sentences and words whose labels
    # are looked up, and the arcs that a tree changes.
    {"encoder": 4, "tags": 1, "scorer": 4},
    # Possible arcs, gold heads, words with labels (3), labels; after each pass but the last words (2).
    {"encoder": 4, "tags": 1, "scorer": 8},
    # The graph of a pass, and the labels of those heads that a tree changes.
    {"scorer": 2},
    # The loss.
    {"": 1},
)
# Also which places hold words; in training, and which heads can be those of a tree.
TREES = GRAPH_BASED._replace(
    parse_uploads={"encoder": 4, "scorer": 5}, update_uploads={"encoder": 4, "scorer": 10}
)
# The graph of a pass says what the next one is given. Pieces that are averaged (2) replace places of words.
# The LSTM needs the order of the words.
REFINING = Needs(
    {"encoder": 5, "tags": 1, "context": 1, "scorer": 4},
    {"encoder": 5, "tags": 1, "context": 1, "scorer": 8},
    {"scorer": 2},
    {"": 1, "scorer": 1},
)
SENT_TR = Needs(
    # Pieces, mask, places of words; with graphs edges, labels, and which hypotheses are encoded again. Slots,
    # valid actions; in a beam the parents.
    {"encoder": 3, "label_embeddings": 3, "classifiers": 3},
    # Slots, valid and gold actions, weights; arcs, their directions, labels, weights.
    {"encoder": 3, "label_embeddings": 2, "classifiers": 8},
    {"classifiers": 1},
    {"": 1},
)
STATE_TR = Needs(
    # Pieces, CLS and SEP, places of words or (2) the pieces that are averaged. Words of states (2), segments,
    # mask; edges and labels. Slots (3), valid actions; in a beam the parents. Actions of the history (2), and
    # whose it is. Words that are composed, relations, arcs (2).
    {"": 5, "encoder": 4, "label_embeddings": 2, "classifiers": 5, "history": 3, "composition": 4},
    # Valid and gold actions, weights, arcs (4). Whose history it is (2). Whose composed words they are.
    {"": 6, "encoder": 4, "label_embeddings": 2, "classifiers": 10, "history": 4, "composition": 5},
    {"classifiers": 1},
    {"": 1},
)
ACTIONS = Needs(
    # Pieces, mask, those that are averaged (2), mask of words. Stack, buffer, last and valid actions,
    # sentences that go on; in a beam the parents.
    {"": 5, "parser.output": 6},
    # Last actions, stack, buffer, steps, valid and gold actions.
    {"": 5, "parser.output": 6},
    {"parser.output": 1},
    {"": 1},
)
# Vectors of words come from the host, and their gradient goes back.
SHARED_GRAPH = GRAPH_BASED._replace(
    parse_uploads={"": 2, "context": 1, "scorer": 4},
    update_uploads={"": 2, "context": 1, "scorer": 6},
    update_downloads={"": 2},
)
SHARED_ACTIONS = ACTIONS._replace(
    parse_uploads={"": 3, "parser.output": 6},
    update_uploads={"": 3, "parser.output": 6},
    update_downloads={"": 2},
)


def initialized_sharing_nlp(make: Callable[[str, Path], Language]) -> Language:
    """Return a pipeline of a tok2vec, and of a parser with random weights that listens to it."""
    nlp = make("tok2vec", Path())
    nlp.initialize(lambda: treebank_examples(nlp))
    randomize(nlp.get_pipe("g2g_parser").model)
    return nlp


def initialized_amr_nlp(**settings: Any) -> Language:
    """Return a pipeline of a parser of AMR with random weights."""
    nlp = amr_nlp(amr_model(**settings))
    nlp.initialize(lambda: amr_examples(nlp))
    randomize(nlp.get_pipe("amr_parser").model)
    return nlp


def make_case(**settings: Any) -> Callable[[], Language]:
    return partial(initialized_nlp, **settings)


#: Cases that `make check` tests.
QUICK_CASES = ("SynTr", "RNGTr", "SentTr", "StateTr, cls", "StackTransformer", "AMR")
CASES: dict[str, tuple[Callable[[], Language], Needs]] = {
    "SynTr": (make_case(tag_attr="POS"), GRAPH_BASED),
    "SynTr, trees": (make_case(distances=True, head_loss="tree"), TREES),
    "SynTr, shared": (partial(initialized_sharing_nlp, shared_syntr), SHARED_GRAPH),
    "RNGTr": (make_case(factory="rng_refiner", **ALL_LEVERS), REFINING),
    "SentTr": (make_case(row="SentTr"), SENT_TR),
    "SentTr+G2GTr": (make_case(row="SentTr+G2GTr"), SENT_TR),
    "SentTr+G2GTr, beam": (make_case(row="SentTr+G2GTr", beam_width=3), SENT_TR),
    "StateTr, graph input": (make_case(row="StateTr+G2GTr", history=None), STATE_TR),
    "StateTr, cls": (make_case(row="StateTr+G2CLSTr", history=None), STATE_TR),
    "StateTr, composition and history": (make_case(row="DepTr+CH", swap=True), STATE_TR),
    "StateTr, all": (make_case(row="StateTr+G2GTr+C", history="labels", beam_width=2), STATE_TR),
    "StackTransformer": (make_case(row="Stack-bh"), ACTIONS),
    "StackTransformer, beam": (make_case(row="Stack-d", beam_width=3), ACTIONS),
    "StackTransformer, shared": (partial(initialized_sharing_nlp, shared_stack_transformer), SHARED_ACTIONS),
    "AMR": (initialized_amr_nlp, ACTIONS),
    "AMR, beam": (partial(initialized_amr_nlp, state_positions=True, beam_width=3), ACTIONS),
}


class Trial:
    """A pipeline whose network is on the CPU, or on the second device where transfers are counted."""

    def __init__(self, case: str, transfers: Transfers | None = None) -> None:
        make, self.needs = CASES[case]
        self.nlp = make()
        self.name = self.nlp.pipe_names[-1]
        self.shim = get_shim(self.nlp.get_pipe(self.name).model)
        self.transfers = transfers
        self.calls: Counter[str] = Counter()
        for name, module in self.shim.network.named_modules():
            module.register_forward_hook(lambda *_, name=name: self.calls.update([name]))
        if transfers is not None:
            self.shim.network.to(DEVICE)

    def parse(self) -> list[Any]:
        """Parse the sentences in one batch; returns trees, or texts of AMRs."""
        docs = [example.predicted for example in self.examples()]
        with self.counted(self.needs.parse_uploads, self.needs.parse_downloads):
            parsed = list(self.nlp.pipe(docs))
        return [get_amrs(doc) if self.name == "amr_parser" else tree_of(doc) for doc in parsed]

    def update(self) -> float:
        """Add the gradient of the sentences as one batch; returns the loss."""
        fix_random_seed(1)
        examples = self.examples()
        with self.counted(self.needs.update_uploads, self.needs.update_downloads):
            # With None spaCy would make an optimizer and a step.
            losses = self.nlp.update(examples, sgd=False, drop=0.0)
        return float(losses[self.name])

    def step(self) -> None:
        """Let the optimizer make a step, which transfers nothing."""
        assert self.shim.n_targets > 0
        with self.counted({}, {}):
            # With its usual eps, Adam turns gradients that are zero up to rounding into long steps.
            self.shim.finish_update(Adam(0.01, grad_clip=1.0, L2=0.1, eps=1e-4))

    def examples(self) -> list[Example]:
        """Return Examples that the parser can learn from, whose predicted Docs it can parse."""
        if self.name == "amr_parser":
            return amr_examples(self.nlp)
        return (
            graph_examples(self.nlp, "wrong") if self.name == "rng_refiner" else treebank_examples(self.nlp)
        )

    @contextmanager
    def counted(self, uploads: Rates, downloads: Rates) -> Iterator[None]:
        """Assert the downloads of the code within, and an upper bound of its uploads, by calls of modules."""
        self.calls.clear()
        if self.transfers is not None:
            self.transfers.take()
        yield
        if self.transfers is None:
            return
        found = dict(zip(("uploads", "downloads"), self.transfers.take(), strict=True))
        for name, rates in (("uploads", uploads), ("downloads", downloads)):
            calls = {module: self.calls[module] if module else 1 for module in rates}
            needed = sum(rate * calls[module] for module, rate in rates.items())
            # A refiner fetches labels again only if the best heads are not a tree.
            is_exact = name == "downloads" and self.name != "rng_refiner"
            is_right = found[name] == needed if is_exact else found[name] <= needed
            assert is_right, f"{found[name]} {name} where {needed} are needed, by calls: {calls}"


def default_to_second_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let networks that are built be put on the second device, as Thinc's settings put them on a GPU."""
    module = sys.modules[G2GShim.from_bytes.__module__]
    monkeypatch.setattr(module, "get_torch_default_device", lambda: DEVICE)


@pytest.mark.parametrize("case", mostly_slow(CASES, QUICK_CASES))
def test_parses_are_those_of_the_cpu(case: str, transfers: Transfers):
    cpu, other = Trial(case), Trial(case, transfers)
    assert other.parse() == cpu.parse()
    assert other.calls == cpu.calls


@pytest.mark.parametrize("case", mostly_slow(CASES, QUICK_CASES))
def test_losses_and_gradients_are_those_of_the_cpu(case: str, transfers: Transfers):
    cpu, other = Trial(case), Trial(case, transfers)
    for _ in range(2):
        assert other.update() == pytest.approx(cpu.update(), rel=1e-4)
        assert other.calls == cpu.calls
        cpu.step()
        other.step()
        assert other.shim.n_targets == 0
    cpu.update()
    other.update()
    assert any(weight.grad is not None for weight in cpu.shim.network.parameters())
    for weight, same in zip(cpu.shim.network.parameters(), other.shim.network.parameters(), strict=True):
        assert (weight.grad is None) == (same.grad is None)
        if weight.grad is not None and same.grad is not None:
            torch.testing.assert_close(same.grad.cpu(), weight.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", QUICK_CASES)
def test_a_look_at_the_scores_would_be_found(case: str, transfers: Transfers):
    """The host looks at a number once too often a pass, or an action."""
    trial = Trial(case, transfers)
    (name,) = trial.needs.parse_downloads

    def look(*args: Any) -> None:
        scores = args[-1] if isinstance(args[-1], torch.Tensor) else args[-1][0]
        scores.flatten()[0].item()

    trial.shim.network.get_submodule(name).register_forward_hook(look)
    with pytest.raises(AssertionError, match="downloads where"):
        trial.parse()
    with pytest.raises(AssertionError, match="downloads where"):
        trial.update()


def test_a_graph_that_is_a_tree_is_fetched_at_once(transfers: Transfers):
    trial = Trial("SynTr", transfers)
    trial.needs = trial.needs._replace(parse_downloads={"scorer": 1})
    for _ in range(60):
        trial.update()
        trial.step()
    assert trial.parse() == [tree_of(example.reference) for example in trial.examples()]


def test_a_refiner_reads_a_prior_as_on_the_cpu(transfers: Transfers):
    nlp = make_pair(iterations=1)
    trees = []
    for device in ("cpu", DEVICE):
        for _, component in nlp.pipeline:
            get_shim(component.model).network.to(device)
        transfers.take()
        trees.append([tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab))])
    assert trees[0] == trees[1]
    # The parser: its graph, labels of heads that a tree changes, its prior. The refiner: the first two.
    assert transfers.take()[1] == 5


@pytest.mark.parametrize("factory", ["g2g_parser", "rng_refiner", "g2g_encoder"])
def test_training_from_a_checkpoint_begins_on_the_device(
    factory: str, tmp_path: Path, transfers: Transfers, monkeypatch: pytest.MonkeyPatch
):
    source = encoder_from_checkpoint(str(make_checkpoint(tmp_path)))

    def weights() -> dict[str, torch.Tensor]:
        nlp = make_nlp(factory=factory) if factory != "g2g_encoder" else spacy.blank("xx")
        pipe: Any = nlp.get_pipe(factory) if factory in nlp.pipe_names else nlp.add_pipe(factory)
        fix_random_seed(0)
        pipe.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=source)
        (shim,) = find_shims(pipe.model)
        return dict(shim.network.state_dict())

    expected = weights()
    default_to_second_device(monkeypatch)
    found = weights()
    assert {weight.device for weight in found.values()} == {DEVICE}
    for name, weight in expected.items():
        assert torch.equal(found[name].cpu(), weight), name


def test_vectors_of_a_frozen_encoder_are_fetched_once(tmp_path: Path, transfers: Transfers):
    nlp = make_nlp(row="Stack-c")
    parser: Any = nlp.get_pipe("g2g_parser")
    source = encoder_from_checkpoint(str(make_checkpoint(tmp_path)))
    parser.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=source)
    get_shim(parser.model).network.to(DEVICE)
    transfers.take()
    # All vectors and the loss, then the loss alone.
    for n_downloads in (2, 1):
        nlp.update(treebank_examples(nlp), sgd=nlp.create_optimizer())
        assert transfers.take()[1] == n_downloads


def test_each_weight_is_fetched_once_when_saved(transfers: Transfers, monkeypatch: pytest.MonkeyPatch):
    trial = Trial("SynTr", transfers)
    n_weights = len(trial.shim.network.state_dict())
    transfers.take()
    data = trial.nlp.to_bytes()
    assert transfers.take() == (0, n_weights)
    assert data == Trial("SynTr").nlp.to_bytes()
    loaded = make_nlp(tag_attr="POS")
    default_to_second_device(monkeypatch)
    loaded.from_bytes(data)
    # A network knows its device by an empty tensor, which moves with the weights.
    assert transfers.take() == (n_weights + 1, 0)
    assert get_shim(loaded.get_pipe(trial.name).model).network.device == DEVICE
    docs = [example.predicted for example in trial.examples()]
    assert [tree_of(doc) for doc in loaded.pipe(docs)] == trial.parse()


def test_a_network_moves_back_to_the_cpu(transfers: Transfers):
    trial = Trial("StateTr, graph input", transfers)
    trial.update()
    trial.step()
    trees = trial.parse()
    trial.nlp.get_pipe(trial.name).model.to_cpu()
    assert trial.shim.network.device == torch.device("cpu")
    transfers.take()
    docs = [example.predicted for example in trial.examples()]
    assert [tree_of(doc) for doc in trial.nlp.pipe(docs)] == trees
    assert transfers.take() == (0, 0)


def test_labels_can_be_added(transfers: Transfers):
    for case in ("RNGTr", "SentTr+G2GTr", "StateTr, all", "StackTransformer, beam"):
        trial = Trial(case, transfers)
        trial.shim.resize_labels(len(trial.nlp.get_pipe(trial.name).labels) + 2)
        assert {tensor.device for tensor in trial.shim.network.state_dict().values()} == {DEVICE}
        trial.nlp.update(trial.examples(), sgd=trial.nlp.create_optimizer())
