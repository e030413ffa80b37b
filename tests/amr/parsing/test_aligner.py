import pytest

from spacy_g2g.amr.parsing.align_rules import AlignRules
from spacy_g2g.amr.parsing.aligner import Aligner
from spacy_g2g.amr.parsing.graph import AmrGraph
from spacy_g2g.transition.parsing.state import NO_WORD

from .samples import SAMPLES, graph_of, sentence_of


def align(text: str, amr: str, aligner: Aligner | None = None) -> dict[str, str]:
    """The word of each node by its label, which has to be the only such."""
    graph, sentence = graph_of(amr), sentence_of(text)
    found = (aligner or Aligner()).align(graph, sentence)
    words = [sentence.forms[word] if word != NO_WORD else "" for word in found]
    return dict(zip(graph.labels, words, strict=True))


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("boy", "a Boy sat", ["Boy"]),
        ("sit-01", "a sit", ["sit"]),
        ('"Nature"', "nature in Nature", ["Nature"]),
        ("6", "at six or 6", ["6"]),
        ("i", "my house", ["my"]),
        ("see-01", "he saw it", ["saw"]),
        ("make-up-07", "make it up", ["make"]),
        ("explore-01", "an explorer", []),
        ("boy", "a cat", []),
    ],
)
def test_sure_words_are_those_of_the_first_rule_that_has_some(label: str, text: str, expected: list[str]):
    sentence = sentence_of(text)
    assert [sentence.forms[word] for word in AlignRules(sentence).sure_words(label)] == expected


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("explore-01", "an explorer", ["explorer"]),
        ("magnify-01", "magnificent", ["magnificent"]),
        ("boy", "a cat", []),
    ],
)
def test_words_with_a_long_shared_prefix_come_last(label: str, text: str, expected: list[str]):
    sentence = sentence_of(text)
    assert [sentence.forms[word] for word in AlignRules(sentence).prefix_words(label)] == expected


def test_equal_words_go_to_different_nodes_near_their_neighbors():
    graph = graph_of(
        "(a / and :op1 (r / red :domain (c / car :mod (o / old)))"
        " :op2 (b / blue :domain (h / house :mod (o2 / old))))"
    )
    found = Aligner().align(graph, sentence_of("old car red and old house blue"))
    by_label = [graph.labels[node] for node in sorted(range(len(graph.labels)), key=lambda n: found[n])]
    assert by_label == ["old", "car", "red", "and", "old", "house", "blue"]


def test_names_and_quantities_follow_their_parts():
    found = align(
        "I saw New York for six years",
        '(s / see-01 :ARG1 (c / city :name (n / name :op1 "New" :op2 "York"))'
        " :duration (t / temporal-quantity :quant 6 :unit (y / year)))",
    )
    labels = ['"New"', "name", "city", "temporal-quantity"]
    assert [found[label] for label in labels] == ["New", "York", "York", "years"]


def test_constants_without_a_word_and_modifiers_are_dependents():
    found = align("Do not eat it", "(e / eat-01 :polarity - :mode imperative :ARG1 (i / it) :quant 7)")
    assert [found[label] for label in ("-", "imperative", "7")] == [""] * 3


@pytest.mark.parametrize(("unaligned", "expected"), [("neighbor", "works"), ("free_word", "He")])
def test_a_node_that_no_rule_knows_goes_to_its_child_or_beside_it(unaligned, expected):
    aligner = Aligner(unaligned=unaligned)
    assert align("He works", "(p / organism :ARG0-of (w / work-01))", aligner)["organism"] == expected


def test_words_of_concepts_are_learned_from_what_the_rules_leave():
    corpus = [
        (graph_of(f"(f / fear-01 :ARG0 (x / {name}))"), sentence_of(f"{name} is afraid"))
        for name in ("anna", "bob", "carl", "dora", "eve", "fay")
    ]
    # Here "is" is left over beside another concept.
    corpus += [(graph_of(f"(x / {name} :mod (a / able))"), sentence_of(f"{name} is able")) for name in "xyz"]
    corpus += [(graph_of("(o / other-01 :mod (s / such))"), sentence_of("it is such"))] * 9
    aligner = Aligner()
    amr = "(f / fear-01 :ARG0 (h / he))"
    assert align("he is afraid", amr, aligner)["fear-01"] == "he"
    aligner.learn(corpus)
    assert align("he is afraid", amr, aligner)["fear-01"] == "afraid"


def test_markers_go_before_the_rules():
    found = align("boy boy cat", "(b / boy~e.1 :mod (c / cat~e.0 :mod (d / dog~e.9)))")
    assert found == {"boy": "boy", "cat": "boy", "dog": "boy"}


@pytest.mark.parametrize("text", [text for text in SAMPLES if text])
def test_every_concept_has_a_word(text: str):
    graph = graph_of(SAMPLES[text])
    found = Aligner().align(graph, sentence_of(text))
    concepts = set(range(len(graph.labels))) - graph.constants
    assert all(found[node] != NO_WORD for node in concepts)


def test_one_word_takes_all_nodes_even_without_any_match():
    graph = AmrGraph(["x", "y"], [])
    assert Aligner().align(graph, sentence_of("?")) == [0, 0]
