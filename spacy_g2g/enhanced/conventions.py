"""Conventions for enhanced graphs that differ between treebanks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ..formats.graph import universal

#: Parts of speech of words that may be predicates.
PREDICATES = ("ADJ", "AUX", "NOUN", "PRON", "PROPN", "VERB")
#: Labels that get the marker of the word, with their patterns.
MARKED = tuple((dep, f"{dep}:MARKER") for dep in ("acl", "advcl", "conj", "nmod", "obl"))
#: Labels that get none, although others of their relation do.
UNMARKED = tuple((dep, dep) for dep in ("nmod:npmod", "nmod:poss", "nmod:tmod", "obl:npmod", "obl:tmod"))
#: Conventions of languages that differ from the default, by language code.
LANGUAGES = json.loads(files(__package__).joinpath("languages.json").read_text("utf8"))


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """Conventions of a treebank. A config may give each of them.

    labels: Pairs of a label in trees, and the pattern of the label in graphs. There, MARKER stands for the
        word's preposition, conjunction or other marker, CASE for its feature Case, and EITHER for its marker
        or, if there is none, its case. Other labels follow the pattern of their label without subtypes.
    markers: Which of several markers is taken: "first", "last" or "all".
    fixed: What a marker shows of the further words of a fixed expression: "form", "lemma", or "" for nothing.
    nominal_markers: Relations of the markers of ``nmod`` and ``obl``.
    unshared: Relations to heads that conjuncts do not share.
    shared_modifiers: Whether conjuncts share words that depend on the first one and stand behind the others.
    shared_subjects: Label of a subject that conjuncts share: "voice" for nsubj or nsubj:pass by the
        conjunct's own voice, "same" for that with the first conjunct, "" if they share none.
    relatives: What happens to the arc of a relative pronoun: "moved" to the antecedent, "named" if its label
        becomes ``nsubj:relsubj`` or ``obj:relobj`` then, "kept" if both have it, "" if the pronoun alone.
    pronouns: Features of relative pronouns, by the beginning of their text.
    relative_adverbs: Beginnings of the lemmas of adverbs that refer to an antecedent.
    controlled: Pairs of the label of an open clausal complement, and the label of its subject.
    controlled_pos: Parts of speech of the complements that get a subject.
    """

    labels: Sequence[tuple[str, str]] = (*MARKED, *UNMARKED)
    markers: str = "last"
    fixed: str = "form"
    nominal_markers: Sequence[str] = ("case",)
    unshared: Sequence[str] = ("conj", "parataxis", "root")
    shared_modifiers: bool = False
    shared_subjects: str = "voice"
    relatives: str = "moved"
    pronouns: Sequence[str] = ("PronType=Rel", "PronType=Int,Rel")
    relative_adverbs: Sequence[str] = ()
    controlled: Sequence[tuple[str, str]] = (("xcomp", "nsubj:xsubj"),)
    controlled_pos: Sequence[str] = PREDICATES


def pattern_of(dep: str, patterns: Mapping[str, str]) -> str:
    """Return the pattern of a label in trees, which may be that of the label without subtypes."""
    relation = universal(dep)
    return patterns.get(dep) or dep + patterns.get(relation, "").removeprefix(relation)


def conventions_of(lang: str) -> Conventions:
    """Return the conventions of a language, or the default."""
    return Conventions(**LANGUAGES.get(lang, {}))
