"""Paragraphs of CoNLL-U sentences and their raw text."""

import sys
from collections.abc import Collection, Iterable, Iterator

from .conllu import ConlluSentence


def paragraphs(
    sentences: Iterable[ConlluSentence],
    starts: Collection[str] = ("newdoc", "newpar"),
    max_sentences: int = sys.maxsize,
) -> Iterator[list[ConlluSentence]]:
    """Yield the sentences of each paragraph.

    sentences: Sentences in their order.
    starts: Comments that start a paragraph.
    max_sentences: Largest number of sentences in a paragraph.
    """
    paragraph: list[ConlluSentence] = []
    for sentence in sentences:
        is_first = any(sentence.comment(name) is not None for name in starts)
        if paragraph and (is_first or len(paragraph) == max_sentences):
            yield paragraph
            paragraph = []
        paragraph.append(sentence)
    if paragraph:
        yield paragraph


def read_paragraphs(sentences: Iterable[ConlluSentence]) -> Iterator[str]:
    """Yield the raw text of each paragraph. ``# newdoc`` and ``# newpar`` start a paragraph.

    The text of a sentence comes from its comment ``# text``, or from its forms if their characters differ
    from the comment.
    """
    for paragraph in paragraphs(sentences):
        text = ""
        for sentence in paragraph:
            sentence_text = sentence.comment("text") or ""
            if "".join(sentence_text.split()) != "".join(sentence.text.split()):
                sentence_text = sentence.text
            text += sentence_text + (" " if sentence.tokens[-1].space_after else "")
        yield text.rstrip(" ")
