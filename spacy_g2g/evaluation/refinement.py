"""What each iteration of refinement changes, as Mohammadshahi & Henderson (2021) analyse it.

Their section 6.5 and appendix D measure refinement by relative error reduction (equation 8): the share of
the errors of one graph that the next one is rid of, for all words (Tables 4 and 12a), for the F-score of
each label (Tables 5 and 11), and for sentences with projective and non-projective gold trees (Tables 6 and
12b). As in the CoNLL 2018 metrics, punctuation counts, and of labels the universal part is compared.

Graphs are scored as they are. The paper decodes a tree from each iteration for this analysis; where graphs
between the iterations are arg-max graphs, their scores are those of what the next iteration read.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..formats.graphs import MISSING, ROOT, Graph
from ..parsing.tree import non_projective_arcs

COMPARED = "universal part of labels (nmod:poss is nmod), punctuation counted, as in the CoNLL 2018 metrics"


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


@dataclass(frozen=True)
class Curve:
    """A score between 0 and 1 of the graphs 0 to T; None where it is out of nothing."""

    scores: tuple[float | None, ...]

    @property
    def reductions(self) -> tuple[float | None, ...]:
        """Relative error reduction of the iterations 1 to T, each against the one before."""
        return tuple(
            error_reduction(before, after)
            for before, after in zip(self.scores[:-1], self.scores[1:], strict=True)
        )

    @property
    def total(self) -> float | None:
        """Relative error reduction of the last graph against the initial one."""
        return error_reduction(self.scores[0], self.scores[-1])

    def to_dict(self) -> dict[str, Any]:
        """Scores and error reductions, for JSON."""
        return {"scores": self.scores, "error_reductions": self.reductions, "total": self.total}


@dataclass(frozen=True)
class Part:
    """LAS on some of the sentences."""

    n_sentences: int
    n_words: int
    las: Curve

    def to_dict(self) -> dict[str, Any]:
        """Counts and LAS, for JSON."""
        return {"sentences": self.n_sentences, "words": self.n_words, "las": self.las.to_dict()}


@dataclass(frozen=True)
class ArcScores:
    """Scores of some of the arcs, by head and label; n_gold counts those of the gold trees.

    precision: Share of such arcs of a graph that the gold tree has, too.
    recall: Share of such arcs of the gold trees that a graph has.
    f1: Harmonic mean of both; 0 where nothing is right, None where neither side has such arcs.
    """

    n_gold: int
    precision: Curve
    recall: Curve
    f1: Curve

    def to_dict(self) -> dict[str, Any]:
        """The number of gold arcs and the scores, for JSON."""
        scores = {"precision": self.precision.scores, "recall": self.recall.scores}
        return {"gold": self.n_gold, **scores, "f1": self.f1.to_dict()}


@dataclass(frozen=True)
class Changes:
    """Words whose head or label an iteration changed, by whether both were right before and after."""

    wrong_to_right: int
    right_to_wrong: int
    wrong_to_wrong: int


@dataclass(frozen=True)
class Stopped:
    """Sentences that made the same number of passes, and their words.

    n_unchanged: Those whose last pass gave the graph that it had read, subtypes included. With fewer passes
        than others have, that is why a sentence stopped, also where its graph was no tree and its last graph
        is the tree decoded instead. After the greatest number of passes, which may be the limit, the graph
        before decoding is not known: those are counted whose last two graphs are the same, which leaves out
        what repeated a graph that was no tree.
    """

    n_sentences: int
    n_words: int
    n_unchanged: int


@dataclass(frozen=True)
class Refinement:
    """The analysis of graphs 0 (initial) to T.

    labels: By universal label of the gold trees, the greatest total error reduction first, None last.
    projective, non_projective: Sentences by their gold trees.
    non_projective_arcs: Arcs over a word that does not descend from the arc's head, in either's own graph.
    changes: Of the iterations 1 to T.
    stopped: By number of passes, from 0 to T.
    """

    n_sentences: int
    n_words: int
    uas: Curve
    las: Curve
    labels: dict[str, ArcScores]
    projective: Part
    non_projective: Part
    non_projective_arcs: ArcScores
    changes: tuple[Changes, ...]
    stopped: tuple[Stopped, ...]

    @property
    def n_iterations(self) -> int:
        """T."""
        return len(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON; rates are between 0 and 1, None where they are out of nothing."""
        return {
            "compared": COMPARED,
            "sentences": self.n_sentences,
            "words": self.n_words,
            "iterations": self.n_iterations,
            "uas": self.uas.to_dict(),
            "las": self.las.to_dict(),
            "projective_trees": self.projective.to_dict(),
            "non_projective_trees": self.non_projective.to_dict(),
            "non_projective_arcs": self.non_projective_arcs.to_dict(),
            "labels": {label: scores.to_dict() for label, scores in self.labels.items()},
            "changes": [asdict(changes) for changes in self.changes],
            "stopped": [
                {
                    "sentences": stopped.n_sentences,
                    "words": stopped.n_words,
                    "unchanged": stopped.n_unchanged,
                    "share_of_sentences": ratio(stopped.n_sentences, self.n_sentences),
                    "share_of_words": ratio(stopped.n_words, self.n_words),
                }
                for stopped in self.stopped
            ],
        }


def error_reduction(before: float | None, after: float | None) -> float | None:
    """Relative error reduction (after - before) / (1 - before) of scores between 0 and 1.

    1 where no error is left, below 0 where there are more; None where there were no errors before, or a
    score is None.
    """
    if before is None or after is None or before == 1:
        return None
    return (after - before) / (1 - before)


def analyse_refinement(sentences: Sequence[RefinedSentence]) -> Refinement:
    """Compare the graphs of refinement with gold trees and with each other.

    T is the greatest number of iterations of a sentence; sentences with fewer keep their last graph.
    RAISES (ValueError): for a sentence without graphs, graphs of another length than the gold tree, heads out
        of range, or more passes than graphs.
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
    """The words of all sentences end to end: gold [words], and the graphs [T + 1, words].

    Labels are places in ``names``, all universal labels in order of appearance.
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
            raise ValueError(Errors.E380.format(sentence=number, graph=name, found=found, n=n))
        wrong = [head for head in graph.heads if not least <= head <= n]
        if wrong:
            raise ValueError(Errors.E381.format(sentence=number, graph=name, heads=wrong, least=least, n=n))
    if not 0 <= sentence.passes < len(sentence.graphs):
        raise ValueError(
            Errors.E382.format(sentence=number, passes=sentence.passes, graphs=len(sentence.graphs))
        )


def ratio(part: int, whole: int) -> float | None:
    """The share, or None where it is out of nothing."""
    return part / whole if whole else None


def _curve(parts: Sequence[int], wholes: Sequence[int]) -> Curve:
    return Curve(tuple(ratio(part, whole) for part, whole in zip(parts, wholes, strict=True)))


def _accuracy(right: BoolArray) -> Curve:
    """Share of the words that are right in each graph. right: [T + 1, words]."""
    n_graphs, n_words = right.shape
    return _curve(right.sum(axis=1).tolist(), [n_words] * n_graphs)


def _part(words: _Words, chosen: BoolArray) -> Part:
    """chosen: [sentences]."""
    right = words.right[:, chosen[words.sentence_of]]
    return Part(int(chosen.sum()), right.shape[1], _accuracy(right))


def _arc_scores(right: BoolArray, gold: BoolArray, found: BoolArray) -> ArcScores:
    """Scores of chosen arcs.

    right, found: [T + 1, words], whether a graph's arc is that of the gold tree, and whether it is chosen.
    gold: [words], whether the gold tree's arc is chosen.
    """
    n_gold = int(gold.sum())
    golds = [n_gold] * len(right)
    founds = found.sum(axis=1).tolist()
    precision = _curve((right & found).sum(axis=1).tolist(), founds)
    recall = _curve((right & gold).sum(axis=1).tolist(), golds)
    f1 = map(f1_score, precision.scores, recall.scores)
    return ArcScores(n_gold, precision, recall, Curve(tuple(f1)))


def f1_score(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean of both; 0 where nothing is right, None where neither side has any."""
    if precision is None and recall is None:
        return None
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def _label_scores(words: _Words) -> dict[str, ArcScores]:
    scores = {}
    for place in np.unique(words.gold_labels).tolist():
        found = (words.labels == place) & (words.heads != MISSING)
        scores[words.names[place]] = _arc_scores(words.right, words.gold_labels == place, found)
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
