from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def chain_pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of a pipeline with the parser of ``chain.py``."""
    from .util import save_chain

    return save_chain(tmp_path_factory.mktemp("chain") / "pipeline")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file of 30 documents, which are 6 or 7 shards."""
    from .util import texts, write_jsonl

    return write_jsonl(tmp_path / "corpus.jsonl", texts(30))
