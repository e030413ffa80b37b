"""Run the Python cells of tutorials, and store what they print in the pages.

    python docs/notebooks.py docs/tutorials/parse.md

A tutorial is Markdown. What a cell prints stands below it, as text. The comment ``<!-- learned -->`` between
them says that it depends on weights. A test compares only what has no such comment. Run
shell commands before.
"""

import argparse
import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

#: A cell, the mark of what depends on weights, and the stored output.
CELL = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n(?P<learned><!-- learned -->\n+)?```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def run_cell(code: str, name: str, namespace: dict[str, Any]) -> str:
    """Return what a cell prints. The namespace holds what earlier cells have set."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, name, "exec"), namespace)
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def store_outputs(text: str, run: Callable[[str], str]) -> str:
    """Return a page with what its cells print now."""

    def rerun(cell: re.Match[str]) -> str:
        printed = run(cell["code"])
        output = f"\n{cell['learned'] or ''}```text\n{printed}```\n" if printed else ""
        return f"```python\n{cell['code']}```\n{output}"

    return CELL.sub(rerun, text)


def main() -> None:
    """Store the outputs of the given pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    for page in parser.parse_args().pages:
        namespace: dict[str, Any] = {}
        text = page.read_text(encoding="utf8")
        text = store_outputs(text, lambda code: run_cell(code, page.name, namespace))  # noqa: B023
        page.write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
