"""The trees of `assets/english`: each file makes CoNLL-U of whole trees, the same again."""

from pathlib import Path

import pytest

from assets.english.make import HERE, make
from spacy_g2g.formats.conllu import read_conllu

TEXTS = sorted((HERE / "texts").glob("*.txt"))


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_each_file_makes_trees_with_one_root(text: Path, tmp_path: Path):
    lines = list(make([text]))
    assert lines == list(make([text]))
    made = tmp_path / "made.conllu"
    made.write_text("\n".join(lines) + "\n", encoding="utf8")
    sentences = list(read_conllu(made, trees="full"))
    assert len(sentences) > 20
    assert all(word.lemma and word.upos for sentence in sentences for word in sentence.words)


def test_words_must_spell_the_text_and_lead_to_the_root(tmp_path: Path):
    text = tmp_path / "text.txt"
    for words, problem in (
        ("a DT 2 det\nb NN 1 nsubj", "one root"),
        ("a DT 2 det\nb NN 1 nsubj\nc VB 0 root", "no way"),
        ("a DT 0 root", "spell 'a'"),
    ):
        text.write_text(f"= x-01\n--\n> a b c\n{words}\n", encoding="utf8")
        with pytest.raises(ValueError, match=rf"text.txt:3: .*{problem}"):
            list(make([text]))
