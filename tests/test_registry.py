"""Whatever the package registers can be looked up, and costs those who do not use it nothing."""

import inspect
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from pathlib import Path

import pytest
import spacy
from spacy.cli import app
from spacy.util import registry
from typer.testing import CliRunner

from spacy_g2g.data.plugins import plugins

ROOT = Path(__file__).parent.parent
REGISTRIES = {
    "architectures",
    "augmenters",
    "batchers",
    "callbacks",
    "layers",
    "loggers",
    "readers",
    "scorers",
    "tokenizers",
}


def entry_points(*groups: str) -> list[EntryPoint]:
    """Our entry points in the groups `spacy_{group}` or `thinc_{group}`, or in all; none if not installed."""
    try:
        ours = distribution("spacy-g2g").entry_points
    except PackageNotFoundError:
        return []
    return [point for point in ours if not groups or group_of(point) in groups]


def group_of(point: EntryPoint) -> str:
    return point.group.removeprefix("spacy_").removeprefix("thinc_")


def label(point: EntryPoint) -> str:
    return f"{point.group}:{point.name}"


def run_python(code: str, *extra_path: Path) -> None:
    """Run code in a fresh interpreter that finds this package, and `extra_path` before all else."""
    path = [str(folder) for folder in [*extra_path, ROOT]] + [os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: Hides spacy-transformers, which imports transformers in each pipeline itself.
WITHOUT_SPACY_TRANSFORMERS = """if True:
    import importlib.metadata
    found = importlib.metadata.distributions
    importlib.metadata.distributions = lambda **kwargs: (
        package for package in found(**kwargs) if package.metadata["Name"] != "spacy-transformers"
    )
"""


def test_the_package_is_installed_and_each_group_of_its_entry_points_is_tested_here():
    assert entry_points(), "No entry points of spacy-g2g: install the package, as `make test` does."
    groups = {group_of(point) for point in entry_points()}
    assert groups <= {*REGISTRIES, "factories", "cli", "g2g_plugins"}


@pytest.mark.parametrize("point", entry_points(*REGISTRIES), ids=label)
def test_a_registered_name_is_found_and_has_our_form(point: EntryPoint):
    assert callable(registry.get(group_of(point), point.name))
    assert re.fullmatch(r"spacy_g2g\.\w+\.v[1-9]\d*", point.name)


@pytest.mark.parametrize("point", entry_points("factories"), ids=label)
def test_a_factory_is_found_in_a_blank_pipeline(point: EntryPoint):
    nlp = spacy.blank("xx")
    assert nlp.has_factory(point.name)
    assert nlp.get_factory_meta(point.name).factory == point.name


@pytest.mark.parametrize("point", entry_points("cli"), ids=label)
def test_a_command_attaches_itself_to_that_of_spacy(point: EntryPoint):
    registry.get("cli", point.name)
    result = CliRunner().invoke(app, [point.name, "--help"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("point", entry_points("g2g_plugins"), ids=label)
def test_a_plugin_has_all_functions_of_one(point: EntryPoint):
    plugin = plugins()[f".{point.name}"]
    assert isinstance(plugin.EXTENSION, str)
    assert all(callable(getattr(plugin, name)) for name in ("read", "write", "get", "remove", "draw"))


@pytest.mark.slow
def test_a_blank_pipeline_finds_our_factory_and_imports_nothing_heavy():
    run_python(
        WITHOUT_SPACY_TRANSFORMERS
        + """
    import sys, spacy
    assert spacy.blank("xx").has_factory("g2g_parser")
    heavy = {"tokenizers", "transformers", "safetensors"} & sys.modules.keys()
    ours = {name for name in sys.modules if name.startswith(("spacy_g2g.layers", "spacy_g2g.models."))}
    light = ("decoding", "settings", "types")  # which import no torch
    ours -= {f"spacy_g2g.models.{name}" for name in light}
    assert not heavy and not ours, (heavy, ours)
    """
    )


@pytest.mark.slow
def test_a_blank_pipeline_takes_no_attribute_name_of_docs_or_spans():
    run_python(
        """if True:
    import spacy
    from spacy.tokens import Doc, Span
    names = "amr", "amr_graphs"
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser")
    assert nlp.has_factory("amr_parser")
    assert not any(each.has_extension(name) for each in (Doc, Span) for name in names)
    nlp.add_pipe("amr_parser")
    assert all(map(Doc.has_extension, names)) and Span.has_extension("amr")
    """
    )


@pytest.mark.slow
def test_our_parser_can_be_added_where_transformers_is_broken(tmp_path: Path):
    (tmp_path / "transformers.py").write_text("raise RuntimeError('poisoned')", encoding="utf8")
    run_python(
        WITHOUT_SPACY_TRANSFORMERS
        + """
    import spacy
    try:
        import transformers
    except RuntimeError:
        pass
    else:
        raise AssertionError("transformers is not poisoned")
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser")
    assert nlp.pipe_names == ["g2g_parser"]
    """,
        tmp_path,
    )


def test_blocks_of_a_config_have_types_that_an_old_confection_can_read():
    """With pydantic 1, it can't look up a type of ours by its name."""
    points = {f"{point.group}:{point.name}": point for point in distribution("spacy-g2g").entry_points}
    for name in ("loggers:spacy_g2g.ResumableLogger.v1", "batchers:spacy_g2g.augmented_batches.v1"):
        parameters = inspect.signature(points[f"spacy_{name}"].load()).parameters
        assert parameters
        assert not [given for given in parameters.values() if isinstance(given.annotation, str)]
    factor = inspect.signature(points["spacy_architectures:spacy_g2g.RateFactor.v1"].load())
    assert not isinstance(factor.parameters["model"].annotation, str)
