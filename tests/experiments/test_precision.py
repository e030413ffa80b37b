import json
from pathlib import Path

import pytest

from experiments import precision

from ..formats.samples import SAMPLE
from ..util import initialised_nlp


def test_both_precisions_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    initialised_nlp().to_disk(tmp_path / "pipeline")
    (tmp_path / "gold.conllu").write_text(SAMPLE, encoding="utf8")
    precision.main([str(tmp_path / "pipeline"), str(tmp_path / "gold.conllu"), "--runs", "1"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["float32"]["arcs that depend on the batch"] == 0
    for name in precision.PRECISIONS:
        assert 0 <= figures[name]["las"] <= 100
        assert sum(figures[name]["shares"].values()) == pytest.approx(1)
    assert 0 <= figures["arcs that depend on the precision"] <= figures["words"]


def test_words_with_another_head_or_label_differ():
    assert precision.differing([(1, "a"), (2, "b"), (0, "c")], [(1, "a"), (2, "c"), (1, "c")]) == 2
