"""The words of a Doc in lists, as the rules for facts read them. Lists are read faster than a Token."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..data.doc_record import PROBABILITIES, make_record
from ..data.multiword import Range, multiword_tokens, word_forms
from ..formats.graph import Arc, universal
from .word_lists import CORE_CASES, NEGATIONS, QUESTION_MARKS


@lru_cache(maxsize=10_000)
def features(feats: str) -> dict[str, str]:
    """Return the features of a word, such as ``Case=Dat|Number=Sing``, by their names."""
    return dict(item.split("=", 1) for item in feats.split("|") if "=" in item)


class DocWords:
    """Words, tree and graph of a Doc. Words are indices of its tokens. Only punctuation and spaces are blank.

    relations, pos, lemmas, feats: Label without subtype, part of speech, lemma and features of each token.
    heads, children: Head and dependents of each token in the tree.
    arcs, arguments: Heads and dependents of each token in the enhanced graph, with their labels.
    order: Tokens from the roots of the trees downwards, without those of a cycle.
    sentences: Number of each token's sentence.
    questions: Numbers of the sentences that end with a question mark.
    """

    def __init__(self, doc: Doc, arcs: Sequence[Sequence[Arc]], lang: str) -> None:
        self.arcs, self.lang, self.text, self.split = arcs, lang, doc.text, dict[int, Range]()
        names = ("DEP", "POS", "LEMMA", "MORPH", "HEAD", "SENT_START", "IS_SPACE", "IDX")
        table: Any = doc.to_array([*names]).reshape(-1, len(names)).T
        strings = {key: doc.vocab.strings[key] for key in np.unique(table[:4]).tolist()}
        columns = [[*map(strings.__getitem__, column)] for column in table[:4].tolist()]
        deps, self.pos, lemmas, feats = columns
        offsets, sent_starts, is_space, starts = table[4:].astype(np.int64).tolist()
        self.starts = [*starts, len(self.text)]
        for start, end in multiword_tokens(doc):
            self.split |= dict.fromkeys(range(start, end), (start, end))
        self.forms = word_forms(doc) if self.split else []
        self.lemmas = [lemma or self.text_of((i, i + 1)).lower() for i, lemma in enumerate(lemmas)]
        self.labels, self.relations, self.feats = {*deps}, [*map(universal, deps)], [*map(features, feats)]
        marks = zip(is_space, self.pos, self.relations, strict=True)
        self.blank = [space > 0 or pos == "PUNCT" or dep == "punct" for space, pos, dep in marks]
        self.heads = [i + offset for i, offset in enumerate(offsets)]
        self.children: list[list[int]] = [[] for _ in arcs]
        self.arguments: list[list[Arc]] = [[] for _ in arcs]
        for word, head in enumerate(self.heads):
            if word != head:
                self.children[head].append(word)
            for graph_head, dep in arcs[word]:
                if word != graph_head:
                    self.arguments[graph_head].append((word, dep))
        self._measure()
        self.sentences = [*accumulate(int(i > 0 and start == 1) for i, start in enumerate(sent_starts))]
        self.questions = set[int]()
        for i, number in enumerate(self.sentences):
            if not self.blank[i]:
                self.questions.discard(number)
            elif not QUESTION_MARKS.isdisjoint(self.text[self.starts[i] : self.starts[i + 1]]):
                self.questions.add(number)
        probs = zip(*make_record(doc, PROBABILITIES).values(), strict=True)
        self.probs = [None if None in pair else prod(pair) for pair in probs]

    def _measure(self) -> None:
        """Find the first and last of the words below each word, and their number."""
        n = len(self.heads)
        self.order = [word for word, head in enumerate(self.heads) if word == head]
        for word in self.order:
            self.order += self.children[word]
        self.first, self.last, self.size = [*range(n)], [*range(n)], [1] * n
        for word in reversed(self.order):
            head = self.heads[word]
            if word != head:
                self.first[head] = min(self.first[head], self.first[word])
                self.last[head] = max(self.last[head], self.last[word])
                self.size[head] += self.size[word]

    def phrase(self, word: int, dropped: Collection[str], without: Iterable[int]) -> Range:
        """Return the tokens around a word that belong to it, without a gap and without blanks at the ends.

        dropped: Relations of dependents that do not belong to it.
        without: Further dependents that do not.
        """
        start, end = word, word + 1
        left_out = {*without, *(child for child in self.children[word] if self.relations[child] in dropped)}
        kept = [child for child in self.children[word] if child not in left_out]
        kept = [child for child in kept if self.last[child] - self.first[child] + 1 == self.size[child]]
        for child in reversed(kept):
            if child < word and all(self.blank[self.last[child] + 1 : start]):
                start = self.first[child]
        for child in kept:
            if child > word and all(self.blank[end : self.first[child]]):
                end = self.last[child] + 1
        while start < word and self.blank[start]:
            start += 1
        while end - 1 > word and self.blank[end - 1]:
            end -= 1
        return start, end

    def text_of(self, tokens: Range) -> str:
        """Return the text of tokens in one line. Words of a multiword token that is cut have their forms."""
        start, end = tokens
        parts = [self.text[self.starts[start] : self.starts[end]]]
        if self.split:
            parts = []
            for i in range(start, end):
                first, last = self.split.get(i, tokens)
                is_whole = start <= first and last <= end
                parts.append(
                    self.text[self.starts[i] : self.starts[i + 1]] if is_whole else self.forms[i] + " "
                )
        return " ".join("".join(parts).split())

    def is_negative(self, word: int) -> bool:
        """Return whether a word negates. French *ne* does not without a second word."""
        feats, lemma = self.feats[word], self.lemmas[word]
        is_negative = "Neg" in (feats.get("Polarity"), feats.get("PronType")) or lemma in NEGATIONS
        return is_negative and not (self.lang == "fr" and lemma in ("ne", "n'"))

    def marker(self, word: int, dep: str) -> str:
        """Return the preposition or conjunction in a label of the graph, or else the case of the word."""
        label = dep
        while label not in self.labels and ":" in label:
            label = label.rpartition(":")[0]
        case = self.feats[word].get("Case", "Nom")
        return dep[len(label) + 1 :] or ("" if case in CORE_CASES else case.lower())

    def probability(self, words: Iterable[int]) -> float | None:
        """Return the probability that head and label of all the words are right; None if it is not known."""
        probs = [self.probs[word] for word in words]
        known = [prob for prob in probs if prob is not None]
        return prod(known) if len(known) == len(probs) else None
