"""List what can be measured: each script with the command that runs it.

python -m experiments
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Scripts of project/ that measure, beside all of experiments/.
OF_PROJECTS = tuple(f"project/{name}.py" for name in ("report", "score", "timing", "tokenizer"))


def scripts() -> Iterator[tuple[str, str]]:
    """Yield the command of each script, and the first line of its docstring."""
    here = Path(__file__).parent
    paths = [*here.glob("*.py"), *here.glob("*/__main__.py"), *(ROOT / name for name in OF_PROJECTS)]
    for path in sorted(paths):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf8"))) or ""
        commands = [line.strip() for line in docstring.splitlines() if line.strip().startswith("python ")]
        if commands and path != Path(__file__):
            yield commands[0], docstring.splitlines()[0]


def main() -> None:
    for command, purpose in scripts():
        print(f"{purpose}\n    {command}")


if __name__ == "__main__":
    main()
