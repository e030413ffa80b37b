"""Graphs of a sentence compared with the previous graph and with the gold tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..formats.graph import MISSING, ROOT, Arc, Graph

#: Class of an arc by whether it changed, was right before, and is right now.
_KINDS = {
    (False, False, False): "wrong",
    (False, True, True): "same",
    (True, False, False): "moved",
    (True, False, True): "fixed",
    (True, True, False): "broken",
    (True, True, True): "changed",
}
_WRONG = ("wrong", "broken", "moved")
#: Description of the classes that need both a previous graph and a gold tree.
CHANGES_AND_ERRORS = {"fixed": "wrong to right", "broken": "right to wrong", "moved": "wrong to wrong"}


@dataclass(frozen=True, slots=True)
class ComparedGraph:
    """Graph of a sentence with the graphs to compare it with. Words count from 1.

    graph: Graph to draw.
    before: Graph of the previous iteration, or None.
    gold: Gold tree, or None. Heads of -1 and labels of "" in it are unknown.
    doubt: Probability below which an arc with its label is doubtful.
    is_partial: Whether words without a head are nothing to report.
    """

    words: Sequence[str]
    graph: Graph
    before: Graph | None = None
    gold: Graph | None = None
    doubt: float = 0.0
    is_partial: bool = False

    def arc_kinds(self, word: int) -> tuple[str, str]:
        """Classify the head of a word, and its head and label together.

        A kind is "same" or "changed" if gold is unknown. Otherwise it is "same" (right as before), "wrong"
        (wrong as before), "fixed" (wrong to right), "broken" (right to wrong), "moved" (wrong to wrong), or
        "changed" (right with a new label that gold does not know).
        """
        arc = self.graph.arc(word)
        old_arc = arc if self.before is None else self.before.arc(word)
        if self.gold is None or self.gold.arc(word)[0] == MISSING:
            return "changed" if old_arc[0] != arc[0] else "same", "changed" if old_arc != arc else "same"
        right_head, right_dep = self.gold.arc(word)
        was_right, is_right = (a[0] == right_head and right_dep in ("", a[1]) for a in (old_arc, arc))
        head_kind = _KINDS[old_arc[0] != arc[0], old_arc[0] == right_head, arc[0] == right_head]
        return head_kind, _KINDS[old_arc != arc, was_right, is_right]

    def is_doubtful(self, word: int) -> bool:
        """Return whether the probability of a word's head and label is known and below ``doubt``."""
        if not self.graph.head_probs or self.graph.arc(word)[0] == MISSING:
            return False
        label_prob = self.graph.dep_probs[word - 1] if self.graph.dep_probs else 1.0
        return self.graph.head_probs[word - 1] * label_prob < self.doubt

    def facts(self) -> list[str]:
        """Return facts for the caption: changes, errors, roots and cycles."""
        graph, words = self.graph, self.words
        if graph.is_empty:
            return ["no arcs"]
        if self.is_partial:
            return []
        facts = []
        kinds = [self.arc_kinds(word)[1] for word in range(1, len(words) + 1)]
        if self.before is not None:
            n_changed = len(words) - kinds.count("same") - kinds.count("wrong")
            facts.append(f"{_count(n_changed, 'arc')} changed" if n_changed else "nothing changed")
            facts += [
                f"{kinds.count(kind)} {text}" for kind, text in CHANGES_AND_ERRORS.items() if kind in kinds
            ]
        if self.gold is not None:
            n_gold = sum(head != MISSING for head in self.gold.heads)
            n_wrong = sum(kinds.count(kind) for kind in _WRONG)
            facts.append(f"{n_gold - n_wrong} of {n_gold} right")
        if self.doubt and graph.head_probs:
            n_doubtful = sum(map(self.is_doubtful, range(1, len(words) + 1)))
            facts.append(f"{_count(n_doubtful, 'arc')} below {self.doubt:g}")
        if n_more := len(graph.links) - len(words):
            facts.append(_count(n_more, "further arc"))
        n_roots, n_headless = list(graph.heads).count(ROOT), list(graph.heads).count(MISSING)
        if n_headless:
            facts.append(f"{_count(n_headless, 'word')} without head")
        if n_roots != 1:
            facts.append(_count(n_roots, "root"))
        if cycle := graph.find_cycle():
            facts.append("cycle: " + " ← ".join(words[word - 1] for word in (*cycle, cycle[0])))
        return facts

    def describe(self, word: int) -> str:
        """Return the text that a word's arc shows on hover."""
        graph = self.graph
        lines = [self.arc_text(word, graph.arc(word))]
        if graph.arc(word)[0] != MISSING and graph.head_probs:
            dep_prob = f", label {graph.dep_probs[word - 1]:.1%}" if graph.dep_probs else ""
            lines.append(f"head {graph.head_probs[word - 1]:.1%}{dep_prob}")
        if self.before is not None and self.before.arc(word) != graph.arc(word):
            lines.append(f"before: {self.arc_text(word, self.before.arc(word))}")
        if self.gold is not None and self.arc_kinds(word)[1] in _WRONG:
            lines.append(f"gold: {self.arc_text(word, self.gold.arc(word))}")
        return "\n".join(lines)

    def arc_text(self, word: int, arc: Arc) -> str:
        """Return the words and the label of an arc."""
        head, dep = arc
        if head == MISSING:
            return f"{self.words[word - 1]}: no head"
        return f"{self.words[word - 1]} ← {self.words[head - 1] if head else 'ROOT'}: {dep or 'no label'}"


def _count(n: int, noun: str) -> str:
    return f"{n or 'no'} {noun}{'' if n == 1 else 's'}"
