"""How many passes a refiner makes, and the graphs of all of them."""

import pytest
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..util import gold_doc, graph_docs, plain_doc, read_treebank, tree_of
from .refiners import cyclic_doc, mixed_docs, random_refiner, refiner_of, storing_refiner


@pytest.fixture(scope="module")
def nlp() -> Language:
    return random_refiner()


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
    nlp = random_refiner(iterations=2, stop=False)
    passes = [doc._.g2g_iterations for doc in nlp.pipe(graph_docs(nlp.vocab, "wrong"))]
    assert passes == [[2]] * 10


# Graphs of all passes


@pytest.fixture(scope="module")
def storing() -> Language:
    """A refiner with random weights that stores graphs."""
    return storing_refiner()


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


def test_there_are_as_many_graphs_as_the_longest_sentence_needs_the_last_one_the_tree(storing: Language):
    docs = list(storing.pipe(mixed_docs(storing.vocab)))
    for doc in docs:
        first, *others = doc._.g2g_graphs
        assert len(others) == max(doc._.g2g_iterations, default=0)
        assert first["head_probs"] == first["dep_probs"] == []
        for graph in doc._.g2g_graphs:
            assert set(graph) == {"heads", "deps", "head_probs", "dep_probs"}
            assert len(graph["heads"]) == len(graph["deps"]) == len(doc)
        for graph in others:
            assert len(graph["head_probs"]) == len(graph["dep_probs"]) == len(doc)
        if others:
            assert list(zip(others[-1]["heads"], others[-1]["deps"], strict=True)) == tree_of(doc)
    assert any(len(set(doc._.g2g_iterations)) > 1 for doc in docs)
    assert [len(doc._.g2g_graphs) > 1 for doc in docs].count(False) == 1


def test_white_space_has_no_head_but_in_the_last_graph():
    nlp = random_refiner(store_graphs=True, iterations=3, stop=False)
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


def test_graphs_are_stored_only_where_and_while_they_are_wanted(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
):
    for wanted in (False, True, False):
        monkeypatch.setattr(refiner_of(nlp), "store_graphs", wanted)
        assert bool(nlp(plain_doc(nlp.vocab, "a b"))._.g2g_graphs) == wanted
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
