"""Write docs/config.md: every setting of all that the package registers, from signatures and docstrings."""

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

What the package registers, with all the settings that a config can give. Made from the code by
`docs/config_reference.py`; the config files in `configs/` spell them all.
"""
#: Titles by group of entry points, in the order of the page.
TITLES = {
    "spacy_factories": "Components",
    "spacy_architectures": "Architectures",
    "thinc_layers": "Layers",
    "spacy_callbacks": "Callbacks",
    "spacy_loggers": "Loggers",
    "spacy_readers": "Corpus readers",
    "spacy_augmenters": "Augmenters",
    "spacy_scorers": "Scorers",
}
WHERE = {
    "spacy_architectures": "@architectures",
    "thinc_layers": "@layers",
    "spacy_callbacks": "@callbacks",
    "spacy_loggers": "@loggers",
    "spacy_readers": "@readers",
    "spacy_augmenters": "@augmenters",
    "spacy_scorers": "@scorers",
}
#: `name: text` or `name, name (type): text`, in a docstring.
SETTING = re.compile(r"((?:\w+)(?:, \w+)*)(?: \([^)]*\))?: (.*)")


def main() -> None:
    """Write the page, or with --check fail where it is not what would be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Write nothing; exit with 1 if the page is old")
    text = make_page()
    if parser.parse_args().check:
        if OUTPUT.read_text(encoding="utf8") != text:
            raise SystemExit(f"{OUTPUT} is not what the code says. Run docs/config_reference.py.")
    else:
        OUTPUT.write_text(text, encoding="utf8")


def make_page() -> str:
    """The page as Markdown."""
    points = sorted(distribution("spacy-g2g").entry_points, key=lambda point: point.name)
    parts = [INTRODUCTION]
    for group, title in TITLES.items():
        parts.append(f"## {title}\n")
        parts += [section(point) for point in points if point.group == group]
    return "\n".join(parts)


def section(point: EntryPoint) -> str:
    """A registered function with a table of its settings."""
    function = point.load()
    summary, texts = read_docstring(inspect.getdoc(function) or "")
    defaults = defaults_of(point, function)
    undescribed = sorted(set(defaults) - set(texts))
    if undescribed:
        raise ValueError(f"{point.value} does not describe {undescribed}. Expected a line for each argument.")
    where = (
        f'`{WHERE[point.group]} = "{point.name}"`' if point.group in WHERE else f'`factory = "{point.name}"`'
    )
    summary = re.sub(
        r"Registered as ``[^`]*``(?:, (for [^:]*?)\.|[:;] ?(.))", _without_name, summary, count=1
    )
    rows = [f"| `{name}` | {default} | {markdown(texts[name])} |" for name, default in defaults.items()]
    table = ["| setting | default | |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"### {point.name}\n", f"{where} {markdown(summary)}\n", *table])


def _without_name(match: re.Match[str]) -> str:
    return f"{(match[1] or match[2] or '').capitalize()}{'.' if match[1] else ''}"


def defaults_of(point: EntryPoint, function: Callable[..., Any]) -> dict[str, str]:
    """The settings with their defaults, of a factory those of its default config."""
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
    """A default as a config spells it; blocks by their registered names."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, dict):
        return next(f"`{name}`" for key, name in value.items() if key.startswith("@"))
    spelled = (
        {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else None
    )
    return f"`{spelled or repr(value).replace(chr(39), chr(34))}`"


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The text before the settings, and that of each setting."""
    summary: list[str] = []
    texts: dict[str, list[str]] = {}
    current: list[str] = summary
    for line in text.splitlines():
        match = SETTING.fullmatch(line)
        if line.startswith(("Raises", "RAISES", "Returns", "RETURNS")):
            current = []
        elif match and all(re.fullmatch(r"[a-z_0-9]+", name) for name in match[1].split(", ")):
            current = [match[2]]
            texts |= dict.fromkeys(match[1].split(", "), current)
        else:
            current.append(line.strip())
    return " ".join(summary).strip(), {name: " ".join(lines).strip() for name, lines in texts.items()}


def markdown(text: str) -> str:
    """Double backticks to single ones, and no cell ends too early."""
    return re.sub(r"\s+", " ", text).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    main()
