"""Words, dependency trees with an explicit word order, and their CoNLL-U lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Word(NamedTuple):
    """Lexical columns of a CoNLL-U line."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"


class Node:
    """Word in a tree, with the phrase around it.

    `before` and `after` have the nodes to its left and right, in surface order. A node depends on the
    node whose `before` or `after` it is in, unless `head` names another node. This way, a phrase can
    stand outside the phrase that it depends on, and arcs can cross.
    """

    def __init__(self, word: Word, *, tight: bool = False, joined: bool = False) -> None:
        self.word = word
        self.rel = "root"
        self.head: Node | None = None
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.tight = tight  # no space before it
        self.joined = joined  # a syntactic word of the same surface token as the word before it
        self.cls = ""  # semantic class of a noun
        self.agr = "3s"  # person and number, of a noun phrase
        self.heavy = False  # ends in a clause, so that nothing should follow it

    def left(self, rel: str, child: Node, head: Node | None = None) -> Node:
        """Put `child` directly to the left of this word; return this node."""
        self.before.append(child.governed(rel, head or self))
        return self

    def first(self, rel: str, child: Node, head: Node | None = None) -> Node:
        """Put `child` at the left edge of the phrase; return this node."""
        self.before.insert(0, child.governed(rel, head or self))
        return self

    def right(self, rel: str, child: Node, head: Node | None = None) -> Node:
        """Put `child` at the right edge of the phrase; return this node."""
        self.after.append(child.governed(rel, head or self))
        return self

    def governed(self, rel: str, head: Node) -> Node:
        """Set the relation and the head; return this node."""
        self.rel, self.head = rel, head
        return self

    def in_order(self) -> Iterator[Node]:
        """Yield all words of the phrase in surface order."""
        for child in self.before:
            yield from child.in_order()
        yield self
        for child in self.after:
            yield from child.in_order()


class Dice:
    """Random choices that are the same on every Python, as they use only `Random.random`."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self._decks: dict[str, list[Any]] = {}

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def number(self, low: int, high: int) -> int:
        """Return a number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, items: list[T]) -> T:
        return items[int(self._random() * len(items))]

    def deal(self, items: list[T]) -> T:
        """Return an item like `pick`, but every item comes once before any item comes again."""
        deck = self._decks.setdefault(str(items), [])
        if not deck:
            deck.extend(items)
        item: T = deck.pop(int(self._random() * len(deck)))
        return item

    def weighted(self, items: Sequence[tuple[float, T]]) -> T:
        point = self._random() * sum(weight for weight, _ in items)
        for weight, item in items:
            point -= weight
            if point < 0:
                return item
        return items[-1][1]


class Sentence:
    """Finished tree with its surface tokens, text and CoNLL-U lines."""

    def __init__(self, root: Node) -> None:
        self.nodes = list(root.in_order())
        self.forms = [node.word.form for node in self.nodes]
        for i, following in enumerate(self.forms[1:]):
            if self.nodes[i].word.lemma == "a":
                self.forms[i] = "an" if following[0] in "aeiou" or following in ("hour", "honest") else "a"
        self.forms[0] = self.forms[0][0].upper() + self.forms[0][1:]
        self.tokens: list[tuple[int, int]] = []  # first and last word of each surface token
        for i, node in enumerate(self.nodes):
            self.tokens.append((self.tokens.pop()[0] if node.joined else i, i))
        self.text = "".join(
            "".join(self.forms[start : end + 1]) + " " * self._spaced(end) for start, end in self.tokens
        )

    def _spaced(self, end: int) -> bool:
        is_last = end + 1 == len(self.nodes)
        return not is_last and not self.nodes[end + 1].tight and self.forms[end] != "("

    def lines(self) -> Iterator[str]:
        """Yield the CoNLL-U lines of the words, without comments."""
        place = {id(node): i for i, node in enumerate(self.nodes, start=1)}
        for start, end in self.tokens:
            misc = "_" if self._spaced(end) or end + 1 == len(self.nodes) else "SpaceAfter=No"
            if end > start:
                form = "".join(self.forms[start : end + 1])
                yield "\t".join([f"{start + 1}-{end + 1}", form, *"_" * 7, misc])
                misc = "_"
            for i in range(start, end + 1):
                node = self.nodes[i]
                head = place[id(node.head)] if node.head else 0
                columns = [str(i + 1), self.forms[i], *node.word[1:], str(head), node.rel, "_", misc]
                yield "\t".join(columns)
