"""The static oracle of the AMR machine: the actions that build a graph whose nodes have words.

Each node has a word, and no word has more nodes than it may have items. A word gets its label, then all its
edges to earlier words, then its next node. A word without edges to come is reduced. An edge that needs a pair
to be swapped a second time is lost; this happens in random graphs with many nodes for each word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...transition.parsing.state import NO_WORD
from .actions import COPIES, ActionKind, AmrAction, AmrSentence, copied_label
from .graph import AmrGraph
from .machine import MAX_FORKS, AmrState


def amr_oracle_actions(
    graph: AmrGraph, sentence: AmrSentence, words: list[int], *, max_forks: int = MAX_FORKS
) -> list[AmrAction]:
    """Return the actions that build a graph over a sentence.

    They do not build edges of a node to itself, or nodes for which no word has an item left. They end after
    the machine's maximum number of actions.

    graph: The graph.
    sentence: Sentence of the graph.
    words: Word of each node, see `aligner`. Constants without a word become DEPENDENTs.
    max_forks: Maximum number of FORKs for one word. Further nodes move to other words, see `limit_nodes`.
    """
    return list(_Oracle(graph, sentence, words, max_forks))


def limit_nodes(words: list[int], n_words: int, *, max_nodes: int) -> list[int]:
    """Return new words for nodes, so that no word has more than `max_nodes`.

    An excess node moves to the nearest word without a node, or if there is none, to the nearest word with
    room. If no word has room, it gets NO_WORD.

    words: Word of each node; NO_WORD stays.
    n_words: Number of words in the sentence.
    max_nodes: Maximum number of nodes of a word.
    """
    counts = Counter(words)
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
        counts[new[node]] += 1
    return new


class _Oracle:
    def __init__(self, graph: AmrGraph, sentence: AmrSentence, words: list[int], max_forks: int) -> None:
        self._graph = graph
        self._state = AmrState(sentence, max_forks=max_forks)
        words = limit_nodes(words, len(sentence), max_nodes=max_forks + 1)
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

    def __iter__(self) -> Iterator[AmrAction]:
        state = self._state
        while not state.is_final:
            action = self._next()
            item = state.top
            if action.kind in (*COPIES, ActionKind.PRED) and item is not None:
                node = self._queues[state.words[item]].pop(0)
                self._nodes[item], self._items[node] = node, item
            state.apply(action)
            yield action
            if item in self._nodes and action.kind in (*COPIES, ActionKind.PRED):
                yield from self._dependents(self._nodes[item])

    def _next(self) -> AmrAction:
        state = self._state
        top = state.top
        if top is None:
            return AmrAction(ActionKind.SHIFT)
        if top == state.root_item:
            return self._finish()
        queue = self._queues[state.words[top]]
        if state.labels[top] is None:
            return self._label(top, queue[0]) if queue else AmrAction(ActionKind.REDUCE)
        if (arc := self._arc(top)) is not None:
            return arc
        partners = self._partners(self._nodes[top])
        if any(item in partners for item in state.stack[:-1]) and state.can_swap:
            return AmrAction(ActionKind.SWAP)
        if queue and state.can_fork:
            return AmrAction(ActionKind.FORK)
        is_root = self._nodes[top] == self._graph.top
        return AmrAction(
            ActionKind.SHIFT if self._pending[self._nodes[top]] or is_root else ActionKind.REDUCE
        )

    def _finish(self) -> AmrAction:
        """Return the next action while ROOT is on top: swap down to the item of the graph's top."""
        state, second = self._state, self._state.second
        root = self._items.get(self._graph.top)
        if second is not None and second == root:
            return AmrAction(ActionKind.ROOT)
        if state.can_close:
            return AmrAction(ActionKind.CLOSE)
        return AmrAction(ActionKind.SWAP)

    def _label(self, item: int, node: int) -> AmrAction:
        """Return the first COPY that gives a node its label, or PRED if none does."""
        word, sentence, label = self._state.words[item], self._state.sentence, self._graph.labels[node]
        for kind in COPIES:
            if copied_label(kind, sentence.forms[word], lemma=sentence.lemmas[word]) == label:
                return AmrAction(kind)
        return AmrAction(ActionKind.PRED, label)

    def _dependents(self, node: int) -> Iterator[AmrAction]:
        """Apply and yield the DEPENDENTs of a node that just got its label."""
        state, item = self._state, self._items[node]
        for source, role, target in self._graph.edges:
            label = self._graph.labels[target]
            is_dependent = source == node and not self._is_placed[target] and target in self._graph.constants
            if is_dependent and (item, role, label) not in state.constants and not state.is_final:
                action = AmrAction(ActionKind.DEPENDENT, role, label)
                state.apply(action)
                yield action

    def _arc(self, top: int) -> AmrAction | None:
        """Return the action for an edge between top and second that is still missing, or None."""
        second = self._state.second
        if second not in self._nodes or self._state.labels[top] is None:
            return None
        node, other = self._nodes[top], self._nodes[second]
        for index in self._pending[node]:
            source, role, target = self._graph.edges[index]
            if other in (source, target):
                self._pending[node].remove(index)
                self._pending[other].remove(index)
                return AmrAction(ActionKind.LA if source == node else ActionKind.RA, role)
        return None

    def _partners(self, node: int) -> set[int]:
        """Return the labeled items to which a node still lacks an edge."""
        items = set()
        for index in self._pending[node]:
            source, _, target = self._graph.edges[index]
            other = target if source == node else source
            if other in self._items:
                items.add(self._items[other])
        return items

    def _order(self, words: list[int]) -> dict[int, list[int]]:
        """Return the nodes of each word: those with more edges to other words first, then by the text."""
        outside = [0] * len(words)
        for source, _, target in self._graph.edges:
            if words[source] != words[target]:
                outside[source] += 1
                outside[target] += 1
        queues: dict[int, list[int]] = {word: [] for word in range(len(self._state.sentence) + 1)}
        for node in sorted(range(len(words)), key=lambda node: (-outside[node], node)):
            if words[node] != NO_WORD:
                queues[words[node]].append(node)
        return queues
