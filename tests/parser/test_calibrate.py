"""Temperatures and thresholds that are fitted after training, and how far probabilities are off."""

import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.conversion.parse import parse
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.parser.calibrate import calibrate
from spacy_g2g.parser.fitting import fit
from spacy_g2g.sentences.finder import THRESHOLD

from ..util import (
    add_tiny,
    gold_doc,
    graph_examples,
    make_nlp,
    model_config,
    parser_of,
    random_nlp,
    randomize,
    read_treebank,
    set_encoder,
    treebank_docs,
    treebank_examples,
)

ROOT = Path(__file__).parents[2]


def errors_of(pipeline: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[float, int]]:
    """Calibration error in percent and number of predictions, by kind, as `evaluate` prints them."""
    capsys.readouterr()
    assert evaluate(str(pipeline), gold, calibration=True)["LAS"].f1 == 1.0
    rows = re.findall(r"^(arcs|labeled arcs|trees) +([0-9.]+) +([0-9]+)$", capsys.readouterr().out, re.M)
    return {kind: (float(error), int(n)) for kind, error, n in rows}


def test_calibration_is_fitted_in_place_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nlp = random_nlp()
    folder = tmp_path / "pipeline"
    nlp.to_disk(folder)
    short, source = tmp_path / "short.conllu", tmp_path / "gold.conllu"
    sample = read_conllu(ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu")
    short.write_text("".join([str(s) for s in sample if len(s.words) < 8][:9]), "utf8")
    parse(str(folder), short, source)
    model = (folder / "g2g_parser" / "model").read_bytes()
    before = errors_of(folder, source, capsys)
    calibrate(folder, source)
    # The parser is always right by its own trees, so the coldest temperature is the best.
    assert max(parser_of(spacy.load(folder)).temperatures) < 0.2
    after = errors_of(folder, source, capsys)
    assert all(after[name][0] < before[name][0] for name in ("arcs", "labeled arcs", "trees"))
    n_words = sum(len(s.words) for s in read_conllu(source))
    assert [n for _, n in after.values()] == [n_words, n_words, sum(1 for _ in read_conllu(source))]
    assert (folder / "g2g_parser" / "model").read_bytes() == model
    pytest.importorskip("matplotlib")
    evaluate(str(folder), source, plot=tmp_path / "plot.svg")
    error = f"labeled arcs: error {after['labeled arcs'][0]:.2f}"
    assert error in (tmp_path / "plot.svg").read_text("utf8")


def test_an_example_that_fails_leaves_the_parser_as_it_was(tmp_path: Path):
    nlp = random_nlp()
    bad = treebank_examples(nlp)
    bad[1].predicted._.g2g_constraints = {"heads": [[0, 99]]}
    with pytest.raises(ValueError, match="G2G-E"):
        fit(nlp, tmp_path, examples=bad, documents=[])
    assert not parser_of(nlp).keep_scores


def test_a_parser_and_its_refiner_are_both_calibrated(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nlp = make_nlp()
    add_tiny(nlp, "rng_refiner")
    nlp.initialize(lambda: treebank_examples(nlp))
    for seed, name in enumerate(nlp.pipe_names):
        randomize(nlp.get_pipe(name).model, seed, scale=0.25)
    nlp.to_disk(tmp_path / "pair")
    with nlp.select_pipes(disable="rng_refiner"):
        docs = list(nlp.pipe(treebank_docs(nlp.vocab)))
    source = tmp_path / "gold.conllu"
    source.write_text("".join(str(s) for doc in docs for s in doc_to_sentences(doc)), "utf8")
    calibrate(tmp_path / "pair", source, silent=False)
    printed = capsys.readouterr().out
    parser, refiner = (pipe for _, pipe in spacy.load(tmp_path / "pair").pipeline)
    # The parser is always right by its own trees, which the refiner changes.
    assert max(parser.temperatures) < 0.2 < max(refiner.temperatures)  # type: ignore[attr-defined]
    for name in nlp.pipe_names:
        assert f"Temperatures of {name}" in printed


def test_a_transition_based_parser_has_no_probabilities_to_fit(tmp_path: Path):
    nlp = make_nlp(row="SentTr", graph_input=False)
    nlp.initialize(lambda: graph_examples(nlp, "empty"))
    nlp.to_disk(tmp_path / "none")
    with pytest.raises(ValueError, match="E814"):
        calibrate(tmp_path / "none", tmp_path / "gold.conllu")


@pytest.mark.parametrize(
    ("finder", "last"),
    [("g2g_parser", "g2g_parser"), ("g2g_encoder", "g2g_parser"), ("g2g_encoder", "tagger")],
)
def test_how_sentences_are_found_is_fitted(finder: str, last: str, tmp_path: Path):
    """In a transition-based parser, and in an encoder before the parser or without one."""
    nlp = spacy.blank("en")
    settings: dict[str, Any] = {"row": "SentTr", "graph_input": False}
    if finder == "g2g_encoder":
        nlp.add_pipe("g2g_encoder")
        settings = {"tok2vec": {"@architectures": "spacy_g2g.EncoderListener.v1"}}
    if last == "g2g_parser":
        nlp.add_pipe("g2g_parser", config={"model": model_config(**settings)})
    set_encoder(nlp, finder)
    gold = [gold_doc(nlp.vocab, read_treebank()[:4])]
    nlp.initialize(lambda: [Example(unparsed_copy(doc, []), doc) for doc in gold])
    nlp.get_pipe(finder).cfg[THRESHOLD] = 50.0  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "pipeline")
    source = tmp_path / "gold.conllu"
    source.write_text("".join(map(str, doc_to_sentences(gold[0]))), "utf8")
    calibrate(tmp_path / "pipeline", source)
    assert spacy.load(tmp_path / "pipeline").get_pipe(finder).cfg[THRESHOLD] < 4  # type: ignore[attr-defined]
