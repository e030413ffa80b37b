"""Tables of a parser's scores by bins of arcs, words or sentences.

Mohammadshahi & Henderson follow McDonald & Nivre (2011, "Analyzing and integrating dependency parsers") in
all versions of their paper and use the tool MaltEval:

- Labelled F-score by dependency length and by distance to the root (2019, section 5.2; 2020, section 6.3).
  The length of an arc is the distance |i - j| between its words; arcs from ROOT have their own bin. The
  distance to the root is the number of arcs on the path to ROOT: 1 for the root word. Precision is the share
  of right arcs among the system's arcs in a bin. Recall is the share of right arcs among the gold arcs in a
  bin. The newest version (2021, section 6.4) plots recall, and calls it the labelled attachment score.
- LAS by sentence length (in the same sections), with punctuation included in the length.
- Labelled F-score by label (2020, Table 3; 2021, Tables 5 and 11), and LAS of sentences with projective and
  non-projective gold trees (2021, Tables 6 and 12). An arc is right if head and label are right.

Appendix B of the 2019 version is the only source for the bins: lengths ROOT, 1 to 7 and longer; distances 1
to 7 and longer; sentences of 1-9, 10-19, ..., 40-49, and 50 words or more.

The papers count punctuation on UD and German, and leave it out on the Penn Treebanks (2020, section 5.1;
2021, section 5.1). Here, punctuation counts unless a rule of ``punctuation`` is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, IntArray
from ..formats.conllu import ConlluSentence
from ..trees.tree import non_projective_arcs
from .conll18 import CONTENT_RELATIONS
from .rates import f1_score, ratio

LONGEST = 7  # longer arcs and deeper words share one bin
LENGTH_BINS = ("ROOT", *map(str, range(1, LONGEST + 1)), f">{LONGEST}")
DISTANCE_BINS = LENGTH_BINS[1:]
SENTENCE_EDGES = (10, 20, 30, 40, 50)
SENTENCE_BINS = ("1-9", "10-19", "20-29", "30-39", "40-49", "≥50")
PROJECTIVITY_BINS = ("projective", "non-projective")


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate between 0 and 1.

    value: The rate, or None if its denominator is 0.
    count: Denominator: the system's arcs for precision, the gold arcs for recall and F1.
    """

    value: float | None
    count: int


#: Rates by bin and metric.
Table = dict[str, dict[str, Rate]]


class Words:
    """Words of all sentences end to end, with their arcs.

    heads: Heads counted from 1 in their sentence, 0 for ROOT; int [words].
    labels: Labels, without subtypes unless they are requested; str [words].
    relations: Universal part of the labels, str [words].
    lengths: Indices of arc lengths in LENGTH_BINS, int [words].
    distances: Indices of distances to the root in DISTANCE_BINS, int [words].
    crossing: Indices of arcs in PROJECTIVITY_BINS, int [words].
    sentence_of: Index of each word's sentence, int [words].
    sentence_lengths: Indices of sentence lengths in SENTENCE_BINS, int [sentences].
    trees: Indices of trees in PROJECTIVITY_BINS, int [sentences].
    """

    def __init__(self, sentences: Sequence[ConlluSentence], *, subtypes: bool) -> None:
        words = [word for sentence in sentences for word in sentence.words]
        self.heads = np.array([word.head for word in words], dtype=np.int64)
        labels = [word.deprel for word in words]
        relations = [label.partition(":")[0] for label in labels]
        self.relations = np.array(relations, dtype=np.str_)
        self.labels = np.array(labels if subtypes else relations, dtype=np.str_)
        n_words = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        ends = np.cumsum(n_words)
        self.sentence_of: IntArray = np.repeat(np.arange(len(n_words)), n_words)
        first = (ends - n_words)[self.sentence_of]
        parents = np.where(self.heads == 0, -1, first + self.heads - 1)
        spans = np.where(self.heads == 0, 0, abs(parents - np.arange(len(words))))
        self.lengths = np.minimum(spans, LONGEST + 1)
        self.distances = np.minimum(_distances(parents), LONGEST + 1) - 1
        crossing = [non_projective_arcs(sentence.graph().heads) for sentence in sentences]
        self.crossing: IntArray = np.array([cross for arcs in crossing for cross in arcs], dtype=np.int64)
        self.sentence_lengths: IntArray = np.searchsorted(SENTENCE_EDGES, n_words, side="right")
        self.trees = np.array([arcs.any() for arcs in crossing], dtype=np.int64)

    def per_sentence(self, chosen: BoolArray) -> IntArray:
        """Return the number of chosen words in each sentence, int [sentences].

        chosen: Whether each word is counted, bool [words].
        """
        return np.bincount(self.sentence_of[chosen], minlength=len(self.trees))


def _distances(parents: IntArray) -> IntArray:
    """Return the number of arcs from each word to ROOT, int [words].

    parents: Index of each word's head, -1 for ROOT; int [words].
    """
    distances = np.zeros_like(parents)
    above: IntArray = np.arange(len(parents))
    while (is_word := above >= 0).any():
        distances += is_word
        above = np.where(is_word, parents[above], -1)
    return distances


class Pair:
    """Gold words and the same words of a system.

    gold: Words with gold arcs.
    system: Words with the system's arcs.
    counts: Whether a word is scored, bool [words].
    right_heads: Whether a scored word has the right head, bool [words].
    right_labels: Whether a scored word has the right label, bool [words].
    right: Whether a scored word has the right head and label, bool [words].
    """

    def __init__(self, gold: Words, system: Words, counts: BoolArray) -> None:
        self.gold, self.system, self.counts = gold, system, counts
        self.right_heads: BoolArray = counts & (gold.heads == system.heads)
        self.right_labels: BoolArray = counts & (gold.labels == system.labels)
        self.right: BoolArray = self.right_heads & self.right_labels


def make_tables(pair: Pair, labels: Sequence[str]) -> dict[str, Table]:
    """Return the tables of a system by quantity.

    - overall: "conll18" has UAS, LAS and CLAS of the CoNLL 2018 metrics, which count all words. "compared"
      has UAS, LAS and label accuracy of the scored words, and the share of sentences with all heads right
      (UEM) and with all heads and labels right (LEM).
    - dependency_length, distance_to_root, label, arc_projectivity: precision, recall and f1 of arcs.
    - sentence_length: UAS and LAS.
    - tree_projectivity: UAS and LAS by the gold tree; and precision, recall and f1 of sentences, where a
      sentence is right if gold tree and system tree are in the same bin.

    pair: Words of gold trees and system.
    labels: Labels of the scored words in the order of the table.
    """
    gold, system = pair.gold, pair.system
    index = {label: i for i, label in enumerate(labels)}
    gold_labels, system_labels = (
        np.array([index.get(label, 0) for label in words.labels.tolist()]) for words in (gold, system)
    )
    return {
        "overall": {"conll18": _conll18(gold, system), "compared": _overall(pair)},
        "dependency_length": _arc_table(pair, gold.lengths, system.lengths, LENGTH_BINS),
        "distance_to_root": _arc_table(pair, gold.distances, system.distances, DISTANCE_BINS),
        "sentence_length": _word_table(pair, gold.sentence_lengths, SENTENCE_BINS),
        "label": _arc_table(pair, gold_labels, system_labels, labels),
        "arc_projectivity": _arc_table(pair, gold.crossing, system.crossing, PROJECTIVITY_BINS),
        "tree_projectivity": _tree_table(pair),
    }


def _conll18(gold: Words, system: Words) -> dict[str, Rate]:
    """Return the metrics of ``conll18`` for words that are known to be the same."""
    right_heads = gold.heads == system.heads
    right = right_heads & (gold.relations == system.relations)
    content = list(CONTENT_RELATIONS)
    is_content = np.isin(gold.relations, content)
    n_content = int(is_content.sum())
    n_both = n_content + int(np.isin(system.relations, content).sum())
    return {
        "UAS": _share(right_heads.sum(), len(right)),
        "LAS": _share(right.sum(), len(right)),
        "CLAS": Rate(ratio(2 * int((right & is_content).sum()), n_both), n_content),
    }


def _overall(pair: Pair) -> dict[str, Rate]:
    n_words = pair.counts.sum()
    totals, heads, both = map(pair.gold.per_sentence, (pair.counts, pair.right_heads, pair.right))
    has_words = totals > 0
    return {
        "UAS": _share(pair.right_heads.sum(), n_words),
        "LAS": _share(pair.right.sum(), n_words),
        "label accuracy": _share(pair.right_labels.sum(), n_words),
        "UEM": _share((has_words & (heads == totals)).sum(), has_words.sum()),
        "LEM": _share((has_words & (both == totals)).sum(), has_words.sum()),
    }


def _arc_table(pair: Pair, gold_bins: IntArray, system_bins: IntArray, names: Sequence[str]) -> Table:
    """Return precision, recall and F1 of scored arcs by bin. Bins are indices in the names, int [words]."""
    counts = pair.counts
    return _score_bins(gold_bins[counts], system_bins[counts], pair.right[counts], names)


def _score_bins(gold: IntArray, system: IntArray, right: BoolArray, names: Sequence[str]) -> Table:
    """Return precision, recall and F1 of items. Gold and system may place an item in different bins.

    gold: Index of each item's gold bin in the names, int [items].
    system: Index of each item's system bin in the names, int [items].
    right: Whether each item is right, bool [items].
    names: Names of the bins.
    """
    columns = [
        np.bincount(bins, minlength=len(names)).tolist()
        for bins in (gold, system, gold[right], system[right])
    ]
    table = {}
    for name, n_gold, n_system, right_of_gold, right_of_system in zip(names, *columns, strict=True):
        precision, recall = _share(right_of_system, n_system), _share(right_of_gold, n_gold)
        f1 = Rate(f1_score(precision.value, recall.value), n_gold)
        table[name] = {"precision": precision, "recall": recall, "f1": f1}
    return table


def _word_table(pair: Pair, bins: IntArray, names: Sequence[str]) -> Table:
    """Return UAS and LAS of words by their sentence's bin. Bins are indices in the names, int [sentences]."""
    chosen = (pair.counts, pair.right_heads, pair.right)
    columns = [
        np.bincount(bins[pair.gold.sentence_of[words]], minlength=len(names)).tolist() for words in chosen
    ]
    return {
        name: {"UAS": _share(heads, n_words), "LAS": _share(both, n_words)}
        for name, n_words, heads, both in zip(names, *columns, strict=True)
    }


def _tree_table(pair: Pair) -> Table:
    gold, system = pair.gold.trees, pair.system.trees
    words = _word_table(pair, gold, PROJECTIVITY_BINS)
    trees = _score_bins(gold, system, gold == system, PROJECTIVITY_BINS)
    return {name: words[name] | trees[name] for name in PROJECTIVITY_BINS}


def _share(part: int | np.int64, whole: int | np.int64) -> Rate:
    return Rate(ratio(int(part), int(whole)), int(whole))
