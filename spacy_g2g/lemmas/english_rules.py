"""The ``english_lemmatizer`` component: spaCy's rule lemmatizer of English, with more rules of spelling.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from spacy.lang.en.lemmatizer import EnglishLemmatizer
from spacy.language import Language
from spacy.lookups import Lookups, load_lookups
from spacy.tokens import Doc, Token
from spacy.training import Example

Rules = list[tuple[str, str]]
#: Tables of spacy-lookups-data.
TABLES = ["lemma_rules", "lemma_index", "lemma_exc"]
#: Consonants that are doubled before an ending: "stopped".
DOUBLED = "bdgmnprt"
#: Vowels and consonants at the end of stems that had no -e: "leaked", unlike "liked".
LONG_VOWELS, CONSONANTS = ("ai", "ea", "ee", "ei", "oa", "oi", "oo", "ou", "ui"), "dklmnprt"
#: Ends of stems that had an -e: "described", "handling".
HAD_E = (
    "c dg rg s u v z bl cl dl fl gl kl pl tl ad ag ak am an ap ar at ib id ik il im in ip ir ob od ok ol om "
    "op ot ub ud ul um un ur ut yp"
)
#: Parts of speech that the parts of a contraction may have.
IN_CONTRACTIONS = ("AUX", "VERB", "PART")
#: An acronym with at most so many letters keeps its S, whatever is left without it. It is one if some of this
#: many words before and after it are not in capitals: SMS, but not STOP ALL CARS.
SHORT, NEAR = 3, 5
WITH_ES = [("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zzes", "zz")]
WITH_S = [("s", ""), ("shes", "sh"), ("ches", "ch"), ("ses", "s")]


def _verb_rules(ending: str) -> Rules:
    """Return the rules for a verb with -ed or -ing."""
    doubled = [(2 * letter + ending, letter) for letter in DOUBLED]
    long = [(vowel + letter + ending, vowel + letter) for vowel, letter in product(LONG_VOWELS, CONSONANTS)]
    had_e = [(end + ending, end + "e") for end in HAD_E.split()]
    others = [("ss" + ending, "ss"), *had_e, (ending, ""), (ending, "e")]
    return [*doubled, *long, *others, *doubled, ("ng" + ending, "ng")]


def _adjective_rules(ending: str) -> Rules:
    """Return the rules for an adjective with -er or -est."""
    doubled = [(2 * letter + ending, letter) for letter in DOUBLED]
    return [("i" + ending, "y"), *doubled, (ending, ""), (ending, "e")]


#: Ends of words and what replaces them. Of the rules that lead to a known word, spaCy takes the last one. For
#: an unknown word, it takes the first one.
RULES: dict[str, Rules] = {
    "adj": [*_adjective_rules("er"), *_adjective_rules("est")],
    "noun": [("fies", "fie"), ("ies", "y"), *WITH_ES, ("men", "man"), *WITH_S],
    "verb": [
        ("ies", "y"),
        ("ied", "y"),
        *WITH_ES,
        ("oes", "o"),
        *WITH_S,
        *_verb_rules("ed"),
        *_verb_rules("ing"),
    ],
}


class EnglishRules(EnglishLemmatizer):
    """Makes lemmas by rules and a list of words."""

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,  # noqa: ARG002
        *,
        nlp: Language | None = None,  # noqa: ARG002
        lookups: Lookups | None = None,
    ) -> None:
        """Take the words and exceptions of spacy-lookups-data, and the rules of this file.

        lookups: Tables to take instead; they are changed.
        Raises ValueError if spacy-lookups-data is not installed.
        """
        self.lookups = lookups or load_lookups("en", TABLES)
        rules, index, exceptions = map(self.lookups.get_table, TABLES)
        for pos in RULES:
            rules[pos] = RULES[pos]
            index[pos] = dict.fromkeys(index[pos], True)  # spaCy looks words up in a list
            # "proceed", "economics"
            unchanged = {word: [word] for word in index[pos] if not self._known_stem(pos, word)}
            exceptions[pos] = unchanged | exceptions[pos]

    def rule_lemmatize(self, token: Token) -> list[str]:
        """Return the lemmas of a token.

        A part of a contraction has those of its norm: "gon" of "gonna" is "going". The S of an acronym, as in
        "SMS", is no ending.
        """
        if token.norm != token.lex.norm and token.pos_ in IN_CONTRACTIONS:
            pos = "VERB" if token.pos_ == "AUX" else token.pos_
            token = Doc(self.vocab, words=[token.norm_], pos=[pos])[0]
        elif token.is_upper and token.pos_ == "NOUN" and self._is_acronym(token):
            return [token.lower_]
        lemmas: list[str] = super().rule_lemmatize(token)
        return lemmas

    def _is_acronym(self, token: Token) -> bool:
        """Return whether a word in capitals is an acronym without an ending. The words near it tell."""
        near = token.doc[max(0, token.i - NEAR) : token.i + NEAR + 1]
        if not token.lower_.endswith("s") or not any(word.is_lower and len(word) > 1 for word in near):
            return False
        word, (_, index, _) = token.lower_, (self.lookups.get_table(name)["noun"] for name in TABLES)
        return len(word) <= SHORT or word in index or not self._known_stem("noun", word)

    def is_base_form(self, token: Token) -> bool:
        """Return whether a word has no ending: by its features, unless it is a form of a known word."""
        pos, word = token.pos_.lower(), token.lower_
        if pos not in RULES or not super().is_base_form(token):
            return bool(super().is_base_form(token))
        _, index, exceptions = (self.lookups.get_table(name)[pos] for name in TABLES)
        return word in index or not (word in exceptions or self._known_stem(pos, word))

    def _known_stem(self, pos: str, word: str) -> bool:
        """Return whether a rule makes a known word of a word."""
        rules, index, _ = (self.lookups.get_table(name)[pos] for name in TABLES)
        return any(word.removesuffix(old) + new in index for old, new in rules if word.endswith(old))


@Language.factory(
    "english_lemmatizer",
    assigns=["token.lemma"],
    requires=["token.pos"],
    default_config={"overwrite": False, "scorer": {"@scorers": "spacy.lemmatizer_scorer.v1"}},
    default_score_weights={"lemma_acc": 1.0},
)
def make_english_lemmatizer(
    nlp: Language, name: str, overwrite: bool, scorer: Callable[..., dict[str, Any]] | None
) -> EnglishRules:
    """Make the ``english_lemmatizer`` component: spaCy's rule lemmatizer of English, with more rules.

    Its words are those of WordNet, from the package spacy-lookups-data, which only training needs. The rules
    tell "hoping" from "hopping", and they find the stem of words that WordNet lacks, such as "vlogged". A
    form of a known word loses its ending, whatever its features are.

    overwrite: Replace lemmas that are set.
    scorer: Scoring method.
    """
    return EnglishRules(nlp.vocab, None, name, mode="rule", overwrite=overwrite, scorer=scorer)
