"""Composition equals its formula, and relations tell label and direction apart."""

import numpy as np
import torch

from spacy_g2g.transition.layers.composition import NO_RELATION, Composition, relation_ids

WIDTH, N_LABELS = 5, 3


def make() -> Composition:
    torch.manual_seed(0)
    composition = Composition(WIDTH, N_LABELS)
    with torch.no_grad():
        for parameter in composition.parameters():
            parameter.add_(torch.randn_like(parameter))
    return composition


def test_words_take_in_a_tanh_of_head_dependent_and_relation():
    composition = make()
    heads, dependents = torch.randn(2, 4, WIDTH)
    relations = torch.tensor([0, 1, 6, 3])
    composed = composition(heads, dependents, relations)
    weight, bias = composition.linear.weight, composition.linear.bias
    for i in range(4):
        inputs = torch.cat([heads[i], dependents[i], composition.relations.weight[relations[i]]])
        torch.testing.assert_close(composed[i], torch.tanh(weight @ inputs + bias) + heads[i])


def test_at_first_words_stay_as_they_are():
    composition = Composition(WIDTH, N_LABELS)
    heads, dependents = torch.randn(2, 4, WIDTH)
    assert torch.equal(composition(heads, dependents, torch.tensor([0, 1, 2, 3])), heads)


def test_each_label_and_direction_has_a_relation_of_its_own():
    labels, is_right = np.meshgrid(np.arange(N_LABELS), [False, True])
    relations = relation_ids(labels, is_right).flatten().tolist()
    assert sorted(relations) == list(range(1, 2 * N_LABELS + 1))
    assert len(make().relations.weight) == 2 * N_LABELS + 1


def test_arcs_without_a_label_have_the_relation_of_none():
    assert relation_ids(np.array([-1, -1]), np.array([True, False])).tolist() == [NO_RELATION] * 2


def test_added_labels_leave_the_others_and_begin_as_their_mean():
    composition = make()
    before = composition.relations.weight.detach().clone()
    composition.resize(N_LABELS + 2)
    after = composition.relations.weight
    assert after.shape == (1 + 2 * (N_LABELS + 2), WIDTH)
    assert torch.equal(after[: len(before)], before)
    torch.testing.assert_close(after[len(before) :], before.mean(0).expand(4, -1))
    assert after.requires_grad
