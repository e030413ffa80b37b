"""Compare the tokens of spaCy's tokenizer with those of a treebank.

The tokenizer cuts a text at white space first, then each chunk by itself. So the chunks of a treebank and
their counts are enough for the comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

from spacy.attrs import ORTH
from spacy.tokenizer import Tokenizer

from ..formats.conllu import ConlluSentence

#: Tokens of a chunk of text without white space, in their order.
Chunk = tuple[str, ...]
#: Maximum number of disagreements to show.
MAX_SHOWN = 10


@dataclass(frozen=True)
class TokenCounts:
    """Agreement of a tokenizer with the tokens of a treebank.

    correct: Number of tokens with the right start and end.
    gold, system: Numbers of the treebank's tokens and the tokenizer's tokens.
    disagreements: Chunks that are cut in another way, the most frequent first: the treebank's tokens, the
        tokenizer's tokens, and their number of times.
    """

    correct: int
    gold: int
    system: int
    disagreements: list[tuple[Chunk, Chunk, int]]

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, between 0 and 1."""
        return 2 * self.correct / max(self.gold + self.system, 1)

    @property
    def most_frequent(self) -> dict[str, int]:
        """The first disagreements as texts, such as "e-mail / e - mail", with their numbers."""
        first = self.disagreements[:MAX_SHOWN]
        return {f"{' '.join(gold)} / {' '.join(system)}": times for gold, system, times in first}


def read_chunks(
    sentences: Iterable[ConlluSentence], special_cases: Mapping[str, Sequence[Any]] | None = None
) -> Counter[Chunk]:
    """Count the chunks of a treebank by their tokens. A multiword token is one token.

    Sentences without white space between them share a chunk. A token with inner white space is left out with
    the chunks that it touches, since tokens of spaCy have none.

    special_cases: Special cases of a tokenizer. A multiword token is cut if its case has as many tokens as
        it has words.
    """
    chunks = _chunks(sentences, special_cases or {})
    return Counter(chunk for chunk in chunks if not any(map(str.isspace, "".join(chunk))))


def _chunks(
    sentences: Iterable[ConlluSentence], special_cases: Mapping[str, Sequence[Any]]
) -> Iterator[Chunk]:
    chunk: list[str] = []
    for sentence in sentences:
        for token in sentence.tokens:
            case = special_cases.get(token.form, ()) if token.is_multiword else ()
            is_cut = len(case) == len(token.words)
            chunk += [subtoken[ORTH] for subtoken in case] if is_cut else [token.form]
            if token.space_after:
                yield tuple(chunk)
                chunk = []
    if chunk:
        yield tuple(chunk)


def compare_tokens(tokenizer: Tokenizer, chunks: Mapping[Chunk, int]) -> TokenCounts:
    """Compare a tokenizer with the chunks of a treebank and their counts."""
    correct = n_gold = n_system = 0
    disagreements = []
    for gold, times in chunks.items():
        system = tokens_of(tokenizer, "".join(gold))
        correct += times * len(_token_spans(gold) & _token_spans(system))
        n_gold += times * len(gold)
        n_system += times * len(system)
        if gold != system:
            disagreements.append((gold, system, times))
    disagreements.sort(key=lambda item: (-item[2], "".join(item[0])))
    return TokenCounts(correct, n_gold, n_system, disagreements)


def tokens_of(tokenizer: Tokenizer, text: str) -> Chunk:
    """Return the tokens of a chunk."""
    return tuple(token.text for token in tokenizer(text))


def _token_spans(tokens: Chunk) -> set[tuple[int, int]]:
    return set(pairwise(accumulate(map(len, tokens), initial=0)))


def explain_tokens(tokenizer: Tokenizer, sentences: Sequence[ConlluSentence]) -> Iterator[str]:
    """Yield a line about tokens that differ, and one about multiword tokens, if there are any."""
    counts = compare_tokens(tokenizer, read_chunks(sentences, getattr(tokenizer, "rules", None)))
    if counts.disagreements:
        yield f"Tokens that differ most often: {show_disagreements(counts)}"
    tokens = chain.from_iterable(sentence.tokens for sentence in sentences)
    n_inside = sum(len(token.words) for token in tokens if token.is_multiword)
    if n_inside:
        n_words = sum(len(sentence.words) for sentence in sentences)
        yield f"{n_inside} of {n_words} words are parts of multiword tokens"


def show_disagreements(counts: TokenCounts) -> str:
    """List the most frequent disagreements: the treebank's tokens, the tokenizer's, and how often."""
    return "; ".join(f"{text} ({n})" for text, n in counts.most_frequent.items()) or "none"
