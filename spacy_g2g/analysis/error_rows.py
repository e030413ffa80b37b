"""Scores of parsers by bins of arcs, words or sentences, as tidy rows.

Mohammadshahi & Henderson follow McDonald & Nivre (2011, "Analyzing and integrating dependency parsers") in
all versions of their paper and use the tool MaltEval:

- Labeled F-score by dependency length and by distance to the root (2019, section 5.2; 2020, section 6.3).
  The length of an arc is the distance |i - j| between its words; arcs from ROOT have their own bin. The
  distance to the root is the number of arcs on the path to ROOT: 1 for the root word. Precision is the share
  of right arcs among the system's arcs in a bin. Recall is the share of right arcs among the gold arcs in a
  bin. The newest version (2021, section 6.4) plots recall, and calls it the labeled attachment score.
- LAS by sentence length (in the same sections), with punctuation included in the length.
- Labeled F-score by label (2020, Table 3; 2021, Tables 5 and 11), and LAS of sentences with projective and
  non-projective gold trees (2021, Tables 6 and 12). An arc is right if head and label are right.

Appendix B of the 2019 version is the only source for the bins: lengths ROOT, 1 to 7 and longer; distances 1
to 7 and longer; sentences of 1-9, 10-19, ..., 40-49, and 50 words or more.

The papers count punctuation on UD and German, and leave it out on the Penn Treebanks (2020, section 5.1;
2021, section 5.1). Here, punctuation counts unless a user chooses a rule of ``punctuation``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..arrays import BoolArray, IntArray
from ..evaluation.bootstrap import paired_bootstrap
from ..evaluation.conll18 import CONTENT_RELATIONS
from ..evaluation.rates import f1_score, ratio
from ..formats.graph import MISSING, ROOT, Graph
from ..trees.tree import non_projective_arcs

#: Longer arcs share one bin, and so do words that are farther from ROOT.
MAX_DISTANCE = 7
LENGTH_BINS = ("ROOT", *map(str, range(1, MAX_DISTANCE + 1)), f">{MAX_DISTANCE}")
DISTANCE_BINS = LENGTH_BINS[1:]
SENTENCE_EDGES = (10, 20, 30, 40, 50)
SENTENCE_BINS = ("1-9", "10-19", "20-29", "30-39", "40-49", "≥50")
PROJECTIVITY_BINS = ("projective", "non-projective")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of an analysis.

    quantity: Quantity whose values the bins divide, such as "dependency_length".
    bin: Name of the bin, such as "ROOT".
    metric: Name of the figure, such as "f1".
    value: A rate between 0 and 1, or None if its denominator is 0; or a number of items.
    count: Denominator of the rate: the system's arcs for precision, the gold arcs for recall and F1. For a
        number of items, the number of items that could be among them.
    """

    system: str
    quantity: str
    bin: str
    metric: str
    value: float | None
    count: int


#: Quantity, bin, metric, value and count of a row.
Cells = tuple[str, str, str, float | None, int]


class TreebankArcs:
    """Arcs to all words of a treebank, end to end.

    heads: Heads counted from 1 in their sentence, 0 for ROOT, -1 if missing; int [words].
    labels: Labels, without subtypes unless they are requested; str [words].
    relations: Universal part of the labels, str [words].
    lengths: Indices of arc lengths in LENGTH_BINS, int [words].
    distances: Indices of distances to the root in DISTANCE_BINS, int [words]. Words of a cycle are far away.
    crossing: Indices of arcs in PROJECTIVITY_BINS, int [words].
    sentence_of: Index of each word's sentence, int [words].
    sentence_lengths: Indices of sentence lengths in SENTENCE_BINS, int [sentences].
    trees: Indices of trees in PROJECTIVITY_BINS, int [sentences].
    """

    def __init__(self, graphs: Sequence[Graph], *, subtypes: bool) -> None:
        labels = [*chain.from_iterable(graph.deps for graph in graphs)]
        relations = [label.partition(":")[0] for label in labels]
        heads = [*chain.from_iterable(graph.heads for graph in graphs)]
        self.heads = np.array(heads, dtype=np.int64)
        self.relations = np.array(relations, dtype=np.str_)
        self.labels = np.array(labels if subtypes else relations, dtype=np.str_)
        n_words = np.array([len(graph.heads) for graph in graphs], dtype=np.int64)
        self.sentence_of: IntArray = np.repeat(np.arange(len(n_words)), n_words)
        first = (np.cumsum(n_words) - n_words)[self.sentence_of]
        parents = np.where(self.heads <= ROOT, -1, first + self.heads - 1)
        spans = np.where(self.heads <= ROOT, 0, abs(parents - np.arange(len(parents))))
        self.lengths = np.minimum(spans, MAX_DISTANCE + 1)
        self.distances = _distances(parents) - 1
        crossing = [non_projective_arcs(graph.heads) for graph in graphs]
        self.crossing: IntArray = np.array([*chain.from_iterable(crossing)], dtype=np.int64)
        self.sentence_lengths: IntArray = np.searchsorted(SENTENCE_EDGES, n_words, side="right")
        self.trees = np.array([arcs.any() for arcs in crossing], dtype=np.int64)

    def per_sentence(self, chosen: BoolArray) -> IntArray:
        """Count the chosen words, bool [words], in each sentence. Returns int [sentences]."""
        return np.bincount(self.sentence_of[chosen], minlength=len(self.trees))


def _distances(parents: IntArray) -> IntArray:
    """Return the number of arcs from each word to ROOT, at most MAX_DISTANCE + 1; int [words].

    parents: Index of each word's head, -1 for ROOT; int [words].
    """
    distances = np.zeros_like(parents)
    above: IntArray = np.arange(len(parents))
    for _ in range(MAX_DISTANCE + 1):
        is_word = above >= 0
        distances += is_word
        above = np.where(is_word, parents[above], -1)
    return distances


class Comparison:
    """A system's arcs compared with the gold arcs: which words are right.

    counts: Whether a word is scored, bool [words].
    right_heads, right_labels, right: Whether a scored word has the right head, label, and both, bool [words].
    """

    def __init__(self, gold: TreebankArcs, arcs: TreebankArcs, counts: BoolArray) -> None:
        self.gold, self.arcs, self.counts = gold, arcs, counts
        self.right_heads: BoolArray = counts & (gold.heads == arcs.heads)
        self.right_labels: BoolArray = counts & (gold.labels == arcs.labels)
        self.right: BoolArray = self.right_heads & self.right_labels


def score_system(compared: Comparison, labels: Sequence[str]) -> Iterator[Cells]:
    """Yield the scores of a system.

    - overall: "conll18" has UAS, LAS and CLAS of the CoNLL 2018 metrics, which count all words. "compared"
      has UAS, LAS and label accuracy of the scored words, and the share of sentences with all heads right
      (UEM) and with all heads and labels right (LEM).
    - dependency_length, distance_to_root, label, arc_projectivity: precision, recall and f1 of arcs.
    - sentence_length: UAS and LAS.
    - tree_projectivity: UAS and LAS by the gold tree; and precision, recall and f1 of sentences, where a
      sentence is right if gold tree and system tree are in the same bin.
    - confusions, confusions_at_right_heads: number of words by gold label and wrong label, the most frequent
      pairs first; the second one has only words with the right head.

    labels: Labels of the scored words in the order of the rows.
    """
    gold, arcs = compared.gold, compared.arcs
    index = {label: i for i, label in enumerate(labels)}
    gold_labels, system_labels = _label_bins(gold, index), _label_bins(arcs, index)
    yield from _overall(compared)
    counts, right = compared.counts, compared.right
    has_arc = counts & (arcs.heads != MISSING)
    for quantity, names, gold_bins, system_bins in (
        ("dependency_length", LENGTH_BINS, gold.lengths, arcs.lengths),
        ("distance_to_root", DISTANCE_BINS, gold.distances, arcs.distances),
        ("label", labels, gold_labels, system_labels),
        ("arc_projectivity", PROJECTIVITY_BINS, gold.crossing, arcs.crossing),
    ):
        columns = (gold_bins[counts], system_bins[has_arc], gold_bins[right], system_bins[right])
        yield from _bin_rows(quantity, names, columns)
    yield from _word_rows(compared, "sentence_length", SENTENCE_BINS, gold.sentence_lengths)
    yield from _word_rows(compared, "tree_projectivity", PROJECTIVITY_BINS, gold.trees)
    is_same = gold.trees == arcs.trees
    columns = (gold.trees, arcs.trees, gold.trees[is_same], arcs.trees[is_same])
    yield from _bin_rows("tree_projectivity", PROJECTIVITY_BINS, columns)
    yield from _confusion_rows(compared, "confusions", compared.counts)
    yield from _confusion_rows(compared, "confusions_at_right_heads", compared.right_heads)


def _label_bins(arcs: TreebankArcs, index: Mapping[str, int]) -> IntArray:
    """Return the index of each word's label, int [words]; 0 for labels that no scored word has."""
    return np.array([index.get(label, 0) for label in arcs.labels.tolist()], dtype=np.int64)


def _overall(compared: Comparison) -> Iterator[Cells]:
    gold, arcs = compared.gold, compared.arcs
    content = list(CONTENT_RELATIONS)
    is_content = np.isin(gold.relations, content)
    n_content = int(is_content.sum())
    n_both = n_content + int(np.isin(arcs.relations, content).sum())
    heads = gold.heads == arcs.heads
    both = heads & (gold.relations == arcs.relations)
    yield "overall", "conll18", "UAS", *_share(heads.sum(), len(heads))
    yield "overall", "conll18", "LAS", *_share(both.sum(), len(both))
    yield "overall", "conll18", "CLAS", ratio(2 * int((both & is_content).sum()), of=n_both), n_content
    chosen = {"UAS": compared.right_heads, "LAS": compared.right, "label accuracy": compared.right_labels}
    for metric, right in chosen.items():
        yield "overall", "compared", metric, *_share(right.sum(), compared.counts.sum())
    totals = gold.per_sentence(compared.counts)
    for metric, right in (("UEM", compared.right_heads), ("LEM", compared.right)):
        is_whole = (totals > 0) & (gold.per_sentence(right) == totals)
        yield "overall", "compared", metric, *_share(is_whole.sum(), (totals > 0).sum())


def _bin_rows(quantity: str, names: Sequence[str], columns: Sequence[IntArray]) -> Iterator[Cells]:
    """Yield precision, recall and F1 of items by bin. Gold and system may place an item in different bins.

    names: Names of the bins.
    columns: Indices of bins in the names: of the gold items, of the system's items, and of the right items
        by gold and by the system; int [items].
    """
    counts = [np.bincount(bins, minlength=len(names)).tolist() for bins in columns]
    for name, n_gold, n_system, right_of_gold, right_of_system in zip(names, *counts, strict=True):
        precision, recall = ratio(right_of_system, of=n_system), ratio(right_of_gold, of=n_gold)
        yield quantity, name, "precision", precision, n_system
        yield quantity, name, "recall", recall, n_gold
        yield quantity, name, "f1", f1_score(precision=precision, recall=recall), n_gold


def _word_rows(compared: Comparison, quantity: str, names: Sequence[str], bins: IntArray) -> Iterator[Cells]:
    """Yield UAS and LAS of words by their sentence's bin. Bins are indices in the names, int [sentences]."""
    n_words, *n_right = (
        np.bincount(bins[compared.gold.sentence_of[words]], minlength=len(names)).tolist()
        for words in (compared.counts, compared.right_heads, compared.right)
    )
    for i, name in enumerate(names):
        for metric, right in zip(("UAS", "LAS"), n_right, strict=True):
            yield quantity, name, metric, *_share(right[i], n_words[i])


def _confusion_rows(compared: Comparison, quantity: str, chosen: BoolArray) -> Iterator[Cells]:
    n_gold = Counter(compared.gold.labels[compared.counts].tolist())
    wrong = chosen & ~compared.right_labels
    pairs = zip(compared.gold.labels[wrong].tolist(), compared.arcs.labels[wrong].tolist(), strict=True)
    for (gold, system), n in sorted(Counter(pairs).items(), key=lambda item: (-item[1], item[0])):
        yield quantity, f"{gold} → {system}", "words", n, n_gold[gold]


def compare_systems(
    first: Comparison, *, second: Comparison, name: str, resamples: int = 0, seed: int = 0
) -> Iterator[Cells]:
    """Yield how the second system differs from the first in UAS and LAS: UAS_change and LAS_change.

    Some metrics count words that only one system has right, or to which both give different wrong arcs. The
    others come from the paired bootstrap over sentences with scored words: the ``difference`` second - first,
    the ends ``low`` and ``high`` of its confidence interval, and its ``p_value``.

    name: Name of the first system, which becomes the bin.
    resamples: Number of resamples of the bootstrap; 0 for no bootstrap.
    """
    gold, counts, arcs = first.gold, first.counts, second.arcs
    totals = gold.per_sentence(counts)
    n_words = int(totals.sum())
    is_new = counts & (first.arcs.heads != arcs.heads)
    is_newly_labeled = counts & (first.arcs.labels != arcs.labels) & (arcs.heads != MISSING)
    for metric, was_right, is_right, changed in (
        ("UAS", first.right_heads, second.right_heads, is_new),
        ("LAS", first.right, second.right, is_new | is_newly_labeled),
    ):
        quantity = f"{metric}_change"
        numbers = {
            "wrong_to_right": is_right & ~was_right,
            "right_to_wrong": was_right & ~is_right,
            "wrong_to_wrong": changed & ~was_right & ~is_right,
        }
        for kind, chosen in numbers.items():
            yield quantity, name, kind, int(chosen.sum()), n_words
        if resamples:
            old, new = (gold.per_sentence(right)[totals > 0] for right in (was_right, is_right))
            test = paired_bootstrap(
                old, correct_b=new, totals=totals[totals > 0], resamples=resamples, seed=seed
            )
            for kind in ("difference", "low", "high", "p_value"):
                yield quantity, name, kind, getattr(test, kind), n_words


def _share(part: int | np.int64, whole: int | np.int64) -> tuple[float | None, int]:
    return ratio(int(part), of=int(whole)), int(whole)
