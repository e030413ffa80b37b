"""A parser or refiner that is kept, by whatever way, parses as before."""

import copy
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language

from spacy_g2g.models.network_shim import half_precision
from spacy_g2g.models.shim import get_shim

from ..roundtrips import through_disk
from ..util import make_nlp, parser_of, treebank_examples, trees_of, weights_of


def test_a_pipeline_saved_twice_is_the_same(trained: Language, factory: str, tmp_path: Path):
    trained.to_disk(tmp_path / "a")
    spacy.load(tmp_path / "a").to_disk(tmp_path / "b")
    for file in ("cfg", "model"):
        first, second = (tmp_path / name / factory / file for name in "ab")
        assert first.read_bytes() == second.read_bytes()


def test_a_pipeline_that_is_not_initialized_can_be_kept_and_initialized_later(factory: str, tmp_path: Path):
    make_nlp(factory=factory).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    nlp.initialize(lambda: treebank_examples(nlp))
    assert len(parser_of(nlp).labels) == 14


def test_a_kept_parser_can_learn_on(trained: Language, factory: str, tmp_path: Path):
    kept = through_disk(trained, tmp_path)
    losses = kept.update(treebank_examples(kept), sgd=kept.resume_training(), drop=0.0)
    assert 0 < losses[factory] < 1


# Components


def test_half_precision_halves_the_file_and_nothing_else(trained: Language, factory: str, tmp_path: Path):
    parser = parser_of(trained)
    before = weights_of(trained)
    parser.to_disk(tmp_path / "whole")
    parser.half_precision_weights = True
    try:
        trained.to_disk(tmp_path / "half")
        copied = copy.deepcopy(parser)
    finally:
        parser.half_precision_weights = False
    whole, half = ((tmp_path / name / "model").stat().st_size for name in ("whole", f"half/{factory}"))
    n_values = sum(weight.numel() for weight in before.values())
    assert whole - half == pytest.approx(2 * n_values, rel=0.01)
    for name, weight in weights_of(copied.model).items():
        assert torch.equal(weight, before[name])
    kept = spacy.load(tmp_path / "half")
    for name, weight in weights_of(kept).items():
        assert torch.equal(weight, before[name].half().float())
    assert trees_of(kept) == trees_of(trained)


def test_a_weight_too_large_for_half_precision_stays_as_it_is(trained: Language):
    model = copy.deepcopy(parser_of(trained)).model
    shim = get_shim(model)
    weight = next(shim.network.parameters())
    weight.data.flatten()[0] = 1e6
    with half_precision(model):
        data = shim.to_bytes()
    shim.from_bytes(data)
    assert next(shim.network.parameters()).flatten()[0] == 1e6


def test_a_copied_model_is_a_model_of_its_own(trained: Language):
    parser = parser_of(trained)
    expected = trees_of(trained)
    copied = parser.model.copy()
    get_shim(copied).network.scorer.arc_weight.data.zero_()  # type: ignore[operator, union-attr]
    assert trees_of(trained) == expected
    parser.model = copied
    assert trees_of(trained) != expected


@pytest.mark.parametrize("excluded", ["cfg", "model"])
def test_what_is_excluded_is_neither_saved_nor_loaded(
    trained: Language, factory: str, tmp_path: Path, excluded: str
):
    parser = parser_of(trained)
    parser.to_disk(tmp_path / "part", exclude=[excluded, "vocab"])
    assert not (tmp_path / "part" / excluded).exists()
    assert not (tmp_path / "part" / "vocab").exists()
    parser.to_disk(tmp_path / "whole")
    for origin in ("disk", "bytes"):
        other = parser_of(make_nlp(factory=factory))
        if origin == "disk":
            other.from_disk(tmp_path / "whole", exclude=[excluded])
        else:
            other.from_bytes(parser.to_bytes(), exclude=[excluded])
        assert (other.labels == ()) == (excluded == "cfg")
        assert (get_shim(other.model).spec is None) == (excluded == "model")


# Damage


def with_labels(cfg: bytes, labels: Any) -> bytes:
    return json.dumps({**json.loads(cfg), "labels": labels}).encode()


DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes | None], str]] = {
    "no weights": ("model", lambda data: None, "E804"),
    **{
        f"{share} of the weights": ("model", lambda data, s=share: data[: int(len(data) * s)], "E805")
        for share in (0.0, 0.01, 0.5, 0.999)
    },
    "half a list of labels": ("cfg", lambda data: b'{"labels": [', "E805"),
    "other labels": ("cfg", lambda data: b'{"labels": ["root"]}', r"E806.* 14"),
    "no labels": ("cfg", lambda data: None, r"E806.* 14"),
    **{
        f"labels {labels}": ("cfg", partial(with_labels, labels=labels), "E820")
        for labels in (None, 3, "abc", [1, 2], ["root", ""], ["root", "root"], [["root"]])
    },
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_errors_that_name_them(
    trained: Language, factory: str, tmp_path: Path, damage: str
):
    file, change, error = DAMAGE[damage]
    trained.to_disk(tmp_path)
    (tmp_path / factory / "sha256").unlink()  # earlier versions saved none
    path = tmp_path / factory / file
    data = change(path.read_bytes())
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ValueError, match=error) as caught:
        spacy.load(tmp_path)
    assert str(path.parent if file == "cfg" and "E805" not in error else path) in str(caught.value)


def test_weights_of_another_architecture_are_an_error(trained: Language, factory: str, tmp_path: Path):
    parser_of(trained).to_disk(tmp_path)
    with pytest.raises(ValueError, match=r"E805(.|\n)*E406(.|\n)*arc_weight"):
        parser_of(make_nlp(factory=factory, arc_width=8)).from_disk(tmp_path)
