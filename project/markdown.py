"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

#: Rows of cells; the first row is the head.
Table = Sequence[Sequence[str]]


def markdown_table(rows: Table) -> str:
    """Return a table as Markdown, without a line break at its end."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
