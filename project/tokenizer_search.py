"""Make a spaCy tokenizer from the tokens of a treebank.

The rules start from those of the language, and from rules for text that people type. Each change is kept if
it lowers the number of wrong tokens in the training text. New patterns are tried first, then removals of
patterns, then exceptions. The search is deterministic, and its result is a plain
``spacy.tokenizer.Tokenizer``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.language import Language
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.vocab import Vocab

from spacy_g2g.arrays import IntArray
from spacy_g2g.evaluation.tokenization import Chunk, compare_tokens

from .tokenizer_rules import (
    ORDINAL,
    Change,
    Rules,
    additions,
    for_typed_text,
    language_rules,
    removals,
    with_twins,
    words_before_stops,
)

#: Number of searches for patterns and exceptions. Each search starts with the results of the last.
N_ROUNDS = 2
#: Maximum number of candidates that are tried in a round.
MAX_CANDIDATES = 500
#: Minimum number of wrong tokens that a new pattern must fix.
MIN_GAIN = 3


class ChunkTable:
    """Distinct chunks with their counts, which can be cut many times.

    chunks: Counts by the tokens of a chunk.
    """

    def __init__(self, chunks: Counter[Chunk]) -> None:
        self.chunks = list(chunks)
        self.counts: IntArray = np.fromiter(chunks.values(), np.int64, len(chunks))
        self.texts = ["".join(chunk) for chunk in self.chunks]

    def errors(self, tokenizer: Tokenizer, rows: Sequence[int] | IntArray) -> IntArray:
        """Count the wrong and the missing tokens of chunks. Each chunk counts as often as it occurs.

        tokenizer: The tokenizer.
        rows: Indices of the chunks to cut.
        Returns int [rows].
        """
        if not len(rows):
            return np.zeros(0, np.int64)
        offsets = np.cumsum([0, *(len(self.texts[row]) + 1 for row in rows)])
        doc = tokenizer(" ".join(self.texts[row] for row in rows))
        names: list[Any] = [IDX, LENGTH]
        spans = doc.to_array(names).astype(np.int64)
        system = spans[:, 0] * offsets[-1] + spans[:, 0] + spans[:, 1]
        starts, ends = [], []
        for row, offset in zip(rows, offsets.tolist(), strict=False):
            for token in self.chunks[row]:
                starts.append(offset)
                offset += len(token)
                ends.append(offset)
        gold = np.array(starts) * offsets[-1] + ends
        wrong = np.setxor1d(gold, system, assume_unique=True)
        # The start of a span tells its chunk.
        errors: IntArray = np.histogram(wrong // offsets[-1], offsets)[0] * self.counts[rows]
        return errors


def train_tokenizer(nlp: Language, chunks: Counter[Chunk]) -> Tokenizer:
    """Make a tokenizer that cuts as a treebank does, and print each step.

    nlp: Pipeline of the language, for its rules and its vocabulary.
    chunks: Counts of the training chunks by their tokens.
    """
    search = _Search(nlp, chunks)
    for i in range(1, N_ROUNDS + 1):
        added, removed = additions(search.wrong())[:MAX_CANDIDATES], [*removals(search.rules)]
        for changes, name in ((added, "new patterns"), (removed, "removals of patterns")):
            n_wrong = search.errors.sum()
            line = f"Round {i} of {N_ROUNDS}: {n_wrong} wrong tokens; trying {len(changes)} {name}"
            print(line, flush=True)
            search.try_changes(changes)
        search.add_exceptions()
    return search.rules.tokenizer(nlp.vocab)


class _Search:
    """Rules that are changed step by step, with the errors that they make.

    nlp: Pipeline of the language.
    chunks: Counts of the training chunks by their tokens.
    """

    def __init__(self, nlp: Language, chunks: Counter[Chunk]) -> None:
        #: A vocabulary that computes no attributes of its words.
        self.vocab = Vocab()
        self.chunks = with_twins(chunks)
        self.table = ChunkTable(self.chunks)
        self.is_word = words_before_stops(chunks)
        self.rules = for_typed_text(language_rules(nlp), self.is_word, chunks, lang=nlp.lang or "")
        self.longest = max(map(len, self.rules.exceptions), default=0)
        self._parts_by_row: dict[int, set[str]] = {}
        self.all_rows = np.arange(len(self.chunks))
        self.errors = self.table.errors(self.rules.tokenizer(self.vocab), self.all_rows)

    def wrong(self) -> list[tuple[Chunk, Chunk, int]]:
        """List the chunks that are cut in the wrong way: gold tokens, tokens, and number of times."""
        return compare_tokens(self.rules.tokenizer(self.vocab), self.chunks).disagreements

    def try_changes(self, changes: Iterable[Change]) -> None:
        """Keep the changes that fix more than they break. First try those that fix the most on their own."""
        alone = [(self._gain(change), change) for change in changes]
        useful = [(gain, change) for gain, change in alone if gain >= MIN_GAIN]
        for _, change in sorted(useful, key=lambda pair: (-pair[0], len(pair[1].trigger), pair[1].trigger)):
            if self._gain(change) >= MIN_GAIN:
                self.rules = change.apply(self.rules)
                rows = self._rows_with(change, self.all_rows)
                self.errors[rows] = self._cut(self.rules, rows)

    def _gain(self, change: Change) -> int:
        """Return the number of wrong tokens that a change fixes, 0 if it breaks as many distinct chunks."""
        changed = change.apply(self.rules)
        wrong = self._rows_with(change, np.flatnonzero(self.errors))
        max_gains = (self.errors[wrong] - self._cut(changed, wrong)).clip(0)
        if max_gains.sum() < MIN_GAIN or (max_gains > 0).sum() < 2:
            return 0
        rows = self._rows_with(change, self.all_rows)
        gains = self.errors[rows] - self._cut(changed, rows)
        return int(gains.sum()) if (gains > 0).sum() > (gains < 0).sum() else 0

    def _cut(self, rules: Rules, rows: IntArray) -> IntArray:
        """Count the errors of some chunks, by a tokenizer with only the exceptions that can affect them."""
        near = set().union(*map(self._parts, rows.tolist())) & rules.exceptions.keys()
        exceptions = {part: rules.exceptions[part] for part in sorted(near)}
        return self.table.errors(rules.trial(self.vocab, exceptions), rows)

    def _parts(self, row: int) -> set[str]:
        """Return the parts of a chunk that have an exception."""
        if row not in self._parts_by_row:
            text, longest = self.table.texts[row], self.longest
            ends = range(1, len(text) + 1)
            parts: set[str] = set()
            for end in ends:
                parts.update(text[start:end] for start in range(max(0, end - longest), end))
            self._parts_by_row[row] = parts & self.rules.exceptions.keys()
        return self._parts_by_row[row]

    def add_exceptions(self) -> None:
        """Add exceptions for chunks that are still cut in the wrong way, if they fix more than they break.

        A number with a full stop gets none, since "3." is what "5." is.
        """
        cores = _cores(self.wrong())
        exceptions = {
            core: tokens
            for core, tokens in cores.items()
            if not ORDINAL.fullmatch(core) and (tokens[1:] or not self.is_word(core))
        }
        while exceptions:
            added = {}
            for core, tokens in exceptions.items():
                added[core] = [{ORTH: token} for token in tokens]
            changed = replace(self.rules, exceptions={**self.rules.exceptions, **added})
            errors = self.table.errors(changed.tokenizer(self.vocab), self.all_rows)
            gains = self.errors - errors
            bad = self._without_gain(exceptions, gains)
            if not bad:
                self.rules, self.errors = changed, errors
                self._parts_by_row.clear()
                self.longest = max(map(len, changed.exceptions), default=0)
                return
            exceptions = {core: tokens for core, tokens in exceptions.items() if core not in bad}

    def _without_gain(self, exceptions: dict[str, Chunk], gains: IntArray) -> set[str]:
        """Return the exceptions that fix nothing in all the chunks that contain them."""
        total: defaultdict[str, int] = defaultdict(int)
        lengths = sorted({len(core) for core in exceptions})
        for row in np.flatnonzero(gains).tolist():
            text, gain = self.table.texts[row], int(gains[row])
            inside: set[str] = set()
            for n in lengths:
                inside.update(text[i : i + n] for i in range(len(text) - n + 1))
            for core in inside & exceptions.keys():
                total[core] += gain
        return {core for core in exceptions if total[core] <= 0}

    def _rows_with(self, change: Change, rows: IntArray) -> IntArray:
        search, texts = re.compile(change.trigger).search, self.table.texts
        return np.array([row for row in rows.tolist() if search(texts[row])], dtype=np.int64)


def _cores(wrong: Iterable[tuple[Chunk, Chunk, int]]) -> dict[str, Chunk]:
    """Return the most frequent gold tokens of each part of a chunk that is cut in the wrong way."""
    votes: defaultdict[str, Counter[Chunk]] = defaultdict(Counter)
    for gold, system, n in wrong:
        start = 0
        while start < min(len(gold), len(system)) - 1 and gold[start] == system[start]:
            start += 1
        end = 0
        while end < min(len(gold), len(system)) - start - 1 and gold[-1 - end] == system[-1 - end]:
            end += 1
        core = gold[start : len(gold) - end]
        votes["".join(core)][core] += n
    return {text: min(counts, key=lambda core: (-counts[core], core)) for text, counts in votes.items()}
