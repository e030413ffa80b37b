"""Facts of a Doc: objects with its spans, made from rows of plain values."""

from dataclasses import dataclass, field, fields
from typing import Any

from spacy.tokens import Doc, Span

from ..data.doc_record import FACTS, own_facts

#: Columns of a fact, by their names.
Row = dict[str, Any]
#: Names of spans. A row has the text of each, and under the name with "_tokens" its range of tokens.
SPANS = ("verb", "subject", "object", "indirect_object", "clause", "source")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Who does what to whom, as a clause of a text says it. What the clause does not say is None or "".

    predicate: Lemma of the verb, with its particle: "look up". "be" and "have" where no verb says them.
    verb: The words of the predicate.
    subject: Who does it. In a passive, the agent.
    object: Whom or what it is done to; after *be*, what the subject is.
    indirect_object: Who receives it.
    clause: The clause that is said, thought, wanted or caused.
    details: Where, when, how and why: pairs of a preposition, conjunction or case ("" for none), and a span.
    auxiliaries: Lemmas of the auxiliaries, but for that of a passive: "may have".
    tense, mood: Features of the finite verb, as the morphologizer sets them: "Past", "Ind".
    negated, passive, question: Whether the clause is negative, a passive or asked.
    source: Who says or thinks it: *Ann* in "Ann says that it works".
    governor: The predicate that it is the complement of: "say".
    probability: Probability that the heads and labels of its words are right, if the parser stores those.
    sentence: Number of the sentence in the Doc.
    row: The same as plain values: ``pandas.DataFrame(fact.row for fact in doc._.g2g_facts)``.
    """

    predicate: str
    verb: Span | None
    subject: Span | None
    object: Span | None
    indirect_object: Span | None
    clause: Span | None
    details: tuple[tuple[str, Span], ...]
    auxiliaries: str
    tense: str
    mood: str
    negated: bool
    passive: bool
    question: bool
    source: Span | None
    governor: str
    probability: float | None
    sentence: int
    row: Row = field(repr=False)

    def __str__(self) -> str:
        """Show the fact in a line: *Ann | not give | the book | to: Bob*."""
        parts = [self.row["subject"] or "-", "not " * self.negated + self.predicate]
        parts += [self.row[name] for name in SPANS[2:5] if self.row[name]]
        parts += [f"{each['marker']}: {each['text']}".removeprefix(": ") for each in self.row["details"]]
        return " | ".join(parts) + " ?" * self.question


#: Names of the columns of a row.
ROW = [each.name for each in fields(Fact) if each.name != "row"]
ROW += [f"{name}_tokens" for name in SPANS]


def _fact(doc: Doc, row: Row) -> Fact:
    values = {name: value for name, value in row.items() if not name.endswith("_tokens")}
    ranges = {name: row[f"{name}_tokens"] for name in SPANS}
    values |= {name: doc[slice(*tokens)] if tokens else None for name, tokens in ranges.items()}
    values["details"] = tuple((each["marker"], doc[slice(*each["tokens"])]) for each in row["details"])
    return Fact(**values, row=row)


def _facts(doc: Doc) -> list[Fact] | None:
    rows = own_facts(doc)
    return None if rows is None else [_fact(doc, row) for row in rows]


Doc.set_extension(FACTS, getter=_facts, force=True)
