"""The documentation as a site: it builds without a warning, and its links lead somewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from docs.notebooks import run_cell, store_outputs

ROOT = Path(__file__).parent.parent
PAGE = "# Title\n\n```python\nx = 2\nprint(x)\n```\n{}\nText.\n\n```python\nx += 1\n```\n"


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors = {""}
        self.feed(path.read_text(encoding="utf8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors.add(found.get("id") or "")
        link = found.get("href") or found.get("src") or ""
        if not urlsplit(link).scheme and tag != "link":
            self.links.add(link)


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_its_links_lead_somewhere(tmp_path: Path):
    for name in ("sphinx", "myst_parser", "furo", "jupytext"):
        pytest.importorskip(name, reason="the extra 'docs' is not installed")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", tmp_path / "trees"]
    command = [sys.executable, "-m", "sphinx", *options, "--conf-dir", "docs", ".", tmp_path / "site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path: Page(path) for path in (tmp_path / "site").rglob("*.html")}
    assert len(pages) > 50
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (target in pages and parts.fragment not in pages[target].anchors):
                broken.append(f"{path.name}: {link}")
    assert not broken
    # Links show titles, not names of files.
    assert not [path for path in pages if re.search(r'std-(doc|ref)">[\w/-]+\.md<', path.read_text("utf8"))]
    assert (tmp_path / "site" / "docs" / "tutorials" / "parse.ipynb").exists()


def test_what_cells_print_is_stored_below_them():
    namespace: dict[str, Any] = {}
    expected = PAGE.format("\n```text\n2\n```\n")
    for before in ("", "\n```text\nold\n```\n"):
        assert store_outputs(PAGE.format(before), lambda code: run_cell(code, "page", namespace)) == expected
    assert namespace["x"] == 3
    # The mark of what is learned stays.
    before = PAGE.format("\n<!-- learned -->\n\n```text\nold\n```\n")
    assert store_outputs(before, lambda code: run_cell(code, "page", {"x": 0})) == before.replace("old", "2")


@pytest.mark.slow
def test_lines_of_docstrings_become_fields():
    pytest.importorskip("sphinx", reason="the extra 'docs' is not installed")
    pytest.importorskip("jupytext", reason="the extra 'docs' is not installed")
    from docs.conf import mark_fields

    text = "Do it.\n\na: The first\n    line.\nReturns a value.\nRaises ValueError if it can't,\nor so."
    lines = text.split("\n")
    mark_fields(None, "function", "name", None, {}, lines)
    fields = (
        "\n:param a: The first\n    line.\n:returns: A value.\n:raises ValueError: if it can't,\n    or so."
    )
    assert lines[2:] == fields.split("\n")
