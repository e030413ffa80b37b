"""Splits of multiword tokens into words, as edits that were seen in a treebank and may fit other tokens."""

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
#: Stands for the stem in the words of a split.
STEM = "\0"
#: Least number of letters of a stem.
LEAST_STEM = 2
#: Largest number of letters before or after a stem. A longer one is no ending of a language, but damage.
MAX_AFFIX = 30
#: Bound of the counts of words.
MAX_COUNT = 2**31
#: Kinds of candidates: the token stays whole; its first and second most frequent words in the treebank, if no
#: stem is in them; from there on, a kind for each split.
WHOLE, MOST_KNOWN = 0, 2
N_KNOWN_KINDS = 1 + MOST_KNOWN
#: Number of forms whose candidates are kept.
MOST_FORMS = 50_000


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
        is_fit = can_be_cut(form, len(words))
        return tuple(word.replace(STEM, stem) for word in words) if is_fit else None


class Candidate(NamedTuple):
    """What a token may be.

    words: Its words.
    kind: Kind of the candidate.
    stem_word: The word with the stem, in lower case; "" if there is none.
    frequency: How often the word with the stem occurs in the treebank.
    """

    words: Words
    kind: int
    stem_word: str
    frequency: int


def lower(text: str) -> str:
    """Put a text into lower case, but for letters that this would make longer."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def find_split(form: str, words: Sequence[str]) -> Split:
    """Return the split of a token into words. Its stem is the longest part that the token shares with one."""
    text, lowered = lower(form), tuple(map(lower, words))
    shared = [SequenceMatcher(None, text, word, autojunk=False).find_longest_match() for word in lowered]
    i = max(range(len(words)), key=lambda i: shared[i].size)
    start, at, length = shared[i]
    if length < LEAST_STEM or max(start, len(text) - start - length) > MAX_AFFIX:
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
        self._candidates: dict[str, Sequence[Candidate]] = {}
        self._kinds: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for kind, split in enumerate(splits, start=N_KNOWN_KINDS):
            self._kinds[split.beginning, split.ending].append(kind)
        self._lengths = sorted({(len(beginning), len(ending)) for beginning, ending in self._kinds})
        ways = [*(split.words for split in splits), *chain.from_iterable(known.values())]
        self._most_words = max(map(len, ways), default=1)
        self._parts = {word for words in ways for word in words if STEM not in word}

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
        most = {form: [words for words, _ in ways.most_common(MOST_KNOWN)] for form, ways in known.items()}
        return cls([*splits], most, counts)

    @property
    def n_kinds(self) -> int:
        """Number of kinds of candidates."""
        return N_KNOWN_KINDS + len(self.splits)

    def candidates(self, form: str) -> Sequence[Candidate]:
        """List what a token may be: first itself, without a split."""
        if form not in self._candidates:
            if len(self._candidates) >= MOST_FORMS:
                self._candidates.clear()
            found = [(words, kind, lower(stem_word)) for words, kind, stem_word in self._find(form)]
            self._candidates[form] = [Candidate(*of, self.counts.get(of[-1], 0)) for of in found]
        return self._candidates[form]

    def _find(self, form: str) -> Iterator[tuple[Words, int, str]]:
        """Yield words, kind, and word with the stem of each candidate."""
        text = lower(form)
        yield (form,), WHOLE, form
        for kind, words in enumerate(self.known.get(text, ()), start=1):
            applied = Split(text, "", words).apply(form)
            if applied:
                yield applied, kind, ""
        for kind in self._fitting(text):
            split = self.splits[kind - N_KNOWN_KINDS]
            applied = split.apply(form)
            if applied:
                assert split.stem_word is not None
                yield applied, kind, applied[split.stem_word]

    def _fitting(self, text: str) -> Iterator[int]:
        """Yield the kinds of the splits whose beginning and ending a token has, and that leave a stem."""
        for start, end in self._lengths:
            if start + end + LEAST_STEM <= len(text):
                yield from self._kinds.get((text[:start], text[len(text) - end :]), ())

    def find_pieces(
        self, texts: Sequence[str], norms: Sequence[str], spaces: Sequence[int]
    ) -> dict[int, tuple[int, Words]]:
        """Find the tokens of a tokenizer that are the pieces of a multiword token.

        They have no white space between them, each has a letter, and their NORM or their text is a candidate.

        texts: Text of each token.
        norms: NORM of each token.
        spaces: 1 for a token that a space follows, else 0.
        Returns the end and the words of each multiword token, by its first piece.
        """
        found: dict[int, tuple[int, Words]] = {}
        last = 0
        for start in (i for i, space in enumerate(spaces[:-1]) if not space):
            if start < last:
                continue
            for end in range(start + 2, min(start + self._most_words, len(texts)) + 1):
                if spaces[end - 2] or not all(any(map(str.isalpha, text)) for text in texts[start:end]):
                    break
                ways = tuple(norms[start:end]), tuple(texts[start:end])
                if not self._parts.isdisjoint(map(lower, chain(*ways))):
                    known = {candidate.words for candidate in self.candidates("".join(texts[start:end]))}
                    words = next((way for way in ways if way in known), None)
                    if words:
                        found[start] = (end, words)
            last = found.get(start, (last,))[0]
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the table in types of JSON."""
        return {"splits": self.splits, "known": self.known, "counts": self.counts}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> SplitTable:
        """Return the table that ``to_json`` gave. Raises an error for anything else."""
        splits = [Split(beginning, ending, _words(words)) for beginning, ending, words in table["splits"]]
        known = {form: [*map(_words, ways)] for form, ways in table["known"].items()}
        counts = dict(table["counts"].items())
        is_right = (
            all(isinstance(part, str) for split in splits for part in split[:2])
            and all("".join(split.words).count(STEM) == 1 for split in splits)
            and all(len(ways) <= MOST_KNOWN for ways in known.values())
            and all(type(count) is int and 0 < count < MAX_COUNT for count in counts.values())
        )
        if not is_right:
            raise ValueError(Errors.E565)
        return cls(splits, known, counts)


def _words(words: Any) -> Words:
    """Return the words of a split in a table. Raises ValueError unless they are two texts or more."""
    if not isinstance(words, list | tuple) or len(words) < 2 or not all(isinstance(w, str) for w in words):
        raise ValueError(Errors.E565)
    return tuple(words)
