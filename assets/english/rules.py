"""Words and trees of the English treebank, and the rules for part of speech, lemma and features.

The rules read XPOS, label and tree, and `lemmas.txt` for lemmas that no rule of spelling finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

#: Part of speech by XPOS where the label does not matter.
UPOS = {
    **dict.fromkeys(["NN", "NNS"], "NOUN"),
    **dict.fromkeys(["NNP", "NNPS"], "PROPN"),
    **dict.fromkeys(["JJ", "JJR", "JJS"], "ADJ"),
    **dict.fromkeys(["RB", "RBR", "RBS", "WRB"], "ADV"),
    **dict.fromkeys(["PRP", "PRP$", "EX", "WP", "WP$"], "PRON"),
    **dict.fromkeys(["ADD", "FW", "GW", "LS"], "X"),
    **dict.fromkeys(["$", "SYM", "#"], "SYM"),
    **dict.fromkeys([",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH"], "PUNCT"),
    "CC": "CCONJ",
    "CD": "NUM",
    "MD": "AUX",
    "PDT": "DET",
    "POS": "PART",
    "RP": "ADP",
    "UH": "INTJ",
}
FEATURES = {
    "NN": "Number=Sing",
    "NNS": "Number=Plur",
    "NNP": "Number=Sing",
    "NNPS": "Number=Plur",
    "JJ": "Degree=Pos",
    "JJR": "Degree=Cmp",
    "JJS": "Degree=Sup",
    "RBR": "Degree=Cmp",
    "RBS": "Degree=Sup",
    "MD": "Mood=Ind|VerbForm=Fin",
    "VBZ": "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "VBP": "Mood=Ind|Tense=Pres|VerbForm=Fin",
    "VBD": "Mood=Ind|Tense=Past|VerbForm=Fin",
    "FW": "Foreign=Yes",
    "EX": "PronType=Dem",
}
PERSONAL = {  # features without PronType, and the lemma
    "i": ("Case=Nom|Number=Sing|Person=1", "I"),
    "me": ("Case=Acc|Number=Sing|Person=1", "I"),
    "you": ("Person=2", "you"),
    "he": ("Case=Nom|Gender=Masc|Number=Sing|Person=3", "he"),
    "him": ("Case=Acc|Gender=Masc|Number=Sing|Person=3", "he"),
    "she": ("Case=Nom|Gender=Fem|Number=Sing|Person=3", "she"),
    "her": ("Case=Acc|Gender=Fem|Number=Sing|Person=3", "she"),
    "it": ("Gender=Neut|Number=Sing|Person=3", "it"),
    "we": ("Case=Nom|Number=Plur|Person=1", "we"),
    "us": ("Case=Acc|Number=Plur|Person=1", "we"),
    "'s": ("Case=Acc|Number=Plur|Person=1", "we"),
    "they": ("Case=Nom|Number=Plur|Person=3", "they"),
    "them": ("Case=Acc|Number=Plur|Person=3", "they"),
    "'em": ("Case=Acc|Number=Plur|Person=3", "they"),
    "mine": ("Number=Sing|Person=1|Poss=Yes", "mine"),
    "yours": ("Person=2|Poss=Yes", "yours"),
    "his": ("Gender=Masc|Number=Sing|Person=3|Poss=Yes", "his"),
    "hers": ("Gender=Fem|Number=Sing|Person=3|Poss=Yes", "hers"),
    "ours": ("Number=Plur|Person=1|Poss=Yes", "ours"),
    "theirs": ("Number=Plur|Person=3|Poss=Yes", "theirs"),
    "myself": ("Case=Acc|Number=Sing|Person=1|Reflex=Yes", "myself"),
    "yourself": ("Case=Acc|Number=Sing|Person=2|Reflex=Yes", "yourself"),
    "himself": ("Case=Acc|Gender=Masc|Number=Sing|Person=3|Reflex=Yes", "himself"),
    "herself": ("Case=Acc|Gender=Fem|Number=Sing|Person=3|Reflex=Yes", "herself"),
    "itself": ("Case=Acc|Gender=Neut|Number=Sing|Person=3|Reflex=Yes", "itself"),
    "ourselves": ("Case=Acc|Number=Plur|Person=1|Reflex=Yes", "ourselves"),
    "yourselves": ("Case=Acc|Number=Plur|Person=2|Reflex=Yes", "yourselves"),
    "themselves": ("Case=Acc|Number=Plur|Person=3|Reflex=Yes", "themselves"),
}
POSSESSIVE = {
    "my": "Number=Sing|Person=1",
    "your": "Person=2",
    "his": "Gender=Masc|Number=Sing|Person=3",
    "her": "Gender=Fem|Number=Sing|Person=3",
    "its": "Gender=Neut|Number=Sing|Person=3",
    "our": "Number=Plur|Person=1",
    "their": "Number=Plur|Person=3",
}
DETERMINERS = {
    "the": "Definite=Def|PronType=Art",
    "a": "Definite=Ind|PronType=Art",
    "an": "Definite=Ind|PronType=Art",
    "this": "Number=Sing|PronType=Dem",
    "that": "Number=Sing|PronType=Dem",
    "these": "Number=Plur|PronType=Dem",
    "those": "Number=Plur|PronType=Dem",
    "no": "PronType=Neg",
    "neither": "PronType=Neg",
    "such": "PronType=Dem",
    "what": "PronType=Int",
    **dict.fromkeys(["every", "each", "all", "both"], "PronType=Tot"),
    **dict.fromkeys(["some", "any", "another", "either", "half", "quite", "rather", "many"], "PronType=Ind"),
}
DEMONSTRATIVES = {"this", "that", "these", "those"}
PRONOUNS = {  # indefinite pronouns, whose XPOS is NN
    f"{start}{end}": f"Number=Sing|PronType={kind}"
    for start, kind in (("some", "Ind"), ("any", "Ind"), ("every", "Tot"), ("no", "Neg"))
    for end in ("one", "body", "thing")
}
AUXILIARIES = {
    **dict.fromkeys(["'s", "'re", "'m", "s", "re", "m", "is", "are", "am", "was", "were"], "be"),
    **dict.fromkeys(["been", "being", "be", "ai"], "be"),
    **dict.fromkeys(["'ve", "has", "had", "have", "having"], "have"),
    **dict.fromkeys(["does", "did", "do", "done", "doing"], "do"),
    "ca": "can",
    "wo": "will",
    "'ll": "will",
    "sha": "shall",
    "got": "get",
    "'d": "would",
}
VOWELS = "aeiou"
#: Endings of regular forms.
ENDINGS = {"VBG": "ing", "VBD": "ed", "VBN": "ed", "JJR": "er", "RBR": "er", "JJS": "est", "RBS": "est"}


@dataclass
class Word:
    """A word of a tree: the columns that are given, and further fields by name."""

    form: str
    xpos: str
    head: int
    label: str
    given: dict[str, str] = field(default_factory=dict)

    @property
    def low(self) -> str:
        """The form in lower case, with straight apostrophes."""
        return self.form.lower().replace("\u2019", "'")


@dataclass
class Sentence:
    """A tree over the words of a text."""

    text: str
    words: list[Word]
    place: str

    def children(self, i: int) -> list[Word]:
        """Return the dependents of word i, counted from 1."""
        return [word for word in self.words if word.head == i]


def upos_of(word: Word) -> str:
    """Return a part of speech by XPOS, label and form."""
    form, label = word.low, word.label
    if word.xpos == "LS" and word.label == "nummod":
        return "NUM"
    if word.xpos == "FW" and word.label == "advmod":  # "i.e.", "e.g."
        return "ADV"
    if word.xpos in UPOS:
        if word.xpos == "RB" and form in ("not", "n't", "nt"):
            return "PART"
        if word.xpos == "NN" and form in PRONOUNS:
            return "PRON"
        return "SYM" if form == "%" else UPOS[word.xpos]
    if word.xpos in ("DT", "WDT"):
        if label in ("cc:preconj", "mark"):  # "the more, the better"
            return "CCONJ" if label == "cc:preconj" else "SCONJ"
        is_pronoun = not label.startswith(("det", "reparandum"))
        return "PRON" if is_pronoun and (word.xpos == "WDT" or form in DEMONSTRATIVES) else "DET"
    if word.xpos == "TO":
        return "ADP" if label in ("case", "fixed") else "PART"
    if word.xpos == "IN":
        return "SCONJ" if label == "mark" or (form, label) == ("that", "fixed") else "ADP"
    if word.xpos == "NFP":
        return "SYM" if label == "discourse" else "PUNCT"
    if word.xpos.startswith("VB"):
        return "AUX" if label.partition(":")[0] in ("aux", "cop") else "VERB"
    raise ValueError(f"Unknown XPOS {word.xpos!r} of {word.form!r}")


def features_of(sentence: Sentence, i: int, upos: str) -> dict[str, str]:
    """Return the features of word i, counted from 1."""
    word = sentence.words[i - 1]
    form, found = word.low, FEATURES.get(word.xpos, "")
    if word.xpos == "PRP":
        found = PERSONAL.get(form, ("", ""))[0] + "|PronType=Prs"
    elif word.xpos == "PRP$":
        found = POSSESSIVE.get(form, "") + "|Case=Gen|Poss=Yes|PronType=Prs"
    elif word.xpos in ("DT", "PDT"):
        found = DETERMINERS.get(form, "") if upos in ("DET", "PRON") else ""
    elif word.xpos in ("WP", "WDT", "WP$", "WRB"):
        found = f"PronType={'Rel' if is_relative(sentence, i) else 'Int'}" + "|Poss=Yes" * (
            word.xpos == "WP$"
        )
    elif upos == "NUM":
        found = f"NumForm={'Digit' if form[:1].isdigit() else 'Word'}|NumType=Card"
    elif upos == "PRON" and form in PRONOUNS:
        found = PRONOUNS[form]
    elif upos == "PART" and form in ("not", "n't", "nt"):
        found = "Polarity=Neg"
    elif word.xpos in ("VB", "VBG", "VBN"):
        found = verb_features(sentence, i)
    elif form in ("here", "there", "now", "then") and upos == "ADV":
        found = "PronType=Dem"
    features = dict(item.split("=") for item in found.split("|") if item)
    if any(child.label == "fixed" for child in sentence.children(i)):
        features["ExtPos"] = ext_pos(word, upos)
    return features


def ext_pos(word: Word, upos: str) -> str:
    """Return the part of speech of a fixed expression, by the label of its first word."""
    by_label = {"case": "ADP", "mark": "SCONJ", "cc": "CCONJ", "advmod": "ADV"}
    return by_label.get(word.label, {"DET": "PRON", "AUX": ""}.get(upos, upos))


def is_relative(sentence: Sentence, i: int) -> bool:
    """Return whether a word of a question word's form is in a relative clause."""
    if any(child.label == "acl:relcl" for child in sentence.children(i)):
        return True
    while i:
        word = sentence.words[i - 1]
        if word.label in ("acl:relcl", "advcl:relcl"):
            return True
        if word.label in ("ccomp", "csubj", "advcl", "root", "parataxis"):
            return False
        i = word.head
    return False


def verb_features(sentence: Sentence, i: int) -> str:
    """Return the features of an infinitive, imperative or participle.

    A conjunct with nothing of its own has those of the first one.
    """
    word = sentence.words[i - 1]
    is_helper = word.label in ("aux", "aux:pass", "cop")
    clause, children = (word, sentence.children(i))
    if is_helper:
        clause, children = sentence.words[word.head - 1], sentence.children(word.head)
    labels = {child.label for child in children}
    has_subject = any(label.startswith(("nsubj", "csubj")) for label in labels)
    helpers = [child for child in children if child.label in ("aux", "mark") and child is not word]
    if word.xpos == "VBG":
        is_finite = any(AUXILIARIES.get(child.low) == "be" for child in helpers if child.label == "aux")
        return "Tense=Pres|VerbForm=Part" if is_finite else "VerbForm=Ger"
    is_alike = word.label == "conj" and word.xpos == sentence.words[word.head - 1].xpos
    if is_alike and not has_subject and not {"aux", "aux:pass", "mark"} & labels:
        return verb_features(sentence, word.head)
    if word.xpos == "VBN":
        is_passive = not is_helper and {"aux:pass", "nsubj:pass"} & labels
        return "Tense=Past|VerbForm=Part" + "|Voice=Pass" * bool(is_passive)
    is_clause = clause.label in ("root", "parataxis", "ccomp", "conj") and not has_subject
    # "Don't panic" has a helper that is an order itself.
    is_order = is_clause and all(child.low == "do" and child.xpos == "VB" for child in helpers)
    return "Mood=Imp|VerbForm=Fin" if is_order else "VerbForm=Inf"


def read_lemmas() -> dict[tuple[str, str], str]:
    """Return exceptional lemmas by form, in lower case, and by the first letters of XPOS."""
    lines = Path(__file__).with_name("lemmas.txt").read_text(encoding="utf8").split("\n")
    return {(form, xpos): lemma for form, xpos, lemma in (line.split() for line in lines if line)}


def lemma_of(word: Word, upos: str, lemmas: dict[tuple[str, str], str]) -> str:
    """Return a lemma by the exceptions and by rules of spelling."""
    form, low = word.form, word.low
    if (low, word.xpos) in lemmas:
        return lemmas[low, word.xpos]
    if upos == "AUX" and low in AUXILIARIES:
        return "have" if low == "'d" and word.xpos == "VBD" else AUXILIARIES[low]
    if word.xpos == "PRP":
        return PERSONAL.get(low, ("", low))[1]
    if word.label == "goeswith":
        return "_"
    if low in ("n't", "nt"):
        return "not"
    is_number_word = word.xpos == "CD" and form.isalpha() and not set(form) <= set("IVXLCDM")
    if word.xpos == "NNP" or (upos in ("X", "SYM", "PUNCT", "NUM") and not is_number_word):
        return form
    if word.xpos == "NNPS":
        return singular(form)
    if low == "an":
        return "a"
    if low in ("these", "those") and word.xpos == "DT":
        return "this" if low == "these" else "that"
    if word.xpos in ("NNS", "VBZ"):
        return singular(low)
    ending = ENDINGS.get(word.xpos, "")
    return stem(low.removesuffix(ending)) if ending and low.endswith(ending) else low


def singular(form: str) -> str:
    """Return a form without -s."""
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def stem(form: str) -> str:
    """Return a verb or adjective from what stands before -ing, -ed, -er or -est."""
    if len(form) > 3 and form[-1] == form[-2] and form[-1] not in "lsfz" + VOWELS:
        return form[:-1]  # stopp-
    if form.endswith("i") and len(form) > 2:
        return form[:-1] + "y"
    ends_in_e = ("at", "iz", "bl", "dl", "gl", "pl", "tl", "zl", "ckl", "v", "u", "c", "dg", "rg")
    return form + "e" if form.endswith(ends_in_e) and not form.endswith(("eat", "oat")) else form
