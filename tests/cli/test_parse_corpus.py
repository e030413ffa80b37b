import sys

import pytest
from typer.testing import CliRunner

from spacy_g2g.cli import app
from spacy_g2g.cli.parse_corpus import part_of

from ..corpus_job.util import CODE, ids, rows, save_chain, texts, write_jsonl


@pytest.fixture
def job(tmp_path):
    """Arguments of a job: a pipeline, ten documents, and a folder."""
    save_chain(tmp_path / "pipeline")
    corpus = write_jsonl(tmp_path / "corpus.jsonl", texts(10))
    return [str(path) for path in (tmp_path / "pipeline", corpus, tmp_path / "out")]


def invoke(*arguments):
    return CliRunner().invoke(app, ["parse-corpus", *arguments, "--engine", "none"])


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


def test_failed_shards_are_exit_status_1_and_are_named(job, tmp_path):
    write_jsonl(tmp_path / "corpus.jsonl", ["RAISE"] * 20)
    result = invoke(*job)
    assert result.exit_code == 1
    assert "1 shards failed: part-000000" in result.output
    assert "E1116" in result.output


def test_another_job_is_exit_status_2_with_what_differs(job):
    assert invoke(*job).exit_code == 0
    result = invoke(*job, "--no-text")
    assert result.exit_code == 2
    assert "E1111" in result.output


def test_parts_count_from_1(job, tmp_path):
    assert (part_of(None), part_of("1/1"), part_of("3/10")) == (None, (1, 1), (3, 10))
    for text in ("0/3", "4/3", "3", "a/b", "-1/3", "1/0"):
        with pytest.raises(ValueError, match=r"E1118.*I/N"):
            part_of(text)
    result = invoke(*job, "--only", "2/2")
    assert result.exit_code == 0
    assert "Others of the job are not" in result.output


def test_arguments_that_are_missing_are_named(job):
    result = invoke(*job[:2])
    assert result.exit_code == 2
    assert "OUTPUT" in result.output
    result = invoke("no_such_pipeline", *job[1:])
    assert result.exit_code == 1
    assert "E1110" in result.output


def test_without_the_extra_the_command_says_what_to_install(job, forget_package, monkeypatch):
    forget_package("corpus_job")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    result = invoke(*job)
    assert result.exit_code == 1
    assert "E1119" in result.output
    assert "pip install '.[corpus]'" in result.output
    assert "--engine none" not in result.output


def test_without_ray_the_default_engine_says_what_to_install(job, monkeypatch):
    monkeypatch.delitem(sys.modules, "spacy_g2g.corpus_job.ray_engine", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    result = CliRunner().invoke(app, ["parse-corpus", *job])
    assert result.exit_code == 1
    assert "--engine none" in result.output
