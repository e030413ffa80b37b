from pathlib import Path

import pytest

from spacy_g2g.amr.formats.amr_file import read_amr_file, read_metadata, select_ids, write_amrs

FILE = """# AMR release; generated on a Monday
# with two lines

# ::id lpp.1 ::date 2012-06-07 ::annotator X
# ::snt He said :: "Go ! "
# ::save-date Thu
(s / say-01
   :ARG0 (h / he))

# ::id lpp.2
# ::snt It's "here".
# ::tok It 's " here " .
(h / here~e.3
   :domain (i / it))


# ::id lpp.3
# ::snt Broken
(b / break-01
   :ARG1 (x / x)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "amr.txt"
    path.write_text(FILE, encoding="utf8")
    return path


def test_blocks_have_metadata_tokens_and_trees(path: Path):
    first, second = read_amr_file(path, ids=["lpp.1..2"])
    assert first.id == "lpp.1"
    assert first.metadata == {
        "id": "lpp.1",
        "date": "2012-06-07",
        "annotator": "X",
        "snt": 'He said :: "Go ! "',
        "save-date": "Thu",
    }
    assert first.tokens == ["He", "said", "::", '"Go', "!", '"']
    assert first.tree == ("s", [("/", "say-01"), (":ARG0", ("h", [("/", "he")]))])
    assert first.text == "(s / say-01\n   :ARG0 (h / he))"
    assert second.sentence == 'It\'s "here".'
    assert second.tokens == ["It", "'s", '"', "here", '"', "."]
    assert second.where == f"{path}, line 10, id lpp.2"


def test_a_block_that_cannot_be_read_is_an_error_with_file_line_and_id(path: Path):
    with pytest.raises(ValueError, match=r"G2G-E1002.*amr\.txt, line 17, id lpp\.3: .*'\(b / break-01"):
        read_amr_file(path)


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(path: Path):
    unix = read_amr_file(path, ids=["lpp.1..2"])
    path.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    windows = read_amr_file(path, ids=["lpp.1..2"])
    assert [block.tree for block in windows] == [block.tree for block in unix]
    assert windows[0].metadata == unix[0].metadata


def test_text_that_is_not_utf8_is_an_error_with_its_line(path: Path):
    path.write_bytes(b"# ::id a\n# ::snt caf\xe9\n(a / a)\n")
    with pytest.raises(ValueError, match=r"G2G-E302.*line 2.*0xe9"):
        read_amr_file(path)


def test_a_block_with_an_id_and_no_graph_is_an_error(path: Path):
    path.write_text("# ::id a\n# ::snt text\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"G2G-E1002.*line 1, id a"):
        read_amr_file(path)


@pytest.mark.parametrize(("text", "ids"), [("", None), ("# only a comment", None), (FILE, ["lpp.9"])])
def test_a_file_without_any_graph_that_is_wanted_is_an_error(path: Path, text: str, ids: list[str] | None):
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=r"G2G-E1007.*amr\.txt"):
        read_amr_file(path, ids=ids)


def test_of_metadata_that_comes_twice_the_first_counts():
    assert read_metadata(["# ::id a ::id b", "# ::tok x y", "# no key", "# ::empty"]) == {
        "id": "a",
        "tok": "x y",
        "empty": "",
    }


def test_a_range_of_a_billion_ids_takes_no_memory():
    is_wanted = select_ids(["a.1..1000000000", "a2.5..9"])
    assert is_wanted("a.123456789")
    assert is_wanted("a2.7")
    assert not any(map(is_wanted, ["a.0", "a.1000000001", "a.01", "a.", "a2.", "b.1", "a." + "9" * 5000]))


def test_ids_are_names_and_ranges():
    is_wanted = select_ids(["a.1", "b.09..11", "lpp_1943.2..3"])
    names = ["a.1", "b.9", "b.09", "b.11", "b.12", "lpp_1943.2", "lpp_1943.1", "lpp_1943.02"]
    assert [is_wanted(name) for name in names] == [True, True, True, True, False, True, False, False]
    with pytest.raises(ValueError, match=r"G2G-E1009.*'a\.3\.\.1'"):
        select_ids(["a.3..1"])


def test_what_is_written_is_read_again(tmp_path: Path):
    amrs = [
        ({"id": "a.1", "snt": "it ::tok\nx # ", "tok": "it ::tok x #"}, "(i / it\n\n   :mod (x / x))"),
        ({"id": "a.2", "snt": ""}, "(y / yes)\n"),
    ]
    path = tmp_path / "out.amr"
    path.write_text("".join(write_amrs(amrs)), encoding="utf8")
    first, second = read_amr_file(path)
    assert first.metadata == {"id": "a.1", "snt": "it ::tok x #", "tok": "it ::tok x #"}
    assert first.text == "(i / it\n   :mod (x / x))"
    assert (second.metadata, second.text) == ({"id": "a.2", "snt": ""}, "(y / yes)")
