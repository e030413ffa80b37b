"""Constraints on the trees of transition-based parsers."""

import pytest

from spacy_g2g.data.doc_constraints import constrain

from ..util import initialised_nlp, plain_doc, treebank_docs

ROWS = ("SentTr", "SentTr+G2GTr", "StateTr+G2GTr+C", "Stack-b", "Stack-c")
TEXTS = ("she saw the cat with it .", "dogs bark at it")


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("beam_width", [1, 3])
def test_trees_meet_the_constraints_of_their_doc(row: str, beam_width: int):
    nlp = initialised_nlp(row=row, beam_width=beam_width)
    free = [nlp(plain_doc(nlp.vocab, *TEXTS)) for _ in range(2)]
    doc = plain_doc(nlp.vocab, *TEXTS)
    constrain(
        doc,
        heads={4: 0, 2: 6, 8: 8},
        deps={1: "obj", 4: "det"},
        not_heads={3: [0, 1, 2]},
        not_deps={9: ["det", "case", "nsubj"]},
        subtrees=[[1, 5, 6, 2]],
    )
    docs = list(nlp.pipe([plain_doc(nlp.vocab, *TEXTS), doc, *treebank_docs(nlp.vocab)]))
    assert [(t.head.i, t.dep_) for t in docs[0]] == [(t.head.i, t.dep_) for t in free[0]]
    assert (doc[4].head.i, doc[4].dep_, doc[2].head.i, doc[1].dep_) == (0, "det", 6, "obj")
    assert (doc[8].head.i, doc[8].dep_) == (8, "root")
    assert doc[3].head.i not in (0, 1, 2)
    assert doc[9].dep_ not in ("det", "case", "nsubj")
    assert {1, 2, 5, 6} in [{t.i for t in token.subtree} for token in doc]
    assert [len(sentence) for sentence in doc.sents] == [7, 4]


@pytest.mark.filterwarnings("ignore:.*W804")
@pytest.mark.parametrize("row", ["SentTr", "Stack-c"])
def test_arcs_that_cross_are_named_where_trees_must_be_projective(row: str):
    nlp = initialised_nlp(row=row, swap=False)
    doc = plain_doc(nlp.vocab, *TEXTS)
    constrain(doc, heads={0: 2, 1: 3, 5: 6})
    with pytest.raises(
        ValueError, match=r"E516.*projective.*swap = false.*token 0 'she'.*token 1 'saw'"
    ) as error:
        nlp(doc)
    assert "with" not in str(error.value).split(":", 1)[1]
    constrain(doc, heads={0: 2, 1: 2, 5: 3})
    nlp(doc)
    assert [doc[i].head.i for i in (0, 1, 5)] == [2, 2, 3]
