"""Commands and scripts that the pages name, and which of them are not there.

    python -m tests.page_commands

It prints what it finds: page, line, and what is wrong. A page names a command in a block of the language
bash, comments included, or between backticks. We check scripts and modules of this repository with their
options, commands of spaCy and ours, workflows of project.yml, and targets of the Makefile.
"""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import srsly
from spacy.cli import app
from spacy.util import load_config, registry
from typer.main import get_command

from project.training_config import has_setting

ROOT = Path(__file__).parent.parent
#: The page that names what is no longer there, and the commit that has it.
HISTORY = ROOT / "docs" / "results" / "history.md"
FOLDERS = ("experiments", "project", "configs", "tests", "assets", "docs")
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_BLOCK = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
#: How a command begins; what comes before it on its line, as in a comment, is not part of it.
START = re.compile(r"(?:python -m |python [\w/]+\.py\b|make (?=[a-z])|spacy (?=[a-z])|g2g (?=[a-z])).*")
SCRIPT = re.compile(rf"(?<![\w/.:-])(?:{'|'.join(FOLDERS)})/[\w/.-]+\.(?:py|cfg)\b")
AT_COMMIT = re.compile(r"\bat commit `?[0-9a-f]{7}\b")
#: Words of a shell that end a command.
ENDS = re.compile(r"[();|&<>]+")


class Command(NamedTuple):
    """A command of a page: its line, counted from 1, its words, and whether it stands in a block."""

    line: int
    words: list[str]
    whole: bool


class ParserFoundError(Exception):
    """Carries the parser of a script, whose run ends where it would read its arguments."""


class UsageError(Exception):
    """Says what is wrong with the arguments of a script."""


def pages() -> list[Path]:
    """Return all pages whose commands must work: not the changelog, nor the page of history."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*found, *sorted({*(ROOT / "docs").rglob("*.md")} - {HISTORY})]


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def words_of(line: str) -> list[list[str]]:
    """Return the words of each command of a line of a shell, without comments."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = [*lexer]
    except ValueError:  # a quotation mark in a comment's text, such as that of "don't"
        words = line.split()
    parts = groupby(words, key=lambda word: bool(ENDS.fullmatch(word)))
    return [[*part] for ends, part in parts if not ends]


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a page."""
    for block in BLOCK.finditer(text):
        lines = block[1].replace("\\\n", " \0")
        line = line_of(text, block.start(1))
        for row in lines.split("\n"):
            for start in filter(None, [START.search(row.replace("\0", ""))]):
                for words in words_of(start[0]):
                    yield Command(line, words, not row.lstrip().startswith("#"))
            line += 1 + row.count("\0")
    outside = ANY_BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)
    for span in SPAN.finditer(outside):
        start = START.match(re.sub(r"^([A-Z_]+=\S+ )+", "", span[1]))
        if start is not None:
            yield Command(line_of(outside, span.start()), words_of(start[0])[0], False)


def problems(page: Path) -> list[str]:
    """Return what a page names that is not there, each with its line."""
    text = page.read_text(encoding="utf8")
    found = [(command.line, check(command)) for command in commands(text)]
    for match in SCRIPT.finditer(text):
        if not (ROOT / match[0]).exists() and "your" not in match[0]:
            found.append((line_of(text, match.start()), f"there is no file {match[0]}"))
    for match in AT_COMMIT.finditer(text):
        found.append((line_of(text, match.start()), f"{match[0]!r} belongs on the page of history"))
    name = page.as_posix().removeprefix(f"{ROOT.as_posix()}/")
    return [f"{name}:{line}: {problem}" for line, problem in sorted(set(found)) if problem]


def check(command: Command) -> str:
    """Return what is wrong with a command, or ""."""
    match command.words:
        case ["make", target, *_]:
            return check_target(target)
        case ["python", "-m", "spacy", *rest] | ["spacy", *rest]:
            return check_spacy(rest)
        case ["g2g", *_]:
            return check_spacy(command.words)
        case ["python", "-m", module, *rest] if module.split(".")[0] in FOLDERS:
            path = Path(*module.split("."))
            main = path / "__main__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
            return check_script(main, rest, whole=command.whole)
        case ["python", script, *rest] if script.endswith(".py"):
            return check_script(Path(script), rest, whole=command.whole)
    return ""


def check_target(target: str) -> str:
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    exists = re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)
    return "" if exists else f"make has no target {target}"


@lru_cache
def spacy_commands() -> Any:
    """Return the commands of spaCy with ours."""
    registry.cli.get_all()  # as `python -m spacy` does, which attaches our commands
    return get_command(app)


@lru_cache
def configs() -> dict[Path, Any]:
    """Return our configs by their paths."""
    return {path: load_config(path) for path in sorted((ROOT / "configs").rglob("*.cfg"))}


@lru_cache
def project() -> Any:
    return srsly.read_yaml(ROOT / "project.yml")


def check_spacy(arguments: Sequence[str]) -> str:
    """Return what is wrong with a command of `python -m spacy`."""
    node, rest = spacy_commands(), [*arguments]
    while hasattr(node, "commands"):
        if not rest or rest[0].startswith((".", "-")):
            return ""
        if rest[0] not in node.commands:
            return f"spaCy has no command {' '.join(arguments)}"
        node = node.commands[rest.pop(0)]
    if arguments[:2] == ["project", "run"]:
        return check_project(rest)
    known = {option for each in node.params for option in (*each.opts, *each.secondary_opts, "--help")}
    given = [word.partition("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)]
    unknown = [option for option in given if option not in known]
    if not node.context_settings.get("allow_extra_args") and unknown:
        return f"{shlex.join(arguments)}: there is no option {unknown[0]}"
    return check_overrides(unknown, next((word for word in rest if word.endswith(".cfg")), ""))


def check_overrides(options: Sequence[str], config: str) -> str:
    """Return what is wrong with settings that are given in place of those of a config.

    options: The settings, with "--".
    config: Path of the config. If it is none of ours, one of ours must have the settings.
    """
    if config.startswith("configs/") and ROOT / config not in configs():
        return f"there is no config {config}"
    chosen = [configs()[ROOT / config]] if config.startswith("configs/") else [*configs().values()]
    for setting in [option.removeprefix("--") for option in options]:
        if not any(has_setting(each, setting) or takes(each, setting) for each in chosen):
            return f"{config} has no setting {setting}" if config else f"no config has {setting}"
    return ""


def takes(config: Any, setting: str) -> bool:
    """Return whether a config may have a setting: a weight, or an argument of a function that it names."""
    if setting.startswith("training.score_weights."):
        return True
    *sections, argument = setting.split(".")
    for section in sections:
        config = config.get(section, {}) if isinstance(config, dict) else {}
    for name, function in config.items() if isinstance(config, dict) else ():
        if name.startswith("@"):
            return argument in signature(registry.get(name[1:], function)).parameters
    return False


def check_project(arguments: Sequence[str]) -> str:
    """Return what is wrong with arguments of `spacy project run`."""
    names = {*project()["workflows"], *(step["name"] for step in project()["commands"])}
    for word in arguments[:1]:
        if word not in names:
            return f"project.yml has no workflow or step {word}"
    for word in arguments:
        name = re.match(r"--vars\.(\w+)", word)
        if name is not None and name[1] not in project()["vars"]:
            return f"project.yml has no variable {name[1]}"
    return ""


def check_script(script: Path, arguments: Sequence[str], *, whole: bool) -> str:
    """Return what is wrong with a script of this repository and its arguments."""
    name = script.as_posix()
    if not (ROOT / script).exists():
        return f"there is no script {name}"
    parser = parser_of(script)
    variables = [word for word in arguments if word.startswith("--vars.")]
    if parser is None:
        words = [word for word in arguments if word.startswith("--") and word not in variables]
        return f"{name} has no options" if words else check_project(["all", *variables])
    if whole:
        try:
            with patch.object(argparse.ArgumentParser, "error", raise_usage):
                parser.parse_known_args([word for word in arguments if word != "..."])
        except UsageError as error:
            return f"{name} {shlex.join(arguments)}: {error}"
    known = {option for each in with_subparsers(parser) for option in each._option_string_actions}
    options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    unknown = [option for option in options if option not in known]
    if all("." in option for option in unknown):
        return check_overrides(unknown, next((word for word in arguments if word.endswith(".cfg")), ""))
    return f"{name} has no option {unknown[0]}"


def raise_usage(_: argparse.ArgumentParser, message: str) -> None:
    raise UsageError(message)


def with_subparsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from with_subparsers(each)


@lru_cache
def parser_of(script: Path) -> argparse.ArgumentParser | None:
    """Return the parser of a script's arguments: the script runs until it reads them."""
    source = (ROOT / script).read_text(encoding="utf8")
    if "argparse" not in source:
        return None

    def stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        raise ParserFoundError(parser)

    module = ".".join(script.with_suffix("").parts).removesuffix(".__main__")
    folders = [str(ROOT), str(ROOT / script.parent), *sys.path]
    with (
        patch.object(argparse.ArgumentParser, "parse_known_args", stop),
        patch.object(sys, "argv", ["x"]),
        patch.object(sys, "path", folders),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # scripts that are imported already
        try:
            runpy.run_module(module, run_name="__main__")
        except ParserFoundError as found_parser:
            return found_parser.args[0]
    return None


def main() -> None:
    """Print what the pages name that is not there."""
    for page in pages():
        for problem in problems(page):
            print(problem)


if __name__ == "__main__":
    main()
