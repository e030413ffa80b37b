import sys

import pytest

from spacy_g2g.amr.formats.penman_text import parse_penman


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E1002"),
        ("<html>", "E1002"),
        ("(a / b", "E1002"),
        ("(a / b :ARG0 ~)", "E1002"),
        ("(a / b :ARG0 (c / d)))", "E1003"),
        ("(a / b) (c / d)", "E1003"),
        ('(a / "b)") c', "E1003"),
        ("()", "E1004"),
        ("(a / b :ARG0 (a / c))", "E1005"),
        ("(a)", "E1006"),
        ("(a /)", "E1006"),
        ("(a / b :ARG0)", "E1006"),
        ("(a / b :ARG0 :ARG1 (c / d))", "E1006"),
        ("(a / b : (c / d))", "E1006"),
        ("(a / b :~e.1 (c / d))", "E1006"),
        ("(a / b :ARG0 " * 800 + "(c / d)" + ")" * 800, "E1002"),
    ],
)
def test_text_that_is_no_well_formed_graph_is_an_error(text: str, code: str):
    with pytest.raises(ValueError, match=f"G2G-{code}.*here"):
        parse_penman(text, where="here")


@pytest.mark.parametrize(
    "text", ['(a / b :op1 "(" :op2 "a\\")")', "# ::id a )\n(a / b)", "# (\n# )\n(a / b)\n# end"]
)
def test_brackets_in_strings_and_lines_of_comments_are_no_brackets(text: str):
    assert parse_penman(text)[0] == "a"


def test_without_penman_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "penman", None)
    with pytest.raises(ImportError, match=r"G2G-E1010.*penman.*spacy-g2g\[amr\]"):
        parse_penman("(a / b)")
