"""Learning: from whole and from partial gold, alone and as `spacy train` does it."""

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam

from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.types import Arcs
from spacy_g2g.parser.g2g_parser import G2GParser

from ..util import (
    ALL_LEVERS,
    gold_doc,
    initialized_nlp,
    make_nlp,
    overfit,
    parser_of,
    plain_doc,
    read_treebank,
    taught,
    tiny_encoder,
    tree_of,
    treebank_examples,
    trees_of,
    weights_of,
)


def gold_of(parser: G2GParser, examples: list[Example]) -> list[tuple[list[int], list[int]]]:
    """Heads and labels of each sentence, as the model is given them."""
    _, _, trees = parser._read_gold(examples)
    return [(tree.heads.tolist(), tree.labels.tolist()) for tree in trees]


def moved(before: dict[str, torch.Tensor], nlp: Language) -> bool:
    after = weights_of(nlp)
    return any(not torch.equal(after[name], weight) for name, weight in before.items())


# Labels


def test_labels_are_those_of_the_gold_trees_the_root_label_first():
    parser = parser_of(initialized_nlp())
    deps = {word[3] for sentence in read_treebank() for word in sentence}
    assert parser.labels == ("root", *sorted(deps - {"root"}))
    assert parser.label_data == list(parser.labels)


def test_the_most_frequent_label_of_roots_is_the_root_label():
    nlp = make_nlp()
    sentences = [[("a", "X", 0, dep), ("b", "X", 1, "obj")] for dep in ("TOP", "TOP", "root")]
    examples = [Example(plain_doc(nlp.vocab, "a b"), gold_doc(nlp.vocab, [s])) for s in sentences]
    nlp.initialize(lambda: examples)
    assert parser_of(nlp).labels == ("TOP", "obj", "root")


def test_labels_of_white_space_are_no_labels():
    nlp = make_nlp()
    words = [("a", "X", 0, "root"), ("\n", "X", 1, "space"), ("b", "X", 1, "obj")]
    example = Example(plain_doc(nlp.vocab, ["a", "\n", "b"]), gold_doc(nlp.vocab, [words]))
    nlp.initialize(lambda: [example])
    assert parser_of(nlp).labels == ("root", "obj")
    nlp.update([example])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["root", "obj", "det"], ["root", "obj", "det"]),
        (["det", "root", "obj"], ["root", "det", "obj"]),
        (["ROOT", "x"], ["ROOT", "x"]),
    ],
)
def test_given_labels_are_taken_in_their_order_after_the_label_of_the_roots(
    labels: list[str], expected: list[str]
):
    nlp = make_nlp()
    parser = parser_of(nlp)
    parser.initialize(lambda: treebank_examples(nlp), nlp=nlp, labels=labels, encoder=tiny_encoder())
    assert parser.label_data == expected


def test_label_data_initializes_an_equal_parser(factory: str):
    first = initialized_nlp(factory=factory, seed=None)
    second = make_nlp(factory=factory)
    labels = parser_of(first).label_data
    parser_of(second).initialize(
        lambda: treebank_examples(second), nlp=second, labels=labels, encoder=tiny_encoder()
    )
    assert parser_of(second).labels == parser_of(first).labels
    after = weights_of(second)
    assert all(torch.equal(after[name], weight) for name, weight in weights_of(first).items())


def test_initializing_without_labels_is_an_error(factory: str):
    nlp = make_nlp(factory=factory)
    docs = [plain_doc(nlp.vocab, "a b")]
    with pytest.raises(ValueError, match=rf"E801.*'{factory}'"):
        nlp.initialize(lambda: [Example(doc, doc.copy()) for doc in docs])


def test_labels_can_be_added_before_initialization(factory: str):
    nlp = make_nlp(factory=factory)
    parser = parser_of(nlp)
    assert parser.add_label("nsubj") == 1
    nlp.initialize()
    assert parser.labels == ("root", "nsubj")
    assert [token.dep_ for token in nlp(plain_doc(nlp.vocab, "a b"))].count("root") == 1


def test_labels_added_later_change_no_parse_until_they_are_learned(trained: Language):
    before = trees_of(trained)
    parser = parser_of(trained)
    assert parser.add_label("vocative") == 1
    assert parser.add_label("vocative") == 0
    assert trees_of(trained) == before
    example = treebank_examples(trained)[0]
    example.reference[0].dep_ = "vocative"
    overfit(trained, [example], 20)
    assert trained(plain_doc(trained.vocab, "she saw the cat ."))[0].dep_ == "vocative"
    spec = get_shim(parser.model).spec
    assert spec.n_labels == len(parser.labels)


@pytest.mark.parametrize("label", ["", 3, None])
def test_what_is_no_label_cannot_be_added(label: Any):
    with pytest.raises(ValueError, match="E803"):
        parser_of(make_nlp()).add_label(label)


def test_a_label_that_was_not_seen_is_an_error_that_names_it():
    nlp = initialized_nlp()
    example = treebank_examples(nlp)[0]
    example.reference[0].dep_ = "vocative"
    with pytest.raises(ValueError, match=r"E802.*\['vocative'\].*'nsubj'"):
        nlp.update([example])


def test_initializing_again_starts_anew(trained: Language):
    examples = treebank_examples(trained)
    trained.initialize(lambda: examples)
    assert trained.evaluate(treebank_examples(trained))["ud_las"] < 0.9


# Gold


def test_missing_heads_and_labels_are_masked():
    nlp = initialized_nlp()
    parser = parser_of(nlp)
    words = ["she", "saw", "the", "cat"]
    reference = Doc(nlp.vocab, words=words, heads=[1, 1, None, 1], deps=["nsubj", "root", None, "obj"])
    reference[3].dep_ = ""
    ((heads, labels),) = gold_of(parser, [Example(plain_doc(nlp.vocab, words), reference)])
    assert heads == [2, 0, -1, -1]
    assert labels == [parser.labels.index("nsubj"), 0, -1, -1]


def test_sentences_without_gold_teach_nothing():
    nlp = initialized_nlp()
    before = weights_of(nlp)
    doc = plain_doc(nlp.vocab, "she saw", "the cat")
    losses = nlp.update([Example(doc, doc.copy())], sgd=Adam(0.1))
    assert losses == {"g2g_parser": 0.0}
    assert not moved(before, nlp)


def test_a_sentence_without_gold_does_not_change_what_others_teach():
    nlp = initialized_nlp()
    gold = gold_doc(nlp.vocab, read_treebank()[:1])
    words = [token.text for token in gold]
    alone = nlp.update([Example(plain_doc(nlp.vocab, words), gold)], drop=0.0, sgd=False)
    more = Doc(
        nlp.vocab,
        words=[*words, "dogs", "bark"],
        heads=[*(token.head.i for token in gold), None, None],
        deps=[*(token.dep_ for token in gold), None, None],
        sent_starts=[i in (0, len(words)) for i in range(len(words) + 2)],
    )
    both = nlp.update([Example(plain_doc(nlp.vocab, words, "dogs bark"), more)], drop=0.0, sgd=False)
    assert both["g2g_parser"] == pytest.approx(alone["g2g_parser"], rel=1e-5)


def test_heads_across_predicted_boundaries_are_masked():
    nlp = initialized_nlp()
    predicted = plain_doc(nlp.vocab, "she saw", "the cat .")
    reference = gold_doc(nlp.vocab, read_treebank()[:1])
    (_, first), (heads, labels) = gold_of(parser_of(nlp), [Example(predicted, reference)])
    assert heads == [2, -1, -1]
    assert [label >= 0 for label in first + labels] == [True, True, True, False, False]


def test_misaligned_tokens_are_masked():
    nlp = initialized_nlp()
    words, spaces = ["she", "saw", "the", "ca", "t", "."], [True, True, True, False, True, False]
    predicted = Doc(nlp.vocab, words=words, spaces=spaces)
    reference = gold_doc(nlp.vocab, read_treebank()[:1])
    ((heads, _),) = gold_of(parser_of(nlp), [Example(predicted, reference)])
    assert heads == [2, 0, -1, -1, -1, 2]
    nlp.update([Example(predicted, reference)], sgd=Adam(0.001))


def test_without_boundaries_those_of_the_reference_are_used():
    nlp = initialized_nlp()
    reference = gold_doc(nlp.vocab, read_treebank()[1:3])
    words = [token.text for token in reference]
    example = Example(Doc(nlp.vocab, words=words), reference)
    assert [heads for heads, _ in gold_of(parser_of(nlp), [example])] == [[2, 0], [0, 1]]
    assert not example.predicted.has_annotation("SENT_START")


def test_docs_of_several_lengths_and_of_none_are_learned_together(factory: str):
    nlp = initialized_nlp(factory=factory)
    empty = Doc(nlp.vocab)
    space = plain_doc(nlp.vocab, ["\n", " "])
    extra = [Example(empty, empty.copy()), Example(space, space.copy())]
    assert nlp.update([*extra, *treebank_examples(nlp)])[factory] > 0
    assert nlp.update(extra)[factory] == 0


# Updates


def test_a_parser_overfits_ten_sentences_and_survives_disk(trained_path: Path):
    nlp = spacy.load(trained_path)
    scores = nlp.evaluate(treebank_examples(nlp))
    assert (scores["ud_uas"], scores["ud_las"], scores["ud_sents_f"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "settings", [{"tag_attr": "POS", **ALL_LEVERS}, {"tag_attr": "TAG"}, {"dropout": 0.2}]
)
def test_variants_overfit_too(settings: dict[str, Any]):
    nlp = taught(make_nlp(**settings))
    loaded = make_nlp(**settings).from_bytes(nlp.to_bytes())
    assert loaded.evaluate(treebank_examples(nlp))["ud_las"] == 1.0


def test_losses_add_up_over_updates():
    nlp = initialized_nlp()
    losses = {"other": 1.0}
    nlp.update(treebank_examples(nlp), losses=losses, drop=0.0, sgd=False)
    once = losses["g2g_parser"]
    nlp.update(treebank_examples(nlp), losses=losses, drop=0.0, sgd=False)
    assert losses["g2g_parser"] == pytest.approx(2 * once)
    assert losses["other"] == 1.0


@pytest.mark.parametrize("sgd", [None, False])
def test_without_an_optimizer_gradients_are_kept_for_later(sgd: Any):
    nlp = initialized_nlp()
    before = weights_of(nlp)
    parser = parser_of(nlp)
    parser.update(treebank_examples(nlp), sgd=sgd)
    assert not moved(before, nlp)
    parser.finish_update(Adam(0.01))
    assert moved(before, nlp)


def test_a_parser_that_is_not_initialized_cannot_learn_or_parse(factory: str):
    nlp = make_nlp(factory=factory)
    parser = parser_of(nlp)
    parser.add_label("root")
    with pytest.raises(ValueError, match="E405"):
        parser.predict([plain_doc(nlp.vocab, "a b")])
    doc = Doc(nlp.vocab, words=["a"], heads=[0], deps=["root"])
    for with_and_without_labels in (parser, parser_of(make_nlp(factory=factory))):
        with pytest.raises(ValueError, match="E405"):
            with_and_without_labels.update([Example(plain_doc(nlp.vocab, "a"), doc)])


def test_a_frozen_parser_does_not_learn():
    nlp = initialized_nlp()
    before = weights_of(nlp)
    losses = nlp.update(treebank_examples(nlp), sgd=Adam(0.1), exclude=["g2g_parser"])
    assert not losses
    assert not moved(before, nlp)


def test_an_annotating_parser_shows_its_trees_to_later_components(trained: Language, factory: str):
    seen: list[list[tuple[int, str]]] = []

    class Witness:
        def __call__(self, doc: Doc) -> Doc:
            return doc

        def update(self, examples: list[Example], **_: Any) -> None:
            seen.extend(tree_of(example.predicted) for example in examples)

        def initialize(self, *args: Any, **kwargs: Any) -> None: ...

        is_trainable = True
        model = True

    trained._components.append(("witness", Witness()))
    examples = treebank_examples(trained)
    trained.update(examples, sgd=Adam(0.0), annotates=[factory], exclude=[factory])
    assert seen == [tree_of(example.reference) for example in examples]


def test_accumulated_gradients_give_the_weights_of_one_batch():
    after = []
    for n_parts in (1, 2):
        nlp = initialized_nlp()
        optimizer = Adam(0.01, eps=1e-3, grad_clip=0.1)
        for _ in range(2):
            for examples in np.array_split(np.array(treebank_examples(nlp), dtype=object), n_parts):
                nlp.update(list(examples), sgd=False, drop=0.0)
            parser_of(nlp).model.finish_update(optimizer)
        after.append(weights_of(nlp))
    for name, weight in after[0].items():
        torch.testing.assert_close(weight, after[1][name], rtol=1e-4, atol=1e-5)


def test_trees_without_a_head_can_not_be_learned():
    parser = parser_of(initialized_nlp())
    missing = Arcs(np.array([-1, -1]), np.array([-1, -1]))
    tree = Arcs(np.array([-1, 1]), np.array([-1, 1]))
    assert parser._can_learn([tree, missing, tree]).tolist() == [True, False, True]
    assert parser._can_learn([]).tolist() == []


def unlabeled(nlp: Language, keep: Container[str]) -> list[Example]:
    """The ten sentences, whose words have no label unless it is to be kept."""
    examples = treebank_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.dep_ = token.dep_ if token.dep_ in keep else "_"
    return examples


def test_heads_without_any_label_are_learned_with_the_label_dep():
    nlp = make_nlp()
    examples = unlabeled(nlp, keep=())
    taught(nlp, lambda _: examples)
    assert parser_of(nlp).labels == ("root", "dep")
    scores = nlp.evaluate(examples)
    assert scores["ud_uas"] == scores["ud_las"] == 1.0
    assert {token.dep_ for token in nlp(treebank_examples(nlp)[0].predicted)} == {"root", "dep"}


def test_heads_without_a_label_among_others_teach_no_label():
    nlp = make_nlp()
    examples = unlabeled(nlp, keep=("root", "nsubj"))
    nlp.initialize(lambda: examples)
    parser = parser_of(nlp)
    assert parser.labels == ("root", "nsubj")
    gold = gold_of(parser, examples)
    known = [label for _, labels in gold for label in labels]
    assert set(known) == {0, 1, -1}
    assert all(head >= 0 for heads, _ in gold for head in heads)
