"""Questions, commands, and "there is"."""

from __future__ import annotations

from . import lexicon as lex
from . import morphology as make
from .clauses import PAST, Clauses, Plan
from .lexicon import VERBS
from .tree import Node, Word


class Questions(Clauses):
    """Builder of sentences that do not have the word order of a statement. Each method returns the root."""

    def existential(self) -> Node:
        """Return a sentence such as: There is a house with a balcony in the village."""
        dice, cls = self.dice, self.dice.pick(["building", "person", "animal", "artifact", "food"])
        plural = dice.chance(0.3)
        noun = self.common(cls, plural=plural, determiner="some" if plural else "a")
        where = ("on", "surface") if cls in lex.THINGS else ("in", "place")
        if dice.chance(0.5):
            self.add_phrase(noun, cls, 1, frozenset({where}))
        there = Node(Word("there", "there", "PRON", "EX", "PronType=Dem"))
        verb = make.verb("be", dice.pick(["pres", "past"]), noun.agr if noun.agr == "3s" else "")
        verb.left("expl", there).right("nsubj", noun)
        return verb.right("obl", self.pp(where[0], self.np(where[1], depth=1)))

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
        frame = VERBS[
            dice.pick(lex.TRANSITIVE if kind == "passive" or dice.chance(0.6) else lex.INTRANSITIVE)
        ]
        if kind == "passive":
            subject = self.np(dice.pick(frame.object), "Nom", depth=1)
        elif "person" not in frame.subject:
            subject = self.np(frame.subject[0], depth=1)
        verb = self.finite(dice.deal(frame.verbs), subject, plan, inverted=True, passive=kind == "passive")
        self.complete(verb, frame, gap="obj" if kind == "passive" else "", depth=1)
        return self.add_time(verb, plan, 0.3)

    def wh_phrase(self, cls: str) -> Node:
        """Return a question phrase: who, what, which lamp, how many lamps."""
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
        """Return a question about an object: What did she read? What did she say that he read?"""
        dice, frame = (
            self.dice,
            VERBS[self.dice.pick([n for n in lex.TRANSITIVE if "person" in VERBS[n].subject])],
        )
        filler = self.wh_phrase(dice.pick(frame.object))
        kind = dice.weighted([(5, "simple"), (3, "say"), (2, "want")])
        plan, lemma = self.plan(stative=True)._replace(negative=False), dice.deal(frame.verbs)
        if kind == "simple":
            root = lower = self.finite(lemma, self.subject(), plan, inverted=True)
        elif kind == "say":
            root = self.finite(
                dice.deal(lex.SAY[:4]), self.subject(), dice.pick([PAST, Plan("pres")]), inverted=True
            )
            lower = self.finite(lemma, self.subject(), plan)
            root.right("ccomp", lower.first("mark", make.subordinator("that")) if dice.chance(0.4) else lower)
        else:
            root = self.finite(dice.deal(lex.WANT), self.subject(), PAST, inverted=True)
            lower = make.verb(lemma, "inf").left("mark", make.to())
            root.right("xcomp", lower)
        self.complete(lower, frame, gap="obj", depth=1)
        return root.first("obj", filler, head=lower)

    def wh_preposition(self) -> Node:
        """Return a question: What did she talk about with him? With which knife did she open the box?"""
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
        """Return another question: Why did she leave? How old is the tower? Who is the man with the beard?"""
        dice, kind = self.dice, self.dice.weighted([(6, "adverb"), (2, "how"), (2, "be")])
        if kind == "adverb":
            question = make.question(dice.pick(["why", "when", "where", "how"]))
            return self.yes_no_active().first("advmod", question)
        cls = "person" if kind == "how" else dice.pick(["person", "artifact", "person"])
        subject = self.common(cls, determiner="the")
        if dice.chance(0.6):
            self.add_phrase(subject, cls, 1, frozenset())
        if kind == "how":
            root = make.adjective(dice.pick(["old", "tall", "rich"])).left("advmod", make.question("how"))
        else:
            root = make.question("where" if subject.cls != "person" else dice.pick(["who", "where"]))
        be = make.verb(
            "be", dice.pick(["pres", "past"]), subject.agr if subject.agr in ("1s", "3s") else "", aux=True
        )
        return root.right("cop", be).right("nsubj", subject)

    def yes_no_active(self) -> Node:
        dice, frame = (
            self.dice,
            VERBS[self.dice.pick(["read", "get", "rest", "go", "talk", "put", "meet", "handle"])],
        )
        verb = self.finite(dice.deal(frame.verbs), self.subject(), self.plan(stative=True), inverted=True)
        self.complete(verb, frame, depth=1, most=1)
        return verb

    def command(self) -> Node:
        """Return a command: Open the door, please. Don't wait. Let's eat."""
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
