"""Make a spaCy tokenizer that cuts text as a treebank does.

    python -m project.tokenizer TRAIN.conllu OUTPUT [--dev DEV.conllu] [--lang CODE]

OUTPUT is an empty pipeline with the tokenizer: give it as --paths.tokenizer to spacy train. It has rules, or
it learns at which characters words start (spacy_g2g/tokenizer). It learns if the treebank has no spaces
between words, as in Chinese, Japanese or Thai, or if rules are clearly worse on DEV.conllu and the treebank
has punctuation next to words.

The rules split a multiword token if its words are the same wherever it occurs; others stay whole. They join
the parts of words with white space, as in Vietnamese, that are words of the treebank. A tokenizer that is up
to date is not made again. A language that spaCy does not tokenize by rules gets none without --rules, if its
treebank has spaces between words.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

import spacy
from spacy.language import Language
from spacy.symbols import NORM, ORTH
from wasabi import msg

from spacy_g2g.data.multiword import cut
from spacy_g2g.evaluation.tokenization import (
    Chunk,
    TokenCounts,
    compare_tokens,
    read_chunks,
    show_disagreements,
)
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.formats.rows import SurfaceToken
from spacy_g2g.mwt.splits import Split, Words, lower
from spacy_g2g.terminal.common import user_errors

from .tokenizer_search import train_tokenizer
from .treebank_settings import LEARNED, RULES, choose_language, has_rules, read_source
from .up_to_date import is_up_to_date, one_at_a_time, record_sources, replaced, sources_of

#: F1 of tokens by which a tokenizer that learns must be better than rules. Rules know more kinds of text.
MARGIN = 0.01
#: Minimum share of tokens that touch punctuation, from which a tokenizer can learn to cut it off.
MIN_PUNCTUATION = 0.02


def make_tokenizer(
    train: Path, *, output: Path, lang: str, dev: Path | None = None
) -> dict[str, tuple[TokenCounts, TokenCounts]]:
    """Make a tokenizer and save it as an empty pipeline.

    train: CoNLL-U file.
    output: Folder to write.
    lang: Language code.
    dev: CoNLL-U file for further scores, which choose between rules and a tokenizer that learns.
    Returns the counts with the language's rules and with the new rules, for "train" and "dev". They count a
        multiword token as one token.
    Raises SystemExit if a file has no token without white space, and ValueError if it is not CoNLL-U.
    """
    chunks = {}
    for name, path in (("train", train), ("dev", dev)):
        if path is not None:
            chunks[name] = read_chunks(read_conllu(path, trees="any"))
            if not chunks[name]:
                raise SystemExit(f"{path} has no words without white space. Expected the words of a text.")
    sentences = [*read_conllu(train, trees="any")]
    nlp = by_learning(lang, sentences)
    scores = _scores(nlp, chunks)
    if has_spaces(sentences):
        rules = by_rules(lang, sentences)
        scores_of_rules = _scores(rules, chunks)
        is_better = dev is not None and scores["dev"].f1 >= scores_of_rules["dev"].f1 + MARGIN
        if not (is_better and has_punctuation(sentences)):
            nlp, scores = rules, scores_of_rules
            for form, tokens in {**spaced_words(sentences), **special_cases(sentences)}.items():
                nlp.tokenizer.add_special_case(form, tokens)
    with replaced(output) as folder:
        nlp.to_disk(folder)
    before = _scores(spacy.blank(lang, config=RULES), chunks)
    return {name: (before[name], scores[name]) for name in chunks}


def _scores(nlp: Language, chunks: Mapping[str, Counter[Chunk]]) -> dict[str, TokenCounts]:
    """Compare the tokens of a pipeline with the chunks of each set."""
    return {name: compare_tokens(nlp.tokenizer, counts) for name, counts in chunks.items()}


def by_rules(lang: str, sentences: Iterable[ConlluSentence]) -> Any:
    """Return an empty pipeline that cuts text by rules that are fitted to a treebank."""
    nlp = spacy.blank(lang, config=RULES)
    nlp.tokenizer = train_tokenizer(nlp, read_chunks(sentences))
    return nlp


def by_learning(lang: str, sentences: Iterable[ConlluSentence]) -> Any:
    """Return an empty pipeline whose tokenizer learns from a treebank at which characters tokens start."""
    nlp: Any = spacy.blank(lang, config=LEARNED)
    tokens = [*chain.from_iterable(sentence.tokens for sentence in sentences)]
    texts = [token.form + " " * token.space_after for token in tokens]
    nlp.tokenizer.train("".join(texts), accumulate(map(len, texts[:-1]), initial=0))
    return nlp


def has_spaces(sentences: Iterable[ConlluSentence]) -> bool:
    """Return whether there is a space between most words that follow one another without punctuation."""
    spaces: Counter[bool] = Counter()
    for sentence in sentences:
        for token, after in pairwise(sentence.tokens):
            if token.form[-1].isalpha() and after.form[0].isalpha():
                spaces[token.space_after] += 1
    return spaces[True] >= spaces[False]


def has_punctuation(sentences: Iterable[ConlluSentence]) -> bool:
    """Return whether punctuation follows or precedes words without a space, more than now and then."""
    touches: Counter[bool] = Counter()
    for sentence in sentences:
        for token, after in pairwise(sentence.tokens):
            touches[not token.space_after and _is_mark(token.form) != _is_mark(after.form)] += 1
    return touches[True] >= MIN_PUNCTUATION * touches.total()


def _is_mark(form: str) -> bool:
    return all(category(char)[0] == "P" for char in form)


def single_analyses(tokens: Iterable[SurfaceToken]) -> dict[str, Words]:
    """Return the words of each multiword token that always has the same ones, all in lower case."""
    analyses: defaultdict[str, set[Words]] = defaultdict(set)
    for form, words, *_ in tokens:
        analyses[lower(form)].add(tuple(map(lower, words)))
    return {form: words for form, (words, *more) in analyses.items() if not more and len(words) > 1}


def special_cases(sentences: Iterable[ConlluSentence]) -> dict[str, list[dict[int, str]]]:
    """Return spaCy's special cases for multiword tokens whose words are always the same.

    Special cases are case-sensitive, so there is one in lower case, one in title case and one in capitals. A
    token that is also a single word somewhere, or has white space, gets none.
    """
    cases = {}
    tokens = chain.from_iterable(sentence.tokens for sentence in sentences)
    for text, words in single_analyses(tokens).items():
        for form in dict.fromkeys([text, text.capitalize(), text.upper()]):
            in_case = Split(text, "", words).apply(form)
            pieces = cut(form, in_case) if in_case else None
            if in_case and pieces and not any(map(str.isspace, form)):
                pairs = zip(pieces, in_case, strict=True)
                cases[form] = [{ORTH: piece, NORM: word} for piece, word in pairs]
    return cases


def spaced_words(sentences: Sequence[ConlluSentence]) -> dict[str, list[dict[int, str]]]:
    """Return spaCy's special cases for words with spaces, such as Vietnamese "sinh viên".

    A word is one of them if its parts, where they follow one another, are more often this word than not. Each
    has four kinds of capitals.
    """
    words: Counter[str] = Counter()
    for sentence in sentences:
        words.update(lower(token.form) for token in sentence.tokens if " " in token.form)
    longest = max((word.count(" ") for word in words), default=0)
    runs: Counter[str] = Counter()
    for sentence in sentences if words else ():
        parts = " ".join(lower(token.form) for token in sentence.tokens).split(" ")
        for n in range(2, longest + 2):
            found = (" ".join(parts[i : i + n]) for i in range(len(parts) - n + 1))
            runs.update(filter(words.__contains__, found))
    cases = {}
    for word in filter(lambda word: 2 * words[word] > runs[word], words):
        for form in (word, word.capitalize(), word.title(), word.upper()):
            cases[form] = [{ORTH: form}]
    return cases


def tokenize_once(train: Path, *, output: Path, lang: str, dev: Path | None) -> None:
    """Make a tokenizer and print its scores, unless it is up to date; see ``make_tokenizer``."""
    sources = sources_of({"train": train}, lang=lang)
    if is_up_to_date(output, sources):
        return
    scores = make_tokenizer(train, output=output, lang=lang, dev=dev)
    record_sources(output, sources)
    for name, (before, after) in scores.items():
        msg.good(f"{output}: F1 of tokens on {name} {100 * after.f1:.2f}, before {100 * before.f1:.2f}")
    msg.text(f"Disagreements left on {name}: {show_disagreements(after)}")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="CoNLL-U file with the training text and its words")
    cli.add_argument("output", type=Path, help="folder for the tokenizer")
    cli.add_argument("--dev", type=Path, help="CoNLL-U file for further scores")
    cli.add_argument("--lang", default="", help="language code; empty for that of the folder's treebank")
    cli.add_argument("--rules", action="store_true", help="also for a language whose tokenizer has no rules")
    args = cli.parse_args()
    with user_errors(), one_at_a_time(args.output):
        lang = choose_language(args.lang, read_source(args.train.parent))
        if args.rules or has_rules(lang) or not has_spaces(read_conllu(args.train, trees="any")):
            tokenize_once(args.train, output=args.output, lang=lang, dev=args.dev)
        else:
            msg.info(f"spaCy's tokenizer for {lang} has no rules: it is used as it is")


if __name__ == "__main__":
    main()
