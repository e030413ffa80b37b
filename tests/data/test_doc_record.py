import spacy
from spacy.tokens import Doc

from spacy_g2g.data.doc_record import COLUMNS, doc_of_record, make_record, own_record
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms


def test_multiword_tokens_are_half_open_ranges_of_docs_that_have_some():
    doc = Doc(spacy.blank("xx").vocab, words=["vede", "de", "l", "mare"])
    assert own_record(doc) == {}
    mark_words(doc, [(1, 3)], ["di", "il"])
    assert own_record(doc) == {"forms": ["vede", "di", "il", "mare"], "multiword_tokens": [(1, 3)]}


def test_a_record_of_all_columns_gives_the_doc_back():
    names = [column.name for column in COLUMNS if column.name != "enhanced"]
    doc = Doc(
        spacy.blank("xx").vocab, words=list("abcd"), heads=[1, 1, 3, 3], deps=["x", "ROOT", "y", "ROOT"]
    )
    mark_words(doc, [(0, 2)], ["e", "f"])
    record = make_record(doc, [*names, "other"])
    assert list(record) == names
    read = doc_of_record(record, spacy.blank("xx").vocab)
    assert make_record(read, names) == record
    assert (word_forms(read), multiword_tokens(read)) == (["e", "f", "c", "d"], [(0, 2)])
