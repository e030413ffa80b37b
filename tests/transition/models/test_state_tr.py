"""StateTr: what the encoder and the classifiers are given in each state, against the papers' formulas."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.types import Arcs, Sentence
from spacy_g2g.transition.models.state_tr import StateTr, build_state_tr
from spacy_g2g.transition.parsing.arc_standard import Action
from spacy_g2g.transition.parsing.state_sequence import BUFFER, CLS, SEP

from ...models.checks import pretrained
from ...models.systems import SENTENCES, make, oracle_of
from ...util import PAPER_ROWS, randomize, start
from ..parsing.test_state_sequence import ACTIONS, HEADS, LAYOUTS
from ..reference import PlainState
from .test_transitions import forced_scores

LEFT, RIGHT = 0, 1


class Seen:
    """What a network gives its encoder and its classifiers, one state at a time."""

    def __init__(self, shim: G2GShim, sentence: Sentence, tree: Arcs) -> None:
        network = shim.network.eval()
        assert isinstance(network, StateTr)
        self.network = network
        self.vectors: list[Tensor] = []
        self.extras: list[Tensor] = []
        self.segments: list[Tensor | None] = []
        self.edges: list[set[tuple[int, ...]]] = []
        self.encoded: list[Tensor] = []
        self.history: list[Tensor | None] = []
        self.parts: list[Tensor] = []
        encode, classify = network.encoder.forward, network.classifiers.forward

        def seen_encode(
            vectors: Tensor, mask: Tensor | None, *, extra: Tensor, edges: Any, read: Tensor, **others: Any
        ) -> Tensor:
            assert mask is None
            self.vectors.append(vectors[0])
            self.extras.append(extra[0])
            self.segments.append(others.get("segments"))
            self.edges.append(
                set() if edges is None else set(zip(*(e.tolist() for e in edges[1:]), strict=True))
            )
            self.encoded.append(encode(vectors, mask, extra=extra, edges=edges, **others))
            return encode(vectors, mask, extra=extra, edges=edges, read=read, **others)

        def seen_classify(parts: Tensor, history: Tensor | None = None) -> Any:
            self.parts.append(parts[0])
            self.history.append(None if history is None else history[0])
            return classify(parts, history)

        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            patch.setattr(network.encoder, "forward", seen_encode)
            patch.setattr(network.classifiers, "forward", seen_classify)
            forced_scores(network, shim.wordpieces.batch([sentence]), [tree])


FOUR = Sentence(["she", "the cat", "saw", "it"])
TREE = Arcs(np.array(HEADS), np.array([3, 1, 0, 4]))


def words_of(shim: G2GShim, sentence: Sentence, pieces: str) -> list[Tensor]:
    """The embeddings of ROOT, the words, SEP and CLS, so that SEP and CLS have their numbers as places."""
    table = shim.network.encoder.embeddings.pieces.weight.detach()
    ids = [[shim.wordpieces.root_id], *map(list, shim.wordpieces.split([sentence])[0])]
    words = [table[of_word].mean(0) if pieces == "mean" else table[of_word[0]] for of_word in ids]
    return [*words, table[shim.wordpieces.sep_id], table[shim.wordpieces.cls_id]]


# States spelled out


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_the_encoder_reads_each_state_with_its_partial_tree(pooling: str):
    _, shim = make("StateTr+G2GTr", pooling=pooling)
    seen = Seen(shim, FOUR, TREE)
    words = words_of(shim, FOUR, pooling)
    assert len(shim.wordpieces.split([FOUR])[0][1]) == 2
    arcs: dict[int, int] = {}
    labels = seen.network.label_embeddings.weight.detach()  # type: ignore[union-attr]
    segments = seen.network.segments.weight.detach()
    assert len(seen.vectors) == len(ACTIONS)
    for i, (stack, buffer, deleted) in enumerate(LAYOUTS):
        arcs = {word: HEADS[word - 1] for word in deleted}
        sequence = [CLS, *stack, SEP, *buffer, SEP, *deleted]
        torch.testing.assert_close(seen.vectors[i], torch.stack([words[word] for word in sequence]))
        of_words = [0] * (1 + len(stack)) + [1] * (1 + len(buffer)) + [2] * (1 + len(deleted))
        of_labels = [0 if word not in deleted else int(TREE.labels[word - 1]) + 2 for word in sequence]
        torch.testing.assert_close(seen.extras[i], segments[of_words] + labels[of_labels])
        expected = set()
        for word, head in arcs.items():
            here, there = sequence.index(word), sequence.index(head)
            expected |= {(there, here, 0), (here, there, 1)}
        assert seen.edges[i] == expected


def test_without_graph_input_the_encoder_reads_neither_deleted_words_nor_a_tree():
    _, shim = make("StateTr", composition=False)
    seen = Seen(shim, FOUR, TREE)
    words = words_of(shim, FOUR, "first")
    segments = seen.network.segments.weight.detach()
    for i, (stack, buffer, _) in enumerate(LAYOUTS):
        sequence = [CLS, *stack, SEP, *buffer]
        torch.testing.assert_close(seen.vectors[i], torch.stack([words[word] for word in sequence]))
        torch.testing.assert_close(seen.extras[i], segments[[0] * (1 + len(stack)) + [1] * (1 + len(buffer))])
        assert not seen.edges[i]


def test_tags_are_added_to_words_alone():
    _, shim = make("StateTr+G2GTr", tag_attr="POS")
    sentence = SENTENCES[0]
    seen = Seen(shim, sentence, Arcs(np.array([2, 0, 4, 2, 2]), np.array([1, 0, 1, 1, 1])))
    words = words_of(shim, sentence, "first")
    network = seen.network
    assert network.tags is not None
    assert shim.wordpieces.tag_ids is not None
    assert sentence.tags is not None
    rows = [0, *(shim.wordpieces.tag_ids.get(tag, 2) for tag in sentence.tags), 0, 0]
    # No row of tags beyond those of special pieces: SEP and CLS.
    expected = [
        word + network.tags.weight.detach()[row] if i < 6 else word
        for i, (word, row) in enumerate(zip(words, rows, strict=True))
    ]
    first = [CLS, 0, SEP, 1, 2, 3, 4, 5, SEP]
    torch.testing.assert_close(seen.vectors[0], torch.stack([expected[word] for word in first]))


@pytest.mark.parametrize("row", [row for row, (kind, _) in PAPER_ROWS.items() if kind == "StateTr"])
def test_classifiers_read_the_slots_of_the_row_or_cls(row: str):
    _, shim = make(row, swap=True)
    settings = PAPER_ROWS[row][1]
    seen = Seen(shim, FOUR, TREE)
    network = seen.network
    with_deleted = settings.get("graph_input", True)
    slots_read = ["s2", "s1", "b1", "s2", "s1"] if settings.get("reads_buffer", True) else ["s2", "s1"] * 2
    if settings.get("output") == "cls":
        slots_read = ["cls", "cls"]
    weights = network.classifiers.project_slots.weight.split(32)
    assert len(weights) == len(slots_read)
    for i, (stack, buffer, deleted) in enumerate(LAYOUTS):
        sequence = [CLS, *stack, SEP, *buffer, *([SEP, *deleted] if with_deleted else [])]
        words = {"cls": CLS, "s1": stack[-1]}
        words |= {"s2": stack[-2]} if len(stack) > 1 else {}
        words |= {"b1": buffer[0]} if buffer else {}
        for part, weight, slot in zip(seen.parts[i], weights, slots_read, strict=True):
            vector = network.empty
            if slot in words:
                vector = seen.encoded[i][0, sequence.index(words[slot])]
            torch.testing.assert_close(part, weight @ vector, rtol=1e-4, atol=1e-5)


def test_a_checkpoint_with_segments_keeps_them_for_stack_and_rest():
    model = build_state_tr(hidden_width=32)
    shim = start(model, SENTENCES, partial(pretrained, n_segments=2))
    assert not shim.network.segments.weight.any()  # type: ignore[union-attr, operator]
    randomize(model)
    seen = Seen(shim, FOUR, TREE)
    for i, (stack, buffer, deleted) in enumerate(LAYOUTS):
        found = seen.segments[i]
        assert found is not None
        assert found[0].tolist() == [0] * (1 + len(stack)) + [BUFFER] * (2 + len(buffer) + len(deleted))


# Composition and history, by the formulas of Mohammadshahi & Henderson 2019


class Composed:
    """Equations 3 and 4 for one sentence: ``c[i]`` is C_i, where 1 is the top of the stack."""

    def __init__(self, network: StateTr, token: Sequence[Tensor]) -> None:
        assert network.composition is not None
        self.brick = network.composition
        self.token = list(token)
        self.state = PlainState(len(token) - 1)
        self.c = {1: self.token[0]}
        self.kept = dict(enumerate(self.token))

    def comp(self, psi: Tensor, omega: Tensor, relation: Tensor) -> Tensor:
        """Comp of equation 3, times our factor."""
        inputs = torch.cat([psi, omega, relation])
        return self.brick.scale * torch.tanh(self.brick.linear.weight @ inputs + self.brick.linear.bias)

    def apply(self, action: Action, label: int) -> None:
        null, l_null = self.brick.no_dependent, self.brick.relations.weight[0]
        size, c = len(self.state.stack), self.c
        if action == Action.SHIFT:
            psi = {1: self.kept[self.state.buffer[0]]} | {i: c[i - 1] for i in range(2, size + 2)}
            omega, relation = {}, {}
        else:
            head, dependent = (2, 1) if action == Action.RIGHT_ARC else (1, 2)
            psi = {1: c[head]} | {i: c[i + 1] for i in range(2, size)}
            omega, relation = {}, {}
            self.kept[self.state.stack[-dependent]] = c[dependent]
            if action != Action.SWAP:
                # A relation has a row for each label and direction.
                direction = RIGHT if action == Action.RIGHT_ARC else LEFT
                omega, relation = (
                    {1: c[dependent]},
                    {1: self.brick.relations.weight[1 + 2 * label + direction]},
                )
        self.c = {i: self.comp(psi[i], omega.get(i, null), relation.get(i, l_null)) + psi[i] for i in psi}
        self.state.apply(action, label)
        for i, vector in self.c.items():
            self.kept[self.state.stack[-i]] = vector


@torch.no_grad()
@pytest.mark.parametrize(
    ("row", "words", "heads"),
    [
        ("DepTr+CH", ["she", "saw", "it"], [2, 0, 2]),
        ("G2GTr", ["she", "saw", "it"], [2, 3, 0]),
        ("StateTr", ["she", "saw", "it"], [0, 3, 1]),
        ("StateTr+G2GTr+C", ["she", "the cat", "saw", "it"], HEADS),
    ],
)
def test_words_are_composed_by_the_formula(row: str, words: list[str], heads: list[int]):
    _, shim = make(row, seed=4, scale=0.3)
    settings = PAPER_ROWS[row][1]
    tree = Arcs(np.array(heads), np.where(np.array(heads) == 0, 0, np.arange(len(heads)) + 1))
    sentence = Sentence(words)
    seen = Seen(shim, sentence, tree)
    *tokens, _, _ = words_of(shim, sentence, settings.get("pooling", "first"))
    composed = Composed(seen.network, tokens)
    actions, _ = oracle_of(seen.network, [tree])
    moved = []
    for i, action in enumerate(map(Action, actions[0].tolist())):
        state = composed.state
        sequence = [*state.stack, None, *state.buffer]
        if settings.get("graph_input", True):
            sequence += [None, *sorted(state.heads)]
        for place, word in enumerate(sequence, start=1):
            if word is not None:
                torch.testing.assert_close(
                    seen.vectors[i][place], composed.kept[word], rtol=1e-4, atol=1e-5, msg=f"{i} {word}"
                )
                moved.append(bool((composed.kept[word] != tokens[word]).any()))
        dependent = state.stack[-2] if action == Action.LEFT_ARC else state.stack[-1]
        composed.apply(action, int(tree.labels[dependent - 1]) if dependent else -1)
    assert composed.state.is_final
    assert any(moved)


@torch.no_grad()
@pytest.mark.parametrize("row", ["DepTr+H", "StateTr", "StateTr+G2CLSTr"])
def test_the_history_is_that_of_the_actions_before(row: str):
    _, shim = make(row, seed=4, scale=0.3, swap=True)
    seen = Seen(shim, FOUR, TREE)
    brick = seen.network.history
    assert brick is not None
    assert (brick.labels is None) == (row == "DepTr+H")
    assert brick.lstm.num_layers == 2
    inputs = []
    dependents = {4: 1, 7: 2, 8: 4, 9: 3}
    for i, action in enumerate(ACTIONS):
        expected = torch.zeros(100)
        if inputs:
            expected = brick.lstm(torch.stack(inputs)[None])[0][0, -1]
        found = seen.history[i]
        assert found is not None
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        x = brick.actions.weight[int(action)]
        if brick.labels is not None:
            label = int(TREE.labels[dependents[i] - 1]) if i in dependents else -1
            x = x + brick.labels.weight[label + 1]
        inputs.append(x)


@pytest.mark.parametrize("row", ["DepTr", "DepTr+H", "StateTr"])
def test_only_rows_with_a_history_have_its_weights(row: str):
    _, shim = make(row)
    names = [name for name, _ in shim.network.named_parameters()]
    assert any("history" in name for name in names) == (row != "DepTr")
    assert any("composition" in name for name in names) == (row == "StateTr")


# Long sentences


def test_sentences_of_more_words_than_positions_say_so_and_those_of_more_pieces_are_whole():
    model, _ = make("StateTr+G2GTr", n_positions=12)
    fits = [parse.coverage for parse in model.predict([Sentence(["a"] * n) for n in (8, 9, 30)])]
    assert fits == ["whole", "nearest_words", "nearest_words"]
    (parse,) = model.predict([Sentence(["the cat saw she the cat"] * 3)])
    assert parse.coverage == "whole"


def test_the_mean_of_words_that_are_cut_to_their_first_pieces_says_so():
    model, _ = make("G2GTr", n_positions=12)
    short, long = (Sentence(["the cat saw she the cat"] * n) for n in (1, 3))
    assert [parse.coverage for parse in model.predict([short, long])] == ["whole", "truncated"]
