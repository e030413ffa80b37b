"""Splits of multiword tokens into words, as edits that were seen in a treebank and may fit other tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, NamedTuple

from .words import TextToken

#: Forms of the words of a token.
Words = tuple[str, ...]
#: Stands for the stem in the words of a split.
STEM = "\0"
#: Least number of letters of a stem.
LEAST_STEM = 2
#: Kinds of candidates: the token stays whole; its first and second most frequent words in the treebank, if no
#: stem is in them; from there on, a kind for each split.
WHOLE, MOST_KNOWN = 0, 2
N_KNOWN_KINDS = 1 + MOST_KNOWN


class Split(NamedTuple):
    """How a token becomes words: its stem stays, and what is around the stem is rewritten.

    Italian "dirlo" is ("", "lo", ("\\0", "lo")). Without a stem, the whole token is its beginning.

    beginning, ending: Letters of the token before and after its stem, in lower case.
    words: The words in lower case, one of them with ``STEM`` in the place of the stem.
    """

    beginning: str
    ending: str
    words: Words

    @property
    def stem_word(self) -> int | None:
        """Index of the word with the stem; None if there is none."""
        return next((i for i, word in enumerate(self.words) if STEM in word), None)

    def apply(self, form: str) -> Words | None:
        """Return the words of a token that it fits, in its letter case; None if the token can't be cut so."""
        stem = form[len(self.beginning) : len(form) - len(self.ending)]
        is_capital = form.isupper() and sum(map(str.isalpha, form)) > 1
        words = [word.upper() if is_capital else word for word in self.words]
        if form[:1].isupper():
            words[0] = words[0][:1].upper() + words[0][1:]
        can_be_cut = len("".join(form.split())) >= len(words)
        return tuple(word.replace(STEM, stem) for word in words) if can_be_cut else None


class Candidate(NamedTuple):
    """What a token may be: its words, the kind of the candidate, and the word with the stem ("" if none)."""

    words: Words
    kind: int
    stem_word: str


def lower(text: str) -> str:
    """Put a text into lower case letter by letter, so that it stays as long as it is."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def find_split(form: str, words: Sequence[str]) -> Split:
    """Return the split of a token into words. Its stem is the longest part that the token shares with one."""
    text, lowered = lower(form), tuple(map(lower, words))
    shared = [SequenceMatcher(None, text, word, autojunk=False).find_longest_match() for word in lowered]
    i = max(range(len(words)), key=lambda i: shared[i].size)
    start, at, length = shared[i]
    if length < LEAST_STEM:
        return Split(text, "", lowered)
    word = lowered[i][:at] + STEM + lowered[i][at + length :]
    return Split(text[:start], text[start + length :], (*lowered[:i], word, *lowered[i + 1 :]))


class SplitTable:
    """The splits of a treebank, its words without a stem, and its vocabulary.

    splits: Splits with a stem.
    known: The most frequent words of tokens that have no stem, by the token in lower case.
    counts: Number of times that each word occurs, by the word in lower case.
    """

    def __init__(
        self, splits: Sequence[Split], known: Mapping[str, list[Words]], counts: Mapping[str, int]
    ) -> None:
        self.splits, self.known, self.counts = splits, known, counts
        self._kinds: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for kind, split in enumerate(splits, start=N_KNOWN_KINDS):
            self._kinds[split.beginning, split.ending].append(kind)
        self._longest = [max(map(len, parts), default=-1) for parts in zip(*self._kinds, strict=True)] or [
            -1
        ] * 2
        ways = [*(split.words for split in splits), *chain.from_iterable(known.values())]
        self._most_words = max(map(len, ways), default=1)
        self._parts = {word for words in ways for word in words if STEM not in word}

    @classmethod
    def learn(cls, tokens: Iterable[TextToken]) -> SplitTable:
        """Learn splits from tokens and their words."""
        splits: dict[Split, None] = {}
        known: defaultdict[str, Counter[Words]] = defaultdict(Counter)
        counts: Counter[str] = Counter()
        for form, words in tokens:
            counts.update(map(lower, words))
            if len(words) > 1:
                split = find_split(form, words)
                if split.stem_word is None:
                    known[split.beginning][split.words] += 1
                else:
                    splits[split] = None
        most = {form: [words for words, _ in ways.most_common(MOST_KNOWN)] for form, ways in known.items()}
        return cls([*splits], most, counts)

    @property
    def n_kinds(self) -> int:
        """Number of kinds of candidates."""
        return N_KNOWN_KINDS + len(self.splits)

    def candidates(self, form: str) -> list[Candidate]:
        """List what a token may be: first itself, without a split."""
        text = lower(form)
        found = [Candidate((form,), WHOLE, text)]
        for kind, words in enumerate(self.known.get(text, ()), start=1):
            applied = Split(text, "", words).apply(form)
            found += [Candidate(applied, kind, "")] if applied else []
        for kind in self._fitting(text):
            split = self.splits[kind - N_KNOWN_KINDS]
            applied = split.apply(form)
            if applied:
                assert split.stem_word is not None
                found.append(Candidate(applied, kind, lower(applied[split.stem_word])))
        return found

    def _fitting(self, text: str) -> Iterator[int]:
        """Yield the kinds of the splits whose beginning and ending a token has, and that leave a stem."""
        room = len(text) - LEAST_STEM
        for start in range(min(self._longest[0], room) + 1):
            for end in range(min(self._longest[1], room - start) + 1):
                yield from self._kinds.get((text[:start], text[len(text) - end :]), ())

    def find_pieces(
        self, texts: Sequence[str], norms: Sequence[str], spaces: Sequence[bool]
    ) -> Iterator[tuple[int, Words]]:
        """Find the tokens of a tokenizer that are the pieces of a multiword token.

        They have no white space between them, each has a letter, and their NORM or their text is a candidate.

        texts: Text of each token.
        norms: NORM of each token.
        spaces: Whether white space is after each token.
        Yields the number of tokens that belong together, and their words; (1, its text) for any other token.
        """
        is_part = [
            not self._parts.isdisjoint((lower(a), lower(b))) for a, b in zip(texts, norms, strict=True)
        ]
        is_word = [any(map(str.isalpha, text)) for text in texts]
        start = 0
        while start < len(texts):
            n = 1
            words: Words = (texts[start],)
            for end in range(start + 2, min(start + self._most_words, len(texts)) + 1):
                if spaces[end - 2] or not all(is_word[start:end]):
                    break
                if any(is_part[start:end]):
                    known = {candidate.words for candidate in self.candidates("".join(texts[start:end]))}
                    found = [way for part in (norms, texts) if (way := tuple(part[start:end])) in known]
                    n, words = (end - start, found[0]) if found else (n, words)
            yield n, words
            start += n

    def to_json(self) -> dict[str, Any]:
        """Return the table in types of JSON."""
        return {"splits": self.splits, "known": self.known, "counts": self.counts}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> SplitTable:
        """Return the table that ``to_json`` gave."""
        splits = [Split(beginning, ending, tuple(words)) for beginning, ending, words in table["splits"]]
        return cls(
            splits, {form: [*map(tuple, ways)] for form, ways in table["known"].items()}, table["counts"]
        )
