"""Tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Rows of cells; the first row is the head.
Table = Sequence[Sequence[str]]
#: Characters of plain text that Markdown and HTML would take for markup.
MARKUP = re.compile(r"[\\|`\[\]<]")


def plain_text(text: str) -> str:
    """Return text as one line that Markdown shows unchanged, such as a license that a stranger wrote."""
    return MARKUP.sub(lambda match: f"\\{match[0]}", " ".join(text.split()))


def markdown_table(rows: Table) -> str:
    """Return a table of plain text as Markdown, without a line break at its end."""
    lines = [list(map(plain_text, row)) for row in rows]
    lines.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
