"""Texts of errors and warnings."""

import ast
import re
from pathlib import Path

from typer.main import get_command

import spacy_g2g
from spacy_g2g.cli import app
from spacy_g2g.errors import Errors, Warnings

PACKAGE = Path(spacy_g2g.__file__).parent


def defined_codes() -> list[str]:
    tree = ast.parse((PACKAGE / "errors.py").read_text(encoding="utf8"))
    return [
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id[1:].isdigit()
    ]


def used_codes() -> set[str]:
    return {
        node.attr
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Errors", "Warnings")
    }


def test_each_code_is_defined_once_and_in_order():
    for kind in "EW":
        numbers = [int(code[1:]) for code in defined_codes() if code[0] == kind]
        assert numbers == sorted(set(numbers))


def test_each_code_is_used_and_each_used_code_is_defined():
    assert used_codes() == set(defined_codes())


def test_a_text_starts_with_its_code():
    assert Errors.E404.format(n_positions=3).startswith("[G2G-E404] n_positions is 3.")
    assert Warnings.W801.startswith("[G2G-W801]")


def test_a_missing_extra_has_a_command_that_installs_it():
    texts = {Errors.E611: "plots", Errors.E1010: "amr", Errors.E1201: "serve"}
    for text, extra in {**texts, Errors.E1119: "corpus", Errors.E1125: "corpus"}.items():
        assert text.endswith(f'pip install ".[{extra}]"')


def test_options_and_commands_that_texts_name_exist():
    codes = [(kind, code) for kind in (Errors, Warnings) for code in vars(kind) if code[1:].isdigit()]
    texts = "\n".join(getattr(kind, code) for kind, code in codes)
    commands = get_command(app).commands  # type: ignore[attr-defined]
    parameters = [parameter for command in commands.values() for parameter in command.params]
    options = {name for one in parameters for name in (*one.opts, *one.secondary_opts)}
    # Those of `spacy train` name settings of a config, with a dot.
    assert {name for name in re.findall(r"--[\w.-]*\w", texts) if "." not in name} <= options
    assert set(re.findall(r"g2g ([a-z-]+)(?:`| --)", texts)) == {"convert", "convert-amr"} <= set(commands)
