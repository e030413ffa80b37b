"""Conventions for enhanced graphs that differ between the treebanks of languages."""

from dataclasses import dataclass

#: Parts of speech of words that may be predicates.
PREDICATES = frozenset({"ADJ", "AUX", "NOUN", "PRON", "PROPN", "VERB"})


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """Conventions of a language.

    unmarked: Labels that get no marker, even if the word has a preposition or another marker.
    first_marker: Whether the first of several markers is taken, in place of the last.
    names_relatives: Whether the label of an antecedent in its relative clause has a subtype, such as
        ``nsubj:relsubj``.
    relative_adverbs: Beginnings of the lemmas of adverbs that refer to an antecedent.
    controlled: Label of the subject of an xcomp.
    controlled_pos: Parts of speech of the xcomps that get a subject.
    """

    unmarked: frozenset[str] = frozenset({"nmod:npmod", "nmod:poss", "nmod:tmod", "obl:npmod", "obl:tmod"})
    first_marker: bool = False
    names_relatives: bool = False
    relative_adverbs: tuple[str, ...] = ()
    controlled: str = "nsubj:xsubj"
    controlled_pos: frozenset[str] = PREDICATES


#: Conventions of languages that differ from the default, by language code.
LANGUAGES = {
    "it": Conventions(controlled="nsubj", relative_adverbs=("dove",)),
    "nl": Conventions(
        unmarked=frozenset({"nmod:poss", "obl:agent"}),
        first_marker=True,
        names_relatives=True,
        relative_adverbs=("waar",),
        controlled_pos=frozenset({"VERB"}),
    ),
    "sv": Conventions(unmarked=frozenset({"nmod:poss", "obl:agent"}), controlled="nsubj"),
}
