import pytest

from spacy_g2g.amr.parsing.align_rules import AlignRules
from spacy_g2g.amr.parsing.aligner import LEXICAL, Aligner, Alignment
from spacy_g2g.amr.parsing.graph import AmrGraph
from spacy_g2g.transition.parsing.state import NO_WORD

from .samples import SAMPLES, graph_of, sentence_of


def align(text: str, amr: str, aligner: Aligner | None = None) -> dict[str, tuple[str, str]]:
    """The word and tier of each node by its label, which has to be the only such."""
    graph, sentence = graph_of(amr), sentence_of(text)
    found: Alignment = (aligner or Aligner()).align(graph, sentence)
    words = [sentence.forms[word] if word != NO_WORD else "" for word in found.words]
    return {label: (word, tier) for label, word, tier in zip(graph.labels, words, found.tiers, strict=True)}


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("boy", "a Boy sat", ("exact", ["Boy"])),
        ("sit-01", "a sit", ("exact", ["sit"])),
        ('"Nature"', "nature in Nature", ("exact", ["Nature"])),
        ("6", "at six or 6", ("exact", ["6"])),
        ("i", "my house", ("lemma", ["my"])),
        ("see-01", "he saw it", ("lemma", ["saw"])),
        ("explore-01", "an explorer", ("prefix", ["explorer"])),
        ("make-up-07", "make it up", ("multiword", ["make"])),
        ("magnify-01", "magnificent", ("prefix", ["magnificent"])),
        ("boy", "a cat", ("", [])),
    ],
)
def test_the_first_tier_with_a_word_counts(label: str, text: str, expected: tuple[str, list[str]]):
    sentence = sentence_of(text)
    tier, found = AlignRules(sentence).candidates(label)
    assert (tier, [sentence.forms[word] for word in found]) == expected


def test_equal_words_go_to_different_nodes_near_their_neighbours():
    graph = graph_of(
        "(a / and :op1 (r / red :domain (c / car :mod (o / old)))"
        " :op2 (b / blue :domain (h / house :mod (o2 / old))))"
    )
    found = Aligner().align(graph, sentence_of("old car red and old house blue"))
    by_label = [graph.labels[node] for node in sorted(range(len(graph.labels)), key=lambda n: found.words[n])]
    assert by_label == ["old", "car", "red", "and", "old", "house", "blue"]


def test_names_and_quantities_follow_their_parts():
    found = align(
        "I saw New York for six years",
        '(s / see-01 :ARG1 (c / city :name (n / name :op1 "New" :op2 "York"))'
        " :duration (t / temporal-quantity :quant 6 :unit (y / year)))",
    )
    assert found['"New"'] == ("New", "exact")
    assert found["name"] == ("York", "structure")
    assert found["city"] == ("York", "structure")
    assert found["temporal-quantity"] == ("years", "structure")


def test_constants_without_a_word_and_modifiers_are_dependents():
    found = align("Do not eat it", "(e / eat-01 :polarity - :mode imperative :ARG1 (i / it) :quant 7)")
    assert [found[label] for label in ("-", "imperative", "7")] == [("", "dependent")] * 3


@pytest.mark.parametrize(
    ("unaligned", "expected"), [("neighbour", ("works", "propagated")), ("free_word", ("He", "propagated"))]
)
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
    assert align("he is afraid", amr, aligner)["fear-01"] == ("he", "propagated")
    aligner.learn(corpus)
    assert align("he is afraid", amr, aligner)["fear-01"] == ("afraid", "EM")


def test_markers_go_before_the_rules():
    found = align("boy boy cat", "(b / boy~e.1 :mod (c / cat~e.0 :mod (d / dog~e.9)))")
    assert found["boy"] == ("boy", "marker")
    assert found["cat"] == ("boy", "marker")
    assert found["dog"][1] == "propagated"


@pytest.mark.parametrize("text", [text for text in SAMPLES if text])
def test_every_concept_has_a_word(text: str):
    graph = graph_of(SAMPLES[text])
    found = Aligner().align(graph, sentence_of(text))
    concepts = set(range(len(graph.labels))) - graph.constants
    assert all(found.words[node] != NO_WORD for node in concepts)
    assert {found.tiers[node] for node in concepts} <= {*LEXICAL, "structure", "propagated"}


def test_one_word_takes_all_nodes_even_without_any_match():
    graph = AmrGraph(["x", "y"], [])
    assert Aligner().align(graph, sentence_of("?")).words == [0, 0]
