"""What a parser tells a refiner beside its tree, and how the refiner decodes with it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.data.segmentation import segment
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.types import Arcs, ArcScores, Request, Sentence
from spacy_g2g.parser.prior import keep_if_certain
from spacy_g2g.scored.score_record import SCORES, read_priors, read_scores
from spacy_g2g.training.cache import CachedParser
from spacy_g2g.trees.constraints import Constraint
from spacy_g2g.trees.mst import decode

from ..util import add_tiny, make_nlp, plain_doc, randomize, tree_of, treebank_docs, treebank_examples

SENTENCES = ("she saw the dogs", "dogs bark")


def make_pair(**settings: Any) -> Language:
    """A parser with random weights before a refiner with other random weights."""
    nlp = make_nlp()
    add_tiny(nlp, "rng_refiner", **settings)
    nlp.initialize(lambda: treebank_examples(nlp))
    for seed, name in enumerate(nlp.pipe_names):
        randomize(nlp.get_pipe(name).model, seed + 1, scale=0.35)
    return nlp


@pytest.fixture(scope="module")
def pair() -> Language:
    return make_pair(iterations=1)


@pytest.fixture(scope="module")
def parser(pair: Language) -> Any:
    return pair.get_pipe("g2g_parser")


@pytest.fixture(scope="module")
def refiner(pair: Language) -> Any:
    return pair.get_pipe("rng_refiner")


@pytest.fixture
def doc(pair: Language) -> Doc:
    """A Doc that the parser has parsed."""
    return parsed(pair, "g2g_parser")


@pytest.fixture
def sentences(doc: Doc, refiner: Any) -> list[Any]:
    """What the refiner reads of the Doc, with a request for all scores."""
    return [asked(s, scores="all") for s in inputs(refiner, doc)]


@pytest.fixture
def alone(refiner: Any, sentences: list[Any]) -> list[Any]:
    """The parses of the refiner without priors."""
    return refiner.model.predict([asked(s, prior=None) for s in sentences])


def inputs(component: Any, doc: Doc) -> list[Sentence]:
    """The sentences that a component reads of a Doc."""
    return component.inputs([doc], segment([doc]))


def parsed(nlp: Language, *names: str) -> Any:
    """A Doc that some components have parsed."""
    with nlp.select_pipes(enable=list(names)):
        return nlp(plain_doc(nlp.vocab, *SENTENCES))


def asked(sentence: Sentence, **changes: Any) -> Sentence:
    """The sentence with another request."""
    return replace(sentence, request=replace(sentence.request, **changes))


def mean(own: Any, prior: Any, share: float) -> Any:
    """The weighed mean of log-probabilities, normalized in rows."""
    mean = (1 - share) * own + share * prior
    return mean - np.log(np.exp(mean).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_refiner_decodes_from_the_mean_of_the_log_probabilities(
    refiner: Any, sentences: Any, alone: Any, share: float, monkeypatch: pytest.MonkeyPatch
):
    """Labels have the mean for the parser's arcs."""
    monkeypatch.setattr(get_shim(refiner.model).network, "prior_share", share)
    for sentence, own, mixed in zip(sentences, alone, refiner.model.predict(sentences), strict=True):
        prior, n = sentence.request.prior, len(sentence.words)
        arcs = mean(own.scores.arcs, prior.arcs, share)
        assert mixed.scores.arcs == pytest.approx(arcs, abs=1e-5)
        assert mixed.tree.heads.tolist() == decode(arcs[None], lengths=np.array([n]))[0].tolist()
        labels = own.scores.labels.copy()
        words = np.flatnonzero(prior.heads)
        places = words, prior.heads[words] - 1
        labels[places] = mean(labels[places], prior.labels[words], share)
        assert mixed.scores.labels == pytest.approx(labels, abs=1e-5)
        assert mixed.scores.labels != pytest.approx(own.scores.labels, abs=1e-2)
        words = np.flatnonzero(mixed.tree.heads)
        best = labels[words, mixed.tree.heads[words] - 1]
        assert mixed.tree.labels[words].tolist() == (best.argmax(axis=1) + 1).tolist()
        assert mixed.label_probs[words] == pytest.approx(np.exp(best.max(axis=1)), abs=1e-5)


def test_what_the_parser_rules_out_counts_as_unlikely(refiner: Any, sentences: Any, alone: Any):
    prior = sentences[0].request.prior
    impossible, unlikely = (np.where(prior.labels < -1, value, -0.1) for value in (-np.inf, -100))
    assert np.isinf(impossible).any()
    words = np.flatnonzero(prior.heads)
    arcs = words, prior.heads[words] - 1
    changed = replace(prior, labels=impossible.astype(np.float32))
    (mixed,) = refiner.model.predict([asked(sentences[0], prior=changed)])
    expected = mean(alone[0].scores.labels[arcs], unlikely[words], 0.5)
    assert mixed.scores.labels[arcs] == pytest.approx(expected, abs=1e-4)


def test_a_prior_without_labels_leaves_labels(refiner: Any, sentences: Any, alone: Any):
    without = []
    for sentence in sentences:
        prior = replace(sentence.request.prior, heads=np.full(len(sentence.words), -1))
        without.append(asked(sentence, prior=prior))
    # Beside a sentence whose prior has labels, too.
    for batch in (without, [sentences[0], without[1]]):
        assert (refiner.model.predict(batch)[1].scores.labels == alone[1].scores.labels).all()


def test_labels_of_a_prior_are_in_the_refiners_order(doc: Doc, parser: Any):
    root, first, *others = parser.labels
    same, turned, more = parser.labels, [root, *others, first], [*parser.labels, "other"]
    orders = (same, turned, more, [first, root, *others])
    priors = [read_priors([doc], segment([doc]), labels) for labels in orders]
    for same, turned, more, rooted in zip(*priors, strict=True):
        assert (np.roll(same.labels, -1, axis=1) == turned.labels).all()
        assert (more.heads == -1).all()
        assert (rooted.heads == -1).all()
        assert more.labels.shape[1] == rooted.labels.shape[1] + 1 == len(parser.labels)
        assert same.heads is turned.heads


def test_the_prior_is_that_of_a_tree_that_meets_constraints(pair: Language, parser: Any):
    (sentence, _) = inputs(parser, plain_doc(pair.vocab, *SENTENCES))
    assert sentence.request == Request(scores="tree", subjects=parser.subjects)
    (free,) = parser.model.predict([sentence])
    word = int(np.flatnonzero(free.tree.heads)[0]) + 1
    constraint = Constraint("head", (word,), 0)
    (parse,) = parser.model.predict([asked(sentence, constraints=(constraint,))])
    (full,) = parser.model.predict([asked(sentence, constraints=(constraint,), scores="all")])
    prior = parse.scores
    assert prior.heads.tolist() == parse.tree.heads.tolist() != free.tree.heads.tolist()
    words = np.flatnonzero(prior.heads)
    expected = full.scores.labels[words, prior.heads[words] - 1]
    assert prior.labels[words] == pytest.approx(expected)
    assert prior.arcs == pytest.approx(free.scores.arcs)


def test_a_prior_against_all_arcs_of_a_tree_changes_it(refiner: Any, sentences: Any, alone: Any):
    for sentence, parse in zip(sentences, alone, strict=True):
        n = len(sentence.words)
        log_probs = np.zeros((n, n + 1), dtype=np.float32)
        log_probs[np.arange(n), parse.tree.heads] = -50
        labels = np.zeros((n, len(refiner.labels) - 1), dtype=np.float32)
        prior = ArcScores(log_probs, labels, np.full(n, -1))
        (other,) = refiner.model.predict([asked(sentence, prior=prior)])
        assert (other.tree.heads != parse.tree.heads).any()


@pytest.mark.parametrize("head_loss", ["local", "tree"])
def test_a_sentence_without_a_prior_is_decoded_alone_beside_others(
    refiner: Any, sentences: Any, head_loss: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(get_shim(refiner.model).network, "head_loss", head_loss)
    first = asked(sentences[0], prior=None)
    (own,) = refiner.model.predict([first])
    together = refiner.model.predict([first, sentences[1]])[0]
    assert together.scores.arcs == pytest.approx(own.scores.arcs, abs=1e-5)


def test_the_prior_is_the_parsers_and_goes_when_it_is_read(pair: Language, doc: Doc, parser: Any):
    assert doc._.get(SCORES)["labels"] == [*parser.labels]
    for kept, parse in zip(doc._.get(SCORES)["sentences"], parser.predict([doc]).parses, strict=True):
        prior = ArcScores(**kept)
        words = np.arange(parse.n_words)
        assert prior.heads.tolist() == parse.tree.heads.tolist()
        heads, labels = np.exp(prior.arcs), np.exp(prior.labels)
        assert heads.shape == (parse.n_words, parse.n_words + 1)
        assert heads.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert heads[words, parse.tree.heads] == pytest.approx(parse.head_probs)
        assert labels.shape == (parse.n_words, len(parser.labels) - 1)
        assert labels.sum(axis=1) == pytest.approx(1, abs=1e-5)
        is_root = parse.tree.heads == 0
        expected = np.where(is_root, 1, labels[words, parse.tree.labels - 1])
        assert expected == pytest.approx(parse.label_probs)
    assert parsed(pair, "g2g_parser", "rng_refiner")._.get(SCORES) is None


def test_a_component_takes_no_scores_of_another_one(pair: Language, parser: Any, refiner: Any):
    parser.keep_scores = True
    doc = parsed(pair, *pair.pipe_names)
    parser.keep_scores = False
    assert parser.kbest(doc, 2) == parser.kbest(parsed(pair, "g2g_parser"), 2)
    with pytest.raises(ValueError, match=r"E841\] 'rng_refiner' has refined the Doc 'she saw"):
        refiner.confidence(doc)
    with pytest.raises(ValueError, match=r"E815\].* by 'rng_refiner'"):
        refiner.reparse(doc)


def test_scores_that_the_parser_keeps_are_the_same_prior(pair: Language, doc: Doc, parser: Any, refiner: Any):
    assert read_scores(doc, segment([doc]), parser.labels, parser=parser.name) is None
    parser.keep_scores = True
    kept = parsed(pair, "g2g_parser")
    parser.keep_scores = False
    assert read_scores(kept, segment([kept]), parser.labels, parser=parser.name) is not None
    for found, expected in zip(inputs(refiner, kept), inputs(refiner, doc), strict=True):
        prior, other = expected.request.prior, found.request.prior
        assert other.heads.tolist() == prior.heads.tolist()
        np.testing.assert_allclose(other.arcs, prior.arcs, rtol=1e-5)
        words = np.flatnonzero(prior.heads)
        np.testing.assert_allclose(other.labels[words], prior.labels[words], rtol=1e-5, atol=1e-5)
    # A second refiner does not read it.
    assert kept._.get(SCORES)["is_prior"]
    assert not refiner(kept)._.get(SCORES)["is_prior"]
    assert [sentence.request.prior for sentence in inputs(refiner, kept)] == [None] * len(SENTENCES)


def test_a_refiner_gives_no_prior(pair: Language):
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser", source=pair)
    config = {"model": pair.get_pipe_config("rng_refiner")["model"]}
    for name in ("first", "second"):
        nlp.add_pipe("rng_refiner", name=name, config=config)
    listening = [nlp.get_pipe(name).listening_components for name in nlp.pipe_names]
    assert listening == [["first", "second"], [], []]


def test_nothing_is_kept_without_a_refiner_that_reads_it(pair: Language):
    assert parsed(make_pair(prior_share=0.0), "g2g_parser")._.get(SCORES) is None
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser", source=pair)
    assert nlp(plain_doc(nlp.vocab, *SENTENCES))._.get(SCORES) is None
    parser: Any = nlp.get_pipe("g2g_parser")
    parses = parser.predict([plain_doc(nlp.vocab, *SENTENCES)]).parses
    assert [parse.scores for parse in parses] == [None] * len(SENTENCES)  # They would fill memory.
    nlp.add_pipe("rng_refiner", source=pair)
    assert parser.listening_components == ["rng_refiner"]
    assert parsed(nlp, "g2g_parser")._.get(SCORES) is not None


@pytest.mark.parametrize(
    ("parsed_sentences", "cut"),
    [
        (SENTENCES, ("she saw the dogs dogs bark",)),
        (SENTENCES, ("she saw the", "dogs dogs bark")),
        (("she saw", "the dogs", "bark at them"), ("she", "saw the", "dogs bark at them")),
    ],
)
def test_other_sentences_than_the_parsers_have_no_prior(
    pair: Language, refiner: Any, parsed_sentences: tuple[str, ...], cut: tuple[str, ...]
):
    """Even if one of them is the same."""
    with pair.select_pipes(enable=["g2g_parser"]):
        doc = pair(plain_doc(pair.vocab, *parsed_sentences))
    other = plain_doc(pair.vocab, *cut)
    other._.set(SCORES, doc._.get(SCORES))
    assert [sentence.request.prior for sentence in inputs(refiner, other)] == [None] * len(cut)


def test_a_doc_keeps_its_priors_in_bytes(pair: Language, doc: Doc, refiner: Any):
    again = Doc(pair.vocab).from_bytes(doc.to_bytes())
    assert trees_and_probs(refiner, again) == trees_and_probs(refiner, doc)
    for sentence in inputs(refiner, again):
        assert isinstance(sentence.request.prior, ArcScores)


def trees_and_probs(refiner: Any, doc: Doc) -> list[Any]:
    """What a refiner makes of a Doc."""
    parses = refiner.predict([doc]).parses
    return [(p.tree.heads.tolist(), p.tree.labels.tolist(), p.label_probs.tolist()) for p in parses]


def test_a_cached_parser_gives_the_same_prior_again(pair: Language):
    cached = CachedParser(pair.get_pipe("g2g_parser"))
    first, again = (list(cached.pipe(treebank_docs(pair.vocab))) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        for x, y in zip(a._.get(SCORES)["sentences"], b._.get(SCORES)["sentences"], strict=True):
            assert all((x[name] == y[name]).all() for name in ("arcs", "labels", "heads"))


def whole_trees(doc: Doc) -> list[list[tuple[int, str]]]:
    """The trees of all sentences of a Doc."""
    return [tree_of(sentence.as_doc()) for sentence in doc.sents]


def test_trees_that_are_certain_are_not_refined(
    pair: Language, parser: Any, refiner: Any, monkeypatch: pytest.MonkeyPatch
):
    text = [[*(token.text for token in doc), "\n"] for doc in treebank_docs(pair.vocab)]

    def trees(*names: str) -> tuple[Doc, list[list[tuple[int, str]]]]:
        with pair.select_pipes(enable=list(names)):
            doc = pair(plain_doc(pair.vocab, *text))
        return doc, whole_trees(doc)

    doc, before = trees("g2g_parser")
    _, refined = trees("g2g_parser", "rng_refiner")
    least = [float(parse.head_probs.min()) for parse in parser.predict([doc]).parses]
    monkeypatch.setattr(refiner, "certain", sorted(least)[5])
    monkeypatch.setattr(refiner, "store_graphs", True)
    doc, found = trees("g2g_parser", "rng_refiner")
    assert doc._.g2g_iterations == [int(probability <= refiner.certain) for probability in least]
    assert sum(doc._.g2g_iterations) == 6
    expected = [new if n else old for old, new, n in zip(before, refined, doc._.g2g_iterations, strict=True)]
    assert found == expected != refined
    assert doc._.g2g_graphs[-1]["heads"] == [token.head.i for token in doc]


@pytest.mark.parametrize(
    "asked",
    [("store_probabilities",), ("keep_scores",), ("store_graphs",), ("store_graphs", "keep_scores")],
    ids=["probabilities", "k best and confidence", "picture", "picture of doubt"],
)
def test_asking_a_refiner_for_more_never_changes_its_trees(
    pair: Language, parser: Any, refiner: Any, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    docs = treebank_docs(pair.vocab)
    sure = sorted(float(p.head_probs.min()) for p in parser.predict([doc.copy() for doc in docs]).parses)
    monkeypatch.setattr(refiner, "certain", sure[5])
    expected = [(tree_of(doc), doc._.g2g_iterations) for doc in pair.pipe(doc.copy() for doc in docs)]
    assert {0, 1} == {n for _, iterations in expected for n in iterations}
    for setting in asked:
        monkeypatch.setattr(refiner, setting, True)
    found = list(pair.pipe(doc.copy() for doc in docs))
    assert [(tree_of(doc), doc._.g2g_iterations) for doc in found] == expected
    if "keep_scores" in asked:
        assert [tree_of(refiner.reparse(doc)) for doc in found] == [tree for tree, _ in expected]
        for doc in found:
            [best] = refiner.kbest(doc, 1)[0]
            assert list(zip(best.heads, best.deps, strict=True)) == tree_of(doc)
            assert len(refiner.confidence(doc)[0].arcs) == len(doc)
    if "store_probabilities" in asked:
        # Those of a certain tree are the parser's.
        doc, before = next((doc, doc.copy()) for doc in docs)
        (parse,) = parser.predict([before]).parses
        refiner.certain = 0.0
        pair(doc)
        assert [token._.g2g_head_prob for token in doc] == pytest.approx(parse.head_probs.tolist())
        assert [token._.g2g_dep_prob for token in doc] == pytest.approx(parse.label_probs.tolist())


def test_a_question_before_the_pass_is_about_the_tree_after_it(doc: Doc, refiner: Any):
    best = [trees[0].heads for trees in refiner.kbest(doc, 1)]
    doc = refiner(doc)
    assert best == [[token.head.i for token in sentence] for sentence in doc.sents]


SURE = Sentence(
    ["dogs", "bark"],
    graph=Arcs(np.array([2, 0]), np.array([1, 0])),
    request=Request(
        prior=ArcScores(
            np.log(np.array([[0.1, 1e-9, 0.9], [0.95, 0.05, 1e-9]], dtype=np.float32)),
            np.zeros((2, 2), dtype=np.float32),
            np.array([-1, -1]),
        )
    ),
)


@pytest.mark.parametrize(
    "changed",
    [
        {"request": Request()},
        {"graph": None},
        {"request": replace(SURE.request, constraints=(Constraint("head", (1,), 2),))},
        {"graph": Arcs(np.array([2, 0]), np.array([-1, 0]))},
        {"graph": Arcs(np.array([2, 0]), np.array([3, 0]))},
        {"graph": Arcs(np.array([2, 0]), np.array([1, 2]))},
        {"graph": Arcs(np.array([2, -1]), np.array([1, -1]))},
        {
            "graph": Arcs(np.array([0, 0]), np.array([0, 0])),
            "request": Request(prior=ArcScores(np.zeros((2, 3)), np.zeros((2, 2)), np.array([-1, -1]))),
        },
    ],
    ids=str,
)
def test_only_a_tree_of_the_parser_alone_is_certain(changed: dict[str, Any]):
    assert keep_if_certain(SURE, 0.89, 3) is not None
    assert keep_if_certain(SURE, 0.91, 3) is None
    assert keep_if_certain(replace(SURE, **changed), 0.89, 3) is None


def test_a_refiner_that_asks_what_is_certain_gets_priors():
    nlp = make_pair(prior_share=0.0, certain=0.0)
    assert nlp(plain_doc(nlp.vocab, *SENTENCES))._.g2g_iterations == [0, 0]
