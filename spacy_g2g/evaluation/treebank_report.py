"""Figures of training and development data: counts of what a parser learns from, and errors in the data.

The sentences are the ones that training reads, without white-space tokens. ``advice`` interprets the figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ..data.docs import USER_DATA_KEY
from ..formats.graph import MISSING, ROOT, Graph
from ..trees.tree import non_projective_arcs
from .tokenization import TokenCounts

#: Number of words from which on a duplicate is hardly a coincidence. Short duplicates are ("Thanks !").
LONG_DUPLICATE = 5
#: Figures that are sums over sentences.
_SUMMED = (
    *("one_word", "trees", "non_projective", "non_projective_words", "no_tree", "incomplete"),
    *("several_roots", "cycles", "missing", "outside", "space_heads"),
)
#: Number of unknown words that a report names.
N_NAMED = 10
_RANGE = re.compile(r"^([0-9]+)-([0-9]+)\t", re.MULTILINE)


class GoldSentence(NamedTuple):
    """A sentence with its gold graph.

    words: Words of the sentence, without white space.
    graph: Gold heads and labels. Heads in other sentences and heads that are white space are missing.
    outside: Number of words whose head is in another sentence.
    space_heads: Number of words whose head is white space.
    """

    words: Sequence[str]
    graph: Graph
    outside: int = 0
    space_heads: int = 0


@dataclass(frozen=True)
class CorpusFacts:
    """Counts of a corpus.

    docs: Number of Docs.
    sentences: Number of sentences.
    words: Number of words.
    white_space: Number of white-space tokens.
    longest: Number of words in the longest sentence.
    unset: Number of predicted Docs without sentence boundaries.
    misaligned: Number of labelled gold words with no exactly matching predicted token.
    inner_starts: Number of sentences that are not the first of their Doc.
    bare_starts: Number of these sentences that have no punctuation before them.
    one_word: Number of sentences of one word.
    trees: Number of sentences with a whole tree.
    non_projective: Number of these trees that are not projective.
    non_projective_words: Number of words in these trees that have, between them and their head, a word that
        does not descend from the head.
    no_tree: Number of sentences without any head.
    incomplete: Number of sentences that lack some heads.
    several_roots: Number of sentences with several roots.
    cycles: Number of sentences with a cycle.
    missing: Number of words without a head.
    outside: Number of words whose head is in another sentence.
    space_heads: Number of words whose head is white space.
    multiword_tokens: Number of multiword tokens; None if not known.
    multiword_words: Number of words in multiword tokens; None if not known.
    token_f1: F1 of the tokenizer's tokens in the corpus's text, between 0 and 1; None if not known.
    token_errors: Number of times that each chunk of text is cut in another way, most frequent first: gold
        tokens, a slash, and the tokenizer's tokens.
    labels: Number of words with each label.
    roots: Number of roots with each label.
    """

    docs: int
    sentences: int
    words: int
    white_space: int
    longest: int
    unset: int
    misaligned: int
    inner_starts: int
    bare_starts: int
    one_word: int
    trees: int
    non_projective: int
    non_projective_words: int
    no_tree: int
    incomplete: int
    several_roots: int
    cycles: int
    missing: int
    outside: int
    space_heads: int
    multiword_tokens: int | None
    multiword_words: int | None
    token_f1: float | None
    token_errors: dict[str, int]
    labels: dict[str, int]
    roots: dict[str, int]


def corpus_facts(
    sentences: Sequence[GoldSentence],
    *,
    docs: int,
    white_space: int = 0,
    unset: int = 0,
    misaligned: int = 0,
    starts: tuple[int, int] = (0, 0),
    multiword: tuple[int, int] | None = None,
    tokens: TokenCounts | None = None,
) -> CorpusFacts:
    """Count what sentences have.

    sentences: Sentences of the corpus.
    docs: Number of Docs.
    white_space: Number of white-space tokens.
    unset: Number of predicted Docs without sentence boundaries.
    misaligned: Number of labelled gold words with no exactly matching predicted token.
    starts: Numbers of sentences that are not the first of their Doc, and of those without punctuation before.
    multiword: Numbers of multiword tokens and of the words in them; None if not known.
    tokens: Comparison of the tokenizer with the corpus's text; None if not known.
    """
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    roots: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(_sentence_counts(sentence))
        labels.update(label for label in sentence.graph.deps if label)
        pairs = zip(sentence.graph.heads, sentence.graph.deps, strict=True)
        roots.update(label for head, label in pairs if label and head == ROOT)
    return CorpusFacts(
        docs=docs,
        sentences=len(sentences),
        words=sum(len(sentence.words) for sentence in sentences),
        white_space=white_space,
        longest=max((len(sentence.words) for sentence in sentences), default=0),
        unset=unset,
        misaligned=misaligned,
        inner_starts=starts[0],
        bare_starts=starts[1],
        multiword_tokens=None if multiword is None else multiword[0],
        multiword_words=None if multiword is None else multiword[1],
        token_f1=None if tokens is None else tokens.f1,
        token_errors={} if tokens is None else tokens.most_frequent,
        labels=dict(labels.most_common()),
        roots=dict(roots.most_common()),
        **{name: counts[name] for name in _SUMMED},
    )


def _sentence_counts(sentence: GoldSentence) -> dict[str, int]:
    """Return what a sentence adds to the counts of a corpus."""
    graph, n = sentence.graph, len(sentence.words)
    n_headless = list(graph.heads).count(MISSING)
    counts = {
        "one_word": int(n == 1),
        "no_tree": int(n_headless == n),
        "incomplete": int(0 < n_headless < n),
        "several_roots": int(list(graph.heads).count(ROOT) > 1),
        "cycles": int(bool(graph.find_cycle())),
        "missing": n_headless - sentence.outside - sentence.space_heads,
        "outside": sentence.outside,
        "space_heads": sentence.space_heads,
    }
    if graph.is_tree:
        n_arcs = int(non_projective_arcs(graph.heads).sum())
        counts |= {"trees": 1, "non_projective": int(n_arcs > 0), "non_projective_words": n_arcs}
    return counts


@dataclass(frozen=True)
class PieceFacts:
    """Counts of the pieces that words are split into.

    limit: Largest number of pieces that a row of the encoder can hold.
    pieces: Number of pieces.
    longest: Number of pieces in the longest sentence.
    too_long: Number of sentences with more pieces than the limit.
    in_windows: Number of sentences with more words than the limit.
    unknown: Number of words with an unknown piece.
    unknown_words: Number of occurrences of the most frequent words with an unknown piece.
    """

    limit: int
    pieces: int
    longest: int
    too_long: int
    in_windows: int
    unknown: int
    unknown_words: dict[str, int]


def piece_facts(
    sentences: Sequence[GoldSentence],
    pieces: Sequence[Sequence[Sequence[int]]],
    *,
    unknown_piece: int,
    limit: int,
) -> PieceFacts:
    """Count the pieces of sentences.

    sentences: The sentences.
    pieces: Piece ids of each word of each sentence.
    unknown_piece: Id of the unknown piece.
    limit: Largest number of pieces that a row of the encoder can hold.
    """
    lengths = [sum(map(len, words)) for words in pieces]
    unknown = Counter(
        word
        for sentence, split in zip(sentences, pieces, strict=True)
        for word, ids in zip(sentence.words, split, strict=True)
        if unknown_piece in ids
    )
    return PieceFacts(
        limit=limit,
        pieces=sum(lengths),
        longest=max(lengths, default=0),
        too_long=sum(length > limit for length in lengths),
        in_windows=sum(len(words) > limit for words in pieces),
        unknown=unknown.total(),
        unknown_words=dict(unknown.most_common(N_NAMED)),
    )


@dataclass(frozen=True)
class InitialFacts:
    """Initial graphs of a refiner.

    words: Number of words with a gold head and a gold label.
    heads: Number of words that have a head in the initial graphs.
    right_heads: Number of words with the gold head, of those counted in ``words``.
    right: Number of words with the gold head and the gold label, of those counted in ``words``.
    """

    words: int
    heads: int
    right_heads: int
    right: int

    @property
    def share_right(self) -> float:
        """Share of the words that have the right head and label."""
        return self.right / self.words if self.words else 0.0


def initial_facts(sentences: Sequence[GoldSentence], graphs: Sequence[Graph]) -> InitialFacts:
    """Compare the initial graph of each sentence with the gold graph."""
    n_words = n_heads = right_heads = right = 0
    for sentence, graph in zip(sentences, graphs, strict=True):
        n_heads += sum(head != MISSING for head in graph.heads)
        for word in range(1, len(sentence.words) + 1):
            gold, found = sentence.graph.arc(word), graph.arc(word)
            if gold[0] != MISSING and gold[1]:
                n_words += 1
                right_heads += found[0] == gold[0]
                right += found == gold
    return InitialFacts(n_words, n_heads, right_heads, right)


@dataclass(frozen=True)
class ComponentFacts:
    """A corpus, as a component reads it.

    pieces: Counts of pieces; None if they can't be known.
    learnable: Number of sentences that training learns from.
    unlearnable: Number of other sentences that have at least one head.
    unlearnable_trees: Number of these sentences that have a whole tree, which is then non-projective.
    missing_tags: Number of words without the tag that the component reads; None if it reads no tags.
    initial: Initial graphs that the Docs contain; None for a component that reads no graphs.
    """

    pieces: PieceFacts | None
    learnable: int
    unlearnable: int
    unlearnable_trees: int
    missing_tags: int | None
    initial: InitialFacts | None


@dataclass(frozen=True)
class ComponentReport:
    """A component that is trained, and the corpora as it reads them.

    architecture: Registered name of the model's architecture.
    encoder: Registered name of the encoder's origin.
    encoder_problem: Reason why the encoder can't be loaded; None if it can.
    tag_attr: Token attribute with the tags that are read; None if no tags are read.
    tags_from: Components that set these tags; empty if the tags come from the corpora.
    initial_from: Components that write the initial graphs; None for a component that reads no graphs.
    learns_sentences: Whether the component learns to find sentences, or an encoder before it.
    unknown_labels: Number of words in train with each label that the component was not given.
    train: The training corpus.
    dev: The development corpus.
    """

    architecture: str
    encoder: str
    encoder_problem: str | None
    tag_attr: str | None
    tags_from: tuple[str, ...]
    initial_from: tuple[str, ...] | None
    learns_sentences: bool
    unknown_labels: dict[str, int]
    train: ComponentFacts
    dev: ComponentFacts


@dataclass(frozen=True)
class DataReport:
    """All figures of the corpora and of the components that are trained on them.

    train: Counts of the training corpus.
    dev: Counts of the development corpus.
    sets_boundaries: Components before the first parser that set sentence boundaries.
    duplicates: Number of dev sentences that are also in train.
    long_duplicates: Number of these sentences that have ``LONG_DUPLICATE`` words or more.
    components: Reports on the components, by name.
    """

    train: CorpusFacts
    dev: CorpusFacts
    sets_boundaries: tuple[str, ...]
    duplicates: int
    long_duplicates: int
    components: dict[str, ComponentReport]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as a dict that JSON can hold."""
        return asdict(self)


def count_duplicates(train: Iterable[GoldSentence], dev: Iterable[GoldSentence]) -> tuple[int, int]:
    """Count the dev sentences that are also in train, and the long ones among them (``LONG_DUPLICATE``)."""
    known = {tuple(sentence.words) for sentence in train}
    lengths = [len(sentence.words) for sentence in dev if tuple(sentence.words) in known]
    return len(lengths), sum(length >= LONG_DUPLICATE for length in lengths)


def unknown_labels(counts: Mapping[str, int], known: Sequence[str] | None) -> dict[str, int]:
    """Count the labels that are not known. If known is None, all labels are."""
    return {} if known is None else {label: n for label, n in counts.items() if label not in known}


def multiword(docs: Iterable[Doc]) -> tuple[int, int] | None:
    """Count the multiword tokens of gold Docs and the words in them; None if no Doc keeps its CoNLL-U."""
    texts = [doc.user_data[USER_DATA_KEY]["text"] for doc in docs if USER_DATA_KEY in doc.user_data]
    if not texts:
        return None
    rows = (row for of_doc in texts for text in of_doc for row in _RANGE.findall(text))
    lengths = [int(end) - int(start) + 1 for start, end in rows]
    return len(lengths), sum(lengths)
