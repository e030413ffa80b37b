"""Figures of data on sentences whose counts are worked out by hand; a finding for each kind of trouble."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import spacy

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.evaluation.treebank_advice import COUNTED, ERRORS, TEXTS, find_problems
from spacy_g2g.evaluation.treebank_report import (
    ComponentFacts,
    ComponentReport,
    CorpusFacts,
    DataReport,
    GoldSentence,
    InitialFacts,
    PieceFacts,
    corpus_facts,
    count_duplicates,
    initial_facts,
    multiword,
    piece_facts,
)
from spacy_g2g.formats.graph import MISSING, Graph

from ..formats.samples import SAMPLE

#: Heads in another sentence, and heads that are white space.
OUTSIDE, SPACE = -2, -3


def sentence(words: str, *heads: int, labels: str = "") -> GoldSentence:
    """Without labels the root is "root" and other words are "dep"."""
    given = labels.split() or ["root" if head == 0 else "dep" if head > 0 else "" for head in heads]
    graph = Graph([max(head, MISSING) for head in heads], given)
    return GoldSentence(words.split(), graph, heads.count(OUTSIDE), heads.count(SPACE))


TROUBLE = [
    sentence("a b c", 2, 0, 2),
    sentence("d", 0),
    sentence("e f g h", 3, 4, 0, 3),  # f hangs on h across g, the root
    sentence("i j", 2, 1),
    sentence("k l m", 0, 0, 2),
    sentence("n o p", MISSING, MISSING, MISSING),
    sentence("q r", 0, MISSING),
    sentence("s t u", 2, 0, OUTSIDE),
    sentence("v w", 0, SPACE),
]


def test_counts_equal_those_worked_out_by_hand():
    facts = corpus_facts(
        TROUBLE, docs=4, white_space=1, unset=2, misaligned=3, starts=(5, 2), multiword=(1, 2)
    )
    assert facts == CorpusFacts(
        docs=4,
        sentences=9,
        words=23,
        white_space=1,
        longest=4,
        unset=2,
        misaligned=3,
        inner_starts=5,
        bare_starts=2,
        one_word=1,
        trees=3,
        non_projective=1,
        non_projective_words=1,
        no_tree=1,
        incomplete=3,
        several_roots=1,
        cycles=1,
        missing=4,
        outside=1,
        space_heads=1,
        multiword_tokens=1,
        multiword_words=2,
        token_f1=None,
        token_errors={},
        labels={"dep": 9, "root": 8},
        roots={"root": 8},
    )


def test_no_sentences_give_zeros():
    facts = corpus_facts([], docs=0)
    assert (facts.sentences, facts.words, facts.longest, facts.labels) == (0, 0, 0, {})


def test_pieces_are_counted_with_what_does_not_fit():
    gold = [sentence("a b", 2, 0), sentence("a a a", 0, 1, 1), sentence("c", 0)]
    pieces = [[(5,), (6, 7, 8)], [(9, 5)] * 3, [(5,)]]
    facts = piece_facts(gold, pieces, unknown_piece=9, limit=4)
    assert facts == PieceFacts(
        limit=4, pieces=11, longest=6, too_long=1, in_windows=0, unknown=3, unknown_words={"a": 3}
    )
    assert piece_facts(gold, pieces, unknown_piece=9, limit=2).in_windows == 1


def test_initial_graphs_are_compared_with_gold():
    gold = [sentence("a b c", 2, 0, 2), sentence("d e", 0, MISSING)]
    graphs = [Graph([2, 0, 1], ["dep", "x", "dep"]), Graph([MISSING, 1], ["", "dep"])]
    assert initial_facts(gold, graphs) == InitialFacts(words=4, heads=4, right_heads=2, right=1)


def test_duplicates_have_the_same_words():
    train = [sentence("a b", 2, 0), sentence("a b c d e", 0, 1, 1, 1, 1)]
    dev = [sentence("a b", 0, 1), sentence("b a", 0, 1), sentence("a b c d e", 2, 0, 2, 2, 2)]
    assert count_duplicates(train, dev) == (2, 1)


def test_multiword_tokens_are_known_if_the_reader_keeps_the_conllu(tmp_path: Path):
    path = tmp_path / "sample.conllu"
    path.write_text(SAMPLE, encoding="utf8")
    nlp = spacy.blank("xx")
    reader = make_corpus(path)
    assert multiword(example.reference for example in reader(nlp)) is None
    counting = make_corpus(path)
    counting.keep_source = True
    assert multiword(example.reference for example in counting(nlp)) == (2, 4)


# Findings

WELL = [sentence("a b c", 2, 0, 2), sentence("d e", 0, 1)] * 150
PIECES = PieceFacts(limit=500, pieces=800, longest=3, too_long=0, in_windows=0, unknown=0, unknown_words={})


def component(facts: dict[str, Any], **settings: Any) -> ComponentReport:
    """A component's report in which all is well, but for some facts of train and dev, and settings."""
    fine = ComponentFacts(PIECES, 300, 0, 0, None, None)
    report = ComponentReport("syntr", "its own", None, None, (), None, False, {}, fine, fine)
    return replace(report, train=replace(fine, **facts), dev=replace(fine, **facts), **settings)


def make_report(
    train: dict[str, Any] | None = None,
    dev: dict[str, Any] | None = None,
    facts: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    **others: Any,
) -> DataReport:
    """A report in which all is well, but for what is given."""
    well = corpus_facts(WELL, docs=300)
    parser = component(facts or {}, **(settings or {}))
    report = DataReport(replace(well, **train or {}), replace(well, **dev or {}), (), 0, 0, {"p": parser})
    return replace(report, **others)


def initial(right: int, heads: int = 100) -> InitialFacts:
    return InitialFacts(words=100, heads=heads, right_heads=right, right=right)


CASES: dict[str, tuple[dict[str, Any], str]] = {
    **{name: ({"train": {name: 7}}, "train") for name in COUNTED},
    "empty": ({"dev": {"words": 0, "sentences": 0}}, "dev"),
    "few_sentences": ({"train": {"sentences": 199}}, "train"),
    "duplicates": ({"duplicates": 9, "long_duplicates": 4}, "dev"),
    "multiword": ({"dev": {"multiword_tokens": 4, "multiword_words": 8}}, "dev"),
    "tokens": ({"dev": {"token_f1": 0.984, "token_errors": {"a b / ab": 7}}}, "dev"),
    "no_boundaries": ({"dev": {"unset": 7}}, "dev"),
    "no_inner_starts": ({"settings": {"learns_sentences": True}}, "p"),
    "few_bare_starts": (
        {"train": {"inner_starts": 100, "bare_starts": 4}, "settings": {"learns_sentences": True}},
        "p",
    ),
    "no_labels": ({"train": {"labels": {}, "roots": {}}}, "train"),
    "no_labels_in_dev": ({"dev": {"labels": {}}}, "dev"),
    "labels_only_in_dev": ({"dev": {"labels": {"root": 9, "dep": 9, "new": 7}}}, "dev"),
    "rare_labels": ({"train": {"labels": {"root": 300, "dep": 300, "rare": 19}}}, "train"),
    "root_labels": ({"train": {"roots": {"root": 300, "dep": 7}}}, "train"),
    "root_label_elsewhere": ({"train": {"labels": {"root": 307, "dep": 300}}}, "train"),
    "no_encoder": ({"settings": {"encoder_problem": "not 7"}}, "p"),
    "unknown_labels": ({"settings": {"unknown_labels": {"new": 7}}}, "p"),
    "unlearnable": ({"facts": {"unlearnable": 7, "unlearnable_trees": 3}}, "p"),
    "none_learnable": ({"facts": {"learnable": 0, "unlearnable": 7, "unlearnable_trees": 3}}, "p"),
    "missing_tags": ({"facts": {"missing_tags": 7}, "settings": {"tag_attr": "TAG"}}, "p, train"),
    "too_many_pieces": ({"facts": {"pieces": replace(PIECES, longest=507, too_long=7)}}, "p, train"),
    "unknown_pieces": (
        {"facts": {"pieces": replace(PIECES, unknown=7, unknown_words={"x": 7})}},
        "p, train",
    ),
    "many_pieces": ({"facts": {"pieces": replace(PIECES, pieces=2300)}}, "p, train"),
    "no_initial_graphs": (
        {"facts": {"initial": initial(0, heads=0)}, "settings": {"initial_from": ()}},
        "p, train",
    ),
}


def test_good_data_have_no_findings():
    assert find_problems(make_report()) == []


@pytest.mark.parametrize("name", CASES)
def test_trouble_is_found_and_nothing_else(name: str):
    changes, where = CASES[name]
    found = find_problems(make_report(**changes))
    assert {finding.name for finding in found} == {name}
    assert found[0].where == where
    assert found[0].level == ("error" if name in ERRORS else "warning")
    assert "{" not in found[0].text


def test_graphs_that_are_better_on_train_than_on_dev_are_found():
    parser = component({}, initial_from=())
    train, dev = replace(parser.train, initial=initial(90)), replace(parser.dev, initial=initial(84))
    report = make_report(components={"p": replace(parser, train=train, dev=dev)})
    assert [finding.name for finding in find_problems(report)] == ["initial_graphs_too_good"]
    dev = replace(parser.dev, initial=initial(86))
    assert not find_problems(make_report(components={"p": replace(parser, train=train, dev=dev)}))


def test_each_text_has_its_case():
    assert set(TEXTS) == {*CASES, "initial_graphs_too_good"}


def test_errors_come_first():
    report = make_report(train={"cycles": 1}, settings={"unknown_labels": {"new": 1}})
    assert [finding.level for finding in find_problems(report)] == ["error", "warning"]


def test_components_that_write_what_is_missing_are_enough():
    settings = {"tag_attr": "TAG", "tags_from": ("tagger",), "initial_from": ("parser",)}
    facts = {"missing_tags": 7, "initial": initial(0, heads=0)}
    report = make_report(dev={"unset": 7}, facts=facts, settings=settings, sets_boundaries=("senter",))
    assert find_problems(report) == []
    starts = {"inner_starts": 100, "bare_starts": 5}
    report = make_report(train=starts, dev={"unset": 7}, settings={"learns_sentences": True})
    assert find_problems(report) == []
