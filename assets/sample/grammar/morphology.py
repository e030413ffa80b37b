"""Inflected words: nouns, verbs, adjectives, pronouns, and the closed classes."""

from __future__ import annotations

from .lexicon import DETERMINERS, DOUBLED, IRREGULAR_NOUNS, IRREGULAR_VERBS
from .tree import Node, Word

MODALS = ["will", "can", "could", "should", "might", "must", "would"]
_VERB_FEATS = {
    "inf": ("VB", "VerbForm=Inf"),
    "imp": ("VB", "Mood=Imp|VerbForm=Fin"),
    "3s": ("VBZ", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "pres": ("VBP", "Mood=Ind|Tense=Pres|VerbForm=Fin"),
    "past": ("VBD", "Mood=Ind|Tense=Past|VerbForm=Fin"),
    "part": ("VBN", "Tense=Past|VerbForm=Part"),
    "pass": ("VBN", "Tense=Past|VerbForm=Part|Voice=Pass"),
    "ing": ("VBG", "Tense=Pres|VerbForm=Part"),
    "ger": ("VBG", "VerbForm=Ger"),
}
_BE = {
    ("pres", "1s"): ("am", "VBP", "Mood=Ind|Number=Sing|Person=1|Tense=Pres|VerbForm=Fin"),
    ("pres", "3s"): ("is", "VBZ", _VERB_FEATS["3s"][1]),
    ("pres", ""): ("are", "VBP", _VERB_FEATS["pres"][1]),
    ("past", "1s"): ("was", "VBD", "Mood=Ind|Number=Sing|Person=1|Tense=Past|VerbForm=Fin"),
    ("past", "3s"): ("was", "VBD", "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"),
    ("past", ""): ("were", "VBD", _VERB_FEATS["past"][1]),
    ("part", ""): ("been", "VBN", _VERB_FEATS["part"][1]),
}
_AUXILIARY = {  # contracted with a pronoun before them: 's, 'm, 're, 've, 'll
    "am": "'m", "is": "'s", "are": "'re", "have": "'ve", "has": "'s", "will": "'ll", "would": "'d",
}  # fmt: skip
_NOT_STEMS = {"will": "wo", "can": "ca"}
_PERSONS = {  # nominative, accusative, possessive; features without case
    "1s": ("I", "me", "my", "Number=Sing|Person=1"),
    "2": ("you", "you", "your", "Person=2"),
    "he": ("he", "him", "his", "Gender=Masc|Number=Sing|Person=3"),
    "she": ("she", "her", "her", "Gender=Fem|Number=Sing|Person=3"),
    "it": ("it", "it", "its", "Gender=Neut|Number=Sing|Person=3"),
    "1p": ("we", "us", "our", "Number=Plur|Person=1"),
    "3p": ("they", "them", "their", "Number=Plur|Person=3"),
}


def _add_s(stem: str) -> str:
    if stem.endswith(("s", "x", "ch", "sh", "z")):
        return stem + "es"
    return stem[:-1] + "ies" if stem.endswith("y") and stem[-2] not in "aeiou" else stem + "s"


def _add_vowel(stem: str, suffix: str) -> str:
    """Join a suffix that begins with a vowel: stop + ed, carry + er, close + ing."""
    if stem in DOUBLED:
        return stem + stem[-1] + suffix
    if stem.endswith("e") and not (suffix == "ing" and stem in ("be", "see", "flee")):
        return stem[:-1] + suffix
    if stem.endswith("y") and stem[-2] not in "aeiou" and suffix != "ing":
        return stem[:-1] + "i" + suffix
    return stem + suffix


def noun(lemma: str, plural: bool = False) -> Node:
    form = IRREGULAR_NOUNS.get(lemma, _add_s(lemma)) if plural else lemma
    xpos, number = ("NNS", "Number=Plur") if plural else ("NN", "Number=Sing")
    return Node(Word(form, lemma, "NOUN", xpos, number))


def name(form: str) -> Node:
    return Node(Word(form, form, "PROPN", "NNP", "Number=Sing"))


def verb(lemma: str, form: str, agr: str = "", *, aux: bool = False) -> Node:
    """Return the verb `lemma`; `form` is inf, imp, pres, past, part, pass, ing or ger."""
    upos = "AUX" if aux else "VERB"
    if lemma in MODALS:
        return Node(Word(lemma, lemma, upos, "MD", "Mood=Ind|VerbForm=Fin"))
    if lemma == "be" and form in ("pres", "past", "part"):
        surface, xpos, feats = _BE.get((form, agr)) or _BE[form, ""]
        return Node(Word(surface, "be", upos, xpos, feats))
    past, part = IRREGULAR_VERBS.get(lemma, (_add_vowel(lemma, "ed"),) * 2)
    key = "3s" if form == "pres" and agr == "3s" else form
    third = {"have": "has", "do": "does", "go": "goes"}.get(lemma, _add_s(lemma))
    surface = {"3s": third, "past": past, "part": part, "pass": part}.get(key, lemma)
    if key in ("ing", "ger"):
        surface = "lying" if lemma == "lie" else _add_vowel(lemma, "ing")
    return Node(Word(surface, lemma, upos, *_VERB_FEATS[key]))


def contracted(aux: Node) -> Node | None:
    """Return the contracted form of an auxiliary after a pronoun; None if it has no such form."""
    form = _AUXILIARY.get(aux.word.form)
    return Node(aux.word._replace(form=form), tight=True, joined=True) if form else None


def negation(aux: Node, short: bool) -> tuple[Node, Node]:
    """Return an auxiliary and its negation: did + n't, ca + n't, can + not, has + not."""
    form = aux.word.form
    short = short and form not in ("am", "might")
    not_word = Word("n't" if short else "not", "not", "PART", "RB", "Polarity=Neg")
    if short:
        aux = Node(aux.word._replace(form=_NOT_STEMS.get(form, form)))
    joined = short or form == "can"
    return aux, Node(not_word, tight=joined, joined=joined)


def adjective(lemma: str, degree: str = "Pos") -> Node:
    """Return an adjective with an ending. Adjectives that take more and most come only as `Pos`."""
    suffix, xpos = {"Pos": ("", "JJ"), "Cmp": ("er", "JJR"), "Sup": ("est", "JJS")}[degree]
    form = _add_vowel(lemma, suffix) if suffix else lemma
    return Node(Word(form, lemma, "ADJ", xpos, f"Degree={degree}"))


def pronoun(person: str, case: str) -> Node:
    """Return a personal pronoun; `person` is 1s, he, 3p and so on, `case` is Nom, Acc or Gen."""
    *forms, feats = _PERSONS[person]
    form = forms[("Nom", "Acc", "Gen").index(case)]
    parts = [f"Case={case}", *feats.split("|"), "PronType=Prs", *(["Poss=Yes"] if case == "Gen" else [])]
    node = Node(Word(form, form, "PRON", "PRP$" if case == "Gen" else "PRP", "|".join(sorted(parts))))
    lemmas = {"Acc": forms[0], "Gen": forms[2]}
    node.word = node.word._replace(lemma=lemmas.get(case, form))
    node.agr = {"he": "3s", "she": "3s", "it": "3s"}.get(person, person)
    node.cls = "thing" if person == "it" else "person"
    return node


def relative(form: str) -> Node:
    """Return the relative pronoun who, which, that or whose."""
    xpos = {"who": "WP", "whose": "WP$"}.get(form, "WDT")
    return Node(
        Word(form, form, "PRON", xpos, "Poss=Yes|PronType=Rel" if form == "whose" else "PronType=Rel")
    )


def question(form: str) -> Node:
    """Return the question word who, what, which (before a noun), where, when, why or how."""
    upos, xpos = {"who": ("PRON", "WP"), "what": ("PRON", "WP"), "which": ("DET", "WDT")}.get(
        form, ("ADV", "WRB")
    )
    return Node(Word(form, form, upos, xpos, "PronType=Int"))


def determiner(form: str) -> Node:
    lemma, xpos, feats = DETERMINERS[form]
    return Node(Word(form, lemma, "DET", xpos, feats))


def adposition(form: str) -> Node:
    """Return a preposition. A preposition of several words becomes a fixed expression."""
    head, *rest = form.split()
    upos, xpos = {"because": ("SCONJ", "IN"), "according": ("VERB", "VBG")}.get(head, ("ADP", "IN"))
    lemma = "accord" if head == "according" else head
    feats = "ExtPos=ADP" if rest else "_"
    if head == "according":
        feats += "|VerbForm=Ger"
    node = Node(Word(head, lemma, upos, xpos, feats))
    for word in rest:
        node.right("fixed", Node(Word(word, word, "ADP", "IN")))
    return node


def subordinator(form: str) -> Node:
    return Node(Word(form, form, "SCONJ", "IN"))


def to() -> Node:
    return Node(Word("to", "to", "PART", "TO"))


def particle(form: str) -> Node:
    return Node(Word(form, form, "ADP", "RP"))


def adverb(form: str, feats: str = "_", xpos: str = "RB") -> Node:
    return Node(Word(form, form, "ADV", xpos, feats))


def conjunction(form: str) -> Node:
    return Node(Word(form, form, "CCONJ", "CC"))


def interjection(form: str) -> Node:
    return Node(Word(form, form, "INTJ", "UH"))


def number(form: str) -> Node:
    kind = "Digit" if form.isdigit() else "Word"
    return Node(Word(form, form, "NUM", "CD", f"NumForm={kind}|NumType=Card"))


def punct(form: str) -> Node:
    xpos = {"(": "-LRB-", ")": "-RRB-", ",": ",", ";": ":", "-": ":"}.get(form, ".")
    return Node(Word(form, form, "PUNCT", xpos), tight=form not in "(-")
