"""`experiments/gpu.py` goes through on the CPU, and its shares of time are right."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import gpu
from spacy_g2g.models.shim import get_shim

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "assets" / "sample" / "en_sample-ud-test.conllu"
TINY = ["--device", "cpu", "--width", "16", "--layers", "1", "--heads", "2", "--vocabulary", "200"]
FEW = ["--runs", "1", "--steps", "1", "--batch-sizes", "5", "--pieces", "64", "--step-sizes", "100"]
FEW += ["--trace-sentences", "4"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    output = tmp_path_factory.mktemp("gpu") / "speed"
    gpu.main([str(SAMPLE), *TINY, *FEW, "--sentences", "8", "--repeat", "12", "--output", str(output)])
    figures: dict[str, Any] = json.loads(output.with_suffix(".json").read_text(encoding="utf8"))
    figures["markdown"] = output.with_suffix(".md").read_text(encoding="utf8")
    return figures


def test_all_systems_are_timed(report: dict[str, Any]):
    systems = ["encoder", "SynTr", "SynTr+RNGTr", "SentTr+G2GTr"]
    assert [row["system"] for row in report["words_per_second"]] == systems
    assert [(row["system"], row["sentences"]) for row in report["repeated"]] == [(s, 12) for s in systems]
    assert [row["component"] for row in report["training"]] == ["SynTr", "RNGTr", "SentTr+G2GTr"]
    assert all(row["median"] > 0 for row in report["words_per_second"] + report["repeated"])
    for row in report["training"]:
        assert list(row["parts"]) == ["words to pieces", "forward", "backward", "optimizer", "the rest"]
        assert sum(row["parts"].values()) == pytest.approx(row["seconds_with_syncs"])


def test_a_refiner_makes_three_passes_after_the_parser(report: dict[str, Any]):
    passes = {row["system"]: row["encoder_passes"] for row in report["traces"]}
    assert passes["SynTr+RNGTr"] == 4 * passes["SynTr"]


def test_without_a_gpu_syncs_are_not_counted(report: dict[str, Any]):
    for row in report["traces"]:
        assert (row["syncs"], row["gpu_waits"]) == (None, None)
        assert "launch of the encoder" in row["parts"]
        assert sum(row["parts"].values()) == pytest.approx(1.0)
    assert "can't be counted without a GPU" in report["markdown"]


def test_each_row_is_in_the_tables(report: dict[str, Any]):
    rows = [row for row in report["markdown"].splitlines() if row.startswith("| S")]
    assert len(rows) == 3 + 3 + 3 + 2  # speeds, repeated data, traces, training without RNGTr's


def test_best_heads_are_chains_but_for_every_twentieth_sentence():
    args = gpu.parse_arguments([str(SAMPLE), *TINY, "--systems", "SynTr"])
    examples = gpu.read_examples(SAMPLE, 20)
    system = gpu.make_systems(examples, args)["SynTr"]
    parser = system.nlp.get_pipe("g2g_parser")
    docs = [example.predicted.copy() for example in examples]
    sentences = parser.inputs(docs, gpu.lay_out(docs))
    network = get_shim(parser.model).network.eval()
    scores = network.score(get_shim(parser.model).wordpieces.batch(sentences))
    heads = scores.arcs.argmax(-1).tolist()
    is_chain = [
        row[: len(s.words)] == list(range(len(s.words))) for row, s in zip(heads, sentences, strict=True)
    ]
    assert is_chain == [True] * 19 + [False]


def test_intervals_are_merged_and_intersected():
    assert gpu.merge([(4, 6), (0, 2), (1, 3), (6, 7)]) == [(0, 3), (4, 7)]
    assert gpu.overlap([(0, 3), (4, 7)], [(2, 5), (6, 9)]) == 1 + 1 + 1
    assert gpu.overlap([], [(0, 1)]) == 0


def test_waiting_is_shared_out_among_parts():
    busy, parts = [(10.0, 40.0), (60.0, 90.0)], {"a": [(0.0, 20.0)], "b": [(30.0, 50.0), (80.0, 90.0)]}
    found = gpu.shares(busy, parts, 100.0)
    assert found["parts"] == pytest.approx({"a": 0.2, "b": 0.3, "the rest": 0.5})
    assert found["gpu_waits_traced"] == pytest.approx(0.4)
    assert found["gpu_waits_in"] == pytest.approx({"a": 0.1, "b": 0.1, "the rest": 0.2})


def test_what_does_not_fit_is_an_error_in_its_row():
    def fail() -> dict[str, Any]:
        raise RuntimeError("out of memory\nmore")

    assert gpu.attempt(fail) == {"error": "out of memory"}
