"""`experiments.long_life` counts what a process remembers, and tells memory that grows."""

import random
from itertools import islice
from pathlib import Path

import pytest
import spacy

from experiments import long_life
from experiments.long_life import MIB, Row, growth, judge, sentences


def words(*, new: bool) -> list[str]:
    return [word for text in islice(sentences(random.Random(0), new=new), 2_000) for word in text.split()]


def test_words_are_the_same_or_ever_new():
    assert 900 < len({word.strip(".").lower() for word in words(new=False)}) <= 1_000
    assert len({*words(new=True)}) > 0.99 * len(words(new=True))


@pytest.mark.parametrize(
    ("grown", "n_strings", "is_flat"), [(9, 0, True), (11, 0, False), (11, 10_000, True)]
)
def test_memory_may_grow_by_the_bound_and_by_strings(grown, n_strings, is_flat, capsys):
    sizes = [(100, 50, 0), (200, 80, 5), (300, 80 + grown, 5 + n_strings)]
    rows = [Row(n, mib * MIB, strings) for n, mib, strings in sizes]
    assert growth(rows) == (grown, n_strings)
    assert judge(rows, 10.0) == is_flat
    assert ("NOT FLAT" in capsys.readouterr().out) != is_flat


@pytest.mark.linux
def test_a_zone_forgets_strings(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    spacy.blank("xx").to_disk(tmp_path / "pipeline")
    command = [str(tmp_path / "pipeline"), "--kinds", "new", "zones", "--texts", "600", "--every", "300"]
    with pytest.raises(SystemExit) as end:
        long_life.main(command)
    assert end.value.code == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| 5")]
    (new, zones) = (int(row[2].replace(",", "")) for row in rows)
    assert new > zones + 1_000
