import subprocess
import sys

import pytest
from spacy.cli._util import app as spacy_app

import spacy_g2g.cli


def test_the_commands_of_the_manual_are_attached_to_spacy_once():
    assert spacy_g2g.cli.register() is spacy_g2g.cli.app
    assert [group.typer_instance for group in spacy_app.registered_groups].count(spacy_g2g.cli.app) == 1
    names = {command.name for command in spacy_g2g.cli.app.registered_commands}
    assert names >= {"convert", "parse", "evaluate"}


@pytest.mark.slow
def test_help_is_shown_by_the_spacy_command():
    script = "import spacy_g2g.cli; from spacy.cli import setup_cli; setup_cli()"
    command = [sys.executable, "-c", script, "g2g", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "convert" in run.stdout
    assert "evaluate" in run.stdout
