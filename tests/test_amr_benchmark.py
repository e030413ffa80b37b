"""`benchmarks/amr_oracle.py` prints a row for each part of the files."""

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILE = """# ::id a.1
# ::snt The boy wants to sleep.
(w / want-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))

# ::id a.2
# ::snt The girl is unseen.
(s / see-01 :polarity - :ARG1 (g / girl :wiki -))
"""


def test_the_oracle_of_small_files_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "amr.txt"
    path.write_text(FILE, encoding="utf8")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        benchmark = importlib.import_module("amr_oracle")
    finally:
        sys.path.pop(0)
    parts = [f"{path}:one=a.1", f"{path}:all", str(path)]
    benchmark.main([*parts, "--split", "all", "--output", str(tmp_path / "out")])
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf8"))
    assert [(row["part"], row["graphs"], row["Smatch"]) for row in rows] == [
        ("one", 1, 100.0),
        ("all", 2, 100.0),
        ("amr", 2, 100.0),
    ]
    # The full stop is a word of its own where the text is split: one more SHIFT and REDUCE for each sentence.
    assert rows[1]["actions"] == rows[2]["actions"] + 4
    assert capsys.readouterr().out == (tmp_path / "out.md").read_text(encoding="utf8")
