"""Noun phrases, prepositional phrases, adjectives and expressions of time."""

from __future__ import annotations

from . import lexicon as lex
from . import morphology as make
from .tree import Dice, Node, Word

Banned = frozenset[tuple[str, str]]  # phrases that the verb takes, so that no noun before them may


class Phrases:
    """Builder of phrases; `rare` admits the words that the training set lacks."""

    def __init__(self, dice: Dice, rare: bool = False) -> None:
        self.dice = dice
        self.rare = rare

    def lemma(self, cls: str) -> str:
        if self.rare and cls in lex.RARE_NOUNS and self.dice.chance(0.05):
            return self.dice.pick(lex.RARE_NOUNS[cls])
        return self.dice.deal(lex.NOUNS[cls])

    def np(self, cls: str, case: str = "Acc", *, depth: int = 2, banned: Banned = frozenset()) -> Node:
        """Return a noun phrase of any kind; `depth` limits the phrases inside it."""
        dice = self.dice
        if cls == "person" and depth and dice.chance(0.28):
            return self.pronoun(case) if dice.chance(0.6) else self.person_name(depth)
        if cls == "place" and dice.chance(0.2):
            return make.name(dice.deal(lex.TOWNS))
        if depth and dice.chance(0.12):
            return self.coordination(cls, banned)
        node = self.common(cls)
        if depth and dice.chance(0.28):
            self.add_phrase(node, cls, depth, banned)
        return node

    def pronoun(self, case: str) -> Node:
        return make.pronoun(self.dice.pick(["1s", "2", "he", "he", "she", "she", "1p", "3p"]), case)

    def full_name(self) -> Node:
        rare = self.rare and self.dice.chance(0.15)
        node = make.name(self.dice.pick(lex.RARE_NAMES[:2] if rare else lex.GIVEN_NAMES))
        if self.dice.chance(0.6):
            node.right("flat", make.name(self.dice.pick(lex.RARE_NAMES[2:] if rare else lex.SURNAMES)))
        node.cls = "person"
        return node

    def person_name(self, depth: int) -> Node:
        """Return a name: Anna; Anna Keller; Anna Keller, the mayor of Weston; Anna Keller (the mayor)."""
        node = self.full_name()
        if depth and self.dice.chance(0.25):
            title = self.common("person", plural=False, determiner=self.dice.pick(["the", "a"]))
            if self.dice.chance(0.6):
                town = make.name(self.dice.deal(lex.TOWNS))
                title.right("nmod", town.first("case", make.adposition("from")))
            opening, closing = self.dice.pick([(",", ","), (",", ","), ("(", ")")])
            title.first("punct", make.punct(opening)).right("punct", make.punct(closing))
            node.right("appos", title)
        return node

    def common(self, cls: str, *, plural: bool | None = None, determiner: str | None = None) -> Node:
        """Return a common noun with determiner and adjectives; `determiner` "" means none."""
        dice, lemma = self.dice, self.lemma(cls)
        if plural is None:
            plural = lemma not in lex.MASS and dice.chance(0.1 if cls in ("optic", "place") else 0.25)
        node = make.noun(lemma, plural)
        node.cls, node.agr = cls, "3p" if plural else "3s"
        superlative = False
        if determiner is None:
            superlative = self.add_determiner(node, lemma in lex.MASS)
        elif determiner:
            node.left("det", make.determiner(determiner))
        if superlative or dice.chance(0.2):
            self.add_adjective(node, superlative)
        if lemma in lex.COMPOUNDS and dice.chance(0.45):
            node.left("compound", make.noun(lex.COMPOUNDS[lemma]))
        return node

    def add_determiner(self, node: Node, mass: bool) -> bool:
        """Add a determiner, number or possessor; return whether a superlative should follow."""
        dice, plural = self.dice, node.agr == "3p"
        kind = dice.weighted(
            [
                (44, "the"),
                (0 if plural or mass else 24, "a"),
                (8, "this"),
                (14, "possessor"),
                (3, "superlative"),
                (6 if plural or node.cls in lex.COUNTED else 0, "quantity"),
                (8 if plural else 0, "number"),
                (3 if mass else 0, "some"),
            ]
        )
        if kind == "possessor":
            node.left("nmod:poss", self.possessor())
        elif kind == "number":
            node.left("nummod", self.quantity())
        elif kind == "quantity" and plural:
            node.left("det:predet", make.determiner(dice.pick(["all", "both"])))
            node.left("det", make.determiner("the"))
        elif kind == "quantity":
            node.left("det", make.determiner(dice.pick(["every", "each"])))
        elif kind == "this":
            node.left("det", make.determiner(dice.pick(["these", "those"] if plural else ["this", "that"])))
        else:
            node.left("det", make.determiner("the" if kind == "superlative" else kind))
        return kind == "superlative"

    def possessor(self) -> Node:
        """Return a possessor: his; Anna Keller's; the teacher's; the dogs'."""
        if self.dice.chance(0.5):
            return make.pronoun(self.dice.pick(["1s", "2", "he", "she", "1p", "3p"]), "Gen")
        owner = self.full_name() if self.dice.chance(0.35) else self.common("person", determiner="the")
        form = "'" if owner.agr == "3p" and owner.word.form.endswith("s") else "'s"
        return owner.right("case", Node(Word(form, "'s", "PART", "POS"), tight=True, joined=True))

    def quantity(self) -> Node:
        """Return a quantity: five; more than twenty; at least 40."""
        dice = self.dice
        if dice.chance(0.65):
            return make.number(dice.deal(lex.NUMBERS))
        node = make.number(dice.pick(["twenty", "30", "40", "50", "100"]))
        first, second = dice.pick([("more", "than"), ("at", "least")])
        if first == "more":
            bound = Node(Word("more", "more", "ADJ", "JJR", "Degree=Cmp|ExtPos=ADV"))
            bound.right("fixed", Node(Word(second, second, "ADP", "IN")))
        else:
            bound = Node(Word("at", "at", "ADP", "IN", "ExtPos=ADV"))
            bound.right("fixed", Node(Word("least", "least", "ADJ", "JJS", "Degree=Sup")))
        return node.left("advmod", bound)

    def adjective_lemma(self, cls: str) -> str:
        known = lex.ADJECTIVES
        return self.dice.deal(known.get(cls) or known["idea" if cls == "topic" else "thing"])

    def add_adjective(self, node: Node, superlative: bool) -> None:
        """Add an adjective before a noun: old; very old; oldest; old and tired."""
        dice, lemma = self.dice, self.adjective_lemma(node.cls)
        if superlative and lemma in lex.GRADED:
            node.left("amod", make.adjective(lemma, "Sup"))
            return
        adjective = make.adjective(lemma)
        if superlative:
            adjective.left("advmod", make.adverb("most", "Degree=Sup", "RBS"))
        elif dice.chance(0.12):
            adjective.left("advmod", make.adverb(dice.deal(lex.DEGREE)))
        elif dice.chance(0.2):
            other = make.adjective(self.adjective_lemma(node.cls))
            if other.word.lemma != lemma:
                adjective.right("conj", other.left("cc", make.conjunction("and")))
        node.left("amod", adjective)

    def pp(self, prep: str, noun: Node) -> Node:
        return noun.first("case", make.adposition(prep))

    def licensed(self, cls: str, banned: Banned) -> list[tuple[str, str]]:
        return [pair for pair in lex.NOUN_PHRASES.get(cls, []) if pair not in banned]

    def add_phrase(self, node: Node, cls: str, depth: int, banned: Banned) -> bool:
        """Add a prepositional phrase that the noun's class licenses, if there is one."""
        if pairs := self.licensed(cls, banned):
            prep, inner = self.dice.pick(pairs)
            banned |= {(prep, inner)}
            plural = True if cls == "team" else None
            noun = (
                self.common(inner, plural=plural)
                if depth < 2
                else self.np(inner, depth=depth - 1, banned=banned)
            )
            node.right("nmod", self.pp(prep, noun))
            node.heavy = noun.heavy
        return bool(pairs)

    def coordination(self, cls: str, banned: Banned) -> Node:
        """Return a coordination: the cup and the lamp; the house with the roof and the barn (or: and the
        window).

        The noun after "and" is coordinated with the last noun of its class before "and".
        """
        dice, node = self.dice, self.common(cls)
        host, host_cls = node, cls
        if dice.chance(0.5) and (pairs := [p for p in self.licensed(cls, banned) if p[1] != cls]):
            prep, inner = dice.pick(pairs)
            noun = self.common(inner)
            node.right("nmod", self.pp(prep, noun))
            if dice.chance(0.5):
                host, host_cls = noun, inner
        elif dice.chance(0.15):
            middle = self.common(cls)
            host.right("conj", middle.first("punct", make.punct(",")))
        elif dice.chance(0.3):
            host.first("cc:preconj", make.conjunction("both"))
        last = self.common(host_cls)
        while last.word.lemma == host.word.lemma:
            last = self.common(host_cls)
        word = (
            "and"
            if host.before and host.before[0].rel == "cc:preconj"
            else dice.pick(["and", "and", "and", "or"])
        )
        host.right("conj", last.first("cc", make.conjunction(word)))
        if host is node:
            node.agr = "3p" if word == "and" else last.agr
        return node

    def time(self, when: str) -> tuple[str, Node]:
        """Return a time expression and its relation; `when` is past, present or future."""
        dice = self.dice
        if when == "present":
            unit = make.noun(dice.pick(["day", "morning", "week", "month", "evening"]))
            return "obl:unmarked", unit.left("det", make.determiner("every"))
        if dice.chance(0.45):
            return "obl", self.date(when)
        if dice.chance(0.3):
            return "obl:unmarked", make.noun("yesterday" if when == "past" else "tomorrow")
        if when == "past" and dice.chance(0.35):
            unit = make.noun(dice.pick(["day", "week", "month", "year"]), plural=True)
            ago = make.adverb("ago").left(
                "obl:unmarked", unit.left("nummod", make.number(dice.deal(lex.NUMBERS)))
            )
            return "advmod", ago
        unit = make.noun(dice.pick(["week", "month", "year", "summer", "winter"]))
        return "obl:unmarked", unit.left("amod", make.adjective("last" if when == "past" else "next"))

    def date(self, when: str) -> Node:
        """Return a date: on Monday; on May 5; in March 1998."""
        dice = self.dice
        if dice.chance(0.35):
            return self.pp("on", make.name(dice.deal(lex.DAYS)))
        month = make.name(dice.deal(lex.MONTHS))
        if when == "future" or dice.chance(0.4):
            return self.pp("on", month.right("nummod", make.number(str(dice.number(1, 30)))))
        year = make.number(str(dice.number(1960, 2019)))
        return self.pp("in", month.right("nmod:unmarked", year))
