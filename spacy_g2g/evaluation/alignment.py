"""Alignment of words between two tokenizations of the same text.

The CoNLL 2018 shared task defines it (https://universaldependencies.org/conll18/evaluation.html). Tokens are
compared by the characters that they cover, without white space. A word outside of multiword tokens aligns
with the word of the same span. Words in multiword tokens have no span of their own. They align by the
longest common subsequence of their lower-cased forms, within the smallest span that cuts no multiword token
of either side. A token of white space counts, although it covers no character. The shared task refuses it.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..data.enhanced import read_deps
from ..errors import Errors
from ..formats.conllu import ConlluSentence
from ..formats.graph import Arc
from ..formats.rows import ConlluWord


class Span(NamedTuple):
    """Characters of the text from ``start`` to before ``end``, counted without white space."""

    start: int
    end: int


@dataclass(slots=True)
class PlacedWord:
    """Word with its position in a text.

    span: Span of its token.
    is_multiword: Whether its token has several words.
    head: Index of its head in ``PlacedText.words``, -1 for ROOT, None if missing.
    arcs: Heads in the enhanced graph, which count like ``head``, and their labels.
    """

    word: ConlluWord
    span: Span
    is_multiword: bool
    head: int | None
    arcs: Sequence[Arc] = ()


@dataclass(slots=True)
class PlacedText:
    """Annotated text: its characters without white space, spans of sentences and tokens, and words."""

    characters: str
    sentences: list[Span] = field(default_factory=list)
    tokens: list[Span] = field(default_factory=list)
    words: list[PlacedWord] = field(default_factory=list)


def place_words(sentences: Iterable[ConlluSentence]) -> PlacedText:
    """Find the positions of sentences, tokens and words in the text. Raises ValueError for invalid DEPS."""
    text = PlacedText("")
    characters: list[str] = []
    end = 0
    for sentence in sentences:
        first_word, sentence_start = len(text.words), end
        for token in sentence.tokens:
            form = _without_spaces(token.form)
            span = Span(end, end + len(form))
            end = span.end
            characters.append(form)
            text.tokens.append(span)
            for word in sentence.words[token.start - 1 : token.end]:
                head = None if word.head is None else first_word + word.head - 1 if word.head else -1
                text.words.append(PlacedWord(word, span, token.is_multiword, head))
        for placed, arcs in zip(text.words[first_word:], read_deps(sentence), strict=True):
            placed.arcs = [(first_word + head - 1 if head else -1, dep) for head, dep in arcs]
        text.sentences.append(Span(sentence_start, end))
    text.characters = "".join(characters)
    return text


def check_same_text(gold: PlacedText, *, system: PlacedText) -> None:
    """Raise a ValueError with the first difference if two texts have different characters."""
    if gold.characters == system.characters:
        return
    pairs = zip(gold.characters, system.characters, strict=False)
    shorter = min(len(gold.characters), len(system.characters))
    i = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    excerpts = [text.characters[i : i + 20] for text in (gold, system)]
    raise ValueError(Errors.E605.format(index=i, gold=excerpts[0], system=excerpts[1]))


def check_same_words(gold: Sequence[ConlluSentence], *, system: Sequence[ConlluSentence], name: str) -> None:
    """Raise a ValueError with the first difference if two files have different words or sentences."""
    for (expected, gold_place), (text, place) in zip(_places(gold), _places(system), strict=False):
        if expected != text:
            raise ValueError(
                Errors.E601.format(name=name, expected=expected + gold_place, found=text + place)
            )


def _places(sentences: Sequence[ConlluSentence]) -> Iterator[tuple[str, str]]:
    """Yield each word and each end with its location."""
    for sentence in sentences:
        for i, word in enumerate(sentence.words):
            yield repr(word.form), f" ({sentence.location(i)})"
        yield "the end of the sentence", f" ({sentence.location(len(sentence.words) - 1)})"
    yield "the end of the file", ""


def align_words(gold: Sequence[PlacedWord], *, system: Sequence[PlacedWord]) -> dict[int, int]:
    """Align words. Returns the index of a system word by the index of its aligned gold word."""
    aligned: dict[int, int] = {}
    g = s = 0
    while g < len(gold) and s < len(system):
        gold_word, system_word = gold[g], system[s]
        if gold_word.is_multiword or system_word.is_multiword:
            if not system_word.is_multiword and system_word.span.start < gold_word.span.start:
                s += 1
            elif not gold_word.is_multiword and gold_word.span.start < system_word.span.start:
                g += 1
            end = (gold_word if gold_word.is_multiword else system_word).span.end
            g_end, s_end = _region_ends(gold, system, g, s, end)
            pairs = _common_subsequence(_forms(gold[g:g_end]), _forms(system[s:s_end]))
            aligned.update((g + i, s + j) for i, j in pairs)
            g, s = g_end, s_end
        elif gold_word.span == system_word.span:
            aligned[g] = s
            g, s = g + 1, s + 1
        elif gold_word.span <= system_word.span:
            g += 1
        else:
            s += 1
    return aligned


def _without_spaces(form: str) -> str:
    if form.isascii() and " " not in form:
        return form
    return "".join(char for char in form if unicodedata.category(char) != "Zs")


def _forms(words: Iterable[PlacedWord]) -> list[str]:
    """Return forms to compare. As in the reference, spaces count only in words of multiword tokens."""
    forms = (
        placed.word.form if placed.is_multiword else _without_spaces(placed.word.form) for placed in words
    )
    return [form.lower() for form in forms]


def _region_ends(
    gold: Sequence[PlacedWord], system: Sequence[PlacedWord], g: int, s: int, end: int
) -> tuple[int, int]:
    """Return the ends, in gold and system words, of a region that cuts no multiword token.

    Words outside of multiword tokens belong to the region only if they are completely inside.

    g, s: Indices of the region's first words.
    end: The region extends to this character or farther.
    """

    def is_inside(placed: PlacedWord) -> bool:
        return placed.span.end <= end or (placed.is_multiword and placed.span.start < end)

    before = (-1, -1)
    while (g, s) != before:
        before = (g, s)
        while g < len(gold) and is_inside(gold[g]):
            end = max(end, gold[g].span.end)
            g += 1
        while s < len(system) and is_inside(system[s]):
            end = max(end, system[s].span.end)
            s += 1
    return g, s


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of a longest common subsequence."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]  # [i][j]: for a[i:] and b[j:]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            longer = max(lengths[i + 1][j], lengths[i][j + 1])
            lengths[i][j] = 1 + lengths[i + 1][j + 1] if a[i] == b[j] else longer
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] == lengths[i][j]:
            i += 1
        else:
            j += 1
