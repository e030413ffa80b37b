"""What the refiner reads from Docs and writes to them, beyond what it has in common with the parser."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, fix_random_seed

from spacy_g2g.data.graphs import set_initial_graph, write_heads, write_initial_graph
from spacy_g2g.formats.graphs import Graph
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.types import Sentence
from spacy_g2g.pipeline.layout import lay_out
from spacy_g2g.pipeline.rng_refiner import RngRefiner

from ..util import (
    add_tiny,
    gold_doc,
    graph_docs,
    graph_examples,
    make_nlp,
    overfit,
    parser_of,
    plain_doc,
    randomise,
    read_treebank,
    tiny_encoder,
    tree_of,
    treebank_docs,
    treebank_examples,
)

GRAPHS = ["empty", "gold", "wrong"]


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A refiner with random weights, which reads graphs a lot; "x" is a label of initial graphs alone."""
    return random_nlp()


def random_nlp(**settings: Any) -> Language:
    nlp = make_nlp(factory="rng_refiner", **settings)
    nlp.initialize(lambda: graph_examples(nlp, "wrong"))
    randomise(parser_of(nlp).model, 1, scale=0.25)
    return nlp


@pytest.fixture
def refined(trained_refiner_folder: Path) -> Language:
    """The trained refiner, loaded for this test alone."""
    return spacy.load(trained_refiner_folder)


def refiner_of(nlp: Language) -> RngRefiner:
    refiner = parser_of(nlp)
    assert isinstance(refiner, RngRefiner)
    return refiner


def inputs_of(nlp: Language, docs: Sequence[Doc]) -> list[tuple[list[int], list[int]]]:
    """Heads and labels of the initial graphs, as the model is given them."""
    return graphs_of(refiner_of(nlp).inputs(docs, lay_out(docs)))


def graphs_of(sentences: Sequence[Sentence]) -> list[tuple[list[int], list[int]]]:
    return [
        ([], []) if s.graph is None else (s.graph.heads.tolist(), s.graph.labels.tolist()) for s in sentences
    ]


def trees(nlp: Language, docs: Sequence[Doc]) -> list[list[tuple[int, str]]]:
    return [tree_of(doc) for doc in nlp.pipe(docs)]


def with_heads(vocab: Vocab, words: Sequence[str], heads: Sequence[int], deps: Sequence[str]) -> Doc:
    """A Doc of one sentence with any heads, which spaCy would take for boundaries."""
    doc = Doc(vocab, words=list(words), sent_starts=[i == 0 for i in range(len(words))])
    write_heads(doc, list(heads), list(deps))
    return doc


def cyclic_doc(vocab: Vocab) -> Doc:
    """Two sentences with cycles, several roots, missing heads and labels; in ``doc._.g2g_initial``."""
    doc = plain_doc(vocab, "a b c", "d e")
    graphs = [Graph([2, 1, -1], ["x", "det", ""]), Graph([0, 0], ["root", "y"])]
    assert not any(graph.is_tree for graph in graphs)
    write_initial_graph(doc, graphs)
    return doc


# Meta


def test_the_refiner_is_built_by_its_defaults():
    nlp = spacy.blank("en")
    refiner = nlp.add_pipe("rng_refiner")
    assert isinstance(refiner, RngRefiner)
    assert refiner.model.name == "rngtr"
    assert (refiner.head_corruption, refiner.label_corruption, refiner.empty_share) == (0.0, 0.0, 0.0)
    assert not refiner.store_graphs


@pytest.mark.parametrize("setting", ["head_corruption", "label_corruption", "empty_share"])
@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_rates_out_of_range_are_an_error(setting: str, rate: float):
    with pytest.raises(ValueError, match=rf"E507.*{setting} is {rate}"):
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
    expected = [
        ([word[2] for word in row], [labels.index(word[3]) for word in row]) for row in read_treebank()
    ]
    assert inputs_of(nlp, docs) == expected
    assert inputs_of(nlp, docs[:0]) == []


def test_docs_without_heads_have_an_empty_graph(nlp: Language):
    for heads, labels in inputs_of(nlp, treebank_docs(nlp.vocab)):
        assert set(heads) == set(labels) == {-1}


def test_foreign_labels_come_after_the_own_ones_and_others_are_all_the_same(nlp: Language):
    labels = refiner_of(nlp).labels
    assert refiner_of(nlp).cfg["initial_labels"] == ["x"]
    doc = with_heads(nlp.vocab, ["a", "b", "c", "d"], [1, 1, 1, 1], ["x", "root", "never-seen", "det"])
    assert inputs_of(nlp, [doc]) == [([2, 0, 2, 2], [len(labels), 0, -1, labels.index("det")])]


def test_the_label_of_a_graph_changes_what_a_refiner_makes_of_it(nlp: Language):
    refiner = refiner_of(nlp)
    docs = [
        with_heads(nlp.vocab, ["a", "b", "c"], [1, 1, 1], [dep, "root", "x"]) for dep in ("x", "det", "new")
    ]
    probs = [parses[0].iterations[0].head_probs for parses in refiner.predict(docs).by_doc()]
    assert not np.allclose(probs[0], probs[1])
    assert not np.allclose(probs[0], probs[2])


def test_partial_trees_are_read_where_they_are(nlp: Language):
    doc = Doc(
        nlp.vocab,
        words=["she", "saw", "it", "."],
        heads=[1, 1, None, 1],
        deps=["nsubj", "root", None, "punct"],
        sent_starts=[True, False, False, False],
    )
    labels = refiner_of(nlp).label_data
    ids = [labels.index("nsubj"), 0, -1, labels.index("punct")]
    assert inputs_of(nlp, [doc]) == [([2, 0, -1, 2], ids)]


def test_a_graph_that_is_no_tree_is_read_from_the_extension(nlp: Language):
    refiner = refiner_of(nlp)
    n_labels, det = len(refiner.labels), refiner.labels.index("det")
    expected = [([2, 1, -1], [n_labels, det, -1]), ([0, 0], [0, -1])]
    plain = plain_doc(nlp.vocab, "f")
    assert inputs_of(nlp, [cyclic_doc(nlp.vocab), plain]) == [*expected, ([-1], [-1])]
    assert inputs_of(nlp, [plain, cyclic_doc(nlp.vocab)]) == [([-1], [-1]), *expected]


@pytest.mark.parametrize(("heads", "deps"), [([0], ["root"]), ([0, 2], ["x", "y"]), ([0, -2], ["x", ""])])
def test_a_graph_in_the_extension_that_does_not_fit_is_an_error(
    nlp: Language, heads: list[int], deps: list[str]
):
    doc = plain_doc(nlp.vocab, "a b")
    set_initial_graph(doc, heads, deps)
    with pytest.raises(ValueError, match=r"E339.*2 tokens"):
        nlp(doc)


def test_a_graph_in_the_extension_is_used_up_by_refinement(nlp: Language):
    doc = nlp(cyclic_doc(nlp.vocab))
    tree = [(token.head.i, token.dep_) for token in doc]
    assert doc._.g2g_initial is None
    ids = {label: i for i, label in enumerate(refiner_of(nlp).labels)}
    (first, second) = inputs_of(nlp, [doc])
    assert [ids[dep] for _, dep in tree] == [*first[1], *second[1]]


def test_heads_in_other_sentences_are_missing(nlp: Language):
    doc = plain_doc(nlp.vocab, "a b", "c d")
    write_heads(doc, [1, 2, 2, 0], ["x", "x", "root", "x"])
    n_labels = len(refiner_of(nlp).labels)
    assert inputs_of(nlp, [doc]) == [([2, -1], [n_labels, -1]), ([0, -1], [0, -1])]
    assert [len(sent) for sent in nlp(doc).sents] == [2, 2]


def test_white_space_is_in_no_graph(nlp: Language):
    doc = plain_doc(nlp.vocab, ["\n", "a", " ", "b", "c"], [" ", "\n"])
    write_heads(doc, [1, 3, 1, 3, 2, 5, 5], ["x"] * 7)
    assert [heads for heads, _ in inputs_of(nlp, [doc])] == [[2, 0, -1]]


def test_an_example_without_boundaries_is_read_in_the_sentences_of_its_reference(nlp: Language):
    reference = gold_doc(nlp.vocab, read_treebank()[1:3])
    predicted = Doc(nlp.vocab, words=[token.text for token in reference])
    write_heads(predicted, [1, 1, 3, 2], ["x"] * 4)
    assert not predicted.has_annotation("SENT_START")
    docs, layout, gold = refiner_of(nlp)._read_gold([Example(predicted, reference)])
    sentences = refiner_of(nlp).training_inputs(docs, layout)
    assert [graph[0] for graph in graphs_of(sentences)] == [[2, 0], [2, 1]]
    assert [tree.heads.tolist() for tree in gold] == [[2, 0], [0, 1]]


def test_a_doc_without_boundaries_is_refined_as_one_sentence():
    nlp = random_nlp()
    doc = Doc(nlp.vocab, words=["a", "b", "c"])
    with pytest.warns(UserWarning, match="W501.*'rng_refiner'"):
        nlp(doc)
    assert len(list(doc.sents)) == len(doc._.g2g_iterations) == 1


# Passes


def test_each_sentence_has_its_number_of_passes(nlp: Language):
    docs = [plain_doc(nlp.vocab, ["she", "saw"], ["\n", " "], ["yes"]), cyclic_doc(nlp.vocab)]
    parses = refiner_of(nlp).predict(docs).by_doc()
    first, second = nlp.pipe(docs)
    passes = [[len(parse.iterations) for parse in of_doc] for of_doc in parses]
    assert first._.g2g_iterations == [passes[0][0], 0, passes[0][1]]
    assert second._.g2g_iterations == passes[1]
    assert all(type(n) is int for n in first._.g2g_iterations)


@pytest.mark.parametrize("sentences", [[], [["\n", " "]]])
def test_docs_without_words_have_no_passes(nlp: Language, sentences: list[list[str]]):
    doc = nlp(plain_doc(nlp.vocab, *sentences))
    assert doc._.g2g_iterations == [0] * len(sentences)


def test_at_most_as_many_passes_are_made_as_wanted():
    nlp = random_nlp(iterations=2, stop=False)
    passes = [doc._.g2g_iterations for doc in nlp.pipe(graph_docs(nlp.vocab, "wrong"))]
    assert passes == [[2]] * 10


# Graphs of all passes


@pytest.fixture(scope="module")
def storing() -> Language:
    """A refiner with random weights that stores graphs."""
    return random_nlp(store_graphs=True, iterations=4)


def mixed_docs(vocab: Vocab) -> list[Doc]:
    """A sentence of each kind of graph, white space inside, between and alone, and nothing at all."""
    sentences = read_treebank()
    first = plain_doc(vocab, ["\n", "she", " ", "saw"], [" ", "\n"], "dogs bark at it")
    return [
        first,
        cyclic_doc(vocab),
        gold_doc(vocab, sentences[:4]),
        *graph_docs(vocab, "wrong")[:3],
        Doc(vocab),
    ]


def test_graphs_are_those_of_the_passes(storing: Language):
    docs = mixed_docs(storing.vocab)
    labels = refiner_of(storing).labels
    predicted = refiner_of(storing).predict(docs).by_doc()
    for doc, parses in zip(storing.pipe(docs), predicted, strict=True):
        sents = [sent for sent in doc.sents if not all(token.is_space for token in sent)]
        for t, graph in enumerate(doc._.g2g_graphs[1:]):
            for sent, parse in zip(sents, parses, strict=True):
                expected = parse.iterations[min(t, len(parse.iterations) - 1)]
                words = [token.i for token in sent if not token.is_space]
                heads = expected.tree.heads.tolist()
                assert [graph["heads"][i] for i in words] == [
                    words[head - 1] if head else word for word, head in zip(words, heads, strict=True)
                ]
                assert [graph["deps"][i] for i in words] == [labels[i] for i in expected.tree.labels]
                assert [graph["head_probs"][i] for i in words] == pytest.approx(expected.head_probs.tolist())
                assert [graph["dep_probs"][i] for i in words] == pytest.approx(expected.label_probs.tolist())


def test_there_are_as_many_graphs_as_the_longest_sentence_needs(storing: Language):
    docs = list(storing.pipe(mixed_docs(storing.vocab)))
    for doc in docs:
        assert len(doc._.g2g_graphs) == 1 + max(doc._.g2g_iterations, default=0)
        for graph in doc._.g2g_graphs:
            assert set(graph) == {"heads", "deps", "head_probs", "dep_probs"}
            assert len(graph["heads"]) == len(graph["deps"]) == len(doc)
        for graph in doc._.g2g_graphs[1:]:
            assert len(graph["head_probs"]) == len(graph["dep_probs"]) == len(doc)
        assert doc._.g2g_graphs[0]["head_probs"] == doc._.g2g_graphs[0]["dep_probs"] == []
    assert any(len(set(doc._.g2g_iterations)) > 1 for doc in docs)


def test_the_last_graph_is_the_tree_of_the_doc(storing: Language):
    for doc in list(storing.pipe(mixed_docs(storing.vocab)))[:-1]:
        last = doc._.g2g_graphs[-1]
        assert list(zip(last["heads"], last["deps"], strict=True)) == tree_of(doc)


def test_white_space_has_no_head_but_in_the_last_graph():
    nlp = random_nlp(store_graphs=True, iterations=3, stop=False)
    doc = nlp(plain_doc(nlp.vocab, ["\n", "she", " ", "saw"], [" ", "\n"]))
    graphs = doc._.g2g_graphs
    assert len(graphs) == 4
    for i in (0, 2, 4, 5):
        assert [(graph["heads"][i], graph["deps"][i]) for graph in graphs[:-1]] == [(-1, "")] * 3
        assert graphs[-1]["heads"][i] == doc[i].head.i


def test_the_first_graph_is_the_initial_one(storing: Language):
    gold = gold_doc(storing.vocab, read_treebank()[:2])
    partial = Doc(
        storing.vocab, words=["a", "b"], heads=[1, None], deps=["x", None], sent_starts=[True, False]
    )
    docs = [gold.copy(), plain_doc(storing.vocab, "a b"), partial, cyclic_doc(storing.vocab)]
    first = [doc._.g2g_graphs[0] for doc in storing.pipe(docs)]
    assert list(zip(first[0]["heads"], first[0]["deps"], strict=True)) == tree_of(gold)
    assert (first[1]["heads"], first[1]["deps"]) == ([-1, -1], ["", ""])
    assert (first[2]["heads"], first[2]["deps"]) == ([1, -1], ["x", ""])
    assert (first[3]["heads"], first[3]["deps"]) == ([1, 0, -1, 3, 4], ["x", "det", "", "root", "y"])


def test_graphs_are_stored_only_where_and_while_they_are_wanted(nlp: Language):
    refiner = refiner_of(nlp)
    assert nlp(plain_doc(nlp.vocab, "a b"))._.g2g_graphs is None
    refiner.store_graphs = True
    try:
        assert nlp(plain_doc(nlp.vocab, "a b"))._.g2g_graphs
    finally:
        refiner.store_graphs = False
    assert nlp(plain_doc(nlp.vocab, "a b"))._.g2g_graphs is None


def test_graphs_are_kept_with_the_doc(storing: Language):
    docs = list(storing.pipe(mixed_docs(storing.vocab)))
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    for doc, kept in zip(docs, DocBin().from_bytes(data).get_docs(storing.vocab), strict=True):
        through_bytes = Doc(storing.vocab).from_bytes(doc.to_bytes())
        for other in (kept, through_bytes):
            # spaCy makes tuples of the lists in user data.
            assert srsly.json_dumps(other._.g2g_graphs) == srsly.json_dumps(doc._.g2g_graphs)
            assert list(other._.g2g_iterations) == doc._.g2g_iterations


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
    nlp = spacy.blank("en")
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
    assert spec is not None
    assert (spec.n_labels, spec.facts["n_initial_labels"]) == (len(refiner.labels), len(foreign))


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
    nlp = random_nlp(iterations=2)
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
    assert trees(loaded, docs[0]) == trees(nlp, docs[1])


def test_added_labels_leave_the_ids_of_initial_labels_behind_them():
    nlp = random_nlp()
    doc = with_heads(nlp.vocab, ["a", "b"], [1, 1], ["x", "root"])
    n_labels = len(refiner_of(nlp).labels)
    assert inputs_of(nlp, [doc])[0][1] == [n_labels, 0]
    refiner_of(nlp).add_label("vocative")
    assert inputs_of(nlp, [doc])[0][1] == [n_labels + 1, 0]


# Corruption


class Witness:
    """Notes the sentences that a model is given in updates and in prediction."""

    def __init__(self, nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
        self.learned: list[tuple[list[int], list[int]]] = []
        self.predicted: list[tuple[list[int], list[int]]] = []
        self.gold: list[tuple[list[int], list[int]]] = []
        shim = get_shim(refiner_of(nlp).model)
        begin_update, predict = shim.begin_update, shim.predict

        def spy_on_update(inputs: Any) -> Any:
            self.learned += graphs_of(inputs[0])
            self.gold += [(tree.heads.tolist(), tree.labels.tolist()) for tree in inputs[1]]
            return begin_update(inputs)

        def spy_on_predict(sentences: Any) -> Any:
            self.predicted += graphs_of(sentences)
            return predict(sentences)

        monkeypatch.setattr(shim, "begin_update", spy_on_update)
        monkeypatch.setattr(shim, "predict", spy_on_predict)


def witnessed(monkeypatch: pytest.MonkeyPatch, seed: int = 0, **rates: float) -> Witness:
    """One update and one prediction of the ten sentences from their gold trees, after seeding."""
    nlp = make_nlp(factory="rng_refiner", iterations=1, **rates)
    nlp.initialize(lambda: graph_examples(nlp, "gold"))
    witness = Witness(nlp, monkeypatch)
    fix_random_seed(seed)
    nlp.update(graph_examples(nlp, "gold"), sgd=Adam(0.001))
    list(nlp.pipe(graph_docs(nlp.vocab, "gold")))
    return witness


def test_without_rates_the_graphs_are_learned_from_as_they_are(monkeypatch: pytest.MonkeyPatch):
    witness = witnessed(monkeypatch)
    assert witness.learned == witness.predicted == witness.gold


@pytest.mark.parametrize("rate", ["head_corruption", "label_corruption", "empty_share"])
def test_rates_change_what_is_learned_from_and_nothing_else(monkeypatch: pytest.MonkeyPatch, rate: str):
    witness = witnessed(monkeypatch, **{rate: 1.0})
    assert witness.gold == witness.predicted
    changed = [found != gold for found, gold in zip(witness.learned, witness.gold, strict=True)]
    if rate == "empty_share":
        assert witness.learned == [([], [])] * 10
    elif rate == "head_corruption":
        # The word of the last sentence has no other head.
        assert changed == [True] * 9 + [False]
    else:
        assert [heads for heads, _ in witness.learned] == [heads for heads, _ in witness.gold]
        assert sum(changed) > 5


def test_a_share_of_sentences_starts_from_nothing(monkeypatch: pytest.MonkeyPatch):
    learned = [graph for seed in range(3) for graph in witnessed(monkeypatch, seed, empty_share=0.5).learned]
    assert 5 <= learned.count(([], [])) <= 25


def test_corruption_follows_the_seed(monkeypatch: pytest.MonkeyPatch):
    rates = {"head_corruption": 0.3, "label_corruption": 0.3, "empty_share": 0.3}
    first, again, other = (witnessed(monkeypatch, seed, **rates).learned for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_update_has_other_errors(monkeypatch: pytest.MonkeyPatch):
    nlp = make_nlp(factory="rng_refiner", iterations=1, head_corruption=0.5)
    nlp.initialize(lambda: graph_examples(nlp, "gold"))
    witness = Witness(nlp, monkeypatch)
    for _ in range(2):
        nlp.update(graph_examples(nlp, "gold"))
    assert witness.learned[:10] != witness.learned[10:]


# Keeping


def test_initial_labels_of_another_model_are_an_error(nlp: Language, tmp_path: Path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "rng_refiner" / "cfg"
    cfg = json.loads(path.read_text())
    path.write_text(json.dumps({**cfg, "initial_labels": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"E508.*rng_refiner: 2 labels.* 1\.") as caught:
        spacy.load(tmp_path)
    assert str(tmp_path / "rng_refiner") in str(caught.value)


@pytest.mark.parametrize("excluded", ["cfg", "model"])
def test_what_is_excluded_is_not_checked(nlp: Language, tmp_path: Path, excluded: str):
    refiner_of(nlp).to_disk(tmp_path)
    other = refiner_of(make_nlp(factory="rng_refiner"))
    other.from_disk(tmp_path, exclude=[excluded])
    assert (other.cfg["initial_labels"] == ["x"]) == (excluded == "model")


# After a parser


def test_a_refiner_refines_what_a_parser_writes(trained_folder: Path, refined: Language):
    nlp = spacy.load(trained_folder)
    randomise(parser_of(nlp).model, scale=0.1)
    alone = trees(nlp, treebank_docs(nlp.vocab))
    refiner = nlp.add_pipe("rng_refiner", source=refined)
    refiner.store_graphs = True
    docs = list(nlp.pipe(treebank_docs(nlp.vocab)))
    initial = [doc._.g2g_graphs[0] for doc in docs]
    assert [list(zip(g["heads"], g["deps"], strict=True)) for g in initial] == alone
    gold = [tree_of(example.reference) for example in treebank_examples(nlp)]
    assert alone != gold
    n_right = [sum(map(list.__eq__, found, gold)) for found in (alone, map(tree_of, docs))]
    assert n_right[1] > n_right[0]


def test_in_training_a_frozen_parsers_trees_are_the_initial_graphs(
    trained_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    nlp = spacy.load(trained_folder)
    refiner = add_tiny(nlp, "rng_refiner")
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=tiny_encoder())
    witness = Witness(nlp, monkeypatch)
    losses = nlp.update(
        treebank_examples(nlp), sgd=Adam(0.001), annotates=["g2g_parser"], exclude=["g2g_parser"]
    )
    assert set(losses) == {"rng_refiner"}
    assert witness.learned == witness.gold
    assert len(witness.learned) == 10


@pytest.mark.slow
def test_a_doc_can_be_given_a_graph_as_soon_as_there_is_a_refiner():
    """In a process of its own: extensions are there for all of a process once they are set."""
    code = (
        "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('rng_refiner'); doc = nlp.make_doc('a b'); "
        "doc._.g2g_initial = {'heads': [1, 0], 'deps': ['x', 'y']}; print(doc._.g2g_initial['heads'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[1, 0]", done.stderr
