"""A plug-in of another package: sentences are the lines of a file, and their annotation is in capitals."""

from types import SimpleNamespace

import pytest
from spacy.tokens import Doc

from spacy_g2g.analysis.render import render
from spacy_g2g.conversion.parse import parse
from spacy_g2g.data.plugins import plugins


def read(path, vocab):
    for line in path.read_text().splitlines():
        words = line.split()
        sentence = SimpleNamespace(id="", sentence=line, tokens=words, text=line.upper())
        yield Doc(vocab, words=words), sentence


@pytest.fixture(autouse=True)
def shouting(monkeypatch):
    functions = {
        "read": read,
        "write": lambda parsed, prefix, components: (f"{prefix}: {doc.text.upper()}\n" for doc, _ in parsed),
        "get": lambda doc: [doc.text.upper().strip()],
        "remove": lambda doc: None,
        "draw": lambda predicted, gold: [f"<p>{predicted}, {gold}</p>"],
    }
    monkeypatch.setitem(plugins(), ".loud", SimpleNamespace(EXTENSION="test_loud", **functions))


def test_a_plugin_reads_writes_and_draws_files_of_its_suffix(pipeline, tmp_path):
    (tmp_path / "in.loud").write_text("go away\nnow\n")
    assert parse(pipeline, tmp_path / "in.loud", tmp_path / "out.loud") == 2
    assert (tmp_path / "out.loud").read_text() == "in: GO AWAY \nin: NOW \n"
    assert render(pipeline, str(tmp_path / "in.loud"), tmp_path / "out.html") == 2
    assert "<p>GO AWAY, GO AWAY</p>" in (tmp_path / "out.html").read_text("utf8")


def test_an_unknown_suffix_is_an_error_that_names_those_of_plugins(pipeline, tmp_path):
    with pytest.raises(ValueError, match=r"E903.*\.conllu, \.amr, \.loud, \.spacy"):
        parse(pipeline, tmp_path / "in.quiet", tmp_path / "out.conllu")
