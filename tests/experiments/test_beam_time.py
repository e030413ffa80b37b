"""`experiments/beam_time.py` times a pipeline by beam width, and beside another one."""

import json
from pathlib import Path

import pytest

from experiments import beam_time

from ..util import initialised_nlp

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DATA = ROOT / "assets" / "sample" / "en_sample-ud-test.conllu"


def test_beams_are_timed_beside_a_peer(
    trained_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    few = DATA.read_text(encoding="utf8").split("\n\n")[:5]
    (tmp_path / "few.conllu").write_text("\n\n".join(few) + "\n\n", encoding="utf8")
    initialised_nlp(row="Stack-c").to_disk(tmp_path / "stack")
    data = [str(tmp_path / "stack"), str(tmp_path / "few.conllu"), "--peer", str(trained_folder)]
    beam_time.main([*data, "--beam-widths", "1", "3", "--runs", "1", "--threads", "1"])
    rows = json.loads(capsys.readouterr().out)
    assert list(rows) == ["peer", "beam 1", "beam 3"]
    assert rows["peer"]["to the first"] == 1.0
    assert all(row["seconds"] > 0 for row in rows.values())
