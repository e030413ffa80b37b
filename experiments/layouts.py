"""F1 of starts of sentences and LAS of a pipeline on one text that is laid out in eight ways.

    python -m experiments.layouts PIPELINE GOLD.conllu [--docs 200] [--json FILE]

The sentences of a treebank (`# text`), up to ten of one document, are joined by a space, two spaces, a line
break or a blank line; in paragraphs of three; wrapped at 72 columns; as an e-mail.
Starts are compared by the number of characters before them, without white space. A greeting and the lines of
a signature count as sentences; LAS is not counted for e-mails, since the treebank has no trees of these.
"""

from __future__ import annotations

import argparse
import json
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from project.markdown import markdown_table
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

SENTENCES_PER_TEXT, WIDTH = 10, 72
#: Paragraphs of sentences.
Text = Sequence[Sequence[str]]


def lay_out(text: Text, within: str, between: str, wrap: bool = False) -> str:
    """Join sentences by ``within``, and paragraphs by ``between``."""
    paragraphs = [within.join(paragraph) for paragraph in text]
    if wrap:
        fill = partial(textwrap.fill, width=WIDTH, break_long_words=False, break_on_hyphens=False)
        paragraphs = [fill(paragraph) for paragraph in paragraphs]
    return between.join(paragraphs)


def whole(sentences: Sequence[str]) -> Text:
    """Return one paragraph."""
    return [sentences]


def threes(sentences: Sequence[str]) -> Text:
    """Return paragraphs of three sentences."""
    return [sentences[i : i + 3] for i in range(0, len(sentences), 3)]


def mail(sentences: Sequence[str]) -> Text:
    """Return a greeting, paragraphs and a signature."""
    return [["Hi Anna,"], *threes(sentences), ["Best regards,"], ["Tom"]]


#: Paragraphs, and how they are joined, by the name of the layout.
LAYOUTS: Mapping[str, tuple[Callable[[Sequence[str]], Text], Callable[[Text], str]]] = {
    "one space": (whole, partial(lay_out, within=" ", between="")),
    "two spaces": (whole, partial(lay_out, within="  ", between="")),
    "line break": (whole, partial(lay_out, within="\n", between="")),
    "blank line": (whole, partial(lay_out, within="\n\n", between="")),
    "paragraphs": (threes, partial(lay_out, within=" ", between="\n\n")),
    "wrapped": (whole, partial(lay_out, within=" ", between="\n", wrap=True)),
    "wrapped paragraphs": (threes, partial(lay_out, within=" ", between="\n\n", wrap=True)),
    "e-mail": (mail, partial(lay_out, within=" ", between="\n\n", wrap=True)),
}


def read_texts(path: Path) -> Iterator[list[ConlluSentence]]:
    """Yield up to ten sentences of one document at a time."""
    batch: list[ConlluSentence] = []
    for sentence in read_conllu(path):
        if batch and (len(batch) == SENTENCES_PER_TEXT or sentence.comment("newdoc") is not None):
            yield batch
            batch = []
        batch.append(sentence)
    if batch:
        yield batch


def text_of(sentence: ConlluSentence) -> str:
    """Return the text of a sentence with single spaces."""
    return " ".join((sentence.comment("text") or sentence.text).split())


def starts_of_text(text: Text) -> set[int]:
    """Return the number of characters before each sentence, without white space."""
    starts, n = set(), 0
    for sentence in (sentence for paragraph in text for sentence in paragraph):
        starts.add(n)
        n += len("".join(sentence.split()))
    return starts


def starts_of_doc(doc: Doc) -> set[int]:
    """Return the number of characters before each found sentence that has words, without white space."""
    starts, n, is_open = set(), 0, False
    for token in doc:
        is_open |= bool(token.is_sent_start)
        if not token.is_space:
            if is_open:
                starts.add(n)
            is_open = False
            n += len("".join(token.text.split()))
    return starts


def measure(nlp: Language, texts: Sequence[Sequence[ConlluSentence]]) -> dict[str, dict[str, float]]:
    """Return F1, precision and recall of starts and LAS in percent, and words a CPU second, by layout."""
    found: dict[str, dict[str, float]] = {}
    for name, (paragraphs, join) in LAYOUTS.items():
        laid_out = [paragraphs([text_of(sentence) for sentence in text]) for text in texts]
        right = n_found = n_gold = 0
        system: list[ConlluSentence] = []
        start = time.process_time()
        docs = list(nlp.pipe(map(join, laid_out)))
        seconds = time.process_time() - start
        for doc, text in zip(docs, laid_out, strict=True):
            gold, starts = starts_of_text(text), starts_of_doc(doc)
            right, n_found, n_gold = right + len(gold & starts), n_found + len(starts), n_gold + len(gold)
            system += doc_to_sentences(doc)
        found[name] = {
            "F1": 200 * right / (n_found + n_gold),
            "precision": 100 * right / n_found,
            "recall": 100 * right / n_gold,
            "words/s": sum(map(len, docs)) / seconds,
        }
        if paragraphs is not mail:
            scores = evaluate_sentences([sentence for text in texts for sentence in text], system)
            found[name]["LAS"] = 100 * scores["LAS"].f1
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="folder or name of a pipeline")
    cli.add_argument("gold", type=Path, help="treebank, .conllu")
    cli.add_argument("--docs", type=int, default=200, help="number of texts")
    cli.add_argument("--json", type=Path, help="file for the figures")
    args = cli.parse_args(argv)
    found = measure(spacy.load(args.pipeline), list(read_texts(args.gold))[: args.docs])
    if args.json:
        args.json.write_text(json.dumps(found, indent=1), encoding="utf8")
    keys = ("F1", "precision", "recall", "LAS", "words/s")
    rows = [(name, *(f"{of[key]:.2f}" if key in of else "" for key in keys)) for name, of in found.items()]
    print(markdown_table([("", *keys), *rows]))


if __name__ == "__main__":
    main()
