"""Tokenizers made from the words of a treebank."""

from collections import Counter

import pytest
import spacy
from spacy.tokenizer import Tokenizer
from spacy.vocab import Vocab

from spacy_g2g.data.chunks import ChunkTable, cut
from spacy_g2g.data.tokenizer_rules import Change, additions, language_rules
from spacy_g2g.data.tokenizer_training import train_tokenizer

CHUNKS = Counter(
    {
        ("=====",): 2,
        ("=======",): 2,
        ("555-1234",): 2,
        ("555-9876", "."): 2,
        ("non-profit",): 2,
        ("non-fiction", ","): 2,
        ("well", "-", "known"): 3,
        ("5", "k"): 2,
        ("60", "k"): 2,
        ("Lt.",): 2,
        ("it", "s"): 2,
        ("its",): 5,
        ("don", "'t"): 1,
        ("do", "n't"): 3,
        ("x",): 5,
    }
)


@pytest.fixture(scope="module")
def trained():
    return train_tokenizer(spacy.blank("xx"), CHUNKS)


@pytest.mark.parametrize(
    "tokens",
    [
        ("(", "===", ")"),
        ("=========",),
        ("(", "555-0000", ")"),
        ("non-smoker", "."),
        ("well", "-", "read"),
        ("75", "k"),
        ("(", "Lt.", ")"),
    ],
)
def test_rules_hold_for_chunks_that_were_not_seen(trained, tokens):
    assert cut(trained, "".join(tokens)) == tokens


@pytest.mark.parametrize("tokens", [("its",), ("do", "n't"), ("cats", ".")])
def test_what_the_language_has_right_for_most_chunks_stays(trained, tokens):
    assert cut(trained, "".join(tokens)) == tokens


def test_the_result_is_a_plain_tokenizer_that_survives_bytes(trained):
    assert type(trained) is Tokenizer
    copied = spacy.blank("xx").tokenizer.from_bytes(trained.to_bytes())
    table = ChunkTable(CHUNKS)
    assert table.score(copied) == table.score(trained)
    assert table.score(trained).f1 > table.score(spacy.blank("xx").tokenizer).f1


def test_training_twice_gives_the_same_rules(trained):
    again = train_tokenizer(spacy.blank("xx"), Counter(dict(reversed(CHUNKS.items()))))
    for name in ("prefix_search", "suffix_search", "infix_finditer", "token_match"):
        assert getattr(again, name).__self__.pattern == getattr(trained, name).__self__.pattern
    assert again.rules == trained.rules


@pytest.mark.parametrize("lang", ["en", "tr"])
def test_a_trial_cuts_as_the_tokenizer_it_stands_for(lang):
    nlp = spacy.blank(lang)
    rules = language_rules(nlp)
    table = ChunkTable(CHUNKS)
    for change in additions(table.score(nlp.tokenizer).disagreements):
        rules = change.apply(rules)
    text = " ".join(table.texts) + ' ("e.g.-=="), a/b:c; 5k-60k... http://x.org/a-b?c=d !?!? ---x--- don\'t'
    trial = rules.trial(Vocab(), rules.exceptions)
    assert [token.text for token in trial(text)] == [token.text for token in rules.tokenizer(Vocab())(text)]


def test_a_pattern_can_be_removed():
    rules = language_rules(spacy.blank("xx"))
    pattern = rules.prefixes[0]
    removed = Change(trigger=pattern, dropped=("prefixes", pattern)).apply(rules)
    assert pattern not in removed.prefixes
    assert len(removed.suffixes) == len(rules.suffixes)
