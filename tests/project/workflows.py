"""`spacy project run`, with each Python step in this process, so that imports are paid for once."""

import io
import runpy
import subprocess
import sys
import warnings
from collections.abc import Container, Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import weasel.cli.run
from spacy.util import registry

from project.up_to_date import read_json
from spacy_g2g.files import sha256_of


def run_workflow(project: Path, name: str, variables: Mapping[str, str], without: Container[str] = ()) -> str:
    """Run a workflow or a command of a project; return what it printed.

    without: Modules whose steps are left out.
    Raises AssertionError if a step fails.
    """
    registry.cli.get_all()  # as `python -m spacy` does
    printed = io.StringIO()
    overrides = {f"vars.{key}": value for key, value in variables.items()}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stdout(printed):
        warnings.simplefilter("ignore")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setattr(weasel.cli.run, "run_command", partial(run_step, without=without))
        try:
            weasel.cli.run.project_run(project, name, overrides=overrides)
        except SystemExit as error:
            raise AssertionError(f"{printed.getvalue()}\n{error.code}") from error
    return printed.getvalue()


def pretend_to_package(pipeline: Path, output: Path, **_: Any) -> None:
    """Make a wheel that is none beside the card, in place of `spacy package`, which takes seconds."""
    meta = read_json(pipeline / "meta.json")
    name = f"{meta['lang']}_{meta['name']}-{meta['version']}"
    dist = output / name / "dist"
    dist.mkdir(parents=True)
    (dist / f"{name}-py3-none-any.whl").write_text(sha256_of(pipeline), encoding="utf8")
    for file in ("README.md", "meta.json"):
        (output / name / file).write_bytes((pipeline / file).read_bytes())


def run_step(command: list[str], *, without: Container[str] = (), **options: Any) -> None:
    """Run `python -m module arguments` in this process, and another command as it is."""
    if command[:2] != [sys.executable, "-m"]:
        subprocess.run(command, check=True)
        return
    if command[2] in without:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command[2:])
        patch.delitem(sys.modules, command[2], raising=False)  # another test may have imported it
        try:
            runpy.run_module(command[2], run_name="__main__")
        except SystemExit as error:
            if error.code:
                raise
