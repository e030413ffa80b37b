import json
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from spacy_g2g.cli import app
from spacy_g2g.cli.benchmark import benchmark

from ..formats.samples import SAMPLE
from ..pipeline.test_shared_encoder import shared_nlp
from ..util import add_tiny, initialised_nlp, make_nlp, parser_of, tiny_encoder, treebank_examples


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(SAMPLE, encoding="utf8")
    return path


def test_speeds_of_pipeline_parser_and_encoder_are_measured(data: Path):
    nlp = initialised_nlp()
    figures = benchmark(nlp, data, runs=3)
    speeds = figures["words_per_second"]
    assert list(speeds) == ["pipeline", "g2g_parser", "g2g_parser encoder"]
    for row in speeds.values():
        assert 0 < row["min"] <= row["median"] <= row["max"]
    assert speeds["g2g_parser encoder"]["ratio"] == 1.0
    assert [row["passes"] for row in speeds.values()] == [1.0, 1.0, 1.0]
    assert figures["words"] > figures["docs"] > 0
    for value in ("float32", "bfloat16"):
        parser_of(nlp).precision = value
        speeds = benchmark(nlp, data, runs=1)["words_per_second"]
        assert {row["precision"] for row in speeds.values()} == {value}


def test_the_bare_encoder_runs_on_the_batches_of_the_parser(data: Path, monkeypatch: pytest.MonkeyPatch):
    nlp = initialised_nlp()
    nlp.batch_size = 1
    encoder = nlp.get_pipe("g2g_parser").model.shims[0].network.encoder
    forward, shapes = encoder.forward, []

    def spy(piece_ids, mask, **inputs):
        shapes.append((tuple(piece_ids.shape), mask is None))
        return forward(piece_ids, mask, **inputs)

    monkeypatch.setattr(encoder, "forward", spy)
    figures = benchmark(nlp, data, runs=1)
    n_docs = figures["docs"]
    recorded, timed = shapes[:n_docs], shapes[-6 * n_docs :]
    assert timed == recorded * 6  # pipeline, parser and encoder, in a warm-up run and a timed one


def test_passes_of_a_refiner_are_counted(data: Path):
    nlp = initialised_nlp()
    refiner = add_tiny(nlp, "rng_refiner", iterations=3, stop=False)
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=tiny_encoder())
    speeds = benchmark(nlp, data, runs=1)["words_per_second"]
    assert speeds["rng_refiner"]["passes"] == pytest.approx(3.0)
    assert speeds["pipeline"]["passes"] == pytest.approx(4.0)


def test_the_encoder_of_a_parser_that_shares_one_is_the_component_that_has_it(data: Path, tmp_path: Path):
    nlp = shared_nlp("tok2vec", tmp_path)
    nlp.initialize(lambda: treebank_examples(nlp))
    speeds = benchmark(nlp, data, runs=2)["words_per_second"]
    assert list(speeds) == ["pipeline", "g2g_parser", "g2g_parser encoder"]
    # The parser is timed with the encoder.
    assert speeds["g2g_parser"]["ratio"] < 1.0
    nlp.replace_listeners("tok2vec", "g2g_parser", ["model.tok2vec"])
    nlp.remove_pipe("tagger")
    nlp.remove_pipe("tok2vec")
    assert list(benchmark(nlp, data, runs=1)["words_per_second"]) == list(speeds)


def test_a_pipeline_without_a_parser_of_ours_is_an_error(data: Path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"E840.*sentencizer"):
        benchmark(nlp, data)


def test_a_parser_that_is_not_initialised_is_an_error(data: Path):
    with pytest.raises(ValueError, match="E405"):
        benchmark(make_nlp(), data)


def test_no_runs_are_an_error(data: Path):
    with pytest.raises(ValueError, match=r"E910.*0"):
        benchmark(initialised_nlp(), data, runs=0)


def test_command_writes_the_figures(data: Path, tmp_path: Path):
    initialised_nlp().to_disk(tmp_path / "pipeline")
    output = tmp_path / "figures.json"
    arguments = ["benchmark", str(tmp_path / "pipeline"), str(data), "--runs", "1", "--output", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(output.read_text(encoding="utf8"))["runs"] == 1


def test_a_corpus_without_words_is_an_error(tmp_path: Path):
    (tmp_path / "empty.conllu").write_text("")
    with pytest.raises(ValueError, match=r"E925.*empty\.conllu"):
        benchmark(initialised_nlp(), tmp_path / "empty.conllu")


@pytest.mark.parametrize("option", ["--limit=-1", "--threads=-1", "--threads=100000000"])
def test_numbers_that_make_no_sense_are_errors_of_the_command(data: Path, option: str):
    result = CliRunner().invoke(app, ["benchmark", "pipeline", str(data), option])
    assert result.exit_code == 2
    assert f"Invalid value for '{option.split('=')[0]}'" in result.output
