"""`experiments.windows` measures one pipeline with several windows."""

from pathlib import Path

import pytest

from experiments import windows

from ..pipeline.test_sentences import unsplit_examples, windowed_nlp
from .util import write_corpora


def test_windows_are_compared_with_single_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nlp = windowed_nlp(10)
    nlp.initialize(lambda: unsplit_examples(nlp))
    nlp.to_disk(tmp_path / "nlp")
    write_corpora(tmp_path)
    files = [str(tmp_path / "nlp"), str(tmp_path / "dev.conllu")]
    windows.main([*files, "--windows", "0", "10", "90", "--runs", "1"])
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[2:]]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert [(window, sentences) for window, sentences, *_ in cells] == [
        ("one sentence", "given"),
        *((window, sentences) for window in ("10", "90") for sentences in ("given", "found")),
    ]
    assert cells[0][-1] == "1.00"
    for _, sentences, f, uas, las, *_ in cells:
        assert (f == "100.00") == (sentences == "given")
        assert float(las) <= float(uas)
