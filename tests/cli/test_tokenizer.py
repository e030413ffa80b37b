"""``g2g tokenizer``: a tokenizer from a treebank."""

import pytest
import spacy
from spacy.training.callbacks import create_copy_from_base_model
from typer.testing import CliRunner

from spacy_g2g.cli import app
from spacy_g2g.cli.tokenizer import explain_tokens, make_tokenizer
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import row

TEXT = "".join([row("1", "=====", "0", "root"), row("2", "Lt.", "1", "dep"), "\n"] * 2)
TEXT += "".join([row("1", "=======", "0", "root"), "\n"])


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.conllu"
    path.write_text(TEXT)
    return path


def test_a_pipeline_takes_the_tokenizer_by_a_callback_of_spacy(treebank, tmp_path):
    scores = make_tokenizer(treebank, tmp_path / "out", lang="en", dev=treebank)
    before, after = scores["dev"]
    assert before.f1 < after.f1 == 1
    nlp = spacy.blank("xx")
    create_copy_from_base_model(tokenizer=str(tmp_path / "out"))(nlp)
    assert [token.text for token in nlp("==== (Lt.)")] == ["====", "(", "Lt.", ")"]


def test_the_command_shows_f1_before_and_after(treebank, tmp_path):
    result = CliRunner().invoke(app, ["tokenizer", str(treebank), str(tmp_path / "out"), "--lang", "en"])
    assert result.exit_code == 0, result.output
    assert "100.00" in result.output
    assert "Disagreements left on train: none" in result.output


@pytest.mark.parametrize(("lang", "text", "code"), [("en", "", "E940"), ("qq", TEXT, "E941")])
def test_an_empty_file_and_an_unknown_language_are_errors(tmp_path, lang, text, code):
    path = tmp_path / "train.conllu"
    path.write_text(text)
    with pytest.raises(ValueError, match=code):
        make_tokenizer(path, tmp_path / "out", lang=lang)


def test_the_loss_by_multiword_tokens_is_one_line(sample):
    lines = list(explain_tokens(spacy.blank("xx").tokenizer, list(read_conllu(sample))))
    assert len(lines) == 2
    # 9 words of 13 are tokens, of which there are 11.
    assert "4 of 13 words are parts of multiword tokens" in lines[1]
    assert f"at most {100 * 2 * 9 / (13 + 11):.2f}" in lines[1]
