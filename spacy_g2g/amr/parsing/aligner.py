"""Find a word for each node of an AMR: by rules, then by EM, then from a neighbor.

The rules are in `align_rules`. A concept may have a word that shares no letters with it (fear-01 and
"afraid"). EM learns such pairs from the nodes and words of a corpus for which the rules find nothing. It fits
IBM model 1 (Brown et al. 1993) of concepts given words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from ...transition.parsing.state import NO_WORD
from .actions import AmrSentence
from .align_rules import AlignRules
from .graph import AmrGraph
from .lemmas import stem

# "neighbour" is the spelling of "neighbor" in pipelines of early versions.
Unaligned = Literal["neighbor", "free_word", "neighbour"]

# Nodes that come from the graph's structure and not from a word. They take the word of a child.
STRUCTURE = re.compile(r"name|.*-(?:entity|quantity|interval)(?:-91)?")
# Constants under these roles have no word: DEPENDENT adds them to the node above.
MODIFIERS = ("polarity", "mode", "polite")

N_ITERATIONS = 8
MIN_COUNT, MIN_PROBABILITY, DISTANCE_DECAY = 1.5, 0.05, 0.15


class Aligner:
    """Finds a word for each node.

    unaligned: The word for a node that no rule places: the word of a "neighbor", or the nearest "free_word".
    translations: Probability of a concept given a word, learned by EM.
    """

    def __init__(self, unaligned: Unaligned = "neighbor") -> None:
        self.unaligned = unaligned
        self.translations: dict[tuple[str, str], float] = {}

    def learn(self, pairs: Iterable[tuple[AmrGraph, AmrSentence]], iterations: int = N_ITERATIONS) -> None:
        """Learn the words of concepts from graphs and sentences, and forget what was learned before."""
        bags = []
        for graph, sentence in pairs:
            search = _Placement(graph, sentence)
            search.run_rules()
            concepts = [stem(graph.labels[node]) for node in search.open_nodes()]
            words = [sentence.lemmas[word].lower() for word in search.unused_words()]
            if concepts and words:
                bags.append((concepts, words))
        self.translations = _model_1(bags, iterations)

    def align(self, graph: AmrGraph, sentence: AmrSentence) -> list[int]:
        """Return the word of each node of a graph. Markers of the graph come before any rule.

        Constants without a word have NO_WORD, and so do all nodes if the sentence is empty.
        """
        search = _Placement(graph, sentence)
        if len(sentence):
            search.run_rules()
            search.run_translations(self.translations)
            search.propagate(self.unaligned)
        return search.words


class _Placement:
    """The words found so far for the nodes of one graph."""

    def __init__(self, graph: AmrGraph, sentence: AmrSentence) -> None:
        self.graph = graph
        self.sentence = sentence
        self.words = [NO_WORD] * len(graph.labels)
        self.neighbors = graph.neighbors()
        self._used = [0] * len(sentence)
        self._modifiers = {edge.target for edge in graph.edges if edge.role in MODIFIERS} & graph.constants

    def run_rules(self) -> None:
        """Place nodes by markers, then by rules from safe to bold, then by structure."""
        for node, marked in self.graph.markers.items():
            inside = [word for word in marked if word < len(self.sentence)]
            if inside and node not in self._modifiers:
                self._set(node, inside[-1])
        rules = AlignRules(self.sentence)
        for rule in (rules.sure_words, rules.prefix_words):
            unplaced = (node for node, word in enumerate(self.words) if word == NO_WORD)
            candidates = {
                node: rule(self.graph.labels[node]) for node in unplaced if node not in self._modifiers
            }
            self._resolve({node: words for node, words in candidates.items() if words})
        self._place_structure()

    def run_translations(self, translations: dict[tuple[str, str], float]) -> None:
        """Place nodes on unused words by learned probabilities and by distance to the neighbors' words."""
        scored = []
        for node in self.open_nodes():
            concept = stem(self.graph.labels[node])
            for word in self.unused_words():
                p = translations.get((concept, self.sentence.lemmas[word].lower()), 0.0)
                if p > MIN_PROBABILITY:
                    score = p * math.exp(-DISTANCE_DECAY * self._distance(node, word))
                    scored.append((-score, node, word))
        for _, node, word in sorted(scored):
            if self.words[node] == NO_WORD and not self._used[word]:
                self._set(node, word)

    def propagate(self, unaligned: Unaligned) -> None:
        """Place each remaining concept on the word of a child, or of a parent if no child has a word."""
        while nodes := self.open_nodes():
            node, word = self._nearest(nodes)
            if unaligned == "free_word":
                free = self.unused_words()
                word = min(free, key=lambda other: (abs(other - word), other), default=word)
            self._set(node, word)

    def open_nodes(self) -> list[int]:
        """Return the concepts without a word."""
        constants = self.graph.constants
        return [node for node, word in enumerate(self.words) if word == NO_WORD and node not in constants]

    def unused_words(self) -> list[int]:
        """Return the words without a node."""
        return [word for word, n in enumerate(self._used) if not n]

    def _set(self, node: int, word: int) -> None:
        self.words[node] = word
        self._used[word] += 1

    def _resolve(self, candidates: dict[int, list[int]]) -> None:
        """Choose a word for each node: first if it has one candidate, then beside placed nodes."""
        left = dict(sorted(candidates.items(), key=lambda item: (len(item[1]) > 1, item[0])))
        while left:
            node = next(iter(left))
            if len(left[node]) > 1:
                node = next(filter(self._is_beside_placed, left), node)
            word = min(left.pop(node), key=lambda word: (self._used[word], self._distance(node, word), word))
            self._set(node, word)

    def _is_beside_placed(self, node: int) -> bool:
        return any(self.words[other] != NO_WORD for other in self.neighbors[node])

    def _distance(self, node: int, word: int) -> float:
        """Return the mean distance from a word to the words of a node's neighbors, or 0."""
        placed = [self.words[other] for other in self.neighbors[node] if self.words[other] != NO_WORD]
        return sum(abs(other - word) for other in placed) / len(placed) if placed else 0.0

    def _place_structure(self) -> None:
        """Place names at the last of their strings, named things at their name, quantities at a child."""
        for is_named in (False, True):
            # Children come after their parents.
            for node in reversed(self.open_nodes()):
                children = [edge for edge in self.graph.edges if edge.source == node]
                names = [edge.target for edge in children if edge.role == "name"]
                is_structure = STRUCTURE.fullmatch(self.graph.labels[node]) is not None
                targets = names if is_named else [edge.target for edge in children] * is_structure
                words = [self.words[target] for target in targets if self.words[target] != NO_WORD]
                if words:
                    is_last = is_named or self.graph.labels[node] == "name"
                    self._set(node, max(words) if is_last else words[0])

    def _nearest(self, nodes: Sequence[int]) -> tuple[int, int]:
        """Return the next node to place, deepest first, and the word of a child or parent."""
        for is_child in (True, False):
            for node in reversed(nodes) if is_child else nodes:
                word = self._related(node, is_child)
                if word != NO_WORD:
                    return node, word
        return nodes[0], 0

    def _related(self, node: int, is_child: bool) -> int:
        """Return the word of a child (or of a parent) in the text, inverse roles first, or NO_WORD."""
        inverse = [e.source for e in self.graph.edges if e.target == node and (e.source > node) == is_child]
        forward = [e.target for e in self.graph.edges if e.source == node and (e.target > node) == is_child]
        placed = (self.words[other] for other in (*inverse, *forward) if self.words[other] != NO_WORD)
        return next(placed, NO_WORD)


def _model_1(bags: Sequence[tuple[list[str], list[str]]], iterations: int) -> dict[tuple[str, str], float]:
    """Return the probabilities of concepts given words. Concepts without a word go to an extra word."""
    extra_word = ""
    probabilities: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, str], float] = {}
    for _ in range(iterations):
        counts = {}
        totals: dict[str, float] = {}
        for concepts, words in bags:
            for concept in concepts:
                pairs = [(concept, word) for word in (*words, extra_word)]
                weights = [probabilities.get(pair, 1.0 if not probabilities else 0.0) for pair in pairs]
                total = sum(weights)
                for pair, weight in zip(pairs, weights, strict=True):
                    counts[pair] = counts.get(pair, 0.0) + weight / total
                    totals[pair[1]] = totals.get(pair[1], 0.0) + weight / total
        probabilities = {pair: count / totals[pair[1]] for pair, count in counts.items()}
    return {
        pair: p
        for pair, p in probabilities.items()
        if pair[1] != extra_word and p > MIN_PROBABILITY and counts[pair] > MIN_COUNT
    }
