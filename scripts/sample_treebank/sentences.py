"""Whole sentences: one method a construction, and a table of their weights."""

from __future__ import annotations

from collections.abc import Callable

from . import lexicon as lex
from . import morphology as make
from .clauses import PAST, Clauses, Plan
from .lexicon import VERBS
from .tree import Node, Word


class Grammar(Clauses):
    """Each method in `_CONSTRUCTIONS` returns the root of a sentence without its final mark."""

    def sentence(self) -> Node:
        """A sentence of a random construction."""
        build, mark = self.dice.weighted([(weight, (build, mark)) for weight, mark, build in _CONSTRUCTIONS])
        root = build(self)
        if mark == "?":
            self.dice.chance(0.12) and self.address(root)
        else:
            self.decorate(root, mark)
        return root.right("punct", make.punct(mark))

    # Edges of the sentence

    def front(self, root: Node, rel: str, node: Node, comma: bool = True) -> Node:
        return root.first(rel, node.right("punct", make.punct(",")) if comma else node)

    def address(self, root: Node) -> None:
        """A vocative or an interjection, first or last."""
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
        kind = dice.weighted([(82, ""), (6, "address"), (5, "opener"), (5, "cause")])
        if kind == "address":
            self.address(root)
        elif kind == "opener" and mark == ".":
            self.front(root, "advmod", make.adverb(dice.deal(lex.OPENERS)))
        elif kind == "cause" and mark == ".":
            prep, cls = dice.pick([("because of", "topic"), ("instead of", "person"), ("according to", "document")])
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
        """gave the boy the book; gave the book to the boy."""
        dice, plan = self.dice, self.plan()
        verb = self.finite(dice.deal(lex.GIVE), self.subject(depth=1), plan)
        gift = self.np(dice.deal(lex.THINGS), depth=1, banned=frozenset({("to", "person")}))
        if dice.chance(0.5):
            verb.right("iobj", self.np("person", depth=0)).right("obj", gift)
        else:
            verb.right("obj", gift).right("obl", self.pp("to", self.np("person", depth=1)))
        return self.add_time(verb, plan)

    def particle_verb(self) -> Node:
        """picked up the cup; picked the cup up; came back."""
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
        """wants to read; is going to read, is gonna read."""
        dice = self.dice
        if dice.chance(0.65):
            plan = self.plan(stative=True)
            return self.finite(dice.deal(lex.WANT), self.subject(), plan).right("xcomp", self.infinitive())
        going = self.finite("go", self.subject(), Plan(dice.pick(["pres", "past"]), progressive=True))
        lower = self.infinitive()
        if dice.chance(0.4):
            going.word = going.word._replace(form="gon")
            lower.before[0] = Node(Word("na", "to", "PART", "TO"), tight=True, joined=True)._governed("mark", lower)
        return going.right("xcomp", lower)

    def object_control(self) -> Node:
        """asked the boy to read; made the boy read."""
        dice, caused = self.dice, self.dice.chance(0.45)
        verb = self.finite(dice.deal(lex.CAUSE if caused else lex.ASK), self.subject(), self.plan(stative=True))
        verb.right("obj", self.np("person", depth=1))
        return verb.right("xcomp", self.infinitive(mark=not caused))

    def gerund_object(self) -> Node:
        verb = self.finite(self.dice.deal(lex.KEEP), self.subject(), self.plan(stative=True))
        return verb.right("xcomp", self.infinitive(mark=False, form="ger"))

    def linking(self) -> Node:
        """seemed tired; painted the door red."""
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
        clause = self.statement(depth=1)
        return clause.first("mark", make.subordinator("that")) if self.dice.chance(0.7) else clause

    def wh_clause(self) -> Node:
        """whether she left; why she left; who had read the book."""
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
        """said that ...; told the boy that ...; wondered whether ..."""
        dice, kind = self.dice, self.dice.weighted([(5, "say"), (3, "tell"), (4, "wonder")])
        lemmas = {"say": lex.SAY, "tell": lex.TELL, "wonder": lex.WONDER}[kind]
        verb = self.finite(dice.pick(lemmas), self.subject(), self.plan(stative=True))
        if kind == "tell":
            verb.right("iobj", self.np("person", depth=0))
        return verb.right("ccomp", self.wh_clause() if kind == "wonder" else self.that_clause())

    def adverbial(self) -> Node:
        """A clause of cause, time or condition, first or last."""
        clause = self.statement(plan=self.plan(stative=True)._replace(modal=""))
        clause.first("mark", make.subordinator(self.dice.deal(lex.REASONS)))
        main = self.statement()
        return self.front(main, "advcl", clause) if self.dice.chance(0.5) else main.right("advcl", clause)

    def purpose(self) -> Node:
        """... (in order) to ...; after reading ...; Holding the lamp, ..."""
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
        """She opened the door and left; She either opened the door or left."""
        dice, plan = self.dice, self.dice.pick([PAST, PAST, Plan("pres"), Plan(modal="will")])
        subject = self.subject()
        verb = self.active(subject, plan=plan)
        other = self.infinitive(mark=False)
        form = "inf" if plan.modal else plan.tense
        other.word = make.verb(other.word.lemma, form, subject.agr).word
        word = dice.pick(["and", "and", "or", "but"])
        if word == "or":
            verb.left("cc:preconj", make.conjunction("either"))
        verb.right("conj", other.first("cc", make.conjunction(word)))
        if dice.chance(0.2):
            third = make.verb(dice.deal(VERBS["rest"].verbs), form, subject.agr)
            other.before[0] = make.punct(",")._governed("punct", other)
            verb.right("conj", third.first("cc", make.conjunction("and")))
        return verb

    def clause_coordination(self) -> Node:
        other = self.statement().first("cc", make.conjunction(self.dice.pick(["and", "but", "or"])))
        return self.statement().right("conj", other.first("punct", make.punct(",")))

    def gapping(self) -> Node:
        """The boy ate the soup and the girl the cake."""
        dice, frame = self.dice, VERBS[self.dice.pick(["eat", "read", "get", "make", "handle"])]
        cls = dice.pick(frame.object)
        verb = self.finite(dice.deal(frame.verbs), self.np("person", "Nom", depth=0), PAST)
        verb.right("obj", self.common(cls))
        other = self.common("person").right("orphan", self.common(cls))
        other.first("cc", make.conjunction("and"))
        return verb.right("conj", other.first("punct", make.punct(",")) if dice.chance(0.4) else other)

    def existential(self) -> Node:
        """There is a house with a balcony in the village."""
        dice, cls = self.dice, self.dice.pick(["building", "person", "animal", "artifact", "food"])
        plural = dice.chance(0.3)
        noun = self.common(cls, plural=plural, determiner="some" if plural else "a")
        where = ("on", "surface") if cls in lex.THINGS else ("in", "place")
        dice.chance(0.5) and self.add_phrase(noun, cls, 1, frozenset({where}))
        there = Node(Word("there", "there", "PRON", "EX", "PronType=Dem"))
        verb = make.verb("be", dice.pick(["pres", "past"]), noun.agr if noun.agr == "3s" else "")
        verb.left("expl", there).right("nsubj", noun)
        return verb.right("obl", self.pp(where[0], self.np(where[1], depth=1)))

    def dummy_it(self) -> Node:
        """It is clear that ...; It is hard to ..."""
        dice, that = self.dice, self.dice.chance(0.5)
        it = make.pronoun("it", "Nom")
        adjective = make.adjective(dice.deal(lex.JUDGEMENTS if that else lex.EFFORTS))
        root = self.finite(adjective, it, self.plan(stative=True))
        it.rel = "expl"
        clause = self.statement().first("mark", make.subordinator("that")) if that else self.infinitive()
        return root.right("csubj", clause)

    def clausal_subject(self) -> Node:
        """Reading the book was hard; That she left surprised the boy."""
        dice = self.dice
        if dice.chance(0.6):
            subject = self.infinitive(mark=False, form="ger")
            root = self.finite(make.adjective(dice.deal(lex.EFFORTS)), subject, self.plan(stative=True))
        else:
            subject = self.statement().first("mark", make.subordinator("that"))
            root = self.finite(dice.deal(lex.SURPRISE), subject, PAST).right("obj", self.np("person", depth=1))
        subject.rel = "csubj"
        return root

    # Parataxis

    def aside(self) -> Node:
        """The mayor, she said, had left."""
        subject = self.common("person", determiner="the")
        root = self.active(subject)
        said = self.finite(self.dice.deal(lex.SAY[:4]), self.np("person", "Nom", depth=1))
        said.first("punct", make.punct(",")).right("punct", make.punct(","))
        root.before.insert(root.before.index(subject) + 1, said._governed("parataxis", root))
        return root

    def two_statements(self) -> Node:
        """The concert ended; the boys left. The concert ended (the boys left)."""
        root, other = self.statement(), self.statement()
        mark = self.dice.pick([";", ";", "–", "("])
        other.first("punct", make.punct(mark))
        if mark == "(":
            other.right("punct", make.punct(")"))
        return root.right("parataxis", other)

    # Crossing arcs

    def extraposition(self) -> Node:
        """A man arrived yesterday who knew the mayor; She read a report yesterday about the war."""
        dice = self.dice
        determiner = dice.pick(["a", "a", "some", "the"])
        if dice.chance(0.55):
            noun = self.common(dice.pick(["person", "person", "animal"]), plural=determiner == "some", determiner=determiner)
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

    # Questions and commands

    def yes_no(self) -> Node:
        dice, plan = self.dice, self.plan(stative=True)
        kind = dice.weighted([(6, "active"), (2, "passive"), (3, "copular"), (1, "there")])
        subject = self.subject()
        if kind == "copular":
            return self.finite(self.graded_adjective(subject.cls or "person"), subject, plan, inverted=True)
        if kind == "there":
            root = self.existential()
            root.after.insert(0, root.before.pop(0))
            return root
        frame = VERBS[dice.pick(lex.TRANSITIVE if kind == "passive" or dice.chance(0.6) else lex.INTRANSITIVE)]
        if kind == "passive":
            subject = self.np(dice.pick(frame.object), "Nom", depth=1)
        elif "person" not in frame.subject:
            subject = self.np(frame.subject[0], depth=1)
        verb = self.finite(dice.deal(frame.verbs), subject, plan, inverted=True, passive=kind == "passive")
        self.complete(verb, frame, gap="obj" if kind == "passive" else "", depth=1)
        return self.add_time(verb, plan, 0.3)

    def wh_phrase(self, cls: str) -> Node:
        """who, what, which lamp, how many lamps."""
        dice = self.dice
        if dice.chance(0.5):
            return make.question("who" if cls == "person" else "what")
        plural = dice.chance(0.3) and cls not in ("food", "topic")
        noun = self.common(cls, plural=plural, determiner="")
        if plural and dice.chance(0.6):
            many = Node(Word("many", "many", "ADJ", "JJ", "Degree=Pos"))
            return noun.first("amod", many.left("advmod", make.question("how")))
        return noun.first("det", make.question("which"))

    def wh_subject(self) -> Node:
        subject = self.wh_phrase("person")
        subject.cls = "person"
        return self.active(subject)

    def wh_object(self) -> Node:
        """What did she read? What did she say that he read? Which book did she want to read?"""
        dice, frame = self.dice, VERBS[self.dice.pick([n for n in lex.TRANSITIVE if "person" in VERBS[n].subject])]
        filler = self.wh_phrase(dice.pick(frame.object))
        kind = dice.weighted([(5, "simple"), (3, "say"), (2, "want")])
        plan, lemma = self.plan(stative=True)._replace(negative=False), dice.deal(frame.verbs)
        if kind == "simple":
            root = lower = self.finite(lemma, self.subject(), plan, inverted=True)
        elif kind == "say":
            root = self.finite(dice.deal(lex.SAY[:4]), self.subject(), dice.pick([PAST, Plan("pres")]), inverted=True)
            lower = self.finite(lemma, self.subject(), plan)
            root.right("ccomp", lower.first("mark", make.subordinator("that")) if dice.chance(0.4) else lower)
        else:
            root = self.finite(dice.deal(lex.WANT), self.subject(), PAST, inverted=True)
            lower = make.verb(lemma, "inf").left("mark", make.to())
            root.right("xcomp", lower)
        self.complete(lower, frame, gap="obj", depth=1)
        return root.first("obj", filler, head=lower)

    def wh_preposition(self) -> Node:
        """What did she talk about with him? With which knife did she open the box?"""
        dice, plan = self.dice, self.plan(stative=True)._replace(negative=False)
        frame = VERBS[dice.pick(["talk", "talk", "handle", "eat", "perceive", "get"])]
        prep, cls = dice.pick(frame.phrases)
        filler = self.wh_phrase(cls)
        verb = self.finite(dice.deal(frame.verbs), self.subject(), plan, inverted=True)
        if frame.object:
            verb.right("obj", self.np(dice.pick(frame.object), depth=0))
        if filler.word.upos == "NOUN" and dice.chance(0.4):
            return verb.first("obl", self.pp(prep, filler))
        verb.right("case", make.adposition(prep), head=filler)
        if not frame.object:
            self.complete(verb, frame, gap=prep, depth=1, most=1)
        return verb.first("obl", filler)

    def wh_adverb(self) -> Node:
        """Why did she leave? How old is the tower? Who is the man with the beard?"""
        dice, kind = self.dice, self.dice.weighted([(6, "adverb"), (2, "how"), (2, "be")])
        if kind == "adverb":
            question = make.question(dice.pick(["why", "when", "where", "how"]))
            return self.yes_no_active().first("advmod", question)
        subject = self.np("person" if kind == "how" else dice.pick(["person", "artifact"]), "Nom", depth=1)
        if kind == "how":
            root = make.adjective(dice.pick(["old", "tall", "rich"])).left("advmod", make.question("how"))
        else:
            root = make.question("where" if subject.cls != "person" else dice.pick(["who", "where"]))
        be = make.verb("be", dice.pick(["pres", "past"]), subject.agr if subject.agr in ("1s", "3s") else "", aux=True)
        return root.right("cop", be).right("nsubj", subject)

    def yes_no_active(self) -> Node:
        dice, frame = self.dice, VERBS[self.dice.pick(["read", "get", "rest", "go", "talk", "put", "meet", "handle"])]
        verb = self.finite(dice.deal(frame.verbs), self.subject(), self.plan(stative=True), inverted=True)
        self.complete(verb, frame, depth=1, most=1)
        return verb

    def command(self) -> Node:
        """Open the door, please. Don't wait. Let's eat."""
        dice = self.dice
        verb = self.infinitive(mark=False, form="imp")
        kind = dice.weighted([(10, "plain"), (3, "not"), (5, "let")])
        if kind == "not":
            aux, negation = make.negation(make.verb("do", "imp", aux=True), short=True)
            verb.word = make.verb(verb.word.lemma, "inf").word
            verb.first("advmod", negation).first("aux", aux)
        elif kind == "let":
            us = Node(make.pronoun("1p", "Acc").word._replace(form="'s"), tight=True, joined=True)
            verb.word = make.verb(verb.word.lemma, "inf").word
            verb = make.verb("let", "imp").right("obj", us).right("xcomp", verb)
        if dice.chance(0.3):
            please = make.interjection("please")
            if dice.chance(0.5) and kind != "let":
                verb.first("discourse", please)
            else:
                verb.right("discourse", please.first("punct", make.punct(",")))
        return verb


_CONSTRUCTIONS: list[tuple[float, str, Callable[[Grammar], Node]]] = [
    (10, ".", Grammar.plain),
    (9, ".", Grammar.plain_active),
    (4, ".", Grammar.plain_passive),
    (5, ".", Grammar.dative),
    (4, ".", Grammar.particle_verb),
    (4, ".", Grammar.control),
    (4, ".", Grammar.object_control),
    (2.5, ".", Grammar.gerund_object),
    (4, ".", Grammar.linking),
    (8, ".", Grammar.report),
    (7, ".", Grammar.adverbial),
    (5, ".", Grammar.purpose),
    (5, ".", Grammar.verb_coordination),
    (4, ".", Grammar.clause_coordination),
    (3, ".", Grammar.gapping),
    (4, ".", Grammar.existential),
    (5, ".", Grammar.dummy_it),
    (3, ".", Grammar.clausal_subject),
    (3, ".", Grammar.aside),
    (3, ".", Grammar.two_statements),
    (6, ".", Grammar.extraposition),
    (5, "?", Grammar.yes_no),
    (2.5, "?", Grammar.wh_subject),
    (6, "?", Grammar.wh_object),
    (4, "?", Grammar.wh_preposition),
    (5, "?", Grammar.wh_adverb),
    (5, ".", Grammar.command),
]
