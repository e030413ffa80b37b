"""Run workflows for each UD treebank of the papers.

    python -m project.all_treebanks WORKFLOW... [--vars.gpu 0 ...]

Options are those of `spacy project run`. If a treebank fails, the others still run, and the command names it
at the end. A second run makes only what is not up to date.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from wasabi import msg

from .treebank_settings import papers_treebanks

ROOT = Path(__file__).parent.parent


def run(treebank: str, *, workflow: str, options: Sequence[str]) -> bool:
    """Run a workflow for a treebank; return whether it succeeded."""
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, str(ROOT)]
    done = subprocess.run([*command, "--vars.treebank", treebank, *options], check=False)
    return done.returncode == 0


def main(arguments: Sequence[str]) -> None:
    first = next((i for i, argument in enumerate(arguments) if argument.startswith("-")), len(arguments))
    workflows, options = arguments[:first], arguments[first:]
    if not workflows:
        sys.exit(__doc__)
    failed = []
    for treebank in papers_treebanks():
        # A workflow needs the workflows before it.
        if not all(run(treebank, workflow=workflow, options=options) for workflow in workflows):
            failed.append(treebank)
            msg.fail(f"{treebank} failed")
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
