"""Semantic roles in the output: records as JSON and Parquet have them, and drawings."""

import json

import pyarrow.parquet as pq
import spacy

from spacy_g2g.analysis.doc_drawings import role_graph
from spacy_g2g.analysis.drawing import Drawing, draw_page
from spacy_g2g.analysis.render import _draw
from spacy_g2g.conversion.writing import to_jsonl
from spacy_g2g.corpus_job.documents import Document
from spacy_g2g.corpus_job.reading import read_docs
from spacy_g2g.corpus_job.table import annotations_of, docs_to_table, make_schema
from spacy_g2g.data.roles import Argument, Predicate, set_roles
from spacy_g2g.formats.graph import ROOT

from .util import ROLES, role_docs, role_nlp


def test_json_has_a_row_for_each_predicate_with_its_texts():
    doc, *_ = role_docs(spacy.blank("en").vocab)
    ((row,),) = [json.loads(line)["roles"] for line in to_jsonl([(doc, {})])]
    predicate, (first, second) = ROLES[0][0], row["arguments"]
    assert (row["word"], row["text"], row["roleset"]) == (predicate.word, doc[1].text, "see.01")
    assert (first["role"], first["text"]) == ("ARG0", doc[0].text)
    assert (second["start"], second["end"], second["text"]) == (2, 4, doc[2:4].text)


def test_roles_come_back_from_parquet(tmp_path):
    nlp = role_nlp()
    assert "roles" in annotations_of(nlp)
    docs = role_docs(nlp.vocab)
    schema = make_schema(annotations_of(nlp), keep=(), text=True)
    parsed = [(Document(str(i), i, doc.text, (), "", "a"), doc) for i, doc in enumerate(docs)]
    pq.write_table(docs_to_table(parsed, schema, ()), tmp_path / "x.parquet")
    read = [doc._.g2g_roles or [] for doc in read_docs(tmp_path, spacy.blank("xx").vocab)]
    assert read == [doc._.g2g_roles for doc in docs]


def test_predicates_are_drawn_below_root_and_arguments_below_predicates():
    doc = role_docs(spacy.blank("en").vocab)[6]
    graph = role_graph([*doc])
    assert graph is not None
    assert [arc for arc in graph.links if arc[1] != -1] == [
        (1, 2, "ARG0"),
        (2, ROOT, "say.01"),
        (4, 5, "ARG0"),
        (5, ROOT, "leave.01"),
        (5, 2, "ARG1"),
    ]
    words = [token.text for token in doc]
    page = draw_page([Drawing(words, {}, roles=graph)], title="roles")
    assert all(label in page for label in ("leave.01", "ARG0", "ARG1"))
    assert "no head" not in page
    assert role_graph([*spacy.blank("en")("No roles")]) is None


def test_an_argument_in_another_sentence_is_not_drawn():
    doc = spacy.blank("en")("They came . They left .")
    set_roles(doc, [Predicate(1, "come.01", (Argument("ARG1", 4, 3, 5), Argument("ARG0", 0, 0, 1)))])
    graph = role_graph([*doc[:3]])
    assert graph is not None
    assert [arc for arc in graph.links if arc[1] != -1] == [(1, 2, "ARG0"), (2, ROOT, "come.01")]


def test_roles_without_a_tree_are_drawn_alone():
    nlp = spacy.blank("en")
    doc = nlp("They came")
    set_roles(doc, [Predicate(1, "come.01", (Argument("ARG1", 0, 0, 1),))])
    (drawing,) = _draw(doc, None, nlp)
    assert (drawing.graphs, drawing.roles) == ({}, role_graph([*doc]))
