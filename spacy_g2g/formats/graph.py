"""Graphs over the words of a sentence, as everything outside of models reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

#: Heads of roots, and of words without a head.
ROOT, MISSING = 0, -1
#: Head and label of an arc.
Arc = tuple[int, str]


@lru_cache(maxsize=10_000)
def universal(dep: str) -> str:
    """Return a label without its subtypes."""
    return dep.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Graph:
    """Heads of the words of a sentence: a tree, or any other graph (cycles, roots, no arcs, several heads).

    Words count from 1. Trees and cycles are those of the first head of each word.

    heads: Number of each word's head; 0 for ROOT, -1 if missing.
    deps: Label of each word, "" if missing.
    head_probs: Probability of each head, or nothing.
    dep_probs: Probability of each label, or nothing.
    more: Further heads and labels of each word, as an enhanced graph has them, or nothing.
    """

    heads: Sequence[int]
    deps: Sequence[str]
    head_probs: Sequence[float] = ()
    dep_probs: Sequence[float] = ()
    more: Sequence[Sequence[Arc]] = ()

    @classmethod
    def from_arcs(cls, arcs: Sequence[Sequence[Arc]]) -> Graph:
        """Make a graph from the heads and labels of each word."""
        heads, deps, more = [], [], []
        for word_arcs in arcs:
            head, dep = word_arcs[0] if word_arcs else (MISSING, "")
            heads.append(head)
            deps.append(dep)
            more.append(word_arcs[1:])
        return cls(heads, deps, more=more)

    @property
    def is_empty(self) -> bool:
        """Whether no word has a head."""
        return all(head == MISSING for head in self.heads)

    @property
    def is_tree(self) -> bool:
        """Whether each word has a head, exactly one of them is ROOT, and no words form a cycle."""
        return MISSING not in self.heads and list(self.heads).count(ROOT) == 1 and not self.find_cycle()

    @property
    def is_whole(self) -> bool:
        """Whether this is a tree in which each word has a label."""
        return "" not in self.deps and self.is_tree

    def arc(self, word: int) -> Arc:
        """Return head and label of a word, which counts from 1."""
        return self.heads[word - 1], self.deps[word - 1]

    @property
    def links(self) -> list[tuple[int, int, str]]:
        """Word, head and label of the first arc of each word, then of the further arcs."""
        links = [(word, *self.arc(word)) for word in range(1, len(self.heads) + 1)]
        for word, arcs in enumerate(self.more, start=1):
            links += [(word, *arc) for arc in arcs]
        return links

    def with_ud_root(self) -> Graph:
        """Return this graph with the label of roots as UD has it, where spaCy has ROOT."""
        arcs = zip(self.heads, self.deps, strict=True)
        return replace(self, deps=["root" if arc == (ROOT, "ROOT") else arc[1] for arc in arcs])

    def find_cycle(self) -> list[int]:
        """Return the words of one cycle, each followed by its head, or nothing if there is no cycle."""
        return next(self.cycles(), [])

    def cycles(self) -> Iterator[list[int]]:
        """Yield the words of each cycle, each followed by its head."""
        heads = self.heads
        visited = [0] * (len(heads) + 1)  # the walk that first came here
        for start in range(1, len(heads) + 1):
            word = start
            while word > ROOT and not visited[word]:
                visited[word] = start
                word = heads[word - 1]
            if word > ROOT and visited[word] == start:
                cycle = [word]
                while (head := heads[cycle[-1] - 1]) != word:
                    cycle.append(head)
                yield cycle
