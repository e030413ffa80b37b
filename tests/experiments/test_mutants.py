"""`experiments.mutants` counts the mutants that tests catch."""

from pathlib import Path

import pytest

from experiments.mutants import main


def results(path: Path, *fates: str) -> str:
    """A file as mutmut prints its results."""
    names = (f"spacy_g2g.trees.{'mst' if i % 2 else 'tree'}.xǁAǁf__mutmut_{i}" for i in range(len(fates)))
    path.write_text("".join(f"    {name}: {fate}\n" for name, fate in zip(names, fates, strict=True)))
    return str(path)


def test_a_table_has_the_share_of_each_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([results(tmp_path / "a.txt", *["killed"] * 18, "timeout", "survived", "not checked")])
    out = capsys.readouterr().out
    assert "spacy_g2g.trees.mst.xǁAǁf__mutmut_19: survived\n|" in out
    assert "| spacy_g2g.trees.mst | 10 | 90.0% |" in out
    assert "| all | 20 | 95.0% |" in out


@pytest.mark.parametrize("fates", [[], ["not checked"], [*["killed"] * 8, "survived", "no tests"]], ids=len)
def test_fewer_than_nine_of_ten_are_an_error(tmp_path: Path, fates: list[str]) -> None:
    with pytest.raises(SystemExit, match="Expected"):
        main([results(tmp_path / "a.txt", *fates)])
