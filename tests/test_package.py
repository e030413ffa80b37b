"""The library and a trained pipeline install from their wheels into a fresh environment, and parse there."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import spacy
from packaging.requirements import Requirement
from packaging.version import Version
from spacy.tokens import Doc
from spacy.training import Example

import spacy_g2g
from project.package import stage
from spacy_g2g.training.callbacks import make_package_requirements

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
SMALL = {"model": {"arc_width": 8, "label_width": 8}}
TINY_ENCODER = {
    "@callbacks": "spacy_g2g.EncoderFromScratch.v1",
    "width": 16,
    "n_layers": 1,
    "n_attention_heads": 2,
    "hidden_width": 32,
    "n_positions": 32,
}
# Run in the fresh environment.
CHECK = """
import importlib.metadata as metadata, json, sys, warnings
import spacy, spacy_g2g
from packaging.requirements import Requirement
warnings.simplefilter("ignore")
requirements = map(Requirement, metadata.requires("xx_tiny") + metadata.requires("spacy-g2g"))
missing = [
    str(requirement)
    for requirement in requirements
    if (requirement.marker is None or requirement.marker.evaluate())
    and not requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
]
doc = spacy.load("xx_tiny")("We parse trees")
print(json.dumps({
    "library": spacy_g2g.__file__,
    "missing": missing,
    "heads": [token.head.i for token in doc],
    "deps": [token.dep_ for token in doc],
}))
"""


def run(python: str | Path, *arguments: str | Path) -> str:
    """What Python prints, run without network."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [str(python), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_wheel(source: Path, target: Path) -> Path:
    options = ("--quiet", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", target, source)
    (wheel,) = target.glob("*.whl")
    return wheel


def metadata_of(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf8"))


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library's sdist, and the wheel that is built from it, made outside the checkout.

    A build leaves folders in the source. The source has a test, which belongs in neither.
    """
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    (source / "tests").mkdir()
    (source / "tests" / "test_a.py").touch()
    shutil.copytree(ROOT / "spacy_g2g", source / "spacy_g2g", ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "build", "--no-isolation", source)
    return source / "dist"


@pytest.fixture(scope="module")
def library_wheel(distributions: Path) -> Path:
    (wheel,) = distributions.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def pipeline() -> spacy.Language:
    """A pipeline after one step of training."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("g2g_parser", config=SMALL)
    nlp.config["initialize"]["components"] = {"g2g_parser": {"encoder": TINY_ENCODER}}
    gold = Doc(nlp.vocab, ["We", "parse", "trees"], heads=[1, 1, 1], deps=["nsubj", "root", "obj"])
    example = Example(Doc(nlp.vocab, ["We", "parse", "trees"], sent_starts=[True, False, False]), gold)
    optimizer = nlp.initialize(lambda: [example])
    nlp.update([example], sgd=optimizer)
    return make_package_requirements()(nlp)


@pytest.fixture(scope="module")
def pipeline_wheel(pipeline: spacy.Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its model card, as the project makes them."""
    folder = tmp_path_factory.mktemp("pipeline")
    pipeline.to_disk(folder / "model")
    for name in ("data", "metrics"):
        (folder / name).mkdir()
    (folder / "data" / "LICENSE.txt").write_text("Terms of the treebank.\n", encoding="utf8")
    (folder / "metrics" / "test.json").write_text(json.dumps({"LAS": {"f1": 0.875}}), encoding="utf8")
    paths = {"data": folder / "data", "metrics": folder / "metrics", "folder": folder / "staged"}
    stage(folder / "model", **paths, name="tiny", version="1.2.3")
    run(sys.executable, "-m", "spacy", "package", folder / "staged", folder, "--build", "none")
    return build_wheel(folder / "xx_tiny-1.2.3", tmp_path_factory.mktemp("wheel"))


def files_of(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_library_wheel_holds_every_module_the_style_of_pages_and_the_typing_marker(library_wheel: Path):
    assert library_wheel.name == f"spacy_g2g-{spacy_g2g.__version__}-py3-none-any.whl"
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spacy_g2g").rglob("*.py")}
    page = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spacy_g2g/serve/page").iterdir()}
    others = {"py.typed", "analysis/page.css", "enhanced/languages.json"}
    assert files_of(library_wheel) == ours | page | {f"spacy_g2g/{name}" for name in others}


def test_library_sdist_holds_the_same_and_what_builds_it(distributions: Path, library_wheel: Path):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as sdist:
        files = {member.name.partition("/")[2] for member in sdist if member.isfile()}
    others = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    packed = {name for name in files if not name.startswith("spacy_g2g.egg-info/")}
    assert packed == files_of(library_wheel) | others


def test_library_wheel_registers_its_entry_points(library_wheel: Path):
    with ZipFile(library_wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(name).decode("utf8")
    for line in ("[spacy_factories]", "g2g_parser = ", "[spacy_architectures]", "[spacy_cli]"):
        assert line in text


def test_pipeline_wheel_requires_the_library_and_allows_its_next_minor_version(pipeline_wheel: Path):
    requirements = metadata_of(pipeline_wheel).get_all("Requires-Dist")
    (ours,) = (
        requirement for requirement in map(Requirement, requirements) if requirement.name == "spacy-g2g"
    )
    major, minor = Version(spacy_g2g.__version__).release[:2]
    assert ours.specifier.contains(spacy_g2g.__version__)
    assert ours.specifier.contains(f"{major}.{minor + 1}.0")
    assert not ours.specifier.contains(f"{major + 1}.0.0")


def test_pipeline_wheel_has_a_model_card_and_the_license_of_its_data(pipeline_wheel: Path):
    assert "| test set | 87.50 |" in str(metadata_of(pipeline_wheel).get_payload())
    with ZipFile(pipeline_wheel) as archive:
        folder = "xx_tiny/xx_tiny-1.2.3"
        assert "87.50" in archive.read(f"{folder}/README.md").decode("utf8")
        assert archive.read(f"{folder}/LICENSE") == b"Terms of the treebank.\n"
        meta = json.loads(archive.read(f"{folder}/meta.json"))
    assert meta["performance"]["test_las"] == 0.875
    assert meta["spacy_g2g"]["size_in_bytes"] > 0


def test_staging_for_a_package_leaves_the_pipeline_as_it_is(pipeline: spacy.Language, tmp_path: Path):
    pipeline.to_disk(tmp_path / "model")
    before = (tmp_path / "model" / "meta.json").read_bytes()
    stage(
        tmp_path / "model",
        data=tmp_path,
        metrics=tmp_path,
        folder=tmp_path / "staged",
        name="tiny",
        version="1.2.3",
    )
    assert (tmp_path / "model" / "meta.json").read_bytes() == before
    assert json.loads((tmp_path / "staged" / "meta.json").read_bytes())["name"] == "tiny"


def test_wheels_in_a_fresh_environment_load_and_parse_the_same(
    library_wheel: Path, pipeline_wheel: Path, pipeline: spacy.Language, tmp_path: Path
):
    """The environment takes the heavy dependencies from this one, after what is ours was installed."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    options = ("--quiet", "--python", python)
    run(sys.executable, "-m", "pip", *options, "install", "--no-deps", library_wheel, pipeline_wheel)
    # -I: neither PYTHONPATH nor the working directory.
    site = Path(run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf8")
    found = json.loads(run(python, "-I", "-c", CHECK).splitlines()[-1])
    doc = pipeline("We parse trees")
    assert Path(found["library"]).is_relative_to(site)
    assert found["missing"] == []
    assert found["heads"] == [token.head.i for token in doc]
    assert found["deps"] == [token.dep_ for token in doc]
