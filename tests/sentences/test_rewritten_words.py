"""Words that change in training: names, digits, quotation marks and typos. Trees and tags stay."""

import unicodedata
from collections import Counter
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms
from spacy_g2g.sentences.augmenters import make_augmented_batches, make_running_text
from spacy_g2g.sentences.rewritten_words import make_rewritten_words

from ..util import gold_doc, read_treebank, tree_of

NLP = spacy.blank("xx")
ALL = {"names": 1.0, "digits": 1.0, "quotes": 1.0, "typos": 1.0}


def make_example(words: list[str], **columns: Any) -> Example:
    n = len(words)
    columns = {"pos": ["NOUN"] * n, "lemmas": words, "heads": [0] * n, "deps": ["dep"] * n, **columns}
    gold = Doc(NLP.vocab, words=words, **columns)
    return Example(unparsed_copy(gold, ["SENT_START"]), gold)


def rewritten(example: Example, seed: int = 0, **shares: float) -> Doc:
    (found,) = make_rewritten_words(**shares, seed=seed)(NLP, example)
    assert word_forms(found.predicted) == word_forms(found.reference)
    assert found.predicted.text == found.reference.text
    return found.reference


def words_of(doc: Doc) -> list[str]:
    return [token.text for token in doc]


@given(st.lists(st.sampled_from(read_treebank()), min_size=1, max_size=5), st.integers(0, 99))
def test_trees_tags_and_sentences_stay(sentences: list[list[tuple[str, str, int, str]]], seed: int):
    gold = gold_doc(NLP.vocab, sentences)
    found = rewritten(Example(unparsed_copy(gold, []), gold), seed, **ALL)
    assert tree_of(found) == tree_of(gold)
    for old, new in zip(gold, found, strict=True):
        assert (new.pos, new.is_sent_start, new.whitespace_) == (old.pos, old.is_sent_start, old.whitespace_)
        assert new.lemma == (old.lemma if new.text == old.text else 0)


def test_a_new_word_has_no_lemma_and_the_others_keep_theirs():
    found = rewritten(make_example(["in", "1998", "we"]), digits=1.0)
    assert [token.lemma_ for token in found] == ["in", "", "we"]


def test_names_with_white_space_inside_change():
    example = make_example(["Hà Nội", "Việt Nam"], pos=["PROPN"] * 2)
    found = {form for seed in range(20) for form in words_of(rewritten(example, seed, names=1.0))}
    assert found > {"Hà Nội", "Việt Nam"}


def test_a_name_becomes_one_of_its_kind():
    """The features, the tag and the capitals of a name are those of the one in its place."""
    words = ["Anna", "Otto", "Paul", "ROM", "PARIS", "Russen", "Polen", "Berge"]
    morphs = ["Gender=Fem"] + ["Gender=Masc"] * 2 + [""] * 2 + ["Number=Plur"] * 2 + [""]
    example = make_example(words, pos=["PROPN"] * 7 + ["NOUN"], tags=["NE"] * 8, morphs=morphs)
    found = [words_of(rewritten(example, seed, names=1.0)) for seed in range(50)]
    columns = [{*column} for column in zip(*found, strict=True)]
    assert {*"".join(columns[0])} == {*"Anna"}
    assert {"Otto", "Paul"} <= columns[1]
    assert {"ROM", "PARIS"} <= columns[3]
    assert {"Russen", "Polen"} <= columns[5]
    assert columns[7] == {"Berge"}
    assert not {"Otto", "Paul"} & (columns[0] | columns[3] | columns[5])
    assert all(map(str.isupper, columns[3] | columns[4]))
    # Some are made up of parts of both names.
    made_up = (columns[5] | columns[6]) - {"Russen", "Polen"}
    assert made_up
    assert all(name[0] in "RP" and name.endswith("en") and name.istitle() for name in made_up)


def test_names_are_those_of_the_docs_so_far():
    augment = make_rewritten_words(names=1.0)
    texts = {
        next(augment(NLP, make_example([name], pos=["PROPN"]))).reference.text.strip()
        for name in ["Ωμέγα", "Άλφα"] * 20
    }
    assert {"Ωμέγα", "Άλφα"} <= texts
    assert {*"".join(texts).lower()} <= {*"ωμέγαάλφα"}


def test_digits_stay_in_their_script():
    found = words_of(rewritten(make_example(["1998", "\u0661\u0660", "४२%", "x²"]), digits=1.0))
    assert found[0].isascii()
    assert "0" not in found[0]
    assert all("\u0661" <= digit <= "\u0669" for digit in found[1])
    assert found[2][2] == "%"
    assert found[3] == "x²"
    assert [len(word) for word in found] == [4, 2, 3, 2]


def test_quotation_marks_become_curly_and_back():
    words = ['"', "It", "'s", "'", "so", "'", '"', ",", "``", "he", "''"]
    spaces = [False, False, True, False, False, False, False, True, False, False, False]
    example = make_example(words, spaces=spaces)
    found = rewritten(example, quotes=1.0)
    assert found.text == "\u201cIt\u2019s \u2018so\u2019\u201d, \u201che\u201d"
    example = Example(unparsed_copy(found, []), found)
    assert rewritten(example, quotes=1.0).text == '"It\'s \'so\'", "he"'
    assert rewritten(make_example(["\u201e", "ja", "\u201c"]), quotes=1.0).text == '" ja " '


def test_typos_are_in_one_word_of_twelve_and_of_the_letters_of_the_text():
    words = ["Der", "Hund", "sah", "drei", "Katzen", ",", "die", "42", "Vögel", "im", "Baum", "."] * 200
    found = words_of(rewritten(make_example(words), typos=1.0))
    pairs = [(old, new) for old, new in zip(words, found, strict=True) if old != new]
    assert len(words) / 16 < len(pairs) < len(words) / 10
    assert all(old[0] == new[0] and abs(len(old) - len(new)) <= 1 for old, new in pairs)
    assert {*"".join(found)} <= {*"".join(words).lower(), *"".join(words)}
    kinds = Counter(len(new) - len(old) if sorted(old) != sorted(new) else "swap" for old, new in pairs)
    assert {*kinds} == {-1, 0, 1, "swap"}
    hindi = words_of(rewritten(make_example(["\u0939\u093f\u0928\u094d\u0926\u0940"] * 100), typos=1.0))
    assert len({*hindi}) > 1
    assert {unicodedata.category(letter) for letter in "".join(hindi)} <= {"Lo", "Mn", "Mc"}


def test_words_of_multiword_tokens_change_with_their_text():
    example = make_example(["I", "do", "n't", "d", "u"], spaces=[True, False, True, False, False])
    for doc in (example.predicted, example.reference):
        mark_words(doc, [(1, 3), (3, 5)], ["do", "n't", "de", "le"])
    found = rewritten(example, quotes=1.0)
    assert word_forms(found) == ["I", "do", "n\u2019t", "de", "le"]
    assert multiword_tokens(found) == [(1, 3), (3, 5)]
    assert [span.label_ for span in found.spans["mwt"]] == ["do n\u2019t", "de le"]


def test_words_whose_form_is_not_their_text_stay():
    example = make_example(["auxq", "uels", "chats"], spaces=[False, True, False])
    for doc in (example.predicted, example.reference):
        mark_words(doc, [(0, 2)], ["à", "lesquels"])
    for seed in range(20):
        found = rewritten(example, seed, typos=1.0)
        assert words_of(found)[:2] == ["auxq", "uels"]
        assert word_forms(found)[:2] == ["à", "lesquels"]


def test_the_share_is_that_of_the_sentences_and_the_seed_fixes_them():
    words, n = ["1", "a"], 2000
    example = make_example(words * n, heads=[i - i % 2 for i in range(2 * n)], sent_starts=[True, False] * n)
    found = words_of(rewritten(example, seed=3, digits=0.3))
    # A ninth of the new digits are the old ones.
    assert 0.23 < sum(word not in words for word in found) / n < 0.3
    assert found == words_of(rewritten(example, seed=3, digits=0.3))
    assert found != words_of(rewritten(example, seed=4, digits=0.3))


def test_examples_stay_without_a_share_or_with_annotations_that_would_be_lost():
    example = make_example(["Anna", "1998"])
    assert next(make_rewritten_words()(NLP, example)) is example
    example.reference.ents = [example.reference.char_span(0, 4, label="X")]
    assert next(make_rewritten_words(**ALL)(NLP, example)) is example


def test_two_augmenters_work_one_behind_the_other():
    def batch(examples):
        return ([example] for example in examples)

    batch = make_augmented_batches(batch, make_rewritten_words(digits=1.0))
    batch = make_augmented_batches(batch, make_running_text(drop_punct=1.0))
    ((example,),) = batch([make_example(["1998", "."], pos=["NUM", "PUNCT"], deps=["root", "punct"])])
    (word,) = words_of(example.reference)
    assert word.isdecimal()


def test_a_share_above_one_is_an_error():
    with pytest.raises(ValueError, match=r"E408.*typos is 1\.5"):
        make_rewritten_words(typos=1.5)
