import pytest

from spacy_g2g.data.enhanced import deps_cell, read_deps
from spacy_g2g.formats.conllu import ConlluSentence
from spacy_g2g.formats.graph import Graph

from ..formats.samples import SAMPLE, read


def sample(**cells: str) -> ConlluSentence:
    """The first sentence of the sample, with other text in its lines."""
    text = SAMPLE
    for old, new in cells.values():
        assert old in text
        text = text.replace(old, new)
    return read(text)[0]


def test_graph_of_deps_has_several_heads_and_passes_empty_nodes() -> None:
    graph = read_deps(sample())
    assert graph[7] == [(1, "obl"), (1, "dep>dep")]
    assert graph[0] == [(0, "root")]


def test_words_without_deps_have_no_arcs_and_a_sentence_of_such_has_no_graph() -> None:
    graph = read_deps(sample(a=("1:obl|8.1:dep", "_")))
    assert graph[7] == []
    assert read_deps(read()[1]) == [[]]


def test_an_empty_node_is_passed_once() -> None:
    cycle = sample(a=("\t1:dep\t_", "\t8.1:ref|1:dep\t_"))
    graph = read_deps(cycle)
    assert graph[7] == [(1, "obl"), (1, "dep>dep")]


@pytest.mark.parametrize("cell", ["1", "1:", "99:obl", "8.2:dep", "x:obl", "1:obl||2:obj", ""])
@pytest.mark.parametrize("old", ["1:obl|8.1:dep", "\t1:dep\t"], ids=["word", "empty node"])
def test_a_broken_cell_is_an_error_with_its_line(old: str, cell: str) -> None:
    new = f"\t{cell}\t" if old[0] == "\t" else cell
    with pytest.raises(ValueError, match=r"G2G-E311.*line 13"):
        read_deps(sample(a=(old, new)))


def test_cells_are_sorted_by_heads() -> None:
    assert deps_cell([(10, "nsubj"), (2, "nsubj"), (2, "conj:and")]) == "2:conj:and|2:nsubj|10:nsubj"
    assert deps_cell([]) == "_"


def test_a_graph_of_arcs_has_all_of_them_as_links() -> None:
    graph = Graph.from_arcs([[(2, "nsubj"), (3, "nsubj:xsubj")], [(0, "root")], []])
    assert (list(graph.heads), list(graph.deps)) == ([2, 0, -1], ["nsubj", "root", ""])
    assert graph.links == [(1, 2, "nsubj"), (2, 0, "root"), (3, -1, ""), (1, 3, "nsubj:xsubj")]
