"""Every public name has an entry with an example in docs/api.md or docs/api/, and pages use no other."""

import ast
import doctest
import inspect
import re
from importlib.metadata import distribution
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from typer.main import get_command

import spacy_g2g
from docs.config_reference import make_page
from spacy_g2g.cli import app
from spacy_g2g.data import multiword as words
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.data.enhanced import deps_cell
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.parser.final_parser import final_parser
from spacy_g2g.scored.doc_constraints import constrain
from spacy_g2g.scored.scored_trees import ScoredParser

from .util import initialized_nlp

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf8")
PAGES = {path.stem: path.read_text(encoding="utf8") for path in sorted((ROOT / "docs" / "api").glob("*.md"))}
ENTRY = re.compile(r"^\.\. auto\w+:: (spacy_g2g[\w.]+)\n((?:   :.*\n)*)", re.MULTILINE)
#: Objects of the pages, and the options of their entries.
ENTRIES = {match[1]: match[2] for page in PAGES.values() for match in ENTRY.finditer(page)}
FACTORIES = [point for point in distribution("spacy-g2g").entry_points if point.group == "spacy_factories"]


#: Methods with an entry: those of a class, of its bases if the entry says so, and those that have their own.
METHODS = {
    name
    for path, options in ENTRIES.items()
    if ":members:\n" in options
    for name in (dir(resolve_name(path)) if ":inherited-members:" in options else vars(resolve_name(path)))
    if not re.search(rf":exclude-members:.* {name}\b", options)
}
METHODS |= {path.rpartition(".")[2] for path in ENTRIES}
METHODS |= {name for options in ENTRIES.values() for name in re.findall(r"(\w+)(?=,|\n)", options)}
#: Methods that components call on each other, and those of spaCy's own components. They may change.
INTERNAL = {
    *(
        "add_listener",
        "find_listeners",
        "listening_components",
        "remove_listener",
        "further_models",
        "finder",
    ),
    *("check_scores_arcs", "check_temperatures", "new_scores", "reads_prior", "requests", "scores_arcs"),
    *("initial_graphs", "inputs", "training_inputs", "parse", "write", "is_base_form", "table_lemmatize"),
    *("predict", "set_annotations", "update", "finish_update"),
}
OURS = re.compile(r"g2g_|amr")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_names_what_exists_and_all_functions_for_users():
    assert len(ENTRIES) > 25
    for path in ENTRIES:
        assert inspect.getdoc(resolve_name(path)), path
    assert {f"spacy_g2g.{name}" for name in spacy_g2g._FOR_USERS} <= set(ENTRIES)


def test_pages_import_only_what_has_an_entry():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [block[1] for page in pages for block in BLOCK.finditer(page.read_text(encoding="utf8"))]
    imported = {
        f"{node.module}.{alias.name}"
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spacy_g2g")
        for alias in node.names
    }
    assert imported
    assert imported <= set(ENTRIES)


def test_everything_registered_has_an_entry_in_the_page_of_settings():
    headings = set(re.findall(r"^### (.+)$", make_page(), re.MULTILINE))
    groups = ["factories", "architectures", "callbacks", "readers", "augmenters", "batchers"]
    groups += ["loggers", "scorers", "tokenizers"]
    registered = {
        point.name
        for point in distribution("spacy-g2g").entry_points
        if point.group in [f"spacy_{group}" for group in groups]
    }
    assert registered == headings


@pytest.mark.parametrize("point", FACTORIES, ids=lambda point: point.name)
def test_components_and_their_own_methods_have_an_entry(point: Any):
    made = inspect.signature(point.load()).return_annotation
    (path,) = (
        path for path in ENTRIES if path.endswith(f".{made if isinstance(made, str) else made.__name__}")
    )
    kind = resolve_name(path)
    assert f"(config.md#{point.name})" in PAGE
    assert path in PAGES[point.name]
    own = {
        name
        for base in kind.__mro__
        if base.__module__.startswith("spacy_g2g")
        for name, value in vars(base).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }
    assert own <= METHODS | INTERNAL
    assert all(inspect.getdoc(getattr(kind, name)) for name in own)


@pytest.mark.parametrize("page", PAGES)
def test_calls_have_an_example_beside_them(page: str):
    entries = [*ENTRY.finditer(PAGES[page])]
    examples = [
        *BLOCK.finditer(PAGES[page]),
        *re.finditer(r"^```text\nfrom .*?^```$", PAGES[page], re.M | re.S),
    ]
    assert entries
    for entry in entries:
        members = re.findall(r":members:(.*)", entry[2])
        names = [name.strip() for name in members[0].split(",")] if members else []
        called = {entry[1].rpartition(".")[2], *names} - {"__call__"}
        below = "".join(block[0] for block in examples if block.start() > entry.start())
        shown = f"{below}{inspect.getdoc(resolve_name(entry[1]))}"
        if inspect.isclass(resolve_name(entry[1])):
            # Components are used by their names, and results by their fields.
            called = {name for name in called if name in names}
            assert below
        assert not [name for name in called if not re.search(rf"\b{name}\b", shown)], entry[1]


def test_extension_attributes_have_a_row():
    nlp = Language()
    for point in FACTORIES:
        nlp.add_pipe(point.name)
    held = {
        "doc": Underscore.doc_extensions,
        "token": Underscore.token_extensions,
        "span": Underscore.span_extensions,
    }
    names = [f"{kind}._.{name}" for kind, of_kind in held.items() for name in of_kind if OURS.match(name)]
    assert len(names) > 8
    assert not [name for name in names if f"| `{name}` |" not in PAGE]


def test_commands_have_a_row():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf8")
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert re.search(rf"^\| `{name}[ `]", page, re.MULTILINE), name


def test_columns_of_parse_corpus_have_a_row():
    table = pytest.importorskip("spacy_g2g.corpus_job.table", reason="pyarrow is not installed")
    page = (ROOT / "docs" / "corpus.md").read_text(encoding="utf8")
    rows = " ".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))
    assert not [name for name in table.TYPES if f"`{name}`" not in rows]


def test_requests_have_a_row():
    service = pytest.importorskip("tests.serve.conftest", reason="the extra 'serve' is not installed")
    made = service.make_service(service.make_pipeline())
    made.state.worker.close()
    requests = [
        f"`{kind.upper()} {path}`" for path, kinds in made.openapi()["paths"].items() for kind in kinds
    ]
    assert len(requests) > 5
    assert not [request for request in requests if request not in PAGE]


#: Types of results that are named by a string: their modules import torch or come later.
LATER = {"Temperatures", "SavedPipe"}


def test_help_shows_types_and_not_their_names():
    for path in ENTRIES:
        if isinstance(resolve_name(path), property):
            continue
        signature = inspect.signature(resolve_name(path))
        shown = [*(given.annotation for given in signature.parameters.values()), signature.return_annotation]
        assert shown
        assert not [kind for kind in shown if isinstance(kind, str) and kind not in LATER], path
    assert "head_probs" in (ScoredParser.kbest.__doc__ or "")
    assert "labeled" in (ScoredParser.confidence.__doc__ or "")


#: Functions whose docstrings have an example: those of users, and others of the page.
EXAMPLES = [
    *(constrain, final_parser, words.cut, words.word_forms),
    *(ScoredParser.kbest, ScoredParser.confidence, ScoredParser.reparse),
]
EXAMPLES += [doc_to_sentences, evaluate_sentences, deps_cell]


@pytest.mark.parametrize("function", EXAMPLES)
def test_examples_of_docstrings_run(function: Any):
    nlp = initialized_nlp()
    parser = final_parser(nlp, keep_scores=True)
    names = {
        "nlp": nlp,
        "parser": parser,
        "doc": nlp(Doc(nlp.vocab, ["We", "parse", "trees"], sent_starts=[1, -1, -1])),
        **{example.__name__: example for example in EXAMPLES},
    }
    (example,) = doctest.DocTestFinder(recurse=False).find(function, globs=names)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
