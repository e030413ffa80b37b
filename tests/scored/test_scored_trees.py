"""Constraints, kept scores, and the k best trees of a Doc."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.shim import get_shim
from spacy_g2g.scored.doc_constraints import constrain
from spacy_g2g.scored.score_record import SCORES
from spacy_g2g.trees.tree import is_tree

from ..util import graph_examples, initialized_nlp, make_nlp, parser_of, plain_doc, random_nlp, tree_of


@pytest.fixture(scope="module", params=["g2g_parser", "rng_refiner"])
def nlp(request: pytest.FixtureRequest) -> Language:
    """A parser or refiner with random weights, whose trees many arcs could change."""
    return random_nlp("gold", factory=request.param)


@pytest.fixture
def keeping(nlp: Language):
    parser_of(nlp).keep_scores = True
    yield nlp
    parser_of(nlp).keep_scores = False


def make_doc(nlp: Language) -> Doc:
    return plain_doc(nlp.vocab, ["she", "saw", " ", "the", "cat", "."], "dogs bark at it")


def test_the_first_tree_is_the_parse_and_the_others_are_other_trees(nlp: Language):
    doc = make_doc(nlp)
    ranked = parser_of(nlp).kbest(doc, 20)
    assert not doc.has_annotation("DEP")
    nlp(doc)
    for trees, n in zip(ranked, [5, 4], strict=True):
        tokens = trees[0].tokens
        assert len(tokens) == n
        assert [(doc[i].head.i, doc[i].dep_) for i in tokens] == list(
            zip(trees[0].heads, trees[0].deps, strict=True)
        )
        assert len({tuple(tree.heads) for tree in trees}) == len(trees) == 20
        for tree in trees:
            pairs = zip(tokens, tree.heads, strict=True)
            numbers = [0 if head == token else tokens.index(head) + 1 for token, head in pairs]
            assert is_tree(numbers)
            assert tree.score == pytest.approx(np.log(tree.head_probs).sum(), abs=1e-4)
        assert [tree.score for tree in trees] == sorted((tree.score for tree in trees), reverse=True)


def test_a_parse_meets_the_constraints_of_its_doc(nlp: Language):
    doc = make_doc(nlp)
    constrain(doc, heads={6: 6, 0: 5}, deps={0: "obj"}, not_heads={7: [6]}, not_deps={8: ["case", "nmod"]})
    nlp(doc)
    assert (doc[6].head.i, doc[0].head.i, doc[0].dep_) == (6, 5, "obj")
    assert doc[7].head.i != 6
    assert doc[8].dep_ not in ("case", "nmod")


def test_tokens_of_a_subtree_are_one_token_and_its_descendants(nlp: Language):
    doc = make_doc(nlp)
    constrain(doc, subtrees=[[0, 3, 5]], heads={9: 7})
    nlp(doc)
    assert [0, 3, 5] in [[t.i for t in token.subtree if not t.is_space] for token in doc]
    assert doc[9].head.i == 7
    assert all(sum(token.head == token for token in sentence) == 1 for sentence in doc.sents)


def test_constraints_steer_what_comes_after_them(nlp: Language):
    """Each of the five words can be made the root, and what else must change does."""
    for root in (0, 1, 3, 4, 5):
        doc = make_doc(nlp)
        constrain(doc, heads={root: root})
        nlp(doc)
        assert [token.i for token in doc[:6] if token.head == token] == [root]
        assert doc[root].dep_ == "root"


def test_the_next_pass_of_a_refiner_reads_fixed_arcs(monkeypatch: pytest.MonkeyPatch):
    nlp = make_nlp(factory="rng_refiner", iterations=3, stop=False)
    nlp.initialize(lambda: graph_examples(nlp, "gold"))
    refiner = parser_of(nlp)
    network: Any = get_shim(refiner.model).network
    read: list[tuple[int, int]] = []
    edges = network.edges

    def record(batch: PieceBatch):
        read.append((int(batch.heads[0, 4]), int(batch.labels[0, 4])))
        return edges(batch)

    monkeypatch.setattr(network, "edges", record)
    doc = plain_doc(nlp.vocab, "she saw the cat .")
    constrain(doc, heads={4: 0}, deps={4: "obl"})
    nlp(doc)
    assert read == [(-1, -1), (1, refiner.labels.index("obl")), (1, refiner.labels.index("obl"))]


@pytest.mark.parametrize(
    ("constraints", "error"),
    [
        (
            {"heads": {0: 1, 1: 0}, "deps": {3: "det"}},
            r"G2G-E516\] .*: token 0 'she' has the head 1 'saw'; token 1 'saw' has the head 0 'she'\. Remove",
        ),
        ({"heads": {8: 8, 9: 9}}, r"G2G-E516\] .*: token 8 'at' is the root; token 9 'it' is the root\."),
        (
            {"subtrees": [[0, 1], [1, 3]]},
            r"E516.*: the tokens 0 'she', 1 'saw' are one subtree; the tokens 1",
        ),
        (
            {"deps": {3: "det"}, "not_deps": {3: ["det"]}},
            "E516.*token 3 'the' has the label 'det'; token 3 'the' has not the label 'det'",
        ),
        ({"deps": {0: "nope"}}, "G2G-E515"),
        ({"heads": {0: 7}}, "G2G-E514"),
    ],
)
def test_constraints_that_cannot_be_met_are_named(nlp: Language, constraints, error: str):
    doc = make_doc(nlp)
    constrain(doc, **constraints)
    with pytest.raises(ValueError, match=error):
        nlp(doc)


@pytest.mark.parametrize(
    ("constraints", "error"),
    [
        ({"heads": {"2": 1}}, r"E513\] The constraints \{'heads': \[\['2', 1\]\]\} are not valid\. Expected"),
        ({"not_heads": {0: "3"}}, "E513"),
        ({"deps": {0: 7}}, "E513"),
        (
            {"heads": {99: 0}},
            r"E514.*'head' is on the tokens \[99, 0\], but the Doc 'she saw.* has 10 tokens",
        ),
        ({"heads": {-1: 0}}, "E514"),
        ({"heads": {0: 2}}, "E514"),
        ({"subtrees": [[]]}, "E514"),
    ],
)
def test_constrain_checks_what_it_is_given_and_then_sets_nothing(constraints: Any, error: str):
    doc = make_doc(spacy.blank("xx"))
    with pytest.raises(ValueError, match=error):
        constrain(doc, **constraints)
    assert doc._.g2g_constraints is None


@pytest.mark.parametrize("k", [0, -1, 1.5, "x", None])
def test_numbers_of_trees_are_whole_numbers_above_0(nlp: Language, k: Any):
    with pytest.raises(ValueError, match=rf"E816\] k is {k!r}\. Expected a whole number"):
        parser_of(nlp).kbest(make_doc(nlp), k)


@pytest.mark.parametrize(
    "constraints",
    [
        [[0, 1]],
        {"head": [[0, 1]]},
        {"heads": [[0]]},
        {"heads": {0: 1}},
        {"deps": [["0", "obj"]]},
        {"deps": [[0, None]]},
        {"deps": [[]]},
        {"subtrees": [5]},
        {"rules": ["too-many-subjects"]},
    ],
)
def test_anything_else_than_constraints_is_shown(nlp: Language, constraints: Any):
    doc = make_doc(nlp)
    doc._.g2g_constraints = constraints
    with pytest.raises(ValueError, match=f"E513.*{re.escape(repr(constraints))}"):
        nlp(doc)


def test_kept_scores_give_the_same_trees_as_the_encoder_would(keeping: Language):
    doc = keeping(make_doc(keeping))
    before = tree_of(doc)
    parser = parser_of(keeping)
    assert tree_of(parser.reparse(doc)) == before
    arcs = [scores["arcs"].copy() for scores in doc._.g2g_scores["sentences"]]
    token = next(token for token in doc[:6] if token.head != token and not token.is_space)
    constrain(doc, not_heads={token.i: [token.head.i]})
    second = parser.kbest(doc, 1)[0][0]
    parser.reparse(doc)
    assert [doc[i].head.i for i in second.tokens] == second.heads
    assert tree_of(doc) != before
    assert all((a == b["arcs"]).all() for a, b in zip(arcs, doc._.g2g_scores["sentences"], strict=True))
    constrain(doc)
    assert tree_of(parser.reparse(doc)) == before


def test_docs_with_kept_scores_are_saved_with_them(keeping: Language):
    doc = keeping(make_doc(keeping))
    expected = [tree.heads for tree in parser_of(keeping).kbest(doc, 5)[0]]
    doc_bin = DocBin(store_user_data=True, docs=[doc])
    restored = next(DocBin().from_bytes(doc_bin.to_bytes()).get_docs(keeping.vocab))
    for copy in (pickle.loads(pickle.dumps(doc)), Doc(keeping.vocab).from_bytes(doc.to_bytes()), restored):
        assert [tree.heads for tree in parser_of(keeping).kbest(copy, 5)[0]] == expected


def test_nothing_is_kept_unless_asked_for(nlp: Language):
    doc = nlp(make_doc(nlp))
    assert doc._.get(SCORES) is None
    with pytest.raises(ValueError, match="G2G-E815"):
        parser_of(nlp).reparse(doc)


@pytest.mark.parametrize(
    ("sentences", "error"),
    [
        (["no one came"], r"G2G-E813\] .*\[5, 4\] words, but its sentences have \[3\] words"),
        ([[".", "cat", "the", " ", "saw", "she"], "it at bark dogs"], r"G2G-E861\] The Doc '\."),
    ],
)
def test_scores_of_other_sentences_or_words_are_refused(keeping: Language, sentences: list[Any], error: str):
    other = keeping(plain_doc(keeping.vocab, *sentences))
    other._.set(SCORES, keeping(make_doc(keeping))._.get(SCORES))
    with pytest.raises(ValueError, match=error):
        parser_of(keeping).reparse(other)


@pytest.mark.parametrize("method", ["reparse", "confidence", "kbest"])
def test_scores_for_other_labels_are_refused(keeping: Language, method: str):
    doc = keeping(make_doc(keeping))
    other = initialized_nlp(factory=parser_of(keeping).name, keep_scores=True)
    parser_of(other).add_label("new")
    constrain(doc, not_deps={0: ["new"]})
    with pytest.raises(ValueError, match=r"G2G-E860\] .* for the labels .*Expected .*'new'\]"):
        getattr(parser_of(other), method)(doc, *([2] if method == "kbest" else []))


@pytest.mark.parametrize("row", ["SentTr", "StateTr", "Stack-c"])
def test_a_parser_without_scores_of_arcs_has_no_other_trees_and_refuses_constraints(row: str):
    nlp = initialized_nlp(seed=None, row=row)
    doc = make_doc(nlp)
    with pytest.raises(ValueError, match="G2G-E814"):
        parser_of(nlp).kbest(doc, 2)
    constrain(doc, heads={0: 1})
    with pytest.raises(ValueError, match="G2G-E821"):
        nlp(doc)


@pytest.mark.filterwarnings("ignore:.*G2G-W80")
def test_sentences_that_are_parsed_in_parts_keep_no_scores_and_take_no_constraints(
    keeping: Language, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("spacy_g2g.scored.scored_trees.MAX_WORDS", 4)
    monkeypatch.setattr("spacy_g2g.pipeline.long_sentences.MAX_WORDS", 4)
    doc = keeping(make_doc(keeping))
    assert doc._.get(SCORES) is None
    with pytest.raises(ValueError, match=r"G2G-E817\] A sentence of the Doc has 5 words. Expected at most 4"):
        parser_of(keeping).kbest(doc, 2)
    constrain(doc, heads={0: 1})
    with pytest.raises(ValueError, match="G2G-E817"):
        keeping(doc)


def test_confidence_is_that_of_the_tree_that_a_doc_has(keeping: Language):
    doc = keeping(make_doc(keeping))
    parser = parser_of(keeping)
    first, second = parser.confidence(doc)
    assert (first.tokens, second.tokens) == ([0, 1, 3, 4, 5], [6, 7, 8, 9])
    assert all(0 <= labeled <= arc <= 1 for arc, labeled in zip(first.arcs, first.labeled, strict=True))
    assert first.tree <= min(first.arcs)
    token = doc[first.tokens[int(np.argmin(first.arcs))]]
    constrain(doc, heads={token.i: token.head.i})
    parser.reparse(doc)
    after = parser.confidence(doc)[0]
    assert after.arcs[after.tokens.index(token.i)] == pytest.approx(1)
    assert after.tree > first.tree
    parser.keep_scores = False
    doc._.set(SCORES, None)
    if parser.name == "g2g_parser":
        assert len(parser.confidence(doc)) == 2
    with pytest.raises(ValueError, match="G2G-E818"):
        parser.confidence(make_doc(keeping))


def test_temperatures_are_saved_and_change_no_tree(keeping: Language):
    nlp = keeping
    parser = parser_of(nlp)
    docs = [nlp(example.reference.copy()) for example in graph_examples(nlp, "gold")]
    before = [of.arcs for doc in docs for of in parser.confidence(doc)]
    found = parser.calibrate(graph_examples(nlp, "gold"))
    assert parser.temperatures == found
    assert found != (1.0, 1.0)
    assert [of.arcs for doc in docs for of in parser.confidence(doc)] != before
    loaded = make_nlp(factory=nlp.pipe_names[0]).from_bytes(nlp.to_bytes())
    assert parser_of(loaded).temperatures == pytest.approx(found)
    again = [nlp(example.reference.copy()) for example in graph_examples(nlp, "gold")]
    assert [tree_of(doc) for doc in again] == [tree_of(doc) for doc in docs]
    parser.cfg.pop("temperatures")
