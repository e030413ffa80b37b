"""Noun chunks from trees of Universal Dependencies."""

import pytest
from spacy.lang.tr.syntax_iterators import noun_chunks as spacy_turkish
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.parser.noun_chunks import ud_noun_chunks, use_ud_noun_chunks

from ..util import gold_doc, initialized_nlp, make_nlp, treebank_docs

#: A sentence a line; a word is FORM/UPOS/HEAD/DEPREL, and brackets are the noun chunks.
ENGLISH = """
[she/PRON/2/nsubj] sleeps/VERB/0/root ./PUNCT/2/punct
[the/DET/2/det dog/NOUN/3/nsubj] chased/VERB/0/root [a/DET/5/det cat/NOUN/3/obj] ./PUNCT/3/punct
[I/PRON/2/nsubj] gave/VERB/0/root [him/PRON/2/iobj] [two/NUM/6/nummod red/ADJ/6/amod apples/NOUN/2/obj]
[they/PRON/2/nsubj] live/VERB/0/root in/ADP/6/case [a/DET/6/det small/ADJ/6/amod house/NOUN/2/obl]
[the/DET/2/det roof/NOUN/6/nsubj] of/ADP/5/case [the/DET/5/det house/NOUN/2/nmod] leaks/VERB/0/root
[my/PRON/2/nmod:poss friend/NOUN/4/nmod:poss 's/PART/2/case car/NOUN/5/nsubj] broke/VERB/0/root
[he/PRON/4/nsubj] is/AUX/4/cop [a/DET/4/det doctor/NOUN/0/root]
[Mr./PROPN/4/nsubj John/PROPN/1/flat Smith/PROPN/1/flat] left/VERB/0/root
[New/PROPN/2/compound York/PROPN/3/compound streets/NOUN/4/nsubj] shine/VERB/0/root
[tea/NOUN/4/nsubj] and/CCONJ/3/cc [milk/NOUN/1/conj] mix/VERB/0/root
[the/DET/4/det very/ADV/3/advmod old/ADJ/4/amod man/NOUN/5/nsubj] slept/VERB/0/root
[a/DET/5/det big/ADJ/5/amod ,/PUNCT/5/punct red/ADJ/5/amod house/NOUN/0/root]
[the/DET/2/det man/NOUN/6/nsubj] [who/PRON/4/nsubj] sang/VERB/2/acl:relcl loudly/ADV/4/advmod left/VERB/0/root
[dogs/NOUN/2/nsubj:pass] seen/VERB/0/root by/ADP/4/case [us/PRON/2/obl] ran/VERB/2/conj
there/PRON/2/expl is/VERB/0/root [no/DET/4/det milk/NOUN/2/nsubj]
[Paris/PROPN/6/nsubj] ,/PUNCT/4/punct [the/DET/4/det capital/NOUN/1/appos] is/AUX/6/cop big/ADJ/0/root
look/VERB/0/root ,/PUNCT/3/punct [Anna/PROPN/1/vocative] !/PUNCT/1/punct
[all/DET/3/det the/DET/3/det people/NOUN/4/nsubj] came/VERB/0/root [last/ADJ/6/amod week/NOUN/4/obl]
because/ADP/3/case of/ADP/1/fixed [rain/NOUN/5/obl] [we/PRON/5/nsubj] stayed/VERB/0/root
[what/PRON/4/obj] did/AUX/4/aux [you/PRON/4/nsubj] see/VERB/0/root ?/PUNCT/4/punct
[she/PRON/3/nsubj] was/AUX/3/aux called/VERB/0/root [a/DET/5/det liar/NOUN/3/xcomp]
[I/PRON/2/nsubj] know/VERB/0/root [it/PRON/6/nsubj] is/AUX/6/cop [her/PRON/6/nmod:poss book/NOUN/2/ccomp]
run/VERB/0/root quickly/ADV/1/advmod !/PUNCT/1/punct
[we/PRON/2/nsubj] took/VERB/0/root [it/PRON/2/obj] off/ADP/2/compound:prt
"/PUNCT/2/punct [Dune/PROPN/4/nsubj] "/PUNCT/2/punct won/VERB/0/root
[something/PRON/4/nsubj very/ADV/3/advmod odd/ADJ/1/amod] happened/VERB/0/root
[Section/NOUN/3/nsubj 7/NUM/1/nummod] helps/VERB/0/root
lists/VERB/0/root [people/NOUN/1/obj] proud/ADJ/2/amod of/ADP/5/case [it/PRON/3/obl]
[the/DET/2/det king/NOUN/6/nsubj] of/ADP/4/case [Spain/PROPN/2/nmod] 's/PART/4/case slept/VERB/0/root
"""
OTHERS = {
    "de": "[der/DET/3/det alte/ADJ/3/amod Mann/NOUN/4/nsubj] sah/VERB/0/root [den/DET/6/det Hund/NOUN/4/obj] "
    "im/ADP/8/case [Garten/NOUN/4/obl]",
    "ja": "[猫/NOUN/5/nsubj] が/ADP/1/case [魚/NOUN/5/obj] を/ADP/3/case 食べた/VERB/0/root",
    "fr": "[la/DET/2/det situation/NOUN/9/nsubj économique/ADJ/2/amod et/CCONJ/5/cc sociale/ADJ/3/conj] "
    "de/ADP/8/case [la/DET/8/det ville/NOUN/2/nmod] change/VERB/0/root",
    "vi": "[nước/NOUN/3/nsubj này/DET/1/det] đẹp/ADJ/0/root",
    "tr": "[ev/NOUN/3/nsubj] ,/PUNCT/1/punct [araba/NOUN/0/root] [bahçe/NOUN/3/conj] !/PUNCT/4/punct",
    "fa": "[من/PRON/4/nsubj] [کتاب/NOUN/4/obj] را/ADP/2/case خواندم/VERB/0/root",
}


def read(line: str) -> tuple[Doc, list[str]]:
    """Return a sentence as a Doc, and its noun chunks."""
    words, chunks, chunk = [], [], None
    for cell in line.split():
        chunk = [] if cell.startswith("[") else chunk
        form, upos, head, deprel = cell.strip("[]").rsplit("/", 3)
        words.append((form, upos, int(head), deprel))
        if chunk is not None:
            chunk.append(form)
        if cell.endswith("]"):
            chunks.append(" ".join(chunk or ()))
            chunk = None
    return gold_doc(Vocab(), [words]), chunks


def found(doc: Doc) -> list[str]:
    return [" ".join(token.text for token in doc[start:end]) for start, end, _ in ud_noun_chunks(doc)]


@pytest.mark.parametrize("line", [*ENGLISH.strip().splitlines(), *OTHERS.values()])
def test_chunks_are_nouns_with_what_belongs_to_them(line):
    doc, chunks = read(line)
    assert found(doc) == chunks


def test_rules_of_spacy_give_way_and_others_stay():
    """spaCy's rules for Turkish begin a chunk behind its end if a conjunct has nothing before it."""
    doc, chunks = read(OTHERS["tr"])
    doc.noun_chunks_iterator = spacy_turkish
    with pytest.raises(IndexError):
        list(doc.noun_chunks)
    use_ud_noun_chunks(doc)
    assert [chunk.text for chunk in doc.noun_chunks] == chunks
    doc.noun_chunks_iterator = read
    use_ud_noun_chunks(doc)
    assert doc.noun_chunks_iterator is read


def test_a_doc_without_parts_of_speech_or_heads_is_an_error():
    with pytest.raises(ValueError, match=r"E823.*DEP"):
        found(Doc(Vocab(), words=["tea"], pos=["NOUN"]))
    with pytest.raises(ValueError, match=r"E823.*POS"):
        found(Doc(Vocab(), words=["tea"], heads=[0], deps=["ROOT"]))


@pytest.mark.parametrize("lang", ["en", "tr", "hu", "xx"])
def test_docs_of_a_pipeline_find_noun_chunks_after_parsing_and_loading(lang):
    """Also in languages without rules in spaCy, and in one that spaCy does not know."""
    nlp = initialized_nlp(lang=lang)
    before = treebank_docs(nlp.vocab)[0]
    docs = list(nlp.pipe([before]))
    for token in docs[0]:
        token.pos_ = "NOUN"
    assert list(docs[0].noun_chunks)
    loaded = make_nlp(lang=lang)
    loaded.from_bytes(nlp.to_bytes())
    copied = next(iter(DocBin(docs=docs).get_docs(loaded.vocab)))
    assert copied.noun_chunks_iterator is ud_noun_chunks


def test_other_labels_keep_the_rules_of_the_language():
    nlp = initialized_nlp()
    nlp.get_pipe("g2g_parser").cfg["labels"] = ["ROOT", "nsubj", "dobj", "det", "punct", "pobj"]
    doc = nlp(Doc(Vocab(), words=["tea"]))
    assert doc.noun_chunks_iterator is not ud_noun_chunks
