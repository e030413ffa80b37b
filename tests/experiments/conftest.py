"""Fixtures of `experiments.peers`: its adapters' modules, and corpora."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from experiments.peers.environments import ADAPTERS

from ..util import read_treebank
from .util import write_conllu


@pytest.fixture(scope="module")
def adapters() -> Iterator[tuple[ModuleType, ModuleType]]:
    """The modules that run in the peers' environments, where their folder is on the path."""
    names = ("adapter", "spacy_adapter")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ADAPTERS))
        yield importlib.import_module(names[0]), importlib.import_module(names[1])
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def adapter(adapters: tuple[ModuleType, ModuleType]) -> ModuleType:
    return adapters[0]


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """A folder with train.conllu, dev.conllu, test.conllu, and a checkpoint's config.json."""
    write_conllu(tmp_path / "train.conllu", read_treebank())
    write_conllu(tmp_path / "dev.conllu", read_treebank(), det="det:x")
    write_conllu(tmp_path / "test.conllu", read_treebank()[:4])
    (tmp_path / "config.json").write_text("{}", encoding="utf8")
    return tmp_path
