"""Places in ranks: no overlap, few crossings, the nearest places that there is room for."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.amr.evaluation.layered import Item, Link, count_crossings, place_items, spread

SIZES = st.integers(1, 40)


@st.composite
def drawings(draw) -> tuple[list[Item], list[Link]]:
    """Items of up to five ranks, and links between some of them."""
    ranks = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    items = [Item(rank, draw(SIZES), draw(SIZES)) for rank, n in enumerate(ranks) for _ in range(n)]
    indices = range(len(items))
    pairs = [(a, b) for a in indices for b in indices if items[b].rank == items[a].rank + 1]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=15)) if pairs else []
    return items, [Link(a, b, draw(st.sampled_from([0.5, 2.0, 8.0]))) for a, b in chosen]


@given(drawings())
def test_items_of_a_rank_do_not_overlap_and_all_begin_at_zero(drawing):
    items, links = drawing
    places = place_items(items, links)
    assert min(x - item.left for x, item in zip(places, items, strict=True)) == pytest.approx(0)
    for (x, one), (y, other) in combinations(zip(places, items, strict=True), 2):
        if one.rank == other.rank:
            left, right = ((one, x), (other, y)) if x < y else ((other, y), (one, x))
            assert left[1] + left[0].right <= right[1] - right[0].left + 1e-6


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_crossings_are_those_of_each_pair_of_lines(pairs):
    slow = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(pairs, 2))
    assert count_crossings(pairs) == slow


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5), st.integers(0, 30)), min_size=1, max_size=6)
)
def test_no_small_move_brings_places_nearer_to_those_wanted(rows):
    wanted, weights, gaps = (list(column) for column in zip(*rows, strict=True))
    found = spread(wanted, weights, gaps)
    assert all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(found), gaps[1:], strict=True))

    def cost(places):
        return sum(w * (x - y) ** 2 for x, y, w in zip(places, wanted, weights, strict=True))

    # Convex: if no run of places can move, none can.
    for start in range(len(found)):
        for end in range(start + 1, len(found) + 1):
            for move in (-0.01, 0.01):
                moved = [x + move * (start <= i < end) for i, x in enumerate(found)]
                if all(b - a >= gap for (a, b), gap in zip(pairwise(moved), gaps[1:], strict=True)):
                    assert cost(moved) >= cost(found) - 1e-6


def test_crossing_lines_are_untangled():
    items = [Item(0, 5, 5), *(Item(1, 5, 5) for _ in range(3)), *(Item(2, 5, 5) for _ in range(3))]
    links = [Link(0, 1, 1), Link(0, 2, 1), Link(0, 3, 1), Link(1, 6, 1), Link(2, 5, 1), Link(3, 4, 1)]
    places = place_items(items, links)
    middle = sorted((1, 2, 3), key=places.__getitem__)
    assert sorted((4, 5, 6), key=places.__getitem__) == [7 - item for item in middle]


def test_a_node_stands_over_the_middle_of_its_own():
    items = [Item(0, 5, 5), Item(1, 10, 10), Item(1, 30, 30)]
    places = place_items(items, [Link(0, 1, 1), Link(0, 2, 1)])
    assert places[0] == pytest.approx((places[1] + places[2]) / 2, abs=0.1)


def test_nothing_has_no_places():
    assert place_items([], []) == []
