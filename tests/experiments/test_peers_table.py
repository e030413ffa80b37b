"""The table of `experiments.peers`."""

from typing import Any

import pytest

from experiments.peers.table import make_table, markdown


def known(las: float, seconds: float = 1.0, seed: int = 0, error: str | None = None) -> dict[str, Any]:
    scores = {"UAS": las + 2, "LAS": las, "CLAS": las - 3}
    facts = {"load": 0.5, "versions": {"torch": "2"}, "peak_mib": 512.0}
    parsed = {"scores": scores, "seconds": [seconds + 1, seconds], "cpu_seconds": [seconds / 2, seconds]}
    parsed |= {"words": 1000, "parameters": 23_000_000, **facts}
    trained = {"minutes": 6.0, "cpu_minutes": 5.0, "steps": 10, **facts}
    both = {"train": None, "dev": None} if error else {"train": trained, "dev": parsed}
    return {**both, "gum": both["dev"], "ewt": None, "seed": seed, "bytes": 91_000_000, "error": error}


HARDWARE = {"processor": "P", "cores": 2, "threads": 1}
SETUP = {"train": "train.conllu", "sentences": 2000, "epochs": 10, "dev": "dev.conllu", "test": []}
SETUP |= {"hardware": HARDWARE}
TITLES = {"spacy": "spaCy", "supar": "SuPar", "g2g": "ours"}


def test_best_settings_are_chosen_by_their_mean_over_seeds():
    las = {"own": (80.0, 90.0), "shared": (86.0, 86.0)}
    models = {("spacy", name, i): known(las[name][i], seed=i) for name in las for i in (0, 1)}
    rows = make_table(TITLES, models | {("supar", "shared", 0): known(0.0, error="no")}, SETUP)["rows"]
    assert list(rows) == ["spacy", "supar"]
    assert rows["spacy"]["settings"] == "shared"
    assert rows["spacy"]["tried"]["own"]["dev"]["LAS"] == {"mean": 85.0, "values": [80.0, 90.0]}
    assert rows["spacy"]["words_per_second"]["mean"] == 1000.0
    assert (rows["supar"]["dev"], rows["supar"]["errors"]) == (None, ["no"])


@pytest.mark.parametrize(
    ("las", "seconds", "scored", "timed"),
    [
        (86.0, 0.5, "met, +1.00", "met, 2.00"),
        (85.0, 1.0, "met, +0.00", "met, 1.00"),
        (84.5, 2.0, "**missed**, -0.50", "**missed**, 0.50"),
    ],
)
def test_bars_are_told_as_met_or_missed(las: float, seconds: float, scored: str, timed: str):
    models = {("spacy", "own", 0): known(80.0), ("supar", "shared", 0): known(85.0)}
    assert make_table(TITLES, models, SETUP)["bars"] == []
    bars = make_table(TITLES, models | {("g2g", "shared", 0): known(las, seconds)}, SETUP)["bars"]
    times = f"{timed} times its, {timed.split()[1]} times by processor time"
    assert [bar.split(": ")[1] for bar in bars] == [f"{scored} to SuPar", times]


def test_markdown_has_a_row_for_each_peer_and_what_failed_below():
    models = {
        ("spacy", "own", 0): known(80.0, seed=0),
        ("spacy", "own", 1): known(80.5, seed=1),
        ("supar", "shared", 0): known(0.0, error="exit status 1: no wheel"),
        ("g2g", "shared", 0): known(85.0, 0.25),
    }
    lines = markdown(make_table(TITLES, models, SETUP)).splitlines()
    assert lines[0] == "## train.conllu, 2,000 sentences, 10 epochs; scored on dev.conllu; P, 1 thread(s)"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    spacy, ours = (dict(zip(cells[0], row, strict=True)) for row in cells[2:4])
    assert (spacy[""], spacy["LAS"], ours["LAS"]) == ("spaCy", "80.25 (80.00, 80.50)", "85.00")
    shown = {"dev UAS": "87.00", "CLAS": "82.00", "words/s": "4,000", "settings": "shared"}
    shown |= {"parameters, million": "23.0", "on disk, MB": "91"}
    assert {heading: ours[heading] for heading in shown} == shown
    assert not any("gum" in heading for heading in cells[0])
    assert "- SuPar **failed**: exit status 1: no wheel" in lines
    assert [row[:2] for row in cells[6:]] == [["spaCy", "own"], ["SuPar", "shared"], ["ours", "shared"]]


def test_other_files_have_a_column_each():
    models = {("spacy", "own", seed): known(80.0 + seed, seed=seed) for seed in (0, 1)}
    lines = markdown(make_table(TITLES, models, {**SETUP, "test": ["gum", "ewt"]})).splitlines()
    head, _, row = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:5])
    assert dict(zip(head, row, strict=True))["gum LAS"] == "80.50 (80.00, 81.00)"
    assert dict(zip(head, row, strict=True))["ewt LAS"] == "-"
    assert head[3:7] == ["CLAS", "gum LAS", "ewt LAS", "words/s"]
