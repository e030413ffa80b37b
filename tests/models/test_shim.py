"""The seam of Thinc and PyTorch: an AdamW that follows the Thinc optimizer, weights that are kept whole."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import srsly
import torch
from thinc.api import Adam, Linear, warmup_linear

from spacy_g2g.layers.checkpoint import Checkpoint
from spacy_g2g.models.sent_tr import build_sent_tr
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.syntr import build_syntr
from spacy_g2g.models.types import ParserModel, Sentence, Tree

from ..util import LABELS, TINY_MODEL, initialised_model, randomise, read_treebank, tiny_encoder, weights_of

SENTENCES = [Sentence([w[0] for w in s]) for s in read_treebank()]
GOLD = [
    Tree(np.array([w[2] for w in s]), np.array([i % 5 + 1 for i in range(len(s))])) for s in read_treebank()
]
MISSING = [Tree(np.full(len(s), -1), np.full(len(s), -1)) for s in read_treebank()]


def make(**settings: Any) -> tuple[ParserModel, G2GShim]:
    model = build_syntr(**{**TINY_MODEL, **settings})
    return model, initialised_model(model)


def pretrained_source(words: Any) -> Checkpoint:
    """As a checkpoint would be: with weights."""
    from spacy_g2g.layers.encoder import GraphEncoder

    scratch = tiny_encoder(min_frequency=1)(words)
    return Checkpoint(scratch.config, GraphEncoder(scratch.config).state_dict(), scratch.tokenizer)


def learn(model: ParserModel, gold: list[Tree] = GOLD, sentences: list[Sentence] = SENTENCES) -> float:
    loss, backprop = model.begin_update((sentences, gold))
    backprop(None)
    return float(loss)


def changes(before: dict[str, torch.Tensor], model: ParserModel) -> dict[str, float]:
    return {name: float((w - before[name]).abs().max()) for name, w in weights_of(model).items()}


def inner_optimizer(shim: G2GShim) -> torch.optim.Optimizer:
    assert shim._optimizer is not None
    return shim._optimizer


# Training


def test_checkpoint_weights_learn_at_the_rate_times_their_factor():
    model = build_syntr(encoder_rate_factor=0.1, **TINY_MODEL)  # type: ignore[arg-type]
    shim = get_shim(model)
    shim.initialize(pretrained_source, SENTENCES, LABELS)
    randomise(model)
    before = weights_of(model)
    learn(model)
    shim.finish_update(Adam(0.01, L2=0.0, eps=1e-12))
    # The first step of Adam moves each weight by the rate.
    for name, change in changes(before, model).items():
        assert change == pytest.approx(0.001 if name.startswith("encoder.") else 0.01, rel=0.05), name


def test_from_scratch_all_weights_learn_at_the_same_rate():
    model, shim = make(encoder_rate_factor=0.1)
    before = weights_of(model)
    learn(model)
    shim.finish_update(Adam(0.01, L2=0.0, eps=1e-12))
    assert all(change == pytest.approx(0.01, rel=0.05) for change in changes(before, model).values())


def test_matrices_decay_and_biases_and_norms_do_not():
    after = []
    for decay in (0.0, 0.5):
        model, shim = make()
        learn(model)
        shim.finish_update(Adam(0.01, L2=decay))
        after.append(weights_of(model))
    for name, weight in after[0].items():
        assert torch.equal(weight, after[1][name]) == (weight.ndim == 1), name


def test_gradients_are_clipped_by_their_global_norm():
    norms = []
    for clip in (0.0, 0.01):
        model, shim = make()
        learn(model)
        shim.finish_update(Adam(0.01, L2=0.0, beta1=0.9, grad_clip=clip))
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


def test_each_step_has_the_gradient_since_the_last_step_alone():
    model, shim = make()
    optimizer = Adam(0.0, L2=0.0, beta1=0.0, grad_clip=0.0)
    learn(model)
    shim.finish_update(optimizer)
    first = {p: state["exp_avg"].clone() for p, state in inner_optimizer(shim).state.items()}
    learn(model)
    shim.finish_update(optimizer)
    for parameter, state in inner_optimizer(shim).state.items():
        torch.testing.assert_close(state["exp_avg"], first[parameter])


def test_the_learning_rate_follows_the_schedule():
    model, shim = make()
    optimizer = Adam(warmup_linear(0.01, 2, 6), L2=0.0)
    rates = []
    for _ in range(5):
        learn(model)
        shim.finish_update(optimizer)
        rates.append(inner_optimizer(shim).param_groups[0]["lr"])
        optimizer.step_schedules()
    assert rates == pytest.approx([0.0, 0.005, 0.01, 0.0075, 0.005])


def test_betas_and_eps_are_those_of_the_thinc_optimizer():
    model, shim = make()
    learn(model)
    shim.finish_update(Adam(0.01, beta1=0.7, beta2=0.8, eps=1e-4))
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
    learn(model)
    shim.finish_update(optimizer)
    before = weights_of(model)
    learn(model, MISSING)
    shim.finish_update(optimizer)
    shim.finish_update(optimizer)
    assert not any(changes(before, model).values())


def test_the_dropout_rate_of_thinc_reaches_the_network():
    model, shim = make()
    losses = [learn(model) for _ in range(2)]
    assert losses[0] == losses[1]
    model.attrs["dropout_rate"] = 0.5
    dropped = [learn(model) for _ in range(2)]
    assert dropped[0] != dropped[1]
    rates = {m.p for m in shim.network.encoder.modules() if isinstance(m, torch.nn.Dropout)}
    assert rates == {0.5}


def test_prediction_after_training_drops_nothing():
    model, _ = make(dropout=0.5)
    model.attrs["dropout_rate"] = 0.5
    learn(model)
    first, second = (model.predict(SENTENCES[:1])[0].head_probs for _ in range(2))
    assert np.array_equal(first, second)


def test_the_loss_goes_down():
    model, shim = make()
    optimizer = Adam(0.005, L2=0.0)
    losses = []
    for _ in range(15):
        losses.append(learn(model))
        shim.finish_update(optimizer)
    assert losses[-1] < losses[0] / 4


def test_the_cpu_computes_in_float32_with_mixed_precision_on():
    model, shim = make(mixed_precision=True)
    with shim.precision():
        assert not torch.is_autocast_enabled("cpu")
    assert {weight.dtype for weight in weights_of(model).values()} == {torch.float32}


# Keeping


def through_bytes(model: ParserModel) -> ParserModel:
    other = build_syntr(**TINY_MODEL)  # type: ignore[arg-type]
    return other.from_bytes(model.to_bytes())


def through_pickle(model: ParserModel) -> ParserModel:
    copied: ParserModel = pickle.loads(pickle.dumps(model))
    return copied


@pytest.mark.parametrize("keep", [through_bytes, through_pickle, copy.deepcopy, lambda model: model.copy()])
def test_a_kept_model_parses_alike_and_lives_on_its_own(keep: Callable[[ParserModel], ParserModel]):
    model, _ = make()
    learn(model)
    get_shim(model).finish_update(Adam(0.01))
    kept = keep(model)
    for found, expected in zip(kept.predict(SENTENCES), model.predict(SENTENCES), strict=True):
        assert np.array_equal(found.tree.heads, expected.tree.heads)
        assert np.array_equal(found.head_probs, expected.head_probs)
    before = weights_of(model)
    learn(kept)
    get_shim(kept).finish_update(Adam(0.01))
    assert any(changes(before, kept).values())
    assert not any(changes(before, model).values())


def test_tags_are_kept():
    model, _ = make(tag_attr="POS")
    kept = through_bytes(model)
    assert get_shim(kept).spec == get_shim(model).spec


def test_the_same_model_gives_the_same_bytes():
    model, _ = make()
    assert model.to_bytes() == through_bytes(model).to_bytes()


def test_a_model_that_is_not_initialised_is_kept_as_such():
    model = build_syntr(**TINY_MODEL)  # type: ignore[arg-type]
    for kept in (through_bytes(model), through_pickle(model), model.copy()):
        assert get_shim(kept).spec is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_bytes_that_are_not_whole_are_an_error(share: float):
    data = make()[1].to_bytes()
    _, shim = make()
    with pytest.raises(ValueError, match="E406"):
        shim.from_bytes(data[: max(1, int(len(data) * share))])


def test_weights_of_other_sizes_are_an_error():
    data = make()[1].to_bytes()
    other = get_shim(build_syntr(arc_width=8, label_width=8))
    with pytest.raises(ValueError, match=r"E406(.|\n)*size mismatch"):
        other.from_bytes(data)


def test_a_model_that_is_not_initialised_cannot_parse():
    model = build_syntr(**TINY_MODEL)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="E405"):
        model.predict(SENTENCES)


def test_a_model_of_another_kind_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"E407.*'linear'"):
        get_shim(Linear())


def test_moving_to_the_cpu_keeps_weights():
    model, _ = make()
    before = weights_of(model)
    model.to_cpu()
    assert not any(changes(before, model).values())


# Labels


def test_added_labels_leave_heads_as_they_were():
    model, shim = make()
    before = model.predict(SENTENCES)
    shim.resize_labels(8)
    assert shim.spec is not None
    assert shim.spec.n_labels == 8
    for found, expected in zip(model.predict(SENTENCES), before, strict=True):
        assert np.array_equal(found.tree.heads, expected.tree.heads)


def test_added_labels_are_learned_and_kept():
    model, shim = make()
    gold = [Tree(tree.heads, np.full(len(tree.heads), 6)) for tree in GOLD]
    optimizer = Adam(0.01)
    learn(model)
    shim.finish_update(optimizer)
    shim.resize_labels(7)
    before = weights_of(model)
    learn(model, gold)
    shim.finish_update(optimizer)
    assert changes(before, model)["scorer.label_weight"] > 0
    for _ in range(20):
        learn(model, gold)
        shim.finish_update(optimizer)
    (parse,) = through_bytes(model).predict(SENTENCES[:1])
    assert sorted(set(parse.tree.labels.tolist())) == [0, 6]


def test_a_loss_that_is_not_finite_is_an_error_and_reaches_no_weights():
    model, shim = make()
    with torch.no_grad():
        shim.network.scorer.arc_weight.fill_(float("nan"))  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"E411.*nan"):
        learn(model)
    assert shim.n_targets == 0


# Rare words


def make_sent_tr(unknown_share: float, source: Any = None) -> tuple[ParserModel, G2GShim]:
    model = build_sent_tr(hidden_width=16, dropout=0.0, unknown_share=unknown_share)
    shim = get_shim(model)
    sentences = [*SENTENCES, Sentence(["often"] * 9), Sentence(["rare"])]
    shim.initialize(source or tiny_encoder(min_frequency=1), sentences, LABELS)
    randomise(model)
    return model, shim


def loss_of(model: ParserModel, words: list[str]) -> float:
    """The loss of a tree in which each word hangs on the one before it."""
    tree = Tree(np.arange(len(words)), np.minimum(np.arange(len(words)), 1))
    return float(model.begin_update(([Sentence(words)], [tree]))[0])


def test_from_scratch_the_rarest_share_of_words_is_read_as_unknown():
    _, shim = make_sent_tr(0.25)
    assert shim.spec is not None
    words = [word for sentence in SENTENCES for word in sentence.words] + ["often"] * 9 + ["rare"]
    rare = shim.spec.rare_words
    assert len(rare) == int(0.25 * len(set(words)))
    assert len(set(rare)) == len(rare)
    assert {words.count(word) for word in rare} == {1}
    assert "often" not in rare


def test_rare_words_are_unknown_in_training_alone():
    model, shim = make_sent_tr(0.999)
    assert shim.spec is not None
    assert {"rare", "she", "saw"} <= set(shim.spec.rare_words)
    assert "often" not in shim.spec.rare_words
    assert loss_of(model, ["rare", "she"]) == loss_of(model, ["saw", "rare"])
    assert loss_of(model, ["often", "she"]) != loss_of(model, ["saw", "rare"])
    probs = [model.predict([Sentence(words)])[0].head_probs for words in (["rare", "she"], ["saw", "rare"])]
    assert not np.allclose(*probs)


def test_without_a_share_no_word_is_unknown_in_training():
    model, shim = make_sent_tr(0.0)
    assert shim.spec is not None
    assert shim.spec.rare_words == ()
    assert loss_of(model, ["rare", "she"]) != loss_of(model, ["saw", "rare"])


def test_with_a_checkpoint_all_words_are_read():
    _, shim = make_sent_tr(0.5, pretrained_source)
    assert shim.spec is not None
    assert shim.spec.rare_words == ()


def test_rare_words_are_kept():
    model, shim = make_sent_tr(0.5)
    other = build_sent_tr(hidden_width=16, dropout=0.0)
    for kept in (other.from_bytes(model.to_bytes()), through_pickle(model), model.copy()):
        assert get_shim(kept).spec == shim.spec
        assert loss_of(kept, ["rare", "often"]) == pytest.approx(loss_of(model, ["rare", "often"]))


def test_weights_of_before_there_were_rare_words_can_be_read():
    _, shim = make()
    message = srsly.msgpack_loads(shim.to_bytes())
    del message["spec"]["rare_words"]
    _, other = make()
    assert other.from_bytes(srsly.msgpack_dumps(message)).spec == shim.spec


def test_trees_without_a_head_can_not_be_learned():
    _, shim = make()
    assert shim.can_learn([GOLD[0], MISSING[0], GOLD[1]]).tolist() == [True, False, True]
    assert shim.can_learn([]).tolist() == []
