"""Results of the analysis of refinement, see ``refinement``."""

from dataclasses import asdict, dataclass
from typing import Any

from .rates import error_reduction, ratio

COMPARED = "universal part of labels (nmod:poss is nmod), punctuation counted, as in the CoNLL 2018 metrics"


@dataclass(frozen=True)
class Curve:
    """Score between 0 and 1 of the graphs 0 to T; None if its denominator is 0."""

    scores: tuple[float | None, ...]

    @property
    def reductions(self) -> tuple[float | None, ...]:
        """Relative error reduction of the iterations 1 to T, each against the previous graph."""
        return tuple(
            error_reduction(before, after)
            for before, after in zip(self.scores[:-1], self.scores[1:], strict=True)
        )

    @property
    def total(self) -> float | None:
        """Relative error reduction of the last graph against the initial one."""
        return error_reduction(self.scores[0], self.scores[-1])

    def to_dict(self) -> dict[str, Any]:
        """Return scores and error reductions, for JSON."""
        return {"scores": self.scores, "error_reductions": self.reductions, "total": self.total}


@dataclass(frozen=True)
class Part:
    """LAS on a part of the sentences."""

    n_sentences: int
    n_words: int
    las: Curve

    def to_dict(self) -> dict[str, Any]:
        """Return counts and LAS, for JSON."""
        return {"sentences": self.n_sentences, "words": self.n_words, "las": self.las.to_dict()}


@dataclass(frozen=True)
class ArcScores:
    """Scores of a part of the arcs. An arc is right if head and label are right.

    n_gold: Number of these arcs in the gold trees.
    precision: Share of a graph's arcs that the gold trees have.
    recall: Share of the gold trees' arcs that a graph has.
    f1: Harmonic mean of both; 0 if no arc is right, None if neither side has such arcs.
    """

    n_gold: int
    precision: Curve
    recall: Curve
    f1: Curve

    def to_dict(self) -> dict[str, Any]:
        """Return the number of gold arcs and the scores, for JSON."""
        scores = {"precision": self.precision.scores, "recall": self.recall.scores}
        return {"gold": self.n_gold, **scores, "f1": self.f1.to_dict()}


@dataclass(frozen=True)
class Changes:
    """Numbers of words whose head or label an iteration changed. A word is right if both are right."""

    wrong_to_right: int
    right_to_wrong: int
    wrong_to_wrong: int


@dataclass(frozen=True)
class Stopped:
    """Sentences with the same number of passes.

    n_sentences: Number of the sentences.
    n_words: Number of words in the sentences.
    n_unchanged: Number of sentences whose last pass changed nothing, subtypes included. For sentences that
        hit the pass limit this compares the last two stored graphs, so a repeated non-tree is missed.
    """

    n_sentences: int
    n_words: int
    n_unchanged: int


@dataclass(frozen=True)
class Refinement:
    """Analysis of the graphs 0 (initial) to T.

    n_sentences: Number of sentences.
    n_words: Number of words.
    uas: Unlabelled attachment score.
    las: Labelled attachment score.
    labels: Scores by universal label of the gold trees, ordered by total error reduction; None comes last.
    projective: Scores of sentences with projective gold trees.
    non_projective: Scores of sentences with non-projective gold trees.
    non_projective_arcs: Scores of arcs over a word that does not descend from the arc's head in its graph.
    changes: Changes by the iterations 1 to T.
    stopped: Sentences by number of passes from 0 to T.
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
        """Number T of iterations."""
        return len(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON. Rates are between 0 and 1, or None if their denominator is 0."""
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
