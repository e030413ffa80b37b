"""Splits of multiword tokens into words: edits from a treebank that may fit other tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, NamedTuple

from ..data.multiword import can_be_cut
from ..errors import Errors
from ..formats.rows import SurfaceToken

#: Forms of the words of a token.
Words = tuple[str, ...]
#: Placeholder for the stem in the words of a split.
STEM = "\0"
#: Minimum number of letters of a stem.
MIN_STEM = 2
#: Maximum number of letters before or after a stem. Longer ones are damage, not endings of a language.
MAX_AFFIX = 30
#: Upper bound of the counts of words.
MAX_COUNT = 2**31
#: Kinds of candidates. Kind 0: the token stays whole. Kinds 1 and 2: its most frequent words in the treebank
#: that contain no stem. Further kinds: one for each split.
WHOLE, MAX_KNOWN = 0, 2
N_KNOWN_KINDS = 1 + MAX_KNOWN
#: Apostrophes, as typed and as printed. What a treebank teaches about one holds for the other.
TYPED, PRINTED = "'", "\u2019"
#: Maximum number of forms with cached candidates.
MAX_FORMS = 50_000


class Split(NamedTuple):
    """A rule that splits a token into words. The stem stays, and the letters around it are rewritten.

    Italian "dirlo" is ("", "lo", ("\\0", "lo")). Without a stem, the whole token is its beginning.

    beginning, ending: Letters of the token before and after its stem, in lower case.
    words: The words in lower case. One of them has ``STEM`` in the place of the stem.
    """

    beginning: str
    ending: str
    words: Words

    @property
    def stem_word(self) -> int | None:
        """Index of the word with the stem; None without a stem."""
        return next((i for i, word in enumerate(self.words) if STEM in word), None)

    def apply(self, form: str) -> Words | None:
        """Return the words of a token, in its letter case; None if the token can't be cut into so many."""
        stem = form[len(self.beginning) : len(form) - len(self.ending)]
        is_capital = form.isupper() and sum(map(str.isalpha, form)) > 1
        words = [word.upper() if is_capital else word for word in self.words]
        if PRINTED in form:
            words = [word.replace(TYPED, PRINTED) for word in words]
        if form[:1].isupper():
            words[0] = words[0][:1].upper() + words[0][1:]
        return tuple(word.replace(STEM, stem) for word in words) if can_be_cut(form, len(words)) else None


class Candidate(NamedTuple):
    """Possible words of a token.

    words: The words.
    kind: Kind of the candidate.
    stem_word: The word with the stem, in lower case; "" without a stem.
    frequency: Number of times that the word with the stem occurs in the treebank.
    """

    words: Words
    kind: int
    stem_word: str
    frequency: int


def lower(text: str) -> str:
    """Put a text into lower case, except letters that would become longer, with typed apostrophes."""
    text = text.replace(PRINTED, TYPED)
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def find_split(form: str, words: Sequence[str]) -> Split:
    """Return the split of a token into words. Its stem is the longest part that the token shares with one."""
    text, lowered = lower(form), tuple(map(lower, words))
    matches = [SequenceMatcher(None, text, word, autojunk=False).find_longest_match() for word in lowered]
    i = max(range(len(words)), key=lambda i: matches[i].size)
    start, at, length = matches[i]
    if length < MIN_STEM or max(start, len(text) - start - length) > MAX_AFFIX:
        return Split(text, "", lowered)
    word = lowered[i][:at] + STEM + lowered[i][at + length :]
    return Split(text[:start], text[start + length :], (*lowered[:i], word, *lowered[i + 1 :]))


class SplitTable:
    """The splits of a treebank, and the counts of its words.

    splits: Splits with a stem.
    known: For splits without a stem, the most frequent words of each token, by the token in lower case.
    counts: Number of times that each word occurs, by the word in lower case.
    """

    def __init__(
        self, splits: Sequence[Split], known: Mapping[str, list[Words]], counts: Mapping[str, int]
    ) -> None:
        self.splits, self.known, self.counts = splits, known, counts
        self._candidates: dict[str, Sequence[Candidate]] = {}
        self._kinds: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for kind, split in enumerate(splits, start=N_KNOWN_KINDS):
            self._kinds[split.beginning, split.ending].append(kind)
        self._lengths = sorted({(len(beginning), len(ending)) for beginning, ending in self._kinds})
        ways = [split.words for split in splits]
        ways += chain.from_iterable(known.values())
        self._max_words = max(map(len, ways), default=1)
        self._parts = {word for word in chain.from_iterable(ways) if STEM not in word}

    @classmethod
    def learn(cls, tokens: Iterable[SurfaceToken]) -> SplitTable:
        """Learn splits from tokens and their words."""
        splits: dict[Split, None] = {}
        known: defaultdict[str, Counter[Words]] = defaultdict(Counter)
        counts: Counter[str] = Counter()
        for form, words, *_ in tokens:
            counts.update(map(lower, words))
            if len(words) > 1:
                split = find_split(form, words)
                if split.stem_word is None:
                    known[split.beginning][split.words] += 1
                else:
                    splits[split] = None
        most_common = {}
        for form, ways in known.items():
            most_common[form] = [words for words, _ in ways.most_common(MAX_KNOWN)]
        return cls([*splits], most_common, counts)

    @property
    def n_kinds(self) -> int:
        """Number of kinds of candidates."""
        return N_KNOWN_KINDS + len(self.splits)

    def candidates(self, form: str) -> Sequence[Candidate]:
        """Return the candidates of a token. The first one is the whole token."""
        if form not in self._candidates:
            if len(self._candidates) >= MAX_FORMS:
                self._candidates.clear()
            self._candidates[form] = [*self._find(form)]
        return self._candidates[form]

    def _find(self, form: str) -> Iterator[Candidate]:
        """Find the candidates of a token."""
        text = lower(form)
        yield Candidate((form,), WHOLE, text, self.counts.get(text, 0))
        for kind, words in enumerate(self.known.get(text, ()), start=1):
            applied = Split(text, "", words).apply(form)
            if applied:
                yield Candidate(applied, kind, "", 0)
        for kind in self._fitting(text):
            split = self.splits[kind - N_KNOWN_KINDS]
            applied = split.apply(form)
            if applied:
                assert split.stem_word is not None
                stem_word = lower(applied[split.stem_word])
                yield Candidate(applied, kind, stem_word, self.counts.get(stem_word, 0))

    def _fitting(self, text: str) -> Iterator[int]:
        """Yield the kinds of the splits that fit a token and leave a stem."""
        for start, end in self._lengths:
            if start + end + MIN_STEM <= len(text):
                yield from self._kinds.get((text[:start], text[len(text) - end :]), ())

    def find_parts(
        self, *, texts: Sequence[str], norms: Sequence[str], spaces: Sequence[int]
    ) -> dict[int, tuple[int, Words]]:
        """Find the tokens of a tokenizer that are parts of a multiword token.

        They stand without white space in between, each has a letter, and their NORM or text is a candidate.

        texts: Text of each token.
        norms: NORM of each token.
        spaces: 1 for a token before a space, 0 for other tokens.
        Returns the end and the words of each multiword token, by the index of its first part.
        """
        ranges: dict[int, tuple[int, Words]] = {}
        last = 0
        for start, space in enumerate(spaces[:-1]):
            if space or start < last:
                continue
            for end in range(start + 2, min(start + self._max_words, len(texts)) + 1):
                if spaces[end - 2] or not all(map(_has_letter, texts[start:end])):
                    break
                ways = tuple(norms[start:end]), tuple(texts[start:end])
                if not self._parts.isdisjoint(map(lower, chain(*ways))):
                    candidates = {candidate.words for candidate in self.candidates("".join(texts[start:end]))}
                    words = next((way for way in ways if way in candidates), None)
                    if words:
                        ranges[start] = (end, words)
                        last = end
        return ranges

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON."""
        return {"splits": self.splits, "known": self.known, "counts": self.counts}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> SplitTable:
        """Return the table that ``to_json`` wrote. Raises an error for other values."""
        splits = [Split(beginning, ending, _words(words)) for beginning, ending, words in table["splits"]]
        known = {form: [*map(_words, ways)] for form, ways in table["known"].items()}
        counts = dict(table["counts"].items())
        has_counts = all(type(count) is int and 0 < count < MAX_COUNT for count in counts.values())
        has_ways = all(len(ways) <= MAX_KNOWN for ways in known.values())
        if not (has_counts and has_ways and all(map(_is_valid, splits))):
            raise ValueError(Errors.E565)
        return cls(splits, known, counts)


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _is_valid(split: Split) -> bool:
    has_texts = isinstance(split.beginning, str) and isinstance(split.ending, str)
    return has_texts and "".join(split.words).count(STEM) == 1


def _words(words: Any) -> Words:
    """Return the words of a split as a tuple. Raises ValueError unless they are two texts or more."""
    if not isinstance(words, list | tuple) or len(words) < 2 or not all(isinstance(w, str) for w in words):
        raise ValueError(Errors.E565)
    return tuple(words)
