import sys

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_g2g.amr.convert_amr import convert_amr
from spacy_g2g.amr.data.docs import get_amr_ids, get_amrs
from spacy_g2g.cli import app

FILE = """# ::id a.1
# ::snt Dogs bark .
(b / bark-01 :ARG0 (d / dog))

# ::id a.2
# ::snt Broken
(b / break-01

# ::id a.3
# ::snt Cats don't sleep
(s / sleep-01 :polarity - :ARG0 (c / cat))
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(FILE, encoding="utf8")
    return path


def load(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))


def run(*arguments):
    return CliRunner().invoke(app, ["convert-amr", *map(str, arguments)])


def test_amrs_and_ids_are_in_the_output(path, tmp_path):
    counts = convert_amr([path], tmp_path / "new" / "out.spacy", ids=["a.1", "a.3"])
    assert (counts.amrs, counts.words, counts.skipped) == (2, 6, [])
    first, second = load(tmp_path / "new" / "out.spacy")
    assert get_amrs(first) == ["(b / bark-01\n   :ARG0 (d / dog))"]
    assert [*get_amr_ids(first), *get_amr_ids(second)] == ["a.1", "a.3"]
    assert [len(list(doc.sents)) for doc in (first, second)] == [1, 1]


def test_command_takes_ids_and_words_of_the_tokenizer(path, tmp_path):
    output = tmp_path / "out.spacy"
    result = run(path, path, output, "--ids", "a.3..9", "--ids", "a.1", "--no-gold-tokens", "--limit", 3)
    assert result.exit_code == 0, result.output
    assert "3 AMRs, 10 words:" in result.output
    assert [doc.text for doc in load(output)] == ["Dogs bark .", "Cats don't sleep", "Dogs bark ."]
    assert [token.text for token in load(output)[1]] == ["Cats", "do", "n't", "sleep"]


def test_command_skips_what_cannot_be_read_and_counts_it(path, tmp_path):
    with pytest.warns(UserWarning, match="W1001.*line 5, id a.2"):
        result = run(path, tmp_path / "out.spacy", "--on-error", "skip")
    assert "2 AMRs, 6 words, 1 left out:" in result.output
    assert len(load(tmp_path / "out.spacy")) == 2


def test_bad_input_is_one_line_and_leaves_the_output_as_it_was(path, tmp_path):
    output = tmp_path / "out.spacy"
    output.write_bytes(b"before")
    for arguments, code in [
        ([path, output], "E1002"),
        ([path, output, "--on-error", "ignore"], "E1008"),
        ([path, output, "--ids", "a.3..1"], "E1009"),
        ([tmp_path / "nowhere", output], "E507"),
        ([output, output], "E508"),
        ([path, tmp_path / "out.json"], "E903"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1
        assert code in result.output
        assert isinstance(result.exception, SystemExit)
    assert output.read_bytes() == b"before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.txt", "out.spacy"]


def test_without_penman_the_command_says_what_to_install(path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "penman", None)
    result = run(path, tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert "E1010" in result.output
    assert 'pip install "spacy-g2g[amr]"' in result.output


def test_input_and_output_are_needed(path):
    assert run(path).exit_code == 2
