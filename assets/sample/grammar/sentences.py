"""Whole sentences: a method for each construction, and a table of their weights."""

from __future__ import annotations

from collections.abc import Callable

from . import lexicon as lex
from . import morphology as make
from .clauses import PAST, Plan
from .lexicon import VERBS
from .questions import Questions
from .tree import Node, Word


class Grammar(Questions):
    """Grammar of sentences. Methods in `_CONSTRUCTIONS` return a sentence's root, without final mark."""

    def sentence(self) -> Node:
        """Return a sentence of a random construction."""
        build, mark = self.dice.deal(_DECK)
        root = build(self)
        if mark == "?":
            if self.dice.chance(0.12):
                self.address(root)
        else:
            self.decorate(root, mark)
        return root.right("punct", make.punct(mark))

    # Start and end of the sentence

    def front(self, root: Node, rel: str, node: Node, comma: bool = True) -> Node:
        return root.first(rel, node.right("punct", make.punct(",")) if comma else node)

    def address(self, root: Node) -> None:
        """Add a vocative or an interjection at the start or end."""
        dice = self.dice
        if dice.chance(0.5):
            rel, node = "vocative", make.name(dice.deal(lex.GIVEN_NAMES))
        else:
            rel, node = "discourse", make.interjection(dice.deal(lex.INTERJECTIONS))
        if rel == "discourse" or dice.chance(0.5):
            self.front(root, rel, node)
        else:
            root.right(rel, node.first("punct", make.punct(",")))

    def decorate(self, root: Node, mark: str) -> None:
        dice = self.dice
        kind = dice.weighted([(82, ""), (6, "address"), (5, "opener"), (6, "cause")])
        if kind == "address":
            self.address(root)
        elif kind == "opener" and mark == ".":
            self.front(root, "advmod", make.adverb(dice.deal(lex.OPENERS)))
        elif kind == "cause" and mark == ".":
            prep, cls = dice.pick([("because of", "topic"), ("according to", "document")])
            self.front(root, "obl", self.pp(prep, self.common(cls)))

    # Statements

    def plain(self) -> Node:
        root = self.statement(depth=2)
        return root if self.dice.chance(0.85) else self.front(root, *self.time("past"))

    def plain_active(self) -> Node:
        return self.active(depth=2, plan=PAST)

    def plain_passive(self) -> Node:
        return self.passive(depth=2)

    def dative(self) -> Node:
        """Return a clause with a recipient: gave the boy the book; gave the book to the boy."""
        dice, plan = self.dice, self.plan()
        verb = self.finite(dice.deal(lex.GIVE), self.subject(depth=1), plan)
        gift = self.np(dice.deal(lex.THINGS), depth=1, banned=frozenset({("to", "person")}))
        if dice.chance(0.5):
            verb.right("iobj", self.np("person", depth=0)).right("obj", gift)
        else:
            verb.right("obj", gift).right("obl", self.pp("to", self.np("person", depth=1)))
        return self.add_time(verb, plan)

    def particle_verb(self) -> Node:
        """Return a clause with a particle: picked up the cup; picked the cup up; came back."""
        dice, plan = self.dice, self.plan()
        if dice.chance(0.3):
            lemma, particle = dice.deal(lex.LEAVE)
            verb = self.finite(lemma, self.subject(depth=1), plan)
            return self.add_time(verb.right("compound:prt", make.particle(particle)), plan, 0.6)
        lemma, particle, classes = dice.deal(lex.PARTICLES)
        verb = self.finite(lemma, self.subject(depth=1), plan)
        parts = [("compound:prt", make.particle(particle)), ("obj", self.np(dice.pick(classes), depth=0))]
        for rel, node in parts if dice.chance(0.6) else parts[::-1]:
            verb.right(rel, node)
        return self.add_time(verb, plan)

    def control(self) -> Node:
        """Return a clause with an infinitive: wants to read; is going to read; is gonna read."""
        dice = self.dice
        if dice.chance(0.5):
            plan = self.plan(stative=True)
            return self.finite(dice.deal(lex.WANT), self.subject(), plan).right("xcomp", self.infinitive())
        going = self.finite("go", self.subject(), Plan(dice.pick(["pres", "past"]), progressive=True))
        lower = self.infinitive()
        if dice.chance(0.6):
            going.word = going.word._replace(form="gon")
            lower.before[0] = Node(Word("na", "to", "PART", "TO"), tight=True, joined=True).governed(
                "mark", lower
            )
        return going.right("xcomp", lower)

    def object_control(self) -> Node:
        """Return a clause with an object and an infinitive: asked the boy to read; made the boy read."""
        dice, caused = self.dice, self.dice.chance(0.45)
        verb = self.finite(
            dice.deal(lex.CAUSE if caused else lex.ASK), self.subject(), self.plan(stative=True)
        )
        verb.right("obj", self.np("person", depth=1))
        return verb.right("xcomp", self.infinitive(mark=not caused))

    def gerund_object(self) -> Node:
        verb = self.finite(self.dice.deal(lex.KEEP), self.subject(), self.plan(stative=True))
        return verb.right("xcomp", self.infinitive(mark=False, form="ger"))

    def linking(self) -> Node:
        """Return a clause with a predicative adjective: seemed tired; painted the door red."""
        dice = self.dice
        if dice.chance(0.6):
            subject = self.subject(dice.pick(["person", "person", "animal", "event", "building"]))
            verb = self.finite(dice.deal(lex.LINK), subject, self.plan(stative=True))
            return verb.right("xcomp", self.graded_adjective(subject.cls or "person"))
        verb = self.finite("paint", self.subject(), PAST)
        verb.right("obj", self.np(dice.pick(["part", "artifact", "building"]), depth=0))
        return verb.right("xcomp", make.adjective(dice.pick(["red", "green", "gray", "white", "blue"])))

    # Clauses inside clauses

    def that_clause(self) -> Node:
        return self.statement(depth=1).first("mark", make.subordinator("that"))

    def wh_clause(self) -> Node:
        """Return an indirect question: whether she left; why she left; who had read the book."""
        dice = self.dice
        kind = dice.weighted([(4, "whether"), (2, "if"), (3, "adverb"), (3, "who")])
        if kind == "who":
            who = make.question("who")
            who.cls = "person"
            return self.active(who)
        if kind == "adverb":
            return self.active().first("advmod", make.question(dice.pick(["why", "when", "where"])))
        return self.statement().first("mark", make.subordinator(kind))

    def report(self) -> Node:
        """Return a report: said that ...; told the boy that ...; wondered whether ..."""
        dice, kind = self.dice, self.dice.weighted([(5, "say"), (3, "tell"), (4, "wonder")])
        lemmas = {"say": lex.SAY, "tell": lex.TELL, "wonder": lex.WONDER}[kind]
        verb = self.finite(dice.pick(lemmas), self.subject(), self.plan(stative=True))
        if kind == "tell":
            verb.right("iobj", self.np("person", depth=0))
        bare = kind == "say" and dice.chance(0.35)
        clause = self.wh_clause() if kind == "wonder" else self.statement() if bare else self.that_clause()
        return verb.right("ccomp", clause)

    def adverbial(self) -> Node:
        """Return a sentence with a clause of cause, time or condition at its start or end."""
        clause = self.statement(plan=self.plan(stative=True)._replace(modal=""))
        clause.first("mark", make.subordinator(self.dice.deal(lex.REASONS)))
        main = self.statement()
        return self.front(main, "advcl", clause) if self.dice.chance(0.5) else main.right("advcl", clause)

    def purpose(self) -> Node:
        """Return a sentence with (in order) to ...; after reading ...; or Holding the lamp, ..."""
        dice = self.dice
        main = self.active(self.subject(), plan=PAST)
        kind = dice.weighted([(4, "to"), (4, "in order to"), (4, "after"), (5, "holding")])
        clause = self.infinitive(mark=kind == "to", form="inf" if kind.endswith("to") else "ing")
        if kind == "in order to":
            order = Node(Word("in", "in", "ADP", "IN", "ExtPos=SCONJ"))
            order.right("fixed", make.noun("order"))
            clause.first("mark", make.to()).first("mark", order)
        elif kind == "after":
            clause.first("mark", make.subordinator(dice.pick(["after", "before", "while"])))
        if kind == "holding" or dice.chance(0.3):
            return self.front(main, "advcl", clause)
        return main.right("advcl", clause)

    def verb_coordination(self) -> Node:
        """Return coordinated verbs: She opened the door and left; She either opened the door or left."""
        dice, plan = self.dice, self.dice.pick([PAST, PAST, Plan("pres"), Plan(modal="will")])
        subject = self.subject()
        verb = self.active(subject, depth=0, plan=plan)
        other = self.infinitive(mark=False)
        form = "inf" if plan.modal else plan.tense
        other.word = make.verb(other.word.lemma, form, subject.agr).word
        word = dice.pick(["and", "and", "or"])
        if word == "or":
            verb.left("cc:preconj", make.conjunction("either"))
        verb.right("conj", other.first("cc", make.conjunction(word)))
        if dice.chance(0.2):
            third = make.verb(dice.deal(VERBS["rest"].verbs), form, subject.agr)
            other.before[0] = make.punct(",").governed("punct", other)
            verb.right("conj", third.first("cc", make.conjunction("and")))
        return verb

    def clause_coordination(self) -> Node:
        other = self.statement().first("cc", make.conjunction(self.dice.pick(["and", "but", "or"])))
        return self.statement().right("conj", other.first("punct", make.punct(",")))

    def gapping(self) -> Node:
        """Return a sentence without its second verb: The boy ate the soup and the girl the cake."""
        dice, frame = self.dice, VERBS[self.dice.pick(["eat", "read", "get", "make", "handle"])]
        cls = dice.pick(frame.object)
        verb = self.finite(dice.deal(frame.verbs), self.np("person", "Nom", depth=0), PAST)
        verb.right("obj", self.common(cls))
        other = self.common("person").right("orphan", self.common(cls))
        other.first("cc", make.conjunction("and"))
        return verb.right("conj", other.first("punct", make.punct(",")) if dice.chance(0.4) else other)

    def dummy_it(self) -> Node:
        """Return a sentence with a dummy subject: It is clear that ...; It is hard to ..."""
        dice, that = self.dice, self.dice.chance(0.5)
        it = make.pronoun("it", "Nom")
        adjective = make.adjective(dice.deal(lex.JUDGEMENTS if that else lex.EFFORTS))
        root = self.finite(adjective, it, self.plan(stative=True))
        it.rel = "expl"
        clause = self.statement().first("mark", make.subordinator("that")) if that else self.infinitive()
        return root.right("csubj", clause)

    def clausal_subject(self) -> Node:
        """Return a sentence such as: Reading the book was hard; That she left surprised the boy."""
        dice = self.dice
        if dice.chance(0.6):
            subject = self.infinitive(mark=False, form="ger")
            root = self.finite(make.adjective(dice.deal(lex.EFFORTS)), subject, self.plan(stative=True))
        else:
            subject = self.statement().first("mark", make.subordinator("that"))
            root = self.finite(dice.deal(lex.SURPRISE), subject, PAST).right(
                "obj", self.np("person", depth=1)
            )
        subject.rel = "csubj"
        return root

    # Parataxis

    def aside(self) -> Node:
        """Return a sentence with an aside: The mayor, she said, had left."""
        subject = self.common("person", determiner="the")
        root = self.active(subject)
        said = self.finite(self.dice.deal(lex.SAY[:4]), self.np("person", "Nom", depth=0))
        said.first("punct", make.punct(",")).right("punct", make.punct(","))
        root.before.insert(root.before.index(subject) + 1, said.governed("parataxis", root))
        return root

    def two_statements(self) -> Node:
        """Return two statements: The concert ended; the boys left. The concert ended (the boys left)."""
        root, other = self.statement(), self.statement()
        mark = self.dice.pick([";", ";", "-", "("])
        other.first("punct", make.punct(mark))
        if mark == "(":
            other.right("punct", make.punct(")"))
        return root.right("parataxis", other)

    # Crossing arcs

    def extraposition(self) -> Node:
        """Return crossing arcs: A man arrived who knew the mayor; She read a report today about the war."""
        dice = self.dice
        determiner = dice.pick(["a", "a", "some", "the"])
        if dice.chance(0.55):
            noun = self.common(
                dice.pick(["person", "person", "animal"]), plural=determiner == "some", determiner=determiner
            )
            root = self.finite(dice.deal(VERBS["arrive"].verbs), noun)
        else:
            frame = VERBS[dice.pick(["perceive", "read", "get"])]
            noun = self.common(dice.pick(frame.object), plural=False, determiner=dice.pick(["a", "the"]))
            root = self.finite(dice.deal(frame.verbs), self.subject()).right("obj", noun)
        root.right(*self.time("past"))
        if noun.cls in ("person", "document") and dice.chance(0.3):
            prep, inner = {"person": ("with", "feature"), "document": ("about", "topic")}[noun.cls]
            return root.right("nmod", self.pp(prep, self.common(inner)), head=noun)
        clause = self.relative_clause(noun, "subject")
        assert clause is not None
        return root.right("acl:relcl", clause, head=noun)


_CONSTRUCTIONS: list[tuple[int, str, Callable[[Grammar], Node]]] = [
    (10, ".", Grammar.plain),
    (9, ".", Grammar.plain_active),
    (4, ".", Grammar.plain_passive),
    (5, ".", Grammar.dative),
    (5, ".", Grammar.particle_verb),
    (4, ".", Grammar.control),
    (4, ".", Grammar.object_control),
    (3, ".", Grammar.gerund_object),
    (4, ".", Grammar.linking),
    (8, ".", Grammar.report),
    (7, ".", Grammar.adverbial),
    (5, ".", Grammar.purpose),
    (5, ".", Grammar.verb_coordination),
    (4, ".", Grammar.clause_coordination),
    (4, ".", Grammar.gapping),
    (4, ".", Grammar.existential),
    (5, ".", Grammar.dummy_it),
    (4, ".", Grammar.clausal_subject),
    (3, ".", Grammar.aside),
    (3, ".", Grammar.two_statements),
    (6, ".", Grammar.extraposition),
    (5, "?", Grammar.yes_no),
    (3, "?", Grammar.wh_subject),
    (6, "?", Grammar.wh_object),
    (4, "?", Grammar.wh_preposition),
    (5, "?", Grammar.wh_adverb),
    (4, ".", Grammar.command),
    (2, "!", Grammar.command),
]
_DECK = [(build, mark) for weight, mark, build in _CONSTRUCTIONS for _ in range(weight)]
