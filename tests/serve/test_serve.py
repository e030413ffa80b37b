import sys
from typing import Any

import pytest
import spacy

from ..chains import g2g
from ..util import initialized_nlp

SERVE = ["serve", "PIPELINE", "--port", "8123", "--max-words", "7", "--timeout", "2", "--silent"]
SERVE += ["--allow-host", "parser.here"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("serve") / "pipeline"
    initialized_nlp().to_disk(folder)
    return str(folder)


def invoke(pipeline: str) -> Any:
    return g2g(*(pipeline if word == "PIPELINE" else word for word in SERVE))


def test_a_pipeline_is_served_to_this_machine_alone(folder: str, monkeypatch: pytest.MonkeyPatch):
    uvicorn = pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
    served: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server: served.append(server.config))
    assert invoke(folder).exit_code == 0
    (settings,) = served
    service = settings.app
    assert (settings.host, settings.port) == ("127.0.0.1", 8123)
    limits = service.state.worker.limits
    assert (limits.max_words, limits.timeout) == (7, 2.0)
    (limiter,) = service.user_middleware
    assert limiter.kwargs["hosts"] == ["localhost", "127.0.0.1", "parser.here"]


def test_what_is_missing_is_said(folder: str, tmp_path, forget_package, monkeypatch: pytest.MonkeyPatch):
    spacy.blank("xx").to_disk(tmp_path / "blank")
    result = invoke(str(tmp_path / "blank"))
    assert result.exit_code == 1
    assert "G2G-E840" in result.output
    forget_package("serve")
    monkeypatch.setitem(sys.modules, "fastapi", None)
    result = invoke(folder)
    assert result.exit_code == 1
    assert 'pip install "spacy-g2g[serve]"' in " ".join(result.output.split())
