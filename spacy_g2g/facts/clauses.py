"""Rules that read facts from an enhanced graph: who does what to whom in each clause."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product

from ..data.multiword import Range
from ..formats.graph import universal
from . import word_lists as known
from .doc_words import DocWords
from .fact import Row

#: Maximum number of facts of a clause. Its subjects and objects are combined.
MAX_FACTS = 50
#: Arguments of a clause that facts are combined of, and what is true of a clause.
ROLES, FLAGS = ("subject", "object", "indirect_object", "clause"), ("negated", "passive", "question")


@dataclass
class Clause:
    """A predicate and its arguments, each of them the index of a token.

    word: The word that the arguments depend on.
    verb: The words of the predicate; none if it is not expressed.
    predicate: Lemma of the predicate.
    roles: Words by ``ROLES``; "surface": subjects before a passive is turned round; "auxiliary"; "source";
        "outside": dependents that the text of the word leaves out.
    details: Markers and words.
    flags: Names from ``FLAGS``; "auxiliary" if the verb is an auxiliary of its complement; "outer" if the
        copula has a subject of its own: *the problem is that it leaks*.
    governor: Predicate that this is the complement of.
    copula: The copula of the word.
    """

    word: int
    verb: list[int]
    predicate: str = ""
    roles: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    agents: list[tuple[str, int]] = field(default_factory=list)
    details: list[tuple[str, int]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    governor: str = ""
    copula: int | None = None

    def set(self, flag: str, is_true: bool) -> None:
        """Set a flag if it is true."""
        if is_true:
            self.flags.add(flag)


class ClauseReader:
    """Reads the clauses of a Doc from its roots downwards: a clause may take its subject from one above."""

    def __init__(self, words: DocWords) -> None:
        self.words, self.clauses, self.clausal = words, dict[int, Clause](), set[int]()

    def rows(self) -> list[Row]:
        """Return the facts of all clauses, in the order of their words."""
        found: list[Clause] = []
        for word in self.words.order:
            is_verb, arguments = self.words.pos[word] == "VERB", self.words.arguments[word]
            if not is_verb and not arguments:
                continue
            is_predicate = is_verb or any(universal(dep) in known.OF_PREDICATES for _, dep in arguments)
            if is_predicate and self.words.relations[word] not in known.NO_PREDICATE:
                self.clauses[word] = clause = self.read(word)
                found += [] if "auxiliary" in clause.flags else [clause]
            found += self.other_clauses(word)
        rows: list[Row] = []
        for clause in sorted(found, key=lambda clause: clause.word):
            rows += self.facts(clause)
        return rows

    def read(self, word: int) -> Clause:
        """Read the clause of a predicate."""
        clause, words = Clause(word, [word]), self.words
        for child, dep in words.arguments[word]:
            self.add(clause, child, dep)
        clause.set("passive", words.feats[word].get("Voice") == "Pass")
        if not clause.roles["subject"]:
            self.find_subject(clause)
        head = words.heads[word]
        first = self.clauses.get(head) if words.relations[word] == "conj" else None
        forms = [words.feats[i].get("VerbForm", "Fin") for i in (word, head)]
        own = {words.relations[child] for child in words.children[word]} & {"aux", "nsubj", "cop"}
        if first and forms[0] == forms[1] != "Fin" and not own:  # it did not eat or drink
            clause.roles["auxiliary"] += first.roles["auxiliary"]
            clause.set("negated", "negated" in first.flags)
        self.turn_round(clause)
        self.name(clause)
        self.find_source(clause)
        above = self.clauses.get(head) if words.relations[word] in ("conj", "ccomp", "xcomp") else None
        is_asked = head == word and words.sentences[word] in words.questions
        clause.set("question", is_asked or (above is not None and "question" in above.flags))
        arguments = {*chain.from_iterable(map(clause.roles.__getitem__, ROLES[:3]))}
        nouns = arguments - self.clausal
        clause.set("negated", words.is_negative(word) or any(map(self.has_negation, nouns)))
        return clause

    def add(self, clause: Clause, child: int, dep: str) -> None:
        """Add a dependent to a clause."""
        relation, is_negative = universal(dep), self.words.is_negative(child)
        clause.set("passive", ":pass" in dep)
        clause.set("question", dep.endswith(":q"))
        clause.set("outer", "outer" in dep)
        self.clausal |= {child} if relation in known.CLAUSAL else set()
        if relation in known.ARGUMENTS and "outer" not in dep:
            clause.roles[known.ARGUMENTS[relation]].append(child)
        elif dep in known.PARTS:
            clause.verb.append(child)
        elif relation in ("obl", "advcl"):
            marker = self.words.marker(child, dep)
            is_agent = dep.startswith("obl:agent") or (relation == "obl" and marker in known.AGENTS)
            if marker in known.SPEAKERS:
                clause.roles["source"].append(child)
            else:
                (clause.agents if is_agent else clause.details).append((marker.replace("_", " "), child))
        elif relation in known.NEGATING and (is_negative or self.has_negation(child, "no")):
            clause.flags.add("negated")
            clause.roles["outside"].append(child)
        elif relation == "advmod" and self.words.feats[child].get("Polarity") != "Neg":
            clause.details.append(("", child))
        elif relation == "aux" and not dep.endswith((":pass", ":q")):
            clause.roles["auxiliary"].append(child)
        clause.copula = child if relation == "cop" else clause.copula

    def find_subject(self, clause: Clause) -> None:
        """Find the subject of a participle or an infinitive without one: *people living here*."""
        feats, subjects = self.words.feats[clause.word], clause.roles["subject"]
        form = feats.get("VerbForm", "Fin") if self.words.pos[clause.word] == "VERB" else "Fin"
        for head, dep in self.words.arcs[clause.word] if form != "Fin" else ():
            if dep.startswith("acl") and form != "Inf" and dep in self.words.labels and "relcl" not in dep:
                subjects.append(head)
            elif dep.startswith("advcl") and head in self.clauses:
                subjects += self.clauses[head].roles["surface"]
        is_past = form == "Part" and feats.get("Tense") == "Past" and bool(subjects)
        clause.set("passive", is_past and not (clause.roles["object"] or clause.roles["auxiliary"]))

    def turn_round(self, clause: Clause) -> None:
        """Make the subject of a passive its object, and the agent its subject."""
        roles = clause.roles
        roles["surface"] = roles["subject"]
        if "passive" in clause.flags:
            nouns = [word for word in roles["subject"] if word not in self.clausal]
            roles["clause"] = [word for word in roles["subject"] if word in self.clausal] + roles["clause"]
            roles["subject"] = [agent for _, agent in clause.agents]
            roles["indirect_object" if roles["object"] else "object"] += nouns
        else:
            clause.details += clause.agents

    def name(self, clause: Clause) -> None:
        """Find the predicate of a clause. A word that is not a verb is the object of *be*."""
        word, lemmas, roles = clause.word, self.words.lemmas, clause.roles
        copula = None if "outer" in clause.flags else clause.copula
        is_verb = self.words.pos[word] in ("VERB", "AUX", "")
        if copula is None and (is_verb or any(roles[role] for role in ROLES[1:])):
            clause.predicate = " ".join(lemmas[part] for part in sorted(clause.verb))
            xcomps = [child for child in self.words.children[word] if self.words.relations[child] == "xcomp"]
            is_known = clause.predicate in known.SEMI_AUXILIARIES.get(self.words.lang, ())
            clause.set("auxiliary", is_known and not roles["object"] and roles["clause"] == xcomps != [])
            return
        clause.verb = [] if copula is None else [copula]
        clause.predicate = known.BE if copula is None else lemmas[copula]
        roles["object"], roles["clause"] = [word], []
        within = range(word if copula is None else copula, word)
        clause.details = [(marker, i) for marker, i in clause.details if marker or i not in within]
        roles["outside"] += [child for _, child in clause.details]

    def find_source(self, clause: Clause) -> None:
        """Find who says a clause, and the predicate that it is the complement of."""
        words, roles = self.words, clause.roles
        for head, dep in words.arcs[clause.word]:
            above, relation = self.clauses.get(head), universal(dep)
            if above and relation == "xcomp" and "auxiliary" in above.flags:
                clause.governor, roles["source"] = above.governor, above.roles["source"]
                roles["auxiliary"] = [*above.roles["auxiliary"], head, *roles["auxiliary"]]
                clause.details = above.details + clause.details
                clause.flags |= above.flags & {"negated", "question"}
            elif above and relation in ("ccomp", "xcomp"):
                clause.governor = words.lemmas[head] if above.roles["object"] == [head] else above.predicate
                roles["source"] += above.roles["subject" if relation == "ccomp" else "source"]
            elif (
                above
                and relation == "parataxis"
                and above.predicate in known.SPEECH
                and not above.roles["clause"]
            ):
                clause.governor, roles["source"] = above.predicate, above.roles["subject"]
        for child, dep in words.arguments[clause.word]:
            if dep.startswith("parataxis") and words.lemmas[child] in known.SPEECH:
                found = {universal(label): other for other, label in words.arguments[child]}
                if "nsubj" in found and not found.keys() & {"obj", "ccomp"}:
                    clause.governor, roles["source"] = words.lemmas[child], [found["nsubj"]]

    def has_negation(self, word: int, *lemmas: str) -> bool:
        """Return whether a word is negative: *nobody*, *no dogs*; or has one of the lemmas: *no longer*."""
        nearby = [i for i in self.words.children[word] if self.words.relations[i] in ("det", "advmod")]
        if lemmas:
            return any(self.words.lemmas[child] in lemmas for child in nearby)
        return any(map(self.words.is_negative, [word, *nearby]))

    def other_clauses(self, word: int) -> Iterator[Clause]:
        """Yield what a word says without a verb: possessors, and copulas whose predicate is a clause."""
        clause, arguments = self.clauses.get(word), self.words.arguments[word]
        if clause and "outer" in clause.flags and clause.copula is not None:
            outer = [child for child, dep in arguments if "outer" in dep]
            yield self.make_clause(word, clause.copula, subject=outer, clause=[word])
        for child, dep in arguments:
            feats = self.words.feats[child]
            is_owner = dep.startswith(("nmod:poss", "det:poss")) or (dep == "det" and "Poss" in feats)
            if is_owner and feats.get("Case", "Gen") == "Gen":
                yield self.make_clause(word, None, subject=[child], object=[word], outside=[child])

    def make_clause(self, word: int, copula: int | None, **roles: list[int]) -> Clause:
        """Make a clause that no verb states: *be* with its copula, or *have*."""
        predicate = known.HAVE if copula is None else self.words.lemmas[copula]
        return Clause(word, [] if copula is None else [copula], predicate, roles=defaultdict(list, roles))

    def facts(self, clause: Clause) -> Iterator[Row]:
        """Yield a fact for each combination of a subject, an object, an indirect object and a clause."""
        lists: list[Sequence[int | None]] = [[*dict.fromkeys(clause.roles[role])] or [None] for role in ROLES]
        if lists == [[None]] * len(ROLES) and not clause.details:
            return
        shared = self.shared_values(clause)
        for chosen in islice(product(*lists), MAX_FACTS):
            row: Row = {"sentence": self.words.sentences[clause.word], "predicate": clause.predicate}
            for role, word in zip(ROLES, chosen, strict=True):
                self.set_text(row, role, None if word is None else self.phrase(clause, word, role))
            arguments = {word for word in chosen if word is not None} - {clause.word}
            if any(self.words.heads[word] != clause.word for word in arguments):
                arguments.add(clause.word)
            yield {**row, **shared, "probability": self.words.probability(arguments)}

    def shared_values(self, clause: Clause) -> Row:
        """Return what all facts of a clause have in common."""
        words, verb = self.words, sorted(clause.verb)
        row: Row = {"details": []}
        is_whole = bool(verb) and verb == [*range(verb[0], verb[-1] + 1)]
        tokens = (verb[0], verb[-1] + 1) if is_whole else (clause.word, clause.word + 1) if verb else None
        self.set_text(row, "verb", tokens)
        source = clause.roles["source"][:1]
        self.set_text(row, "source", self.phrase(clause, source[0], "source") if source else None)
        for marker, word in clause.details:
            tokens = self.phrase(clause, word, "details")
            row["details"].append({"marker": marker, "text": words.text_of(tokens), "tokens": [*tokens]})
        row["auxiliaries"] = " ".join(words.lemmas[word] for word in clause.roles["auxiliary"])
        feats = [words.feats[word] for word in (*clause.roles["auxiliary"], *verb)]
        finite = next((each for each in feats if each.get("VerbForm") == "Fin"), feats[-1] if feats else {})
        row |= {"tense": finite.get("Tense", ""), "mood": finite.get("Mood", "")}
        return row | {flag: flag in clause.flags for flag in FLAGS} | {"governor": clause.governor}

    def set_text(self, row: Row, name: str, tokens: Range | None) -> None:
        """Set a text of a row and its tokens; both are None without tokens."""
        row[name] = None if tokens is None else self.words.text_of(tokens)
        row[f"{name}_tokens"] = None if tokens is None else [*tokens]

    def phrase(self, clause: Clause, word: int, role: str) -> Range:
        """Return the tokens of an argument of a clause."""
        is_own = word == clause.word and clause.predicate != known.HAVE
        dropped = known.NOT_IN_CLAUSE if word in self.clausal or role == "clause" else known.NOT_IN_NOUN
        if is_own and role == "object":
            dropped = known.NOT_IN_PREDICATIVE
        return self.words.phrase(word, dropped, clause.roles["outside"])
