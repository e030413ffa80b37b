"""Analysis of the changes by each iteration of refinement (Mohammadshahi & Henderson 2021).

Section 6.5 and appendix D of the paper measure refinement by relative error reduction (equation 8): the share
of a graph's errors that the next graph does not have. The tables are for all words (Tables 4 and 12a), for
the F-score of each label (Tables 5 and 11), and for sentences with projective and non-projective gold trees
(Tables 6 and 12b). As in the CoNLL 2018 metrics, punctuation counts and labels are compared without subtypes.

Graphs are scored as they are. The paper decodes a tree from each iteration for this analysis. Here, arg-max
graphs between the iterations are scored as the next iteration read them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..formats.graph import MISSING, ROOT, Graph
from ..trees.tree import non_projective_arcs
from .rates import f1_score, ratio
from .refinement_scores import ArcScores, Changes, Curve, Part, Refinement, Stopped


@dataclass(frozen=True)
class RefinedSentence:
    """A sentence with its gold tree and the graphs of its refinement.

    gold: The gold tree.
    graphs: The initial graph, then one for each iteration. Nothing changed after the last one.
    passes: Number of iterations before refinement of the sentence stopped.
    """

    gold: Graph
    graphs: Sequence[Graph]
    passes: int


def analyse_refinement(sentences: Sequence[RefinedSentence]) -> Refinement:
    """Compare the graphs of refinement with gold trees and with each other.

    T is the largest number of iterations of a sentence. Sentences with fewer iterations keep their last
    graph.

    sentences: Sentences with their graphs and gold trees.
    Raises ValueError if a sentence has no graphs, if a graph differs in length from the gold tree, if a head
        is out of range, or if there are more passes than graphs.
    """
    for number, sentence in enumerate(sentences):
        _check(number, sentence)
    words = _Words(sentences)
    is_projective = np.ones(len(sentences), dtype=np.bool_)
    is_projective[words.sentence_of[words.gold_crossing]] = False
    return Refinement(
        n_sentences=len(sentences),
        n_words=len(words.sentence_of),
        uas=_accuracy(words.right_heads),
        las=_accuracy(words.right),
        labels=_label_scores(words),
        projective=_part(words, is_projective),
        non_projective=_part(words, ~is_projective),
        non_projective_arcs=_arc_scores(words.right, words.gold_crossing, words.crossing),
        changes=_changes(words),
        stopped=_stopped(sentences, len(words.heads) - 1),
    )


class _Words:
    """Words of all sentences end to end, with their gold arcs [words] and their graphs' arcs [T + 1, words].

    Labels are indices in ``names``, the universal labels in order of appearance.
    """

    def __init__(self, sentences: Sequence[RefinedSentence]) -> None:
        n_graphs = max((len(sentence.graphs) for sentence in sentences), default=1)
        series = [[sentence.gold, *_pad(sentence.graphs, n_graphs)] for sentence in sentences]
        rows = list(zip(*series, strict=True)) or [()] * (n_graphs + 1)
        heads, labels, crossing, ids = [], [], [], dict[str, int]()
        for row in rows:
            heads.append([head for graph in row for head in graph.heads])
            names = [label.partition(":")[0] for graph in row for label in graph.deps]
            labels.append([ids.setdefault(name, len(ids)) for name in names])
            crossing.append([arc for graph in row for arc in non_projective_arcs(graph.heads).tolist()])
        lengths = [len(sentence.gold.heads) for sentence in sentences]
        self.sentence_of: IntArray = np.repeat(np.arange(len(sentences)), np.array(lengths, dtype=np.int64))
        self.names = list(ids)
        self.gold_heads, self.heads = _first_and_rest(np.array(heads, dtype=np.int64))
        self.gold_labels, self.labels = _first_and_rest(np.array(labels, dtype=np.int64))
        self.gold_crossing, self.crossing = _first_and_rest(np.array(crossing, dtype=np.bool_))
        self.right_heads: BoolArray = self.heads == self.gold_heads
        self.right: BoolArray = self.right_heads & (self.labels == self.gold_labels)


def _first_and_rest(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return array[0], array[1:]


def _pad(graphs: Sequence[Graph], n_graphs: int) -> list[Graph]:
    return [*graphs, *[graphs[-1]] * (n_graphs - len(graphs))]


def _check(number: int, sentence: RefinedSentence) -> None:
    n = len(sentence.gold.heads)
    graphs = [("gold", sentence.gold, ROOT)]
    graphs += [(str(t), graph, MISSING) for t, graph in enumerate(sentence.graphs)]
    for name, graph, least in graphs:
        found = len(graph.heads), len(graph.deps)
        if found != (n, n):
            raise ValueError(Errors.E608.format(sentence=number, graph=name, found=found, n=n))
        wrong = [head for head in graph.heads if not least <= head <= n]
        if wrong:
            raise ValueError(Errors.E609.format(sentence=number, graph=name, heads=wrong, least=least, n=n))
    if not 0 <= sentence.passes < len(sentence.graphs):
        raise ValueError(
            Errors.E610.format(sentence=number, passes=sentence.passes, graphs=len(sentence.graphs))
        )


def _curve(parts: Sequence[int], wholes: Sequence[int]) -> Curve:
    return Curve(tuple(ratio(part, whole) for part, whole in zip(parts, wholes, strict=True)))


def _accuracy(right: BoolArray) -> Curve:
    """Return the share of right words in each graph.

    right: Whether a word is right, bool [T + 1, words].
    """
    n_graphs, n_words = right.shape
    return _curve(right.sum(axis=1).tolist(), [n_words] * n_graphs)


def _part(words: _Words, chosen: BoolArray) -> Part:
    """Return LAS on the chosen sentences, bool [sentences]."""
    right = words.right[:, chosen[words.sentence_of]]
    return Part(int(chosen.sum()), right.shape[1], _accuracy(right))


def _arc_scores(right: BoolArray, gold: BoolArray, found: BoolArray) -> ArcScores:
    """Return scores of chosen arcs.

    right: Whether a graph's arc equals the gold arc, bool [T + 1, words].
    gold: Whether a gold arc is chosen, bool [words].
    found: Whether a graph's arc is chosen, bool [T + 1, words].
    """
    n_gold = int(gold.sum())
    golds = [n_gold] * len(right)
    founds = found.sum(axis=1).tolist()
    precision = _curve((right & found).sum(axis=1).tolist(), founds)
    recall = _curve((right & gold).sum(axis=1).tolist(), golds)
    f1 = map(f1_score, precision.scores, recall.scores)
    return ArcScores(n_gold, precision, recall, Curve(tuple(f1)))


def _label_scores(words: _Words) -> dict[str, ArcScores]:
    scores = {}
    for label in np.unique(words.gold_labels).tolist():
        found = (words.labels == label) & (words.heads != MISSING)
        scores[words.names[label]] = _arc_scores(words.right, words.gold_labels == label, found)
    totals = {label: score.f1.total for label, score in scores.items()}

    def rank(label: str) -> tuple[bool, float, str]:
        return totals[label] is None, -(totals[label] or 0.0), label

    return {label: scores[label] for label in sorted(scores, key=rank)}


def _changes(words: _Words) -> tuple[Changes, ...]:
    was_right, is_right = words.right[:-1], words.right[1:]
    changed = np.diff(words.heads, axis=0) != 0
    changed |= (np.diff(words.labels, axis=0) != 0) & (words.heads[1:] != MISSING)
    counts = (~was_right & is_right, was_right & ~is_right, changed & ~was_right & ~is_right)
    columns = [count.sum(axis=1).tolist() for count in counts]
    return tuple(Changes(*row) for row in zip(*columns, strict=True))


def _stopped(sentences: Sequence[RefinedSentence], n_iterations: int) -> tuple[Stopped, ...]:
    table = np.zeros((n_iterations + 1, 3), dtype=np.int64)
    most = max((sentence.passes for sentence in sentences), default=0)
    for sentence in sentences:
        t = sentence.passes
        unchanged = t > 0 and (t < most or _same(sentence.graphs[t - 1], sentence.graphs[t]))
        table[t] += (1, len(sentence.gold.heads), unchanged)
    return tuple(Stopped(*row) for row in table.tolist())


def _same(graph: Graph, other: Graph) -> bool:
    return list(graph.heads) == list(other.heads) and list(graph.deps) == list(other.deps)
