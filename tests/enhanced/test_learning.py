"""Conventions that are learned from the graphs of a treebank."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import spacy

from spacy_g2g.data.enhanced import deps_cell
from spacy_g2g.enhanced.conventions import LANGUAGES, Conventions
from spacy_g2g.enhanced.learning import learn_conventions
from spacy_g2g.enhanced.rules import Word, enhance
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import shared_treebank
from .test_rules import CASES, OTHERS, words_of

TREES = [words_of(tree) for tree, _ in CASES.values()] + [words_of(tree) for _, tree, _ in OTHERS.values()]


def write_treebank(path: Path, conventions: Conventions | None) -> Path:
    """Write the trees of the tests, with their graphs by some conventions."""
    text = ""
    for words in TREES:
        graph = enhance(words, conventions) if conventions else [[] for _ in words]
        for i, (word, arcs) in enumerate(zip(words, graph, strict=True), start=1):
            form, lemma, upos, feats, head, dep = word
            text += f"{i}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{dep}\t{deps_cell(arcs)}\t_\n"
        text += "\n"
    path.write_text(text, "utf8")
    return path


@pytest.mark.parametrize(
    "conventions", [Conventions(), *(row[0] for row in OTHERS.values())], ids=["default", *OTHERS]
)
def test_learned_conventions_make_the_graphs_of_the_treebank(
    conventions: Conventions, tmp_path: Path
) -> None:
    path = write_treebank(tmp_path / "train.conllu", conventions)
    learned = Conventions(**learn_conventions(path))
    assert [enhance(words, learned) for words in TREES] == [enhance(words, conventions) for words in TREES]


def test_a_treebank_without_graphs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="G2G-E828"):
        learn_conventions(write_treebank(tmp_path / "train.conllu", None))


def test_a_pipeline_keeps_the_conventions_that_it_was_given(tmp_path: Path) -> None:
    """Lists stand in for tuples, and colons in labels do not break the config."""
    conventions = Conventions(labels=[("obl:arg", "obl:arg:CASE")], controlled=[("xcomp:pred", "nsubj:pred")])
    nlp = spacy.blank("sv")
    nlp.add_pipe("ud_enhancer", config={"conventions": asdict(conventions)})
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path).get_pipe("ud_enhancer").conventions
    assert json.dumps(asdict(again)) == json.dumps(asdict(conventions))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_rows_of_languages_are_conventions(lang: str) -> None:
    words = [Word("a", "a", "VERB", "_", 0, "root"), Word("b", "b", "NOUN", "Case=Nom", 1, "obl")]
    assert len(enhance(words, lang)) == len(words)


def test_conventions_are_learned_from_a_treebank_in_the_language() -> None:
    learned = Conventions(**learn_conventions(shared_treebank("UD_Tamil-TTB/ta_ttb-ud-train.conllu")))
    gold = list(read_conllu(shared_treebank("UD_Tamil-TTB/ta_ttb-ud-dev.conllu")))
    system = [s.replace(deps=[deps_cell(arcs) for arcs in enhance(s.words, learned)]) for s in gold]
    assert evaluate_sentences(gold, system=system)["ELAS"].f1 > 0.98
