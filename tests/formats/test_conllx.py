"""CoNLL-X files are read as CoNLL-U."""

import pytest
from spacy.vocab import Vocab

from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.formats.conllx import describe_row

#: A row as the shared task of 2006 has it, with a projective tree; one of a Penn Treebank conversion.
TEXT = """\
1\tMs.\t_\tNNP\tNNP\t_\t2\tnn\t_\t_
2\tHaag\t_\tNNP\tNNP\t_\t3\tnsubj\t3\tSBJ
3\tplays\tplay\tVBZ\tVBZ\tnum=sg|per=3\t0\troot\t0\tROOT
4\t.\t_\t.\t.\t_\t3\tpunct\t_\t_

1\tYes\t_\tUH\tUH\t_\t0\troot\t_\t_
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gold.conllx"
    path.write_text(TEXT)
    return path


def words(sentences):
    return [
        [(w.form, w.lemma, w.upos, w.xpos, w.feats, w.head, w.deprel) for w in s.words] for s in sentences
    ]


def test_columns_are_those_of_conllu_but_for_the_projective_tree(file):
    first, second = read_conllu(file, trees="full")
    assert words([first])[0][2] == ("plays", "play", "VBZ", "VBZ", "num=sg|per=3", 0, "root")
    assert [(w.deps, w.misc) for w in first.words] == [("_", "_")] * 4
    assert first.text == "Ms. Haag plays ."
    assert words([second]) == [[("Yes", "_", "UH", "UH", "_", 0, "root")]]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("sg|masc", "masc=Yes|sg=Yes"),
        ("num=sg|per=3", "num=sg|per=3"),
        ("per=3|num=sg|3", "3=Yes|num=sg|per=3"),
        ("a=b=c|=|x=|sg|sg", "a=b-c|sg=Yes|x=Yes"),
        ("|", "_"),
    ],
)
def test_features_have_values(tmp_path, features, expected):
    path = tmp_path / "gold.conllx"
    path.write_text(TEXT.replace("num=sg|per=3", features))
    sentences = list(read_conllu(path))
    assert sentences[0].words[2].feats == expected
    # spaCy can hold them.
    docs = list(sentences_to_docs(sentences, Vocab()))
    assert str(docs[0][2].morph) == ("" if expected == "_" else expected)


def test_comments_are_kept(file):
    file.write_text("# sent_id = a\n" + TEXT)
    first, second = read_conllu(file)
    assert (first.comments, second.comments) == (["# sent_id = a"], [])


def test_what_is_read_is_conllu(file):
    sentences = list(read_conllu(file))
    text = "".join(map(str, sentences))
    assert words(read_conllu(text.splitlines(keepends=True))) == words(sentences)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n\n", "\n \t\n\n"),
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.replace("\t_\t_\n", "\n").replace("\t3\tSBJ\n", "\n").replace("\t0\tROOT\n", "\n"),
        lambda text: text.replace("\tnn\t_\t_\n", "\tnn\t\t\n").replace("Ms.\t_\t", "Ms.\t\t"),
    ],
    ids=["no-last-line-end", "white-space-between", "windows", "eight-columns", "empty-cells"],
)
def test_files_may_be_less_tidy(file, change):
    expected = words(read_conllu(file))
    file.write_bytes(change(TEXT).encode("utf8"))
    assert words(read_conllu(file)) == expected


@pytest.mark.parametrize("suffix", [".conll", ".conllx"])
def test_suffix_says_what_a_file_is(file, suffix):
    path = file.rename(file.with_suffix(suffix))
    assert [w.misc for w in next(read_conllu(path)).words] == ["_"] * 4
    path = path.rename(file.with_suffix(".conllu"))
    assert [w.misc for w in next(read_conllu(path)).words] == ["_", "SBJ", "ROOT", "_"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4\t.\t_\t.\t.", "4\t.", r"E310.*gold\.conllx, line 4: .* found 7"),
        ("4\t.\t_", "4 .\t_", r"E310.*line 4: .* found 9"),
        ("4\t.\t_", "x\t.\t_", r"E303.*line 4: broken ID 'x'"),
        ("3\tplays\tplay\tVBZ\tVBZ\tnum=sg|per=3\t0", "3\tplays\tplay\tVBZ\tVBZ\t_\t7", r"E304.*line 3"),
    ],
)
def test_errors_name_the_line_of_the_file(file, old, new, message):
    assert old in TEXT
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(ValueError, match=message):
        list(read_conllu(file))


#: Rows of other numbers of columns than ten, with the guess at what is wrong.
GUESSES = {
    "a": "",
    "a b": ". Are there spaces in place of tabs?",
    "a\tb c": "",
    "a\tb\t": ". Remove the tab at the end of the row.",
    "\t".join("abcdefg"): "",
    "\t".join("abcdefgh"): ". Eight columns are CoNLL-X: give the file the suffix .conllx.",
    "\t".join("abcdefghij"): "",
    "\t".join("abcdefghijk"): (
        ". For CoNLL-U Plus (# global.columns), keep the columns ID to MISC. For CoNLL-2009, keep columns "
        "1, 2, 3, 5, 5, 7, 9 and 11, which are CoNLL-X (.conllx)."
    ),
}


@pytest.mark.parametrize("row", GUESSES)
def test_a_row_of_another_format_is_recognized(row):
    described = describe_row(row, where="here")
    assert described == {"where": "here", "found": row.count("\t") + 1, "row": row, "hint": GUESSES[row]}


def test_a_long_row_is_shown_in_part():
    assert describe_row("x" * 1000, where="here")["row"] == "x" * 80
