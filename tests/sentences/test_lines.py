"""Lines of texts, and the blocks that they form."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_g2g.data.segmentation import segment
from spacy_g2g.sentences.lines import (
    N_FEATURES,
    Line,
    WhiteSpace,
    block_starts,
    find_lines,
    read_white_space,
    room,
)

from ..util import tries

NLP = spacy.blank("en")


def read(*texts: str) -> tuple[list[Doc], WhiteSpace]:
    docs = [NLP.make_doc(text) for text in texts]
    return docs, read_white_space(docs, segment(docs))


def lines_of(text: str) -> list[Line]:
    doc = NLP.make_doc(text)
    return list(find_lines(text, [token.idx for token in doc if not token.is_space]))


def block_texts(text: str) -> list[str]:
    """The words of each block, joined by spaces."""
    doc = NLP.make_doc(text)
    words = [token.text for token in doc if not token.is_space]
    starts = np.flatnonzero(read_white_space([doc], segment([doc])).is_block).tolist()
    return [" ".join(words[start:end]) for start, end in pairwise([0, *starts, len(words)])]


def test_lines_know_their_words_indents_and_lengths():
    first, second, third = lines_of("Tea  time\n\n   is over now  \nBye")
    assert first == Line(
        word=0, text=0, n_breaks=2, indent=0, length=9, first=3, depth=0, kind="capital", is_ended=False
    )
    assert second == Line(
        word=2, text=2, n_breaks=2, indent=3, length=14, first=2, depth=0, kind="small", is_ended=False
    )
    assert third == Line(
        word=5, text=5, n_breaks=1, indent=0, length=3, first=3, depth=0, kind="capital", is_ended=False
    )


def test_bare_words_follow_no_mark_and_no_break():
    docs, found = read(
        "Ann left (today) for\nRome :) So\u00a0she  did", "Why? \u0928\u092e\u0938\u094d\u0924\u0947 Bob!", ""
    )
    words = [token.text for doc in docs for token in doc if not token.is_space]
    bare = [words[i] for i in np.flatnonzero(found.is_bare)]
    assert bare == ["left", "(", ")", ":)", "she", "?", "Bob", "!"]


KINDS = {
    "item": [
        *("- tea", "* tea", "\u2022 tea", "- - tea"),
        *("[10:32] <ann> tea", "(9:05 pm) tea", "[26.11.26, 10:32:05] Ann: tea"),
        *("26/11/2026, 10:32 - Ann: tea", "2026-11-26 10:32:05,123 INFO tea", "2026-11-26T10:32:05Z tea"),
    ],
    "number": ["1. tea", "(2) tea", "b) tea", "iv. tea", "\u03b2) tea", "\uac00. tea", "\u0663. tea"],
    "heading": ["# Tea", "###### Tea", "Ann  10:32 AM", "ann lee\t9:05"],
    "row": ["| tea | milk |"],
    "rule": ["---", "=====", "***", "- - -", "*  *  *", "```python", "-- "],
    "capital": ["Tea", "Tea at 10:32"],
    "small": ["tea"],
    "other": [
        "10:32 and later",
        "[10:32]",
        "(10:32, tea)",
        "-5 degrees",
        "*tea* is hot",
        "1.5 litres",
        "2026. ",
        "#tea",
        "5 cups",
    ],
}


@pytest.mark.parametrize(("text", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts])
def test_kinds_of_lines(text: str, kind: str):
    (line,) = lines_of(text)
    assert line.kind == kind
    # The marks of a quotation are before all others.
    (quoted,) = lines_of(f"> > {text}")
    assert (quoted.kind, quoted.depth) == (kind, 2)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\f", "\x0b", "\u2028"])
def test_all_line_breaks_are_alike(newline: str):
    lines = lines_of(newline.join(["Tea time", "- one", "- two", "", "End"]))
    found = [(line.n_breaks, line.length, line.kind) for line in lines]
    assert found == [(2, 8, "capital"), (1, 5, "item"), (1, 5, "item"), (2, 3, "capital")]


def test_white_space_before_the_first_word_and_empty_quotations():
    assert [(line.word, line.n_breaks, line.indent) for line in lines_of("\n\n  tea\n")] == [(0, 4, 2)]
    # A line of quotation marks alone parts paragraphs as a blank line does.
    lines = lines_of("> tea\n>\n> milk")
    assert [(line.n_breaks, line.depth) for line in lines] == [(2, 1), (2, 1)]
    assert lines_of("") == lines_of(" \n\t\n") == []


@pytest.mark.parametrize("mark", ["\u0589", "\u06d4", "\u061f", "\u0964", "\u3002", "\u1362"])
def test_marks_of_other_scripts_end_sentences_as_a_full_stop_does(mark: str):
    for other, is_same in ((mark, True), (",", False)):
        docs = [Doc(NLP.vocab, words=["a", each, "b", each, "c"]) for each in (".", other)]
        one, two = (read_white_space([doc], segment([doc])).features for doc in docs)
        assert (one == two).all() == is_same


def test_words_with_white_space_inside():
    # The second word covers a line break, and no word starts the second line.
    text = "a b\nc d"
    assert [line.word for line in find_lines(text, [0, 2, 6])] == [0]
    assert [line.word for line in find_lines(text, [0, 2, 4, 6])] == [0, 2]
    docs = [Doc(NLP.vocab, words=["a", "b\nc", "\n\n", "d"], spaces=[True, False, False, False])]
    assert read_white_space(docs, segment(docs)).is_block.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "blocks",
    [
        ["Tea time", "\n\n", "Milk time"],
        ["Tea time", "\n \t\n", "Milk time"],
        ["Tea time", "\r\n\r\n", "Milk time"],
        ["Notes", "\n", "# Tea", "\n", "It is hot"],
        ["We buy", "\n", "- tea", "\n", "- milk\nand sugar", "\n", "* eggs"],
        ["Steps", "\n", "1. Boil", "\n", "2. Pour", "\n", "a) Drink"],
        ["Prices", "\n", "| tea | 2 |", "\n", "| milk | 1 |", "\n", "All in euros"],
        ["Above", "\n", "-----", "\n", "below"],
        ["He wrote", "\n", "> come\n> here", "\n", "> > no", "\n", "I did"],
        ["a line\nof a paragraph\nthat goes on"],
        # Marks of a quotation without text go with the text behind them where the quotation begins.
        ["He wrote", "\n", ">\n> come\n>", "\n", "> here"],
        ["He wrote", "\n\n", ">\n> come\n>", "\n", "> > no\n> >", "\n", "> > never"],
    ],
    ids=str,
)
def test_blocks(blocks: list[str]):
    expected = [
        " ".join(token.text for token in NLP.make_doc(block) if not token.is_space) for block in blocks[::2]
    ]
    assert block_texts("".join(blocks)) == expected


def test_a_wrapped_line_that_begins_with_a_dash_is_no_item():
    wrapped = "the committee met on the first day\n- a Monday as it happens - and left\nearly for the coast"
    assert block_starts(lines_of(wrapped)) == [True, False, False]
    # With room for the dash, the writer broke the line on purpose.
    assert block_starts(lines_of(wrapped.replace(" on the first day", ""))) == [True, True, False]
    # In a list, a full line before an item says nothing.
    listed = "- the committee met on the first day\n- a Monday as it happens and all left"
    assert block_starts(lines_of(listed)) == [True, True]


@pytest.mark.parametrize(
    "end", ["?", "!!", "...", "\u3002", "? \U0001f602\U0001f602", "!\U0001f44d\U0001f3fd", "! :-)", "? <3"]
)
def test_a_line_after_the_end_of_a_sentence_starts_a_block_whatever_its_first_letter(end: str):
    assert block_starts(lines_of(f"you are coming{end}\nsure")) == [True, True]


def test_a_greek_question_ends_its_line():
    question, yes = "\u03ad\u03c1\u03c7\u03b5\u03c3\u03b1\u03b9;", "\u03bd\u03b1\u03b9"
    assert block_starts(lines_of(f"{question}\n{yes}")) == [True, True]
    assert block_starts(lines_of(f"come;\n{yes}")) == [True, False]


@pytest.mark.parametrize("end", ["", ".", ",", '?"', "?\u201d", "? \u00bb", "!)", "**", "?\u2019"])
def test_a_sentence_may_go_on_after_other_marks_at_the_end_of_a_line(end: str):
    assert block_starts(lines_of(f"you are coming{end}\nsure")) == [True, False]


def test_a_wrapped_line_after_the_end_of_a_sentence_is_no_block():
    wrapped = "he shouted Wait for me, I am nearly there!\nand ran after them as fast as he could"
    assert block_starts(lines_of(wrapped)) == [True, False]
    # With room for the next word, the writer broke the line on purpose.
    assert block_starts(lines_of(wrapped.replace(", I am nearly there", ""))) == [True, True]


@pytest.mark.parametrize(
    "middle", ["?" * 10**5, "? " + "\U0001f602" * 10**5, "?" + " " * 10**5, "?!." * 10**5]
)
def test_the_end_of_a_line_is_found_in_time_that_grows_with_its_length(middle: str):
    assert [line.is_ended for line in find_lines(f"{middle}a", [0])] == [False]


def test_room_is_what_the_line_before_had_left():
    lines = lines_of("twelve chars\nfour six\nten")
    assert room(lines, 1) == 12 - 12 - 1 - 4
    assert room(lines, 2) == 12 - 8 - 1 - 3
    assert block_starts([]) == []


def test_a_text_does_not_depend_on_the_others():
    texts = ["Tea\n\n- milk\n- eggs", "", "\n", "Go!! Now", "  \nOne line\nand another.", "a"]
    docs, all_texts = read(*texts)
    edges = np.cumsum([0, *(sum(not token.is_space for token in doc) for doc in docs)])
    assert all_texts.features.shape == (edges[-1], N_FEATURES)
    for text, (start, end) in zip(texts, pairwise(edges.tolist()), strict=True):
        _, own = read(text)
        for found, expected in zip(all_texts, own, strict=True):
            np.testing.assert_array_equal(found[start:end], expected)


def test_repeated_marks_are_known():
    words = ["?", "?", "?", "=", "=", "a", "a", "1", "1", "!", "?", "!"]
    spaces = [False] * 10 + [True, False]
    docs = [Doc(NLP.vocab, words=words, spaces=spaces), Doc(NLP.vocab, words=["!", "!"], spaces=[True] * 2)]
    repeated = read_white_space(docs, segment(docs)).is_joined
    assert np.flatnonzero(repeated).tolist() == [1, 2, 4]


def test_parts_of_a_character_are_known():
    """spaCy makes tokens of the parts of an emoji, of which each could start a sentence."""
    texts = [
        "\U0001f468\u200d\U0001f469 \u2764\ufe0f \U0001f44d\U0001f3fd",
        "\U0001f1fa\U0001f1f8 so\U0001f1fa",
        "\u200d",
    ]
    docs, found = read(*texts)
    words = [token.text for doc in docs for token in doc]
    joined = [words[i] for i in np.flatnonzero(found.is_joined)]
    assert joined == ["\u200d", "\U0001f469", "\ufe0f", "\U0001f3fd", "\U0001f1f8"]


def test_closing_marks_are_known():
    texts = ['(Stop.) He said "no." She left." ', "(a b) ) c", "\u201cYes.\u201d \u2019Tis", 'I "want"it']
    texts += [
        "\u201eJa.\u201c Er",
        "\u00bbJa.\u00ab\nEr (\u201cso\u201d) \u00ab Non. \u00bb",
        'He "left."\nShe',
    ]
    docs, found = read(*texts)
    words = [token.text for doc in docs for token in doc if not token.is_space]
    closing = [words[i] for i in np.flatnonzero(found.is_closing)]
    assert closing == [")", '"', '"', ")", "\u201d", "\u201c", "\u00ab", "\u201d", ")", '"']


def test_each_line_of_a_chat_or_log_is_a_block_with_its_time():
    chat = "[10:32] <ann> is it up\n[10:33] <bob> yes\nand the old one\n[10:33] <ann> thanks"
    assert [text.split(" > ")[1] for text in block_texts(chat)] == [
        "is it up",
        "yes and the old one",
        "thanks",
    ]
    assert block_texts("Ann  10:32 AM\nis it up\nBob  10:34 AM\nyes")[1::2] == ["is it up", "yes"]
    # A wrapped text with a time at the beginning of a line is one block.
    assert len(block_texts("The train leaves the station of the town at\n10:32 and is here at noon.")) == 1


def test_words_behind_marks_of_a_block_are_known():
    text = "1. Tea\n(b) Milk is\n> 2) Sugar\n# 3. Eggs\nIn May\n\n> > Go\n3. x\n"
    (doc,), found = read(text)
    words = [token.text for token in doc if not token.is_space]
    marked = np.flatnonzero(found.is_inside).tolist()
    texts = [words[i] for i in marked if words[i].isalpha() and len(words[i]) > 1]
    assert texts == ["Tea", "Milk", "Sugar", "Go"]
    # A wrapped line that looks like an item has no mark.
    wrapped = "the committee met last in the month of May,\n5. of May, to be exact, and left"
    assert not read(wrapped)[1].is_inside.any()
    # One word that is a mark and more.
    docs = [Doc(NLP.vocab, words=[word, "\n", "B"]) for word in ("- a", "# a")]
    assert not read_white_space(docs, segment(docs)).is_inside.any()


def test_indented_lines_of_an_item_go_on_with_it():
    (doc,), found = read("- A page for settings, which\n  remembers your choice\nand more\n  Then\n")
    words = [token.text for token in doc if not token.is_space]
    assert [words[i] for i in np.flatnonzero(found.is_inside)] == ["A", "remembers"]
    assert not read("  we left\n  today\n")[1].is_inside.any()


TEXTS = st.lists(
    st.sampled_from(
        ["tea", "Tea", "-", ">", "|", "#", "1.", "---", "(a)", "?", " ", "  ", "\n", "\n\n", "\r\n"]
    )
    | st.text(alphabet=" \n\t\r\f\x0b\x1c\x85\u2028\u3000\u200b->|#*.1aA\u00df", max_size=4),
    max_size=30,
).map("".join)


@tries(100)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_any_text_can_be_read(texts: list[str]):
    docs, found = read(*texts)
    words = [[token for token in doc if not token.is_space] for doc in docs]
    assert len(found.features) == sum(map(len, words))
    assert np.isfinite(found.features).all()
    first = 0
    for doc, of_doc in zip(docs, words, strict=True):
        is_block = found.is_block[first : first + len(of_doc)].tolist()
        assert not any(is_block[:1])
        assert not found.is_inside[first : first + 1].any() or not of_doc
        assert not (found.is_inside & found.is_block).any()
        first += len(of_doc)
        for (before, word), starts in zip(pairwise(of_doc), is_block[1:], strict=True):
            gap = doc.text[before.idx + len(before) : word.idx]
            if len(gap.splitlines()) > 2 or gap.count("\n") > 1:
                assert starts, (doc.text, word)
            if not gap:
                assert not starts
