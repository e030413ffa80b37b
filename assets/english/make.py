"""Make the English treebank in CoNLL-U from the trees in `texts/`.

    python -m assets.english.make [TEXTS ...] > english.conllu

A file of `texts/` has documents of one kind of text:

    = mail-01                       a document; its kind and number
    --                              a paragraph begins
    > I can't come today, sorry.    the text of a sentence, and below it a line for each word
    I      PRP 4 nsubj              form, XPOS, head (0 for the root), label
    ca     MD  4 aux
    n't    RB  4 advmod
    come   VB  0 root
    today  NN  4 obl:unmarked
    ,      ,
    sorry  JJ  4 parataxis
    .      .

Spaces and surface tokens follow from the text, heads of punctuation from the other words. UPOS, lemma and features follow from XPOS, label and tree by the
rules below and by `lemmas.txt`. What they miss stands at the end of a line: `lemma=sorry`, `upos=INTJ`,
`Typo=Yes`; `Degree=` takes a feature away.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
#: Words that form one surface token with the word before them.
CLITICS = {
    "n't",
    "n’t",
    "'s",
    "’s",
    "'re",
    "’re",
    "'ve",
    "’ve",
    "'ll",
    "’ll",
    "'d",
    "’d",
    "'m",
    "’m",
    "'",
    "’",
}
#: Surface tokens of two or more words without an apostrophe.
FUSED = {
    "cannot",
    "gonna",
    "wanna",
    "gotta",
    "dunno",
    "gimme",
    "lemme",
    "wont",
    "dont",
    "didnt",
    "cant",
    "im",
    "thats",
}
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
    **{"CC": "CCONJ", "CD": "NUM", "MD": "AUX", "PDT": "DET", "POS": "PART", "RP": "ADP", "UH": "INTJ"},
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
    **dict.fromkeys(["every", "each", "all", "both"], "PronType=Tot"),
    **dict.fromkeys(["some", "any", "another", "either"], "PronType=Ind"),
}
PRONOUNS = {  # indefinite pronouns, whose XPOS is NN
    f"{start}{end}": f"Number=Sing|PronType={kind}"
    for start, kind in (("some", "Ind"), ("any", "Ind"), ("every", "Tot"), ("no", "Neg"))
    for end in ("one", "body", "thing")
}
AUXILIARIES = {
    "'s": "be", "’s": "be", "'re": "be", "’re": "be", "'m": "be", "’m": "be", "is": "be", "are": "be", "am": "be",
    "was": "be", "were": "be", "been": "be", "being": "be", "be": "be", "'ve": "have", "’ve": "have", "has": "have",
    "had": "have", "have": "have", "having": "have", "does": "do", "did": "do", "do": "do", "done": "do",
    "doing": "do", "ca": "can", "wo": "will", "'ll": "will", "’ll": "will", "sha": "shall", "got": "get", "ai": "be",
    "'d": "would", "’d": "would",
}  # fmt: skip
VOWELS = "aeiou"


@dataclass
class Word:
    """A word of a tree: the columns that are given, and further fields by name."""

    form: str
    xpos: str
    head: int
    label: str
    given: dict[str, str] = field(default_factory=dict)


@dataclass
class Sentence:
    """A tree over the words of a text."""

    text: str
    words: list[Word]
    place: str

    def children(self, i: int) -> list[Word]:
        """Return the dependents of word i, counted from 1."""
        return [word for word in self.words if word.head == i]


def read_texts(path: Path) -> Iterator[tuple[str, bool, Sentence]]:
    """Yield the document of each sentence of a file, whether a paragraph begins with it, and the sentence.

    Raises ValueError, with file and line, for what is no tree or does not spell the text.
    """
    document, is_new, sentence = "", False, None
    lines = [*path.read_text(encoding="utf8").splitlines(), ""]
    for number, line in enumerate(lines, start=1):
        place = f"{path.name}:{number}"
        if sentence is not None and line.strip():
            sentence.words.append(read_word(line, place))
        elif line.startswith("= "):
            document, is_new = line[2:].strip(), True
        elif line.strip() == "--":
            is_new = True
        elif line.startswith("> "):
            sentence = Sentence(line[2:].strip(), [], place)
        elif line.strip():
            raise ValueError(f"{place}: expected '= document', '--' or '> text', got {line!r}")
        elif sentence is not None:
            check(sentence)
            attach_punctuation(sentence.words)
            check(sentence)
            yield document, is_new, sentence
            is_new, sentence = False, None


def read_word(line: str, place: str) -> Word:
    """Return the word of a line. Punctuation without a head has the head -1 until ``attach_punctuation``."""
    if len(line.split()) == 2:
        line += " -1 punct"
    form, xpos, head, label, *more = [*line.split(), *[""] * 4][: max(4, len(line.split()))]
    if not head.removeprefix("-").isdigit() or not label:
        raise ValueError(f"{place}: expected form, XPOS, head and label, got {line!r}")
    given = dict(item.split("=", 1) for item in more)
    return Word(form, xpos, int(head), label, given)


def attach_punctuation(words: Sequence[Word]) -> None:
    """Set the missing heads of punctuation as English-EWT has them.

    Brackets and quotation marks depend on the head of what is between them, a comma on the conjunct that follows.
    Other marks depend on the head of the phrase that they set off: of the one that begins after them if its head
    is before them, or of the one that ends before them if its head is after them; else on the root.
    """
    marks = [i for i, word in enumerate(words, start=1) if word.head == -1]
    root = next((i for i, word in enumerate(words, start=1) if word.head == 0), 0)
    real = [i for i in range(1, len(words) + 1) if i not in marks]
    spans = {i: (i, i) for i in real}
    for i in real:
        seen, at = set(), i
        while at in spans and at not in seen:
            seen.add(at)
            spans[at] = min(spans[at][0], i), max(spans[at][1], i)
            at = words[at - 1].head
    pairs = find_pairs(words, marks)
    for i in marks:
        words[i - 1].head = root
        if i in pairs:
            inside = [j for j in real if pairs[i][0] < j < pairs[i][1]]
            tops = [j for j in inside if words[j - 1].head not in inside]
            words[i - 1].head = tops[0] if tops else root
            continue
        after, before = next((j for j in real if j > i), 0), next((j for j in reversed(real) if j < i), 0)
        around = [pair for pair in pairs.values() if pair[0] < i < pair[1] and not (0 < after < pair[1])]
        if around:  # the last mark of what is in quotation marks depends as these do
            inside = [j for j in real if around[-1][0] < j < i]
            words[i - 1].head = next((j for j in inside if words[j - 1].head not in inside), root)
        if around or not after or not before:
            continue
        while words[after - 1].head > 0 and spans[words[after - 1].head][0] > i:
            after = words[after - 1].head
        while words[before - 1].head > 0 and spans[words[before - 1].head][1] < i:
            before = words[before - 1].head
        if words[i - 1].xpos == "HYPH" and words[before - 1].head != after:
            words[i - 1].head = before if words[after - 1].head == before else after
        elif words[after - 1].head and words[after - 1].head < i:
            words[i - 1].head = after if words[after - 1].label == "conj" else words[after - 1].head
        elif words[before - 1].head > i:
            words[i - 1].head = words[before - 1].head


def find_pairs(words: Sequence[Word], marks: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return the first and last mark of each pair of brackets or quotation marks, by each of its marks."""
    pairs: dict[int, tuple[int, int]] = {}
    closing = {"-RRB-": "-LRB-", "''": "``"}
    waiting: list[int] = []
    for i in marks:
        xpos = words[i - 1].xpos
        if xpos in closing.values():
            waiting.append(i)
        elif waiting and closing.get(xpos) == words[waiting[-1] - 1].xpos:
            start = waiting.pop()
            pairs[start] = pairs[i] = start, i
    return pairs


def check(sentence: Sentence) -> None:
    """Raise ValueError unless the words are a tree with one root and spell the text."""
    place, n = sentence.place, len(sentence.words)
    if [word.label for word in sentence.words if word.head == 0] != ["root"]:
        raise ValueError(f"{place}: expected one root")
    for i, word in enumerate(sentence.words, start=1):
        seen, head = {i}, max(word.head, 0)
        while head:
            if head > n or head in seen:
                raise ValueError(f"{place}: word {i} {word.form!r} has no way to the root")
            seen.add(head)
            head = sentence.words[head - 1].head
    spelled = "".join(word.form for word in sentence.words)
    if spelled != "".join(sentence.text.split()):
        raise ValueError(f"{place}: the words spell {spelled!r}")


def find_tokens(sentence: Sentence) -> list[tuple[int, int, bool]]:
    """Return the first and last word of each surface token, from 0, and whether a space follows it."""
    spaced, at = [], 0
    for word in sentence.words:
        at = sentence.text.index(word.form, at) + len(word.form)
        spaced.append(sentence.text[at : at + 1] == " ")
    tokens: list[tuple[int, int, bool]] = []
    for i, word in enumerate(sentence.words):
        is_clitic = word.form.lower() in CLITICS and word.xpos not in {"``", "''", "."}
        before = sentence.words[tokens[-1][0] : i] if tokens else []
        fused = "".join(other.form for other in [*before, word]).lower() in FUSED
        if (
            i
            and not spaced[i - 1]
            and before[-1].xpos not in {",", ".", ":", "``", "''"}
            and (is_clitic or fused)
        ):
            tokens[-1] = (tokens[-1][0], i, spaced[i])
        else:
            tokens.append((i, i, spaced[i]))
    return tokens


def upos_of(word: Word) -> str:
    """Return a part of speech by XPOS, label and form."""
    form, label = word.form.lower(), word.label
    if word.xpos == "LS" and word.label == "nummod":
        return "NUM"
    if word.xpos in UPOS:
        if word.xpos == "RB" and form in ("not", "n't", "n’t"):
            return "PART"
        if word.xpos == "NN" and form in PRONOUNS:
            return "PRON"
        return "SYM" if form == "%" else UPOS[word.xpos]
    if word.xpos in ("DT", "WDT"):
        if label == "cc:preconj":
            return "CCONJ"
        return "DET" if label.startswith("det") else "PRON"
    if word.xpos == "TO":
        return "ADP" if label in ("case", "fixed") else "PART"
    if word.xpos == "IN":
        return "SCONJ" if label == "mark" else "ADP"
    if word.xpos == "NFP":
        return "SYM" if label == "discourse" else "PUNCT"
    if word.xpos.startswith("VB"):
        return "AUX" if label.partition(":")[0] in ("aux", "cop") else "VERB"
    raise ValueError(f"Unknown XPOS {word.xpos!r} of {word.form!r}")


def features_of(sentence: Sentence, i: int, upos: str) -> dict[str, str]:
    """Return the features of word i, counted from 1."""
    word = sentence.words[i - 1]
    form, found = word.form.lower().replace("’", "'"), FEATURES.get(word.xpos, "")
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
    elif upos == "PART" and form in ("not", "n't"):
        found = "Polarity=Neg"
    elif word.xpos in ("VB", "VBG", "VBN"):
        found = verb_features(sentence, i)
    elif form in ("here", "there", "now", "then") and upos == "ADV":
        found = "PronType=Dem"
    features = dict(item.split("=") for item in found.split("|") if item)
    if any(child.label == "fixed" for child in sentence.children(i)):
        features |= {} if "ExtPos" in word.given else {"ExtPos": ext_pos(word, upos)}
    return features


def ext_pos(word: Word, upos: str) -> str:
    """Return the part of speech of a fixed expression, by the label of its first word."""
    by_label = {"case": "ADP", "mark": "SCONJ", "cc": "CCONJ", "advmod": "ADV"}
    return by_label.get(word.label, upos)


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
    """Return the features of an infinitive, imperative or participle."""
    word, children = sentence.words[i - 1], sentence.children(i)
    labels = {child.label for child in children}
    if word.xpos == "VBG":
        has_be = any(c.label == "aux" and AUXILIARIES.get(c.form.lower()) == "be" for c in children)
        return "Tense=Pres|VerbForm=Part" if has_be else "VerbForm=Ger"
    if word.xpos == "VBN":
        return "Tense=Past|VerbForm=Part" + "|Voice=Pass" * bool({"aux:pass", "nsubj:pass"} & labels)
    has_subject = any(label.startswith(("nsubj", "csubj")) for label in labels)
    is_clause = word.label in ("root", "parataxis", "ccomp", "conj", "acl:relcl")
    is_marked = any(c.label in ("aux", "mark") for c in children)
    if is_clause and not has_subject and not is_marked:
        return "Mood=Imp|VerbForm=Fin"
    return "VerbForm=Inf"


def read_lemmas() -> dict[tuple[str, str], str]:
    """Return exceptional lemmas by form, in lower case, and by the first letters of XPOS."""
    lines = (HERE / "lemmas.txt").read_text(encoding="utf8").split("\n")
    return {(form, xpos): lemma for form, xpos, lemma in (line.split() for line in lines if line)}


def lemma_of(word: Word, upos: str, lemmas: dict[tuple[str, str], str]) -> str:
    """Return a lemma by the exceptions and by rules of spelling."""
    form = word.form.replace("’", "'") if upos in ("AUX", "PART") else word.form
    low = form.lower()
    if (low, word.xpos) in lemmas:
        return lemmas[low, word.xpos]
    if upos == "AUX" and low in AUXILIARIES:
        return "have" if low == "'d" and word.xpos == "VBD" else AUXILIARIES[low]
    if word.xpos == "PRP":
        return PERSONAL.get(low, ("", low))[1]
    if low in ("n't", "nt"):
        return "not"
    if word.xpos == "NNP" or upos in ("X", "SYM", "PUNCT", "NUM"):
        return form
    if word.xpos == "NNPS":
        return singular(form)
    if low == "an":
        return "a"
    if low in ("these", "those") and word.xpos == "DT":
        return "this" if low == "these" else "that"
    rules = {"NNS": singular, "VBZ": singular, "VBG": from_ing, "VBD": from_ed, "VBN": from_ed}
    rules |= dict.fromkeys(["JJR", "RBR"], from_er) | dict.fromkeys(["JJS", "RBS"], from_est)
    return rules[word.xpos](low) if word.xpos in rules else low


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


def from_ing(form: str) -> str:
    return stem(form[:-3]) if form.endswith("ing") else form


def from_ed(form: str) -> str:
    return stem(form[:-2]) if form.endswith("ed") else form


def from_er(form: str) -> str:
    return stem(form[:-2]) if form.endswith("er") else form


def from_est(form: str) -> str:
    return stem(form[:-3]) if form.endswith("est") else form


def conllu(sentence: Sentence, lemmas: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yield the CoNLL-U lines of a sentence, without comments."""
    for start, end, spaced in find_tokens(sentence):
        is_last = end + 1 == len(sentence.words)
        misc = "_" if spaced or is_last else "SpaceAfter=No"
        if end > start:
            form = "".join(word.form for word in sentence.words[start : end + 1])
            yield "\t".join([f"{start + 1}-{end + 1}", form, *"_" * 7, misc])
            misc = "_"
        for i in range(start, end + 1):
            word = sentence.words[i]
            upos = word.given.get("upos") or upos_of(word)
            lemma = word.given.get("lemma") or lemma_of(word, upos, lemmas)
            features = features_of(sentence, i + 1, upos)
            features |= {name: value for name, value in word.given.items() if name[0].isupper()}
            shown = "|".join(f"{k}={v}" for k, v in sorted(features.items(), key=lambda p: p[0].lower()) if v)
            columns = [
                str(i + 1),
                word.form,
                lemma,
                upos,
                word.xpos,
                shown or "_",
                str(word.head),
                word.label,
            ]
            yield "\t".join([*columns, "_", misc])


def make(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of the sentences of files."""
    lemmas, seen = read_lemmas(), ""
    n = 0
    for path in paths:
        for document, is_new, sentence in read_texts(path):
            if document != seen:
                yield f"# newdoc id = {document}"
                seen, n = document, 0
            n += 1
            if is_new:
                yield "# newpar"
            yield f"# sent_id = {document}-{n:03}"
            yield f"# text = {sentence.text}"
            yield from conllu(sentence, lemmas)
            yield ""


def main() -> None:
    """Print the treebank, or the trees of some files."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("texts", type=Path, nargs="*", help="files of trees; all of texts/ by default")
    args = cli.parse_args()
    print("\n".join(make(args.texts or sorted((HERE / "texts").glob("*.txt")))))


if __name__ == "__main__":
    main()
