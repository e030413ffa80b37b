"""Times of a pipeline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy

from project import timing


def one_second(run: Callable[[], Any]) -> float:
    """Call a function that takes a second, it seems."""
    run()
    return 1.0


@pytest.mark.parametrize(
    ("lang", "line", "n_words"), [("zh", "我們今日去  公園。", 8), ("xx", "We go  to the park.", 6)]
)
def test_words_are_those_that_the_pipeline_finds(
    lang: str, line: str, n_words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(timing, "seconds", one_second)
    spacy.blank(lang).to_disk(tmp_path / "pipeline")
    text = tmp_path / "texts.txt"
    text.write_text(f"{line}\n{line}\n\n" * 300, encoding="utf8")
    found = timing.times_of(str(tmp_path / "pipeline"), text, [])
    assert found["sentence_words"] == n_words
    assert found["short_wps"] == timing.N_SHORT * n_words
    assert 0 <= found["document_wps"] - timing.N_DOCUMENT_WORDS < 2 * n_words
