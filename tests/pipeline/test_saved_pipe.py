"""Saved components: a changed byte in any file is an error, and so is an invalid value in cfg."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy

from ..mwt.test_mwt_splitter import TRAINING
from ..mwt.test_mwt_splitter import gold_doc as doc_of_words
from ..test_hostile_input import make_shared
from ..util import gold_doc, read_treebank

FILES = {
    "mwt_splitter": ["cfg", "model"],
    "g2g_encoder": ["cfg", "model", "boundaries"],
    "g2g_parser": ["cfg", "model"],
    "rng_refiner": ["cfg", "model"],
}


@pytest.fixture(scope="module")
def trained() -> Language:
    """A splitter, an encoder that finds sentences, a tagger, a parser and a refiner."""
    nlp = make_shared("mwt_splitter")
    rows = read_treebank()
    docs = [gold_doc(nlp.vocab, rows[i : i + 3]) for i in range(0, 9, 3)]
    docs += [doc_of_words(line, nlp) for line in TRAINING]
    nlp.initialize(lambda: [Example(unparsed_copy(doc, []), doc) for doc in docs])
    return nlp


@pytest.fixture
def saved(trained: Language, tmp_path: Path) -> Path:
    trained.to_disk(tmp_path / "nlp")
    return tmp_path / "nlp"


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_an_error_that_names_the_file(trained: Language, saved: Path, name: str):
    pipe: Any = trained.get_pipe(name)
    chance = np.random.default_rng(0)
    for file in [*FILES[name], "sha256"]:
        path = saved / name / file
        data = path.read_bytes()
        places = [*range(min(len(data), 8)), *chance.integers(0, len(data), 12).tolist(), len(data) - 1]
        for place in places:
            damaged = bytearray(data)
            damaged[place] ^= 1 << place % 8
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=rf"E805.*{name}.*E430"):
                pipe.from_disk(path.parent, exclude=["vocab"])
        path.unlink()
        if file != "sha256":
            with pytest.raises(ValueError, match=r"E80[45]"):
                pipe.from_disk(path.parent, exclude=["vocab"])
        path.write_bytes(data)
    pipe.from_disk(saved / name, exclude=["vocab"])


def test_pipelines_of_earlier_versions_have_no_digests_and_are_loaded(trained: Language, saved: Path):
    text = "vuol dirlo della nonna . Go"
    expected = [(token.text, token.head.i) for token in trained(text)]
    for name in FILES:
        (saved / name / "sha256").unlink()
    assert [(token.text, token.head.i) for token in spacy.load(saved)(text)] == expected


SPLIT = ["", "lo", ["\0", "lo"]]
TABLE: dict[str, Any] = {"splits": [SPLIT], "known": {"del": [["di", "il"]]}, "counts": {"lo": 2}}
#: Invalid values by component and key of cfg, and by part of the table of splits.
DAMAGE: dict[tuple[str, ...], list[Any]] = {
    ("g2g_encoder", "sentence_threshold"): [None, "x", [], True, math.nan],
    ("g2g_encoder", "bare_start_price"): [None, "x", math.nan],
    ("g2g_parser", "temperatures"): [None, "x", [1], [1, "y"], [0, 1], [1, -1], 3],
    ("g2g_parser", "treebanks"): [3, "x", [1], ["a", "a"], [""]],
    ("rng_refiner", "initial_labels"): [None, 3, "abc", [1]],
    ("mwt_splitter", "table"): [None, 3, "x", [], {}, {"splits": []}],
    ("mwt_splitter", "table", "splits"): [
        *(None, 3, ["abc"], [[1, "", ["\0", "b"]]], [["", "", 3]], [SPLIT[:2]], [["", "", ["a"]]])
    ],
    ("mwt_splitter", "table", "known"): [
        *(None, [], {"a": 3}, {"a": ["b"]}, {"a": [["b"]]}, {"a": [[1, 2]]}, {"a": [["b", "c"]] * 3})
    ],
    ("mwt_splitter", "table", "counts"): [
        *(None, [], {"a": "2"}, {"a": -1}, {"a": True}, {"a": 1.5}, {"a": 10**18})
    ],
    ("mwt_splitter", "other"): [1],
}


@pytest.mark.parametrize(
    ("place", "value"), [(place, value) for place, values in DAMAGE.items() for value in values], ids=str
)
def test_a_cfg_of_other_types_is_an_error_when_it_is_loaded(
    trained: Language, saved: Path, place: tuple[str, ...], value: Any
):
    name, key, *part = place
    folder = saved / name
    (folder / "sha256").unlink()
    cfg = {} if name == "mwt_splitter" else json.loads((folder / "cfg").read_text())
    cfg[key] = {**TABLE, part[0]: value} if part else value
    (folder / "cfg").write_text(json.dumps(cfg))
    with pytest.raises(ValueError, match=rf"E805.*{name}.*cfg"):
        spacy.blank("xx").add_pipe(name).from_disk(folder, exclude=["vocab", "model"])


def test_a_table_of_another_network_is_an_error(trained: Language, saved: Path):
    folder = saved / "mwt_splitter"
    (folder / "sha256").unlink()
    (folder / "cfg").write_text(json.dumps({"table": TABLE}))
    with pytest.raises(ValueError, match=r"E806.*kinds of splits"):
        spacy.blank("xx").add_pipe("mwt_splitter").from_disk(folder, exclude=["vocab"])


def test_what_is_excluded_is_not_compared(trained: Language, saved: Path):
    for name in ("mwt_splitter", "g2g_parser"):
        shutil.copy(saved / "g2g_encoder" / "model", saved / name / "model")
        spacy.blank("xx").add_pipe(name).from_disk(saved / name, exclude=["vocab", "model"])


def test_an_error_handler_skips_the_docs_that_fail_alone(monkeypatch: pytest.MonkeyPatch):
    nlp = spacy.blank("xx")
    pipe: Any = nlp.add_pipe("mwt_splitter")
    errors: list[list[str]] = []
    pipe.set_error_handler(lambda name, proc, docs, error: errors.append([doc.text for doc in docs]))

    def fail(docs: list[Doc]) -> Any:
        if any(doc.text == "bad" for doc in docs):
            raise RuntimeError
        return [None] * len(docs)

    monkeypatch.setattr(pipe, "predict", fail)
    texts = ["a", "bad", "b", "c", "d"]
    assert [doc.text for doc in pipe.pipe(map(nlp.make_doc, texts), batch_size=4)] == ["a", "b", "c", "d"]
    assert errors == [["bad"]]
    monkeypatch.setattr(pipe, "set_annotations", lambda docs, _: fail(docs))
    monkeypatch.setattr(pipe, "predict", lambda docs: docs)
    assert [doc.text for doc in pipe.pipe(map(nlp.make_doc, texts), batch_size=2)] == ["b", "c", "d"]
    assert errors == [["bad"], ["a", "bad"]]
