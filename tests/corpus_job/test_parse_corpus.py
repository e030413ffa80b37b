import sys

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.corpus_job.parse_corpus import parse_part

from ..chains import g2g
from .util import CODE, ids, rows, save_chain, texts, write_jsonl


@pytest.fixture
def job(tmp_path):
    """Arguments of a job: a pipeline, ten documents, and a folder."""
    save_chain(tmp_path / "pipeline")
    corpus = write_jsonl(tmp_path / "corpus.jsonl", texts(10))
    return [str(path) for path in (tmp_path / "pipeline", corpus, tmp_path / "out")]


def invoke(*arguments):
    return g2g("parse-corpus", *arguments, "--engine", "none")


def test_command_parses_and_tells_words_and_errors(job, tmp_path):
    result = invoke(*job, "--shard-mb", "0.001", "--code", str(CODE))
    assert result.exit_code == 0, result.output
    assert "10 documents, 0 errors" in result.output
    assert "words/s" in result.output
    assert ids(tmp_path / "out") == [f"d{i}" for i in range(10)]
    again = invoke(*job, "--shard-mb", "0.001", "--code", str(CODE), "--silent")
    assert (again.exit_code, again.output) == (0, "")


def test_options_choose_columns(job, tmp_path):
    options = ["--keep", "text", "--no-text", "--annotations", "heads", "--id-column", "nothing"]
    assert invoke(*job, *options).exit_code == 0
    row = rows(tmp_path / "out")[0]
    assert list(row) == ["id", "file", "place", "words", "spaces", "heads", "text"]
    assert (row["id"], row["text"]) == ("corpus.jsonl:0", texts(1)[0])


def test_paragraphs_and_files_can_be_documents(job, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("One\ntwo.\n\nThree.\n")
    for documents, expected in (
        ("paragraph", [("in.txt:0", "One\ntwo."), ("in.txt:10", "Three.")]),
        ("file", [("in.txt", "One\ntwo.\n\nThree.")]),
    ):
        out = tmp_path / documents
        assert invoke(job[0], str(source), str(out), "--documents", documents).exit_code == 0
        assert [(row["id"], row["text"]) for row in rows(out)] == expected
        assert {row["file"] for row in rows(out)} == {"in.txt"}
    assert "documents" in invoke(job[0], str(source), str(tmp_path / "file")).output


def test_files_without_the_columns_to_keep_have_none(job, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.conllu").write_text("\t".join(["1", "w", *"________"]) + "\n\n")
    DocBin(docs=[Doc(Vocab(), words=["w"])]).to_disk(tmp_path / "in" / "b.spacy")
    (tmp_path / "in" / "c.jsonl").write_text('{"text": "w", "url": "u"}\n')
    assert invoke(job[0], str(tmp_path / "in"), job[2], "--keep", "url").exit_code == 0
    assert [row["url"] for row in rows(tmp_path / "out")] == [None, None, "u"]


def test_damaged_files_are_exit_status_1_and_are_named(job, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt.gz"):
        (tmp_path / "in" / name).write_text("This is no gzip.")
    for _ in range(2):
        result = invoke(job[0], str(tmp_path / "in"), job[2])
        assert result.exit_code == 1
        assert "E1115" in result.output
        assert "b.txt.gz" in result.output
    assert ids(tmp_path / "out") == ["a.txt:0"]


@pytest.mark.parametrize("option", ["--shard-mb", "--timeout"])
@pytest.mark.parametrize("value", ["inf", "nan", "-1"])
def test_numbers_without_bounds_are_refused(job, tmp_path, option, value):
    result = invoke(*job, option, value)
    assert (result.exit_code, option in result.output) == (2, True)
    assert not (tmp_path / "out").exists()


def test_failed_shards_are_exit_status_1_and_another_job_is_2(job, tmp_path):
    assert invoke(*job).exit_code == 0
    result = invoke(*job, "--no-text")
    assert (result.exit_code, "E1111" in result.output) == (2, True)
    write_jsonl(tmp_path / "corpus.jsonl", ["RAISE"] * 20)
    result = invoke(*job[:2], tmp_path / "other")
    assert result.exit_code == 1
    assert "1 shards failed: part-000000" in result.output
    assert "E1116" in result.output


def test_a_job_of_errors_alone_is_exit_status_1(job, tmp_path):
    result = invoke(*job, "--text-column", "nothing")
    assert (result.exit_code, "E1126" in result.output) == (1, True)


def test_parts_count_from_1(job, tmp_path):
    assert (parse_part(None), parse_part("1/1"), parse_part("3/10")) == (None, (1, 1), (3, 10))
    for text in ("0/3", "4/3", "3", "a/b", "-1/3", "1/0"):
        with pytest.raises(ValueError, match=r"E1118.*I/N"):
            parse_part(text)
    result = invoke(*job, "--only", "2/2")
    assert result.exit_code == 0
    assert "Others of the job are not" in result.output


def test_arguments_that_are_missing_are_named(job):
    result = invoke(*job[:2])
    assert (result.exit_code, "OUTPUT" in result.output) == (2, True)
    result = invoke("no_such_pipeline", *job[1:])
    assert (result.exit_code, "E1110" in result.output) == (1, True)


def test_without_the_extra_the_command_says_what_to_install(job, forget_package, monkeypatch):
    forget_package("corpus_job")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    result = invoke(*job)
    assert result.exit_code == 1
    assert "E1119" in result.output
    assert 'pip install ".[corpus]"' in result.output
    assert "--engine none" not in result.output


def test_without_ray_the_default_engine_says_what_to_install(job, monkeypatch):
    monkeypatch.delitem(sys.modules, "spacy_g2g.corpus_job.ray_engine", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    result = g2g("parse-corpus", *job)
    assert result.exit_code == 1
    assert "--engine none" in result.output
