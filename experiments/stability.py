"""Measure whether a pipeline keeps its trees when words change in ways that leave the tree as it is.

    python -m experiments.stability PIPELINE FILE [--sentences 400] [--seed 1]

FILE is a treebank (.conllu). Sentences of 5 to 40 words are taken at random, and rewritten: another name for
a lone name that is a subject or an object, other names everywhere, other digits, curly quotation marks, a
typo, no final mark, lower and upper case. Words and sentences are given. The table has, for each rewrite, the
number of sentences that it changes, the shares of arcs and of whole trees that stay the same, and LAS before
and after. Names and typos are drawn here, and not by `spacy_g2g.rewritten_words.v1`, from which pipelines
learn.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

from project.markdown import markdown_table
from spacy_g2g.data.multiword import mark_words
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

MIN_WORDS, MAX_WORDS = 5, 40
PEOPLE = ("Maria", "Peter", "Nadia", "Kim", "Hassan", "Olga", "Chen", "Brown")
NAMES = (
    *("Maria", "Johnson", "Acme", "Oslo", "Peter", "Kim"),
    *("Berlin", "Nadia", "Globex", "Chen", "Lagos", "Brown"),
)
CURLY = {"'": "\u2019", "``": "\u201c", "''": "\u201d", '"': "\u201d"}
#: Head, from 1, or 0 for the root, and universal label.
Arc = tuple[int, str]


class Word(NamedTuple):
    """A word of the treebank, with its arc."""

    form: str
    upos: str
    arc: Arc


Sentence = list[Word]
Rewrite = Callable[[Sentence, random.Random], list[str]]


def forms_of(sentence: Sentence) -> list[str]:
    return [word.form for word in sentence]


def another_name(sentence: Sentence, chance: random.Random) -> list[str]:
    """Put another name for each name of one word that is a subject or an object."""
    tags = ["", *(word.upos for word in sentence), ""]
    is_lone = [tag == "PROPN" not in around for tag, *around in zip(tags[1:], tags, tags[2:], strict=False)]

    def is_argument(word: Word) -> bool:
        is_title = word.form[:1].isupper() and word.form[1:].islower()
        return is_title and word.arc[1] in ("nsubj", "obj", "iobj")

    return [
        chance.choice(PEOPLE) if lone and is_argument(word) else word.form
        for word, lone in zip(sentence, is_lone, strict=True)
    ]


def other_names(sentence: Sentence, chance: random.Random) -> list[str]:
    """Put another name for each word of a name."""
    return [
        chance.choice(NAMES) if word.upos == "PROPN" and word.form[:1].isalpha() else word.form
        for word in sentence
    ]


def other_digits(sentence: Sentence, chance: random.Random) -> list[str]:
    """Put another digit for each."""
    return [re.sub(r"\d", lambda _: str(chance.randrange(1, 10)), word.form) for word in sentence]


def curly_quotes(sentence: Sentence, chance: random.Random) -> list[str]:  # noqa: ARG001
    """Make quotation marks and apostrophes curly, all of them closing."""
    return [re.sub("``|''|['\"]", lambda match: CURLY[match[0]], word.form) for word in sentence]


def one_typo(sentence: Sentence, chance: random.Random) -> list[str]:
    """Let two letters inside of a word of five or more change places."""
    words = forms_of(sentence)
    places = [i for i, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
    if places:
        i = chance.choice(places)
        word, j = words[i], chance.randrange(1, len(words[i]) - 2)
        words[i] = word[:j] + word[j + 1] + word[j] + word[j + 2 :]
    return words


def no_final_mark(sentence: Sentence, chance: random.Random) -> list[str]:  # noqa: ARG001
    """Drop the last word if it is punctuation without dependents."""
    words, n = forms_of(sentence), len(sentence)
    has_dependents = any(word.arc[0] == n for word in sentence)
    return words[:-1] if sentence[-1].upos == "PUNCT" and not has_dependents else words


REWRITES: dict[str, Rewrite] = {
    "another name": another_name,
    "other names": other_names,
    "other digits": other_digits,
    "curly quotes": curly_quotes,
    "one typo": one_typo,
    "no final mark": no_final_mark,
    "lower case": lambda sentence, _: [*map(str.lower, forms_of(sentence))],
    "upper case": lambda sentence, _: [*map(str.upper, forms_of(sentence))],
}


def read(path: Path, n: int, chance: random.Random) -> list[Sentence]:
    """Read n sentences at random."""
    sentences = [
        to_words(sentence) for sentence in read_conllu(path) if MIN_WORDS <= len(sentence.words) <= MAX_WORDS
    ]
    chance.shuffle(sentences)
    return sentences[:n]


def to_words(sentence: ConlluSentence) -> Sentence:
    """Return the words of a sentence with their arcs."""
    return [Word(word.form, word.upos, (word.head or 0, universal(word.deprel))) for word in sentence.words]


def parse(nlp: Language, texts: Sequence[list[str]]) -> list[list[Arc]]:
    """Parse sentences of given words."""
    docs = [Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * (len(words) - 1)]) for words in texts]
    for doc in docs:
        mark_words(doc, [], [])
    return [[*map(arc_of, doc)] for doc in nlp.pipe(docs)]


def arc_of(token: Token) -> Arc:
    """Return the arc of a token in a Doc of one sentence."""
    return 0 if token.head.i == token.i else token.head.i + 1, universal(token.dep_)


def universal(label: str) -> str:
    return label.partition(":")[0]


def las(trees: Sequence[list[Arc]], sentences: Sequence[Sentence]) -> float:
    """Return LAS on the words that the trees have, in percent."""
    right, n = 0, 0
    for tree, sentence in zip(trees, sentences, strict=True):
        right += sum(arc == word.arc for arc, word in zip(tree, sentence, strict=False))
        n += len(tree)
    return 100 * right / max(1, n)


def measure(
    nlp: Language, sentences: Sequence[Sentence], chance: random.Random
) -> list[tuple[str, int, float, float, float, float]]:
    """Return for each rewrite: its name, the number of sentences that it changes, arcs and trees kept and
    LAS before and after, in percent.
    """
    forms = [*map(forms_of, sentences)]
    before = parse(nlp, forms)
    rows = []
    for name, rewrite in REWRITES.items():
        texts = [rewrite(sentence, chance) for sentence in sentences]
        changed = [i for i, text in enumerate(texts) if text != forms[i]]
        after = parse(nlp, [texts[i] for i in changed])
        old = [before[i][: len(tree)] for i, tree in zip(changed, after, strict=True)]
        gold = [sentences[i] for i in changed]
        kept = [sum(map(tuple.__eq__, *pair)) for pair in zip(old, after, strict=True)]
        n_whole = sum(n == len(tree) for n, tree in zip(kept, after, strict=True))
        arcs, trees = sum(kept) / max(1, sum(map(len, after))), n_whole / max(1, len(after))
        rows.append((name, len(changed), 100 * arcs, 100 * trees, las(old, gold), las(after, gold)))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="trained pipeline")
    cli.add_argument("file", type=Path, help="treebank, .conllu")
    cli.add_argument("--sentences", type=int, default=400, help="maximum number of sentences")
    cli.add_argument("--seed", type=int, default=1, help="seed of the random choices")
    args = cli.parse_args(argv)
    sentences = read(args.file, args.sentences, random.Random(args.seed))
    rows = measure(spacy.load(args.pipeline), sentences, random.Random(args.seed))
    table: list[tuple[str, ...]] = [
        ("rewrite", "sentences", "arcs kept", "trees kept", "LAS before", "LAS after")
    ]
    for name, n, *figures in rows:
        table.append((name, f"{n:,}", *(f"{figure:.2f}" for figure in figures)))
    print(f"{len(sentences):,} sentences")
    print(markdown_table(table))


if __name__ == "__main__":
    main()
