import re
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from spacy_g2g.data.enhanced import deps_cell, read_deps
from spacy_g2g.enhanced.rules import enhance
from spacy_g2g.evaluation.conll18 import Score, evaluate_sentences
from spacy_g2g.formats.conllu import parse_sentence, read_conllu, write_conllu

from ..formats.samples import read, row, shared_treebank
from .perturb import change_annotation, change_segmentation

METRICS = ["Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"]
METRICS += ["UAS", "LAS", "CLAS", "MLAS", "BLEX", "ELAS", "EULAS"]
TREEBANKS = {
    "English": "UD_English-EWT/en_ewt-ud-dev.conllu",
    "Turkish": "UD_Turkish-IMST/tr_imst-ud-dev.conllu",
    "Hebrew": "dev-only/he_htb-ud-dev.conllu",
    "Finnish": "dev-only/fi_tdt-ud-dev.conllu",
}
#: Number of sentences that are taken of each.
N_SENTENCES = 400


def evaluate(gold, system):
    return evaluate_sentences(gold, system=system)


@pytest.fixture
def gold():
    return read()


def correct(gold, system):
    return {name: score.correct for name, score in evaluate(gold, system).items()}


def changed(gold, **columns):
    """The gold sentences, the first one with other values for the named columns of some words."""
    first = gold[0]
    values = {}
    for name, by_word in columns.items():
        old = [str(getattr(word, name)) for word in first.words]
        values[name] = [by_word.get(i, value) for i, value in enumerate(old, start=1)]
    return [first.replace(**values), *gold[1:]]


@pytest.mark.parametrize("white", ["\u3000", "\u00a0", " "])
def test_words_of_white_space_count_as_other_words_do(gold, white):
    # The reference refuses such words, so they are compared with words that it takes.
    system = changed(gold, head={6: "1", 7: "6"}, deprel={6: "dep"})
    scores = []
    for form in ("§", white):
        texts = ["".join(map(str, sentences)).replace("\t,\t", f"\t{form}\t") for sentences in (gold, system)]
        scores.append(evaluate(*map(read, texts)))
    assert scores[0] == scores[1]
    assert scores[1]["UAS"].gold - scores[1]["UAS"].correct == 2


def test_tokens_of_white_space_side_by_side_count_each(gold):
    one = read(row("1", "a") + row("2", "\u3000", "1") + row("3", "\u3000", "1"))
    assert evaluate(one, one)["Tokens"] == Score(3, 3, 3)


def test_gold_against_itself_is_right_in_all(gold):
    scores = evaluate(gold, gold)
    assert list(scores) == METRICS
    assert all((s.precision, s.recall, s.f1) == (1, 1, 1) for s in scores.values())
    counted = ("Tokens", "Sentences", "Words", "CLAS")
    assert [scores[name].gold for name in counted] == [11, 3, 13, 8]


#: Values of cells that differ from gold, and the metrics in which that costs a point.
WRONG_CELLS = {
    "head of punctuation": ({"head": {6: "5"}}, {"UAS", "LAS"}),
    "head of a content word": ({"head": {2: "5"}}, {"UAS", "LAS", "CLAS", "MLAS", "BLEX"}),
    "relation of a content word": ({"deprel": {2: "iobj"}}, {"LAS", "CLAS", "MLAS", "BLEX"}),
    "subtype of a relation": ({"deprel": {5: "obl"}}, set()),
    "UPOS of a content word": ({"upos": {2: "X"}}, {"UPOS", "AllTags", "MLAS"}),
    "UPOS of a functional dependent": ({"upos": {3: "X"}}, {"UPOS", "AllTags", "MLAS"}),
    "UPOS of punctuation": ({"upos": {6: "X"}}, {"UPOS", "AllTags"}),
    "XPOS": ({"xpos": {2: "x"}}, {"XPOS", "AllTags"}),
    "feature": ({"feats": {2: "Case=Nom"}}, {"UFeats", "AllTags", "MLAS"}),
    "feature that is not universal": ({"feats": {2: "Case=Acc|Typo=Yes"}}, set()),
    "order of features": ({"feats": {1: "Number=Plur|Mood=Imp"}}, set()),
    "lemma of a content word": ({"lemma": {2: "x"}}, {"Lemmas", "BLEX"}),
    "lemma of a functional word": ({"lemma": {4: "x"}}, {"Lemmas"}),
}


@pytest.mark.parametrize(("columns", "lost"), WRONG_CELLS.values(), ids=WRONG_CELLS)
def test_one_wrong_cell_costs_one_point_in_its_metrics(gold, columns, lost):
    right = correct(gold, gold)
    found = correct(gold, changed(gold, **columns))
    assert {name for name in right if found[name] < right[name]} == lost
    assert all(right[name] - found[name] == 1 for name in lost)


def test_gold_lemma_that_is_missing_fits_any(gold):
    no_lemma = changed(gold, lemma={2: "_"})
    assert correct(no_lemma, gold)["BLEX"] == correct(gold, gold)["BLEX"]
    assert correct(gold, no_lemma)["BLEX"] == correct(gold, gold)["BLEX"] - 1


@pytest.mark.parametrize(
    ("columns", "empty"),
    [
        ({}, set()),
        ({"xpos": "_"}, {"XPOS"}),
        ({"upos": "_"}, {"UPOS"}),
        ({"feats": "_"}, {"UFeats"}),
        ({"lemma": "_"}, {"Lemmas"}),
        ({"upos": "_", "xpos": "_", "feats": "_"}, {"UPOS", "XPOS", "UFeats", "AllTags"}),
        ({"deprel": "other"}, {"CLAS", "MLAS", "BLEX"}),
    ],
)
def test_metrics_of_what_gold_has_nothing_of_are_empty(gold, columns, empty):
    lacking = [
        sentence.replace(**{name: [value] * len(sentence.words) for name, value in columns.items()})
        for sentence in gold
    ]
    scores = evaluate(lacking, gold)
    assert {name for name, score in scores.items() if score.empty} == empty


def test_missing_heads_are_wrong(gold):
    unparsed = [s.replace(head=["_"] * len(s.words), deprel=["_"] * len(s.words)) for s in gold]
    scores = evaluate(gold, unparsed)
    assert (scores["UAS"].correct, scores["LAS"].correct, scores["CLAS"].system) == (0, 0, 0)
    assert scores["CLAS"].precision == 0.0


def test_rates_follow_the_counts():
    score = Score(correct=3, gold=4, system=6, aligned=5)
    assert (score.precision, score.recall, score.f1, score.aligned_accuracy) == (0.5, 0.75, 0.6, 0.6)
    assert Score(0, 0, 0).f1 == 0.0
    assert Score(1, 1, 1).aligned_accuracy is None


@pytest.mark.parametrize(
    ("deps", "elas", "eulas"),
    [("2:obj", 0, 0), ("1:obl:a", -1, 0), ("1:obl|2:obj", 0, 0), ("1:nsubj", -1, -1), ("_", -1, -1)],
    ids=["other head", "subtype", "further head", "label", "none"],
)
def test_enhanced_graphs_are_scored_by_arc(gold, deps, elas, eulas):
    right = correct(gold, gold)
    cells = [word.deps for word in gold[0].words]
    found = correct(gold, [gold[0].replace(deps=[*cells[:4], deps, *cells[5:]]), *gold[1:]])
    lost = -1 if deps == "2:obj" else 0
    assert (found["ELAS"] - right["ELAS"], found["EULAS"] - right["EULAS"]) == (elas + lost, eulas + lost)


def test_enhanced_graphs_are_scored_only_where_both_have_them(gold):
    bare = [s.replace(deps=["_"] * len(s.words)) for s in gold]
    for pair in ((gold, bare), (bare, gold), (bare, bare)):
        assert not {"ELAS", "EULAS"} & evaluate(*pair).keys()


def collapsed(sentence):
    """A sentence without empty nodes: the scorer of the shared task expects them in labels."""
    cells = [deps_cell(arcs) for arcs in read_deps(sentence)]
    rows = [row for row in sentence.replace(deps=cells).rows if not re.match(r"\d+\.", row)]
    return parse_sentence(rows, trees="any")


def reference_scores(gold, system, tmp_path):
    """Percentages as udeval prints them: precision, recall, F1, aligned accuracy."""
    command = shutil.which("udeval") or shutil.which("udeval", path=Path(sys.executable).parent)
    if command is None:
        pytest.skip("needs the command udeval of the package udtools")
    paths = [tmp_path / "gold.conllu", tmp_path / "system.conllu"]
    for path, sentences in zip(paths, (gold, system), strict=True):
        path.write_bytes("".join(write_conllu(map(collapsed, sentences))).encode("utf8"))
    run = subprocess.run([command, "-v", *map(str, paths)], capture_output=True, text=True, check=True)
    cells = [[cell.strip() for cell in line.split("|")] for line in run.stdout.splitlines()]
    has_graphs = all(any(word.deps != "_" for s in side for word in s.words) for side in (gold, system))
    return {name: rates for name, *rates in cells if name in (METRICS if has_graphs else METRICS[:-2])}


def printed(scores):
    table = {}
    for name, score in scores.items():
        rates = (score.precision, score.recall, score.f1, score.aligned_accuracy)
        table[name] = ["" if rate is None else f"{100 * rate:.2f}" for rate in rates]
    return table


@pytest.mark.slow
@pytest.mark.parametrize("name", TREEBANKS)
def test_other_annotation_and_segmentation_of_a_treebank_scores_as_in_udeval(name, tmp_path):
    gold = list(islice(read_conllu(shared_treebank(TREEBANKS[name])), N_SENTENCES))
    changed = change_annotation(gold, seed=1)
    system = [s.replace(deps=[deps_cell(arcs) for arcs in enhance(s.words)]) for s in changed]
    assert printed(evaluate(gold, system)) == reference_scores(gold, system, tmp_path)
    system = change_segmentation(change_annotation(gold, seed=2), seed=2)
    scores = evaluate(gold, system)
    assert max(scores["Tokens"].f1, scores["Sentences"].f1) < 0.99
    assert printed(scores) == reference_scores(gold, system, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_small_text_scores_as_in_udeval(gold, seed, tmp_path):
    system = change_segmentation(change_annotation(gold * 5, seed), seed, rate=0.4)
    assert printed(evaluate(gold * 5, system)) == reference_scores(gold * 5, system, tmp_path)
