"""Whole pipelines train on treebanks that lack a column, in whole or in part, or have unusual values."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from ..models.test_sources import make_checkpoint
from ..util import mostly_thorough
from .test_whole_pipelines import PIPELINES, SAMPLE, TEXT, train_config

# The checkpoint has few positions, and from one sentence no boundaries are learned.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*G2G-(W402|W801|W802|W803)")]

CONFIGS = {
    **PIPELINES,
    "light": PIPELINES["pipeline_light"],
    "pipeline_scratch": {
        **PIPELINES["pipeline"],
        "initialize.components.g2g_encoder.encoder.n_layers": 1,
        "initialize.components.g2g_encoder.encoder.width": 16,
        "initialize.components.g2g_encoder.encoder.hidden_width": 16,
    },
}
LEARNERS = {"tagger", "morphologizer", "trainable_lemmatizer"}
COLUMNS = {"LEMMA": 2, "UPOS": 3, "XPOS": 4, "FEATS": 5, "DEPREL": 7}
#: Values that CoNLL-U allows, and that mean something to a config, to JSON, or to a library.
ODD = ["!", "!NN", "-", "--", '"', "\\", "${paths.train}", "[x]", "null", "|", "=", "a b", "#"]
ODD += ["é\u0301", "\U0001f642"]
#: Changes of a cell, by the number of the word among all, the cells of its row, and its column.
CHANGES: dict[str, Callable[[int, list[str], int], str]] = {
    "empty": lambda i, row, at: "_",
    "half": lambda i, row, at: row[at] if i % 2 else "_",
    "punctuation": lambda i, row, at: row[at] if row[3] == "PUNCT" else "_",
    "x": lambda i, row, at: "x",
    "X": lambda i, row, at: "X",
    "odd": lambda i, row, at: ODD[i % len(ODD)],
    "form": lambda i, row, at: row[1],
}
#: Changes of columns, and the components that then have nothing to learn.
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "whole": ({}, set()),
    "no LEMMA": ({"LEMMA": "empty"}, {"trainable_lemmatizer"}),
    "no XPOS": ({"XPOS": "empty"}, {"tagger"}),
    "no column": ({name: "empty" for name in COLUMNS if name != "DEPREL"}, LEARNERS),
    **{f"no {name}": ({name: "empty"}, set()) for name in ("UPOS", "FEATS")},
    **{f"half of {name}": ({name: "half"}, set()) for name in ("LEMMA", "UPOS", "XPOS", "FEATS")},
    "XPOS of punctuation": ({"XPOS": "punctuation"}, set()),
    "one XPOS": ({"XPOS": "x"}, {"tagger"}),
    "one UPOS": ({"UPOS": "X", "FEATS": "empty"}, {"morphologizer"}),
    "one label": ({"DEPREL": "x"}, set()),
    "lemmas that are the words": ({"LEMMA": "form"}, set()),
    "odd values": ({"LEMMA": "odd", "XPOS": "odd", "DEPREL": "odd"}, set()),
}
#: Cases that are trained together, since a training takes seconds. The first change of a row comes first.
TOGETHER = [
    ("no LEMMA", "half of XPOS", "half of FEATS"),
    ("XPOS of punctuation", "no UPOS", "half of LEMMA"),
    ("no XPOS", "no FEATS", "half of UPOS"),
    ("one XPOS", "one UPOS", "lemmas that are the words"),
    ("no column", "one label"),
    ("odd values",),
]
#: `make test` takes all cases with the config that is trained fastest, and two with each of the others.
TESTED = {*product(["light"], [*TOGETHER, 1, 6]), *product(CONFIGS, TOGETHER[-2:])}


def changed(path: Path, changes: dict[str, str], n: int = 12) -> Path:
    """Write the first sentences of the sample, with changed cells, as CoNLL-U."""
    i, lines = 0, []
    for line in SAMPLE.read_text(encoding="utf8").split("\n"):
        row = line.split("\t")
        n -= not line
        if n and row[0].isdigit():
            i += 1
            for name, change in changes.items():
                row[COLUMNS[name]] = CHANGES[change](i, row, COLUMNS[name])
        lines += ["\t".join(row)] if n else []
    path.write_text("\n".join([*lines, "", ""]), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("model") / "bert")


def train_on(config: str, corpus: Path, encoder: Path) -> Language:
    """Train a pipeline for two steps with the config as it is, but for sizes."""
    settings: dict[str, Any] = {"nlp.lang": "xx", "training.max_steps": 2, "training.eval_frequency": 1}
    if config not in ("light", "pipeline_scratch"):
        settings["paths.encoder"] = str(encoder)
    train_config(config, corpus, settings | CONFIGS[config])
    return spacy.load(corpus.parent / "out" / "model-last")


@pytest.mark.parametrize("case", mostly_thorough(product(CONFIGS, TOGETHER), TESTED), ids=str)
def test_a_pipeline_learns_what_the_treebank_has(
    case: tuple[str, tuple[str, ...]], encoder: Path, tmp_path: Path
):
    config, cases = case
    changes = {name: change for case in cases for name, change in CASES[case][0].items()}
    left_out = {name for case in cases for name in CASES[case][1]}
    nlp = train_on(config, changed(tmp_path / "train.conllu", changes), encoder)
    assert LEARNERS - set(nlp.pipe_names) == left_out
    scores = {"tagger": "tag_acc", "morphologizer": "pos_acc", "trainable_lemmatizer": "lemma_acc"}
    assert {name for name, score in scores.items() if score in nlp.meta["performance"]} == LEARNERS - left_out
    doc = nlp(TEXT)
    annotations = {"tagger": "TAG", "morphologizer": "MORPH", "trainable_lemmatizer": "LEMMA"}
    written = {name for name, attribute in annotations.items() if doc.has_annotation(attribute)}
    assert written == LEARNERS - left_out
    assert doc.has_annotation("DEP")


@pytest.mark.parametrize("case", mostly_thorough(product(CONFIGS, [1, 6]), TESTED), ids=str)
def test_a_pipeline_learns_from_one_sentence_and_without_punctuation(
    case: tuple[str, int], encoder: Path, tmp_path: Path
):
    config, n = case
    cells = "1 The the DET D _ 2 det _ _|2 {0}s {0} NOUN N _ 3 nsubj _ _|3 sleep sleep VERB V _ 0 root _ _||"
    rows = cells.replace(" ", "\t").replace("|", "\n")
    text = "".join(rows.format(word) for word in "abcdef"[:n])
    (tmp_path / "train.conllu").write_text(text, encoding="utf8")
    nlp = train_on(config, tmp_path / "train.conllu", encoder)
    assert set(nlp.pipe_names) >= {"tagger", "morphologizer", "g2g_parser"}
    assert ("trainable_lemmatizer" in nlp.pipe_names) == (n > 1)  # an edit tree needs three words
    assert nlp("The as sleep The bs sleep").has_annotation("DEP")
