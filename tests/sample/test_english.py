"""The treebank of `assets/english`: made from its texts, whole trees, and in nobody else's words."""

from pathlib import Path

import pytest

from assets.english.make import HERE, SETS, make, write
from spacy_g2g.formats.conllu import read_conllu

TEXTS = sorted((HERE / "texts").glob("*.txt"))
TREEBANKS = HERE.parents[2] / "shared" / "treebanks"
#: No two texts have as many words in a row by chance, beyond set phrases.
N_SHARED = 8


def sentences_of(path: Path) -> list[list[str]]:
    """The words of each sentence in lower case, without punctuation."""
    sentences: list[list[str]] = [[]]
    for line in path.read_text(encoding="utf8").splitlines():
        columns = line.split("\t")
        if not line:
            sentences.append([])
        elif columns[0].isdigit() and any(map(str.isalnum, columns[1])):
            sentences[-1].append(columns[1].lower())
    return sentences


def runs(sentences: list[list[str]]) -> set[tuple[str, ...]]:
    """All rows of eight words."""
    return {
        tuple(words[start : start + N_SHARED])
        for words in sentences
        for start in range(len(words) - N_SHARED + 1)
    }


def test_the_files_are_made_from_the_texts(tmp_path: Path):
    write(tmp_path)
    for name in ("train", *SETS):
        assert (tmp_path / f"{name}.conllu").read_bytes() == (HERE / f"{name}.conllu").read_bytes()


def test_each_set_has_whole_documents_of_many_kinds():
    documents = [document for document, _ in make(TEXTS)]
    chosen = [document for of_set in SETS.values() for document in of_set]
    assert len(documents) >= 1200
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) < set(documents)
    kinds = {document.rpartition("-")[0] for document in set(documents) - set(chosen)}
    assert len(kinds) >= 12
    assert {document.rpartition("-")[0] for document in chosen} <= kinds


@pytest.mark.parametrize("name", ["train", *SETS])
def test_each_sentence_is_a_tree_with_lemmas_and_parts_of_speech(name: str):
    sentences = list(read_conllu(HERE / f"{name}.conllu", trees="full"))
    assert len(sentences) > 90
    assert all(word.lemma and word.upos for sentence in sentences for word in sentence.words)


def test_no_eight_words_in_a_row_stand_in_another_treebank():
    others = sorted(TREEBANKS.glob("UD_English-*/*.conllu"))
    if not others:
        pytest.skip("../shared/treebanks is not here")
    ours = runs([words for name in ("train", *SETS) for words in sentences_of(HERE / f"{name}.conllu")])
    assert len(ours) > 5000
    for other in others:
        theirs = runs(sentences_of(other))
        assert len(theirs) > 5000
        assert ours & theirs == set()


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
