"""Files that nobody should give to a command: each is an error with file and line, and no output."""

import json
import zlib

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.analysis.refinement import refinement
from spacy_g2g.conversion.convert import convert
from spacy_g2g.conversion.parse import parse
from spacy_g2g.terminal.messages import msg, printable

from ..chains import g2g
from ..formats.samples import row


@pytest.mark.parametrize("feats", ["A", "|", "A=B=C", "_|_", "A=B|C"])
def test_features_that_are_none_are_an_error_with_file_and_line(tmp_path, feats):
    path = tmp_path / "in.conllu"
    good = row("1", "a", "0", "root")
    bad = row("2", "b", "1", "dep").replace("\t_\t1\t", f"\t{feats}\t1\t")
    path.write_text(f"{good}\n{good}{bad}\n")
    with pytest.raises(ValueError, match=r"E520.*in\.conllu, line 4.*" + feats.replace("|", r"\|")):
        convert([path], tmp_path / "out.spacy")


@pytest.mark.parametrize("suffix", [".conllu", ".conllx"])
@pytest.mark.parametrize(
    "use", [evaluate, refinement, lambda nlp, path: convert([path], path.with_suffix(".spacy"))]
)
def test_a_treebank_without_sentences_is_an_error(pipeline, tmp_path, suffix, use):
    path = tmp_path / f"empty{suffix}"
    path.write_text("\n\n")
    with pytest.raises(ValueError, match="E903" if use is refinement and suffix == ".conllx" else "E925"):
        use(pipeline, path)


def test_raw_text_of_a_treebank_without_sentences_is_an_error(pipeline, tmp_path):
    (tmp_path / "empty.conllu").touch()
    result = g2g("evaluate", pipeline, tmp_path / "empty.conllu", "--raw")
    assert result.exit_code == 1
    assert "E925" in result.output


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": 1}',
        '{"text": 1}',
        "[" * 100_000,
        '{"text": "a", "n": ' + "9" * 5000 + "}",
        '{"text": "\\ud800"}',
        '{"text": "a", "b": "\\uDFFF"}',
    ],
    ids=["cut", "list", "no-text", "number", "deep", "digits", "text", "key"],
)
def test_json_that_is_no_document_is_an_error_with_its_line(pipeline, tmp_path, line):
    (tmp_path / "in.jsonl").write_text('{"text": "A"}\n' + line)
    with pytest.raises(ValueError, match=r"E905.*in\.jsonl, line 2"):
        parse(pipeline, tmp_path / "in.jsonl", tmp_path / "out.jsonl")


def test_json_of_a_whole_character_in_two_halves_is_a_document(pipeline, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "\\ud83d\\ude00"}\n')
    parse(pipeline, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text("utf8"))["text"] == "\U0001f600"


def test_a_key_that_a_spacy_file_cannot_hold_is_an_error(pipeline, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "A"}\n{"text": "A", "id": 99999999999999999999}\n')
    with pytest.raises(ValueError, match=r"E926.*document 2"):
        parse(pipeline, tmp_path / "in.jsonl", tmp_path / "out.spacy")
    assert not (tmp_path / "out.spacy").exists()


@pytest.mark.parametrize("suffix", [".txt", ".jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_text(pipeline, tmp_path, suffix):
    text = '{"text": "The dog ."}' if suffix == ".jsonl" else "The dog ."
    (tmp_path / f"in{suffix}").write_text(text, "utf-8-sig")
    parse(pipeline, tmp_path / f"in{suffix}", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text("utf8"))["text"] == "The dog ."


@pytest.mark.parametrize(
    "found",
    [
        3,
        None,
        [1],
        {},
        {"text": "a\tb"},
        {"text": ["a"]},
        {"text": 3, "lengths": [2]},
        {"text": ["a"], "lengths": ["2"]},
        {"text": ["a"], "lengths": [-2]},
        {"text": [], "lengths": [2]},
    ],
    ids=str,
)
def test_other_user_data_of_that_name_is_an_error(pipeline, tmp_path, found):
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b"])
    doc.user_data["conllu"] = found
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "in.spacy")
    with pytest.raises(ValueError, match="E521"):
        parse(pipeline, tmp_path / "in.spacy", tmp_path / "out.conllu")


@pytest.mark.parametrize("attrs", [[], ["LEMMA"], "ORTH"])
def test_a_spacy_file_that_is_none_is_an_error_with_file_and_document(pipeline, tmp_path, attrs):
    bin_ = DocBin(docs=[Doc(spacy.blank("xx").vocab, words=["a", "b"])])
    content = srsly.msgpack_loads(zlib.decompress(bin_.to_bytes()))
    content["attrs"] = attrs
    (tmp_path / "in.spacy").write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    with pytest.raises(ValueError, match=r"E928.*in\.spacy, document 1.*DocBin"):
        parse(pipeline, tmp_path / "in.spacy", tmp_path / "out.conllu")


def test_messages_do_not_obey_what_files_contain(capsys):
    text = "\x1b[31mred\x9b\u202e\ud800\nä\t日"
    assert printable(text) == "\ufffd[31mred\ufffd\ufffd\ufffd\nä\t日"
    msg.fail(text, text)
    msg.table([(text, "1")], header=("a", "b"))
    shown = capsys.readouterr().out
    assert shown.count("\ufffd[31mred") == 3
    assert "\x1b[31mred" not in shown


def test_ids_of_amrs_do_not_reach_the_terminal_as_they_are(tmp_path):
    path = tmp_path / "in.amr"
    path.write_text("# ::id \x1b[31mx\n# ::snt b\n(b / b\n")
    result = g2g("convert-amr", path, tmp_path / "out.spacy", color=True)
    assert result.exit_code == 1
    assert "\ufffd[31mx" in result.output
