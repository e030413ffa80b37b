"""Pipelines that earlier versions saved are loaded, and give the same trees and AMRs."""

import shutil
from pathlib import Path

import pytest
import spacy

from . import FOLDER, outputs

KINDS = ("own", "shared", "transition", "amr")
VERSIONS = sorted(path.parent for path in FOLDER.glob("*/texts.txt"))


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda path: path.name)
def version(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


@pytest.fixture(scope="module")
def unpacked(version: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pipelines of a version, as folders."""
    folder = tmp_path_factory.mktemp(version.name)
    shutil.unpack_archive(version / "pipelines.tar.xz", folder, filter="data")
    return folder


def test_each_version_has_each_kind():
    assert VERSIONS
    for folder in VERSIONS:
        assert {f"{kind}.txt" for kind in KINDS} <= {path.name for path in folder.iterdir()}


# A pipeline names the version of spaCy that it was trained with.
@pytest.mark.filterwarnings("ignore:.*W095")
@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_pipeline_gives_what_it_gave(version: Path, unpacked: Path, kind: str):
    texts = (version / "texts.txt").read_text(encoding="utf8")
    expected = (version / f"{kind}.txt").read_text(encoding="utf8")
    assert outputs(spacy.load(unpacked / kind), texts) == expected


def test_the_archives_are_small():
    assert all(path.stat().st_size < 300_000 for path in FOLDER.glob("*/pipelines.tar.xz"))
