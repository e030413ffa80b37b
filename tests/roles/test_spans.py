"""Spans of arguments."""

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_g2g.roles.spans import find_span

WORDS = ["the", "man", ",", "who", "slept", ",", "left", "yesterday", "."]
HEADS = [1, 6, 4, 4, 1, 4, 6, 6, 6]
DEPS = ["det", "nsubj", "punct", "nsubj", "acl:relcl", "punct", "root", "advmod", "punct"]


@pytest.mark.parametrize(
    ("head", "predicate", "span"),
    [
        (1, 6, (0, 5)),
        (1, 4, (0, 2)),
        (3, 4, (3, 4)),
        (6, 4, (6, 9 - 1)),
        (7, 6, (7, 8)),
        (2, 6, (2, 3)),
    ],
)
def test_a_span_is_the_subtree_without_the_branch_of_the_predicate(head: int, predicate: int, span: tuple):
    doc = Doc(Vocab(), words=WORDS, heads=HEADS, deps=DEPS)
    assert find_span(doc[head], predicate=doc[predicate]) == span


def test_without_a_tree_a_span_is_the_head():
    doc = Doc(Vocab(), words=WORDS)
    assert find_span(doc[1], predicate=doc[6]) == (1, 2)
