"""What Docs keep by tokens, after tokens were merged or split and the Doc has gone through an exit."""

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from spacy_g2g.analysis.render import _draw
from spacy_g2g.conversion.writing import to_conllu, to_jsonl
from spacy_g2g.corpus_job.documents import Document
from spacy_g2g.corpus_job.table import docs_to_table, make_schema
from spacy_g2g.data.doc_graphs import get_initial_graph, set_initial_graph
from spacy_g2g.data.doc_record import own_record
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms
from spacy_g2g.data.segmentation import segment
from spacy_g2g.scored.doc_constraints import constrain, read_constraints

from ..util import add_tiny, make_nlp, plain_doc, randomize, tree_of, treebank_examples

WORDS = ("she sa w the ca t .", "dogs bark at it")
#: Two multiword tokens, "saw" and "cat", and the forms of their words.
RANGES, FORMS = [(1, 3), (4, 6)], ["see", "ed", "the", "cat"]
#: Another pipeline.
EMPTY = spacy.blank("xx")
OTHER = EMPTY.vocab


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A parser that keeps scores, a refiner that stores its graphs, and rules for enhanced graphs."""
    nlp = make_nlp(keep_scores=True, store_probabilities=True)
    add_tiny(nlp, "rng_refiner", store_graphs=True, store_probabilities=True, iterations=2)
    nlp.initialize(lambda: treebank_examples(nlp))
    for seed, name in enumerate(nlp.pipe_names):
        randomize(nlp.get_pipe(name).model, seed)
    nlp.add_pipe("ud_enhancer")
    return nlp


def make_doc(nlp: Language) -> Doc:
    spaces = [True, False, True, True, False, True, True, True, True, True, True]
    words = [word for sentence in WORDS for word in sentence.split()]
    doc = Doc(nlp.vocab, words, spaces, sent_starts=[i in (0, 7) for i in range(len(words))])
    mark_words(doc, RANGES, FORMS)
    return doc


def merge(doc: Doc, start: int, end: int) -> None:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[start:end])


def split(doc: Doc, i: int) -> None:
    """Split a token behind its first character. The first piece hangs on the second.

    spaCy takes a piece without a label for headless, and then finds other sentences in what it reads back.
    """
    token = doc[i]
    with doc.retokenize() as retokenizer:
        head: Any = token.head if token.head.i != i else (token, 1)
        attrs: Any = {"DEP": ["dep", token.dep_]} if token.dep else {}
        retokenizer.split(token, [token.text[:1], token.text[1:]], [(token, 1), head], attrs)


def multiword(doc: Doc) -> dict[tuple[int, str], list[str]]:
    """The forms of each multiword token, by its first character and its text."""
    spans = [*doc.spans["mwt"]]
    forms = word_forms(doc)
    return {(span.start_char, span.text): [forms[token.i] for token in span] for span in spans}


def arcs(doc: Doc) -> set[tuple[int, int, str]]:
    """The arcs of the enhanced graph: characters that dependent and head start at, and label."""
    graph = doc._.g2g_enhanced or []
    return {(doc[i].idx, doc[head].idx, dep) for i, found in enumerate(graph) for head, dep in found}


def table(doc: Doc) -> Any:
    schema = make_schema(("heads", "deps", "enhanced", "forms", "multiword_tokens"), keep=(), text=True)
    return docs_to_table([(Document("1", 0, doc.text), doc)], schema, ())


def in_bin(doc: Doc, **settings: Any) -> Doc:
    content = DocBin(docs=[doc], **settings).to_bytes()
    return next(DocBin(store_user_data=True).from_bytes(content).get_docs(OTHER))


#: Ways of a Doc out of a program and back, which keep the groups of spans.
BACK: dict[str, Callable[[Doc], Doc]] = {
    "bytes": lambda doc: Doc(OTHER).from_bytes(doc.to_bytes()),
    "json": lambda doc: Doc(OTHER).from_json(doc.to_json(underscore=["g2g_enhanced"])),
    "copy": lambda doc: doc.copy(),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "from_docs": lambda doc: Doc.from_docs([doc]),
    "DocBin": lambda doc: in_bin(doc, store_user_data=True),
    "DocBin without NORM": lambda doc: in_bin(doc, attrs=["ORTH", "HEAD", "DEP"], store_user_data=True),
}
#: What writes a Doc.
OUT: dict[str, Callable[[Doc], Any]] = {
    "rows": lambda doc: [*map(str, doc_to_sentences(doc))],
    ".conllu": lambda doc: [*to_conllu([(doc, {})])],
    ".jsonl": lambda doc: [*to_jsonl([(doc, {})])],
    "drawing": lambda doc: [*_draw(doc, None, EMPTY)],
    "record": own_record,
    "table": table,
    "parts": lambda doc: [tree_of(s.as_doc(copy_user_data=True)) for s in doc.sents],
}


def retokenize(doc: Doc, changes: list[tuple[str, int, int]]) -> None:
    for kind, at, n in changes:
        start = at % len(doc)
        end = min(start + n, doc[start].sent.end)
        if kind == "merge":
            merge(doc, start, end)
        elif len(doc[start]) > 1 and " " not in doc[start].text:
            split(doc, start)


@example(names=set(), changes=[("split", 10, 1)], way="json")
@given(
    st.sets(st.sampled_from(["rng_refiner", "ud_enhancer"])),
    st.lists(
        st.tuples(st.sampled_from(["merge", "split"]), st.integers(0, 10), st.integers(1, 4)), max_size=4
    ),
    st.sampled_from([*BACK]),
)
def test_what_is_kept_follows_its_tokens_or_goes(nlp: Language, names, changes, way: str):
    doc = make_doc(nlp)
    with nlp.select_pipes(enable=["g2g_parser", *names]):
        doc = nlp(doc)
    before, graph = multiword(doc), arcs(doc)
    retokenize(doc, changes)
    lengths = {place: len(doc.char_span(place[0], place[0] + 3) or "") for place in before}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(G2G-W560|W101|W102)")
        for found in (doc, BACK[way](doc)):
            words = multiword(found)
            assert {*words} == {place for place, n in lengths.items() if n > 1}
            assert all(
                words[place] == before[place] for place in words if not any(c[0] == "split" for c in changes)
            )
            assert arcs(found) <= graph
            for write in OUT.values():
                write(found)


def test_spans_follow_a_component_of_spacy(nlp: Language):
    doc = make_doc(nlp)
    doc.ents = [Span(doc, 2, 4, "THING"), Span(doc, 7, 9, "DOGS")]
    merged = spacy.pipeline.merge_entities(doc)
    assert [(span.start, span.text, span.label_) for span in merged.spans["mwt"]] == [(3, "cat", "the cat")]
    assert len(merged.spans["mwt"]) == 1
    assert merged.spans["mwt"][0].text == "cat"
    copied = merged.copy()
    merge(copied, 0, 2)
    assert [span.text for span in copied.spans["mwt"]] == ["cat"]


@pytest.mark.parametrize("retokenized", [(0, 4), (3, 5), (7, 11)])
def test_a_merge_before_all_components_is_no_error(nlp: Language, retokenized: tuple[int, int]):
    doc = make_doc(nlp)
    doc.spans["mwt"] = [Span(doc, start, end) for start, end in RANGES]  # as plain spaCy code does
    expected = [doc[start:end].text for start, end in RANGES]
    merge(doc, *retokenized)
    found = nlp(doc)
    left = [span.text for span in found.spans["mwt"]]
    assert left == [text for text in expected if text in left]
    assert len(left) == {(0, 4): 1, (3, 5): 1, (7, 11): 2}[retokenized]


def test_constraints_follow_their_tokens_and_one_on_a_merged_token_goes(nlp: Language):
    doc = plain_doc(nlp.vocab, *WORDS)
    constrain(doc, heads={4: 3, 8: 7}, not_deps={9: ["obj"]}, subtrees=[[0, 1]])
    split(doc, 2)
    merge(doc, 0, 2)
    segmentation = segment([doc])
    with pytest.warns(UserWarning, match=r"W560\] doc._.g2g_constraints"):
        first, second = read_constraints([doc], segmentation, nlp.get_pipe("g2g_parser").labels)
    assert [(c.kind, c.words, c.value) for c in first] == [("head", (5,), 4)]
    assert [(c.kind, c.words) for c in second] == [("head", (2,)), ("not label", (3,))]


def test_an_initial_graph_of_other_tokens_is_not_read(nlp: Language):
    doc = plain_doc(nlp.vocab, "she saw it")
    set_initial_graph(doc, [1, 1, 1], ["nsubj", "root", "obj"])
    merge(doc, 0, 2)
    split(doc, 1)
    with pytest.warns(UserWarning, match="W560"):
        assert get_initial_graph(doc) is None
    assert get_initial_graph(doc) is None


def test_graphs_of_passes_of_other_tokens_are_not_drawn(nlp: Language):
    doc = nlp(make_doc(nlp))
    assert len(next(_draw(doc, None, EMPTY)).graphs) > 1
    merge(doc, 0, 2)
    split(doc, 1)
    with pytest.warns(UserWarning, match="W560"):
        drawings = [*_draw(doc, None, EMPTY)]
    assert [[*drawing.graphs] for drawing in drawings] == [["tree"]] * 2


def test_spans_that_overlap_are_named(nlp: Language):
    doc = make_doc(nlp)
    doc.spans["mwt"] = [Span(doc, 0, 2), Span(doc, 1, 3)]
    with pytest.raises(ValueError, match=r"E560\] The spans \[\('she sa', 0, 2\), \('saw', 1, 3\)\]"):
        multiword_tokens(doc)
