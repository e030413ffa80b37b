"""The simulated annotator asks a service as the page does."""

import json
from pathlib import Path
from typing import Any

import pytest

httpx = pytest.importorskip("httpx", reason="the simulation sends requests by httpx")

from experiments import simulated_annotation as simulation  # noqa: E402

#: Heads of five words, a chain.
GOLD = [0, 0, 1, 2, 3]


def answer(request: Any) -> Any:
    """A parser that has all words wrong but the first, until the second is set: then it knows all."""
    if request.url.path == "/pipeline":
        return httpx.Response(200, json={"labels": ["root", "dep"]})
    given = json.loads(request.content)
    heads = {int(word): head for word, head in given["constraints"]["heads"].items()}
    assert all(GOLD[word] == head for word, head in heads.items())
    found = GOLD if 1 in heads else [0, 0, 0, 0, 0]
    sure = [0.9, 0.5, 0.6, 0.7, 0.8]
    deps = ["root"] + ["dep" if 1 in heads else "obj"] * 4
    sentence = {"heads": [heads.get(i, head) for i, head in enumerate(found)], "deps": deps, "labeled": sure}
    return httpx.Response(200, json={"sentences": [sentence]})


def test_suggestions_and_certainty_save_corrections_and_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    rows = [
        f"{i + 1}\tw\t_\t_\t_\t_\t{h + 1 if i else 0}\t{'dep' if i else 'root'}\t_\t_\n"
        for i, h in enumerate(GOLD)
    ]
    (tmp_path / "gold.conllu").write_text(("".join(rows) + "\n") * 2)
    client = httpx.Client
    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(httpx, "Client", lambda **given: client(transport=transport, **given))
    simulation.main(["http://test", str(tmp_path / "gold.conllu"), "--target", "100"])
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in capsys.readouterr().out.splitlines()
        if "|" in line
    ]
    assert {name: (corrections, looks) for name, corrections, looks in table[2:]} == {
        "reading order": ("8", "10"),
        "least certain first": ("8", "8"),
        "reading order, suggestions, keep": ("2", "7"),
        "least certain first, suggestions": ("2", "2"),
        "least certain first, suggestions, keep": ("2", "2"),
    }
