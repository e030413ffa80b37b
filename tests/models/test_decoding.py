"""A word has one subject at most: in the best trees of a sentence and in the trees of a parser."""

from collections import Counter

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.models.decoding import best_parses
from spacy_g2g.models.types import ArcScores
from spacy_g2g.pipeline.labels import find_subjects
from spacy_g2g.trees.constraints import Constraint

from ..util import make_nlp, parser_of, randomize

N, N_LABELS, SUBJECTS = 6, 5, (1, 3)
RNG = np.random.default_rng(8)
#: Words, heads and labels in which every label of UD that this file needs occurs.
WORDS = ["who", "saw", "what", "she", "said"]
HEADS, DEPS = [1, 1, 4, 4, 1], ["nsubj", "root", "obj", "nsubj", "ccomp"]


def random_scores() -> ArcScores:
    arcs, labels = RNG.normal(size=(N, N + 1)), RNG.normal(size=(N, N, N_LABELS - 1))
    return ArcScores(arcs.astype(np.float32), labels.astype(np.float32))


def n_subjects(heads: np.ndarray, labels: np.ndarray) -> int:
    """The most subjects that a word has."""
    return max(Counter(heads[np.isin(labels, SUBJECTS)].tolist()).values(), default=0)


def test_less_probable_subjects_get_their_best_other_label():
    n_changed = 0
    for _ in range(200):
        scores = random_scores()
        (free,), (limited,) = best_parses(scores), best_parses(scores, 1, (), SUBJECTS)
        assert (free.tree.heads == limited.tree.heads).all()
        assert n_subjects(limited.tree.heads, limited.tree.labels) <= 1
        changed = np.flatnonzero(free.tree.labels != limited.tree.labels)
        n_changed += len(changed)
        for word in changed.tolist():
            head = free.tree.heads[word]
            rivals = np.isin(limited.tree.labels, SUBJECTS) & (limited.tree.heads == head)
            assert free.label_probs[word] <= limited.label_probs[rivals].max()
            others = scores.labels[word, head - 1].copy()
            others[np.array(SUBJECTS) - 1] = -np.inf
            assert limited.tree.labels[word] == others.argmax() + 1
            assert limited.label_probs[word] == pytest.approx(np.exp(others.max()))
    assert n_changed > 50


def test_a_label_that_a_constraint_demands_stays():
    scores = random_scores()
    heads = [Constraint("head", (word,), 6) for word in range(1, N)]
    labels = [Constraint("label", (word,), SUBJECTS[0]) for word in (1, 2)]
    (parse,) = best_parses(scores, 1, [*heads, *labels], SUBJECTS)
    assert parse.tree.labels[:2].tolist() == [SUBJECTS[0]] * 2
    assert not np.isin(parse.tree.labels[2:], SUBJECTS).any()


def test_a_treebank_with_several_subjects_of_many_words_has_no_limit():
    vocab = Vocab()
    docs = [Doc(vocab, words=WORDS, heads=HEADS, deps=DEPS) for _ in range(60)]
    two = Doc(
        vocab, words=WORDS, heads=[1, 1, 1, 4, 1], deps=["nsubj", "root", "nsubj:pass", "nsubj", "ccomp"]
    )
    outer = Doc(
        vocab, words=WORDS, heads=[1, 1, 1, 4, 1], deps=["nsubj:outer", "root", "csubj", "obj", "dep"]
    )
    assert find_subjects([*docs, outer]) == ["csubj", "nsubj"]
    assert find_subjects([*docs, two]) == ["nsubj", "nsubj:pass"]
    assert find_subjects([*docs[:5], two]) == []
    assert find_subjects([]) == []


@pytest.fixture(params=["g2g_parser", "rng_refiner"])
def nlp(request: pytest.FixtureRequest) -> Language:
    """A parser with random weights that calls many words subjects."""
    nlp = make_nlp(factory=request.param)
    doc = Doc(nlp.vocab, words=WORDS, heads=HEADS, deps=DEPS)
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=WORDS), doc)])
    randomize(parser_of(nlp).model, 1, scale=0.25)
    return nlp


def test_a_parser_gives_each_word_one_subject_at_most(nlp: Language):
    parser = parser_of(nlp)
    assert [parser.labels[i] for i in parser.subjects] == ["nsubj"]
    texts = [RNG.permutation(WORDS * 3)[: n + 8].tolist() for n in range(8)]

    def make_doc(words: list[str]) -> Doc:
        return Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])

    limited = [*nlp.pipe(map(make_doc, texts))]
    alone = [nlp(make_doc(words)) for words in texts]
    parser.cfg["subjects"] = []
    free = [*nlp.pipe(map(make_doc, texts))]

    def subjects(doc: Doc) -> Counter[int]:
        return Counter(token.head.i for token in doc if token.dep_ == "nsubj")

    for doc, other in zip(limited, alone, strict=True):
        assert max(subjects(doc).values(), default=0) <= 1
        assert [token.dep_ for token in doc] == [token.dep_ for token in other]
    for doc, other in zip(limited, free, strict=True):
        assert [token.head.i for token in doc] == [token.head.i for token in other]
    assert max(max(subjects(doc).values(), default=0) for doc in free) > 1
