"""Analyze the changes that each iteration of refinement makes (Mohammadshahi & Henderson 2021).

Section 6.5 and appendix D of the paper measure refinement by relative error reduction (equation 8): the share
of a graph's errors that the next graph does not have. The tables show it for all words (Tables 4 and 12a),
for the F-score of each label (Tables 5 and 11), and for sentences with projective and non-projective gold
trees (Tables 6 and 12b). As in the CoNLL 2018 metrics, punctuation counts and labels have no subtypes.

Graphs are scored as they are. The paper decodes a tree from each iteration for this analysis. Here, arg-max
graphs between the iterations are scored as the next iteration read them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..evaluation.rates import error_reduction, percent, ratio, signed_percent
from ..formats.conllu import ConlluSentence
from ..formats.graph import Graph
from .error_analysis import Analysis, analyze_errors
from .error_rows import Row

#: Quantity, bin and metric of each score for which tables show error reductions, by name.
PARTS = {
    "UAS": ("overall", "compared", "UAS"),
    "LAS": ("overall", "compared", "LAS"),
    "LAS, projective trees": ("tree_projectivity", "projective", "LAS"),
    "LAS, non-projective trees": ("tree_projectivity", "non-projective", "LAS"),
    "F1, non-projective arcs": ("arc_projectivity", "non-projective", "f1"),
}
CHANGES = ("wrong_to_right", "right_to_wrong", "wrong_to_wrong")
ITERATION_HEADER = (
    *("Iteration", "UAS", "LAS", "Errors", "Wrong>right", "Right>wrong", "Wrong>wrong"),
    *("Stopped", "of words", "Unchanged"),
)


def analyze_refinement(
    gold: Sequence[ConlluSentence], graphs: Sequence[Sequence[Graph]], passes: Sequence[int]
) -> Analysis:
    """Analyze the graphs 0 (initial) to T of refinement as systems of these names.

    T is the maximum number of iterations of a sentence. Sentences with fewer iterations keep their last
    graph. The quantity "stopped" has the number of sentences and words that made as many passes, and of these
    the number of "unchanged" sentences, in which the last pass changed neither heads nor labels, subtypes
    included. For sentences at the limit of passes this compares the last two graphs, so it misses a repeated
    graph that is not a tree.

    gold: Sentences with complete gold trees.
    graphs: For each sentence the initial graph, then one for each iteration.
    passes: Number of iterations before refinement of each sentence stopped.
    """
    n_graphs = max(map(len, graphs))
    padded = [[*steps, *[steps[-1]] * (n_graphs - len(steps))] for steps in graphs]
    systems = {str(t): steps for t, steps in enumerate(zip(*padded, strict=True))}
    analysis = analyze_errors(gold, systems)
    table = np.zeros((n_graphs, 3), dtype=np.int64)
    for sentence, steps, t in zip(gold, graphs, passes, strict=True):
        unchanged = t > 0 and (
            t < max(passes) or _heads_and_labels(steps[t - 1]) == _heads_and_labels(steps[t])
        )
        table[t] += (1, len(sentence.words), unchanged)
    rows = []
    for name, (n_sentences, n_words, n_unchanged) in zip(systems, table.tolist(), strict=True):
        rows.append(Row(name, "stopped", "all", "sentences", n_sentences, len(gold)))
        rows.append(Row(name, "stopped", "all", "words", n_words, analysis.n_words))
        rows.append(Row(name, "stopped", "all", "unchanged", n_unchanged, n_sentences))
    return replace(analysis, rows=[*analysis.rows, *rows])


def _heads_and_labels(graph: Graph) -> tuple[list[int], list[str]]:
    return list(graph.heads), list(graph.deps)


def find_changes(analysis: Analysis) -> dict[str, list[int]]:
    """Return how many words each iteration changed in head or label, by the kind of change in CHANGES."""
    changes: dict[str, list[int]] = {kind: [] for kind in CHANGES}
    for before, now in pairwise(analysis.names):
        for kind, counts in changes.items():
            counts.append(int(analysis[now, "LAS_change", before, kind].value or 0))
    return changes


def find_scores(analysis: Analysis, part: tuple[str, str, str]) -> list[float | None]:
    """Return a score of each graph. A part is a quantity, bin and metric."""
    quantity, bin_, metric = part
    return [analysis[name, quantity, bin_, metric].value for name in analysis.names]


def find_reductions(scores: Sequence[float | None]) -> list[float | None]:
    """Return the relative error reduction of each graph against the graph before it."""
    return [error_reduction(before=before, after=after) for before, after in pairwise(scores)]


def find_stopped(analysis: Analysis, metric: str) -> list[float | None]:
    """Return the share of "sentences" or "words" whose refinement stopped with each graph."""
    rows = (analysis[name, "stopped", "all", metric] for name in analysis.names)
    return [ratio(int(row.value or 0), of=row.count) for row in rows]


def iteration_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each graph with the columns of ITERATION_HEADER."""
    uas, las = find_scores(analysis, PARTS["UAS"]), find_scores(analysis, PARTS["LAS"])
    changes = find_changes(analysis)
    unchanged = [analysis[name, "stopped", "all", "unchanged"].value for name in analysis.names]
    columns = [
        analysis.names,
        map(percent, uas),
        map(percent, las),
        ["", *map(signed_percent, find_reductions(las))],
        *(["", *map(str, changes[kind])] for kind in CHANGES),
        _shares(find_stopped(analysis, "sentences")),
        _shares(find_stopped(analysis, "words")),
        ["", *map(str, unchanged[1:])],
    ]
    return zip(*columns, strict=True)


def _shares(shares: Sequence[float | None]) -> list[str]:
    """Return shares in percent, 0.0 for None."""
    return [f"{100 * (share or 0):.1f}" for share in shares]


def reduction_header(analysis: Analysis) -> list[str]:
    """Return the titles of the columns of ``reduction_rows``."""
    return ["Errors by iteration", "Gold", "First", "Last", *analysis.names[1:], "Total"]


def reduction_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield error reductions of all words, by projectivity, and by label, the most reduced label first."""
    rows, labels = [], []
    parts = PARTS | {f"F1, {label}": ("label", label, "f1") for label in analysis.bins("label")}
    for name, (quantity, bin_, metric) in parts.items():
        n_gold = analysis["0", quantity, bin_, metric].count
        scores = find_scores(analysis, (quantity, bin_, metric))
        total = error_reduction(before=scores[0], after=scores[-1])
        reductions = map(signed_percent, (*find_reductions(scores), total))
        row = (name, str(n_gold), percent(scores[0]), percent(scores[-1]), *reductions)
        if name in PARTS:
            rows.append(row)
        elif n_gold:
            labels.append((total is None, -(total or 0.0), bin_, row))
    yield from (*rows, *(row for *_, row in sorted(labels)))
