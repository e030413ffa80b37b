"""Enhanced graphs in the commands, from a pipeline whose parser attaches each word to the one before it."""

import json
import random
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.analysis.render import render
from spacy_g2g.conversion.convert import convert
from spacy_g2g.conversion.parse import parse
from spacy_g2g.corpus_job.documents import Document
from spacy_g2g.corpus_job.reading import read_docs
from spacy_g2g.corpus_job.table import annotations_of, docs_to_table, make_schema
from spacy_g2g.data.docs import TOKEN_ANNOTATIONS, sentences_to_docs
from spacy_g2g.data.multiword import is_split, mark_words
from spacy_g2g.formats.conllu import read_conllu

from ..analysis.test_drawing import Page
from ..chains import attach_to_previous
from ..test_hostile_input import ODD
from ..util import random_nlp

TEXT = """# sent_id = s
1\ttea\ttea\tNOUN\t_\t_\t0\troot\t0:root|2:x\t_
2\tof\tof\tADP\t_\t_\t1\tdep\t1:dep\t_
2.1\tsome\t_\t_\t_\t_\t_\t_\t1:dep\t_
3\tmilk\tmilk\tNOUN\t_\t_\t2\tdep\t2:dep|2.1:dep\t_

"""
#: The same as the pipeline parses it.
PARSED = TEXT.replace("0:root|2:x", "0:root").replace("2:dep|2.1:dep", "2:dep")


@pytest.fixture(scope="module")
def enhancing(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("enhancing")
    Language.factory("test_attach_and_enhance", func=lambda nlp, name: attach_to_previous)
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("test_attach_and_enhance")
    nlp.add_pipe("ud_enhancer")
    nlp.to_disk(folder)
    return str(folder)


def save_random(folder: Path) -> str:
    """Save a pipeline with a parser of random weights."""
    nlp = random_nlp()
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("ud_enhancer")
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.conllu"
    path.write_text(TEXT, "utf8")
    return path


def test_parse_replaces_deps_and_keeps_empty_nodes(enhancing: str, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    parse(enhancing, source, out)
    assert out.read_text("utf8") == PARSED
    convert([source], tmp_path / "in.spacy")
    parse(enhancing, tmp_path / "in.spacy", out)
    assert out.read_text("utf8") == PARSED


def test_parse_without_enhancer_keeps_deps(pipeline: str, source: Path, tmp_path: Path) -> None:
    parse(pipeline, source, tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_text("utf8") == TEXT


def test_another_tree_has_no_deps_of_the_file(source: Path, tmp_path: Path) -> None:
    """Neither the best tree nor the further ones, unless they are the tree of the file."""
    out = tmp_path / "out.conllu"
    rows = [(1, "she", 2, "x"), (2, "saw", 0, "root"), (3, "cats", 2, "y")]
    source.write_text("".join(f"{i}\t{w}\t_\t_\t_\t_\t{h}\t{d}\t{h}:{d}\t_\n" for i, w, h, d in rows), "utf8")
    nlp = spacy.load(save_random(tmp_path / "enhancing"))
    nlp.remove_pipe("ud_enhancer")
    folder = str(tmp_path / "plain")
    nlp.to_disk(folder)
    for kbest in (None, 2):
        parse(folder, source, out, kbest=kbest)
        assert {word.deps for s in read_conllu(out) for word in s.words} == {"_"}


def test_text_gets_deps(enhancing: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.conllu"
    source.write_text("tea \n milk .\n", "utf8")
    parse(enhancing, source, out)
    (first, second) = read_conllu(out)
    assert [word.deps for word in (*first.words, *second.words)] == ["0:root", "0:root", "1:dep"]


def test_jsonl_and_docs_have_the_graph(enhancing: str, source: Path, tmp_path: Path) -> None:
    expected = [[[0, "root"]], [[0, "dep"]], [[1, "dep"]]]
    parse(enhancing, source, tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text("utf8"))["_"]["g2g_enhanced"] == expected
    parse(enhancing, source, tmp_path / "out.spacy")
    (doc,) = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("xx").vocab)
    assert doc._.g2g_enhanced == [[tuple(pair) for pair in pairs] for pairs in expected]


def test_scores_of_enhanced_graphs_depend_on_the_component(
    enhancing: str, pipeline: str, source: Path
) -> None:
    scores = evaluate(enhancing, source)
    # The arc over the empty node is dep>dep.
    assert (scores["ELAS"].correct, scores["ELAS"].gold, scores["ELAS"].system) == (3, 5, 3)
    assert "ELAS" not in evaluate(pipeline, source)


def test_render_draws_all_heads(source: Path, tmp_path: Path, enhancing: str) -> None:
    Language.factory("test_several_heads", func=lambda nlp, name: several_heads)
    nlp = spacy.load(enhancing)
    nlp.add_pipe("test_several_heads")
    nlp.to_disk(tmp_path / "nlp")
    page = tmp_path / "page.html"
    for given in (str(source), "tea of milk"):
        render(str(tmp_path / "nlp"), given, page)
        drawn = Page(page.read_text("utf8"))
        labels = sorted(text for text in drawn.texts if text in ("obl:of", "nsubj"))
        assert labels == ["nsubj", "obl:of"]
        assert "1 further arc" in page.read_text("utf8")


def several_heads(doc):
    doc._.g2g_enhanced = [[(0, "root")], [(0, "dep")], [(1, "obl:of"), (0, "nsubj")]]
    return doc


def test_tables_have_a_column_of_the_graph(enhancing: str, source: Path, tmp_path: Path) -> None:
    nlp = spacy.load(enhancing)
    docs = list(nlp.pipe(sentences_to_docs(read_conllu(source), nlp.vocab, annotations=TOKEN_ANNOTATIONS)))
    columns = (*annotations_of(nlp), "heads", "deps")
    assert columns[-3] == "enhanced"
    schema = make_schema(columns, keep=(), text=True)
    table = docs_to_table([(Document("d", 0, "", file="f"), doc) for doc in docs], schema, ())
    assert table["enhanced"].to_pylist()[0][2] == [{"head": 1, "dep": "dep"}]
    pq.write_table(table, tmp_path / "t.parquet")
    (read,) = read_docs(tmp_path / "t.parquet", nlp.vocab)
    assert read._.g2g_enhanced == docs[0]._.g2g_enhanced


def test_further_trees_have_no_enhanced_graph(tmp_path: Path) -> None:
    text = tmp_path / "in.txt"
    text.write_text("she saw cats\n", "utf8")
    parse(save_random(tmp_path / "nlp"), text, tmp_path / "out.conllu", kbest=2)
    assert {word.deps for s in read_conllu(tmp_path / "out.conllu") for word in s.words} == {"_"}


#: Characters that the validator allows: those that are in Unicode's composed form after any other.
CHARACTERS = [
    char
    for char in map(chr, [*range(0x300), *range(0x2000, 0x3099)])
    if not unicodedata.combining(char) and unicodedata.is_normalized("NFC", char)
]
#: Number of random texts, and of random Docs of given words.
N_HOSTILE = 200
HOSTILE = [
    "she and/or he saw \u200d it",
    "\n a\n\n",
    "\u01c5 \U0001d400 of \u0130 %",
    "- - ' . of",
    "\u0915\u093f and not",
    "a" * 300,
    "dirlo\u2028\xa0 \tdirlo,\r\ndirlo dirlo\n",
]


def mark_pieces(doc):
    if not is_split(doc):
        ranges = [(i, i + 2) for i in range(len(doc)) if doc[i].text == "dir"]
        mark_words(doc, ranges, ["dire", "il"] * len(ranges))
    for token in doc:
        token.pos_ = "X"
        token.set_morph("NumType=Ord|Number=Sing")
    return doc


def hostile_words(chance: random.Random, n: int) -> list[str]:
    words = [*ODD, "dirlo", "\x85", "_", "#", "1-2", " a\n"]
    return ["".join(chance.choices(chance.choice([words, CHARACTERS]), k=2)) for _ in range(n)]


def hostile_doc(chance: random.Random, nlp: Language) -> Doc:
    """A Doc of given words, some of them in multiword tokens, which have no white space inside."""
    words = hostile_words(chance, 8)
    pairs = [i for i in range(0, len(words), 2) if not any(map(str.isspace, words[i] + words[i + 1]))]
    doc = Doc(nlp.vocab, words=words, spaces=[i not in pairs for i in range(len(words))])
    forms = ["".join(word.split()) or "x" for word in hostile_words(chance, 2 * len(pairs))]
    mark_words(doc, [(i, i + 2) for i in pairs], forms)
    return doc


@pytest.mark.slow
def test_what_is_written_is_valid(tmp_path: Path) -> None:
    command = shutil.which("udvalidate") or shutil.which("udvalidate", path=Path(sys.executable).parent)
    if command is None:
        pytest.skip("needs the command udvalidate of the package udtools")
    chance = random.Random(0)
    texts = [*HOSTILE, *(chance.choice(["", " "]).join(hostile_words(chance, 8)) for _ in range(N_HOSTILE))]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), "utf8")
    nlp = spacy.load(save_random(tmp_path / "nlp"))
    Language.factory("test_mark_words", func=lambda nlp, name: mark_pieces)
    nlp.add_pipe("test_mark_words", first=True)
    nlp.tokenizer.add_special_case("dirlo", [{"ORTH": "dir"}, {"ORTH": "lo", "NORM": "il"}])
    nlp.to_disk(tmp_path / "nlp")
    DocBin(docs=[hostile_doc(chance, nlp) for _ in range(N_HOSTILE)]).to_disk(tmp_path / "words.spacy")
    for source in ("texts.jsonl", "words.spacy"):
        out = tmp_path / f"{source}.conllu"
        parse(str(tmp_path / "nlp"), tmp_path / source, out)
        assert re.search(r"^\d+-\d+\t", out.read_text("utf8"), re.MULTILINE)
        run = subprocess.run(
            [command, "--lang", "ud", "--level", "2", str(out)], capture_output=True, text=True, check=False
        )
        found = run.stdout + run.stderr
        assert "PASSED" in found, found
