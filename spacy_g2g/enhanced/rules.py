"""Rules that make an enhanced graph from a tree, lemmas and features.

https://universaldependencies.org/u/overview/enhanced-syntax.html describes such graphs. The rules add markers
to labels (``nmod:of``, ``conj:and``), heads and subjects that conjuncts share, subjects of open clausal
complements, and antecedents of relative clauses. They make no empty nodes for what is left out.
"""

import unicodedata
from collections.abc import Sequence

from ..formats.conllu import ConlluWord
from ..formats.graph import ROOT, Arc, Graph
from .conventions import LANGUAGES, PREDICATES, Conventions

#: Relations whose labels get a marker, and the relations of markers.
MARKERS = {"nmod": ("case",), "obl": ("case",), "acl": ("case", "mark"), "advcl": ("case", "mark")}


def enhance(words: Sequence[ConlluWord], lang: str = "") -> Graph:
    """Return the enhanced graph of a sentence, in which ROOT leads to each word.

    words: Words with forms, lemmas, parts of speech, features, and a tree. Where words have no head or form a
        cycle, one of them counts as a further root.
    lang: Code of the language, for its conventions.
    """
    return _Enhancer(words, LANGUAGES.get(lang, Conventions())).graph()


class _Enhancer:
    """Graph of a sentence that grows. Words count from 1.

    words: The words.
    conventions: Conventions of the language.
    heads: Head of each word in the tree.
    children: Dependents of ROOT and of each word in the tree.
    arcs: Heads and labels of each word in the graph.
    arguments: Subjects and objects of each word in the graph, with their labels.
    """

    def __init__(self, words: Sequence[ConlluWord], conventions: Conventions) -> None:
        self.words, self.conventions = words, conventions
        self.heads = [word.head or ROOT for word in words]
        while cycle := Graph(self.heads, [""] * len(words)).find_cycle():
            self.heads[cycle[0] - 1] = ROOT
        self.children: list[list[int]] = [[] for _ in range(len(words) + 1)]
        for i, head in enumerate(self.heads, start=1):
            self.children[head].append(i)
        self.arcs: list[list[Arc]] = [[] for _ in range(len(words) + 1)]
        self.arguments: list[list[Arc]] = [[] for _ in range(len(words) + 1)]

    def graph(self) -> Graph:
        """Apply the rules. Each goes from the root downwards, since a word passes on what it got."""
        order = [*self.children[ROOT]]
        for i in order:
            order += self.children[i]
        for rule in (self.copy_arc, self.share_heads, self.refer, self.share_subjects):
            for i in order:
                rule(i)
        return Graph.of_arcs([sorted(arcs) for arcs in self.arcs[1:]])

    def copy_arc(self, i: int) -> None:
        """Add the arc of the tree, with a marker on its label."""
        head, dep = self.heads[i - 1], self.words[i - 1].deprel
        self.add(i, head, self.with_marker(i, dep) if head else "root")

    def share_heads(self, i: int) -> None:
        """Give a conjunct the heads of the first conjunct, with a marker of its own if it has one."""
        first = self.heads[i - 1]
        if not first or self.relation(i) != "conj":
            return
        of_tree = self.words[first - 1].deprel
        own = self.with_marker(i, of_tree)
        for head, dep in list(self.arcs[first]):
            if _base(dep) not in ("conj", "parataxis", "root"):
                is_own = head == self.heads[first - 1] and own != of_tree
                self.add(i, head, own if is_own else dep)
        if self.conventions.shares_determiners and not self.having(i, "det", "nmod"):
            for determiner in self.having(first, "det"):
                self.add(determiner, i, self.words[determiner - 1].deprel)

    def refer(self, i: int) -> None:
        """Give the head of a relative clause the function of its pronoun, which becomes a ref of the head."""
        antecedent = self.heads[i - 1]
        if not antecedent or self.words[i - 1].deprel != "acl:relcl":
            return
        below = [k for child in self.children[i] if child < i for k in self.children[child]]
        for pronoun in filter(self.is_relative, [*self.children[i], *below]):
            head, dep = self.heads[pronoun - 1], self.words[pronoun - 1].deprel
            if self.conventions.marks_relatives:
                dep = self.with_marker(pronoun, dep)
            if self.conventions.names_relatives and _base(dep) in ("nsubj", "obj"):
                dep += ":rel" + _base(dep).removeprefix("n")
            self.arcs[pronoun].clear()
            self.arguments[head] = [arc for arc in self.arguments[head] if arc[0] != pronoun]
            self.add(pronoun, antecedent, "ref")
            self.add(antecedent, head, dep)
            return

    def share_subjects(self, i: int) -> None:
        """Give a predicate the subjects of the first conjunct, and of the head that controls it."""
        upos, first = self.words[i - 1].upos, self.heads[i - 1]
        is_conjunct = self.relation(i) == "conj" and upos in PREDICATES
        if is_conjunct and self.is_predicate(first) and not self.having(i, "nsubj", "csubj", "expl"):
            is_passive = any(self.words[k - 1].deprel == "aux:pass" for k in self.children[i])
            for subject, dep in list(self.arguments[first]):
                if _base(dep) == "nsubj" and dep != "nsubj:xsubj":
                    self.add(subject, i, "nsubj:pass" if is_passive else "nsubj")
        if upos not in self.conventions.controlled_pos:
            return
        for head in [head for head, dep in self.arcs[i] if dep == "xcomp"]:
            for relation in self.conventions.controlled_by:
                found = [word for word, dep in self.arguments[head] if _base(dep) == relation]
                for word in found:
                    self.add(word, i, self.conventions.controlled)
                if found:
                    break

    def add(self, word: int, head: int, dep: str) -> None:
        """Add an arc that is not there, and leads from another word."""
        if head != word and (head, dep) not in self.arcs[word]:
            self.arcs[word].append((head, dep))
            if _base(dep) in ("nsubj", "obj", "iobj"):
                self.arguments[head].append((word, dep))

    def with_marker(self, i: int, dep: str) -> str:
        """Return a label with the marker that a word has for it, such as its preposition or conjunction."""
        relation, marker = _base(dep), ""
        if relation == "conj":
            later = [k for k in self.having(self.heads[i - 1], "conj") if k > i]
            earlier = [k for k in self.having(self.heads[i - 1], "conj") if k < i]
            coordinators = (self.having(k, "cc")[:1] for k in (i, *later, *reversed(earlier)))
            marker = self.marker(next(filter(None, coordinators), []))
        elif relation in MARKERS and dep not in self.conventions.unmarked:
            found = self.having(i, *MARKERS[relation])
            marker = self.marker(found if self.conventions.first_marker else found[::-1])
        return f"{dep}:{marker}" if marker else dep or "dep"

    def marker(self, words: Sequence[int]) -> str:
        """Return the first word that has only letters, as labels have it: the lemma, or a verb's form."""
        for i in words:
            word = self.words[i - 1]
            parts = [(word.form if word.upos == "VERB" else word.lemma).lower()]
            parts += [self.words[k - 1].form.lower() for k in self.having(i, "fixed")]
            if all(map(_is_letters, parts)):
                return "_".join(parts)
        return ""

    def having(self, i: int, *relations: str) -> list[int]:
        """Return the dependents of a word in the tree that have some relation."""
        return [k for k in self.children[i] if self.relation(k) in relations]

    def relation(self, i: int) -> str:
        """Return the label of a word in the tree, without its subtype."""
        return _base(self.words[i - 1].deprel)

    def is_predicate(self, i: int) -> bool:
        """Return whether a word may have a subject."""
        return bool(i) and (self.words[i - 1].upos in ("ADJ", "AUX", "VERB") or bool(self.having(i, "cop")))

    def is_relative(self, i: int) -> bool:
        """Return whether a word refers to the head of a relative clause."""
        word = self.words[i - 1]
        if word.upos == "ADV":
            return word.lemma.startswith(self.conventions.relative_adverbs)
        return "PronType=Rel" in word.feats


def _base(dep: str) -> str:
    return dep.partition(":")[0]


def _is_letters(text: str) -> bool:
    """Return whether a text may be a part of a label: small letters, and marks on them."""
    kinds = [unicodedata.category(char) for char in text]
    return bool(kinds) and all(kind in ("Ll", "Lm", "Lo") or kind[0] == "M" for kind in kinds)
