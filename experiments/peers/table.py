"""Table of peers: figures by peer, means over seeds, and whether the targets are met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from project.markdown import markdown_table

from ..table.report import comparison_line, mean_and_values

METRICS = ("UAS", "LAS", "CLAS")
#: Peer that is compared with all others, and peer whose speed is its target.
OURS, FAST_ENOUGH = "g2g", "spacy"

#: Facts about models (see `collect`), by peer, settings and seed.
Models = Mapping[tuple[str, str, int], Mapping[str, Any]]
Figures = Mapping[str, Any]


def make_table(titles: Mapping[str, str], models: Models, setup: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for each peer, of its settings with the best LAS on dev, and the figures of all settings.

    titles: Titles of the peers.
    models: Facts about models.
    setup: Data and hardware.
    """
    rows = {}
    for name, title in titles.items():
        tried: dict[str, list[Mapping[str, Any]]] = {}
        for (peer, settings, _), model in models.items():
            if peer == name:
                tried.setdefault(settings, []).append(model)
        if tried:
            entries = {settings: summary(trained, setup["test"]) for settings, trained in tried.items()}
            best = max(entries, key=lambda settings: las_of(entries[settings]))
            rows[name] = {"title": title, "settings": best, **entries[best], "tried": entries}
    return {"setup": dict(setup), "rows": rows, "bars": bars(rows), "comparisons": {}}


def las_of(entry: Figures) -> float:
    """Return LAS on dev in percent; -1 if it is not known."""
    return float(entry["dev"]["LAS"]["mean"]) if entry["dev"] else -1.0


def summary(models: Sequence[Mapping[str, Any]], test: Sequence[str]) -> dict[str, Any]:
    """Return the figures of one peer with the same settings: the values of seeds and their mean.

    models: Facts about the models of all seeds.
    test: Names of the files beside dev that were parsed.
    """
    trained = [model["train"] for model in models if model["train"]]
    parsed = [model for model in models if model["train"] and model["dev"]]
    dev = [model["dev"] for model in parsed]
    tests = {}
    for name in test:
        tests[name] = scores([model[name] for model in models if model[name]])
    errors = [model["error"] for model in models if model["error"]]
    load = {"training": values(trained, "load"), "parsing": values(dev, "load")}
    return {
        "seeds": values(parsed, "seed"),
        "dev": scores(dev),
        "test": tests,
        "words_per_second": mean_and_values(speeds(dev, "seconds")),
        "words_per_cpu_second": mean_and_values(speeds(dev, "cpu_seconds")),
        "minutes": mean_and_values(values(trained, "minutes")),
        "cpu_minutes": mean_and_values(values(trained, "cpu_minutes")),
        "training_mib": mean_and_values(values(trained, "peak_mib")),
        "parsing_mib": mean_and_values(values(dev, "peak_mib")),
        "parameters": dev[0]["parameters"] if dev else None,
        "bytes": parsed[0]["bytes"] if parsed else None,
        "steps": trained[0].get("steps") if trained else None,
        "versions": (dev or trained or [{}])[0].get("versions", {}),
        "load": load,
        "errors": errors,
    }


def values(facts: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """Return a fact about each model."""
    return [model[key] for model in facts]


def scores(results: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return metrics in percent; None for no results."""
    if not results:
        return None
    tables = values(results, "scores")
    return {metric: mean_and_values(values(tables, metric)) for metric in METRICS}


def speeds(results: Sequence[Mapping[str, Any]], unit: str) -> list[float]:
    """Return words a second in the best run of each model; unit: "seconds" or "cpu_seconds"."""
    return [float(result["words"] / min(result[unit])) for result in results]


def bars(rows: Mapping[str, Figures]) -> list[str]:
    """Return a line for each target, which says whether it is met."""
    ours = rows.get(OURS)
    if ours is None or not ours["dev"]:
        return []
    lines = []
    peers = {name: row for name, row in rows.items() if name != OURS and row["dev"]}
    if peers:
        best = max(peers, key=lambda name: las_of(peers[name]))
        gap = las_of(ours) - las_of(peers[best])
        lines.append(f"LAS at or above every peer: {verdict(gap)}, {gap:+.2f} to {peers[best]['title']}")
    if FAST_ENOUGH in peers:
        units = ("words_per_second", "words_per_cpu_second")
        ratio, cpu = (ours[unit]["mean"] / peers[FAST_ENOUGH][unit]["mean"] for unit in units)
        lines.append(
            f"words/s at or above {peers[FAST_ENOUGH]['title']}: {verdict(ratio - 1)}, "
            f"{ratio:.2f} times its, {cpu:.2f} times by processor time"
        )
    return lines


def verdict(margin: float) -> str:
    return "met" if margin >= 0 else "**missed**"


# Text


def markdown(table: Mapping[str, Any]) -> str:
    """Return the table, failures, targets and all settings that were tried."""
    setup, rows = table["setup"], table["rows"]
    lines = [f"## {describe(setup)}", ""]
    done = {name: row for name, row in rows.items() if row["dev"]}
    tests = {f"{name} LAS": _test_las(name) for name in setup["test"]}
    columns = {**SCORES, **tests, **COSTS}
    cells = [fill_row(row, columns) for row in done.values()]
    lines += [markdown_table([list(columns), *cells]), ""] if cells else []
    for row in rows.values():
        errors = chain.from_iterable(entry["errors"] for entry in row["tried"].values())
        lines += [f"- {row['title']} **failed**: {error}" for error in dict.fromkeys(errors)]
    lines += [f"- {bar}" for bar in table["bars"]]
    for part, comparisons in table["comparisons"].items():
        for name, comparison in comparisons.items():
            line = comparison_line(f"{part}: ours", other=rows[name]["title"], comparison=comparison)
            lines.append(line)
    lines += ["", *tried_lines(rows), ""]
    return "\n".join(lines)


def fill_row(row: Figures, columns: Mapping[str, Callable[[Figures], str]]) -> list[str]:
    return [fill(row) for fill in columns.values()]


def describe(setup: Mapping[str, Any]) -> str:
    n = f"{setup['sentences']:,} sentences" if setup["sentences"] else "all sentences"
    hardware = setup["hardware"]
    device = f"{hardware.get('gpu') or hardware['processor']}, {hardware['threads']} thread(s)"
    return f"{setup['train']}, {n}, {setup['epochs']} epochs; scored on {setup['dev']}; {device}"


def tried_lines(rows: Mapping[str, Figures]) -> list[str]:
    """Return the lines of a table of all settings and versions."""
    head = ["", "settings", "updates", "dev LAS", "training, min", "versions"]
    cells = []
    for row in rows.values():
        for settings, entry in row["tried"].items():
            versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
            las = number(entry["dev"] and entry["dev"]["LAS"], 2)
            minutes, steps = number(entry["minutes"], 1), str(entry["steps"] or "-")
            cells.append([row["title"], settings, steps, las, minutes, versions or "-"])
    return [markdown_table([head, *cells])] if cells else []


def number(value: Figures | None, digits: int, scale: float = 1.0) -> str:
    """Return a mean, with the values of seeds if there are several; "-" for None."""
    if value is None:
        return "-"
    shown = f"{scale * value['mean']:,.{digits}f}"
    if len(value["values"]) > 1:
        shown += f" ({', '.join(f'{scale * v:,.{digits}f}' for v in value['values'])})"
    return shown


def _score(metric: str) -> Callable[[Figures], str]:
    return lambda row: number(row["dev"][metric], 2)


def _test_las(name: str) -> Callable[[Figures], str]:
    return lambda row: number(row["test"][name] and row["test"][name]["LAS"], 2)


#: Columns by heading: functions that fill the cell of a row. Those of the files of --test are between them.
SCORES: Mapping[str, Callable[[Figures], str]] = {
    "": lambda row: str(row["title"]),
    **{f"dev {metric}" if metric == "UAS" else metric: _score(metric) for metric in METRICS},
}
COSTS: Mapping[str, Callable[[Figures], str]] = {
    "words/s": lambda row: number(row["words_per_second"], 0),
    "words/s of the processor": lambda row: number(row["words_per_cpu_second"], 0),
    "training, min": lambda row: number(row["minutes"], 1),
    "of the processor": lambda row: number(row["cpu_minutes"], 1),
    "peak memory, training, MiB": lambda row: number(row["training_mib"], 0),
    "parsing, MiB": lambda row: number(row["parsing_mib"], 0),
    "parameters, million": lambda row: f"{row['parameters'] / 1e6:.1f}",
    "on disk, MB": lambda row: f"{row['bytes'] / 1e6:.0f}",
    "settings": lambda row: str(row["settings"]),
}
