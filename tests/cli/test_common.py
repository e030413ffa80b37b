import os
import signal
import threading
from pathlib import Path

import pytest

from spacy_g2g.cli.common import atomic_path, user_errors, write_text


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


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_devices_get_no_temporary_path(name):
    with atomic_path(Path(name)) as path:
        assert str(path) == name


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


def test_sigterm_leaves_no_temporary_file(tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def write_half():
        with user_errors(), atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("half")
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as raised:
        write_half()
    assert raised.value.code == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before


NO_MEMORY = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 64000000000000 bytes."


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError(NO_MEMORY)])
def test_a_lack_of_memory_is_an_error_in_one_line(error, capsys):
    with pytest.raises(SystemExit), user_errors():
        raise error
    assert "E916" in capsys.readouterr().out


def test_an_error_of_the_program_keeps_its_traceback():
    with pytest.raises(RuntimeError), user_errors():
        raise RuntimeError("a bug")
