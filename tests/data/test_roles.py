"""Roles on Docs and in the column MISC."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_doc
from spacy_g2g.data.roles import Argument, Predicate, aligned_roles, own_roles, set_roles
from spacy_g2g.formats.conllu import read_conllu

CONLLU = """# sent_id = 1
# roles = PropBank
1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\tPred=see.01|Args=ARG0:1:1-1,ARG1:4:3-4
3\tthe\tthe\tDET\t_\t_\t4\tdet\t_\t_
4\tcat\tcat\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = 2
# roles = PropBank
1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_

"""
SEE = Predicate(1, "see.01", (Argument("ARG0", 0, 0, 1), Argument("ARG1", 3, 2, 4)))


def read(text: str) -> Doc:
    return sentences_to_doc(list(read_conllu(text.splitlines(keepends=True))), Vocab())


def test_roles_of_misc_are_those_of_the_doc():
    doc = read(CONLLU)
    assert doc._.g2g_roles == [SEE]
    assert own_roles(doc) is None
    assert read(CONLLU.split("\n\n")[1] + "\n\n")._.g2g_roles == []
    plain = CONLLU.replace("# roles = PropBank\n", "").replace("Pred=see.01|Args=ARG0:1:1-1,ARG1:4:3-4", "_")
    assert read(plain)._.g2g_roles is None


def test_roles_that_were_set_are_written_to_misc_and_read_again():
    doc = read(CONLLU)
    assert "".join(map(str, doc_to_sentences(doc))) == CONLLU
    doc._.g2g_roles = [(5, "yes.01"), (3, "", [("ARG0", 0, 0, 1)])]
    first, second = doc_to_sentences(doc)
    assert [word.misc for word in first.words[1:4]] == ["_", "_", "SpaceAfter=No|Pred=_|Args=ARG0:1:1-1"]
    assert second.words[0].misc == "Pred=yes.01"
    again = sentences_to_doc([first, second], Vocab())
    assert again._.g2g_roles == doc._.g2g_roles
    doc._.g2g_roles = None
    assert doc._.g2g_roles == [SEE]


def test_a_doc_of_a_pipeline_writes_roles_too():
    doc = Doc(spacy.blank("xx").vocab, words=["She", "\n", "slept"], spaces=[True, False, False])
    set_roles(doc, [Predicate(2, "sleep.01", (Argument("ARG0", 0, 0, 2, 0.5),), 0.9)])
    (sentence,) = doc_to_sentences(doc)
    assert [word.misc for word in sentence.words] == ["SpacesAfter=\\s\\n", "Pred=sleep.01|Args=ARG0:1:1-1"]


def test_roles_survive_a_doc_bin_and_go_when_tokens_change():
    doc = read(CONLLU)
    set_roles(doc, [SEE])
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(Vocab())
    assert again._.g2g_roles == [SEE]
    with again.retokenize() as retokenizer:
        retokenizer.merge(again[2:4])
    with pytest.warns(UserWarning, match="W560"):
        assert own_roles(again) is None


@pytest.mark.parametrize("suffix", [".conllu", ".spacy"])
def test_a_corpus_keeps_the_roles_of_its_files(tmp_path, suffix: str):
    path = tmp_path / f"gold{suffix}"
    if suffix == ".conllu":
        path.write_text(CONLLU, encoding="utf8")
    else:
        docs = [sentences_to_doc([each], Vocab()) for each in read_conllu(CONLLU.splitlines(keepends=True))]
        DocBin(store_user_data=True, docs=docs).to_disk(path)
    examples = list(make_corpus(path)(spacy.blank("en")))
    assert [own_roles(example.reference) for example in examples] == [[SEE], []]
    assert [own_roles(example.predicted) for example in examples] == [None, None]


@pytest.mark.parametrize(
    "cell", ["ARG0:1", "ARG0:0:0-0", "ARG0:6:6-6", "ARG0:1:2-3", "ARG|0:1:1-1", "A,B:1:1-1"]
)
def test_arguments_in_misc_that_do_not_fit_are_an_error(cell: str):
    doc = read(CONLLU.replace("ARG0:1:1-1", cell))
    if cell.startswith("ARG|"):
        cell = "ARG"
    with pytest.raises(ValueError, match=r"E526.*5"):
        doc._.g2g_roles  # noqa: B018


@pytest.mark.parametrize(
    "roles",
    [
        [3],
        [(7, "x.01")],
        [(1, "x 01")],
        [(1,), (1,)],
        [(1, "x", [("ARG0", 0, 1, 2)])],
        [(1, "x", [("A:", 0, 0, 1)])],
        [(1, "x", [("A",)])],
    ],
)
def test_roles_that_do_not_fit_the_doc_are_an_error(roles: list):
    with pytest.raises(ValueError, match="E527"):
        read(CONLLU)._.g2g_roles = roles


def test_an_argument_in_another_sentence_can_not_be_written():
    doc = read(CONLLU)
    set_roles(doc, [Predicate(5, "yes.01", (Argument("ARG0", 1, 1, 2),))])
    with pytest.raises(ValueError, match="E505"):
        doc_to_sentences(doc)


def test_gold_tokens_that_are_not_one_predicted_token_have_places_below_0():
    gold = read(CONLLU)
    predicted = Doc(gold.vocab, words=["She", "saw", "the", "c", "at", ".", "Yes"])
    (see,) = aligned_roles(Example(predicted, gold)) or []
    assert see.word == 1
    assert see.arguments[0] == SEE.arguments[0]
    assert see.arguments[1].head < 0
