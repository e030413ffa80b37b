import itertools
import random

import pytest
import smatch as package
from spacy.scorer import PRFScore

from spacy_g2g.amr.evaluation.mapping import best_mapping
from spacy_g2g.amr.evaluation.smatch import smatch
from spacy_g2g.amr.evaluation.triples import Triples, to_triples
from spacy_g2g.amr.formats.amr_file import read_amr_file
from spacy_g2g.amr.formats.penman_text import parse_penman

from ...formats.samples import SHARED

WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
OTHER = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b))"
TEXTS = [
    WANT,
    OTHER,
    '(p / picture :domain (i / it) :topic (b / boa :mod (c / cat) :ARG0-of (s / swallow-01 :quant "6")))',
    "(p / picture :mod (b / big) :mod 1 :ARG1-of 5 :ARG0-of (c / chew-01 :polarity - :mode expressive))",
    "(a / and :op1 (b / boy) :op2 (b2 / boy) :op3 (g / girl :mod (b3 / boy :poss a)))",
    '(c / city :wiki "Paris" :name (n / name :op1 "Paris"))',
    "(m / make-02 :ARG0 i :consist-of (i / i) :time (o / Once))",
    "(a / amr-empty)",
]


def by_package(predicted: str, gold: str, restarts: int) -> tuple[int, int, int]:
    """Matched, predicted and gold triples by the package smatch; a graph a line is what it reads."""
    package.iteration_num = restarts + 1
    random.seed(0)
    found = package.get_amr_match(" ".join(predicted.split()), " ".join(gold.split()))
    package.match_triple_dict.clear()
    return found


def counts(score: PRFScore) -> tuple[int, int, int]:
    """Matched, predicted and gold things."""
    return score.tp, score.tp + score.fp, score.tp + score.fn


def triples_of(text: str) -> Triples:
    return to_triples(parse_penman(text), wiki=True)


def matched_by_all_mappings(a: Triples, b: Triples) -> int:
    """By the definition: the most over all mappings of nodes."""
    if len(a.concepts) > len(b.concepts):
        a, b = b, a
    best = 0
    for mapping in itertools.permutations(range(len(b.concepts)), len(a.concepts)):
        count = sum(concept == b.concepts[mapping[i]] for i, concept in enumerate(a.concepts))
        for (i, role, constant), n in a.constants.items():
            count += min(n, b.constants[mapping[i], role, constant])
        for (i, role, k), n in a.edges.items():
            count += min(n, b.edges[mapping[i], role, mapping[k]])
        best = max(best, count)
    return best


def random_graph(rng: random.Random, n: int) -> str:
    labels = [rng.choice("abc") for _ in range(n)]
    children: dict[int, list[int]] = {i: [] for i in range(n)}
    for i in range(1, n):
        children[rng.randrange(i)].append(i)

    def write(i: int) -> str:
        roles = [f":{rng.choice(['ARG0', 'ARG1', 'mod', 'ARG0-of'])} {write(child)}" for child in children[i]]
        if rng.random() < 0.4:
            roles.append(f":ARG{rng.randrange(2)} v{rng.randrange(n)}")
        if rng.random() < 0.3:
            roles.append(f":polarity {rng.choice('-+')}")
        return f"(v{i} / {labels[i]} {' '.join(roles)})"

    return write(0)


def has_repeated_edges(text: str) -> bool:
    """Whether an edge is there twice, which the package counts by the product."""
    return max(triples_of(text).edges.values(), default=1) > 1


def test_the_score_of_the_example_of_the_package():
    score, _ = smatch([WANT], predicted=[OTHER])
    assert counts(score) == (6, 7, 7)
    assert round(score.fscore, 4) == 0.8571


@pytest.mark.parametrize(("a", "b"), list(itertools.product(TEXTS, repeat=2)))
def test_counts_are_those_of_the_package(a: str, b: str):
    score, _ = smatch([b], predicted=[a], wiki=True)
    assert counts(score) == by_package(a, b, restarts=20)


def test_the_best_mapping_is_found_and_the_package_finds_no_better_one():
    rng = random.Random(0)
    for _ in range(40):
        a, b = random_graph(rng, rng.randint(1, 5)), random_graph(rng, rng.randint(1, 6))
        best = matched_by_all_mappings(triples_of(a), triples_of(b))
        assert best_mapping(triples_of(a), b=triples_of(b))[0] == best
        if not has_repeated_edges(a) and not has_repeated_edges(b):
            assert by_package(a, b, restarts=4)[0] <= best


def test_a_triple_that_is_there_twice_matches_as_often_as_it_is_on_both_sides():
    twice = "(a / x :ARG0 (b / y) :ARG0 b)"
    assert counts(smatch([twice], predicted=[twice])[0]) == (5, 5, 5)
    assert smatch([WANT, twice], predicted=[WANT, "(a / x :ARG0 (b / y))"])[0].tp == 11


def test_a_graph_in_another_order_with_other_variables_is_the_same():
    rng = random.Random(1)
    texts = [random_graph(rng, 25) for _ in range(5)]
    other = []
    for text in texts:
        triples = triples_of(text)
        order = list(range(25))
        rng.shuffle(order)
        new = Triples([""] * 25, type(triples.constants)(), type(triples.edges)())
        for i, concept in enumerate(triples.concepts):
            new.concepts[order[i]] = concept
        for (i, role, constant), n in triples.constants.items():
            new.constants[order[i], role, constant] = n
        for (i, role, k), n in triples.edges.items():
            new.edges[order[i], role, order[k]] = n
        other.append((triples, new))
    assert [best_mapping(a, b=b)[0] for a, b in other] == [a.size for a, _ in other]


def test_the_score_is_the_same_each_time_and_symmetric_in_its_counts():
    rng = random.Random(2)
    gold, predicted = ([random_graph(rng, 12) for _ in range(10)] for _ in range(2))
    first, again = ([*map(counts, smatch(gold, predicted=predicted, seed=3))] for _ in range(2))
    assert first == again
    scores = [smatch([g], predicted=[p], seed=3) for g, p in zip(gold, predicted, strict=True)]
    assert [counts(sum(of_kind, PRFScore())) for of_kind in zip(*scores, strict=True)] == first


@pytest.mark.parametrize("prediction", ["(a / b", "", None, "(a / b) (c / d)", "(a)", "no graph"])
def test_an_ill_formed_prediction_counts_as_an_empty_graph(prediction: str | None):
    score, concepts = smatch([WANT, WANT], predicted=[prediction, WANT])
    assert (counts(score), counts(concepts)) == ((7, 7, 14), (3, 3, 6))
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_nothing_predicted_scores_zero():
    for score in (*smatch([WANT], predicted=[None]), *smatch([], predicted=[])):
        assert (score.precision, score.recall, score.fscore) == (0.0, 0.0, 0.0)


def test_wiki_counts_only_if_wanted():
    plain = '(c / city :name (n / name :op1 "Paris"))'
    assert smatch([TEXTS[5]], predicted=[plain])[0].fscore == 1.0
    assert counts(smatch([TEXTS[5]], predicted=[plain], wiki=True)[0]) == (5, 5, 6)


def test_concepts_are_compared_as_bags():
    assert counts(smatch([WANT, TEXTS[4]], predicted=[OTHER, "(b / boy)"])[1]) == (3, 4, 8)


def test_different_numbers_of_graphs_are_an_error():
    with pytest.raises(ValueError, match="shorter"):
        smatch([WANT, WANT], predicted=[WANT])


@pytest.mark.slow
def test_scores_of_a_real_corpus_are_those_of_the_package():
    path = SHARED.parent / "amr" / "amr-bank-struct-v3.0.txt"
    if not path.is_file():
        pytest.skip("needs the AMRs in ../shared/amr")
    gold = [block.text for block in read_amr_file(path, ids=["lpp_1943.1..145"])]
    rng = random.Random(0)
    predicted = [text.replace("-01", rng.choice(["-01", "-02"])).replace(":ARG0 ", ":ARG8 ") for text in gold]
    pairs = list(zip(predicted, gold, strict=True))
    scores = [counts(smatch([g], predicted=[p], wiki=True)[0]) for p, g in pairs]
    by_other = [by_package(p, g, restarts=4) for p, g in pairs]
    assert [score[1:] for score in scores] == [score[1:] for score in by_other]
    ours, theirs = (sum(score[0] for score in found) for found in (scores, by_other))
    assert theirs <= ours <= theirs + 5
