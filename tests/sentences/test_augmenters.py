"""Sentences that lose their full stop keep everything else."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.augment import create_lower_casing_augmenter

from spacy_g2g.data.corpus import make_corpus, unparsed_copy
from spacy_g2g.data.docs import TREEBANK_KEY
from spacy_g2g.sentences.augmenters import final_punct, make_augmented_batches, make_running_text
from spacy_g2g.sentences.rewriting import rewrite, segments_of

from ..util import gold_doc, read_treebank, tree_of

NLP = spacy.blank("xx")
TWO = """
she/PRON/2/nsubj saw/VERB/0/root him/PRON/2/obj ?/PUNCT/2/punct !/PUNCT/4/punct
dogs/NOUN/2/nsubj bark/VERB/0/root ./PUNCT/2/punct
"""


def example_of(text: str) -> Example:
    gold = gold_doc(NLP.vocab, read_treebank(text))
    return Example(unparsed_copy(gold, ["SENT_START"]), gold)


def augmented(example: Example, level: float = 1.0) -> Example:
    (found,) = make_running_text(drop_punct=level)(NLP, example)
    return found


def test_sentences_lose_the_punctuation_at_their_end():
    found = augmented(example_of(TWO))
    words = ["she", "saw", "him", "dogs", "bark"]
    assert [token.text for token in found.reference] == words
    assert [token.text for token in found.predicted] == words
    for doc in (found.reference, found.predicted):
        assert [token.i for token in doc if token.is_sent_start] == [0, 3]
    tree = [(1, "nsubj"), (1, "root"), (1, "obj"), (4, "nsubj"), (4, "root")]
    assert tree_of(found.reference) == tree
    assert [token.pos_ for token in found.reference] == ["PRON", "VERB", "PRON", "NOUN", "VERB"]
    assert not found.predicted.has_annotation("DEP")


def test_docs_are_put_into_lower_case_and_sentences_are_joined():
    words = ["She", "left", ".", "Dogs", "bark"]
    heads, deps = [1, 1, 1, 4, 4], ["nsubj", "root", "punct", "nsubj", "root"]
    gold = Doc(NLP.vocab, words=words, spaces=[True] * 5, pos=["PRON"] * 5, heads=heads, deps=deps)
    example = Example(unparsed_copy(gold, ["SENT_START"]), gold)
    (found,) = make_running_text(drop_punct=0.0, lower_case=1.0, join_share=1.0)(NLP, example)
    for doc in (found.predicted, found.reference):
        assert doc.text == "she left .dogs bark"
        assert [token.i for token in doc if token.is_sent_start] == [0, 3]
    assert tree_of(found.reference) == tree_of(gold)
    assert found.reference[0].pos_ == "PRON"


def test_the_level_is_the_share_of_the_sentences():
    augment = make_running_text(drop_punct=0.3, seed=1)
    example = example_of("dogs/NOUN/2/nsubj bark/VERB/0/root ./PUNCT/2/punct")
    n_changed = sum(len(next(augment(NLP, example)).reference) == 2 for _ in range(1000))
    assert 250 < n_changed < 350
    augment = make_running_text(drop_punct=0.0, drop_all_punct=0.5)
    lengths = {len(next(augment(NLP, example_of(TWO))).reference) for _ in range(20)}
    # All sentences of a Doc are changed, or none. Three of the 8 tokens are final punctuation.
    assert lengths == {8, 5}


def test_docs_are_cut_into_shorter_ones_that_have_all_sentences():
    gold = gold_doc(NLP.vocab, read_treebank(TWO) * 10)
    example = Example(unparsed_copy(gold, ["SENT_START"]), gold)
    augment = make_running_text(drop_punct=0.0, cut_share=1.0)
    lengths = set[int]()
    for _ in range(10):
        parts = [*augment(NLP, example)]
        lengths |= {len(list(part.reference.sents)) for part in parts}
        assert "".join(part.reference.text_with_ws for part in parts) == gold.text_with_ws
        assert [node for part in parts for node in relative_tree(part.reference)] == relative_tree(gold)
        for part in parts:
            starts = [token.i for token in part.reference if token.is_sent_start]
            assert [token.i for token in part.predicted if token.is_sent_start] == starts
    assert lengths == {1, 2, 3, 4, 5}
    assert [*make_running_text(drop_punct=0.0, cut_share=0.0)(NLP, example)] == [example]


def test_sentences_of_eight_docs_are_mixed():
    sentence = read_treebank(TWO)[0]
    examples = []
    for number in range(8):
        words = [(f"{word}{number}-{i}", *rest) for i in range(5) for word, *rest in sentence]
        gold = gold_doc(
            NLP.vocab, [words[i : i + len(sentence)] for i in range(0, len(words), len(sentence))]
        )
        examples.append(Example(unparsed_copy(gold, ["SENT_START"]), gold))
    augment = make_running_text(drop_punct=0.0, mix_share=1.0)
    assert not [found for example in examples[:7] for found in augment(NLP, example)]
    mixed = [*augment(NLP, examples[7])]
    found = [sent for example in mixed for sent in example.reference.sents]
    expected = [sent for example in examples for sent in example.reference.sents]
    assert sorted(sent.text for sent in found) == sorted(sent.text for sent in expected)
    assert {len(sent) for sent in found} == {len(sentence)}
    assert all(relative_tree(sent.as_doc()) == relative_tree(expected[0].as_doc()) for sent in found)
    assert all(1 <= len(list(example.reference.sents)) <= 10 for example in mixed)
    assert max(len({sent[0].text[3] for sent in example.reference.sents}) for example in mixed) > 2
    for example in mixed:
        starts = [token.i for token in example.reference if token.is_sent_start]
        assert [token.i for token in example.predicted if token.is_sent_start] == starts
    assert not [*augment(NLP, examples[0])]


def test_docs_of_different_treebanks_are_not_mixed():
    gold = {name: gold_doc(NLP.vocab, read_treebank(TWO)) for name in ("one", "two")}
    augment = make_running_text(drop_punct=0.0, mix_share=1.0)
    names = []
    for _ in range(8):
        for name, doc in gold.items():
            doc.user_data[TREEBANK_KEY] = name
            found = augment(NLP, Example(unparsed_copy(doc, ["SENT_START"]), doc))
            names += [(name, example.reference.user_data[TREEBANK_KEY]) for example in found]
    assert {*names} == {("one", "one"), ("two", "two")}


def relative_tree(doc: Doc) -> list[tuple[int, str]]:
    """Return the distance of each token to its head, and its label."""
    return [(token.head.i - token.i, token.dep_) for token in doc]


def test_the_seed_fixes_the_choice():
    example = example_of(TWO)

    def choices() -> list[int]:
        augment = make_running_text(drop_punct=0.5, seed=7)
        return [len(next(augment(NLP, example)).reference) for _ in range(20)]

    assert choices() == choices()
    assert len(set(choices())) > 1


@pytest.mark.parametrize(
    "sentence",
    [
        "yes/INTJ/0/root",
        "!/PUNCT/0/root",
        "!/PUNCT/0/root ?/PUNCT/1/punct",
        "he/PRON/2/nsubj left/VERB/0/root",
        "so/ADV/2/advmod (/PUNCT/0/root",
    ],
)
def test_words_roots_and_what_words_hang_on_stay(sentence: str):
    example = example_of(sentence)
    found = augmented(example)
    if sentence.startswith("!/PUNCT/0/root ?"):
        assert [token.text for token in found.reference] == ["!"]
    else:
        assert found is example


def test_without_parts_of_speech_characters_say_what_is_punctuation():
    gold = Doc(NLP.vocab, words=["Go", "!"], heads=[0, 0], deps=["root", "punct"])
    assert final_punct(list(gold)) == [1]


def test_the_word_before_the_gap_has_its_white_space():
    doc = Doc(NLP.vocab, words=["a", ".", "b"], spaces=[False, True, False])
    assert rewrite(doc, segments_of(doc, np.array([True, False, True]))).text == "a b"


def test_examples_with_other_tokens_or_entities_stay():
    gold = gold_doc(NLP.vocab, read_treebank(TWO))
    example = Example(Doc(NLP.vocab, words=["".join(t.text for t in gold)]), gold)
    assert augmented(example) is example
    gold.ents = [gold.char_span(0, 3, label="X")]
    example = Example(unparsed_copy(gold, []), gold)
    assert augmented(example) is example


@given(
    st.lists(st.sampled_from(read_treebank() + read_treebank(TWO)), min_size=1, max_size=5),
    st.integers(0, 99),
)
def test_what_is_left_is_as_it_was(sentences: list[list[tuple[str, str, int, str]]], seed: int):
    gold = gold_doc(NLP.vocab, sentences)
    (found,) = make_running_text(drop_punct=0.5, seed=seed)(NLP, Example(unparsed_copy(gold, []), gold))
    left = found.reference
    assert len(list(left.sents)) == len(sentences)
    for before, after in zip(gold.sents, left.sents, strict=True):
        assert 1 <= len(after) <= len(before)
        assert [token.text for token in after] == [token.text for token in before[: len(after)]]
        assert [(t.head.i - after.start, t.dep_) for t in after] == [
            (t.head.i - before.start, t.dep_) for t in before[: len(after)]
        ]


@pytest.mark.parametrize("level", [-0.1, 1.1])
def test_a_level_that_is_no_share_is_an_error(level: float):
    with pytest.raises(ValueError, match=f"E408.*drop_punct.*{level}"):
        make_running_text(drop_punct=level)


def test_the_corpus_reader_takes_any_augmenter(tmp_path: Path):
    path = tmp_path / "corpus.conllu"
    rows = [
        "\t".join([str(i), form, form, pos, "_", "_", str(head), dep, "_", "_"])
        for i, (form, pos, head, dep) in enumerate(read_treebank()[0], 1)
    ]
    path.write_text("\n".join(rows) + "\n\n", encoding="utf8")
    (example,) = make_corpus(path, augmenter=make_running_text(drop_punct=1.0))(NLP)
    assert [token.text for token in example.predicted] == ["she", "saw", "the", "cat"]
    both = make_corpus(path, augmenter=lambda nlp, example: iter([example, example]))
    assert len(list(both(NLP))) == 2


def test_a_batcher_changes_examples_anew_in_each_epoch():
    examples = [example_of(TWO) for _ in range(20)]
    augmenter = make_running_text(drop_punct=0.0, drop_all_punct=0.5)
    batcher = make_augmented_batches(lambda changed: ([example] for example in changed), augmenter)
    epochs = [[len(example.predicted) for (example,) in batcher(examples)] for _ in range(3)]
    # A Doc has 8 tokens, of which 3 are final punctuation.
    assert all({*lengths} == {5, 8} for lengths in epochs)
    assert len({*map(tuple, epochs)}) == 3
    assert {len(example.predicted) for example in examples} == {8}


def test_an_augmenter_that_asks_a_batcher_for_the_pipeline_is_an_error():
    augmenter = create_lower_casing_augmenter(1.0)
    batcher = make_augmented_batches(lambda changed: ([example] for example in changed), augmenter)
    with pytest.raises(ValueError, match=r"E518\].*nlp\.make_doc.*corpora\.train\.augmenter"):
        list(batcher([example_of(TWO)]))
