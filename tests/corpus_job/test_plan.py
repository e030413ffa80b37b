import gzip
import itertools
import json
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.corpus_job import documents as documents_module
from spacy_g2g.corpus_job import plan as plan_module
from spacy_g2g.corpus_job.documents import read_documents
from spacy_g2g.corpus_job.plan import Fields, make_plan

LINES = st.lists(st.text(st.sampled_from("ab é€😀\t\r\u2028\u0085"), max_size=12), max_size=12)


def documents(inputs, shard_bytes, fields=None):
    plan = make_plan(inputs, fields or Fields(), shard_bytes)
    return [list(read_documents(shard, fields or Fields(), Vocab())) for shard in plan]


def paragraphs(text):
    rows = re.findall(r"[^\n]*\n|[^\n]+", text)
    grouped = itertools.groupby(rows, key=lambda row: not row.encode().strip())
    return ["".join(block).rstrip("\r\n") for is_blank, block in grouped if not is_blank]


def full_lines(text):
    return [line.rstrip("\r") for line in text.split("\n") if line.encode().strip()]


@given(lines=LINES, end=st.sampled_from(["", "\n", "\r\n"]), shard_bytes=st.integers(1, 60))
def test_each_document_is_in_one_shard_wherever_files_are_cut(tmp_path_factory, lines, end, shard_bytes):
    path = tmp_path_factory.getbasetemp() / "in.txt"
    text = "\n".join(lines) + end
    path.write_bytes(text.encode())
    for unit, expected in (("line", full_lines(text)), ("paragraph", paragraphs(text))):
        found = [d for shard in documents([path], shard_bytes, Fields(documents=unit)) for d in shard]
        assert [d.content for d in found] == expected
        assert len({d.place for d in found}) == len(found)
        for document in found:
            assert document.id == f"in.txt:{document.place}"
            assert text.encode()[document.place :].decode().startswith(document.content)


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
    plan = make_plan([tmp_path], Fields(), 1600)
    assert len(plan) == 10
    assert plan == make_plan([tmp_path], Fields(), 1600)
    assert [len(shard) for shard in documents([tmp_path], 1600)] == [100] * 10


def test_files_of_folders_come_once_and_in_order(tmp_path):
    for name in ("b/1.txt", "a/2.jsonl", "a/.hidden.txt", "README", ".git/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    plan = make_plan([tmp_path, tmp_path / "b" / "1.txt"], Fields(), 100)
    labels = [[part.label for part in shard.parts] for shard in plan]
    assert labels == [["a/2.jsonl"], ["1.txt"]]
    assert [shard.name for shard in plan] == ["part-000000", "part-000001"]


def test_small_files_share_a_shard_and_keep_their_documents_ids(tmp_path):
    for i in range(200):
        (tmp_path / f"{i:03}.txt").write_text(f"Text {i}.\n" + "x" * 1500 + "\n")
    (tmp_path / "empty.txt").touch()
    plan = make_plan([tmp_path], Fields(), 200_000)
    assert [len(shard.parts) for shard in plan] == [132, 69]
    shards = documents([tmp_path], 200_000)
    found = [document for shard in shards for document in shard]
    assert [(d.id, d.file) for d in found[::2]] == [(f"{i:03}.txt:0", f"{i:03}.txt") for i in range(200)]
    assert [[d.number for d in shard] for shard in shards] == [[*range(264)], [*range(136)]]


def test_the_last_part_of_a_large_file_shares_a_shard_with_a_small_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"0123456789abcde\n" * 100)
    (tmp_path / "b.txt").write_bytes(b"small\n")
    plan = make_plan([tmp_path], Fields(), 1800)
    assert [[(p.label, p.start, p.end) for p in shard.parts] for shard in plan] == [
        [("a.txt", 0, 1600)],
        [("b.txt", 0, 6)],
    ]
    plan = make_plan([tmp_path], Fields(), 1065)
    assert [[p.label for p in shard.parts] for shard in plan] == [["a.txt"], ["a.txt"], ["b.txt"]]
    plan = make_plan([tmp_path], Fields(), 2600)
    assert [[p.label for p in shard.parts] for shard in plan] == [["a.txt", "b.txt"]]


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_one_document_with_its_white_space(tmp_path, packed):
    text = "\n One.\r\n\n\tTwo  three.\n"
    content = b"\xef\xbb\xbf" + text.encode()
    name = "a.txt.gz" if packed else "a.txt"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    (tmp_path / "b.txt").write_bytes(b" \n\n")
    (tmp_path / "c.jsonl").write_text('{"text": "4"}\n{"text": "5", "id": "x"}')
    plan = make_plan([tmp_path], Fields(documents="file"), 10)
    found = [d for shard in plan for d in read_documents(shard, Fields(documents="file"), Vocab())]
    assert [(d.id, d.content) for d in found] == [(name, text.rstrip("\n")), ("c.jsonl:0", "4"), ("x", "5")]


def test_a_paragraph_or_file_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(documents_module, "MAX_BYTES", 10)
    (tmp_path / "a.txt").write_bytes(b"0123\n0123\n0\n\n0123\n0123\n\n0123456789abcdef\n\nb\n")
    (found,) = documents([tmp_path / "a.txt"], 10**9, Fields(documents="paragraph"))
    assert [(d.place, d.content) for d in found] == [(0, None), (13, "0123\n0123"), (24, None), (42, "b")]
    (file,) = read_documents(make_plan([tmp_path], Fields(), 10**9)[0], Fields(documents="file"), Vocab())
    assert (file.id, file.content) == ("a.txt", None)
    assert "E1104" in file.error


@pytest.mark.linux
def test_what_cannot_be_followed_in_a_folder_is_warned_of(tmp_path):
    (tmp_path / "in" / ".git").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "in" / "nowhere.txt").symlink_to("no such file")
    (tmp_path / "in" / "folder").symlink_to(tmp_path)
    (tmp_path / "in" / ".git" / "nowhere.txt").symlink_to("no such file")
    (tmp_path / "in" / "README").symlink_to("no such file")
    os.mkfifo(tmp_path / "in" / "pipe.txt")
    with pytest.warns(UserWarning, match="W1102") as caught:
        (shard,) = make_plan([tmp_path / "in"], Fields(), 100)
    assert [part.label for part in shard.parts] == ["a.txt"]
    named = [re.findall(r"W1102.*in/(\S+) is", str(warning.message)) for warning in caught]
    assert named == [["folder"], ["nowhere.txt"], ["pipe.txt"]]


def test_a_name_that_is_no_unicode_is_written_out(tmp_path):
    (tmp_path / "a\udcff.txt").write_text("text")
    (found,) = documents([tmp_path], 100)
    assert [(d.id, d.content) for d in found] == [("a\\udcff.txt:0", "text")]


def test_packed_files_are_read_without_a_byte_order_mark(tmp_path):
    for name, pack in (("a.txt", bytes), ("a.txt.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack("\ufeffone\n\ntwo €\n".encode()))
    with pa.output_stream(tmp_path / "b.jsonl.zst", compression="zstd") as file:
        file.write(b'{"text": "three", "id": 7}\n')
    (gz,), zst = documents([tmp_path / "a.txt.gz"], 1), documents([tmp_path / "b.jsonl.zst"], 1)
    (plain,) = documents([tmp_path / "a.txt"], 10**9)
    for name, found in (("a.txt", plain), ("a.txt.gz", gz)):
        assert [(d.id, d.content) for d in found] == [(f"{name}:0", "one"), (f"{name}:8", "two €")]
    assert [(d.id, d.content) for d in zst[0]] == [("7", "three")]


def test_a_large_file_that_is_one_shard_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_module, "MAX_WHOLE_BYTES", 10)
    for name in ("a.txt.gz", "b.txt"):
        (tmp_path / name).write_bytes(b"more than ten bytes\n")
    with pytest.warns(UserWarning, match=r"W1101.*a\.txt\.gz") as caught:
        make_plan([tmp_path], Fields(), 100)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("in", ValueError, r"E1101.*\.parquet, \.jsonl"),
        ("in/a.pdf", ValueError, r"E1101.*a\.pdf"),
        ("nowhere.txt", FileNotFoundError, "E1102.*nowhere"),
        ("a.parquet", ValueError, r"E1103.*\['text'\].*body"),
    ],
)
def test_bad_inputs_are_errors(tmp_path, name, error, text):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.pdf").touch()
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(error, match=text):
        make_plan([tmp_path / name], Fields(), 1)


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
    (found,) = documents([path], 10**9, Fields(keep=("n",)))
    assert [d.content for d in found[1::2]] == [f"good {i}" for i in range(len(BAD_LINES))]
    for document, pattern in zip(found[::2], BAD_LINES.values(), strict=True):
        assert document.content is None
        assert re.search(pattern, document.error), document


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(documents_module, "MAX_BYTES", 10)
    (tmp_path / "a.txt").write_bytes(b"0123456789abcdefghijklmnopqrst\nshort\n123456789\n1234567890\n")
    (found,) = documents([tmp_path / "a.txt"], 10**9)
    places = [(0, None, True), (31, "short", False), (37, "123456789", False), (47, None, True)]
    assert [(d.place, d.content, bool(d.error)) for d in found] == places


def test_rows_without_a_text_that_is_unicode_are_errors_and_kept_columns_are_text(tmp_path):
    texts = pa.array([b"a", None, b"\xff", b"c"]).view(pa.string())
    columns = {"id": ["x", None, "y", "z"], "n": [1, 2, 3, None], "s": ["p", "q", "r", "s"]}
    pq.write_table(pa.table({"text": texts, **columns}), tmp_path / "a.parquet")
    (found,) = documents([tmp_path / "a.parquet"], 10**9, Fields(keep=("n", "s")))
    assert [(d.id, d.content, d.extra) for d in found] == [
        ("x", "a", ("1", "p")),
        ("a.parquet:1", None, ()),
        ("a.parquet:2", None, ()),
        ("z", "c", (None, "s")),
    ]
    assert "E1106" in found[1].error
    assert "UnicodeDecodeError" in found[2].error


def test_comments_of_conllu_can_be_kept_and_a_byte_order_mark_costs_no_id(tmp_path):
    row = "\t".join(["1", "w", *"________"]) + "\n\n"
    (tmp_path / "a.conllu").write_text(f"# sent_id = s1\n# url = u\n{row}1\tbad\n\n{row}", "utf-8-sig")
    (found,) = documents([tmp_path], 10**9, Fields(keep=("url",)))
    assert [(d.id, d.text, d.extra) for d in found] == [
        ("s1", "w ", ("u",)),
        ("a.conllu:49", "", ()),
        ("a.conllu:56", "w ", (None,)),
    ]
    assert "E301" in found[1].error


def test_an_odd_doc_of_a_spacy_file_is_an_error_of_its_own(tmp_path):
    docs = [Doc(Vocab(), words=["w", str(i)]) for i in range(5)]
    docs[1].user_data["conllu"] = 3
    docs[2].user_data["conllu"] = {"text": ["a"], "lengths": ["2"]}
    bin_ = DocBin(docs=docs, store_user_data=True)
    bin_.user_data[3] = b"\xc1"  # is never used in MessagePack
    bin_.to_disk(tmp_path / "a.spacy")
    (found,) = documents([tmp_path], 10**9, Fields(keep=("url",)))
    assert [(d.text, d.extra, bool(d.error)) for d in found] == [
        ("w 0 ", (None,), False),
        *[("", (), True)] * 3,
        ("w 4 ", (None,), False),
    ]


@pytest.mark.linux
def test_a_file_has_the_kind_that_the_link_to_it_says(tmp_path):
    (tmp_path / "blob").write_bytes(b"a\n")
    link = tmp_path / "a.txt"
    link.symlink_to(tmp_path / "blob")
    [document] = documents([link], 100)[0]
    assert (document.content, document.id) == ("a", "a.txt:0")
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "blob")
    [document] = documents([tmp_path / "a.jsonl"], 100)[0]
    assert "JSONDecodeError" in document.error
