"""What the treebanks of some languages do differently in enhanced graphs."""

from dataclasses import dataclass

#: Parts of speech of words that may be predicates.
PREDICATES = frozenset({"ADJ", "AUX", "NOUN", "PRON", "PROPN", "VERB"})


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """Conventions of a language.

    unmarked: Labels that get no marker, although a word such as a preposition may stand there.
    first_marker: Whether the first of several markers is taken, in place of the last.
    marks_relatives: Whether the label of an antecedent in its relative clause has a marker, too.
    names_relatives: Whether this label has a subtype, such as ``nsubj:relsubj``.
    relative_adverbs: Beginnings of the lemmas of adverbs that refer to an antecedent.
    controlled: Label of the subject of an xcomp.
    controlled_by: Relations that it comes from. The first of them that the head of the xcomp has counts.
    controlled_pos: Parts of speech of the xcomps that get a subject.
    shares_determiners: Whether a noun in a conjunct has the determiner of the first noun.
    """

    unmarked: frozenset[str] = frozenset({"nmod:npmod", "nmod:poss", "nmod:tmod", "obl:npmod", "obl:tmod"})
    first_marker: bool = False
    marks_relatives: bool = False
    names_relatives: bool = False
    relative_adverbs: tuple[str, ...] = ()
    controlled: str = "nsubj:xsubj"
    controlled_by: tuple[str, ...] = ("obj", "nsubj")
    controlled_pos: frozenset[str] = PREDICATES
    shares_determiners: bool = False


#: Conventions of languages that differ from the default, by language code.
LANGUAGES = {
    "it": Conventions(controlled="nsubj", marks_relatives=True, relative_adverbs=("dove",)),
    "nl": Conventions(
        unmarked=frozenset({"nmod:poss", "obl:agent"}),
        first_marker=True,
        names_relatives=True,
        relative_adverbs=("waar",),
        controlled_by=("iobj", "obj", "nsubj"),
        controlled_pos=frozenset({"VERB"}),
        shares_determiners=True,
    ),
    "sv": Conventions(unmarked=frozenset({"nmod:poss", "obl:agent"}), controlled="nsubj"),
}
