"""Paragraphs of CoNLL-U sentences and their raw text."""

from collections.abc import Iterable, Iterator

from .conllu import ConlluSentence


def paragraphs(sentences: Iterable[ConlluSentence]) -> Iterator[list[ConlluSentence]]:
    """Yield the sentences of each paragraph. ``# newdoc`` and ``# newpar`` start a paragraph."""
    paragraph: list[ConlluSentence] = []
    for sentence in sentences:
        starts = sentence.comment("newdoc") is not None or sentence.comment("newpar") is not None
        if starts and paragraph:
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
