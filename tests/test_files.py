import errno
import os
import threading
from pathlib import Path

import pytest

from spacy_g2g.files import atomic_path, files_in, sha256_of, write_text


@pytest.mark.linux
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    """The same holds for /dev/null, which a test that runs as root could destroy for the whole machine."""
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf8")))
    reader.start()
    try:
        write_text(pipe, "all of it\n")
        assert pipe.is_fifo()
    finally:
        # Without a writer, the reader would wait for ever.
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
        reader.join(10)
    assert read == ["all of it\n"]


@pytest.mark.linux
@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_devices_get_no_temporary_path(name):
    with atomic_path(Path(name)) as path:
        assert str(path) == name


@pytest.mark.linux
def test_a_link_stays_and_its_target_changes(tmp_path):
    target, link, dangling = tmp_path / "a" / "target", tmp_path / "link", tmp_path / "dangling"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    dangling.symlink_to(tmp_path / "b" / "new")
    write_text(link, "new")
    write_text(dangling, "new")
    assert link.is_symlink()
    assert target.read_text() == (tmp_path / "b" / "new").read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_a_file_is_whole_or_as_before(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_that_write_at_once_one_is_whole(tmp_path):
    path = tmp_path / "file"
    with atomic_path(path) as first, atomic_path(path) as second:
        for temporary, text in ((first, "first " * 9), (second, "second")):
            temporary.write_text(text, encoding="utf8")
    assert path.read_text(encoding="utf8") == "first " * 9
    assert list(tmp_path.iterdir()) == [path]


def test_the_digest_of_a_folder_tells_names_and_contents(tmp_path):
    def digest(name: str, **files: str) -> str:
        (tmp_path / name / "inner").mkdir(parents=True)
        for file, content in files.items():
            (tmp_path / name / "inner" / file).write_text(content, encoding="utf8")
        return sha256_of(tmp_path / name)

    first = digest("1", a="1", b="2")
    assert first == digest("2", b="2", a="1")
    contents = ({"a": "2", "b": "1"}, {"a": "12", "b": ""}, {"a": "1"}, {"a": "1", "c": "2"})
    others = {digest(str(i), **files) for i, files in enumerate(contents, start=3)}
    assert len({first, *others}) == 5


def test_files_of_a_folder_are_found_by_name_and_in_order(tmp_path):
    for name in ("b.txt", "a/c.txt", "a/d.json", "folder.txt/e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert files_in(tmp_path, "*.txt") == [tmp_path / n for n in ("a/c.txt", "b.txt", "folder.txt/e.txt")]
    assert files_in(tmp_path, deep=False) == [tmp_path / "b.txt"]
    assert files_in(tmp_path / "none") == []


def test_a_folder_that_cannot_be_read_is_an_error_and_not_empty(tmp_path, monkeypatch):
    (tmp_path / "treebanks").mkdir()
    scan = os.scandir

    def fail(path):
        if str(path).endswith("treebanks"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", fail)
    with pytest.raises(OSError, match=r"Input/output error.*treebanks"):
        files_in(tmp_path)
