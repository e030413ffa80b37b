"""A stack machine that builds the AMR of a sentence; the stack-Transformer's, with FORK.

Fernandez Astudillo et al.: Transition-based parsing with stack-Transformers (Findings of EMNLP 2020). There a
word has one node, and whole subgraphs come from rules; here FORK gives a word another item, which gets a node
of its own. s1 is the top of the stack, s2 the item below it:

===============  ==============================================  =========================================
action           precondition                                    effect
===============  ==============================================  =========================================
SHIFT(w)         w is the word at the front of the buffer        the front of the buffer to the stack
REDUCE           there is s1                                     s1 leaves the stack
PRED(x), COPY_*  s1 has no label                                 x, or what is copied, is the label of s1
FORK             s1 has a label, its word room for a fork        a new item of the word, unlabelled, on s1
DEPENDENT(r, k)  s1 has a label and no such constant             constant k is under s1 by role r
LA(r)            s1 and s2 have labels; no such edge             edge s1 -> s2
RA(r)            s1 and s2 have labels; no such edge             edge s2 -> s1
SWAP             s2 and s1 were not swapped in this order        s2 to the front of the buffer
ROOT             s1 is ROOT, s2 has a label                      s2 is the top of the graph; the end
CLOSE            s1 is ROOT, nothing on the stack has a label    the end, without a top
===============  ==============================================  =========================================

When ROOT is on the stack only SWAP, ROOT and CLOSE are left. COPY_LEMMA copies the lemma, COPY_LOWER the
word in lower case, COPY_SENSE01 the lemma with -01, COPY_QUOTE the word in quotes. A state that is not final
has a valid action, and any sequence of valid actions ends; `build` makes a connected graph of it.
"""

from __future__ import annotations

import numpy as np

from ...arrays import IntArray
from ...errors import Errors
from .actions import COPIES, ROOT_FORM, Action, AmrSentence, Kind, copied_label
from .graph import Edge

MAX_FORKS = 8
# Most actions for each word, with ROOT; the oracle's sentences stay below 15.
MAX_FACTOR = 20

# Where the words are, see `State.places`.
IN_BUFFER, ON_STACK, REDUCED = 0, 1, 2


class State:
    """The state of one sentence.

    Items are the words (0 to n - 1), ROOT (n), and from n + 1 on what FORK adds.

    Args:
        sentence: The sentence.
        max_forks: Most FORKs for one word.
        max_factor: Most actions for each word, with ROOT: then the state is final.

    Attributes:
        stack: Items, the top last.
        buffer: Items, the front last.
        positions: The word of each item.
        labels: The label of each item; None where it has none.
        edges: Between items, in the order in which they were drawn.
        constants: (item, role, constant), likewise.
        root: The item that is the graph's top; None where there is none.
        n_actions: How many actions were applied.
    """

    __slots__ = (
        "_has_ended", "_limit", "_max_forks", "_n_forks", "_swapped", "buffer", "constants", "edges",
        "labels", "n_actions", "positions", "root", "sentence", "stack",
    )  # fmt: skip

    def __init__(
        self, sentence: AmrSentence, *, max_forks: int = MAX_FORKS, max_factor: int = MAX_FACTOR
    ) -> None:
        n = len(sentence)
        self.sentence = sentence
        self.stack: list[int] = []
        self.buffer = list(range(n, -1, -1))
        self.positions = list(range(n + 1))
        self.labels: list[str | None] = [None] * (n + 1)
        self.edges: dict[Edge, None] = {}
        self.constants: dict[tuple[int, str, str], None] = {}
        self.root: int | None = None
        self.n_actions = 0
        self._max_forks = max_forks
        self._limit = max_factor * (n + 1)
        self._n_forks: dict[int, int] = {}
        self._swapped: set[tuple[int, int]] = set()
        self._has_ended = False

    def copy(self) -> State:
        """A state that goes on apart from this one."""
        state = State.__new__(State)
        for name in State.__slots__:
            value = getattr(self, name)
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
        """s1; None where the stack is empty."""
        return self.stack[-1] if self.stack else None

    @property
    def second(self) -> int | None:
        """s2; None where there is none."""
        return self.stack[-2] if len(self.stack) > 1 else None

    @property
    def front_form(self) -> str | None:
        """The word at the front of the buffer, ROOT_FORM for ROOT; None where the buffer is empty."""
        if not self.buffer:
            return None
        position = self.positions[self.buffer[-1]]
        return ROOT_FORM if position == self.root_item else self.sentence.forms[position]

    @property
    def can_fork(self) -> bool:
        """Whether the word of s1 may have one more item; whether s1 has a label does not count."""
        return bool(self.stack) and self._n_forks.get(self.positions[self.stack[-1]], 0) < self._max_forks

    @property
    def can_swap(self) -> bool:
        """Whether SWAP is valid, unless the state is final."""
        return len(self.stack) > 1 and (self.stack[-2], self.stack[-1]) not in self._swapped

    @property
    def can_close(self) -> bool:
        """Whether nothing on the stack has a label."""
        return all(self.labels[item] is None for item in self.stack)

    def copied(self, kind: Kind) -> str | None:
        """The label that a COPY action gives s1; None where it can't."""
        position = self.positions[self.stack[-1]]
        return copied_label(kind, self.sentence.forms[position], self.sentence.lemmas[position])

    def is_valid(self, action: Action) -> bool:
        """Whether the action may be applied; which words a PRED was seen with is the table's to say."""
        kind, top, second = action.kind, self.top, self.second
        if self.is_final:
            return False
        if top == self.root_item:
            if kind == Kind.SWAP:
                return self.can_swap
            if kind == Kind.ROOT:
                return second is not None and self.labels[second] is not None
            return kind == Kind.CLOSE and self.can_close
        if kind == Kind.SHIFT:
            return bool(self.buffer) and action.label in ("", self.front_form)
        if top is None or kind in (Kind.ROOT, Kind.CLOSE):
            return False
        if kind == Kind.SWAP:
            return self.can_swap
        return kind == Kind.REDUCE or self._may_label_or_draw(action, top, second)

    def apply(self, action: Action) -> None:
        """Apply an action.

        Raises:
            ValueError: If the action is not valid.
        """
        if not self.is_valid(action):
            raise ValueError(Errors.E141.format(action=action, state=self.describe()))
        kind, top = action.kind, self.top
        self.n_actions += 1
        if kind == Kind.SHIFT:
            self.stack.append(self.buffer.pop())
        elif kind == Kind.REDUCE:
            self.stack.pop()
        elif kind == Kind.SWAP:
            self._swapped.add((self.stack[-2], self.stack[-1]))
            self.buffer.append(self.stack.pop(-2))
        elif kind == Kind.CLOSE:
            self._has_ended = True
        elif kind == Kind.ROOT:
            self.root = self.second
            self._has_ended = True
        elif top is not None:
            self._label_or_draw(action, top)

    def places(self) -> tuple[IntArray, IntArray]:
        """Where the words and ROOT are, and how deep: the state that a stack-Transformer attends to.

        Returns:
            Two arrays of shape [n + 1]. IN_BUFFER, ON_STACK or REDUCED for each word: a word of several
            items is where the first of stack and buffer is that has one. And the index of its item from the
            top of the stack or the front of the buffer; -1 for REDUCED.
        """
        places = np.full(self.root_item + 1, REDUCED, dtype=np.int64)
        depths = np.full(self.root_item + 1, -1, dtype=np.int64)
        # The top and the front come last, and the last value of a word is what stays.
        for items, place in ((self.buffer, IN_BUFFER), (self.stack, ON_STACK)):
            words = [self.positions[item] for item in items]
            places[words] = place
            depths[words] = np.arange(len(words) - 1, -1, -1)
        return places, depths

    def describe(self) -> str:
        """Stack and buffer for messages, the top and the front at the bar; at most five items of each."""

        def name(item: int) -> str:
            position = self.positions[item]
            form = ROOT_FORM if position == self.root_item else self.sentence.forms[position]
            return f"{form}/{self.labels[item]}" if self.labels[item] else form

        stack, buffer = self.stack[-5:], self.buffer[:-6:-1]
        return f"{' '.join(map(name, stack))} | {' '.join(map(name, buffer))}"

    def _may_label_or_draw(self, action: Action, top: int, second: int | None) -> bool:
        kind = action.kind
        if kind in COPIES:
            return self.labels[top] is None and self.copied(kind) is not None
        if kind == Kind.PRED:
            return self.labels[top] is None and bool(action.label)
        if self.labels[top] is None:
            return False
        if kind == Kind.FORK:
            return self.can_fork
        if kind == Kind.DEPENDENT:
            return (top, action.label, action.value) not in self.constants
        if second is None or self.labels[second] is None:
            return False
        return self._edge(action, top, second) not in self.edges

    def _label_or_draw(self, action: Action, top: int) -> None:
        kind = action.kind
        if kind == Kind.PRED:
            self.labels[top] = action.label
        elif kind in COPIES:
            self.labels[top] = self.copied(kind)
        elif kind == Kind.DEPENDENT:
            self.constants[top, action.label, action.value] = None
        elif kind == Kind.FORK:
            position = self.positions[top]
            self._n_forks[position] = self._n_forks.get(position, 0) + 1
            self.stack.append(len(self.positions))
            self.positions.append(position)
            self.labels.append(None)
        else:
            self.edges[self._edge(action, top, self.stack[-2])] = None

    @staticmethod
    def _edge(action: Action, top: int, second: int) -> Edge:
        is_left = action.kind == Kind.LA
        return Edge(top, action.label, second) if is_left else Edge(second, action.label, top)
