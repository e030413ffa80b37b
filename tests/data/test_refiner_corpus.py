import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.data.doc_graphs import get_initial_graph
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.data.refiner_corpus import make_refiner_corpus

from ..formats.samples import SAMPLE, read, row


def sentence(*cells, sent_id=None):
    """A sentence of words given as (form, head, deprel)."""
    comment = f"# sent_id = {sent_id}\n" if sent_id else ""
    rows = [row(str(i), form, str(head), deprel) for i, (form, head, deprel) in enumerate(cells, start=1)]
    return comment + "".join(rows) + "\n"


GOLD = [
    sentence(("a", 2, "det"), ("b", 0, "root"), ("c", 2, "obj"), sent_id="s1"),
    sentence(("d", 0, "root"), ("e", 1, "obj"), sent_id="s2"),
    sentence(("f", 0, "root"), sent_id="s3"),
]
PREDICTED = [
    sentence(("a", 3, "nn"), ("b", 3, "amod"), ("c", 0, "ROOT")),
    sentence(("d", 2, "nn"), ("e", 0, "ROOT")),
    sentence(("f", 0, "ROOT")),
]


@pytest.fixture
def write(tmp_path):
    def write_file(name, sentences, n_sents=1):
        path = tmp_path / name
        text = "".join(sentences)
        if path.suffix == ".spacy":
            docs = sentences_to_docs(read(text, trees="any"), spacy.blank("xx").vocab, n_sents=n_sents)
            DocBin(docs=docs, store_user_data=True).to_disk(path)
        else:
            path.write_bytes(text.encode("utf8"))
        return path

    return write_file


def tree(doc):
    return [(token.head.i, token.dep_) for token in doc]


def initial(doc):
    """Heads and labels of the graph that is kept beside the Doc's own, or None."""
    graph = get_initial_graph(doc)
    return graph and list(zip(graph["heads"], graph["deps"], strict=True))


@pytest.mark.parametrize("gold_name", ["gold.conllu", "gold.spacy"])
@pytest.mark.parametrize("predicted_name", ["predicted.conllu", "predicted.spacy"])
def test_examples_pair_gold_trees_with_predicted_ones(nlp, write, gold_name, predicted_name):
    corpus = make_refiner_corpus(
        write(gold_name, GOLD), predicted=write(predicted_name, PREDICTED, n_sents=2)
    )
    examples = list(corpus(nlp))
    assert [tree(example.reference) for example in examples] == [
        [(1, "det"), (1, "root"), (1, "obj")],
        [(0, "root"), (0, "obj")],
        [(0, "root")],
    ]
    assert [tree(example.predicted) for example in examples] == [
        [(2, "nn"), (2, "amod"), (2, "ROOT")],
        [(1, "nn"), (1, "ROOT")],
        [(0, "ROOT")],
    ]
    assert all(initial(example.predicted) is None for example in examples)


def test_a_doc_of_several_sentences_keeps_its_boundaries(nlp, write):
    corpus = make_refiner_corpus(write("gold.spacy", GOLD, n_sents=3), predicted=write("p.conllu", PREDICTED))
    (example,) = corpus(nlp)
    assert [sent.start for sent in example.predicted.sents] == [0, 3, 5]
    assert tree(example.predicted) == [
        *[(2, "nn"), (2, "amod"), (2, "ROOT")],
        *[(4, "nn"), (4, "ROOT")],
        (5, "ROOT"),
    ]


@pytest.mark.parametrize(
    ("words", "graph"),
    [
        ([("a", "_", "_"), ("b", 3, "x"), ("c", 0, "y")], [(-1, ""), (2, "x"), (2, "y")]),
        ([("a", 3, "_"), ("b", 3, "x"), ("c", 0, "y")], [(2, ""), (2, "x"), (2, "y")]),
        ([("a", "_", "x"), ("b", 3, "x"), ("c", 0, "y")], [(-1, "x"), (2, "x"), (2, "y")]),
        ([("a", 0, "x"), ("b", 3, "y"), ("c", 0, "z")], [(0, "x"), (2, "y"), (2, "z")]),
        ([("a", 2, "x"), ("b", 1, "y"), ("c", 0, "z")], [(1, "x"), (0, "y"), (2, "z")]),
        ([("a", 2, "x"), ("b", 3, "y"), ("c", 1, "z")], [(1, "x"), (2, "y"), (0, "z")]),
        ([("a", 1, "x"), ("b", 0, "y"), ("c", 2, "z")], None),
        ([("a", "_", "_"), ("b", "_", "_"), ("c", "_", "_")], [(-1, ""), (-1, ""), (-1, "")]),
    ],
    ids=["no head", "no label", "label only", "two roots", "cycle", "no root", "own head", "empty"],
)
def test_graphs_that_are_no_trees_are_kept_beside_the_heads(nlp, write, words, graph):
    # Of two sentences in one Doc, only the first is no tree.
    gold = write("gold.spacy", GOLD[:2], n_sents=2)
    predicted = write("p.conllu", [sentence(*words), PREDICTED[1]])
    (example,) = make_refiner_corpus(gold, predicted=predicted)(nlp)
    doc = example.predicted
    if graph is None:
        # A word that is its own head is a root in the format of the graph, as 0 is.
        graph = [(0, "x"), (1, "y"), (1, "z")]
    assert initial(doc) == [*graph, (4, "nn"), (4, "ROOT")]
    assert doc._.g2g_initial == get_initial_graph(doc)
    assert not doc.has_annotation("DEP")
    assert [sent.start for sent in doc.sents] == [0, 3]
    copy = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert initial(copy) == initial(doc.copy()) == initial(doc)
    assert [sent.start for sent in copy.sents] == [0, 3]


@given(st.lists(st.tuples(st.integers(-1, 6), st.sampled_from(["", "x", "y"])), min_size=6, max_size=6))
def test_nothing_of_any_graph_is_lost(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("graph")
    forms = "abcdef"
    cells = [(f, "_" if h < 0 else h, d or "_") for f, (h, d) in zip(forms, words, strict=True)]
    chain = [(form, i, "dep" if i else "root") for i, form in enumerate(forms)]
    (folder / "gold.conllu").write_text(sentence(*chain))
    (folder / "predicted.conllu").write_text(sentence(*cells))
    corpus = make_refiner_corpus(folder / "gold.conllu", predicted=folder / "predicted.conllu")
    (example,) = corpus(spacy.blank("xx"))
    found = initial(example.predicted) or tree(example.predicted)
    expected = [(i if h == 0 else max(h - 1, -1), d) for i, (h, d) in enumerate(words)]
    assert found == expected
    assert tree(example.reference) == [(max(i - 1, 0), "dep" if i else "root") for i in range(6)]
    assert [sent.start for sent in example.predicted.sents] == [0]


def test_predicted_docs_have_boundaries_and_the_annotations_asked_for(nlp, write):
    gold, predicted = write("gold.conllu", [SAMPLE]), write("p.conllu", [SAMPLE])
    example = next(make_refiner_corpus(gold, predicted=predicted, annotations=["TAG"])(nlp))
    assert example.predicted[4].tag_ == "N"
    assert not example.predicted.has_annotation("LEMMA")
    assert example.predicted.has_annotation("SENT_START")
    assert example.predicted.text == example.reference.text
    assert not example.reference.user_data


def test_graphs_stay_with_their_docs_when_some_are_left_out_or_shuffled(nlp, write):
    gold, predicted = write("gold.conllu", GOLD), write("p.conllu", PREDICTED)
    short = make_refiner_corpus(gold, predicted=predicted, max_length=2, limit=1)(nlp)
    assert [tree(example.predicted) for example in short] == [[(1, "nn"), (1, "ROOT")]]
    corpus = make_refiner_corpus(gold, predicted=predicted, shuffle=True, seed=0)
    orders = set()
    for _ in range(20):
        examples = list(corpus(nlp))
        orders.add(tuple(example.reference.text for example in examples))
        for example in examples:
            assert [t.text for t in example.predicted] == [t.text for t in example.reference]
            assert example.predicted[0].dep_ == {"a": "nn", "d": "nn", "f": "ROOT"}[example.predicted[0].text]
    assert len(orders) > 1


def test_what_is_predicted_by_gold_alone_is_gold(nlp, write):
    path = write("gold.conllu", [SAMPLE])
    refined = make_refiner_corpus(path, predicted=path)(nlp)
    for ours, plain in zip(refined, make_corpus(path)(nlp), strict=True):
        assert (initial(ours.predicted) or tree(ours.predicted)) == tree(plain.reference)


JOINED = sentence(("a", 2, "x"), ("b", 0, "x"), ("c", 2, "x"), ("d", 2, "x"), ("e", 2, "x"))
OTHER = sentence(("d", 0, "root"), ("E", 1, "obj"), sent_id="x7")
#: Sentences that are gold and predicted, where they differ, and what is found and expected there.
DIFFERENT = {
    "words": (
        GOLD,
        [PREDICTED[0], OTHER],
        r"p\.conllu, line 6 \(sent_id x7\): sentence 2 .*gold\.conllu at word 2: "
        r"found \['E'\], expected \['e'\]",
    ),
    "boundaries": (
        GOLD,
        [JOINED, PREDICTED[2]],
        r"sentence 1 .*gold\.conllu at word 4: found \['d', 'e'\], expected \[\]",
    ),
    "too few": (
        GOLD,
        PREDICTED[:2],
        r"p\.conllu: sentence 3 differs from .*gold\.conllu .*: found \[\], expected \['f'\]",
    ),
    "too many": (
        GOLD[:2],
        PREDICTED,
        r"p\.conllu, line .*sentence 3 differs .*gold\.conllu .*: found \['f'\], expected \[\]",
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_other_sentences_are_an_error_that_shows_them(nlp, write, case):
    gold, predicted, message = DIFFERENT[case]
    corpus = make_refiner_corpus(write("gold.conllu", gold), predicted=write("p.conllu", predicted))
    with pytest.raises(ValueError, match=f"E509.*{message}"):
        list(corpus(nlp))


def test_without_a_predicted_file_there_are_no_initial_graphs(nlp, write):
    path = write("gold.conllu", GOLD)
    examples = list(make_refiner_corpus(path)(nlp))
    assert [example.predicted.has_annotation("DEP") for example in examples] == [False] * len(GOLD)
    assert [tree(e.reference) for e in examples] == [tree(e.reference) for e in make_corpus(path)(nlp)]


def test_missing_paths_are_errors_when_called(nlp, write, tmp_path):
    path = write("gold.conllu", GOLD)
    for predicted in (path, None):
        with pytest.raises(ValueError, match="E506"):
            list(make_refiner_corpus(None, predicted=predicted)(nlp))
    with pytest.raises(FileNotFoundError, match=r"E507.*nowhere"):
        list(make_refiner_corpus(path, predicted=tmp_path / "nowhere")(nlp))


def test_folders_are_read_in_the_order_of_names(nlp, write, tmp_path):
    (tmp_path / "parts").mkdir()
    write("parts/b.conllu", PREDICTED[1:])
    write("parts/a.spacy", PREDICTED[:1])
    examples = list(make_refiner_corpus(write("gold.conllu", GOLD), predicted=tmp_path / "parts")(nlp))
    assert [example.predicted[0].dep_ for example in examples] == ["nn", "nn", "ROOT"]
