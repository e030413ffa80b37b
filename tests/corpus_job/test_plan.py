import gzip
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.vocab import Vocab

from spacy_g2g.corpus_job import documents as documents_module
from spacy_g2g.corpus_job import plan as plan_module
from spacy_g2g.corpus_job.documents import Fields, read_documents
from spacy_g2g.corpus_job.plan import make_plan

LINES = st.lists(st.text(st.sampled_from("ab é€😀\t\r\u2028\u0085"), max_size=12), max_size=12)


def documents(inputs, shard_bytes, fields=None):
    plan = make_plan(inputs, shard_bytes=shard_bytes)
    return [list(read_documents(shard, fields or Fields(), Vocab())) for shard in plan]


@given(lines=LINES, end=st.sampled_from(["", "\n", "\r\n"]), shard_bytes=st.integers(1, 60))
def test_each_line_is_in_one_shard_wherever_files_are_cut(tmp_path_factory, lines, end, shard_bytes):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    text = "\n".join(lines) + end
    path.write_bytes(text.encode())
    found = [document for shard in documents([path], shard_bytes) for document in shard]
    assert [d.content for d in found] == [
        line.rstrip("\r") for line in text.split("\n") if line.encode().strip()
    ]
    assert len({d.place for d in found}) == len(found)
    assert [d.id for d in found] == [f"lines.txt:{d.place}" for d in found]


@given(sizes=st.lists(st.integers(1, 6), max_size=5), shard_bytes=st.integers(1, 200))
def test_each_row_is_in_one_shard_wherever_row_groups_end(tmp_path_factory, sizes, shard_bytes):
    path = tmp_path_factory.getbasetemp() / "rows.parquet"
    schema = pa.schema([("text", pa.string()), ("id", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for size in sizes:
            table = pa.table({"text": ["some text"] * size, "id": range(size)}, schema=schema)
            writer.write_table(table, row_group_size=size)
    found = [document for shard in documents([path], shard_bytes) for document in shard]
    assert [d.place for d in found] == list(range(sum(sizes)))
    assert [d.id for d in found] == [str(i) for size in sizes for i in range(size)]


def test_shards_have_the_size_that_was_asked_for(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"0123456789abcde\n" * 1000)
    plan = make_plan([tmp_path], shard_bytes=1600)
    assert len(plan) == 10
    assert plan == make_plan([tmp_path], shard_bytes=1600)
    assert [len(shard) for shard in documents([tmp_path], 1600)] == [100] * 10


def test_files_of_folders_come_once_and_in_order(tmp_path):
    for name in ("b/1.txt", "a/2.jsonl", "a/.hidden.txt", "README", ".git/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    plan = make_plan([tmp_path, tmp_path / "b" / "1.txt"], shard_bytes=100)
    assert [(shard.name, [part.label for part in shard.parts]) for shard in plan] == [
        ("part-000000", ["a/2.jsonl"]),
        ("part-000001", ["1.txt"]),
    ]


def test_packed_files_are_read(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("one\n\ntwo €\n".encode()))
    with pa.output_stream(tmp_path / "b.jsonl.zst", compression="zstd") as file:
        file.write(b'{"text": "three", "id": 7}\n')
    (gz,), zst = documents([tmp_path / "a.txt.gz"], 1), documents([tmp_path / "b.jsonl.zst"], 1)
    assert [(d.id, d.content) for d in gz] == [("a.txt.gz:0", "one"), ("a.txt.gz:5", "two €")]
    assert [(d.id, d.content) for d in zst[0]] == [("7", "three")]


def test_a_large_file_that_is_one_shard_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_module, "LARGE", 10)
    for name in ("a.txt.gz", "b.txt"):
        (tmp_path / name).write_bytes(b"more than ten bytes\n")
    with pytest.warns(UserWarning, match=r"W1101.*a\.txt\.gz") as caught:
        make_plan([tmp_path], shard_bytes=100)
    assert len(caught) == 1


def test_bad_inputs_are_errors(tmp_path):
    (tmp_path / "a.pdf").touch()
    with pytest.raises(ValueError, match=r"E1101.*\.parquet, \.jsonl"):
        make_plan([tmp_path], shard_bytes=1)
    with pytest.raises(ValueError, match=r"E1101.*a\.pdf"):
        make_plan([tmp_path / "a.pdf"], shard_bytes=1)
    with pytest.raises(FileNotFoundError, match=r"E1102.*nowhere"):
        make_plan([tmp_path / "nowhere.txt"], shard_bytes=1)
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"E1103.*\['text'\].*body"):
        make_plan([tmp_path / "a.parquet"], shard_bytes=1)


BAD_LINES = {
    "{": "JSONDecodeError",
    "[1]": "E1105.*list",
    '{"id": "x"}': "E1106.*NoneType",
    '{"text": 5}': "E1106.*int",
    '{"text": null}': "E1106.*NoneType",
    '{"text": "\\ud800"}': "UnicodeEncodeError",
    '{"text": "a", "id": "\\udfff"}': "UnicodeEncodeError",
    '{"text": "a", "n": "\\udfff"}': "UnicodeEncodeError",
    "[" * 100_000: "RecursionError",
    "1" * 5000: "ValueError",
    "\udcff": "UnicodeDecodeError",
}


def test_a_document_that_cannot_be_read_is_an_error_of_its_own(tmp_path):
    path = tmp_path / "bad.jsonl"
    lines = ["\n".join([bad, json.dumps({"text": f"good {i}"})]) for i, bad in enumerate(BAD_LINES)]
    path.write_bytes("\n".join(lines).encode("utf8", "surrogateescape"))
    (found,) = documents([path], 10**9, Fields(kept=("n",)))
    assert [d.content for d in found[1::2]] == [f"good {i}" for i in range(len(BAD_LINES))]
    for document, pattern in zip(found[::2], BAD_LINES.values(), strict=True):
        assert document.content is None
        assert re.search(pattern, document.error), document


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(documents_module, "LONGEST_LINE", 10)
    (tmp_path / "a.txt").write_bytes(b"0123456789abcdefghijklmnopqrst\nshort\n123456789\n1234567890\n")
    (found,) = documents([tmp_path / "a.txt"], 10**9)
    assert [(d.place, d.content, bool(d.error)) for d in found] == [
        (0, None, True),
        (31, "short", False),
        (37, "123456789", False),
        (47, None, True),
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    (found,) = documents([tmp_path / "a.txt"], 10**9)
    assert [d.content for d in found] == ["one", "two"]


def test_rows_without_text_are_errors_and_kept_columns_are_text(tmp_path):
    table = pa.table(
        {"text": ["a", None, "c"], "id": ["x", None, "z"], "n": [1, 2, None], "s": ["p", "q", "r"]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    (found,) = documents([tmp_path / "a.parquet"], 10**9, Fields(kept=("n", "s")))
    assert [(d.id, d.content, d.kept) for d in found] == [
        ("x", "a", ("1", "p")),
        ("a.parquet:1", None, ()),
        ("z", "c", (None, "r")),
    ]
    assert "E1106" in found[1].error
