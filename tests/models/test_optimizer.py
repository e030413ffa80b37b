"""An AdamW that follows the Thinc optimizer."""

import pytest
import torch
from thinc.api import Adam, warmup_linear

from spacy_g2g.models.optimizer import PIECES
from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.syntr import build_syntr

from ..util import TINY_MODEL, randomize, start, weights_of
from .checks import pretrained
from .tiny_syntr import GOLD, MISSING, SENTENCES, changes, learn, make, step


def inner_optimizer(shim: G2GShim) -> torch.optim.Optimizer:
    assert shim._optimizer is not None
    return shim._optimizer


def test_checkpoint_weights_learn_at_the_rate_times_their_factor():
    model = build_syntr(encoder_rate_factor=0.1, **TINY_MODEL)  # type: ignore[arg-type]
    start(model, SENTENCES, pretrained)
    randomize(model)
    before = weights_of(model)
    step(model, Adam(0.01, L2=0.0, eps=1e-12))
    # The first step of Adam moves each weight by the rate.
    for name, change in changes(before, model).items():
        assert change == pytest.approx(0.001 if name.startswith("encoder.") else 0.01, rel=0.05), name


def test_the_rate_of_a_pretrained_encoder_is_logged(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO", "spacy")
    make()
    assert not caplog.text
    shim = start(build_syntr(encoder_rate_factor=0.07, **TINY_MODEL), SENTENCES, pretrained)  # type: ignore[arg-type]
    assert f"encoder of width {shim.known_spec.width}: encoder_rate_factor = 0.07" in caplog.text


def test_from_scratch_all_weights_learn_at_the_same_rate():
    model, _ = make(encoder_rate_factor=0.1)
    before = weights_of(model)
    step(model, Adam(0.01, L2=0.0, eps=1e-12))
    assert all(change == pytest.approx(0.01, rel=0.05) for change in changes(before, model).values())


def test_matrices_decay_and_biases_and_norms_do_not():
    after = []
    for decay in (0.0, 0.5):
        model, _ = make()
        step(model, Adam(0.01, L2=decay))
        after.append(weights_of(model))
    for name, weight in after[0].items():
        assert torch.equal(weight, after[1][name]) == (weight.ndim == 1), name


def test_gradients_are_clipped_by_their_global_norm():
    norms = []
    for clip in (0.0, 0.01):
        model, shim = make()
        step(model, Adam(0.01, L2=0.0, beta1=0.9, grad_clip=clip))
        # The first moment is a tenth of the gradient.
        moments = [state["exp_avg"] * 10 for state in inner_optimizer(shim).state.values()]
        norms.append(float(torch.cat([m.flatten() for m in moments]).norm()))
    assert norms[0] > 0.1
    assert norms[1] == pytest.approx(0.01, rel=1e-3)


def test_gradients_are_means_over_words():
    model, shim = make()
    loss = learn(model)
    total = {name: p.grad.clone() for name, p in shim.network.named_parameters() if p.grad is not None}
    shim.finish_update(Adam(0.01, L2=0.0, beta1=0.0, grad_clip=0.0))
    n_words = sum(len(tree.heads) for tree in GOLD)
    assert loss > n_words * 0.1
    state = inner_optimizer(shim).state
    for name, parameter in shim.network.named_parameters():
        torch.testing.assert_close(state[parameter]["exp_avg"], total[name] / n_words)


def test_a_cpu_keeps_the_memory_of_the_gradient_of_the_pieces():
    model, shim = make()
    table = shim.network.encoder.embeddings.pieces.weight
    learn(model)
    first, place = table.grad.clone(), table.grad.data_ptr()
    shim.finish_update(Adam(0.0, L2=0.0))
    assert {name for name, p in shim.network.named_parameters() if p.grad is not None} == {PIECES}
    assert not table.grad.any()
    learn(model)
    torch.testing.assert_close(table.grad, first)
    assert table.grad.data_ptr() == place


def test_each_step_has_the_gradient_since_the_last_step_alone():
    model, shim = make()
    optimizer = Adam(0.0, L2=0.0, beta1=0.0, grad_clip=0.0)
    step(model, optimizer)
    first = {p: state["exp_avg"].clone() for p, state in inner_optimizer(shim).state.items()}
    step(model, optimizer)
    for parameter, state in inner_optimizer(shim).state.items():
        torch.testing.assert_close(state["exp_avg"], first[parameter])


def test_the_learning_rate_follows_the_schedule():
    model, shim = make()
    optimizer = Adam(warmup_linear(0.01, 2, 6), L2=0.0)
    rates = []
    for _ in range(5):
        step(model, optimizer)
        rates.append(inner_optimizer(shim).param_groups[0]["lr"])
        optimizer.step_schedules()
    assert rates == pytest.approx([0.0, 0.005, 0.01, 0.0075, 0.005])


def test_betas_and_eps_are_those_of_the_thinc_optimizer():
    model, shim = make()
    step(model, Adam(0.01, beta1=0.7, beta2=0.8, eps=1e-4))
    group = inner_optimizer(shim).param_groups[0]
    assert (group["betas"], group["eps"]) == ((0.7, 0.8), 1e-4)


def test_accumulated_gradients_give_the_weights_of_one_batch():
    after = []
    for parts in ([slice(0, 10)], [slice(0, 3), slice(3, 10)]):
        model, shim = make()
        optimizer = Adam(0.01, L2=0.01, eps=1e-3, grad_clip=0.1)
        for _ in range(3):
            for part in parts:
                learn(model, GOLD[part], SENTENCES[part])
            shim.finish_update(optimizer)
        after.append(weights_of(model))
    for name, weight in after[0].items():
        torch.testing.assert_close(weight, after[1][name], rtol=1e-4, atol=1e-5)


def test_without_gold_no_weight_moves_even_with_momentum():
    model, shim = make()
    optimizer = Adam(0.01)
    step(model, optimizer)
    before = weights_of(model)
    step(model, optimizer, MISSING)
    shim.finish_update(optimizer)
    assert not any(changes(before, model).values())


def test_the_loss_goes_down():
    model, _ = make()
    optimizer = Adam(0.005, L2=0.0)
    losses = []
    for _ in range(15):
        losses.append(step(model, optimizer))
    assert losses[-1] < losses[0] / 4
