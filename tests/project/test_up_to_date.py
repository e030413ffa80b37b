"""Outputs are up to date until something that they depend on changes."""

from pathlib import Path
from typing import Any

from project import up_to_date


def test_a_step_is_done_until_input_setting_or_output_change(tmp_path: Path):
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("a")

    def sources(setting: int = 1) -> dict[str, Any]:
        made: dict[str, Any] = up_to_date.sources_of({"in": source}, setting=setting)
        return made

    assert not up_to_date.is_up_to_date(output, sources())
    output.mkdir()
    (output / "x").write_text("1")
    assert not up_to_date.is_up_to_date(output, sources())
    up_to_date.record_sources(output, sources())
    assert up_to_date.is_up_to_date(output, sources())
    assert not up_to_date.is_up_to_date(output, sources(setting=2))
    source.write_text("b")
    assert not up_to_date.is_up_to_date(output, sources())
    source.write_text("a")
    assert up_to_date.is_up_to_date(output, sources())
    (output / "x").write_text("2")
    assert not up_to_date.is_up_to_date(output, sources())
