from pathlib import Path

import pytest

from spacy_g2g.evaluation.plots import plot_refinement
from spacy_g2g.evaluation.refinement import RefinedSentence, analyse_refinement
from spacy_g2g.formats.graph import Graph

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")

TREE = Graph([2, 0, 2], ["nsubj", "root", "a$b_c$<i>"])
WRONG = Graph([2, 0, 1], ["nsubj", "root", "obj"])


def drawn(tmp_path: Path, *sentences: RefinedSentence) -> str:
    path = tmp_path / "plot"
    plot_refinement(analyse_refinement(sentences), path, "svg")
    return path.read_text(encoding="utf8")


def test_panels_and_labels_are_named(tmp_path: Path):
    svg = drawn(tmp_path, RefinedSentence(TREE, [WRONG, WRONG, TREE], 2))
    for text in ("UAS", "LAS", "non-projective trees", "wrong to right", "sentences"):
        assert f">{text}<" in svg
    assert ">a$b_c$&lt;i&gt; (1)<" in svg


@pytest.mark.parametrize(
    "sentences",
    [
        [],
        [RefinedSentence(TREE, [TREE], 0)],
        [RefinedSentence(TREE, [TREE, TREE], 1)],
        [RefinedSentence(TREE, [TREE, WRONG], 1)],
        [RefinedSentence(TREE, [WRONG], 0)],
    ],
    ids=["nothing", "no iterations", "no errors", "only worse", "no iterations, errors"],
)
def test_what_has_no_error_reduction_is_drawn_without_warnings(tmp_path: Path, sentences):
    assert "</svg>" in drawn(tmp_path, *sentences)


def test_the_same_analysis_gives_the_same_file(tmp_path: Path):
    sentence = RefinedSentence(TREE, [WRONG, TREE], 1)
    assert drawn(tmp_path, sentence) == drawn(tmp_path, sentence)


def test_png_is_drawn(tmp_path: Path):
    plot_refinement(analyse_refinement([RefinedSentence(TREE, [WRONG], 0)]), tmp_path / "plot", "png")
    assert (tmp_path / "plot").read_bytes().startswith(b"\x89PNG")
