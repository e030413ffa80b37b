from pathlib import Path

import pytest

from spacy_g2g.analysis.plots import plot_refinement, plot_reliability
from spacy_g2g.formats.graph import Graph
from spacy_g2g.scored.reliability import reliability

from .test_iterations import GOLD, TREE, WRONG, Refined, analyze

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")

ODD = Graph(TREE.heads, ["nsubj", "root", "a$b_c$<i>"])


def drawn(tmp_path: Path, *refined: Refined) -> str:
    path = tmp_path / "plot.svg"
    plot_refinement(analyze(*refined), path)
    return path.read_text(encoding="utf8")


def test_panels_and_labels_are_named(tmp_path: Path):
    odd = GOLD.replace(deprel=ODD.deps)
    svg = drawn(tmp_path, (odd, [WRONG, WRONG, ODD], 2))
    for text in ("UAS", "LAS", "LAS, non-projective trees", "wrong to right", "sentences", "iteration"):
        assert f">{text}<" in svg
    assert ">a$b_c$&lt;i&gt; (1)<" in svg


@pytest.mark.parametrize(
    "refined",
    [(GOLD, [TREE], 0), (GOLD, [TREE, TREE], 1), (GOLD, [TREE, WRONG], 1), (GOLD, [WRONG], 0)],
    ids=["no iterations", "no errors", "only worse", "no iterations, errors"],
)
def test_what_has_no_error_reduction_is_drawn_without_warnings(tmp_path: Path, refined: Refined):
    assert "</svg>" in drawn(tmp_path, refined)


def test_the_same_analysis_gives_the_same_file(tmp_path: Path):
    assert drawn(tmp_path, (GOLD, [WRONG, TREE], 1)) == drawn(tmp_path, (GOLD, [WRONG, TREE], 1))


def test_png_is_drawn(tmp_path: Path):
    plot_reliability(reliability([("arcs", 0.9, True)]), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
