"""Settings of the documentation as a site, which ``make docs`` builds from the Markdown of the repository."""

import re
import sys
from pathlib import Path
from typing import Any

import jupytext
import srsly
from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from docs.config_reference import SETTING  # noqa: E402
from spacy_g2g import __version__  # noqa: E402

project = "spacy-g2g"
copyright = "the authors of spacy-g2g"
release = __version__
# The version stands in the corner of each page.
html_title = f"{project} {release}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
# Pages are where links between files expect them, so a link leads to the same page here and on a code host.
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "assets/english/GUIDE.md"]
exclude_patterns = ["README.md", "docs/_build/**"]
exclude_patterns += [f"{path.name}/**" for path in ROOT.iterdir() if path.name not in ("docs", "assets")]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]
autodoc_typehints_format = "short"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(ROOT / "docs" / "static" / "scorer.js")
# The button copies the code of a session without its prompts and without what it prints.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# Output, which is text, is not copied.
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"

#: Pages of docs/ by the parts of the navigation, in the order in which a newcomer needs them.
NAVIGATION = {
    "Start": ["from-spacy", "choosing", "models", "installation"],
    "Tutorials": [f"tutorials/{name}" for name in ("parse", "train", "refine", "pipeline", "corpus")],
    "Tasks": [
        "facts",
        *(
            f"tasks/{name}"
            for name in ("csv", "negation", "clauses", "noun-chunks", "patterns", "sql", "compare")
        ),
        "tasks",
    ],
    "How to": [
        "training",
        "encoders",
        "pipelines",
        "raw-text",
        "words",
        "your-own-text",
        "annotating",
        "adapting",
        "refining",
        "serving",
        "corpus",
        "shipping",
        "migration",
    ],
    "Reference": ["api", "config", "commands", "behavior", "scores", "glossary", "papers", "code"],
    "How it was measured": ["results/README"],
}
#: Pages beside docs/ that belong to the reference.
BESIDE = ["/CONTRIBUTING", "/CHANGELOG", "/SECURITY", "/assets/english/GUIDE"]
#: The page at the address of the site.
TO_FIRST_PAGE = """<!doctype html><meta charset="utf-8"><title>spacy-g2g</title>
<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">spacy-g2g</a>
"""
#: Pages above the pages of a folder, and that folder as seen from them.
FOLDERS = {"docs/api": "api/", "docs/results/README": ""}
#: What people search for, by pages of docs/.
SEARCH_WORDS: dict[str, list[str]] = srsly.read_yaml(ROOT / "docs" / "search.yml")


def setup(app: Sphinx) -> None:
    """Connect what is particular to this site."""
    app.connect("source-read", show_titles)
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_search_words)
    app.connect("autodoc-process-docstring", mark_fields)
    app.connect("build-finished", add_files)


def show_titles(_: Sphinx, __: str, source: list[str]) -> None:
    """Let links that show the name of a file show the title of the page or section that they lead to."""
    source[0] = re.sub(r"\[[\w/-]+\.md\]\(", "[](", source[0])


def add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Append the navigation to the first page, and to others what only the site has.

    Pages that the navigation does not name are how-to pages, or results.
    """
    if name == "docs/index":
        named = {page for pages in NAVIGATION.values() for page in pages}
        found = {path.stem for path in (ROOT / "docs").glob("*.md")} - named - {"index"}
        pages = {**NAVIGATION, "How to": [*NAVIGATION["How to"], *sorted(found)]}
        for title, of_part in pages.items():
            lines = [f"/docs/{page}" for page in of_part] + (BESIDE if title == "Reference" else [])
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {title}", *lines, "```\n"])
    elif name.startswith("docs/tutorials/"):
        source[0] += f'\n<a href="{Path(name).name}.ipynb" download>This page as a notebook</a>\n'
    elif name in FOLDERS:
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n{FOLDERS[name]}*\n```\n"


def add_search_words(_: Sphinx, name: str, source: list[str]) -> None:
    """Let the words that people type lead to a page. ``search.yml`` has them, by pages.

    Each is a main entry of the index, which the search shows before others, and its words count as text.
    """
    if phrases := SEARCH_WORDS.get(name.removeprefix("docs/")):
        words = ", ".join(" ".join(phrases).lower().split())
        entries = "".join(f"```{{index}} ! single: {phrase.lower()}\n```\n\n" for phrase in phrases)
        source[0] = f"---\nmyst:\n  html_meta:\n    keywords: '{words}'\n---\n\n{entries}{source[0]}"


def mark_fields(_: Sphinx, what: str, *others: Any) -> None:
    """Mark the lines of a docstring on arguments, results and errors as Sphinx needs them."""
    lines: list[str] = others[-1]
    marked: list[str] = []
    is_field = False
    for line in lines:
        field = field_of(line, "ivar" if what == "class" else "param")
        if field and not is_field:
            marked.append("")
        is_field = bool(line.strip()) and (is_field or bool(field))
        marked.append(field or ("    " + line.strip() if is_field else line))
    lines[:] = marked


def field_of(line: str, kind: str) -> str:
    """Return a line of a docstring as a field of Sphinx, or "" if it does not begin one.

    kind: Name of fields that describe a value.
    """
    if match := SETTING.fullmatch(line):
        return f":{kind} {match[1]}: {match[2]}"
    if match := re.fullmatch(r"Raises (\w+) (.*)", line):
        return f":raises {match[1]}: {match[2]}"
    if match := re.fullmatch(r"Returns,? (.*)", line):
        return f":returns: {match[1][:1].upper()}{match[1][1:]}"
    return ""


def add_files(app: Sphinx, error: Exception | None) -> None:
    """Lead from the address of the site to its first page, and make notebooks of tutorials."""
    if error is None and app.builder.name == "html":
        site = Path(app.outdir)
        (site / "index.html").write_text(TO_FIRST_PAGE, encoding="utf8")
        for page in (ROOT / "docs" / "tutorials").glob("*.md"):
            notebook = jupytext.read(page)
            jupytext.write(notebook, site / "docs" / "tutorials" / f"{page.stem}.ipynb")
