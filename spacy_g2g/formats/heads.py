"""Cycles of heads in plain Python, for sentences that need not be trees."""

from collections.abc import Sequence


def find_cycle(heads: Sequence[int | None]) -> list[int]:
    """Return the IDs of the words in a cycle, or [] if the heads have no cycle.

    heads: ID of each word's head, counted from 1; 0 for the root, None if the head is missing.
    """
    visited = [0] * (len(heads) + 1)  # start of the walk that first reached the word
    for start in range(1, len(heads) + 1):
        word: int | None = start
        while word and not visited[word]:
            visited[word] = start
            word = heads[word - 1]
        if word and visited[word] == start:
            cycle = [word]
            while (head := heads[cycle[-1] - 1]) is not None and head != word:
                cycle.append(head)
            return cycle
    return []
