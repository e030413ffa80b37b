"""The static oracle of the AMR machine: the actions that build a graph whose nodes have words.

Each node has a word, and no word more nodes than it has items: a word gets its label, then all its edges to
earlier words, then the next of its nodes; what has no edge to come is reduced. An edge is lost where it needs
a pair to be swapped a second time, which happens in random graphs with many nodes a word.
"""

from __future__ import annotations

from collections.abc import Iterator

from .actions import COPIES, Action, AmrSentence, Kind, copied_label
from .aligner import NO_WORD, Alignment
from .graph import AmrGraph
from .machine import MAX_FORKS, State


def oracle_actions(
    graph: AmrGraph, sentence: AmrSentence, alignment: Alignment, *, max_forks: int = MAX_FORKS
) -> list[Action]:
    """The actions that build a graph over a sentence.

    Edges of a node to itself, nodes that find no word with an item left, and what is beyond the most actions
    of the machine are lost.

    Args:
        graph: The graph.
        sentence: Its sentence.
        alignment: The words of its nodes, see `aligner`. Constants without one become DEPENDENTs.
        max_forks: Most FORKs for one word; further nodes go to the nearest words that have none.
    """
    return list(_Oracle(graph, sentence, alignment, max_forks))


def limit_nodes(words: list[int], n_words: int, max_nodes: int) -> list[int]:
    """Words of nodes such that none has more than `max_nodes`.

    Args:
        words: The word of each node; NO_WORD stays.
        n_words: Words of the sentence.
        max_nodes: Most nodes of a word.

    Returns:
        What is too much goes to the nearest word without a node, else to the nearest with room; NO_WORD if
        there is none.
    """
    counts = [0] * n_words
    for word in words:
        if word != NO_WORD:
            counts[word] += 1
    new = list(words)
    for node in range(len(words) - 1, -1, -1):
        word = words[node]
        if word == NO_WORD or counts[word] <= max_nodes:
            continue
        counts[word] -= 1
        room = [other for other in range(n_words) if counts[other] < max_nodes]
        new[node] = min(
            room, key=lambda other: (counts[other] > 0, abs(other - word), other), default=NO_WORD
        )
        if new[node] != NO_WORD:
            counts[new[node]] += 1
    return new


def label_action(label: str, form: str, lemma: str) -> Action:
    """The action that gives a word its label: the first COPY that does, else PRED."""
    for kind in COPIES:
        if copied_label(kind, form, lemma) == label:
            return Action(kind)
    return Action(Kind.PRED, label)


class _Oracle:
    def __init__(self, graph: AmrGraph, sentence: AmrSentence, alignment: Alignment, max_forks: int) -> None:
        self._graph = graph
        self._state = State(sentence, max_forks=max_forks)
        words = limit_nodes(alignment.words, len(sentence), max_forks + 1)
        self._is_placed = [word != NO_WORD for word in words]
        self._queues = self._order(words)
        # The node of each item that has a label.
        self._nodes: dict[int, int] = {}
        self._items: dict[int, int] = {}
        self._pending: dict[int, list[int]] = {node: [] for node in range(len(graph.labels))}
        for index, (source, _, target) in enumerate(graph.edges):
            if source != target and self._is_placed[source] and self._is_placed[target]:
                self._pending[source].append(index)
                self._pending[target].append(index)

    def __iter__(self) -> Iterator[Action]:
        state = self._state
        while not state.is_final:
            action = self._next()
            item = state.top
            if action.kind in (*COPIES, Kind.PRED) and item is not None:
                node = self._queues[state.positions[item]].pop(0)
                self._nodes[item], self._items[node] = node, item
            state.apply(action)
            yield action
            if item in self._nodes and action.kind in (*COPIES, Kind.PRED):
                yield from self._dependents(self._nodes[item])

    def _next(self) -> Action:
        state = self._state
        top = state.top
        if top is None:
            return Action(Kind.SHIFT)
        if top == state.root_item:
            return self._finish()
        queue = self._queues[state.positions[top]]
        if state.labels[top] is None:
            return self._label(top, queue[0]) if queue else Action(Kind.REDUCE)
        if (arc := self._arc(top)) is not None:
            return arc
        partners = self._partners(self._nodes[top])
        if any(item in partners for item in state.stack[:-1]) and state.can_swap:
            return Action(Kind.SWAP)
        if queue and state.can_fork:
            return Action(Kind.FORK)
        is_root = self._nodes[top] == self._graph.top
        return Action(Kind.SHIFT if self._pending[self._nodes[top]] or is_root else Kind.REDUCE)

    def _finish(self) -> Action:
        """ROOT is on top: down to the item of the graph's top."""
        state, second = self._state, self._state.second
        root = self._items.get(self._graph.top)
        if second is not None and second == root:
            return Action(Kind.ROOT)
        if state.can_close:
            return Action(Kind.CLOSE)
        return Action(Kind.SWAP)

    def _label(self, item: int, node: int) -> Action:
        position = self._state.positions[item]
        sentence = self._state.sentence
        return label_action(self._graph.labels[node], sentence.forms[position], sentence.lemmas[position])

    def _dependents(self, node: int) -> Iterator[Action]:
        """Constants without a word, under a node that just got its label."""
        for source, role, target in self._graph.edges:
            if source == node and not self._is_placed[target] and target in self._graph.constants:
                action = Action(Kind.DEPENDENT, role, self._graph.labels[target])
                if self._state.is_valid(action):
                    self._state.apply(action)
                    yield action

    def _arc(self, top: int) -> Action | None:
        """An edge between top and second that is still to draw."""
        second = self._state.second
        if second not in self._nodes or self._state.labels[top] is None:
            return None
        node, other = self._nodes[top], self._nodes[second]
        for index in self._pending[node]:
            source, role, target = self._graph.edges[index]
            if other in (source, target):
                self._pending[node].remove(index)
                self._pending[other].remove(index)
                return Action(Kind.LA if source == node else Kind.RA, role)
        return None

    def _partners(self, node: int) -> set[int]:
        """The items that a node has an edge to draw with, of those that have labels."""
        found = set()
        for index in self._pending[node]:
            source, _, target = self._graph.edges[index]
            other = target if source == node else source
            if other in self._items:
                found.add(self._items[other])
        return found

    def _order(self, words: list[int]) -> dict[int, list[int]]:
        """The nodes of each word: those with the most edges to other words first, then by the text."""
        outside = [0] * len(words)
        for source, _, target in self._graph.edges:
            if words[source] != words[target]:
                outside[source] += 1
                outside[target] += 1
        queues: dict[int, list[int]] = {position: [] for position in range(len(self._state.sentence) + 1)}
        for node in sorted(range(len(words)), key=lambda node: (-outside[node], node)):
            if words[node] != NO_WORD:
                queues[words[node]].append(node)
        return queues
