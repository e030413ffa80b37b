import signal

import pytest

from spacy_g2g.cli.common import user_errors
from spacy_g2g.files import atomic_path


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
