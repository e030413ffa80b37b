"""`experiments.short_sentences` counts the boundaries between short sentences that are found."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest
import spacy

from experiments import short_sentences
from experiments.short_sentences import KINDS, Result, make_texts, measure
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

SENTENCES = (
    "It rained .",
    "We left .",
    "Stop !",
    "Fine",
    "Dogs bark at night and at cats .",
    "Why ?",
    "Yes .",
)


def rows(sentence: str) -> str:
    lines = [f"# text = {sentence}"]
    for i, word in enumerate(sentence.split(), 1):
        pos = "X" if word.isalpha() else "PUNCT"
        lines.append("\t".join([str(i), word, word, pos, "_", "_", str(i - 1), "root", "_", "_"]))
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "dev.conllu"
    path.write_text("".join(map(rows, SENTENCES)), encoding="utf8")
    return path


def test_texts_have_sentences_of_their_kind_and_none_twice(treebank: Path):
    sentences: list[ConlluSentence] = [*read_conllu(treebank)]
    texts = [*make_texts(sentences, KINDS[0], seed=0)]
    used = [sentence for text in texts for sentence in text]
    assert len(used) == len({*used}) == 6
    assert {*used} == {*SENTENCES} - {"Dogs bark at night and at cats ."}
    assert all(len(text) == 2 and text[0][-1] in ".!?" for text in texts)
    assert texts == [*make_texts(sentences, KINDS[0], seed=0)]


def test_found_and_wrong_boundaries_are_counted():
    def find_starts(texts: Sequence[str]) -> Iterator[Collection[int]]:
        assert texts == ["It rained. We left.", "Stop! Why? Yes."]
        yield from ([0, 11], [0, 6, 11])

    result = measure([["It rained.", "We left."], ["Stop!", "Why? Yes."]], find_starts)
    assert result == Result(n_texts=2, n_boundaries=2, n_found=2, n_sentences=4, n_wrong=1)


def test_the_table_has_a_row_for_each_kind(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    short_sentences.main([str(tmp_path / "pipeline"), str(treebank)])
    table = capsys.readouterr().out.splitlines()
    assert table[2] == "| pairs of 1 to 4 words | 3 | 100.0 | 0.0 |"
    assert [line.split(" | ")[0] for line in table[2:]] == [f"| {kind.name}" for kind in KINDS]
