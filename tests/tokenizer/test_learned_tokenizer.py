"""The tokenizer for languages without spaces between words."""

import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.vocab import Vocab

from spacy_g2g.tokenizer.learned_tokenizer import LearnedTokenizer

WORDS = ["我们", "喜欢", "老师", "学校", "学生", "去", "的", "书", "在", "你"]
CONFIG = {"nlp": {"tokenizer": {"@tokenizers": "spacy_g2g.LearnedTokenizer.v1"}}}


def sentences(n: int, seed: int) -> list[str]:
    """Words of random sentences, with their marks."""
    rng = random.Random(seed)
    words: list[str] = []
    for _ in range(n):
        words += [*rng.choices(WORDS, k=6), "。"]
    return words


@pytest.fixture(scope="module")
def trained() -> Language:
    nlp = spacy.blank("zh", config=CONFIG)
    train(nlp.tokenizer)
    return nlp


def train(tokenizer: LearnedTokenizer) -> None:
    words = sentences(80, seed=0)
    starts = [sum(map(len, words[:i])) for i in range(len(words))]
    tokenizer.train("".join(words), starts)


def test_words_are_found_in_sentences_that_were_not_seen(trained: Language):
    words = sentences(20, seed=1)
    assert [token.text for token in trained("".join(words))] == words


@pytest.mark.parametrize(
    "text", ["", " ", "  我们", "我们  去", "书 \n 去 ", "\n", "a\u00a0b", "\u3000书 \t", " 。"]
)
def test_white_space_becomes_tokens_as_in_spacys_tokenizer(trained: Language, text: str):
    found, expected = trained(text), spacy.blank("xx")(text)
    assert found.text == text
    spaces = [[(t.idx, t.text) for t in doc if t.is_space] for doc in (found, expected)]
    assert spaces[0] == spaces[1]
    assert [t.idx for t in found if t.whitespace_] == [t.idx for t in expected if t.whitespace_]


def test_addresses_between_white_space_stay_whole(trained: Language):
    text = "我们 https://example.com/a?b=c 去 a.b@example.com https://学校.jp a.io"
    assert [token.text for token in trained(text)] == text.split()


def eager(trained: Language) -> Language:
    """A tokenizer that starts a word wherever one may start."""
    nlp = spacy.blank("zh", config=CONFIG)
    nlp.tokenizer.from_bytes(trained.tokenizer.to_bytes())
    nlp.tokenizer.weights = np.abs(nlp.tokenizer.weights) + 1
    return nlp


def test_words_of_scripts_that_have_spaces_stay_whole(trained: Language):
    """Whatever the model expects: it has not learned from such letters."""
    text = "hello привет नमस्ते cafe\u0301 \u0e44\u0e21\u0e49 你"
    assert [token.text for token in eager(trained)(text)] == text.split()


def test_no_word_starts_inside_an_emoji_or_with_an_invisible_character(trained: Language):
    emoji = ["👨\u200d👩\u200d👧", "👋🏽", "❤️", "1️⃣", "🇨🇭", "🇯🇵", "🤦🏽\u200d♀️", "书\u200b\u200e"]
    assert [token.text for token in eager(trained)("".join(emoji))] == emoji


@pytest.mark.parametrize(
    "text",
    [
        "看 https://a.org/b 。",
        "x@y.zz ,",
        "( https://www.example.org/a?b=c , 书 www.a.org/ 书",
        "https://en.wikipedia.org/wiki/A_(b) ) 。",
        "书 ー a.b@example.com 的 example.org 。",
    ],
)
def test_addresses_stay_whole_between_marks_and_letters_of_other_scripts(trained: Language, text: str):
    assert [token.text for token in eager(trained)(text.replace(" ", ""))] == text.split()


@pytest.mark.parametrize(
    ("cut", "found"),
    [
        ("我们|去", "user 2024 12:30 1,500.5"),
        ("8|1 22 33 44 55 66", "user 2024 12:30 1,500.5"),
        ("8|1 2|3 44", "user 2|0|2|4 1|2:3|0 1,5|0|0.5"),
        ("8|:|1", "user 2024 12|:|30 1|,|500|.|5"),
    ],
)
def test_numbers_stay_whole_unless_the_treebank_often_cuts_them(cut: str, found: str):
    """A bar is before each start that is not after white space."""
    nlp = spacy.blank("zh", config=CONFIG)
    bars = [i for i, char in enumerate(cut) if char == "|"]
    nlp.tokenizer.train(cut.replace("|", ""), [i - n for n, i in enumerate(bars)])
    nlp.tokenizer.weights = np.abs(nlp.tokenizer.weights) + 1
    assert [token.text for token in nlp(found.replace("|", ""))] == found.replace("|", " ").split()


def test_any_text_comes_out_as_it_went_in(trained: Language):
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(
            chr(rng.choice([32, 10, 0x3042, 0x6211, 0x1F600, 0x301, rng.randrange(1, 0xD800)]))
            for _ in range(20)
        )
        assert trained(text).text == text


def test_training_twice_gives_the_same_weights(trained: Language):
    again = LearnedTokenizer(Vocab())
    train(again)
    assert (again.weights == trained.tokenizer.weights).all()


def test_without_training_text_is_cut_at_white_space():
    assert [token.text for token in spacy.blank("ja", config=CONFIG)("学校に 行く。")] == ["学校に", "行く。"]


def test_it_is_saved_with_a_pipeline(trained: Language, tmp_path: Path):
    """The Japanese pipeline needs none of the packages of spaCy's own tokenizer."""
    nlp = spacy.blank("ja", config=CONFIG)
    nlp.tokenizer.from_bytes(trained.tokenizer.to_bytes())
    nlp.to_disk(tmp_path)
    text = "老师在学校。"
    expected = [token.text for token in trained(text)]
    for copied in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert [token.text for token in copied(text)] == expected
