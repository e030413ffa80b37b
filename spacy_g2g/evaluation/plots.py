"""Plots of evaluations. They need matplotlib (the extra ``plots``), which is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors
from .calibration import Reliability
from .error_analysis import Analysis
from .refinement_scores import Refinement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that colour-blind readers can tell apart (Okabe & Ito 2008).
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"
PURPLE, SKY = "#CC79A7", "#56B4E9"
#: A colour and a marker for each system, repeated after the seventh.
SYSTEM_COLOURS, SYSTEM_MARKERS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, "#000000"), "osD^vPX"
#: Text is not parsed as formulas, and the same figure gives the same SVG.
STYLE: Any = {"text.parse_math": False, "svg.hashsalt": "spacy-g2g", "svg.fonttype": "none"}
METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}}


def check_matplotlib() -> None:
    """Raise an ImportError that says what to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(Errors.E611.format(error=error)) from error


@contextmanager
def _figure(width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure of this size in inches, and the style to draw and save it in."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def plot_refinement(analysis: Refinement, path: Path, file_format: str) -> None:
    """Draw an analysis of refinement to a file.

    The panels show UAS and LAS of each graph; the relative error reduction of each iteration, for all words
    and by projectivity of the gold tree; words that each iteration changed; sentences and words by number of
    passes; and the total error reduction in the F-score of each label.

    analysis: Analysis to draw.
    path: File to write.
    file_format: "png" or "svg".
    Raises ImportError if matplotlib is missing.
    """
    with _figure(13, 8) as figure:
        panels = figure.subplot_mosaic([["scores", "errors", "labels"], ["changes", "passes", "labels"]])
        _plot_scores(panels["scores"], analysis)
        _plot_errors(panels["errors"], analysis)
        _plot_changes(panels["changes"], analysis)
        _plot_passes(panels["passes"], analysis)
        _plot_labels(panels["labels"], analysis)
        figure.savefig(path, format=file_format, dpi=150, metadata=METADATA[file_format])


def plot_reliability(found: Mapping[str, Reliability], path: Path, file_format: str) -> None:
    """Draw a reliability diagram to a file: a panel for each kind of prediction.

    found: Predictions in bins, by the kind's name.
    path: File to write.
    file_format: "png" or "svg".
    Raises ImportError if matplotlib is missing.
    """
    with _figure(4.5 * len(found), 4.5) as figure:
        panels = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, (name, of) in zip(panels, found.items(), strict=True):
            shown = of.counts > 0
            axes.plot([0, 100], [0, 100], color=GREY, linestyle=":")
            axes.bar(100 * of.probs[shown], 100 * of.counts[shown] / of.counts.sum(), 4, color=SKY, alpha=0.5)
            axes.plot(100 * of.probs[shown], 100 * of.rates[shown], marker="o", color=BLUE)
            axes.set(
                title=f"{name}: error {100 * of.error:.2f} %", xlabel="probability, %", ylabel="right, %"
            )
        figure.savefig(path, format=file_format, dpi=150, metadata=METADATA[file_format])


def _plot_scores(axes: Axes, analysis: Refinement) -> None:
    for name, curve, colour in (("UAS", analysis.uas, ORANGE), ("LAS", analysis.las, BLUE)):
        axes.plot(range(len(curve.scores)), _percent(curve.scores), marker="o", color=colour, label=name)
    axes.set(title="Scores", xlabel="iteration (0 is the initial graph)", ylabel="% of words")
    axes.set_xticks(range(analysis.n_iterations + 1))
    axes.margins(y=0.15)
    axes.legend(loc="lower right")


def _plot_errors(axes: Axes, analysis: Refinement) -> None:
    series = {
        "all": (_percent(analysis.las.reductions), GREY),
        "projective trees": (_percent(analysis.projective.las.reductions), BLUE),
        "non-projective trees": (_percent(analysis.non_projective.las.reductions), RED),
    }
    _bars(axes, series, first=1)
    axes.set(title="LAS errors", xlabel="iteration", ylabel="relative error reduction (%)")


def _plot_changes(axes: Axes, analysis: Refinement) -> None:
    series = {
        "wrong to right": ([float(changes.wrong_to_right) for changes in analysis.changes], GREEN),
        "right to wrong": ([float(changes.right_to_wrong) for changes in analysis.changes], RED),
        "wrong to wrong": ([float(changes.wrong_to_wrong) for changes in analysis.changes], GREY),
    }
    _bars(axes, series, first=1)
    axes.set(title="Words with another head or label", xlabel="iteration", ylabel="words")


def _plot_passes(axes: Axes, analysis: Refinement) -> None:
    n_sentences, n_words = max(analysis.n_sentences, 1), max(analysis.n_words, 1)
    series = {
        "sentences": ([100 * row.n_sentences / n_sentences for row in analysis.stopped], BLUE),
        "words": ([100 * row.n_words / n_words for row in analysis.stopped], ORANGE),
    }
    _bars(axes, series, first=0)
    axes.set(title="Refinement stopped after", xlabel="passes", ylabel="%")


def _plot_labels(axes: Axes, analysis: Refinement) -> None:
    totals = {label: scores.f1.total for label, scores in analysis.labels.items()}
    names = [label for label, total in totals.items() if total is not None]
    values = _percent([totals[name] for name in names])
    axes.barh(names, values, color=[GREEN if value >= 0 else RED for value in values])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), [f"{name} ({analysis.labels[name].n_gold:,})" for name in names])
    axes.margins(y=0.01)
    if values and min(values) < -100:  # A rare label would squeeze the others; no gain exceeds 100.
        axes.set_xlim(left=-100)
    axes.set(title="Labels (gold arcs)", xlabel="error reduction of F1, 0 to last (%)")


def plot_bins(analysis: Analysis) -> str:
    """Plot F1 by dependency length and distance to the root, and LAS by sentence length, of all systems.

    The plot follows Figure 3 of Mohammadshahi & Henderson (2020, 2021). The number of gold words is printed
    below each bin. A rate with a denominator of 0 is a gap in its line.

    analysis: Analysis to draw.
    Returns an SVG picture.
    Raises ImportError if matplotlib is missing.
    """
    panels = (
        ("dependency_length", "f1", "labelled F1 (%)", "dependency length"),
        ("distance_to_root", "f1", "labelled F1 (%)", "distance to the root"),
        ("sentence_length", "LAS", "LAS (%)", "sentence length"),
    )
    with _figure(15, 4.8) as figure:
        for axes, (quantity, metric, y_label, x_label) in zip(figure.subplots(1, 3), panels, strict=True):
            for tables, (colour, marker) in zip(analysis.tables.values(), _system_styles(), strict=False):
                bins = tables[quantity]
                values = _percent([measures[metric].value for measures in bins.values()])
                axes.plot(range(len(bins)), values, marker=marker, color=colour, markersize=5)
            axes.set_xticks(
                range(len(bins)), [f"{name}\n{measures[metric].count:,}" for name, measures in bins.items()]
            )
            axes.tick_params(axis="x", labelsize=8)
            axes.grid(axis="y", alpha=0.3)
            axes.set(xlabel=f"{x_label} (below: gold words)", ylabel=y_label)
        return _finish(figure, analysis)


def plot_label_scores(analysis: Analysis) -> str:
    """Plot the F1 of each gold label for all systems, the most frequent label first.

    analysis: Analysis to draw.
    Returns an SVG picture.
    Raises ImportError if matplotlib is missing.
    """
    tables = [table["label"] for table in analysis.tables.values()]
    n_gold = {label: measures["f1"].count for label, measures in tables[0].items()}
    labels = [label for label, n in n_gold.items() if n]
    spread = 0.5 / len(tables)
    with _figure(9, 1.5 + 0.26 * len(labels)) as figure:
        axes = figure.subplots()
        for i, (table, (colour, marker)) in enumerate(zip(tables, _system_styles(), strict=False)):
            rows = [row + (i - (len(tables) - 1) / 2) * spread for row in range(len(labels))]
            values = _percent([table[label]["f1"].value for label in labels])
            axes.plot(values, rows, marker, color=colour, markersize=5)
        axes.set_yticks(range(len(labels)), [f"{label} ({n_gold[label]:,})" for label in labels])
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.grid(alpha=0.3)
        axes.set(xlabel="labelled F1 (%)", ylabel="label (gold words)")
        return _finish(figure, analysis)


def _system_styles() -> cycle[tuple[str, str]]:
    return cycle(zip(SYSTEM_COLOURS, SYSTEM_MARKERS, strict=True))


def _finish(figure: Figure, analysis: Analysis) -> str:
    """Return the figure as SVG, with a legend of the systems above all panels."""
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=colour, marker=marker, label=name)
        for name, (colour, marker) in zip(analysis.names, _system_styles(), strict=False)
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=min(4, len(keys)), frameon=False)
    svg = StringIO()
    figure.savefig(svg, format="svg", metadata=METADATA["svg"])
    return svg.getvalue()


def _bars(axes: Axes, series: dict[str, tuple[list[float], str]], first: int) -> None:
    """Draw groups of bars side by side.

    axes: Panel to draw in.
    series: Values and colour by name.
    first: Number of the first group.
    """
    width = 0.8 / len(series)
    n_groups = 0
    for i, (name, (values, colour)) in enumerate(series.items()):
        n_groups = len(values)
        shift = (i - (len(series) - 1) / 2) * width
        axes.bar([first + j + shift for j in range(n_groups)], values, width, color=colour, label=name)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(first, first + n_groups))
    axes.margins(y=0.3)  # Room for the legend.
    axes.legend(loc="best")


def _percent(rates: Sequence[float | None]) -> list[float]:
    """Return rates in percent. None becomes not-a-number, which leaves a gap."""
    return [float("nan") if rate is None else 100 * rate for rate in rates]
