"""The stack machine of the stack-Transformer, with FORK: it builds the AMR of a sentence.

Fernandez Astudillo et al.: Transition-based parsing with stack-Transformers (Findings of EMNLP 2020). In the
paper a word has one node, and rules add whole subgraphs. Here FORK gives a word another item, which gets its
own node. s1 is the top of the stack, s2 the item below it:

===============  ==============================================  =========================================
action           precondition                                    effect
===============  ==============================================  =========================================
SHIFT(w)         w is the word at the front of the buffer        the front of the buffer to the stack
REDUCE           the stack is not empty                          s1 leaves the stack
PRED(x), COPY_*  s1 has no label                                 x, or what is copied, is the label of s1
FORK             s1 has a label; its word may fork again         a new item of the word, unlabeled, on s1
DEPENDENT(r, k)  s1 has a label and no such constant             constant k is under s1 by role r
LA(r)            s1 and s2 have labels; no such edge             edge s1 -> s2
RA(r)            s1 and s2 have labels; no such edge             edge s2 -> s1
SWAP             s2 and s1 were not swapped in this order        s2 to the front of the buffer
ROOT             s1 is ROOT, s2 has a label                      s2 is the top of the graph; the end
CLOSE            s1 is ROOT, nothing on the stack has a label    the end, without a top
===============  ==============================================  =========================================

While ROOT is on top of the stack only SWAP, ROOT and CLOSE are possible. COPY_LEMMA copies the lemma,
COPY_LOWER the word in lower case, COPY_SENSE01 the lemma with -01, COPY_QUOTE the word in quotes. A state
that is not final has a valid action, and any sequence of valid actions ends; `build` makes a connected graph
of it. `AmrActions.valid_actions` checks the preconditions.
"""

from __future__ import annotations

import numpy as np

from ...arrays import IntArray
from .actions import COPIES, ROOT_FORM, ActionKind, AmrAction, AmrSentence, copied_label
from .graph import Edge

MAX_FORKS = 8
# Maximum number of actions per word of a sentence, including ROOT. The oracle needs fewer than 15.
MAX_ACTIONS_PER_WORD = 20


class AmrState:
    """The state of one sentence.

    Items are the words (0 to n - 1), ROOT (n), and those that FORK adds (from n + 1 on).

    sentence: The sentence.
    max_forks: Maximum number of FORKs for one word.

    stack: Items, the top last.
    buffer: Items, the front last.
    words: Word of each item.
    labels: Label of each item, or None.
    edges: Edges between items, in the order of their actions.
    constants: (item, role, constant), in the order of their actions.
    root: The item that is the graph's top, or None.
    n_actions: Number of actions applied.
    """

    def __init__(self, sentence: AmrSentence, *, max_forks: int = MAX_FORKS) -> None:
        n = len(sentence)
        self.sentence = sentence
        self.stack: list[int] = []
        self.buffer = list(range(n, -1, -1))
        self.words = list(range(n + 1))
        self.labels: list[str | None] = [None] * (n + 1)
        self.edges: dict[Edge, None] = {}
        self.constants: dict[tuple[int, str, str], None] = {}
        self.root: int | None = None
        self.n_actions = 0
        self._max_forks = max_forks
        self._limit = MAX_ACTIONS_PER_WORD * (n + 1)
        self._swapped: set[tuple[int, int]] = set()
        self._has_ended = False

    def copy(self) -> AmrState:
        """Return a state that continues independently of this one."""
        state = AmrState.__new__(AmrState)
        for name, value in vars(self).items():
            setattr(state, name, value.copy() if isinstance(value, (list, dict, set)) else value)
        return state

    @property
    def is_final(self) -> bool:
        """Whether there is no further action."""
        return self._has_ended or self.n_actions >= self._limit

    @property
    def root_item(self) -> int:
        """The item that stands for ROOT."""
        return len(self.sentence)

    @property
    def top(self) -> int | None:
        """The item s1, or None if the stack is empty."""
        return self.stack[-1] if self.stack else None

    @property
    def second(self) -> int | None:
        """The item s2, or None if the stack has fewer than two items."""
        return self.stack[-2] if len(self.stack) > 1 else None

    @property
    def front_form(self) -> str | None:
        """The word at the front of the buffer, ROOT_FORM for ROOT, or None if the buffer is empty."""
        if not self.buffer:
            return None
        word = self.words[self.buffer[-1]]
        return ROOT_FORM if word == self.root_item else self.sentence.forms[word]

    @property
    def can_fork(self) -> bool:
        """Whether the word of s1 may have another item. FORK also needs a label of s1."""
        return bool(self.stack) and self.words.count(self.words[self.stack[-1]]) <= self._max_forks

    @property
    def can_swap(self) -> bool:
        """Whether SWAP is valid, unless the state is final."""
        return len(self.stack) > 1 and (self.stack[-2], self.stack[-1]) not in self._swapped

    @property
    def can_close(self) -> bool:
        """Whether nothing on the stack has a label."""
        return all(self.labels[item] is None for item in self.stack)

    def apply(self, action: AmrAction) -> None:
        """Apply an action whose precondition holds, such as one of `AmrActions.valid_actions`."""
        kind, top = action.kind, self.top
        self.n_actions += 1
        if kind == ActionKind.SHIFT:
            self.stack.append(self.buffer.pop())
        elif kind == ActionKind.REDUCE:
            self.stack.pop()
        elif kind == ActionKind.SWAP:
            self._swapped.add((self.stack[-2], self.stack[-1]))
            self.buffer.append(self.stack.pop(-2))
        elif kind == ActionKind.CLOSE:
            self._has_ended = True
        elif kind == ActionKind.ROOT:
            self.root = self.second
            self._has_ended = True
        elif top is not None and kind == ActionKind.FORK:
            self.stack.append(len(self.words))
            self.words.append(self.words[top])
            self.labels.append(None)
        elif top is not None:
            self._extend_graph(action, top)

    def positions(self) -> tuple[IntArray, IntArray]:
        """Return the positions of ROOT and words in stack and buffer, for a stack-Transformer.

        Of several items of a word, the one nearest the top or the front counts. A word that has items on the
        stack and in the buffer counts as on the stack.

        Returns two arrays, int [1 + words], ROOT first: the distance from the top of the stack and from the
        front of the buffer; -1 for a word that is not there.
        """
        stack, buffer = np.full((2, self.root_item + 1), -1)
        # ROOT moves from the end to the front. The nearest item of a word comes last and replaces the others.
        for items, array in ((self.buffer, buffer), (self.stack, stack)):
            words = np.array([self.words[item] for item in items], dtype=np.int64)
            array[(words + 1) % len(array)] = np.arange(len(items) - 1, -1, -1)
        buffer[stack >= 0] = -1
        return stack, buffer

    def _extend_graph(self, action: AmrAction, top: int) -> None:
        kind, word = action.kind, self.words[top]
        if kind == ActionKind.PRED:
            self.labels[top] = action.label
        elif kind in COPIES:
            self.labels[top] = copied_label(kind, self.sentence.forms[word], lemma=self.sentence.lemmas[word])
        elif kind == ActionKind.DEPENDENT:
            self.constants[top, action.label, action.value] = None
        else:
            ends = (top, self.stack[-2]) if kind == ActionKind.LA else (self.stack[-2], top)
            self.edges[Edge(ends[0], action.label, ends[1])] = None
