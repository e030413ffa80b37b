"""`experiments.drop_final_punct`: treebanks without their full stops."""

from pathlib import Path

import pytest

from experiments import drop_final_punct


def test_a_treebank_that_is_not_there_is_told_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["x", str(tmp_path / "none.conllu"), str(tmp_path / "out" / "x.conllu")])
    with pytest.raises(SystemExit):
        drop_final_punct.main()
    assert "none.conllu" in capsys.readouterr().out
    assert list(tmp_path.rglob("*.conllu")) == []
