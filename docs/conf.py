"""Settings of the documentation as a site, which ``make docs`` builds from the Markdown of the repository."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import jupytext
from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from docs.config_reference import SETTING  # noqa: E402
from spacy_g2g import __version__  # noqa: E402

project = html_title = "spacy-g2g"
copyright = "the authors of spacy-g2g"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
# Pages are where links between files expect them, so a link leads to the same page here and on a code host.
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "assets/english/GUIDE.md"]
exclude_patterns = ["docs/_build/**"]
exclude_patterns += [f"{path.name}/**" for path in ROOT.iterdir() if path.name not in ("docs", "assets")]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]
autodoc_typehints_format = "short"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False

#: Pages of docs/ by the parts of the navigation, in the order in which a newcomer needs them.
NAVIGATION = {
    "Start": ["choosing", "installation", "models"],
    "Tutorials": [f"tutorials/{name}" for name in ("parse", "train", "refine", "pipeline", "corpus")],
    "How to": [
        "training",
        "encoders",
        "pipelines",
        "tasks",
        "facts",
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
BESIDE = ["CONTRIBUTING", "CHANGELOG", "SECURITY", "assets/english/GUIDE"]


def setup(app: Sphinx) -> None:
    """Connect what is particular to this site."""
    app.connect("source-read", show_titles)
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-docstring", mark_fields)
    app.connect("build-finished", add_files)


def show_titles(_: Sphinx, __: str, source: list[str]) -> None:
    """Let links that show the name of a file show the title of the page or section that they lead to."""
    source[0] = re.sub(r"\[[\w/-]+\.md\]\(", "[](", source[0])


def add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Append the navigation to the first page, and to others what only the site has.

    Pages that the navigation does not name are how-to pages, or results.
    """
    if name == "README":
        named = {page for pages in NAVIGATION.values() for page in pages}
        found = {path.stem for path in (ROOT / "docs").glob("*.md")} - named
        pages = {**NAVIGATION, "How to": [*NAVIGATION["How to"], *sorted(found)]}
        for title, of_part in pages.items():
            lines = [f"docs/{page}" for page in of_part] + (BESIDE if title == "Reference" else [])
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {title}", *lines, "```\n"])
    elif name.startswith("docs/tutorials/"):
        source[0] += f'\n<a href="{Path(name).name}.ipynb" download>This page as a notebook</a>\n'
    elif name == "docs/results/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n*\n```\n"


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
    """Give the first page its second name, which web servers look for, and make notebooks of tutorials."""
    if error is None and app.builder.name == "html":
        site = Path(app.outdir)
        shutil.copy(site / "README.html", site / "index.html")
        for page in (ROOT / "docs" / "tutorials").glob("*.md"):
            notebook = jupytext.read(page)
            jupytext.write(notebook, site / "docs" / "tutorials" / f"{page.stem}.ipynb")
