import json
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_g2g.amr.formats.amr_file import read_amr_file
from spacy_g2g.conversion import writing
from spacy_g2g.conversion.convert import convert
from spacy_g2g.conversion.parse import parse
from spacy_g2g.data import input_files
from spacy_g2g.formats.conllu import read_conllu

from ..chains import g2g, read_bin
from ..formats.samples import SAMPLE, shared_treebank


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def without_tree(text):
    """CoNLL-U text without columns 7 to 9 of words: the tree, and the graph that belongs to it."""
    rows = [line.split("\t") for line in text.split("\n")]
    return [cells[:6] + cells[9:] if cells[0].isdigit() else cells for cells in rows]


def assert_chains(path):
    for sentence in read_conllu(path, trees="full"):
        assert [word.head for word in sentence.words] == list(range(len(sentence.words)))
        assert [word.deprel for word in sentence.words] == ["root"] + ["dep"] * (len(sentence.words) - 1)
        assert {word.deps for word in sentence.words} == {"_"}


@pytest.mark.parametrize(("name", "format_"), [("out.conllu", None), ("out", "conllu")])
def test_conllu_is_given_back_but_for_its_tree(pipeline, sample, tmp_path, name, format_):
    out = tmp_path / name
    assert parse(pipeline, sample, out, format=format_) == 3
    assert without_tree(out.read_text("utf8")) == without_tree(SAMPLE)
    assert_chains(out)


@pytest.mark.parametrize("suffix", [".conllu", ".spacy"])
def test_trees_of_a_file_are_what_a_pipeline_begins_with(no_parser, sample, tmp_path, suffix):
    source, out = tmp_path / f"in{suffix}", tmp_path / "out.conllu"
    if suffix == ".conllu":
        source.write_text(SAMPLE, "utf8")
    else:
        convert([sample], source)
    parse(no_parser, source, out, initial=sample)
    assert out.read_text("utf8") == SAMPLE
    parse(no_parser, source, out)
    assert {word.head for s in read_conllu(out, trees="any") for word in s.words} == {None}


def test_trees_of_other_sentences_are_an_error(no_parser, sample, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text("1\tother\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(ValueError, match=r"E509.*other"):
        parse(no_parser, sample, tmp_path / "out.conllu", initial=other)


def test_conllu_without_annotation_is_parsed(pipeline, tmp_path):
    source, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_text("".join("\t".join([str(i), "w", *"________"]) + "\n" for i in (1, 2, 3)))
    parse(pipeline, source, out)
    assert_chains(out)


def test_spacy_to_spacy_keeps_what_gives_the_conllu_back(pipeline, sample, tmp_path):
    convert([sample], tmp_path / "in.spacy", n_sents=3)
    parse(pipeline, tmp_path / "in.spacy", tmp_path / "mid.spacy")
    for source in ("in.spacy", "mid.spacy"):
        parse(pipeline, tmp_path / source, tmp_path / "out.conllu")
        assert without_tree((tmp_path / "out.conllu").read_text("utf8")) == without_tree(SAMPLE)
        assert_chains(tmp_path / "out.conllu")


def test_lines_of_text_are_documents_in_order(pipeline, tmp_path):
    source, out = tmp_path / "in.txt", tmp_path / "out.conllu"
    source.write_bytes("One two. Three.\r\n\n  \nFour  five\u2028six.".encode())
    assert parse(pipeline, source, out) == 2
    sentences = list(read_conllu(out, trees="full"))
    assert [s.comment("sent_id") for s in sentences] == ["1-1", "1-2", "2-1"]
    assert [[w.form for w in s.words] for s in sentences] == [
        ["One", "two", "."],
        ["Three", "."],
        ["Four", "five", "six", "."],
    ]
    assert sentences[2].words[0].misc == "SpacesAfter=\\s\\s"


TEXT = "\ufeff\nOne  two\r\nthree.\n \n\nFour\n\tfive.\n\n"


@pytest.mark.parametrize(
    ("documents", "texts"),
    [
        ("line", ["One  two", "three.", "Four", "\tfive."]),
        ("paragraph", ["One  two\r\nthree.", "Four\n\tfive."]),
        ("file", ["\nOne  two\r\nthree.\n \n\nFour\n\tfive."]),
    ],
)
def test_a_text_file_is_read_by_lines_paragraphs_or_as_a_whole(pipeline, tmp_path, documents, texts):
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_bytes(TEXT.encode())
    result = g2g("parse", pipeline, source, out, "--documents", documents)
    assert result.exit_code == 0, result.output
    assert [record["text"] for record in read_jsonl(out)] == texts


def test_jsonl_keeps_other_keys_and_order(pipeline, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    records = [{"id": i, "text": f"Text {i}.", "meta": {"ä": [i]}} for i in range(50)]
    source.write_text("\n".join(json.dumps(record) for record in records) + "\n\n")
    assert parse(pipeline, source, out, batch_size=7) == 50
    written = read_jsonl(out)
    assert [{key: item[key] for key in ("id", "text", "meta")} for item in written] == records
    assert [token["head"] for token in written[0]["tokens"]] == [0, 0, 1]
    assert Doc(spacy.blank("xx").vocab).from_json(written[3])[1].head.text == "Text"


def test_jsonl_has_the_forms_of_words_of_multiword_tokens(pipeline, sample, tmp_path):
    parse(pipeline, sample, tmp_path / "out.jsonl")
    (first, second, *_) = read_jsonl(tmp_path / "out.jsonl")
    assert first["forms"][:4] == ["Vamos", "nos", "a", "el"]
    marks = [first["text"][span["start"] : span["end"]] for span in first["spans"]["mwt"]]
    assert marks == ["Vámonos", "al"]
    assert "forms" not in second


def test_jsonl_to_spacy_keeps_other_keys(pipeline, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "A b .", "id": 3}')
    parse(pipeline, tmp_path / "in.jsonl", tmp_path / "out.spacy")
    (doc,) = read_bin(tmp_path / "out.spacy")
    assert doc.user_data["jsonl"]["id"] == 3
    assert [token.dep_ for token in doc] == ["ROOT", "dep", "dep"]


@pytest.mark.parametrize(
    ("source", "content", "message"),
    [
        ("in.txt", b"ok\n\xff\n", r"E302.*in\.txt, line 2"),
        ("in.conllu", f"{SAMPLE}1\tbroken\n".encode(), r"E301.*in\.conllu, line 28"),
    ],
)
def test_bad_input_leaves_no_output(pipeline, tmp_path, source, content, message):
    (tmp_path / source).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        parse(pipeline, tmp_path / source, tmp_path / "out" / "out.conllu", batch_size=1)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "out", "options", "message"),
    [
        ("in.doc", "out.conllu", {}, r"E903.*'\.doc'.*\.txt, \.jsonl, \.conllu, \.amr, \.spacy"),
        ("sample.conllu", "out.xml", {}, r"E903.*'\.xml'.*\.conllu, \.jsonl, \.spacy, \.amr"),
        ("nowhere.txt", "out.conllu", {}, r"E906.*nowhere"),
        ("in.txt", "out.conllu", {"initial": Path("sample.conllu")}, r"E903.*\.txt"),
        ("sample.conllu", "out.conllu", {"documents": "file"}, r"E903.*sample\.conllu.*\.txt"),
        ("in.txt", "out.conllu", {"constrain": True}, r"E903.*in\.txt"),
        ("in.txt", "out.spacy", {"kbest": 2}, r"E903.*out\.spacy"),
        ("in.txt", "out.conllu", {"confidence": True}, r"E903.*out\.conllu"),
        ("in.txt", "out.conllu", {"kbest": 2}, "E840"),
    ],
)
def test_files_that_do_not_fit_are_errors_that_name_those_that_do(
    no_parser, sample, tmp_path, source, out, options, message
):
    (tmp_path / "in.txt").write_text("A text.\n")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        parse(no_parser, tmp_path / source, tmp_path / out, **options)
    assert not (tmp_path / out).exists()


def test_a_file_is_not_replaced_by_its_own_trees(no_parser, tmp_path):
    gold = tmp_path / "gold.conllu"
    gold.write_text("1\ttea\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(ValueError, match=r"E927.*gold\.conllu"):
        parse(no_parser, gold, tmp_path / "." / "gold.conllu")
    assert "root" in gold.read_text()


def test_input_is_read_as_output_is_written(pipeline, tmp_path, monkeypatch):
    """Streaming: Docs are written before the last line is read."""
    read, first_written_after = [], []

    def lines(path, unit):
        for i in range(40):
            read.append(i)
            yield f"Line {i}."

    to_sentences = writing.doc_to_sentences
    monkeypatch.setattr(input_files, "read_texts", lines)
    monkeypatch.setattr(
        writing,
        "doc_to_sentences",
        lambda doc, doc_id: first_written_after.append(len(read)) or to_sentences(doc, doc_id=doc_id),
    )
    (tmp_path / "in.txt").touch()
    parse(pipeline, tmp_path / "in.txt", tmp_path / "out.conllu", batch_size=4)
    assert first_written_after[0] <= 4
    assert first_written_after[-1] == 40


def test_command_parses_and_a_number_below_one_leaves_the_output_as_it_was(pipeline, sample, tmp_path):
    out = tmp_path / "out.conllu"
    out.write_text("old")
    result = g2g("parse", pipeline, sample, out, "--batch-size", "0")
    assert (result.exit_code, out.read_text()) == (2, "old")
    assert "--batch-size" in result.output
    result = g2g("parse", pipeline, sample, out, "--batch-size", "2")
    assert result.exit_code == 0, result.output
    assert "3 Docs" in result.output
    assert_chains(out)


@pytest.mark.linux
def test_output_to_a_stream_has_no_messages_in_it(pipeline, sample, tmp_path):
    result = g2g("parse", pipeline, sample, "/dev/null", "--format", "conllu")
    assert (result.exit_code, result.stdout) == (0, "")
    assert not Path("/dev/null").is_file()


def test_command_names_a_missing_pipeline(sample, tmp_path):
    result = g2g("parse", "no_such_pipeline", sample, tmp_path / "o.conllu")
    assert result.exit_code == 1
    assert "no_such_pipeline" in result.output


@pytest.mark.slow
def test_real_treebank_is_given_back_but_for_head_and_deprel(pipeline, tmp_path):
    path = shared_treebank("dev-only/he_htb-ud-dev.conllu")
    parse(pipeline, path, tmp_path / "out.conllu")
    assert without_tree((tmp_path / "out.conllu").read_text("utf8")) == without_tree(path.read_text("utf8"))


# AMRs


def facts(path):
    """Id, sentence, words and operands of each AMR of a file."""
    found = []
    for block in read_amr_file(path):
        operands = [value.strip('"') for role, value in block.tree[1] if role.startswith(":op")]
        found.append((block.id, block.sentence, block.tokens, operands))
    return found


@pytest.mark.parametrize("format_", [None, "amr"])
def test_amrs_of_sentences_are_numbered_and_read_again(amr_pipeline, tmp_path, format_):
    source, out = tmp_path / "news.txt", tmp_path / ("out" if format_ else "out.amr")
    source.write_text('One  :: two. "Three".\n\nfour five\n', "utf8")
    assert parse(amr_pipeline, source, out, format=format_) == 2
    assert [row[:3] for row in facts(out)] == [
        ("news.1", 'One :: two. "', ["One", ":", ":", "two", ".", '"']),
        ("news.2", 'Three".', ["Three", '"', "."]),
        ("news.3", "four five", ["four", "five"]),
    ]


def test_a_file_of_amrs_that_is_called_text_is_an_error(amr_pipeline, amr_sample, tmp_path):
    amr_sample.rename(tmp_path / "text.txt")
    with pytest.raises(ValueError, match=r"E908.*text.txt, line 1.*\.amr"):
        parse(amr_pipeline, tmp_path / "text.txt", tmp_path / "out.amr")


def test_words_of_an_amr_file_are_given_and_its_ids_stay(amr_pipeline, amr_sample, tmp_path):
    out = tmp_path / "out.amr"
    assert parse(amr_pipeline, amr_sample, out) == 2
    words = [["Mr", ".", "Li", "ca", "n't", "go", "."], ["::", "Yes", "!"]]
    assert facts(out) == [
        ("sample.1", "Mr. Li can't go.", words[0], words[0]),
        ("b.7", ":: Yes !", words[1], words[1]),
    ]


def test_words_of_an_amr_are_the_forms_of_multiword_tokens(amr_pipeline, sample, tmp_path):
    parse(amr_pipeline, sample, tmp_path / "out.amr")
    (first, *_) = facts(tmp_path / "out.amr")
    assert first[1:3] == (
        "Vámonos al mar, 10 000 veces.",
        ["Vamos", "nos", "a", "el", "mar", ",", "10_000", "veces", "."],
    )


def test_written_amrs_are_those_of_the_docs(amr_pipeline, amr_sample, tmp_path):
    parse(amr_pipeline, amr_sample, tmp_path / "out.amr")
    parse(amr_pipeline, amr_sample, tmp_path / "out.spacy")
    parse(amr_pipeline, amr_sample, tmp_path / "out.jsonl")
    written = [[block.text] for block in read_amr_file(tmp_path / "out.amr")]
    assert [list(doc._.amr) for doc in read_bin(tmp_path / "out.spacy")] == written
    vocab, records = spacy.blank("xx").vocab, read_jsonl(tmp_path / "out.jsonl")
    assert [Doc(vocab).from_json(record)._.amr for record in records] == written


def test_ids_of_jsonl_and_conllu_are_taken(amr_pipeline, tmp_path):
    (tmp_path / "in.jsonl").write_text(
        '{"text": "One.", "id": 3}\n{"text": "Two. Three.", "id": "x"}\n{"text": "Four.", "id": [1]}\n'
    )
    parse(amr_pipeline, tmp_path / "in.jsonl", tmp_path / "out.amr")
    assert [row[0] for row in facts(tmp_path / "out.amr")] == ["3", "x.1", "x.2", "in.4"]
    row = "\t".join(["1", "w", *"________"]) + "\n\n"
    (tmp_path / "in.conllu").write_text(f"# sent_id = s1\n{row}{row}")
    parse(amr_pipeline, tmp_path / "in.conllu", tmp_path / "out.amr")
    assert [row[0] for row in facts(tmp_path / "out.amr")] == ["s1", "in.2"]


def test_ids_go_through_spacy_files_and_gold_amrs_are_not_given_back(
    pipeline, amr_pipeline, amr_sample, tmp_path
):
    parse(amr_pipeline, amr_sample, tmp_path / "mid.spacy")
    parse(amr_pipeline, tmp_path / "mid.spacy", tmp_path / "out.amr")
    assert [row[0] for row in facts(tmp_path / "out.amr")] == ["mid.1", "b.7"]
    for source in (amr_sample, tmp_path / "mid.spacy"):
        parse(pipeline, source, tmp_path / "out.spacy")
        assert [doc._.amr for doc in read_bin(tmp_path / "out.spacy")] == [None, None]


def test_amrs_of_a_pipeline_that_gives_none_are_an_error(pipeline, sample, tmp_path):
    with pytest.raises(ValueError, match=r"E902.*sentencizer.*test_attach_to_previous.*amr_parser"):
        parse(pipeline, sample, tmp_path / "out.amr")
    assert not (tmp_path / "out.amr").exists()


@pytest.mark.parametrize(
    ("text", "code"), [("# ::id a\n# ::snt b\n(b / b\n", "E1002"), ("# ::id a\n(b / b)\n", "E1019")]
)
def test_a_bad_amr_file_is_an_error_with_file_line_and_id(amr_pipeline, tmp_path, text, code):
    (tmp_path / "in.amr").write_text(text)
    with pytest.raises(ValueError, match=rf"{code}.*in\.amr, line 1, id a"):
        parse(amr_pipeline, tmp_path / "in.amr", tmp_path / "out.amr")
    assert not (tmp_path / "out.amr").exists()


def test_without_penman_the_command_says_what_to_install(amr_pipeline, amr_sample, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "penman", None)
    result = g2g("parse", amr_pipeline, amr_sample, tmp_path / "out.amr")
    assert result.exit_code == 1
    assert "E1010" in result.output
