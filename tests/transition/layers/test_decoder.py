"""The decoder against a literal one that goes step by step and source by source, and against itself."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from spacy_g2g.transition.layers.decoder import DecoderConfig, StateDecoder
from spacy_g2g.transition.layers.state_attention import Positions, sinusoids

WIDTH, N_HEADS, D = 16, 4, 4
VARIANTS: list[tuple[list[str], bool]] = [
    ([], False),
    (["buffer", "stack"], False),
    (["buffer", "stack"], True),
    (["buffer"], False),
    (["stack"], False),
    (["buffer_top2"], False),
    (["stack_top2", "stack", "buffer_top2", "buffer"], True),
]
# Two sentences of five and three sources; five steps, of which the second has an empty stack, the third an
# empty buffer, and the fourth neither of the two. Source 4 is never on the stack.
STACK = torch.tensor(
    [
        [[0, -1, -1, -1, -1], [-1] * 5, [2, 1, 0, 3, -1], [-1] * 5, [1, -1, 0, -1, -1]],
        [[-1, 0, -1, -1, -1], [-1] * 5, [0, 1, 2, -1, -1], [-1] * 5, [-1] * 5],
    ]
)
BUFFER = torch.tensor(
    [
        [[-1, 0, 1, 2, 3], [0, 1, 2, 3, 4], [-1] * 5, [-1] * 5, [-1, -1, -1, 0, 1]],
        [[-1, -1, 0, -1, -1], [2, 1, 0, -1, -1], [-1] * 5, [-1] * 5, [0, 1, -1, -1, -1]],
    ]
)
POSITIONS = Positions(STACK, BUFFER)
MASK = torch.tensor([[True] * 5, [True, True, True, False, False]])
PREVIOUS = torch.tensor([[-1, 3, 0, 2, 5], [-1, 1, 1, 4, 0]])


def make(ties: Sequence[str], with_positions: bool = False, **settings: Any) -> StateDecoder:
    torch.manual_seed(0)
    sizes = {"width": WIDTH, "n_heads": N_HEADS, "hidden_width": 24, "n_layers": 2, "dropout": 0.0}
    config = DecoderConfig(views=ties, with_positions=with_positions, **{**sizes, **settings})
    decoder = StateDecoder(6, config)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return decoder.eval()


def memory(seed: int = 0) -> Tensor:
    return torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(seed))


# The formula


def sinusoid(position: int) -> Tensor:
    rates = [10_000 ** (-i / (WIDTH // 2 - 1)) for i in range(WIDTH // 2)]
    waves = [[f(position * rate) for rate in rates] for f in (math.sin, math.cos)]
    return torch.tensor(waves).flatten()


def attend(q: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """What one head takes from some sources; nothing of none."""
    if not keys:
        return torch.zeros(D)
    weights = torch.stack([q @ key / math.sqrt(D) for key in keys]).softmax(0)
    return sum((w * v for w, v in zip(weights, values, strict=True)), torch.zeros(D))


def seen_by(tie: str | None, sentence: int, step: int) -> list[tuple[int, int | None]]:
    """The sources that a head sees, with their rows in the table of positions."""
    if tie is None:
        return [(i, None) for i in range(5) if MASK[sentence, i]]
    part, n_top = tie.split("_")[0], 2 if "top2" in tie else None
    positions = (STACK if part == "stack" else BUFFER)[sentence, step].tolist()
    offset = 512 if part == "stack" else 0
    return [(i, offset + p) for i, p in enumerate(positions) if p >= 0 and (n_top is None or p < n_top)]


def literal(decoder: StateDecoder, sources: Tensor, sentence: int) -> Tensor:
    """The vectors of all steps of a sentence: [steps, width]."""
    x = [
        decoder.actions.weight[action + 1] * math.sqrt(WIDTH) + sinusoid(step)
        for step, action in enumerate(PREVIOUS[sentence].tolist())
    ]
    ties = [*decoder.config.views, *[None] * (N_HEADS - len(decoder.config.views))]
    for layer in decoder.layers:
        rows = [layer.steps.qkv(v).view(3, N_HEADS, D) for v in x]
        after = []
        for step, vector in enumerate(x):
            past = rows[: step + 1]
            heads = [
                attend(rows[step][0, h], [r[1, h] for r in past], [r[2, h] for r in past])
                for h in range(N_HEADS)
            ]
            y = layer.steps_norm(vector + layer.steps.output(torch.cat(heads)))
            q = layer.state.query(y).view(N_HEADS, D)
            heads = []
            for h, tie in enumerate(ties):
                seen = seen_by(tie, sentence, step)
                w_key, b_key = (p.view(2, N_HEADS, D, -1)[0, h] for p in layer.state.keys_values.parameters())
                keys = []
                for i, row in seen:
                    place = (
                        sinusoid(row)
                        if decoder.config.with_positions and row is not None
                        else torch.zeros(WIDTH)
                    )
                    keys.append(w_key @ (sources[sentence, i] + place) + b_key[:, 0])
                of_values = [
                    layer.state.keys_values(sources[sentence, i]).view(2, N_HEADS, D)[1, h] for i, _ in seen
                ]
                heads.append(attend(q[h], keys, of_values))
            y = layer.state_norm(y + layer.state.output(torch.cat(heads)))
            hidden = layer.feedforward.hidden(y).relu()
            after.append(layer.feedforward_norm(y + layer.feedforward.output(hidden)))
        x = after
    return torch.stack(x)


@torch.no_grad()
@pytest.mark.parametrize(("ties", "with_positions"), VARIANTS, ids=str)
def test_all_steps_are_those_of_a_literal_decoder(ties: list[str], with_positions: bool):
    decoder = make(ties, with_positions)
    found = decoder(PREVIOUS, memory(), MASK, POSITIONS)
    expected = torch.stack([literal(decoder, memory(), sentence) for sentence in range(2)])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_sinusoids_are_those_of_the_formula():
    expected = torch.stack([sinusoid(p) for p in range(40)])
    torch.testing.assert_close(sinusoids(torch.arange(40), WIDTH), expected, rtol=0, atol=1e-5)


# One step at a time


def by_steps(decoder: StateDecoder, sources: Tensor, mask: Tensor | None = MASK) -> Tensor:
    cache = decoder.begin(sources, mask)
    steps = []
    for t in range(5):
        positions = Positions(*(part[:, t : t + 1] for part in POSITIONS))
        steps.append(decoder.step(PREVIOUS[:, t : t + 1], cache, positions))
    return torch.cat(steps, 1)


@torch.no_grad()
@pytest.mark.parametrize(("ties", "with_positions"), VARIANTS, ids=str)
def test_steps_one_by_one_are_those_of_all_at_once(ties: list[str], with_positions: bool):
    decoder = make(ties, with_positions)
    expected = decoder(PREVIOUS, memory(), MASK, POSITIONS)
    torch.testing.assert_close(by_steps(decoder, memory()), expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_more_steps_than_there_was_room_for_are_remembered():
    decoder = make(["buffer", "stack"])
    n = 40
    previous = torch.randint(0, 6, (2, n), generator=torch.Generator().manual_seed(0))
    positions = Positions(*(part.repeat(1, n // 5, 1) for part in POSITIONS))
    expected = decoder(previous, memory(), MASK, positions)
    cache = decoder.begin(memory(), MASK)
    for t in range(n):
        of_step = Positions(*(part[:, t : t + 1] for part in positions))
        found = decoder.step(previous[:, t : t + 1], cache, of_step)
        torch.testing.assert_close(found[:, 0], expected[:, t], rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize(("ties", "with_positions"), [([], False), (["buffer", "stack"], True)], ids=str)
def test_hypotheses_that_change_rows_keep_their_past(ties: list[str], with_positions: bool):
    """Each hypothesis of a random beam is what it would be alone."""
    decoder = make(ties, with_positions)
    generator = torch.Generator().manual_seed(1)
    cache = decoder.begin(memory(), MASK, 3)
    histories = [[[0]], [[0]]]  # Steps of PREVIOUS and POSITIONS, of each hypothesis.
    for t in range(6):
        numbers = torch.tensor([[h[-1] for h in of_sentence] for of_sentence in histories])
        of_step = [torch.stack([part[s][numbers[s]] for s in range(2)]) for part in (PREVIOUS, *POSITIONS)]
        found = decoder.step(of_step[0], cache, Positions(*of_step[1:]))
        for s, of_sentence in enumerate(histories):
            for i, history in enumerate(of_sentence):
                alone = [part[s : s + 1, history] for part in (PREVIOUS, *POSITIONS)]
                expected = decoder(alone[0], memory()[s : s + 1], MASK[s : s + 1], Positions(*alone[1:]))
                torch.testing.assert_close(found[s, i], expected[0, t], rtol=1e-5, atol=1e-5)
        parents = torch.randint(0, len(histories[0]), (2, 3), generator=generator)
        cache.take(parents)
        following = torch.randint(0, 5, (2, 3), generator=generator).tolist()
        histories = [
            [[*of_sentence[p], n] for p, n in zip(ps, ns, strict=True)]
            for of_sentence, ps, ns in zip(histories, parents.tolist(), following, strict=True)
        ]


@torch.no_grad()
def test_kept_sentences_go_on_as_they_were():
    decoder = make(["buffer", "stack"], True)
    cache = decoder.begin(memory(), MASK)
    steps = [Positions(*(part[:, t : t + 1] for part in POSITIONS)) for t in range(2)]
    decoder.step(PREVIOUS[:, :1], cache, steps[0])
    cache.keep(torch.tensor([1]))
    found = decoder.step(PREVIOUS[1:, 1:2], cache, Positions(*(part[1:] for part in steps[1])))
    expected = decoder(PREVIOUS, memory(), MASK, POSITIONS)[1:, 1:2]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


# What heads see


def heads_of(ties: list[str], sources: Tensor, with_positions: bool = False) -> Tensor:
    """The outputs of each head, [2, 5, heads, d]."""
    decoder = make(ties, with_positions)
    attention: Any = decoder.layers[0].state
    with torch.no_grad():
        attention.output.weight.copy_(torch.eye(WIDTH))
        attention.output.bias.zero_()
        x = torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(5))
        z = attention(x, attention.read(sources), decoder._look(MASK, POSITIONS))
    return z.view(2, 5, N_HEADS, D)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("with_positions", [False, True])
def test_an_empty_stack_or_buffer_gives_a_zero_vector(with_positions: bool, dtype: torch.dtype):
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        heads = heads_of(["buffer", "stack"], memory() * 100, with_positions)
    assert torch.isfinite(heads).all()
    for head, part in enumerate((BUFFER, STACK)):
        is_empty = (part < 0).all(-1)
        assert is_empty.sum() > 2
        assert (heads[:, :, head][is_empty] == 0).all()
        assert (heads[:, :, head][~is_empty].abs().amax(-1) > 0).all()


@pytest.mark.parametrize("how", ["float32", "bfloat16", "autocast"])
@pytest.mark.parametrize(("ties", "with_positions"), VARIANTS, ids=str)
def test_outputs_and_gradients_are_numbers(ties: list[str], with_positions: bool, how: str):
    decoder = make(ties, with_positions)
    sources = memory()
    if how == "bfloat16":
        decoder, sources = decoder.to(torch.bfloat16), sources.to(torch.bfloat16)
    sources.requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=how == "autocast"):
        found = decoder(PREVIOUS, sources, MASK, POSITIONS)
        with torch.no_grad():
            stepped = by_steps(decoder, sources)
    found.float().square().sum().backward()
    for tensor in (found, stepped, sources.grad, *(p.grad for p in decoder.parameters())):
        assert tensor is not None
        assert torch.isfinite(tensor).all()
    assert (found.float() - stepped.float()).abs().max() < (1e-5 if how == "float32" else 0.3)


@torch.no_grad()
def test_later_steps_and_padding_change_nothing():
    decoder = make(["buffer", "stack"], True)
    expected = decoder(PREVIOUS, memory(), MASK, POSITIONS)
    other = PREVIOUS.clone()
    other[:, 3:] = 0
    found = decoder(other, memory(), MASK, POSITIONS)
    torch.testing.assert_close(found[:, :3], expected[:, :3])
    assert not torch.allclose(found[:, 3:], expected[:, 3:])
    sources = memory()
    sources[1, 3:] = 1e3
    torch.testing.assert_close(decoder(PREVIOUS, sources, MASK, POSITIONS), expected)
    short = decoder(PREVIOUS[1:], memory()[1:, :3], None, Positions(*(part[1:, :, :3] for part in POSITIONS)))
    torch.testing.assert_close(short, expected[1:], rtol=1e-5, atol=1e-5)


def test_dropout_is_for_training():
    decoder = make([], dropout=0.5)
    assert torch.equal(*(decoder(PREVIOUS, memory(), MASK, POSITIONS) for _ in range(2)))
    decoder.train()
    assert not torch.equal(*(decoder(PREVIOUS, memory(), MASK, POSITIONS) for _ in range(2)))


def test_heads_have_the_values_of_the_published_figure():
    """Figure 1 of the paper: SHIFT, SHIFT, REDUCE, SHIFT of the words a, b and c."""
    stack = torch.tensor([[[-1, -1, -1], [0, -1, -1], [1, 0, -1], [0, -1, -1], [1, -1, 0]]])
    buffer = torch.tensor([[[0, 1, 2], [-1, 0, 1], [-1, -1, 0], [-1, -1, 0], [-1, -1, -1]]])
    decoder = make(["buffer", "stack"])
    seen = decoder._look(None, Positions(stack, buffer))
    assert seen.visible is not None
    assert seen.has_any is not None
    shown = [
        [
            "".join("abc"[i] for i in range(3) if row[i]) if any_ else ""
            for row, any_ in zip(rows, has, strict=True)
        ]
        for rows, has in zip(seen.visible[0, :2], seen.has_any[0, :2, :, 0], strict=True)
    ]
    assert shown == [["abc", "bc", "c", "c", ""], ["", "a", "ab", "a", "ac"]]
