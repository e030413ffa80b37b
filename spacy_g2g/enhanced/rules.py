"""Rules that make an enhanced graph from a tree, lemmas and features.

https://universaldependencies.org/u/overview/enhanced-syntax.html describes such graphs. The rules add markers
to labels (``nmod:of``, ``conj:and``), heads and subjects that conjuncts share, subjects of open clausal
complements, and antecedents of relative clauses. They make no empty nodes for elided words.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..formats.graph import ROOT, Arc, Graph, universal
from ..formats.rows import ConlluWord
from .conventions import PREDICATES, Conventions, conventions_of, pattern_of

#: Unicode categories of the characters in markers: lower-case letters, and marks on them.
LETTERS = frozenset({"Ll", "Lm", "Lo", "Mc", "Me", "Mn"})
#: Words that say where or when a relative clause holds, not whom it is about: *the day he left*.
ADVERBIAL = frozenset({"case", "day", "moment", "place", "reason", "time", "way", "week", "year"})
#: Maximum number of arcs that a word shares by a rule. Only the trees of a bad parser have more.
MAX_ARGUMENTS = 20
CASE = re.compile(r"\bCase=(\w+)")


class Word(NamedTuple):
    """The columns of a word in CoNLL-U that the rules read.

    head: Number of the head, counted from 1; 0 for the root, None if missing.
    """

    form: str
    lemma: str
    upos: str
    feats: str
    head: int | None
    deprel: str


def enhance(words: Sequence[Word | ConlluWord], conventions: Conventions | str = "") -> list[list[Arc]]:
    """Return heads and labels of each word in the enhanced graph of a sentence. ROOT leads to each word.

    words: Words of a tree. A word without a head, and one word of a cycle, count as further roots.
    conventions: Conventions of the treebank, or the code of a language for those of the language.
    """
    if isinstance(conventions, str):
        conventions = conventions_of(conventions)
    return Enhancer(words, conventions).graph()


class Enhancer:
    """Graph of a sentence that grows. Words count from 1, and lists begin with an entry for ROOT.

    heads, deps, relations: Head, label, and label without subtype of each word in the tree.
    children: Dependents of each word in the tree.
    patterns, controlled: ``labels`` and ``controlled`` of the conventions, as dictionaries.
    arcs: Heads and labels of each word in the graph.
    arguments: Subjects and objects of each word in the graph, with their labels.
    with_copula: Words that have a copula.
    conjuncts: Conjuncts that depend on each word.
    coordinators: The word that joins each conjunct to the others, in a list; [] if there is none.
    """

    def __init__(self, words: Sequence[Word | ConlluWord], conventions: Conventions) -> None:
        self.words, self.conventions = [*words[:1], *words], conventions  # the first one is never read
        heads = [word.head if word.head and 0 < word.head <= len(words) else ROOT for word in words]
        for cycle in Graph([*heads], [""] * len(words)).cycles():
            heads[cycle[0] - 1] = ROOT
        self.heads, self.deps = [ROOT, *heads], ["", *(_label(word.deprel) for word in words)]
        self.relations = [*map(universal, self.deps)]
        self.children: list[list[int]] = [[] for _ in self.heads]
        for i, head in enumerate(heads, start=1):
            self.children[head].append(i)
        self.with_copula = {self.heads[i] for i, relation in enumerate(self.relations) if relation == "cop"}
        self.patterns, self.controlled = dict(conventions.labels), dict(conventions.controlled)
        self.coordinators: dict[int, list[int]] = {}
        self.conjuncts = [self.having(head, "conj") for head in range(len(self.heads))]
        for conjuncts in self.conjuncts:
            self.find_coordinators(conjuncts)
        self.arcs: list[dict[Arc, None]] = [{} for _ in self.heads]
        self.arguments: list[list[Arc]] = [[] for _ in self.heads]

    def graph(self) -> list[list[Arc]]:
        """Apply the rules. Each goes from the root downwards, since a word passes its arcs on."""
        order = [*self.children[ROOT]]
        for i in order:
            order += self.children[i]
        for rule in (self.copy_arc, self.share_heads, self.share_modifier, self.refer, self.share_subjects):
            for i in order:
                rule(i)
        return [sorted(arcs) for arcs in self.arcs[1:]]

    def copy_arc(self, i: int) -> None:
        """Add the arc of the tree, with the label that it has in graphs."""
        dep = self.label(i, self.deps[i]) if self.heads[i] else "root"
        self.add(i, head=self.heads[i], dep=dep)

    def share_heads(self, i: int) -> None:
        """Give a conjunct the heads of the first conjunct, with its own marker and case if it has them."""
        first = self.heads[i]
        for head, dep in [*self.arcs[first]][:MAX_ARGUMENTS] if self.relations[i] == "conj" else ():
            if universal(dep) not in self.conventions.unshared:
                is_of_tree = head and head == self.heads[first]
                self.add(i, head=head, dep=self.label(i, self.deps[first], first) if is_of_tree else dep)

    def share_modifier(self, i: int) -> None:
        """Attach a word to all conjuncts if it depends on the first one and stands behind the others."""
        head, is_modifier = self.heads[i], self.relations[i] not in ("cc", "conj", "punct")
        for conjunct in self.conjuncts[head][:MAX_ARGUMENTS] if head and is_modifier else ():
            if conjunct < i and self.conventions.shared_modifiers:
                self.add(i, head=conjunct, dep=self.label(i, self.deps[i]))

    def refer(self, i: int) -> None:
        """Give the head of a relative clause the function of its pronoun, which becomes a ref of the head."""
        antecedent = self.heads[i]
        before = [child for child in self.children[i] if child < i]
        below = chain.from_iterable(self.children[child] for child in before)
        pronouns = filter(self.is_relative, [*self.children[i], *below])
        relatives = self.conventions.relatives
        is_relative = bool(antecedent and relatives) and self.deps[i] == "acl:relcl"
        pronoun = next(pronouns, 0) if is_relative else 0
        if is_relative and not pronoun:
            self.refer_without_pronoun(i)
        if pronoun:
            head, dep = self.heads[pronoun], self.deps[pronoun]
            if relatives == "named" and universal(dep) in ("nsubj", "obj"):
                dep += ":rel" + universal(dep).removeprefix("n")
            if relatives != "kept":
                self.arcs[pronoun].clear()
                self.arguments[head] = [arc for arc in self.arguments[head] if arc[0] != pronoun]
            self.add(pronoun, head=antecedent, dep="ref")
            self.add(antecedent, head=head, dep=dep)

    def refer_without_pronoun(self, i: int) -> None:
        """Make the head of a relative clause the subject of the clause, or the object if it has a subject.

        In *offers you want to make*, it is the object of *make*. A word such as *where*, a preposition
        without a noun or a head such as *day* shows that it is neither.
        """
        antecedent = self.heads[i]
        if not self.having(i, "nsubj", "csubj", "expl"):
            passive = any(self.deps[child] == "aux:pass" for child in self.children[i])
            self.add(antecedent, head=i, dep="nsubj:pass" if passive else "nsubj")
            return
        has_mark = bool(self.having(i, "mark"))
        while opened := self.having(i, "xcomp"):
            if self.having(i, "obj"):
                return
            i = opened[0]
        others = [child for child in self.children[i] if self.is_place(child) or ":pass" in self.deps[child]]
        is_other = self.words[antecedent].lemma in ADVERBIAL or self.having(i, "obj", "ccomp", "cop")
        if self.words[i].upos == "VERB" and not (is_other or others or has_mark):
            self.add(antecedent, head=i, dep="obj")

    def share_subjects(self, i: int) -> None:
        """Give a predicate the subjects of the first conjunct, and of the head that controls it."""
        upos, first = self.words[i].upos, self.heads[i]
        is_shared = self.words[first].upos in ("ADJ", "AUX", "VERB") or first in self.with_copula
        shared, controlled = self.conventions.shared_subjects, self.controlled
        if shared and self.relations[i] == "conj" and first and is_shared and upos in PREDICATES:
            is_passive = any(self.deps[child] == "aux:pass" for child in self.children[i])
            label = "nsubj:pass" if is_passive else "nsubj"
            for subject, dep in self.arguments[first][:MAX_ARGUMENTS]:
                is_own = dep == "nsubj" or (universal(dep) == "nsubj" and dep not in controlled.values())
                if is_own and not self.having(i, "nsubj", "csubj", "expl"):
                    self.add(subject, head=i, dep=dep if shared == "same" else label)
        if upos in self.conventions.controlled_pos:
            for controller, dep in [arc for arc in self.arcs[i] if arc[1] in controlled]:
                for word in self.find_subjects(controller):
                    self.add(word, head=i, dep=controlled[dep])

    def find_subjects(self, i: int) -> list[int]:
        """Return the subjects of a word's xcomp: its indirect objects, or its objects, or its subjects."""
        arguments = self.arguments[i][:MAX_ARGUMENTS]
        for kind in ("iobj", "obj", "nsubj"):
            words = [word for word, dep in arguments if universal(dep) == kind]
            if words:
                return words
        return []

    def add(self, word: int, *, head: int, dep: str) -> None:
        """Add an arc unless it is there or leads from the word to itself."""
        if head != word and (head, dep) not in self.arcs[word]:
            self.arcs[word][head, dep] = None
            if universal(dep) in ("nsubj", "obj", "iobj"):
                self.arguments[head].append((word, dep))

    def label(self, i: int, dep: str, first: int = 0) -> str:
        """Return the label in graphs of a label in the tree, for the marker and the case of a word.

        first: First conjunct, whose marker and case the word takes if it has none; 0 for none.
        """
        pattern = pattern_of(dep, self.patterns)
        return dep if pattern == dep else self.fill(pattern, i, dep, first)

    def fill(self, pattern: str, i: int, dep: str, first: int = 0) -> str:
        """Put the marker and the case of a word into the pattern of a label."""
        bearers = (i, first) if first else (i,)
        found = [self.find_markers(word, dep) for word in bearers]
        marker = next(filter(None, map(self.join, found)), "")
        cases = (CASE.search(self.words[word].feats) for word in (i, *found[0], *bearers))
        case = next((match[1].lower() for match in cases if match), "")
        values = {"MARKER": marker, "CASE": case, "EITHER": marker or case}
        return ":".join(filter(None, (values.get(part, part) for part in pattern.split(":"))))

    def find_markers(self, i: int, dep: str) -> list[int]:
        """Return the words that mark the function of a word, such as its prepositions."""
        relation = universal(dep)
        if relation == "conj":
            return self.coordinators.get(i, [])
        is_nominal = relation in ("nmod", "obl")
        return self.having(i, *(self.conventions.nominal_markers if is_nominal else ("case", "mark")))

    def join(self, words: Sequence[int]) -> str:
        """Return the marker that words make: the first or the last of them, or all."""
        markers = [*filter(None, map(self.marker, words))]
        chosen = {"first": markers[:1], "last": markers[-1:], "all": markers}
        return "_".join(chosen[self.conventions.markers])

    def find_coordinators(self, conjuncts: Sequence[int]) -> None:
        """Find the coordinator of each conjunct of a word: its own, the next one, or the last one."""
        own = {i: self.having(i, "cc")[:1] for i in conjuncts}
        last = next(filter(None, (own[i] for i in reversed(conjuncts))), [])
        for i in reversed(conjuncts):
            last = self.coordinators[i] = own[i] or last

    def marker(self, i: int) -> str:
        """Return the lemma of a marker, or the form of a verb; "" if it has other characters than letters."""
        word = self.words[i]
        parts = [word.form if word.upos == "VERB" else word.lemma]
        fixed = self.conventions.fixed
        parts += [getattr(self.words[child], fixed) for child in self.having(i, "fixed") if fixed]
        kinds = [{*map(unicodedata.category, part.lower())} for part in parts]
        return "_".join(parts).lower() if all(kind and kind <= LETTERS for kind in kinds) else ""

    def having(self, i: int, *relations: str) -> list[int]:
        """Return the dependents of a word in the tree that have one of the relations."""
        return [child for child in self.children[i] if self.relations[child] in relations]

    def is_place(self, i: int) -> bool:
        """Return whether a word holds the place of the head of a relative clause: *where*, *to*."""
        word = self.words[i]
        return word.upos == "ADP" or "PronType=Rel" in word.feats or "PronType=Int" in word.feats

    def is_relative(self, i: int) -> bool:
        """Return whether a word refers to the head of a relative clause."""
        word = self.words[i]
        if word.upos == "ADV":
            return word.lemma.startswith((*self.conventions.relative_adverbs,))
        return any(feature in word.feats for feature in self.conventions.pronouns)


def _label(deprel: str) -> str:
    """Make a label fit into DEPS: "dep" if it is missing, "_" for white space and "|"."""
    label = "_".join(deprel.replace("|", " ").split())
    return label if label.strip("_") else "dep"
