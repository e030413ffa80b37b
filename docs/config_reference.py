"""Write docs/config.md: every setting of each registered function, from its signature and docstring."""

import argparse
import inspect
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from typing import Any

from spacy.language import Language

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "docs" / "config.md"
INTRODUCTION = """# Every setting

This page lists everything that the package registers, with all settings that a config can give and their
defaults. `docs/config_reference.py` makes it from the code. The files in `configs/` spell out every setting.
"""
#: Titles by group of entry points, in the order of the page.
TITLES = {
    "spacy_factories": "Components",
    "spacy_architectures": "Architectures",
    "spacy_callbacks": "Callbacks",
    "spacy_readers": "Corpus readers",
    "spacy_augmenters": "Augmenters",
    "spacy_batchers": "Batchers",
    "spacy_loggers": "Loggers",
    "spacy_scorers": "Scorers",
    "spacy_tokenizers": "Tokenizers",
}
#: How a config names a registered function, by group of entry points.
WHERE = {
    "spacy_factories": "factory",
    "spacy_architectures": "@architectures",
    "spacy_callbacks": "@callbacks",
    "spacy_readers": "@readers",
    "spacy_augmenters": "@augmenters",
    "spacy_batchers": "@batchers",
    "spacy_loggers": "@loggers",
    "spacy_scorers": "@scorers",
    "spacy_tokenizers": "@tokenizers",
}
#: `name: text` in a docstring.
SETTING = re.compile(r"([a-z_0-9]+): (.*)")


def main() -> None:
    """Write the page, or with --check fail if the page is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Write nothing; fail if the page is out of date")
    text = make_page()
    if parser.parse_args().check:
        if OUTPUT.read_text(encoding="utf8") != text:
            raise SystemExit(f"{OUTPUT} is out of date. Run docs/config_reference.py.")
    else:
        OUTPUT.write_text(text, encoding="utf8")


def make_page() -> str:
    """Return the page as Markdown."""
    points = sorted(distribution("spacy-g2g").entry_points, key=lambda point: point.name)
    parts = [INTRODUCTION]
    for group, title in TITLES.items():
        parts.append(f"## {title}\n")
        parts += [section(point) for point in points if point.group == group]
    return "\n".join(parts)


def section(point: EntryPoint) -> str:
    """Return the section of a registered function: its description and a table of its settings."""
    function = point.load()
    summary, texts = read_docstring(inspect.getdoc(function) or "")
    defaults = defaults_of(point, function)
    undescribed = sorted(set(defaults) - set(texts))
    if undescribed:
        raise ValueError(f"{point.value} does not describe {undescribed}. Expected a line for each argument.")
    where = f'`{WHERE[point.group]} = "{point.name}"`'
    summary = re.sub(r" *Registered as ``[^`]*``\.", "", summary)
    rows = [f"| `{name}` | {default} | {markdown(texts[name])} |" for name, default in defaults.items()]
    table = ["| setting | default | description |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"### {point.name}\n", f"{where}\n", f"{markdown(summary)}\n", *table])


def defaults_of(point: EntryPoint, function: Callable[..., Any]) -> dict[str, str]:
    """Return the default of each setting. Factories have theirs in their default config."""
    parameters = inspect.signature(function).parameters
    if point.group == "spacy_factories":
        config = Language.get_factory_meta(point.name).default_config
        given = {
            name: config.get(name, inspect.Parameter.empty)
            for name in parameters
            if name not in ("nlp", "name")
        }
    else:
        given = {name: parameter.default for name, parameter in parameters.items()}
    return {name: spell(value) for name, value in given.items()}


def spell(value: Any) -> str:
    """Return a default as a config spells it. A block is spelled by its registered name."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, dict):
        return next(f"`{name}`" for key, name in value.items() if key.startswith("@"))
    spelled = (
        {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else None
    )
    return f"`{spelled or repr(value).replace(chr(39), chr(34))}`"


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the text before the settings, and the description of each setting."""
    summary: list[str] = []
    texts: dict[str, list[str]] = {}
    current = summary
    for line in text.splitlines():
        if line.startswith(("Raises", "Returns")):
            current = []
        elif match := SETTING.fullmatch(line):
            current = texts[match[1]] = [match[2]]
        else:
            current.append(line.strip())
    return " ".join(summary).strip(), {name: " ".join(lines).strip() for name, lines in texts.items()}


def markdown(text: str) -> str:
    """Return text for a table cell, with single backticks and escaped bars."""
    return re.sub(r"\s+", " ", text).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    main()
