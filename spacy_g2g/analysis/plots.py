"""Plots of evaluations. They import matplotlib (the extra ``plots``), or raise ImportError without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors
from ..files import atomic_path
from ..scored.reliability import Reliability
from .error_analysis import Analysis
from .iterations import PARTS, find_changes, find_reductions, find_scores, find_stopped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors that color-blind readers can tell apart (Okabe & Ito 2008), each with a marker.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SYSTEM_STYLES = tuple(zip(COLORS, "osD^vPX", strict=True))
#: Text is not parsed as formulas, and the same figure gives the same SVG.
RC_PARAMS: Any = {"text.parse_math": False, "svg.hashsalt": "spacy-g2g", "svg.fonttype": "none"}
METADATA: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}}


def check_matplotlib() -> None:
    """Raise an ImportError that says what to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(Errors.E611.format(error=error)) from error


@contextmanager
def _figure(width: float, height: float, target: Path | StringIO) -> Iterator[Figure]:
    """Give an empty figure of this size in inches, and save it when it is drawn: to a file, or as SVG."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        if isinstance(target, Path):
            with atomic_path(target) as path:
                figure.savefig(path, format=target.suffix[1:], dpi=150, metadata=METADATA[target.suffix])
        else:
            figure.savefig(target, format="svg", metadata=METADATA[".svg"])


def plot_refinement(analysis: Analysis, path: Path) -> None:
    """Draw an analysis of refinement to a .png or .svg file.

    The panels show UAS and LAS of each graph; the relative error reduction of each iteration, for all words
    and by projectivity of the gold tree; words that each iteration changed; sentences and words by number of
    passes; and the F-score of each label in each graph.
    """
    scores = {name: find_scores(analysis, part) for name, part in PARTS.items()}
    rates = {name: _percent(scores[name]) for name in ("UAS", "LAS")}
    reductions = {name: _percent(find_reductions(scores[name])) for name in PARTS if name.startswith("LAS")}
    changes = {name.replace("_", " "): counts for name, counts in find_changes(analysis).items()}
    stopped = {metric: _percent(find_stopped(analysis, metric)) for metric in ("sentences", "words")}
    graphs = analysis.names
    with _figure(13, 8, path) as figure:
        panels = figure.subplot_mosaic([["scores", "errors", "labels"], ["changes", "stopped", "labels"]])
        for name, series, ticks, title, x_label, y_label in (
            ("scores", rates, graphs, "Scores", "iteration (0 is the initial graph)", "% of words"),
            ("errors", reductions, graphs[1:], "LAS errors", "iteration", "relative error reduction (%)"),
            ("changes", changes, graphs[1:], "Words with another head or label", "iteration", "words"),
            ("stopped", stopped, graphs, "Refinement stopped after", "passes", "%"),
        ):
            _plot_lines(panels[name], series, ticks)
            panels[name].set(title=title, xlabel=x_label, ylabel=y_label)
            panels[name].legend(loc="best")
        _plot_labels(panels["labels"], analysis)
        panels["labels"].legend(loc="best", title="iteration")


def plot_reliability(kinds: Mapping[str, Reliability], path: Path) -> None:
    """Draw a reliability diagram to a .png or .svg file: a panel for each kind of prediction."""
    with _figure(4.5 * len(kinds), 4.5, path) as figure:
        panels = figure.subplots(1, len(kinds), squeeze=False)[0]
        for axes, (name, bins) in zip(panels, kinds.items(), strict=True):
            is_filled = bins.counts > 0
            probs, shares = 100 * bins.probs[is_filled], 100 * bins.counts[is_filled] / bins.counts.sum()
            axes.plot([0, 100], [0, 100], color="#999999", linestyle=":")
            axes.bar(probs, shares, 4, color=COLORS[5], alpha=0.5)
            axes.plot(probs, 100 * bins.rates[is_filled], marker="o", color=COLORS[0])
            title = f"{name}: error {100 * bins.error:.2f} %"
            axes.set(title=title, xlabel="probability, %", ylabel="right, %")


def plot_bins(analysis: Analysis) -> str:
    """Plot F1 by dependency length and distance to the root, and LAS by sentence length, of all systems.

    The plot follows Figure 3 of Mohammadshahi & Henderson (2020, 2021). The number of gold words is printed
    below each bin. A rate with a denominator of 0 is a gap in its line. Returns an SVG picture.
    """
    panels = (
        ("dependency_length", "f1", "labeled F1 (%)", "dependency length"),
        ("distance_to_root", "f1", "labeled F1 (%)", "distance to the root"),
        ("sentence_length", "LAS", "LAS (%)", "sentence length"),
    )
    svg = StringIO()
    with _figure(15, 4.8, svg) as figure:
        for axes, (quantity, metric, y_label, x_label) in zip(figure.subplots(1, 3), panels, strict=True):
            bins, series = analysis.bins(quantity), {}
            for name in analysis.names:
                series[name] = _percent([analysis[name, quantity, bin_, metric].value for bin_ in bins])
            counts = [analysis[analysis.names[0], quantity, bin_, metric].count for bin_ in bins]
            _plot_lines(axes, series, [f"{bin_}\n{n:,}" for bin_, n in zip(bins, counts, strict=True)])
            axes.tick_params(axis="x", labelsize=8)
            axes.set(xlabel=f"{x_label} (below: gold words)", ylabel=y_label)
        _add_legend(figure, axes)
    return svg.getvalue()


def plot_label_scores(analysis: Analysis) -> str:
    """Plot the F1 of each gold label for all systems, the most frequent label first. Returns an SVG."""
    svg = StringIO()
    with _figure(9, 1.5 + 0.26 * len(_gold_labels(analysis)), svg) as figure:
        axes = figure.subplots()
        _plot_labels(axes, analysis)
        _add_legend(figure, axes)
    return svg.getvalue()


def _plot_lines(axes: Axes, series: Mapping[str, Sequence[float]], ticks: Sequence[str]) -> None:
    """Draw a line for each series of values over the ticks. A value that is not a number is a gap."""
    for (name, values), (color, marker) in zip(series.items(), cycle(SYSTEM_STYLES), strict=False):
        axes.plot(range(len(values)), values, marker=marker, color=color, markersize=5, label=name)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.grid(axis="y", alpha=0.3)


def _plot_labels(axes: Axes, analysis: Analysis) -> None:
    """Draw the F1 of each gold label, a dot for each system."""
    labels = _gold_labels(analysis)
    spread = 0.5 / len(analysis.names)
    for i, (name, (color, marker)) in enumerate(zip(analysis.names, cycle(SYSTEM_STYLES), strict=False)):
        places = [place + (i - (len(analysis.names) - 1) / 2) * spread for place in range(len(labels))]
        values = _percent([analysis[name, "label", label, "f1"].value for label in labels])
        axes.plot(values, places, marker, color=color, markersize=5, label=name)
    axes.set_yticks(range(len(labels)), [f"{label} ({count:,})" for label, count in labels.items()])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(alpha=0.3)
    axes.set(xlabel="labeled F1 (%)", ylabel="label (gold words)")


def _gold_labels(analysis: Analysis) -> dict[str, int]:
    """Return the number of gold words with each label that has any."""
    rows = (analysis[analysis.names[0], "label", label, "recall"] for label in analysis.bins("label"))
    return {row.bin: row.count for row in rows if row.count}


def _add_legend(figure: Figure, axes: Axes) -> None:
    """Write the systems of one panel above all panels."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)), frameon=False)


def _percent(rates: Iterable[float | None]) -> list[float]:
    """Return rates in percent. None becomes not-a-number, which leaves a gap."""
    return [float("nan") if rate is None else 100 * rate for rate in rates]
