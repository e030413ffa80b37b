"""What the refiner reads from Docs and writes to them, beyond what it has in common with the parser."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.data.doc_graphs import set_initial_graph, write_heads
from spacy_g2g.models.shim import get_shim

from ..util import (
    add_tiny,
    gold_doc,
    graph_docs,
    graph_examples,
    make_nlp,
    overfit,
    parser_of,
    plain_doc,
    randomize,
    read_treebank,
    tiny_encoder,
    tree_of,
    treebank_docs,
    treebank_examples,
    trees_of,
)
from .refiners import cyclic_doc, graphs_of, inputs_of, random_refiner, refiner_of, with_heads

GRAPHS = ["empty", "gold", "wrong"]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return random_refiner()


@pytest.fixture
def refined(trained_refiner_folder: Path) -> Language:
    """The trained refiner, loaded for this test alone."""
    return spacy.load(trained_refiner_folder)


@pytest.mark.parametrize("setting", ["head_corruption", "label_corruption", "empty_share"])
@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_rates_out_of_range_are_an_error(setting: str, rate: float):
    with pytest.raises(ValueError, match=rf"E408.*{setting} is {rate}"):
        make_nlp(factory="rng_refiner", **{setting: rate})


# Learning


@pytest.mark.parametrize("graphs", GRAPHS)
def test_a_refiner_overfits_ten_sentences(graphs: str):
    nlp = make_nlp(factory="rng_refiner", iterations=2)
    nlp.initialize(lambda: graph_examples(nlp, graphs))
    overfit(nlp, graph_examples(nlp, graphs), 40)
    scores = nlp.evaluate(graph_examples(nlp, graphs))
    assert (scores["ud_uas"], scores["ud_las"], scores["ud_sents_f"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("graphs", GRAPHS)
def test_one_refiner_serves_with_all_graphs_and_survives_disk(refined: Language, graphs: str):
    assert refined.evaluate(graph_examples(refined, graphs))["ud_las"] == 1.0


def test_what_is_right_already_needs_one_pass(refined: Language):
    passes = {
        graphs: {n for doc in refined.pipe(graph_docs(refined.vocab, graphs)) for n in doc._.g2g_iterations}
        for graphs in GRAPHS
    }
    assert passes == {"gold": {1}, "empty": {2}, "wrong": {2}}


# Reading initial graphs


def test_heads_and_labels_of_docs_are_the_initial_graph(nlp: Language):
    labels = refiner_of(nlp).label_data
    docs = graph_docs(nlp.vocab, "gold")
    found = inputs_of(nlp, docs)
    assert [heads for heads, _ in found] == [[word[2] for word in row] for row in read_treebank()]
    assert [ids for _, ids in found] == [[labels.index(word[3]) for word in row] for row in read_treebank()]
    assert inputs_of(nlp, docs[:0]) == []


def test_the_label_of_a_graph_changes_what_a_refiner_makes_of_it(nlp: Language):
    refiner = refiner_of(nlp)
    deps = [[dep, "root", "x"] for dep in ("x", "det", "new")]
    docs = [with_heads(nlp.vocab, ["a", "b", "c"], [1, 1, 1], of_doc) for of_doc in deps]
    probs = [parses[0].iterations[0].head_probs for parses in refiner.predict(docs).by_doc()]
    assert not np.allclose(probs[0], probs[1])
    assert not np.allclose(probs[0], probs[2])


def partial_doc(vocab: Vocab) -> Doc:
    starts = [True, False, False, False]
    deps = ["nsubj", "root", None, "punct"]
    return Doc(vocab, words=["she", "saw", "it", "."], heads=[1, 1, None, 1], deps=deps, sent_starts=starts)


def headed_doc(vocab: Vocab, sentences: Sequence[Any], heads: list[int], deps: list[str]) -> Doc:
    doc = plain_doc(vocab, *sentences)
    write_heads(doc, heads, deps)
    return doc


NOTHING = ([-1], [""])
CYCLIC = [([2, 1, -1], ["x", "det", ""]), ([0, 0], ["root", ""])]
#: Docs, and heads and labels of their initial graphs; "" for no label, and for one that the model never saw.
READ: dict[str, tuple[Callable[[Vocab], list[Doc]], list[tuple[list[int], list[str]]]]] = {
    "no heads": (lambda vocab: [plain_doc(vocab, "a b", "c")], [([-1, -1], ["", ""]), NOTHING]),
    "a partial tree": (lambda vocab: [partial_doc(vocab)], [([2, 0, -1, 2], ["nsubj", "root", "", "punct"])]),
    "labels of initial graphs, and others": (
        lambda vocab: [headed_doc(vocab, ["a b c d"], [1, 1, 1, 1], ["x", "root", "never-seen", "det"])],
        [([2, 0, 2, 2], ["x", "root", "", "det"])],
    ),
    "no tree, from the extension, first": (
        lambda vocab: [cyclic_doc(vocab), plain_doc(vocab, "f")],
        [*CYCLIC, NOTHING],
    ),
    "no tree, from the extension, last": (
        lambda vocab: [plain_doc(vocab, "f"), cyclic_doc(vocab)],
        [NOTHING, *CYCLIC],
    ),
    "heads in other sentences": (
        lambda vocab: [headed_doc(vocab, ["a b", "c d"], [1, 2, 2, 0], ["x", "x", "root", "x"])],
        [([2, -1], ["x", ""]), ([0, -1], ["root", ""])],
    ),
    "white space": (
        lambda vocab: [
            headed_doc(vocab, [["\n", "a", " ", "b", "c"], [" ", "\n"]], [1, 3, 1, 3, 2, 5, 5], ["x"] * 7)
        ],
        [([2, 0, -1], ["x", "x", ""])],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_initial_graphs_are_read_from_docs(nlp: Language, case: str):
    make_docs, graphs = READ[case]
    assert refiner_of(nlp).cfg["initial_labels"] == ["x"]
    labels = [*refiner_of(nlp).labels, "x"]
    docs = make_docs(nlp.vocab)
    expected = []
    for heads, deps in graphs:
        expected.append((heads, [labels.index(dep) if dep else -1 for dep in deps]))
    assert inputs_of(nlp, docs) == expected
    lengths = [[len(sent) for sent in doc.sents] for doc in docs]
    assert [[len(sent) for sent in nlp(doc).sents] for doc in docs] == lengths


@pytest.mark.parametrize(("heads", "deps"), [([0], ["root"]), ([0, 2], ["x", "y"]), ([0, -2], ["x", ""])])
def test_a_graph_in_the_extension_that_does_not_fit_is_an_error(
    nlp: Language, heads: list[int], deps: list[str]
):
    doc = plain_doc(nlp.vocab, "a b")
    set_initial_graph(doc, heads, deps)
    with pytest.raises(ValueError, match=r"E511.*2 tokens"):
        nlp(doc)


def test_a_graph_in_the_extension_is_used_up_by_refinement(nlp: Language):
    doc = nlp(cyclic_doc(nlp.vocab))
    tree = [(token.head.i, token.dep_) for token in doc]
    assert doc._.g2g_initial is None
    ids = {label: i for i, label in enumerate(refiner_of(nlp).labels)}
    (first, second) = inputs_of(nlp, [doc])
    assert [ids[dep] for _, dep in tree] == [*first[1], *second[1]]


def test_an_example_without_boundaries_is_read_in_the_sentences_of_its_reference(nlp: Language):
    reference = gold_doc(nlp.vocab, read_treebank()[1:3])
    predicted = Doc(nlp.vocab, words=[token.text for token in reference])
    write_heads(predicted, [1, 1, 3, 2], ["x"] * 4)
    assert not predicted.has_annotation("SENT_START")
    docs, layout, gold = refiner_of(nlp)._read_gold([Example(predicted, reference)])
    sentences = refiner_of(nlp).training_inputs(docs, layout)
    assert [graph[0] for graph in graphs_of(sentences)] == [[2, 0], [2, 1]]
    assert [tree.heads.tolist() for tree in gold] == [[2, 0], [0, 1]]


# Labels


def test_labels_of_initial_graphs_are_those_of_predicted_docs(nlp: Language):
    other = make_nlp(factory="rng_refiner")
    reference = gold_doc(other.vocab, read_treebank()[:1])
    no_tree = cyclic_doc(other.vocab)
    examples = [*treebank_examples(other), Example(no_tree, no_tree.copy())]
    other.initialize(lambda: examples)
    assert refiner_of(other).cfg["initial_labels"] == ["x", "y"]
    assert refiner_of(nlp).cfg["initial_labels"] == ["x"]
    other.initialize(lambda: [Example(reference.copy(), reference)])
    assert refiner_of(other).cfg["initial_labels"] == []


def test_labels_of_initial_graphs_are_those_of_earlier_parsers():
    nlp = spacy.blank("xx")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    add_tiny(nlp, "rng_refiner")
    later = nlp.add_pipe("parser", name="later", config={"min_action_freq": 1})
    later.add_label("not-read")
    nlp.initialize(lambda: treebank_examples(nlp))
    refiner = refiner_of(nlp)
    foreign = set(nlp.get_pipe("parser").labels) - set(refiner.labels)
    assert foreign
    assert refiner.cfg["initial_labels"] == sorted(foreign)
    spec = get_shim(refiner.model).spec
    assert (spec.n_labels, spec.learned["n_initial_labels"]) == (len(refiner.labels), len(foreign))


def test_given_labels_of_initial_graphs_are_taken_without_the_own_ones():
    nlp = make_nlp(factory="rng_refiner")
    refiner = refiner_of(nlp)
    labels = ["z", "det", "a"]
    refiner.initialize(
        lambda: graph_examples(nlp, "wrong"), nlp=nlp, initial_labels=labels, encoder=tiny_encoder()
    )
    assert refiner.cfg["initial_labels"] == ["z", "a"]


@pytest.mark.parametrize("label", ["vocative", "x"])
def test_labels_can_be_added_later_those_of_initial_graphs_too(tmp_path: Path, label: str):
    nlp = random_refiner(iterations=2)
    refiner = refiner_of(nlp)
    assert refiner.add_label(label) == 1
    place = refiner.labels.index(label)
    example = treebank_examples(nlp)[0]
    example.reference[0].dep_ = label
    overfit(nlp, [example], 20)
    doc = plain_doc(nlp.vocab, "she saw the cat .")
    assert nlp(doc)[0].dep_ == label
    assert inputs_of(nlp, [doc])[0][1][0] == place
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert refiner_of(loaded).labels == refiner.labels
    docs = [graph_docs(pipeline.vocab, "wrong") for pipeline in (loaded, nlp)]
    assert trees_of(loaded, docs[0]) == trees_of(nlp, docs[1])


def test_added_labels_leave_the_ids_of_initial_labels_behind_them():
    nlp = random_refiner()
    doc = with_heads(nlp.vocab, ["a", "b"], [1, 1], ["x", "root"])
    n_labels = len(refiner_of(nlp).labels)
    assert inputs_of(nlp, [doc])[0][1] == [n_labels, 0]
    refiner_of(nlp).add_label("vocative")
    assert inputs_of(nlp, [doc])[0][1] == [n_labels + 1, 0]


# Keeping


def test_initial_labels_of_another_model_are_an_error(nlp: Language, tmp_path: Path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "rng_refiner" / "cfg"
    path.with_name("sha256").unlink()  # earlier versions saved none
    cfg = json.loads(path.read_text())
    path.write_text(json.dumps({**cfg, "initial_labels": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"E806.*rng_refiner: 2 labels.* 1\.") as caught:
        spacy.load(tmp_path)
    assert str(tmp_path / "rng_refiner") in str(caught.value)


# After a parser


def test_a_refiner_refines_what_a_parser_writes(trained_folder: Path, refined: Language):
    nlp = spacy.load(trained_folder)
    randomize(parser_of(nlp).model, scale=0.1)
    alone = trees_of(nlp, treebank_docs(nlp.vocab))
    refiner = nlp.add_pipe("rng_refiner", source=refined)
    refiner.store_graphs = True
    docs = list(nlp.pipe(treebank_docs(nlp.vocab)))
    initial = [doc._.g2g_graphs[0] for doc in docs]
    assert [list(zip(g["heads"], g["deps"], strict=True)) for g in initial] == alone
    gold = [tree_of(example.reference) for example in treebank_examples(nlp)]
    assert alone != gold
    n_right = [sum(map(list.__eq__, found, gold)) for found in (alone, map(tree_of, docs))]
    assert n_right[1] > n_right[0]


@pytest.mark.slow
def test_a_doc_can_be_given_a_graph_as_soon_as_there_is_a_refiner():
    """In a process of its own: extensions are there for all of a process once they are set."""
    code = (
        "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('rng_refiner'); doc = nlp.make_doc('a b'); "
        "doc._.g2g_initial = {'heads': [1, 0], 'deps': ['x', 'y']}; print(doc._.g2g_initial['heads'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[1, 0]", done.stderr
