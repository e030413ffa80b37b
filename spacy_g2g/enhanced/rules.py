"""Rules that make an enhanced graph from a tree, lemmas and features.

https://universaldependencies.org/u/overview/enhanced-syntax.html describes such graphs. The rules add markers
to labels (``nmod:of``, ``conj:and``), heads and subjects that conjuncts share, subjects of open clausal
complements, and antecedents of relative clauses. They make no empty nodes for elided words.
"""

import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from ..formats.graph import ROOT, Arc, Graph, universal
from ..formats.rows import ConlluWord
from .conventions import LANGUAGES, PREDICATES, Conventions

#: Relations whose labels get a marker, and the relations of markers.
MARKERS = {"nmod": ("case",), "obl": ("case",), "acl": ("case", "mark"), "advcl": ("case", "mark")}
#: Unicode categories of the characters in markers: lower-case letters, and marks on them.
LETTERS = frozenset({"Ll", "Lm", "Lo", "Mc", "Me", "Mn"})
#: Words that say where or when a relative clause holds, not whom it is about: *the day he left*.
ADVERBIAL = frozenset({"case", "day", "moment", "place", "reason", "time", "way", "week", "year"})
#: Maximum number of subjects and objects that a word shares. Only the trees of a bad parser have more.
MAX_ARGUMENTS = 20


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


def enhance(words: Sequence[Word | ConlluWord], lang: str = "") -> list[list[Arc]]:
    """Return heads and labels of each word in the enhanced graph of a sentence. ROOT leads to each word.

    words: Words of a tree. A word without a head, and one word of a cycle, count as further roots.
    lang: Code of the language, for its conventions.
    """
    return _Enhancer(words, LANGUAGES.get(lang, Conventions())).graph()


class _Enhancer:
    """Graph of a sentence that grows. Words count from 1, and lists begin with an entry for ROOT.

    heads, deps, relations: Head, label, and label without subtype of each word in the tree.
    children: Dependents of each word in the tree.
    arcs: Heads and labels of each word in the graph.
    arguments: Subjects and objects of each word in the graph, with their labels.
    with_copula: Words that have a copula.
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
        self.coordinators: dict[int, list[int]] = {}
        for conjuncts in (self.having(head, "conj") for head in range(len(self.heads))):
            self.find_coordinators(conjuncts)
        self.arcs: list[dict[Arc, None]] = [{} for _ in self.heads]
        self.arguments: list[list[Arc]] = [[] for _ in self.heads]

    def graph(self) -> list[list[Arc]]:
        """Apply the rules. Each goes from the root downwards, since a word passes its arcs on."""
        order = [*self.children[ROOT]]
        for i in order:
            order += self.children[i]
        for rule in (self.copy_arc, self.share_heads, self.refer, self.share_subjects):
            for i in order:
                rule(i)
        return [sorted(arcs) for arcs in self.arcs[1:]]

    def copy_arc(self, i: int) -> None:
        """Add the arc of the tree, with a marker on its label."""
        dep = self.with_marker(i, self.deps[i]) if self.heads[i] else "root"
        self.add(i, head=self.heads[i], dep=dep)

    def share_heads(self, i: int) -> None:
        """Give a conjunct the heads of the first conjunct, with a marker of its own if it has one."""
        first = self.heads[i]
        shared = [*self.arcs[first]] if self.relations[i] == "conj" else []
        own = self.with_marker(i, self.deps[first]) if shared else ""
        for head, dep in shared:
            if universal(dep) not in ("conj", "parataxis", "root"):
                is_own = head == self.heads[first] and own != self.deps[first]
                self.add(i, head=head, dep=own if is_own else dep)

    def refer(self, i: int) -> None:
        """Give the head of a relative clause the function of its pronoun, which becomes a ref of the head."""
        antecedent = self.heads[i]
        before = [child for child in self.children[i] if child < i]
        below = chain.from_iterable(self.children[child] for child in before)
        pronouns = filter(self.is_relative, [*self.children[i], *below])
        is_relative = antecedent != ROOT and self.deps[i] == "acl:relcl"
        pronoun = next(pronouns, 0) if is_relative else 0
        if is_relative and not pronoun:
            self.refer_without_pronoun(i)
        if pronoun:
            head, dep = self.heads[pronoun], self.deps[pronoun]
            if self.conventions.names_relatives and universal(dep) in ("nsubj", "obj"):
                dep += ":rel" + universal(dep).removeprefix("n")
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
        if self.relations[i] == "conj" and first and is_shared and upos in PREDICATES:
            is_passive = any(self.deps[child] == "aux:pass" for child in self.children[i])
            label = "nsubj:pass" if is_passive else "nsubj"
            for subject, dep in self.arguments[first][:MAX_ARGUMENTS]:
                is_own = universal(dep) == "nsubj" and dep != "nsubj:xsubj"
                if is_own and not self.having(i, "nsubj", "csubj", "expl"):
                    self.add(subject, head=i, dep=label)
        is_controlled = upos in self.conventions.controlled_pos
        for controller in [head for head, dep in self.arcs[i] if dep == "xcomp" and is_controlled]:
            for word in self.find_subjects(controller):
                self.add(word, head=i, dep=self.conventions.controlled)

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

    def with_marker(self, i: int, dep: str) -> str:
        """Return a label with the marker that a word has for it, such as its preposition or conjunction."""
        relation, words = universal(dep), list[int]()
        if relation == "conj":
            words = self.coordinators[i]
        elif relation in MARKERS and dep not in self.conventions.unmarked:
            words = self.having(i, *MARKERS[relation])
            words = words if self.conventions.first_marker else words[::-1]
        marker = next(filter(None, map(self.marker, words)), "")
        return f"{dep}:{marker}" if marker else dep

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
        parts += [self.words[child].form for child in self.having(i, "fixed")]
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
            return word.lemma.startswith(self.conventions.relative_adverbs)
        return "PronType=Rel" in word.feats


def _label(deprel: str) -> str:
    """Make a label fit into DEPS: "dep" if it is missing, "_" for white space and "|"."""
    label = "_".join(deprel.replace("|", " ").split())
    return label if label.strip("_") else "dep"
