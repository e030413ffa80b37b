"""Frame of a self-contained HTML page: no scripts, no addresses, the style inside."""

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST_TEXT = 32  # characters of a word in a drawing; longer words are shown in full on hover


def make_page(title: str, body: str) -> str:
    """Return a page from a title in plain text and a body in HTML."""
    return _PAGE.format(title=escape(title), style=_STYLE, body=body)


def escape(text: str) -> str:
    """Escape text for an element or a quoted attribute. Control characters become U+FFFD."""
    return html.escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", text))


def shorten(text: str) -> str:
    """Cut a word that is too long to draw."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def text_width(text: str, size: float) -> float:
    """Return a width that the text does not exceed in most fonts."""
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

    caption: Caption of the table.
    header: Titles of the columns.
    rows: Cells of each row; the first cell is the name of the row.
    groups: Titles (or "") above the header, each with the number of columns that it spans.
    """
    over = "".join(
        f'<th scope="colgroup" colspan="{n}">{escape(title)}</th>' if title else f'<td colspan="{n}"></td>'
        for title, n in groups
    )
    spans = "".join(f'<colgroup span="{n}"></colgroup>' for _, n in groups)
    columns = "".join(f'<th scope="col">{escape(title)}</th>' for title in header)
    lines = [
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for name, *cells in rows
    ]
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>\n'
        f"<caption>{escape(caption)}</caption>{spans}\n<thead>{f'<tr>{over}</tr>' if groups else ''}"
        f"<tr>{columns}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def make_image(svg: str, description: str) -> str:
    """Return an SVG picture as an embedded image, which keeps its style and ids apart from the page's."""
    data = base64.b64encode(svg.encode("utf8")).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(description)}">'


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

_STYLE = """
:root { --page: #fff; --text: #1b1d21; --soft: #5b626d; --edge: #d5d9df; --line: #8a929d;
  --changed: #0b62c4; --fixed: #0b7a3b; --broken: #d0142c; --moved: #a85a00; --wrong: #b0485a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15171b; --text: #e6e8ec; --soft: #a3abb7; --edge: #3a404a; --line: #7d8693;
    --changed: #6cb0ff; --fixed: #55cf85; --broken: #ff6b78; --moved: #f2ad4e; --wrong: #dd8f9c; } }
body { margin: 0 auto; padding: 1rem; background: var(--page); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; }
h2, h3 { margin: 1.6rem 0 0; font-size: 1rem; color: var(--soft); }
h2.part { margin-top: 2.4rem; font-size: 1.15rem; color: var(--text); }
p { margin: .3rem 0; }
.note, figcaption { color: var(--soft); font-size: 13px; }
figcaption b, summary { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin: 0; padding: 0; list-style: none; }
.box { margin-top: .4rem; padding: .5rem .7rem; border: 1px solid var(--edge); border-radius: 6px;
  overflow-x: auto; }
figure, details { width: max-content; min-width: 100%; margin: 0 0 .8rem; }
figcaption, summary { position: sticky; left: 0; right: 0; width: fit-content;
  max-width: calc(100vw - 6rem); }
summary { cursor: pointer; font-size: 13px; }
svg { display: block; direction: ltr; }
li svg { display: inline; vertical-align: bottom; }
path { fill: none; stroke: var(--line); stroke-width: 1.2; }
text { fill: var(--text); font-size: 11px; text-anchor: middle; paint-order: stroke; stroke: var(--page);
  stroke-width: 3px; stroke-linejoin: round; }
text.word { font-size: 15px; }
path.hit { stroke: transparent; stroke-width: 9; pointer-events: stroke; }
.arc:hover path:not(.hit) { stroke-width: 3.4; }
path.changed, path.fixed, path.broken, path.moved { stroke-width: 2.4; }
path.wrong, path.broken, path.moved { stroke-dasharray: 5 3; }
text.changed, text.fixed, text.broken, text.moved { font-weight: 700; }
text.wrong, text.broken, text.moved { font-style: italic; }
path.changed { stroke: var(--changed); } text.changed { fill: var(--changed); }
path.fixed { stroke: var(--fixed); } text.fixed { fill: var(--fixed); }
path.broken { stroke: var(--broken); } text.broken { fill: var(--broken); }
path.moved { stroke: var(--moved); } text.moved { fill: var(--moved); }
path.wrong { stroke: var(--wrong); } text.wrong { fill: var(--wrong); }
mark { background: none; color: var(--broken); font-weight: 700; }
pre { margin: .3rem 0; font: 13px/1.4 ui-monospace, monospace; }
img { display: block; max-width: 100%; margin: .6rem 0; background: #fff; }
.scroll { margin: .8rem 0; overflow-x: auto; }
.side { display: flex; flex-wrap: wrap; gap: 0 3rem; }
table { border-collapse: collapse; overflow-wrap: normal; font-size: 13px;
  font-variant-numeric: tabular-nums; }
caption { padding-bottom: .3rem; text-align: left; color: var(--soft); }
colgroup + colgroup { border-left: 1px solid var(--edge); }
th, td { padding: .12rem .6rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; }
tr > :first-child { text-align: left; }
th[scope="colgroup"] { text-align: center; }
thead { border-bottom: 1px solid var(--line); }
tbody tr { border-bottom: 1px solid var(--edge); }
@media print { @page { size: landscape; }
  .box { padding: 0; border: 0; overflow: visible; } figure, details { width: auto; break-inside: avoid; }
  h2 { break-after: avoid; } figure svg { max-width: 100%; height: auto; } }
"""
