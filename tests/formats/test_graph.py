"""Graphs over words: cycles and trees are those of networkx, and arcs are given back as they came."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.formats.graph import MISSING, Arc, Graph, universal
from spacy_g2g.trees.tree import is_tree

DEPS = st.sampled_from(["root", "ROOT", "nsubj", "nmod:poss", ""])
ANY_HEADS = st.integers(0, 8).flatmap(lambda n: st.lists(st.integers(-1, n), min_size=n, max_size=n))


@given(st.lists(st.lists(st.tuples(st.integers(0, 8), DEPS), max_size=3), max_size=8))
def test_a_graph_gives_its_arcs_back(arcs: list[list[Arc]]) -> None:
    graph = Graph.from_arcs(arcs)
    firsts = [of_word[0] if of_word else (MISSING, "") for of_word in arcs]
    assert [graph.arc(word) for word in range(1, len(arcs) + 1)] == firsts
    further = [(word, *arc) for word, of_word in enumerate(arcs, start=1) for arc in of_word[1:]]
    assert graph.links == [(word, *arc) for word, arc in enumerate(firsts, start=1)] + further
    assert graph.is_empty == (not any(arcs))


@given(ANY_HEADS)
def test_cycles_are_those_of_networkx(heads: list[int]) -> None:
    graph = Graph(heads, ["x"] * len(heads))
    whole = nx.DiGraph((word, head) for word, head in enumerate(heads, start=1) if head > 0)
    found = [*graph.cycles()]
    assert sorted(map(sorted, found)) == sorted(map(sorted, nx.simple_cycles(whole)))
    for cycle in found:
        assert [heads[word - 1] for word in cycle] == [*cycle[1:], cycle[0]]
    assert graph.find_cycle() == (found[0] if found else [])


@given(ANY_HEADS.filter(bool), st.data())
def test_a_tree_has_all_heads_and_a_whole_one_all_labels(heads: list[int], data: st.DataObject) -> None:
    deps = data.draw(st.lists(DEPS, min_size=len(heads), max_size=len(heads)))
    graph = Graph(heads, deps)
    assert graph.is_tree == (MISSING not in heads and is_tree(heads))
    assert graph.is_whole == (graph.is_tree and all(deps))
    assert graph.is_empty == (set(heads) == {MISSING})


def test_roots_alone_get_the_label_of_universal_dependencies() -> None:
    graph = Graph([0, 1, 0, -1], ["ROOT", "ROOT", "dep", "ROOT"], more=[[(2, "ROOT")], [], [], []])
    assert graph.with_ud_root() == Graph([0, 1, 0, -1], ["root", "ROOT", "dep", "ROOT"], more=graph.more)
    with pytest.raises(ValueError, match="argument"):
        Graph([0, 1], ["ROOT"]).with_ud_root()


def test_a_label_without_its_subtypes_ends_at_the_first_colon() -> None:
    assert [*map(universal, ["nmod", "nmod:poss", "a:b:c", ""])] == ["nmod", "nmod", "a", ""]
