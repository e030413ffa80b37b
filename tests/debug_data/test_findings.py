"""Advice of ``debug-data``: a finding for each kind of trouble."""

from typing import Any

import pytest

from spacy_g2g.debug_data.findings import ERRORS, TEXTS, find_problems, show_figure

#: Figures of a corpus, and of one as a component reads it, in which all is well.
COUNTED = (
    "no_tree",
    "incomplete",
    "unlabeled",
    "several_roots",
    "cycles",
    "outside",
    "space_heads",
    "misaligned",
    "unset",
)
CORPUS: dict[str, Any] = {"docs": 300, "sentences": 300, "words": 750, "inner_starts": 0, "bare_starts": 0}
CORPUS |= dict.fromkeys([*COUNTED, "root_label_elsewhere", "left_out"], 0)
CORPUS |= {"multiword_words": None, "token_f1": None, "token_errors": {}, "labels": {"root": 300, "dep": 450}}
CORPUS |= {"roots": {"root": 300}, "root_label": "root", "root_labels": {}, "rare_labels": {}}
READ: dict[str, Any] = {"learnable": 300, "with_heads": 300, "unlearnable": 0, "unlearnable_trees": 0}
READ |= {"pieces_per_word": 1.1, "most_pieces": 3, "piece_limit": 500, "too_many_pieces": 0}
READ |= {"in_windows": 0, "unknown": 0, "unknown_words": {}}
COMPONENT: dict[str, Any] = {"encoder_problem": None, "tag_attr": None, "tags_from": [], "initial_from": None}
COMPONENT |= {"learns_sentences": False, "unknown_labels": {}}
REPORT: dict[str, Any] = {"splits_tokens": False, "sets_boundaries": [], "duplicates": 0}
REPORT |= {"long_duplicates": 0, "labels_only_in_dev": {}, "untaught": {}}


def report(
    train: dict[str, Any] | None = None,
    dev: dict[str, Any] | None = None,
    read: dict[str, Any] | None = None,
    component: dict[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Figures in which all is well, but for what is given; read: as the component p reads both corpora."""
    reads = {**READ, **(read or {})}
    parser = {**COMPONENT, "train": reads, "dev": reads, **(component or {})}
    corpora = {"train": {**CORPUS, **(train or {})}, "dev": {**CORPUS, **(dev or {})}}
    return {**REPORT, **corpora, "components": {"p": parser}, **others}


CASES: dict[str, tuple[dict[str, Any], str]] = {
    **{name: ({"train": {name: 7}}, "train") for name in COUNTED if name != "unset"},
    "empty": ({"dev": {"words": 0, "sentences": 0}}, "dev"),
    "left_out": ({"dev": {"left_out": 376}}, "dev"),
    "few_sentences": ({"train": {"sentences": 199}}, "train"),
    "duplicates": ({"duplicates": 9, "long_duplicates": 4}, "dev"),
    "multiword": ({"dev": {"multiword_words": 8}}, "dev"),
    "tokens": ({"dev": {"token_f1": 0.984, "token_errors": {"a b / ab": 7}}}, "dev"),
    "no_boundaries": ({"dev": {"unset": 7}}, "dev"),
    "no_inner_starts": ({"component": {"learns_sentences": True}}, "p"),
    "few_bare_starts": (
        {"train": {"inner_starts": 100, "bare_starts": 4}, "component": {"learns_sentences": True}},
        "p",
    ),
    "no_labels": ({"train": {"labels": {}, "roots": {}}, "labels_only_in_dev": {"dep": 450}}, "train"),
    "no_labels_in_dev": ({"dev": {"labels": {}}}, "dev"),
    "labels_only_in_dev": ({"labels_only_in_dev": {"new": 7}}, "dev"),
    "untaught": ({"untaught": {"tagger": "two values of XPOS"}}, "train"),
    "rare_labels": ({"train": {"rare_labels": {"rare": 19}}}, "train"),
    "root_labels": ({"train": {"root_labels": {"dep": 7}}}, "train"),
    "root_label_elsewhere": ({"train": {"root_label_elsewhere": 7}}, "train"),
    "no_encoder": ({"component": {"encoder_problem": "not 7"}}, "p"),
    "unknown_labels": ({"component": {"unknown_labels": {"new": 7}}}, "p"),
    "unlearnable": ({"read": {"unlearnable": 7, "unlearnable_trees": 3}}, "p"),
    "none_learnable": ({"read": {"learnable": 0, "unlearnable": 7, "unlearnable_trees": 3}}, "p"),
    "missing_tags": ({"read": {"missing_tags": 7}, "component": {"tag_attr": "TAG"}}, "p, train"),
    "too_many_pieces": ({"read": {"most_pieces": 507, "too_many_pieces": 7}}, "p, train"),
    "unknown_pieces": ({"read": {"unknown": 7, "unknown_words": {"x": 7}}}, "p, train"),
    "many_pieces": ({"read": {"pieces_per_word": 3.1}}, "p, train"),
    "no_initial_graphs": (
        {"read": {"initial_heads": 0, "initial_share": 0.0}, "component": {"initial_from": []}},
        "p, train",
    ),
}


def test_good_data_have_no_findings():
    assert find_problems(report()) == []
    without_pieces = {name: READ[name] for name in ("learnable", "unlearnable")}
    assert find_problems(report(component={"train": without_pieces, "dev": without_pieces})) == []


@pytest.mark.parametrize("name", CASES)
def test_trouble_is_found_and_nothing_else(name: str):
    changes, where = CASES[name]
    found = find_problems(report(**changes))
    assert {finding.name for finding in found} == {name}
    assert found[0].where == where
    assert found[0].level == ("error" if name in ERRORS else "warning")
    assert "{" not in found[0].text


@pytest.mark.parametrize(("on_dev", "names"), [(0.84, ["initial_graphs_too_good"]), (0.86, [])])
def test_graphs_that_are_better_on_train_than_on_dev_are_found(on_dev: float, names: list[str]):
    train, dev = ({**READ, "initial_heads": 100, "initial_share": share} for share in (0.9, on_dev))
    found = find_problems(report(component={"initial_from": [], "train": train, "dev": dev}))
    assert [finding.name for finding in found] == names


def test_each_text_has_its_case():
    assert {name for texts in TEXTS.values() for name in texts} == {*CASES, "initial_graphs_too_good"}


def test_errors_come_first_and_name_the_first_labels():
    unknown = {f"new{i}": i for i in range(9)}
    found = find_problems(report(train={"cycles": 1}, component={"unknown_labels": unknown}))
    assert [finding.level for finding in found] == ["error", "warning"]
    assert "new0 (0), new1 (1)" in found[0].text
    assert "new7 (7), ...." in found[0].text


def test_what_components_have_in_common_is_one_finding():
    given = report(read={"unknown": 7, "unknown_words": {"x": 7}}, component={"unknown_labels": {"new": 7}})
    given["components"]["q"] = given["components"]["p"]
    given["components"]["r"] = {**given["components"]["p"], "unknown_labels": {"other": 7}}
    found = [(finding.name, finding.where) for finding in find_problems(given)]
    pieces = [("unknown_pieces", f"p, q, r, {corpus}") for corpus in ("train", "dev")]
    assert found == [("unknown_labels", "p, q"), ("unknown_labels", "r"), *pieces]


def test_components_that_write_what_is_missing_are_enough():
    component = {"tag_attr": "TAG", "tags_from": ["tagger"], "initial_from": ["parser"]}
    read = {"missing_tags": 7, "initial_heads": 0, "initial_share": 0.0}
    given = report(dev={"unset": 7}, read=read, component=component, sets_boundaries=["senter"])
    assert find_problems(given) == []
    starts = {"inner_starts": 100, "bare_starts": 5}
    assert find_problems(report(train=starts, dev={"unset": 7}, component={"learns_sentences": True})) == []


@pytest.mark.parametrize(
    ("key", "how", "expected"),
    [
        ("words", "", "1,750"),
        ("outside", "words", "35 (2.0%)"),
        ("cycles", "words", "0"),
        ("labels", "", "2"),
        ("token_f1", ".2%", "98.40%"),
        ("multiword_words", "words", "unknown"),
    ],
)
def test_figures_are_shown_with_shares(key: str, how: str, expected: str):
    assert show_figure({**CORPUS, "words": 1750, "outside": 35, "token_f1": 0.984}, key, how=how) == expected
