"""Noun chunks from trees of Universal Dependencies."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_g2g.parser.noun_chunks import LANGUAGES, ud_noun_chunks

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
[the/DET/2/det king/NOUN/6/nsubj] of/ADP/4/case [Spain/PROPN/2/nmod] 's/PART/4/case slept/VERB/0/root
"""
OTHERS = {
    "de": "[der/DET/3/det alte/ADJ/3/amod Mann/NOUN/4/nsubj] sah/VERB/0/root [den/DET/6/det Hund/NOUN/4/obj] "
    "im/ADP/8/case [Garten/NOUN/4/obl]",
    "ja": "[猫/NOUN/5/nsubj] が/ADP/1/case [魚/NOUN/5/obj] を/ADP/3/case 食べた/VERB/0/root",
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


def test_the_languages_are_those_whose_rules_have_no_object_of_universal_dependencies():
    rules = Path(spacy.__file__).parent.glob("lang/*/syntax_iterators.py")
    without = {path.parent.name for path in rules if '"obj"' not in path.read_text(encoding="utf8")}
    # The rules of these two take any noun.
    assert without - {"da", "la"} == LANGUAGES


def test_a_doc_without_parts_of_speech_or_heads_is_an_error():
    with pytest.raises(ValueError, match=r"E823.*DEP"):
        found(Doc(Vocab(), words=["tea"], pos=["NOUN"]))
    with pytest.raises(ValueError, match=r"E823.*POS"):
        found(Doc(Vocab(), words=["tea"], heads=[0], deps=["ROOT"]))


@pytest.mark.parametrize("lang", ["en", "hu", "xx"])
def test_docs_of_a_pipeline_find_noun_chunks_after_parsing_and_loading(lang):
    """Also in a language without rules in spaCy, and in one that spaCy does not know."""
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
