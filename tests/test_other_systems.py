"""What only POSIX has may be absent, as on Windows: everything is imported, parses and writes its files.

The processes of these tests lose those modules and names, once the libraries of others are imported.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
#: Imports what others wrote and may need POSIX, then removes what Windows does not have.
WITHOUT_POSIX = """if True:
    import importlib, multiprocessing, os, pkgutil, signal, sys, tempfile
    import pyarrow.dataset, pyarrow.fs, pyarrow.parquet, spacy.cli, torch, tokenizers, uvicorn
    from fastapi.testclient import TestClient
    from matplotlib import pyplot
    from typer.testing import CliRunner
    for name in ("fcntl", "grp", "pwd", "pty", "resource", "syslog", "termios", "tty"):
        sys.modules[name] = None
    for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "ITIMER_REAL", "alarm", "setitimer", "pause"):
        delattr(signal, name)
    for name in ("fork", "forkpty", "getuid", "geteuid", "sched_getaffinity", "setsid", "killpg", "mkfifo"):
        delattr(os, name)
"""
IMPORT = """
    import project, spacy_g2g
    for package in (spacy_g2g, project):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name != "spacy_g2g.corpus_job.ray_engine":  # Ray is no part of the set-up.
                importlib.import_module(found.name)
"""
PARSE = """
    from spacy.util import registry
    registry.cli.get_all()
    pipeline, folder = sys.argv[1:]
    os.chdir(folder)
    with open("text.txt", "w") as file:
        file.write("She saw the cat.\\nDogs bark.\\n")
    for arguments in (
        ["parse", pipeline, "text.txt", "out.conllu"],
        ["parse-corpus", pipeline, "text.txt", "corpus", "--engine", "none"],
        ["render", pipeline, "text.txt", "--output", "out.html"],
    ):
        done = CliRunner().invoke(spacy.cli.app, ["g2g", *arguments])
        assert done.exit_code == 0, (done.output, done.exception)
    from project.up_to_date import one_at_a_time
    from pathlib import Path
    with one_at_a_time(Path("made")):
        Path("made").mkdir()
"""
#: Processes that start from nothing, as on macOS, on Windows, and by default on Linux since Python 3.14.
SPAWN = """
import json, multiprocessing, sys, spacy
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    for folder in sys.argv[2:]:
        nlp = spacy.load(folder)
        nlp.add_pipe("sentencizer", first=True)
        texts = ["She saw the cat. Dogs bark at the man."] * 6
        trees = lambda docs: [[(t.head.i, t.dep_) for t in doc] for doc in docs]
        assert trees(nlp.pipe(texts, n_process=2, batch_size=2)) == trees(nlp.pipe(texts))
"""


def run(*arguments: str | Path) -> None:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_is_imported_without_posix():
    run("-c", WITHOUT_POSIX + IMPORT)


def test_commands_parse_without_posix(trained_folder: Path, tmp_path: Path):
    run("-c", WITHOUT_POSIX + PARSE, trained_folder, tmp_path)
    assert (tmp_path / "out.conllu").read_text(encoding="utf8").count("\troot\t") == 2
    assert len(list((tmp_path / "corpus").rglob("*.parquet"))) == 1
    assert "svg" in (tmp_path / "out.html").read_text(encoding="utf8")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_start_from_nothing_parse_as_one_does(
    method: str, trained_folder: Path, trained_refiner_folder: Path, tmp_path: Path
):
    (tmp_path / "main.py").write_text(SPAWN, encoding="utf8")
    run(tmp_path / "main.py", method, trained_folder, trained_refiner_folder)
