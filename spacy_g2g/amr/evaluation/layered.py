"""Places for the items of a layered drawing: ranks from the top downwards, few crossings, no overlap.

After Sugiyama, Tagawa and Toda: Methods for visual understanding of hierarchical system structures (1981):
order within ranks by barycentres, then places by least squares. Lengths are in px.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

ORDER_SWEEPS = 12
PLACE_SWEEPS = 40
NEAR = 0.1  # an end of sweeps that move nothing farther


class Item(NamedTuple):
    """Something that takes room in a rank.

    rank: From 0, the top. left, right: Room on both sides of its axis, with what is to stay free.
    """

    rank: int
    left: float
    right: float


class Link(NamedTuple):
    """A line from an item to one of the next rank. weight: How much it wants to be short, above 0."""

    upper: int
    lower: int
    weight: float


def place_items(items: Sequence[Item], links: Sequence[Link]) -> list[float]:
    """The place of each item's axis, such that no items of a rank overlap; the room begins at 0.

    items: In the order in which they are to stand in their ranks, but for crossings.
    """
    ranks: list[list[int]] = [[] for _ in range(1 + max((item.rank for item in items), default=-1))]
    for index, item in enumerate(items):
        ranks[item.rank].append(index)
    near: list[tuple[list[Link], list[Link]]] = [([], []) for _ in items]  # to the ranks above and below
    for link in links:
        near[link.upper][1].append(link)
        near[link.lower][0].append(link)
    ranks = _order(ranks, near)
    places = [0.0] * len(items)
    prepared = [_Rank.of(rank, items, near) for rank in ranks]
    for _ in range(PLACE_SWEEPS):
        if max((_pull(rank, places) for rank in (*prepared, *reversed(prepared))), default=0.0) < NEAR:
            break
    start = min((place - item.left for item, place in zip(items, places, strict=True)), default=0.0)
    return [place - start for place in places]


def count_crossings(pairs: Iterable[tuple[int, int]]) -> int:
    """How many of the lines between two ranks cross. pairs: Positions of each line's ends."""
    crossings = 0
    seen: list[int] = []
    for _, lower in sorted(pairs):
        crossings += len(seen) - bisect_right(seen, lower)
        insort(seen, lower)
    return crossings


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to those that are wanted, by weighted least squares, with the gaps between them.

    gaps: Least distance of each place to the one before; that of the first is not looked at.
    """
    offsets = [0.0] * len(wanted)
    for index in range(1, len(wanted)):
        offsets[index] = offsets[index - 1] + gaps[index]
    # Pool adjacent violators: blocks of (mean, weight, size) with rising means.
    blocks: list[tuple[float, float, int]] = []
    for place, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, size = place - offset, 1
        while blocks and blocks[-1][0] >= mean:
            other, other_weight, other_size = blocks.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, size = weight + other_weight, size + other_size
        blocks.append((mean, weight, size))
    means = [mean for mean, _, size in blocks for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


_Near = Sequence[tuple[list[Link], list[Link]]]


class _Rank(NamedTuple):
    """What places in a rank depend on: for each item its neighbours with weights, their sum, and its gap."""

    items: Sequence[int]
    near: list[list[tuple[int, float]]]
    weights: list[float]
    gaps: list[float]

    @classmethod
    def of(cls, rank: Sequence[int], items: Sequence[Item], near: _Near) -> "_Rank":
        others = [
            [(link.upper, link.weight) for link in near[item][0]]
            + [(link.lower, link.weight) for link in near[item][1]]
            for item in rank
        ]
        weights = [sum(weight for _, weight in own) or 1.0 for own in others]
        gaps = [0.0, *(items[one].right + items[other].left for one, other in pairwise(rank))]
        return cls(rank, others, weights, gaps)


def _order(ranks: list[list[int]], near: _Near) -> list[list[int]]:
    """The ranks in the order that gave the fewest crossings."""
    best, fewest = ranks, _all_crossings(ranks, near)
    for sweep in range(ORDER_SWEEPS):
        if fewest == 0:
            break
        is_down = sweep % 2 == 0
        ranks = [list(rank) for rank in ranks]
        positions = {item: position for rank in ranks for position, item in enumerate(rank)}
        for rank in ranks[1:] if is_down else reversed(ranks[:-1]):
            _sort(rank, near, positions, 0 if is_down else 1)
        crossings = _all_crossings(ranks, near)
        if crossings < fewest:
            best, fewest = ranks, crossings
    return best


def _sort(rank: list[int], near: _Near, positions: dict[int, int], side: int) -> None:
    """Sort the items of a rank by the mean position of those on one side; items without any stay."""
    slots = [slot for slot, item in enumerate(rank) if near[item][side]]
    means = {}
    for slot in slots:
        others = [link.lower if side else link.upper for link in near[rank[slot]][side]]
        means[rank[slot]] = sum(positions[other] for other in others) / len(others)
    for slot, item in zip(slots, sorted(means, key=means.__getitem__), strict=True):
        rank[slot] = item
    positions.update((item, position) for position, item in enumerate(rank))


def _all_crossings(ranks: Sequence[Sequence[int]], near: _Near) -> int:
    positions = {item: position for rank in ranks for position, item in enumerate(rank)}
    return sum(
        count_crossings(
            (positions[link.upper], positions[link.lower]) for item in rank for link in near[item][1]
        )
        for rank in ranks
    )


def _pull(rank: _Rank, places: list[float]) -> float:
    """Move the items of a rank to the means of their neighbours, as far as there is room; the longest way."""
    wanted = [
        sum(places[other] * weight for other, weight in others) / total if others else places[item]
        for item, others, total in zip(rank.items, rank.near, rank.weights, strict=True)
    ]
    furthest = 0.0
    for item, place in zip(rank.items, spread(wanted, rank.weights, rank.gaps), strict=True):
        furthest = max(furthest, abs(places[item] - place))
        places[item] = place
    return furthest
