import pytest

from spacy_g2g.evaluation.alignment import Span, align_words, check_same_text, place_words
from spacy_g2g.formats.conllu import parse_sentence

from ..formats.samples import row


def text(*tokens):
    """A text of one sentence. A token is a form, or a form and the forms of its words."""
    lines, n = [], 0
    for token in tokens:
        form, words = (token, [token]) if isinstance(token, str) else token
        if not isinstance(token, str):
            lines.append(row(f"{n + 1}-{n + len(words)}", form, "_"))
        for word in words:
            n += 1
            lines.append(row(str(n), word, str(n - 1)))
    return place_words([parse_sentence(lines)])


def aligned(gold, system):
    return align_words(gold.words, system=system.words)


def test_tokens_cover_characters_without_white_space():
    made = text("10 000", ("au", ["à", "le"]), "bé")
    assert made.characters == "10000aubé"
    assert made.tokens == [Span(0, 5), Span(5, 7), Span(7, 9)]
    assert made.sentences == [Span(0, 9)]
    assert [word.span for word in made.words] == [Span(0, 5), Span(5, 7), Span(5, 7), Span(7, 9)]


def test_heads_are_indices_of_the_whole_text():
    made = place_words([parse_sentence([row("1"), row("2", head="1"), row("3", head="_")])] * 2)
    assert [word.head for word in made.words] == [-1, 0, None, -1, 3, None]


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        (["a", "\u3000", "b"], ["a", "\u3000", "b"], {0: 0, 1: 1, 2: 2}),
        (["a", "\u3000", "\u00a0", "b"], ["a", "b"], {0: 0, 3: 1}),
        (["ab", "c"], ["\u3000", "ab", "\u3000", "c"], {0: 1, 1: 3}),
        (["ab", "\u3000", "c"], ["a", "b", "\u3000", "c"], {1: 2, 2: 3}),
        (
            ["\u3000", ("au", ["à", "le"]), "b"],
            ["\u3000", ("au", ["à", "le"]), "b"],
            {0: 0, 1: 1, 2: 2, 3: 3},
        ),
        ([("\u3000", ["x", "y"]), "b"], [("\u3000", ["x", "y"]), "b"], {0: 0, 1: 1, 2: 2}),
    ],
)
def test_tokens_of_white_space_cover_no_character_and_are_aligned(gold, system, expected):
    made = text(*gold)
    assert made.characters == "".join(made.characters.split())
    assert aligned(made, text(*system)) == expected


def test_other_texts_are_an_error_at_the_first_difference():
    with pytest.raises(ValueError, match=r"E605.*character 3 on.*'d' and 'xd'"):
        check_same_text(text("ab", "c", "d"), system=text("abc", "xd"))
    with pytest.raises(ValueError, match=r"E605.*character 2 on.*'c' and ''"):
        check_same_text(text("ab", "c"), system=text("ab"))


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        (text("a", "b"), text("a", "b"), {0: 0, 1: 1}),
        (text("ab", "c"), text("a", "b", "c"), {1: 2}),
        (text("a", "b", "c"), text("ab", "c"), {2: 1}),
        (text("ab", "cd", "e"), text("a", "bc", "d", "e"), {2: 3}),
        (text(("au", ["à", "le"])), text(("au", ["À", "les"])), {0: 0}),
        (text(("au", ["à", "le"])), text(("au", ["le", "à"])), {1: 0}),
        (text(("au", ["a", "le", "u"])), text("a", "u"), {0: 0, 2: 1}),
        (text("x", "a", "y"), text("x", ("ay", ["y", "a", "z"])), {0: 0, 2: 1}),
        (text(("ab", ["p", "q"]), ("cd", ["r", "s"])), text("a", ("bc", ["q", "r"]), "d"), {1: 1, 2: 2}),
        (text("abc", "d"), text("a", ("bcd", ["b", "d"])), {1: 2}),
    ],
    ids=[
        "same",
        "split",
        "joined",
        "crossing",
        "multiword forms whatever the case",
        "longest common subsequence, the first of several",
        "multiword against words",
        "words against multiword",
        "region grows over multiword tokens of both sides",
        "word reaching into the region from before",
    ],
)
def test_words_align(gold, system, expected):
    assert aligned(gold, system) == expected
