"""`experiments.gpu` goes through on the CPU."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import gpu
from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.data.segmentation import segment
from spacy_g2g.models.shim import get_shim

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "assets" / "sample" / "en_sample-ud-test.conllu"
TINY = ["--device", "cpu", "--width", "16", "--layers", "1", "--heads", "2", "--vocabulary", "200"]
FEW = ["--runs", "1", "--steps", "1", "--batch-sizes", "5", "--pieces", "64", "--step-sizes", "100"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    output = tmp_path_factory.mktemp("gpu") / "speed"
    gpu.main([str(SAMPLE), *TINY, *FEW, "--sentences", "8", "--output", str(output)])
    figures: dict[str, Any] = json.loads(output.with_suffix(".json").read_text(encoding="utf8"))
    return figures | {"markdown": output.with_suffix(".md").read_text(encoding="utf8")}


def test_all_systems_are_timed(report: dict[str, Any]):
    for rows in report["tables"].values():
        assert [row["system"] for row in rows] == ["SynTr", "SynTr+RNGTr", "SentTr+G2GTr"]
    for row in report["tables"]["Parsing"]:
        assert 0 < row["least"] <= row["words/s"] <= row["most"]
    for row in report["tables"]["Training"]:
        assert row["words/s"] > 0
        assert row["ms"] > 0


def test_a_refiner_makes_three_passes_after_the_parser(report: dict[str, Any]):
    passes = {row["system"]: row["encoder passes"] for row in report["tables"]["Syncs and waiting"]}
    assert passes["SynTr+RNGTr"] == 4 * passes["SynTr"]


def test_without_a_gpu_syncs_are_not_counted(report: dict[str, Any]):
    for row in report["tables"]["Syncs and waiting"]:
        assert row["syncs"] == "not counted without a GPU"
    assert "not counted without a GPU" in report["markdown"]


def test_each_row_is_in_the_tables(report: dict[str, Any]):
    assert len([line for line in report["markdown"].splitlines() if line.startswith("| S")]) == 3 * 3


def test_best_heads_are_chains_but_for_every_twentieth_sentence():
    args = gpu.read_arguments([str(SAMPLE), *TINY])
    examples = list(make_corpus(SAMPLE, limit=20)(gpu.spacy.blank("xx")))
    parser = gpu.make_system("SynTr", examples, args).get_pipe("g2g_parser")
    docs = [example.predicted.copy() for example in examples]
    sentences = parser.inputs(docs, segment(docs))
    network = get_shim(parser.model).network.eval()
    scores = network.score(get_shim(parser.model).wordpieces.batch(sentences))
    heads = scores.arcs.argmax(-1).tolist()
    is_chain = [
        row[: len(s.words)] == list(range(len(s.words))) for row, s in zip(heads, sentences, strict=True)
    ]
    assert is_chain == [True] * 19 + [False]


def test_what_does_not_fit_is_an_error_in_its_row():
    def fail() -> dict[str, Any]:
        raise RuntimeError("out of memory\nmore")

    assert gpu.attempt(fail) == {"error": "out of memory"}
