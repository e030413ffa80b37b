"""`spacy project run`, with each Python step in a fork of this process so that imports are paid for once."""

import os
import runpy
import sys
import traceback
from typing import Any

import weasel.cli.run
from spacy.cli import setup_cli
from spacy.util import registry
from weasel.util import run_command

# What most steps import.
import spacy_g2g.cli
import spacy_g2g.models.model
import spacy_g2g.pipeline.g2g_parser  # noqa: F401


def run_step(command: list[str], **options: Any) -> None:
    """Run `python -m module arguments` in a fork, and another command as spaCy does. Exits where it fails."""
    if command[:2] != [sys.executable, "-m"]:
        run_command(command, **options)
        return
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        run_module(*command[2:])
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status:
        sys.exit(status)


def run_module(name: str, *arguments: str) -> None:
    """Run a module as the main program and end the process."""
    sys.argv = [name, *arguments]
    status: Any = 0
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        status = error.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    # Imports what all installed packages register, as every step that makes a pipeline does.
    registry.architectures.get_all()
    weasel.cli.run.run_command = run_step
    sys.argv = ["spacy", "project", "run", *sys.argv[1:]]
    setup_cli()
