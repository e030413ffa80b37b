"""Clauses: verb groups, complements, relative clauses, passives and copulas."""

from __future__ import annotations

from typing import NamedTuple

from . import lexicon as lex
from . import morphology as make
from .lexicon import VERBS, VerbClass
from .phrases import Banned, Phrases
from .tree import Node


class Plan(NamedTuple):
    """Tense, mood, aspect and polarity of a finite clause."""

    tense: str = "past"
    modal: str = ""
    perfect: bool = False
    progressive: bool = False
    negative: bool = False

    @property
    def when(self) -> str:
        """Tense of the time expressions that suit the clause: past, present or future; "" if none does."""
        if self.modal:
            return "future"
        if self.tense == "past":
            return "past"
        return "" if self.perfect or self.progressive else "present"


PAST = Plan()


class Clauses(Phrases):
    """Builder of clauses. A clause is the node of its predicate."""

    def np(self, cls: str, case: str = "Acc", *, depth: int = 2, banned: Banned = frozenset()) -> Node:
        node = super().np(cls, case, depth=depth, banned=banned)
        plain = node.word.upos == "NOUN" and not node.after
        if plain and self.dice.chance((0, 0.1, 0.3)[depth]):
            self.add_clause(node)
        return node

    def subject(self, cls: str = "person", depth: int = 1) -> Node:
        return self.np(cls, "Nom", depth=depth)

    def plan(self, *, stative: bool = False) -> Plan:
        dice = self.dice
        plan = dice.weighted(
            [
                (46, PAST),
                (20, Plan("pres")),
                (14, Plan(modal=dice.deal(make.MODALS))),
                (9, Plan(dice.pick(["past", "pres"]), perfect=True)),
                (0 if stative else 9, Plan(dice.pick(["past", "pres"]), progressive=True)),
            ]
        )
        return plan._replace(negative=dice.chance(0.14))

    def verb_group(self, core: str | Node, agr: str, plan: Plan, passive: bool, support: bool) -> list[Node]:
        """Return auxiliaries with their relations, and the verb; `core` is a lemma or a predicate."""
        chain = [(plan.modal, "aux")] if plan.modal else []
        chain += [("have", "aux")] * plan.perfect + [("be", "aux")] * plan.progressive
        chain += [("be", "aux:pass")] * passive + [(core, "") if isinstance(core, str) else ("be", "cop")]
        if support and chain == [(core, "")]:
            chain.insert(0, ("do", "aux"))
        nodes, form = [], plan.tense
        for lemma, rel in chain:
            node = make.verb(lemma, form, agr, aux=rel != "")
            node.rel = rel or "root"
            nodes.append(node)
            form = "pass" if rel == "aux:pass" else {"be": "ing", "have": "part"}.get(lemma, "inf")
        return nodes if isinstance(core, str) else [*nodes, core]

    def finite(
        self,
        core: str | Node,
        subject: Node,
        plan: Plan = PAST,
        *,
        passive: bool = False,
        inverted: bool = False,
        agr: str = "",
        adverb: Node | None = None,
    ) -> Node:
        """Put subject, auxiliaries, negation and adverb before the predicate; return its node."""
        support = plan.negative or inverted
        *auxiliaries, head = self.verb_group(core, agr or subject.agr, plan, passive, support)
        subject.rel = "nsubj:pass" if passive else "nsubj"
        parts = [subject]
        if auxiliaries:
            parts = self.with_first_auxiliary(subject, auxiliaries.pop(0), plan.negative, inverted)
        parts += auxiliaries
        if adverb:
            adverb.rel = "advmod"
            parts.append(adverb)
        for part in reversed(parts):
            head.first(part.rel, part)
        return head

    def with_first_auxiliary(self, subject: Node, first: Node, negative: bool, inverted: bool) -> list[Node]:
        rel, parts = first.rel, [first]
        if negative:
            first, negation = make.negation(first, short=inverted or self.dice.chance(0.7))
            negation.rel = "advmod"
            parts = [first, negation]
        elif not inverted and subject.word.xpos == "PRP" and not subject.after and self.dice.chance(0.45):
            first = make.contracted(first) or first
            parts = [first]
        first.rel = rel
        if not inverted:
            return [subject, *parts]
        split = 2 if negative and parts[1].joined else 1
        return [*parts[:split], subject, *parts[split:]]

    def adverb(self, negative: bool = False) -> Node | None:
        dice = self.dice
        if not dice.chance(0.13):
            return None
        form = dice.deal(lex.MANNER if negative or dice.chance(0.4) else lex.FREQUENCY)
        kinds = {
            "always": "PronType=Tot",
            "never": "PronType=Neg",
            "usually": "_",
            "sometimes": "PronType=Ind",
        }
        return make.adverb(form, kinds.get(form, "Degree=Pos"))

    def complete(self, verb: Node, frame: VerbClass, *, gap: str = "", depth: int = 2, most: int = 2) -> None:
        """Add the object (unless it is the gap) and up to `most` phrases that the verb licenses."""
        dice, banned = self.dice, frozenset(frame.phrases)
        if frame.object and gap != "obj":
            obj = self.np(dice.pick(frame.object), depth=0 if frame.needs_phrase else depth, banned=banned)
            verb.right("obj", obj)
            verb.heavy = obj.heavy
        count = min(most, dice.weighted([(45, 0), (45, 1), (12, 2)])) if not verb.heavy else 0
        pairs = frame.phrases if frame.object else [pair for pair in frame.phrases if pair[0] != gap]
        for _ in range(max(count, frame.needs_phrase)):
            if pairs and not verb.heavy:
                prep, cls = dice.pick(pairs)
                noun = self.np(cls, depth=max(depth - 1, 0), banned=banned)
                verb.right("obl", self.pp(prep, noun))
                verb.heavy = noun.heavy
                pairs = [pair for pair in pairs if pair[0] != prep]

    def add_time(self, verb: Node, plan: Plan, probability: float = 0.3) -> Node:
        if plan.when and not verb.heavy and self.dice.chance(probability):
            verb.right(*self.time(plan.when))
        return verb

    def frame_for(self, cls: str, role: str) -> VerbClass | None:
        """Return a verb class that takes `cls` as its subject, object or patient (subject of a passive)."""
        field = "object" if role == "patient" else role
        names = [
            name
            for name in VERBS
            if cls in getattr(VERBS[name], field) and (role, name) != ("patient", "own")
        ]
        return VERBS[self.dice.pick(names)] if names else None

    def statement(self, subject: Node | None = None, *, depth: int = 1, plan: Plan | None = None) -> Node:
        """Return an active clause, or now and then a passive or copular clause."""
        dice = self.dice
        kind = dice.weighted([(70, "active"), (12, "passive"), (18, "copular")])
        if kind == "passive" and subject is None:
            return self.passive(depth=depth)
        if kind == "copular":
            return self.copular(subject or self.subject(depth=depth), plan)
        return self.active(subject, depth=depth, plan=plan)

    def active(self, subject: Node | None = None, *, depth: int = 1, plan: Plan | None = None) -> Node:
        dice = self.dice
        if subject is None:
            cls = dice.weighted(
                [(75, "person"), (8, "animal"), (5, "vehicle"), (4, "event"), (4, "building"), (4, "team")]
            )
            subject = self.subject(cls, depth)
        frame = self.frame_for(subject.cls, "subject") or VERBS["rest"]
        plan = plan or self.plan(stative=frame is VERBS["own"] or frame is VERBS["stand"])
        verb = self.finite(dice.deal(frame.verbs), subject, plan, adverb=self.adverb(plan.negative))
        self.complete(verb, frame, depth=depth)
        return self.add_time(verb, plan)

    def passive(self, subject: Node | None = None, *, depth: int = 1) -> Node:
        dice = self.dice
        frame = VERBS[dice.pick(lex.ACTIONS)]
        subject = subject or self.np(dice.pick(frame.object), "Nom", depth=depth)
        plan = self.plan(stative=True)
        verb = self.finite(
            dice.deal(frame.verbs), subject, plan, passive=True, adverb=self.adverb(plan.negative)
        )
        if dice.chance(0.5):
            self.add_agent(verb, frame, depth)
        self.complete(verb, frame, gap="obj", depth=depth, most=1)
        return self.add_time(verb, plan)

    def add_agent(self, verb: Node, frame: VerbClass, depth: int) -> None:
        agent = self.np(self.dice.pick(frame.subject), depth=depth)
        verb.right("obl:agent", self.pp("by", agent))
        verb.heavy = agent.heavy

    def copular(self, subject: Node, plan: Plan | None = None) -> Node:
        """Return a clause with "be": the subject is tired, is a doctor, or is in a place."""
        dice = self.dice
        plan = plan or self.plan(stative=True)
        kind = dice.pick(["adjective", "noun", "place", "adjective"])
        if kind == "noun" and (subject.cls or "person") == "person":
            plural = subject.agr.endswith("p")
            predicate = self.common("person", plural=plural, determiner="" if plural else "a")
            if dice.chance(0.3):
                self.add_phrase(predicate, "person", 1, frozenset({("in", "place")}))
        elif kind == "place":
            predicate = self.pp("in", self.np("place", depth=1))
        else:
            predicate = self.graded_adjective(subject.cls or "person")
        return self.finite(predicate, subject, plan)

    def graded_adjective(self, cls: str) -> Node:
        """Return an adjective: tired; very tired; older than the judge; as old as the judge."""
        dice, lemma = self.dice, self.adjective_lemma(cls)
        kind = dice.weighted([(45, "plain"), (20, "degree"), (25, "than"), (12, "as")])
        if kind == "plain":
            return make.adjective(lemma)
        if kind == "degree":
            return make.adjective(lemma).left("advmod", make.adverb(dice.deal(lex.DEGREE)))
        if kind == "as":
            node = make.adjective(lemma).left("advmod", make.adverb("as"))
        elif lemma in lex.GRADED:
            node = make.adjective(lemma, "Cmp")
        else:
            node = make.adjective(lemma).left("advmod", make.adverb("more", "Degree=Cmp", "RBR"))
        standard = self.np(cls if cls in lex.NOUNS else "person", depth=0)
        return node.right("obl", self.pp(kind, standard))

    def infinitive(self, *, mark: bool = True, form: str = "inf") -> Node:
        """Return an infinitive: (to) read a book."""
        frame = VERBS[self.dice.pick(lex.ACTIONS if self.dice.chance(0.7) else lex.INTRANSITIVE)]
        verb = make.verb(self.dice.deal(frame.verbs), form)
        if mark:
            verb.left("mark", make.to())
        self.complete(verb, frame, depth=1, most=1)
        return verb

    def add_clause(self, noun: Node) -> None:
        """Modify a noun by a relative clause, participle, infinitive, or the content of an idea."""
        dice = self.dice
        noun.heavy = True
        if noun.cls == "idea" and dice.chance(0.7):
            if dice.chance(0.6):
                noun.right("acl", self.infinitive())
            else:
                noun.right("acl", self.statement().first("mark", make.subordinator("that")))
        elif dice.chance(0.35) and self.add_participle(noun):
            return
        else:
            clause = self.relative_clause(noun)
            if clause:
                noun.right("acl:relcl", clause)

    def add_participle(self, noun: Node) -> bool:
        """Add a participle: the boy reading a book; the book written by the boy."""
        active = noun.cls == "person"
        frame = self.frame_for(noun.cls, "subject" if active else "patient")
        if frame is None:
            return False
        verb = make.verb(self.dice.deal(frame.verbs), "ing" if active else "pass")
        if not active:
            self.add_agent(verb, frame, depth=1)
        self.complete(verb, frame, gap="" if active else "obj", depth=1, most=1)
        noun.right("acl", verb)
        return True

    def relative_clause(self, noun: Node, kind: str = "") -> Node | None:
        """Return a relative clause about `noun`, which the caller puts into place."""
        kinds = [(40, "subject"), (25, "object"), (9, "preposition"), (8, "distant"), (16, "whose")]
        kind = kind or self.dice.weighted(kinds)
        if kind in ("object", "distant") and self.frame_for(noun.cls, "object"):
            return self.object_relative(noun, distant=kind == "distant")
        if kind == "preposition" and noun.cls in ("place", "topic", "event"):
            return self.preposition_relative(noun)
        if kind == "whose" and noun.cls == "person":
            owned = make.noun(self.lemma("animal")).left("nmod:poss", make.relative("whose"))
            owned.cls = "animal"
            return self.active(owned)
        return self.subject_relative(noun)

    def relative_pronoun(self, noun: Node) -> Node:
        return make.relative(
            self.dice.pick(["who", "who", "that"] if noun.cls == "person" else ["which", "that"])
        )

    def subject_relative(self, noun: Node) -> Node:
        pronoun = self.relative_pronoun(noun)
        pronoun.agr, pronoun.cls = noun.agr, noun.cls
        if self.frame_for(noun.cls, "subject"):
            return self.active(pronoun)
        frame = self.frame_for(noun.cls, "patient")
        if frame is None:
            return self.copular(pronoun)
        verb = self.finite(self.dice.deal(frame.verbs), pronoun, self.plan(stative=True), passive=True)
        self.add_agent(verb, frame, depth=1)
        self.complete(verb, frame, gap="obj", depth=1, most=1)
        return verb

    def object_relative(self, noun: Node, distant: bool) -> Node:
        """Return a relative clause: (that) she read; with crossing arcs: that she wanted to read."""
        dice, frame = self.dice, self.frame_for(noun.cls, "object")
        assert frame is not None
        subject = self.subject(dice.pick(frame.subject), 0 if dice.chance(0.6) else 1)
        lower = make.verb(dice.deal(frame.verbs), "inf")
        verb = lower
        if distant:
            verb = self.finite(dice.deal(lex.WANT), subject).right("xcomp", lower.left("mark", make.to()))
        else:
            verb = lower = self.finite(dice.deal(frame.verbs), subject, self.plan(stative=True))
        self.complete(lower, frame, gap="obj", depth=1, most=1)
        if distant or dice.chance(0.65):
            verb.first("obj", self.relative_pronoun(noun), head=lower)
        return verb

    def preposition_relative(self, noun: Node) -> Node:
        """Return a relative clause: the village (that she lived in); the village (in which she lived)."""
        dice = self.dice
        frame, prep = (VERBS["talk"], "about") if noun.cls != "place" else (VERBS["rest"], "in")
        verb = self.finite(dice.deal(frame.verbs), self.subject(depth=1), self.plan())
        if dice.chance(0.35):
            return verb.first("obl", self.pp(prep, make.relative("which")))
        pronoun = make.relative(dice.pick(["that", "which"]))
        verb.right("case", make.adposition(prep), head=pronoun)
        return verb.first("obl", pronoun)
