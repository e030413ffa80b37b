"""Tiny transition-based parsers with random weights, and trees that they can be scored on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.shim import G2GShim
from spacy_g2g.models.types import Arcs, ParserModel, Sentence
from spacy_g2g.transition.models.gold import gold_steps
from spacy_g2g.transition.models.sent_tr import build_sent_tr
from spacy_g2g.transition.models.stack_transformer import build_stack_transformer
from spacy_g2g.transition.models.state_tr import build_state_tr
from spacy_g2g.transition.parsing.oracle import can_learn
from spacy_g2g.transition.parsing.oracle_states import Step
from spacy_g2g.trees.tree import is_tree

from ..util import (
    LABELS,
    PAPER_ROWS,
    STACK_ROWS,
    TINY_STACK,
    TINY_TRANSITIONS,
    initialized_model,
    randomize,
    read_treebank,
)

BUILD: dict[str, Any] = {"SentTr": build_sent_tr, "StateTr": build_state_tr}
ROWS = (*PAPER_ROWS, *STACK_ROWS)
#: Rows that have everything that an architecture can do, between them.
KINDS = ("SentTr", "SentTr+G2GTr", "DepTr", "G2CLSTr", "StateTr", "StateTr+G2GTr+C")
SENTENCES = [Sentence([w[0] for w in s], [w[1] for w in s]) for s in read_treebank()]
GOLD = [
    Arcs(np.array([w[2] for w in s]), np.array([(i % 5 + 1) if w[2] else 0 for i, w in enumerate(s)]))
    for s in read_treebank()
]


def make(row: str, seed: int = 0, scale: float = 0.1, **settings: Any) -> tuple[ParserModel, G2GShim]:
    """An initialized model of a row of the papers' table, with weights so random that all inputs matter."""
    sizes = {"n_positions": settings.pop("n_positions", 64)}
    if row in STACK_ROWS:
        model = build_stack_transformer(**{**TINY_STACK, **STACK_ROWS[row], **settings})
    else:
        architecture, of_row = PAPER_ROWS[row]
        model = BUILD[architecture](**{**TINY_TRANSITIONS, **of_row, **settings})
    shim = initialized_model(model, seed, len(LABELS), **sizes)
    randomize(model, seed + 1, scale)
    return model, shim


def network_of(shim: G2GShim) -> Any:
    """The network, without dropout."""
    return shim.network.eval()


def has_swap(network: Any) -> bool:
    return network.actions.swap


def learnable(swap: bool) -> list[int]:
    """The numbers of the sentences that can be learned."""
    return [
        i
        for i, tree in enumerate(GOLD)
        if can_learn(tree.heads[None], n_words=np.array([len(tree.heads)]), swap=swap).all()
    ]


def oracle_of(network: Any, trees: Sequence[Arcs]) -> tuple[np.ndarray, list[Step]]:
    """Actions of the oracle, [sentences, steps], and its steps."""
    steps = gold_steps(trees, np.array([len(tree.heads) for tree in trees]), swap=has_swap(network))
    return np.stack([step.actions for step in steps], axis=1), steps


def batch_of(shim: G2GShim, numbers: Sequence[int]) -> PieceBatch:
    """The batch of some of the ten sentences."""
    return shim.wordpieces.batch([SENTENCES[i] for i in numbers])


def random_tree(n: int, rng: np.random.Generator) -> Arcs:
    """A tree with one root, of words with random heads."""
    while True:
        heads = rng.integers(0, n + 1, n)
        if is_tree(heads):
            return Arcs(heads, np.where(heads == 0, 0, rng.integers(1, len(LABELS), n)))
