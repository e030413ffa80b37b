"""The documentation as a site: it builds without a warning, and its links lead somewhere."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import srsly

from docs.notebooks import run_cell, store_outputs
from spacy_g2g import __version__

ROOT = Path(__file__).parent.parent
#: What newcomers search for, and the pages of docs/ that may come first.
SEARCHES = {
    "en_core_web_sm": {"from-spacy"},
    "en_core_web_trf": {"from-spacy"},
    "NER": {"from-spacy", "tasks"},
    "named entities": {"from-spacy", "tasks"},
    "lemmatizer": {"api/lemma_table", "api/english_lemmatizer"},
    "wrong lemma": {"api/lemma_table"},
    "ClearNLP labels": {"from-spacy"},
    "noun chunks": {"tasks/noun-chunks"},
    "confidence": {"annotating"},
    "probability": {"annotating"},
    "CPU only": {"installation"},
    "offline": {"installation"},
    "license": {"behavior"},
    "layout": {"raw-text"},
    "line breaks": {"raw-text"},
    "GPU": {"results/gpu"},
    "pandas": {"tutorials/parse"},
    "CSV": {"tasks/csv"},
    "DependencyMatcher": {"tasks/patterns"},
    "negation": {"tasks/negation"},
    "DuckDB": {"tasks/sql"},
    "CoNLL-U": {"api/files"},
    "Universal Dependencies": {"glossary"},
    "sentence boundaries": {"raw-text"},
    "AMR": {"amr"},
    "subject verb object": {"facts"},
    "Stanza": {"migration"},
    "fine-tuning": {"your-own-text"},
    "confidence score of a parse": {"annotating"},
    "how to install": {"installation"},
    "no torch": {"installation"},
}
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, which builds without a warning."""
    for name in ("sphinx", "myst_parser", "furo", "jupytext", "sphinx_copybutton"):
        pytest.importorskip(name, reason="the extra 'docs' is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", folder / "trees"]
    command = [sys.executable, "-m", "sphinx", *options, "--conf-dir", "docs", ".", folder / "site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path):
    pages = {path: Page(path) for path in site.rglob("*.html")}
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
    assert (site / "docs" / "tutorials" / "parse.ipynb").exists()


@pytest.mark.slow
def test_the_first_page_shows_the_version_a_picture_and_the_pipelines(site: Path):
    assert 'url=docs/index.html"' in (site / "index.html").read_text(encoding="utf8")
    page = (site / "docs" / "index.html").read_text(encoding="utf8")
    assert f"spacy-g2g {__version__}" in page
    assert page.index("<img") < page.index("<h2")
    assert "Pipelines by language" in page
    assert "copybutton" in page


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_search_leads_to_the_right_page_first(site: Path):
    search = ["node", str(ROOT / "tests" / "search.js"), str(site)]
    phrases = json.dumps([*SEARCHES])
    found = subprocess.run(search, input=phrases, capture_output=True, text=True, check=True).stdout
    first = dict(zip(SEARCHES, (pages[0] if pages else "" for pages in json.loads(found)), strict=True))
    wrong = {
        phrase: page for phrase, page in first.items() if page.removeprefix("docs/") not in SEARCHES[phrase]
    }
    assert not wrong


def test_words_to_search_for_lead_to_pages_and_each_to_one():
    words = srsly.read_yaml(ROOT / "docs" / "search.yml")
    assert not [page for page in words if not (ROOT / "docs" / f"{page}.md").exists()]
    found = Counter(phrase.lower() for phrases in words.values() for phrase in phrases)
    assert not [phrase for phrase, n in found.items() if n > 1]


def test_first_pages_have_the_version_and_figures_that_other_pages_have():
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    assert f"Version {__version__} " in readme
    assert len(readme.splitlines()) <= 110
    rows = re.findall(
        r"^\| \w+ \| `(\w+)` \| ([^|]+) \| (\d+) \| ([\d.]+) \| ([\d,]+) \|$", readme, re.MULTILINE
    )
    assert len(rows) >= 3
    models = (ROOT / "docs" / "models.md").read_text(encoding="utf8")
    for name, license_, *figures in rows:
        pattern = rf"\| {name} \|.*\| {re.escape(license_)} \|.*" + r" \|(?:.*\|)? ".join(figures) + r" \|"
        assert re.search(pattern, models), name


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
