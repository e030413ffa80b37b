import pytest

from spacy_g2g.evaluation.alignment import Span, align_words, check_same_text, place_words
from spacy_g2g.formats.conllu import parse_sentence

from ..formats.samples import row

AU = ("au", ["à", "le"])


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
    made = text("10 000", AU, "bé")
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
        (["\u3000", AU, "b"], ["\u3000", AU, "b"], {0: 0, 1: 1, 2: 2, 3: 3}),
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


#: Tokens of gold and system, and the words that align.
ALIGNED = {
    "same": (["a", "b"], ["a", "b"], {0: 0, 1: 1}),
    "split": (["ab", "c"], ["a", "b", "c"], {1: 2}),
    "joined": (["a", "b", "c"], ["ab", "c"], {2: 1}),
    "crossing": (["ab", "cd", "e"], ["a", "bc", "d", "e"], {2: 3}),
    "multiword forms whatever the case": ([AU], [("au", ["À", "les"])], {0: 0}),
    "the first common subsequence": ([AU], [("au", ["le", "à"])], {1: 0}),
    "multiword against words": ([("au", ["a", "le", "u"])], ["a", "u"], {0: 0, 2: 1}),
    "words against multiword": (["x", "a", "y"], ["x", ("ay", ["y", "a", "z"])], {0: 0, 2: 1}),
    "region grows over multiword tokens of both sides": (
        [("ab", ["p", "q"]), ("cd", ["r", "s"])],
        ["a", ("bc", ["q", "r"]), "d"],
        {1: 1, 2: 2},
    ),
    "word reaching into the region from before": (["abc", "d"], ["a", ("bcd", ["b", "d"])], {1: 2}),
}


@pytest.mark.parametrize(("gold", "system", "expected"), ALIGNED.values(), ids=ALIGNED)
def test_words_align(gold, system, expected):
    assert aligned(text(*gold), text(*system)) == expected
