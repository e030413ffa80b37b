"""Figures of training and development data: what a parser would learn from, and what is wrong with it.

Sentences are those that training sees, without white-space tokens; ``data_advice`` says what figures mean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..formats.graphs import Graph
from ..parsing.tree import non_projective_arcs
from .corpus import Corpus, GoldAndInitial
from .docs import USER_DATA_KEY

#: Heads that can't be learned: missing ones, those in another sentence, and white space.
MISSING, OUTSIDE, SPACE = -1, -2, -3
#: Key of ``doc.user_data``: multiword tokens of a Doc and the words in them.
MULTIWORD_KEY = "conllu_multiword"
#: A duplicate of so many words or more is hardly a coincidence, as short ones are ("Thanks !").
LONG_DUPLICATE = 5
#: Figures that are sums over sentences.
_SUMMED = (
    *("one_word", "trees", "non_projective", "non_projective_words", "no_tree", "incomplete"),
    *("several_roots", "cycles", "missing", "outside", "space_heads"),
)
#: How many unknown words are named.
N_NAMED = 10
_RANGE = re.compile(r"^([0-9]+)-([0-9]+)\t", re.MULTILINE)


@dataclass(frozen=True)
class GoldSentence:
    """A sentence as gold has it.

    heads: from 1, 0 is ROOT, one of the numbers below 0 above where there is none. labels: "" is missing.
    """

    words: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]

    @property
    def is_tree(self) -> bool:
        """Whether each word has a head in the sentence, and they form a tree with one root."""
        return min(self.heads) >= 0 and self.heads.count(0) == 1 and not self.has_cycle

    @property
    def has_cycle(self) -> bool:
        """Whether some words hang on each other."""
        return bool(Graph(self.heads, self.labels).find_cycle())


@dataclass(frozen=True)
class CorpusFacts:
    """Counts of a corpus.

    white_space: tokens. longest: words of the longest sentence.
    unset: Docs whose predicted Doc has no sentence boundaries.
    misaligned: gold words with a label that no predicted token, or not the same one, stands for.
    one_word, trees, non_projective, no_tree, incomplete, several_roots, cycles: sentences; ``no_tree`` ones
        lack all heads, ``incomplete`` ones some; of ``trees`` (whole ones) some are non-projective.
    non_projective_words: words of such trees with a word between them and their head that is not below it.
    missing, outside, space_heads: words without a head, and with one in another sentence or of white space.
    multiword_tokens, multiword_words: multiword tokens and the words in them; None where they are not known.
    labels, roots: words by label, and those of them that are roots.
    """

    docs: int
    sentences: int
    words: int
    white_space: int
    longest: int
    unset: int
    misaligned: int
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
    labels: dict[str, int]
    roots: dict[str, int]


def corpus_facts(
    sentences: Sequence[GoldSentence],
    *,
    docs: int,
    white_space: int = 0,
    unset: int = 0,
    misaligned: int = 0,
    multiword: tuple[int, int] | None = None,
) -> CorpusFacts:
    """Count what sentences have; the rest, which they do not show, is given."""
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    roots: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(_sentence_counts(sentence))
        labels.update(label for label in sentence.labels if label)
        pairs = zip(sentence.heads, sentence.labels, strict=True)
        roots.update(label for head, label in pairs if label and head == 0)
    return CorpusFacts(
        docs=docs,
        sentences=len(sentences),
        words=sum(len(sentence.words) for sentence in sentences),
        white_space=white_space,
        longest=max((len(sentence.words) for sentence in sentences), default=0),
        unset=unset,
        misaligned=misaligned,
        multiword_tokens=None if multiword is None else multiword[0],
        multiword_words=None if multiword is None else multiword[1],
        labels=dict(labels.most_common()),
        roots=dict(roots.most_common()),
        **{name: counts[name] for name in _SUMMED},
    )


def _sentence_counts(sentence: GoldSentence) -> dict[str, int]:
    """What a sentence adds to the counts of a corpus."""
    heads = sentence.heads
    n_unknown = sum(head < 0 for head in heads)
    counts = {
        "one_word": int(len(heads) == 1),
        "no_tree": int(n_unknown == len(heads)),
        "incomplete": int(0 < n_unknown < len(heads)),
        "several_roots": int(heads.count(0) > 1),
        "cycles": int(sentence.has_cycle),
        "missing": heads.count(MISSING),
        "outside": heads.count(OUTSIDE),
        "space_heads": heads.count(SPACE),
    }
    if sentence.is_tree:
        n_arcs = int(non_projective_arcs(np.array(heads)).sum())
        counts |= {"trees": 1, "non_projective": int(n_arcs > 0), "non_projective_words": n_arcs}
    return counts


@dataclass(frozen=True)
class PieceFacts:
    """How words become pieces.

    limit: pieces that a sentence may have in one row of the encoder. longest: of the longest sentence.
    too_long: sentences with more pieces than that. in_windows: with more words.
    unknown: words with an unknown piece. unknown_words: the most frequent ones.
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
    """Count the pieces of sentences, ids for each word of each sentence."""
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
    """The graphs that a refiner begins with.

    heads: words that have a head in them. right_heads, right: of the words with a gold head and label, those
        with the right head, and with the right label, too. words: such words.
    """

    words: int
    heads: int
    right_heads: int
    right: int

    @property
    def share_right(self) -> float:
        """Of the words, those with the right head and label."""
        return self.right / self.words if self.words else 0.0


def initial_facts(
    sentences: Sequence[GoldSentence], graphs: Sequence[tuple[Sequence[int], Sequence[str]]]
) -> InitialFacts:
    """Compare graphs, heads (as of ``GoldSentence``) and labels of each sentence, with the gold ones."""
    n_words = n_heads = right_heads = right = 0
    for sentence, (heads, labels) in zip(sentences, graphs, strict=True):
        n_heads += sum(head >= 0 for head in heads)
        rows = zip(sentence.heads, sentence.labels, heads, labels, strict=True)
        for gold_head, gold_label, head, label in rows:
            if gold_head >= 0 and gold_label:
                n_words += 1
                right_heads += head == gold_head
                right += head == gold_head and label == gold_label
    return InitialFacts(n_words, n_heads, right_heads, right)


@dataclass(frozen=True)
class ComponentFacts:
    """A corpus as a component sees it.

    pieces: None where they can't be known.
    learnable: sentences that training learns from. unlearnable: other ones that have a head;
        unlearnable_trees: those of them with a whole tree, which is non-projective then.
    missing_tags: words without the tag that the component reads; None where it reads none.
    initial: graphs that the Docs bring along; None for a component that reads none.
    """

    pieces: PieceFacts | None
    learnable: int
    unlearnable: int
    unlearnable_trees: int
    missing_tags: int | None
    initial: InitialFacts | None


@dataclass(frozen=True)
class ComponentReport:
    """A component that is trained, and the corpora as it sees them.

    encoder: registered name of the encoder's origin. encoder_problem: why it can't be had; None if it can.
    tag_attr: the tags that are read, from Docs or, where ``tags_from`` has names, from these components.
    initial_from: components that write the graphs to begin with; None for a component that reads none.
    unknown_labels: words of train by labels that the component was not given.
    """

    architecture: str
    encoder: str
    encoder_problem: str | None
    tag_attr: str | None
    tags_from: tuple[str, ...]
    initial_from: tuple[str, ...] | None
    unknown_labels: dict[str, int]
    train: ComponentFacts
    dev: ComponentFacts


@dataclass(frozen=True)
class DataReport:
    """All figures.

    sets_boundaries: components before the first parser that set sentence boundaries.
    duplicates: dev sentences that train has, too; long_duplicates: of ``LONG_DUPLICATE`` words or more.
    """

    train: CorpusFacts
    dev: CorpusFacts
    sets_boundaries: tuple[str, ...]
    duplicates: int
    long_duplicates: int
    components: dict[str, ComponentReport]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return asdict(self)


def count_duplicates(train: Iterable[GoldSentence], dev: Iterable[GoldSentence]) -> tuple[int, int]:
    """Dev sentences with the words of a train sentence, and those of ``LONG_DUPLICATE`` words or more."""
    known = {tuple(sentence.words) for sentence in train}
    lengths = [len(sentence.words) for sentence in dev if tuple(sentence.words) in known]
    return len(lengths), sum(length >= LONG_DUPLICATE for length in lengths)


def unknown_labels(counts: Mapping[str, int], known: Sequence[str] | None) -> dict[str, int]:
    """The counts of labels that are not known; None knows all."""
    return {} if known is None else {label: n for label, n in counts.items() if label not in known}


def keep_multiword_counts(reader: Any) -> None:
    """Let a corpus reader of ours, which drops the CoNLL-U text of Docs, keep counts for ``multiword``."""
    if not isinstance(reader, Corpus):
        return
    read = reader.read

    def counted(vocab: Vocab) -> Iterator[GoldAndInitial]:
        for doc, initial in read(vocab):
            if USER_DATA_KEY in doc.user_data:
                doc.user_data[MULTIWORD_KEY] = _count_multiword(doc.user_data[USER_DATA_KEY]["text"])
            yield doc, initial

    reader.read = counted


def multiword(docs: Iterable[Doc]) -> tuple[int, int] | None:
    """Multiword tokens of gold Docs and the words in them; None where no Doc knows of its CoNLL-U."""
    counts = [_multiword_of(doc) for doc in docs]
    known = [pair for pair in counts if pair is not None]
    return (sum(n for n, _ in known), sum(n for _, n in known)) if known else None


def _multiword_of(doc: Doc) -> tuple[int, int] | None:
    if MULTIWORD_KEY in doc.user_data:
        tokens, words = doc.user_data[MULTIWORD_KEY]
        return tokens, words
    if USER_DATA_KEY in doc.user_data:
        return _count_multiword(doc.user_data[USER_DATA_KEY]["text"])
    return None


def _count_multiword(texts: Iterable[str]) -> tuple[int, int]:
    spans = [(int(start), int(end)) for text in texts for start, end in _RANGE.findall(text)]
    return len(spans), sum(end - start + 1 for start, end in spans)
