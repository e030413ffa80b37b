"""`experiments.stability` rewrites sentences, and counts the arcs and trees that stay."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from experiments import stability
from experiments.stability import Word

ANNA = [
    Word("Anna", "PROPN", (2, "nsubj")),
    Word("read", "VERB", (0, "root")),
    Word("``", "PUNCT", (4, "punct")),
    Word("1984", "NUM", (2, "obj")),
    Word("''", "PUNCT", (4, "punct")),
    Word("yesterday", "NOUN", (2, "obl")),
    Word(".", "PUNCT", (2, "punct")),
]


def changed(rewrite: str) -> str:
    return " ".join(stability.REWRITES[rewrite](ANNA, random.Random(0)))


def test_each_rewrite_changes_what_it_says():
    first, rest = changed("another name").split(" ", 1)
    assert first in stability.PEOPLE
    assert rest == "read `` 1984 '' yesterday ."
    assert changed("other names").split(" ")[0] in stability.NAMES
    digits = changed("other digits").split(" ")[3]
    assert digits.isdecimal()
    assert digits != "1984"
    assert changed("curly quotes") == "Anna read \u201c 1984 \u201d yesterday ."
    assert sorted(changed("one typo")) == sorted(changed("lower case").replace("anna", "Anna"))
    assert changed("no final mark") == "Anna read `` 1984 '' yesterday"
    assert changed("upper case").startswith("ANNA READ")


def test_a_name_of_two_words_or_elsewhere_is_not_a_lone_name():
    flat = [ANNA[0], Word("Karenina", "PROPN", (1, "flat")), *ANNA[2:]]
    place = [ANNA[0]._replace(arc=(2, "obl")), *ANNA[1:]]
    for sentence in (flat, place):
        assert stability.another_name(sentence, random.Random(0))[0] == "Anna"


@pytest.fixture
def nlp() -> Language:
    """A pipeline in which all words depend on the second, or on new digits. Two arcs of ANNA are right."""
    nlp = spacy.blank("xx")

    @Language.component("on_one_word")
    def parse(doc: Doc) -> Doc:
        root = next((token.i for token in doc if token.text.isdecimal() and token.text != "1984"), 1)
        for token in doc:
            token.head = doc[root]
            token.dep_ = "root" if token.i == root else "nsubj:x"
        return doc

    nlp.add_pipe("on_one_word")
    return nlp


def test_arcs_and_trees_are_counted(nlp: Language):
    rows = {name: figures for name, *figures in stability.measure(nlp, [ANNA], random.Random(0))}
    before = pytest.approx(100 * 2 / 7)
    assert rows["curly quotes"] == [1, 100.0, 100.0, before, before]
    assert rows["no final mark"] == [1, 100.0, 100.0, pytest.approx(100 * 2 / 6), pytest.approx(100 * 2 / 6)]
    assert rows["other digits"] == [1, 0.0, 0.0, before, 0.0]


def test_the_table_is_printed(nlp: Language, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nlp_path, corpus = tmp_path / "nlp", tmp_path / "dev.conllu"
    nlp.to_disk(nlp_path)
    rows = [
        f"{i}\t{word.form}\t_\t{word.upos}\t_\t_\t{word.arc[0]}\t{word.arc[1]}\t_\t_"
        for i, word in enumerate(ANNA, 1)
    ]
    corpus.write_text("\n".join(rows) + "\n\n", encoding="utf8")
    stability.main([str(nlp_path), str(corpus)])
    table = capsys.readouterr().out
    assert table.startswith("1 sentences")
    assert "| other digits | 1 | 0.00 | 0.00 | 28.57 | 0.00 |" in table
