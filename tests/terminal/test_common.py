import signal

import pytest

from spacy_g2g.files import atomic_path
from spacy_g2g.terminal.common import user_errors


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_leaves_no_temporary_file(tmp_path, number, error):
    # Shells start commands in the background with SIGINT ignored.
    on_interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.getsignal(signal.SIGTERM)

    def write_half():
        with user_errors(), atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("half")
            signal.raise_signal(number)

    try:
        with pytest.raises(error) as raised:
            write_half()
    finally:
        signal.signal(signal.SIGINT, on_interrupt)
    if number == signal.SIGTERM:
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
