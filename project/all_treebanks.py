"""Run workflows for each UD treebank of the papers: `every.py WORKFLOW... [--vars.gpu 0 ...]`.

Options are those of `spacy project run`. A treebank that fails does not keep the others from running; which
ones failed is said at the end. Run again, it does what is not done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from wasabi import msg

from .treebank_settings import papers_treebanks

ROOT = Path(__file__).parent.parent


def run(treebank: str, workflow: str, options: Sequence[str]) -> bool:
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
        # A workflow builds on those before it.
        if not all(run(treebank, workflow, options) for workflow in workflows):
            failed.append(treebank)
            msg.fail(f"{treebank} failed")
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
