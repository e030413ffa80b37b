"""White space in MISC, as UDPipe spells it."""

import pytest

from spacy_g2g.formats.misc import escape, unescape, white_space
from spacy_g2g.formats.rows import SurfaceToken


@pytest.mark.parametrize("text", [" ", "  \t\r\n", "\u00a0\u3000", "|\\", "\\s"])
def test_what_is_spelled_is_read_again(text: str):
    spelled = escape(text)
    assert not set(spelled) & set(" \t\r\n|\u3000")
    assert unescape(spelled) == text


def test_white_space_is_spelled_as_udpipe_spells_it():
    assert escape(" \t\r\n|\\\u00a0\u3000") == "\\s\\t\\r\\n\\p\\\\\\u00a0\\u3000"
    assert unescape("\\u00A0\\u00a0") == "\u00a0\u00a0"


@pytest.mark.parametrize("cell", ["a", "\\x", "\\u00", "\\u00zz", "\\"])
def test_what_is_no_escape_stays(cell: str):
    assert unescape(cell) == cell


@pytest.mark.parametrize(
    ("misc", "gap"),
    [
        ("_", " "),
        ("SpaceAfter=No", ""),
        ("SpacesAfter=\\s\\s", "  "),
        ("Gloss=a|SpacesAfter=\\n\\u00a0", "\n\u00a0"),
        ("SpaceAfter=No|SpacesAfter=\\t", "\t"),
        ("SpacesAfter=", " "),
        ("SpacesAfter=abc", " "),
        ("SpacesAfter=\\u00zz", " "),
        ("SpacesAfter=\\ud800", " "),
        ("SpaceAfter=No|SpacesAfter=\\x", ""),
        ("NoSpacesAfter=\\n", " "),
    ],
)
def test_the_gap_after_a_token_is_white_space_alone(misc: str, gap: str):
    token = SurfaceToken("a", ("a",), 1, False, misc)
    assert token.gap == gap
    assert token.space_after == bool(gap)


def test_a_feature_that_is_not_there_has_no_white_space():
    assert white_space("SpacesAfter=\\n", name="SpacesBefore") == ""
