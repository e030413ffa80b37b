"""Frame of a self-contained HTML page: no scripts, no addresses, the style inside."""

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.resources import files

#: Maximum number of characters of a word in a drawing. Hovering shows a longer word in full.
MAX_CHARACTERS = 32

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def make_page(title: str, *, body: str) -> str:
    """Make a page of a title in plain text and a body in HTML."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf8")
    return _PAGE.format(title=escape(title), style=f"\n{style}", body=body)


def escape(text: str) -> str:
    """Escape text for an element or a quoted attribute. Control characters become U+FFFD."""
    return html.escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", text))


def shorten(text: str) -> str:
    """Cut a word that is too long to draw."""
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def text_width(text: str, size: float) -> float:
    """Return the width of a text; few fonts need more."""
    return size * sum(_char_width(char) for char in text)


def _char_width(char: str) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return (
        0.45 if char in "ijlt.,:;'!|()[] " else 0.95 if char in "mwMW@%" else 0.7 if char.isupper() else 0.62
    )


def make_table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table of text in a box that scrolls if the table is too wide.

    rows: Cells of each row; the first cell is the name of the row.
    groups: Titles (or "") above the header, each with the number of columns that it spans.
    """
    over = "".join(
        f'<th scope="colgroup" colspan="{n}">{escape(title)}</th>' if title else f'<td colspan="{n}"></td>'
        for title, n in groups
    )
    spans = "".join(f'<colgroup span="{n}"></colgroup>' for _, n in groups)
    columns = "".join(f'<th scope="col">{escape(title)}</th>' for title in header)
    lines = []
    for name, *cells in rows:
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{row}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>\n'
        f"<caption>{escape(caption)}</caption>{spans}\n<thead>{f'<tr>{over}</tr>' if groups else ''}"
        f"<tr>{columns}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def make_image(svg: str, *, description: str) -> str:
    """Return an SVG picture as an embedded image, which keeps its style and ids apart from the page's."""
    data = base64.b64encode(svg.encode("utf8")).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(description)}">'
