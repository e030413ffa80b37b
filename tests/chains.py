import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

import spacy_g2g
from spacy_g2g.amr.data.docs import set_amrs
from spacy_g2g.data.multiword import copy_words

AMR_SAMPLE = """# ::snt Mr. Li can't go.
# ::tok Mr . Li ca n't go .
(g / go-02~e.5 :polarity -~e.4 :ARG0 (p / person))

# ::id b.7 ::date 2012
# ::snt :: Yes !
(y / yes :mode expressive)
"""


def g2g(*arguments: Any, **settings: Any) -> Any:
    """Run a command as from a terminal."""
    from spacy_g2g.cli import app

    return CliRunner().invoke(app, [*map(str, arguments)], **settings)


def read_bin(path: Path) -> list[Doc]:
    """Return the Docs of a .spacy file."""
    return list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))


def attach_to_previous(doc: Doc) -> Doc:
    """A parser: the first word of each sentence is the root, any other hangs on the one before it."""
    starts = [bool(token.is_sent_start) or token.i == 0 for token in doc]
    heads = [i if start else i - 1 for i, start in enumerate(starts)]
    deps = ["ROOT" if start else "dep" for start in starts]
    parsed = Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.tag_ for token in doc],
        pos=[token.pos_ for token in doc],
        lemmas=[token.lemma_ for token in doc],
        morphs=[str(token.morph) for token in doc],
        heads=heads,
        deps=deps,
        user_data=doc.user_data,
    )
    copy_words(doc, to=parsed)
    parsed._context = doc._context
    return parsed


def save_pipeline(folder: Path, name: str, factory: Callable[..., Any]) -> str:
    """Save a pipeline that splits sentences at full stops and then runs a component; gives its folder."""
    Language.factory(name, func=factory)
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(name)
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """Folder of a pipeline that splits sentences at full stops and parses by ``attach_to_previous``."""
    folder = tmp_path_factory.mktemp("pipeline")
    return save_pipeline(folder / "chain", "test_attach_to_previous", lambda nlp, name: attach_to_previous)


@pytest.fixture
def no_parser(tmp_path: Path) -> str:
    """Folder of a pipeline that splits sentences at full stops, and leaves trees as they are."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "blank")
    return str(tmp_path / "blank")


@pytest.fixture
def forget_package(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes the next import of a package run its modules anew, until the test ends."""

    def forget(package: str) -> None:
        monkeypatch.setattr(spacy_g2g, package, None, raising=False)
        for name in [name for name in sys.modules if name.startswith(f"spacy_g2g.{package}")]:
            monkeypatch.delitem(sys.modules, name)

    return forget


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_matplotlib(name: str, *arguments, **settings):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'")
        return real(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)


def say_words(doc: Doc) -> Doc:
    """A parser of AMRs: each sentence says its words, the first of which says it."""
    amrs = []
    for span in doc.sents:
        words = [token.text.replace('"', "") for token in span]
        operands = "".join(f'\n   :op{i} "{word}"' for i, word in enumerate(words, start=1))
        amrs.append(f"(s / say-01{operands}\n   :ARG0 s)")
    set_amrs(doc, amrs)
    return doc


@pytest.fixture(scope="session")
def amr_pipeline(tmp_path_factory):
    """Folder of a pipeline that splits sentences at full stops and parses by ``say_words``."""
    return save_pipeline(tmp_path_factory.mktemp("pipeline"), "test_say_words", lambda nlp, name: say_words)


@pytest.fixture
def amr_sample(tmp_path):
    """A file of two AMRs, the first of which has no id and several full stops in its sentence."""
    path = tmp_path / "sample.amr"
    path.write_text(AMR_SAMPLE, encoding="utf8")
    return path


@pytest.fixture
def sample(tmp_path):
    from .formats.samples import SAMPLE

    path = tmp_path / "sample.conllu"
    path.write_bytes(SAMPLE.encode("utf8"))
    return path
