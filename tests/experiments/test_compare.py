"""`experiments.compare` compares two systems over the seeds of both."""

from pathlib import Path

import pytest

from experiments.compare import main

from .util import write_corpora


def test_the_means_over_seeds_and_their_difference_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_corpora(tmp_path)
    gold = tmp_path / "dev.conllu"
    lines = gold.read_text(encoding="utf8").splitlines()
    cells = [line.split("\t") for line in lines]
    n_words = sum(len(row) == 10 and row[0].isdigit() for row in cells)
    place = next(i for i, row in enumerate(cells) if len(row) == 10)
    cells[place][7] = "dep" if cells[place][7] != "dep" else "obj"
    worse = tmp_path / "worse.conllu"
    worse.write_text("\n".join("\t".join(row) for row in cells) + "\n\n", encoding="utf8")
    main([str(gold), "--first", str(worse), str(gold), "--second", str(gold), str(gold)])
    one = 100 / n_words
    first, second, difference = capsys.readouterr().out.splitlines()
    assert first == f"first: LAS {100 - one / 2:.2f} ({100 - one:.2f}, 100.00)"
    assert second == "second: LAS 100.00 (100.00, 100.00)"
    assert difference.startswith(f"second - first: +{one / 2:.2f} (")
    with pytest.raises(SystemExit):
        main([str(gold), "--first", str(gold), "--second", str(gold), str(gold)])
