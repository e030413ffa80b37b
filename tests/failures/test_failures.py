"""Inputs that failed once don't fail again: each is read, parsed and written, or is an error with a code."""

import io
import re
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu, write_conllu

from ..test_hostile_input import splitting_nlp  # noqa: F401

FOLDER = Path(__file__).parent
#: Files, with the code of their error or "same".
EXPECTED = dict(
    re.findall(
        r"^\| ([\w-]+\.\w+) \| .* \| (\w+) \|$", (FOLDER / "README.md").read_text("utf8"), re.MULTILINE
    )
)
READABLE = [name for name, expected in EXPECTED.items() if expected == "same"]

pytestmark = pytest.mark.filterwarnings("ignore:.*G2G-W")


def assert_parsed(nlp: Language, doc: Doc) -> None:
    """Check that each sentence is one tree, and that the text stays and can be read back."""
    text = doc.text
    parsed = nlp(doc)
    assert parsed.text == text
    for sentence in parsed.sents:
        (root,) = (token for token in sentence if token.head == token)
        assert set(root.subtree) == set(sentence)
    written = "".join(write_conllu(doc_to_sentences(parsed))).encode()
    assert [str(sentence) for sentence in read_conllu(io.BytesIO(written))] == [
        str(sentence) for sentence in doc_to_sentences(parsed)
    ]


def test_each_file_is_in_the_table():
    files = {path.name for path in FOLDER.iterdir() if path.suffix in {".conllu", ".conllx", ".txt"}}
    assert set(EXPECTED) == files


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in READABLE])
def test_a_file_that_is_not_read_is_an_error_with_its_code(name: str):
    with pytest.raises(ValueError, match=f"G2G-{EXPECTED[name]}.*{re.escape(name)}"):
        list(read_conllu(FOLDER / name))


@pytest.mark.parametrize("name", READABLE)
def test_a_file_is_parsed_and_comes_back(name: str, splitting_nlp: Language):  # noqa: F811
    data = (FOLDER / name).read_bytes()
    if name.endswith(".txt"):
        assert_parsed(splitting_nlp, splitting_nlp.make_doc(data.decode()))
        return
    sentences = list(read_conllu(FOLDER / name))
    docs = list(sentences_to_docs(sentences, splitting_nlp.vocab, annotations=("SENT_START", "MORPH")))
    for found in (sentences, [sentence for doc in docs for sentence in doc_to_sentences(doc, columns=())]):
        assert "".join(write_conllu(found)).encode().rstrip(b"\r\n") == data.rstrip(b"\r\n")
    for doc in docs:
        assert_parsed(splitting_nlp, doc)
