"""The page of settings says what the code says."""

import inspect
import re
from importlib.metadata import EntryPoint

import pytest

from docs.config_reference import OUTPUT, defaults_of, make_page, read_docstring, section, spell


def test_the_page_is_that_of_the_code():
    assert OUTPUT.read_text(encoding="utf8") == make_page(), "Run docs/config_reference.py"


def test_settings_of_several_lines_are_read():
    summary, texts = read_docstring(
        "Do it.\n\na: The first\n    line: and more.\nb: Two.\nRaises ValueError: x.\n"
    )
    assert summary == "Do it."
    assert texts == {"a": "The first line: and more.", "b": "Two."}


def test_every_description_is_a_sentence_of_its_own():
    rows = [line.split(" | ") for line in make_page().splitlines() if line.startswith("| `")]
    texts = [row[2].removesuffix(" |") for row in rows]
    assert len(texts) > 100
    assert not [text for text in texts if not (text[0].isupper() and text.endswith("."))]
    assert not [text for text in texts if re.match(r"(As of|As in|Of|Also) ", text)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "`null`"),
        (True, "`true`"),
        (0, "`0`"),
        ("a", '`"a"`'),
        ({"@scorers": "x.v1", "y": 1}, "`x.v1`"),
        (inspect.Parameter.empty, ""),
    ],
)
def test_defaults_are_spelled_as_in_a_config(value: object, expected: str):
    assert spell(value) == expected


def test_a_setting_without_a_description_is_an_error():
    point = EntryPoint("spacy_g2g.x.v1", "docs.config_reference:spell", "spacy_callbacks")
    assert list(defaults_of(point, point.load())) == ["value"]
    with pytest.raises(ValueError, match=r"does not describe.*value"):
        section(point)
