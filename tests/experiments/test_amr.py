"""The benchmarks of AMR have rows: `amr_oracle.py` for parts of files, `amr_parsing.py` for systems."""

import json
import re
from pathlib import Path

import pytest
import spacy

from experiments import amr_oracle, amr_parsing
from spacy_g2g.amr.data.corpus import make_amr_corpus

from ..amr.util import amr_model
from ..util import set_encoder

pytestmark = pytest.mark.slow

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
    parts = [f"{path}:one=a.1", f"{path}:all", str(path)]
    amr_oracle.main([*parts, "--split", "all", "--output", str(tmp_path / "out")])
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf8"))
    assert [(row["part"], row["graphs"], row["Smatch"]) for row in rows] == [
        ("one", 1, 100.0),
        ("all", 2, 100.0),
        ("amr", 2, 100.0),
    ]
    # The full stop is a word of its own where the text is split: one more SHIFT and REDUCE for each sentence.
    assert rows[1]["actions"] == rows[2]["actions"] + 4
    assert capsys.readouterr().out == (tmp_path / "out.md").read_text(encoding="utf8")


def test_parsers_have_rows_and_comparisons(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "amr.txt"
    path.write_text(re.sub(r"(::snt.*)\.", r"\1 .", FILE), encoding="utf8")
    pipelines = []
    for seed in range(3):
        spacy.util.fix_random_seed(seed)
        nlp = spacy.blank("xx")
        nlp.add_pipe("amr_parser", config={"model": amr_model()})
        set_encoder(nlp, "amr_parser", n_positions=40)
        nlp.initialize(lambda: make_amr_corpus(path)(nlp))  # noqa: B023
        pipelines.append(tmp_path / str(seed))
        nlp.to_disk(pipelines[-1])
    systems = [f"one={pipelines[0]},{pipelines[1]}", f"other={pipelines[2]}"]
    arguments = ["--beam-widths", "2", "--against", "other", "--threads", "1"]
    output = ["--output", str(tmp_path / "out")]
    amr_parsing.main([str(path), "--systems", *systems, *arguments, *output])
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf8"))
    expected = [("one", 2, 2), ("other", 2, 1)]
    assert [(row["system"], row["beam"], len(row["seeds"])) for row in rows] == expected
    assert all(0.0 <= seed["Smatch"] <= 1.0 for row in rows for seed in row["seeds"])
    assert capsys.readouterr().out.count("- one to other, beam") == 1
