"""Tables of systems: scores and comparisons as JSON and as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from project.markdown import markdown_table
from spacy_g2g.evaluation.bootstrap import paired_bootstrap

from .scores import METRICS, Counts, score

Entry = Mapping[str, Any]


def make_table(gold: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return scores and comparisons of all systems on a file; None for those that cannot parse it yet.

    Arguments are those of ``score``.
    """
    systems = args.table.systems
    counts: dict[str, dict[int, Counts]] = {}
    for name in systems:
        results = {seed: score(name, seed, gold, args) for seed in args.seeds}
        counts[name] = {seed: result for seed, result in results.items() if result is not None}
    table: dict[str, Any] = dict.fromkeys(systems)
    for name, seeds in counts.items():
        if seeds:
            against = {other: compare(seeds, other=counts[other]) for other in systems[name].against}
            published = args.table.figures(name, start=args.start, n_layers=args.layers)
            table[name] = summary(seeds) | {"against": against, "published": published}
    return table


def summary(seeds: Mapping[int, Counts]) -> dict[str, Any]:
    """Return scores and shares between 0 and 1, passes and times, as a mean and for each seed."""
    counts = list(seeds.values())
    n_words = sum(counts[0]["words"])
    values = {}
    for metric in METRICS:
        values[metric] = [sum(c[metric]) / n_words for c in counts]
    for metric in ("non_projective_uas", "non_projective_las"):
        values[metric] = [c[metric] / c["non_projective"] for c in counts if c["non_projective"]]
    parsed = [c for c in counts if "seconds" in c]
    values["minutes"] = [c["training"]["minutes"] for c in parsed if "minutes" in c["training"]]
    values["seconds"] = [c["seconds"] for c in parsed]
    values["outside_encoder"] = [1 - c["encoder_seconds"] / c["seconds"] for c in parsed]
    values["passes_per_word"] = [c["passes"] / n_words for c in parsed]
    values["calls"] = [c["calls"] for c in parsed]
    refined = [c for c in parsed if c["iterations"]]
    values["iterations"] = [float(np.average(c["iterations"], weights=c["words"])) for c in refined]
    figures = {key: mean_and_values(numbers) for key, numbers in values.items()}
    return {
        "seeds": list(seeds),
        **figures,
        "non_projective": counts[0]["non_projective"],
        "words": n_words,
        "threads": [c["threads"] for c in parsed],
        "parameters": counts[0].get("parameters", {}),
    }


def mean_and_values(values: Sequence[float]) -> dict[str, Any] | None:
    """Return the numbers of several seeds and their mean; None for no numbers."""
    return {"mean": sum(values) / len(values), "values": values} if values else None


def compare(system: Mapping[int, Counts], *, other: Mapping[int, Counts]) -> dict[str, Any] | None:
    """Compare the LAS of two systems by the paired bootstrap over the sentences of all seeds.

    system: Counts by seed.
    other: Counts of the system that it is compared with.
    Returns the comparison; None if no seed is in both.
    """
    seeds = [seed for seed in system if seed in other]
    if not seeds:
        return None
    a = np.sum([other[seed]["las"] for seed in seeds], axis=0)
    b = np.sum([system[seed]["las"] for seed in seeds], axis=0)
    words = np.array(system[seeds[0]]["words"])
    values = [(sum(system[s]["las"]) - sum(other[s]["las"])) / int(words.sum()) for s in seeds]
    return {
        "seeds": seeds,
        **asdict(paired_bootstrap(a, correct_b=b, totals=words * len(seeds))),
        "values": values,
    }


def percent(score: Entry | None) -> str:
    """Return a mean in percent, with the values of seeds if there are several; "-" for None."""
    if score is None:
        return "-"
    values = [f"{100 * value:.2f}" for value in score["values"]]
    return f"{100 * score['mean']:.2f}" + (f" ({', '.join(values)})" if len(values) > 1 else "")


def mean(key: str, *, form: str) -> Callable[[Entry], str]:
    """Return a function that formats a mean of an entry; "-" for None."""
    return lambda entry: form.format(entry[key]["mean"]) if entry[key] else "-"


#: Columns of the Markdown table by heading: functions that fill the cell of an entry.
COLUMNS: Mapping[str, Callable[[Entry], str]] = {
    "UAS": lambda e: percent(e["uas"]),
    "LAS": lambda e: percent(e["las"]),
    "LAS with subtypes": lambda e: percent(e["las_subtypes"]),
    "paper's UAS": lambda e: f"{e['published']['uas']:.2f}" if e["published"] else "-",
    "paper's LAS (layers)": lambda e: (
        f"{e['published']['las']:.2f} ({e['published']['layers']})" if e["published"] else "-"
    ),
    "non-projective heads": lambda e: percent(e["non_projective_uas"]),
    "and labels": lambda e: percent(e["non_projective_las"]),
    "refiner's passes": mean("iterations", form="{:.2f}"),
    "training, min": mean("minutes", form="{:.1f}"),
    "parsing, s": mean("seconds", form="{:.1f}"),
    "threads": lambda e: ", ".join(str(n) for n in sorted(set(e["threads"]))) or "-",
    "encoder passes per word": mean("passes_per_word", form="{:.3f}"),
    "encoder calls": mean("calls", form="{:,.0f}"),
    "time outside encoder": lambda e: (
        f"{100 * e['outside_encoder']['mean']:.1f}%" if e["outside_encoder"] else "-"
    ),
    "parameters": lambda e: f"{sum(e['parameters'].values()):,}" if e["parameters"] else "-",
}


def markdown(table: Mapping[str, Entry | None], title: str) -> str:
    """Return a table, what is missing in it, and a list of comparisons. Empty columns are left out."""
    rows = {name: entry for name, entry in table.items() if entry is not None}
    missing = [name for name, entry in table.items() if entry is None]
    lines = [f"## {title}", ""]
    if rows:
        entry = next(iter(rows.values()))
        crossed = f"{entry['non_projective']:,} have non-projective arcs"
        lines += [f"{entry['words']:,} words, of which {crossed}.", ""]
        cells = {}
        for heading, fill in COLUMNS.items():
            column = [fill(entry) for entry in rows.values()]
            if set(column) != {"-"}:
                cells[heading] = column
        body = zip(rows, *cells.values(), strict=True)
        lines += [markdown_table([("system", *cells), *body]), ""]
    if missing:
        lines += [f"Not trained yet: {', '.join(missing)}.", ""]
    compared = []
    for name, entry in rows.items():
        for other, comparison in entry["against"].items():
            if comparison:
                compared.append(comparison_line(name, other=other, comparison=comparison))
    if compared:
        lines += [*compared, ""]
    return "\n".join(lines)


def comparison_line(name: str, *, other: str, comparison: Entry) -> str:
    """Return a comparison of two systems as an item of a list."""
    difference, low, high = (f"{100 * comparison[key]:+.2f}" for key in ("difference", "low", "high"))
    p_value = f"p {comparison['p_value']:.4f}"
    return f"- {name} to {other}: {difference} LAS, 95% interval {low} to {high}, {p_value}"
