"""``g2g_layout``: white space and blocks, for the components behind it."""

from itertools import pairwise
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.parser.noun_chunks import ud_noun_chunks
from spacy_g2g.sentences.g2g_layout import G2GLayout

from ..roundtrips import PIPELINE_WAYS, Keep
from ..util import treebank_examples

TEXT = "\n Notes\n\n- buy tea\n- buy milk\n\nIt is late. Go!\n"
SENTENCES = ["\n Notes", "- buy tea", "- buy milk", "It is late.", "Go!"]


def layout_nlp(*behind: str, **settings: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("g2g_layout", config=settings)
    for name in behind:
        nlp.add_pipe(name)
    return nlp


def sentences_of(doc: Doc) -> list[str]:
    return [sent.text.rstrip() for sent in doc.sents]


def starts_of(doc: Doc) -> list[int]:
    return [token.sent_start for token in doc]


def test_white_space_is_annotated_as_in_pipelines_of_spacy():
    doc = layout_nlp()(spacy.blank("en").make_doc(TEXT))
    for token in doc:
        found = (token.tag_, token.pos_, token.lemma_, str(token.morph), token.has_morph())
        assert found == (
            ("_SP", "SPACE", token.text, "", True) if token.is_space else ("", "", "", "", False)
        )


@pytest.fixture(scope="module")
def tagged() -> Language:
    """Components of spaCy behind the layout. They would call white space what they call words."""
    nlp = layout_nlp()
    for name, settings in (
        ("tagger", {"overwrite": False}),
        ("morphologizer", {"overwrite": False}),
        ("trainable_lemmatizer", {"overwrite": False, "min_tree_freq": 1}),
    ):
        nlp.add_pipe(name, config=settings)
    examples = treebank_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.lemma_ = token.lower_
            token.set_morph("Number=Sing")
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def test_taggers_keep_white_space(tagged: Language):
    for doc in tagged.pipe(["she saw\n\nthe cat", "\n", " \t she"], batch_size=2):
        for token in doc:
            if token.is_space:
                found = token.tag_, token.pos_, token.lemma_, str(token.morph)
                assert found == ("_SP", "SPACE", token.text, "")
            else:
                assert token.tag_
                assert token.tag_ != "_SP"
                assert str(token.morph) == "Number=Sing"
                assert token.lemma_


def test_the_lemmatizer_of_spacy_keeps_white_space():
    nlp = layout_nlp()
    lemmatizer = nlp.add_pipe("lemmatizer", config={"mode": "lookup", "overwrite": False})
    lookups = Lookups()
    lookups.add_table("lemma_lookup", {"\n": "wrong", "dogs": "dog"})
    lemmatizer.initialize(lookups=lookups)  # type: ignore[attr-defined]
    assert [token.lemma_ for token in nlp("dogs\nbark")] == ["dog", "\n", "bark"]


@pytest.mark.parametrize(
    ("tokens", "chunks"),
    [
        ("Marie/PROPN/0/root|Curie/PROPN/0/flat|\n\n/SPACE/1/dep", ["Marie Curie"]),
        (
            "Thanks/NOUN/5/obl|\n/SPACE/0/dep|Jane/PROPN/5/nsubj|\n/SPACE/2/dep|Doe/PROPN/2/flat|"
            "came/VERB/5/root|\n\n/SPACE/5/dep|later/ADV/5/advmod|./PUNCT/5/punct",
            ["Thanks", "Jane\nDoe"],
        ),
        ("the/DET/2/det| /SPACE/0/dep|cat/NOUN/2/root|\n/SPACE/2/dep", ["the  cat"]),
        (
            "\n/SPACE/1/dep|the/DET/2/det|cat/NOUN/2/root|\n/SPACE/2/dep|Tom/PROPN/2/flat|\n/SPACE/4/dep",
            ["the cat\nTom"],
        ),
    ],
    ids=["name", "mail", "gap", "edges"],
)
def test_white_space_heads_and_ends_no_noun_chunk(tokens: str, chunks: list[str]):
    nlp = layout_nlp()
    words, pos, heads, deps = zip(*(token.split("/") for token in tokens.split("|")), strict=True)
    spaces = [
        not (word.isspace() or after.startswith("\n") or not after) for word, after in pairwise([*words, ""])
    ]
    doc = nlp(Doc(nlp.vocab, words, spaces, pos=pos, heads=[*map(int, heads)], deps=deps))
    found = [doc[start:end] for start, end, _ in ud_noun_chunks(doc)]
    assert [span.text for span in found] == chunks
    assert not any(span[0].is_space or span[-1].is_space for span in found)
    # Nor does a tagger that takes it for a noun make it one.
    for token in doc:
        if token.is_space:
            token.pos_, token.dep_ = "PROPN", "dep"
    assert [doc[start:end].text for start, end, _ in ud_noun_chunks(doc)] == chunks


def test_a_sentencizer_keeps_blocks():
    assert sentences_of(layout_nlp("sentencizer")(TEXT)) == SENTENCES
    without = layout_nlp("sentencizer", blocks=False)(TEXT)
    assert sentences_of(without)[:2] == [TEXT.partition(" Go!")[0], "Go!"]
    assert without[0].tag_ == "_SP"


def test_a_senter_keeps_blocks():
    nlp = layout_nlp("senter")
    gold = Doc(nlp.vocab, words=["a", "b", "c"], sent_starts=[True, False, False])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["a", "b", "c"]), gold)])
    with nlp.select_pipes(enable="g2g_layout"):
        blocks = [token.i for token in nlp(TEXT) if token.is_sent_start]
    assert len(blocks) == 4
    assert {*blocks} <= {token.i for token in nlp(TEXT) if token.is_sent_start}


def test_boundaries_that_are_set_or_ruled_out_stay():
    nlp = layout_nlp()
    words = ["a", "\n\n", "b", "c", "\n\n", "d", "\n\n", "e"]
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    doc[2].is_sent_start, doc[3].is_sent_start, doc[5].is_sent_start = False, True, True
    doc[4].is_sent_start = True
    assert starts_of(doc) == [0, 0, -1, 1, 1, 1, 0, 0]
    # The last block is new, and the white space before a block is in the sentence before it.
    assert starts_of(nlp(doc)) == [0, -1, -1, 1, 1, 1, -1, 1]


def test_texts_without_white_space_or_words():
    nlp = layout_nlp("sentencizer")
    docs = nlp.pipe(["", "\n\n", "Go on. Now"])
    assert [sentences_of(doc) for doc in docs] == [[], [""], ["Go on.", "Now"]]
    assert starts_of(layout_nlp()("Go on. Now"))[1:] == [0, 0, 0]


@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_it_is_saved_and_loaded(tmp_path: Path, keep: Keep):
    nlp = layout_nlp("sentencizer", blocks=False)
    kept = keep(nlp, tmp_path)
    layout = kept.get_pipe("g2g_layout")
    assert isinstance(layout, G2GLayout)
    assert not layout.blocks
    assert sentences_of(kept(TEXT)) == sentences_of(nlp(TEXT))
