"""`experiments.sentences` teaches a frozen parser to find sentences."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy

from experiments import sentences
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.data.lines import N_FEATURES

from ..util import parser_of, weights_of
from .util import write_corpora


@pytest.mark.filterwarnings("ignore:.*G2G-W802")  # the encoder has few positions
def test_a_trained_parser_learns_to_find_sentences(
    trained_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_corpora(tmp_path)
    monkeypatch.setattr(sentences, "WORDS_AT_ONCE", 50)
    files = [str(tmp_path / "train.conllu"), str(tmp_path / "dev.conllu"), str(tmp_path / "out")]
    options = ["--variants", "full", "features alone", "--epochs", "2", "--speed"]
    sentences.main([str(trained_folder), *files, *options])
    table = json.loads((tmp_path / "out" / "table.json").read_text("utf8"))
    assert set(table) == {"full, seed 0", "features alone, seed 0", "speed"}
    for seconds in table["speed"].values():
        assert 0 < seconds["finding"] < seconds["found"]
    of_network = table["full, seed 0"]
    for way in ("plain", "fitted"):
        assert {f"{way}: dev", f"{way}: dev.nopunct"} <= set(of_network)
    # What is fitted on a file is no worse there.
    assert of_network["fitted: dev"] >= of_network["plain: dev"]
    assert set(table["features alone, seed 0"]) - set(of_network) == {"gain: dev", "gain: dev.nopunct"}
    nlp = spacy.load(tmp_path / "out" / "full.0")
    assert parser_of(nlp).finder.trained
    before, after = weights_of(spacy.load(trained_folder)), weights_of(nlp)
    assert all((before[name] == after[name]).all() for name in before)
    # The command agrees with the experiment.
    found = evaluate(str(tmp_path / "out" / "full.0"), tmp_path / "dev.conllu", predict_sentences=True)
    assert 100 * found["Sentences"].f1 == pytest.approx(of_network["fitted: dev"], abs=0.01)
    # Vectors of the encoder are read by the first network alone.
    for name, reads in (("full.0", True), ("features-alone.0", False)):
        (shim,) = parser_of(spacy.load(tmp_path / "out" / name)).boundaries.shims
        assert (shim.known_spec.vector_width > N_FEATURES) is reads


def test_seeds_are_also_compared_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_corpora(tmp_path)
    # Sentences that are found in each of two documents, by variant and seed; there are ten in each.
    found = {"full.0": [9, 8], "full.1": [9, 9], "wide.0": [8, 8], "wide.1": [8, 9]}
    monkeypatch.setattr(
        sentences,
        "measure",
        lambda folder, dev, files: (
            {f"{way}: {file.stem}": 0.0 for way in sentences.WAYS for file in files},
            {"dev": np.array([found[folder.name], [10, 10]])},
        ),
    )
    output = tmp_path / "out"
    for name in found:
        (output / name).mkdir(parents=True)
    files = [str(tmp_path / "train.conllu"), str(tmp_path / "dev.conllu"), str(output)]
    sentences.main(["parser", *files, "--variants", "full", "wide", "--seeds", "0", "1"])
    table = json.loads((output / "table.json").read_text("utf8"))
    gains = [table[key]["gain: dev"][0] for key in ("wide, seed 0", "wide, seed 1")]
    assert gains == [5.0, 5.0]
    assert table["all seeds"]["wide"]["gain: dev"][0] == 5.0
    found["wide.1"][0] = 7
    sentences.main(["parser", *files, "--variants", "full", "wide", "--seeds", "0", "1"])
    table = json.loads((output / "table.json").read_text("utf8"))
    assert table["wide, seed 1"]["gain: dev"][0] == 10.0
    assert table["all seeds"]["wide"]["gain: dev"][0] == 7.5
