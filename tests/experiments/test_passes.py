"""`experiments.passes` shows what passes gain, by how good the first trees are."""

import json
from pathlib import Path

import pytest

from experiments import passes
from spacy_g2g.analysis.evaluate import evaluate

from ..formats.samples import row
from ..util import read_treebank
from .util import write_conllu


def write_chains(path: Path) -> None:
    """Write trees that are as bad as can be: each word hangs on the one before it, by a label of nobody."""
    blocks = [
        "".join(
            row(str(i), form, str(i - 1), "root" if i == 1 else "dep")
            for i, (form, *_) in enumerate(sentence, 1)
        )
        for sentence in read_treebank()
    ]
    path.write_text("".join(block + "\n" for block in blocks), encoding="utf8")


@pytest.mark.filterwarnings("ignore:.*G2G-W80[12]")
def test_a_row_has_the_first_trees_and_each_pass(
    trained_refiner_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    gold, chains = tmp_path / "gold.conllu", tmp_path / "chains.conllu"
    write_conllu(gold, read_treebank())
    write_chains(chains)
    words = ["--refiner", "Tiny", str(trained_refiner_folder), str(gold)]
    passes.main(["--output", str(tmp_path / "out"), *words, str(gold), *words, str(chains)])
    good, bad = json.loads((tmp_path / "out" / "passes.json").read_text(encoding="utf8"))
    assert (good["first"], good["las"][0]) == ("gold", 100)
    assert bad["las"][0] < 50 < bad["las"][-1]
    expected = evaluate(str(trained_refiner_folder), gold, initial=chains, silent=True)["LAS"].f1
    assert bad["las"][-1] == pytest.approx(100 * expected)
    printed = capsys.readouterr().out
    assert f"| Tiny | chains | {bad['las'][0]:.2f} | {bad['las'][1] - bad['las'][0]:+.2f} |" in printed
    assert (tmp_path / "out" / "passes.md").read_text(encoding="utf8") == printed
    assert (tmp_path / "out" / "passes.png").read_bytes().startswith(b"\x89PNG")


def test_a_refiner_without_files_of_trees_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        passes.main(["--output", str(tmp_path), "--refiner", "Tiny", "pipeline", "gold.conllu"])
    assert "--refiner Tiny pipeline gold.conllu: expected a name, a pipeline" in capsys.readouterr().err
