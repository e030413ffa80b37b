"""``mwt_splitter``: multiword tokens become words, and the text stays."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.symbols import NORM, ORTH
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from thinc.api import Adam

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms
from spacy_g2g.mwt import mwt_splitter

from ..roundtrips import PIPELINE_WAYS, Keep
from ..util import forks

#: Number of random texts.
N_TEXTS = 200
#: Tokens of a text, with "+" between words, and "=" between words whose token has other letters.
TRAINING = (
    "vede del=di+il mare e vuol dir+lo",
    "la casa della=di+la nonna è qui , dir+gli di far+lo",
    "un piccolo gelo , un velo e la nonna al=a+il mare",
    "Della=Di+la casa e del=di+il mare si vuol far+gli",
)


def gold_doc(line: str, nlp: Language) -> Doc:
    texts: list[str] = []
    spaces: list[bool] = []
    ranges, forms = [], []
    for token in line.split():
        form, _, words = token.rpartition("=")
        parts = words.split("+")
        if len(parts) > 1:
            ranges.append((len(texts), len(texts) + len(parts)))
            forms += parts
        # Two words each, cut before the last letter.
        texts += [form[:-1], form[-1:]] if form else parts
        spaces += [*[False] * (len(parts) - 1), True]
    doc = Doc(nlp.vocab, words=texts, spaces=spaces)
    mark_words(doc, ranges, forms)
    return doc


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("xx")
    nlp.tokenizer.add_special_case("del", [{ORTH: "de", NORM: "di"}, {ORTH: "l", NORM: "il"}])
    nlp.add_pipe("mwt_splitter")
    docs = [gold_doc(line, nlp) for line in TRAINING]
    examples = [Example(unparsed_copy(doc, []), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    return nlp


def split(doc: Doc) -> list[str]:
    forms = word_forms(doc)
    return [f"{doc[a:b].text}={'+'.join(forms[a:b])}" for a, b in multiword_tokens(doc)]


def test_words_of_the_treebank_are_learned(nlp: Language):
    docs = [gold_doc(line, nlp) for line in TRAINING]
    scores = nlp.get_pipe("mwt_splitter").score([Example(unparsed_copy(doc, []), doc) for doc in docs])
    assert scores == {"mwt_f": 1.0}


def test_losses_of_updates_are_summed():
    nlp = spacy.blank("xx")
    pipe: Any = nlp.add_pipe("mwt_splitter")
    docs = [gold_doc(line, nlp) for line in TRAINING]
    examples = [Example(unparsed_copy(doc, []), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    first = pipe.update(examples)["mwt_splitter"]
    losses = pipe.update(examples, losses={"mwt_splitter": 100.0, "other": 1.0})
    assert losses["mwt_splitter"] > 100 + first / 2 > 100
    before = pipe.model.to_bytes()
    pipe.update(examples)
    assert pipe.model.to_bytes() == before
    pipe.update(examples, sgd=Adam(0.01))
    assert pipe.model.to_bytes() != before
    # No candidate of the token is right.
    other = gold_doc("dirlo=di+r", nlp)
    assert pipe.update([Example(unparsed_copy(other, []), other)]) == {"mwt_splitter": 0.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La casa della nonna\n vuol  dirlo", ["della=di+la", "dirlo=dir+lo"]),
        ("vuol salutargli", ["salutargli=salutar+gli"]),  # was never seen
        ("a" * 5000 + "lo", []),  # a very long token stays whole
    ],
    ids=lambda value: str(value)[:40],
)
def test_tokens_are_split_and_text_and_offsets_stay(nlp: Language, text: str, expected: list[str]):
    doc = nlp(text)
    assert doc.text == text
    assert split(doc) == expected
    assert all(text[token.idx : token.idx + len(token)] == token.text for token in doc)


def test_special_cases_are_marked(nlp: Language):
    doc = nlp("vede del mare")
    assert [token.text for token in doc] == ["vede", "de", "l", "mare"]
    assert split(doc) == ["del=di+il"]
    assert [word.form for word in doc_to_sentences(doc)[0].words] == ["vede", "di", "il", "mare"]


def test_given_words_stay(nlp: Language):
    doc = Doc(nlp.vocab, words=["vuol", "dirlo"])
    mark_words(doc, [], [])
    assert [token.text for token in nlp(doc)] == ["vuol", "dirlo"]
    assert len(nlp(nlp("vuol dirlo"))) == 3


def test_entities_spans_and_matches_keep_their_characters(nlp: Language):
    doc = nlp.make_doc("vuol dirlo alla casa della nonna")
    doc.ents = [Span(doc, 4, 6, "PER")]
    doc.spans["other"] = [Span(doc, 1, 3, "A"), Span(doc, 4, 6, "B")]
    nlp.get_pipe("mwt_splitter")(doc)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("della nonna", "PER")]
    assert [(span.text, span.label_) for span in doc.spans["other"]] == [
        ("dirlo alla", "A"),
        ("della nonna", "B"),
    ]
    matcher = Matcher(nlp.vocab)
    matcher.add("WORD", [[{"NORM": "di"}, {"NORM": "la"}]])
    assert [doc[start:end].text for _, start, end in matcher(doc)] == ["della"]


def test_pieces_take_nothing_of_the_next_token(nlp: Language):
    doc = Doc(
        nlp.vocab,
        words=["vede", "della", "Casa", "alla", "nonna"],
        sent_starts=[True, False, True, False, False],
        heads=[0, 0, 2, 4, 2],
        deps=["root", "obj", "root", "case", "nmod"],
        tags=["V", "E", "S", "E", "S"],
    )
    doc.ents = [Span(doc, 1, 2, "PER"), Span(doc, 2, 3, "LOC")]
    doc.tensor = np.ones((5, 2), dtype="f")
    nlp.get_pipe("mwt_splitter")(doc)
    assert [sentence.text for sentence in doc.sents] == ["vede della", "Casa alla nonna"]
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("della", "PER"), ("Casa", "LOC")]
    assert [token.ent_type_ for token in doc[:4]] == ["", "PER", "PER", "LOC"]
    assert [(token.tag_, token.dep_) for token in doc[:4]] == [
        ("V", "root"),
        ("E", "obj"),
        ("", ""),
        ("S", "root"),
    ]
    assert (doc[1].head.i, doc[2].head.i, doc.tensor.shape) == (0, 2, (len(doc), 2))


def test_boundaries_that_are_set_stay(nlp: Language):
    doc = Doc(nlp.vocab, words=["vede", "della", "Casa"], sent_starts=[True, False, True])
    nlp.get_pipe("mwt_splitter")(doc)
    assert [token.is_sent_start for token in doc] == [True, False, False, True]
    assert [token.is_sent_start for token in nlp("vede della")][1:] == [None, None]


def test_groups_of_spans_keep_their_attributes(nlp: Language):
    doc = nlp.make_doc("vuol dirlo")
    doc.spans["other"] = SpanGroup(doc, name="other", attrs={"scores": [0.5]}, spans=[doc[1:2]])
    nlp.get_pipe("mwt_splitter")(doc)
    assert ([span.text for span in doc.spans["other"]], doc.spans["other"].attrs) == (
        ["dirlo"],
        {"scores": [0.5]},
    )


@forks
@pytest.mark.linux
def test_processes_give_the_same_words(nlp: Language):
    texts = ["vuol dirlo", "La casa della nonna"] * 3
    assert [split(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)] == [
        *map(split, map(nlp, texts))
    ]


def test_results_do_not_depend_on_the_batch(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    words = ["dirlo", "della", "del", ",", "farlo", "gelo", "alla", "al"]
    texts = [" ".join(random.Random(i).sample(words, 5)) for i in range(9)]
    alone = [split(nlp(text)) for text in texts]
    assert [split(doc) for doc in nlp.pipe(texts, batch_size=4)] == alone
    assert any(alone)
    monkeypatch.setattr(mwt_splitter, "TOKENS_AT_ONCE", 2)
    assert [split(nlp(text)) for text in texts] == alone


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_it_is_saved_and_loaded(nlp: Language, tmp_path: Path, keep: Keep, half: bool):
    pipe: Any = nlp.get_pipe("mwt_splitter")
    pipe.half_precision_weights = half
    kept = keep(nlp, tmp_path)
    pipe.half_precision_weights = False
    found = split(kept("Della casa, vuol dirgli del mare"))
    assert found == ["Della=Di+la", "dirgli=dir+gli", "del=di+il"]


def test_a_damaged_file_is_named(nlp: Language, tmp_path: Path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "mwt_splitter" / "model"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"E805.*model"):
        spacy.load(tmp_path)


def test_a_treebank_without_multiword_tokens_changes_nothing(tmp_path: Path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("mwt_splitter")
    doc = gold_doc("la casa è qui", nlp)
    examples = [Example(unparsed_copy(doc, []), doc)]
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert not loaded("della casa").spans
    assert "mwt_f" not in loaded.evaluate(examples)


def test_no_text_is_changed_by_any_component(nlp: Language):
    """A tagger, sentences at blocks and CoNLL-U see any text as it is."""
    others = spacy.blank("xx", vocab=nlp.vocab)
    for name in ("sentencizer", "g2g_layout", "merge_entities"):
        others.add_pipe(name)
    chance = random.Random(0)
    parts = ["dirlo", "della", "DEL", "del", "farlo", "(della)", "\n\n", " ", ".", "İlo", "lo", "\0lo", "gli"]
    for _ in range(N_TEXTS):
        text = "".join(chance.choice(parts) + chance.choice(["", " "]) for _ in range(chance.randint(0, 12)))
        doc = nlp(text)
        assert doc.text == text
        assert all(token.text.strip() for a, b in multiword_tokens(doc) for token in doc[a:b])
        for _, pipe in others.pipeline:
            doc = pipe(doc)
        written = doc_to_sentences(doc)
        assert (doc.text, "".join(s.text for s in written).replace(" ", "")) == (text, "".join(text.split()))
        assert len(word_forms(doc)) == len(doc)
