"""`experiments.speed` times pipelines beside their encoders."""

import json
from pathlib import Path

import pytest

from experiments import speed

from .util import write_corpora

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore:.*G2G-W80[12]")
def test_each_pipeline_is_timed_beside_its_encoder(
    trained_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_corpora(tmp_path)
    output = tmp_path / "speed.json"
    speed.main([str(tmp_path / "dev.conllu"), str(trained_folder), "--runs", "1", "--json", str(output)])
    times = {tuple(key): seconds for *key, seconds in json.loads(output.read_text(encoding="utf8"))}
    rows = [
        (row, precision) for precision in speed.PRECISIONS for row in (speed.BARE, speed.GIVEN, speed.FOUND)
    ]
    assert [key[1:] for key in times] == rows
    assert min(times.values()) > 0
    table = capsys.readouterr().out
    assert table.count("(1.000)") >= 2
    for row, _ in rows:
        assert f"| {row} |" in table
