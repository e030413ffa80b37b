"""`project/tokenizer.py`: tokenizers made from the words of a treebank."""

from collections import Counter

import pytest
import spacy
from spacy.tokenizer import Tokenizer
from spacy.training.callbacks import create_copy_from_base_model
from spacy.vocab import Vocab

from project import tokenizer
from project.tokenizer_rules import Change, additions, language_rules
from project.tokenizer_search import ChunkTable, train_tokenizer
from spacy_g2g.evaluation.tokenization import compare_tokens, tokens_of

from ..formats.samples import row

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
    assert tokens_of(trained, "".join(tokens)) == tokens


@pytest.mark.parametrize("tokens", [("its",), ("do", "n't"), ("cats", ".")])
def test_what_the_language_has_right_for_most_chunks_stays(trained, tokens):
    assert tokens_of(trained, "".join(tokens)) == tokens


def test_the_result_is_a_plain_tokenizer_that_survives_bytes(trained):
    assert type(trained) is Tokenizer
    copied = spacy.blank("xx").tokenizer.from_bytes(trained.to_bytes())
    assert compare_tokens(copied, CHUNKS) == compare_tokens(trained, CHUNKS)
    assert compare_tokens(trained, CHUNKS).f1 > compare_tokens(spacy.blank("xx").tokenizer, CHUNKS).f1


def test_training_twice_gives_the_same_rules(trained):
    again = train_tokenizer(spacy.blank("xx"), Counter(dict(reversed(CHUNKS.items()))))
    for name in ("prefix_search", "suffix_search", "infix_finditer", "token_match"):
        assert getattr(again, name).__self__.pattern == getattr(trained, name).__self__.pattern
    assert again.rules == trained.rules


@pytest.mark.parametrize("lang", ["en", "tr"])
def test_a_trial_cuts_as_the_tokenizer_it_stands_for(lang):
    nlp = spacy.blank(lang)
    rules = language_rules(nlp)
    for change in additions(compare_tokens(nlp.tokenizer, CHUNKS).disagreements):
        rules = change.apply(rules)
    text = (
        " ".join(map("".join, CHUNKS))
        + ' ("e.g.-=="), a/b:c; 5k-60k... http://x.org/a-b?c=d !?!? ---x--- don\'t'
    )
    trial = rules.trial(Vocab(), rules.exceptions)
    assert [token.text for token in trial(text)] == [token.text for token in rules.tokenizer(Vocab())(text)]


def test_a_pattern_can_be_removed():
    rules = language_rules(spacy.blank("xx"))
    pattern = rules.prefixes[0]
    removed = Change(trigger=pattern, dropped=("prefixes", pattern)).apply(rules)
    assert pattern not in removed.prefixes
    assert len(removed.suffixes) == len(rules.suffixes)


@pytest.mark.parametrize("lang", ["en", "xx"])
def test_errors_of_chunks_equal_those_of_a_plain_comparison(lang):
    given = spacy.blank(lang).tokenizer
    chunks = {("e-mail", "."): 3, **CHUNKS}
    errors = ChunkTable(Counter(chunks)).errors(given, range(len(chunks)))
    for (chunk, n), wrong in zip(chunks.items(), errors, strict=True):
        counts = compare_tokens(given, {chunk: n})
        assert counts.gold + counts.system - 2 * counts.correct == wrong


def test_a_pipeline_takes_the_tokenizer_by_a_callback_of_spacy(tmp_path, monkeypatch, capsys):
    treebank, output = tmp_path / "train.conllu", tmp_path / "out"
    text = "".join([row("1", "=====", "0", "root"), row("2", "Lt.", "1", "dep"), "\n"] * 2)
    treebank.write_text(text + row("1", "=======", "0", "root") + "\n")
    command = ["tokenizer", str(treebank), str(output), "--lang", "en", "--dev", str(treebank)]
    monkeypatch.setattr("sys.argv", command)
    tokenizer.main()
    printed = " ".join(capsys.readouterr().out.split())
    assert "F1 of tokens on dev 100.00" in printed
    assert "Disagreements left on dev: none" in printed
    nlp = spacy.blank("xx")
    create_copy_from_base_model(tokenizer=str(output))(nlp)
    assert [token.text for token in nlp("==== (Lt.)")] == ["====", "(", "Lt.", ")"]
    tokenizer.main()
    assert "is up to date" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("lang", "text", "message"),
    [("en", "", "no words without white space"), ("qq", row("1", "a", "0", "root") + "\n", "1")],
)
def test_an_empty_file_and_an_unknown_language_are_errors(tmp_path, monkeypatch, lang, text, message):
    path = tmp_path / "train.conllu"
    path.write_text(text)
    monkeypatch.setattr("sys.argv", ["tokenizer", str(path), str(tmp_path / "out"), "--lang", lang])
    with pytest.raises(SystemExit, match=message):
        tokenizer.main()


def test_a_language_without_rules_is_left_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["tokenizer", "train.conllu", str(tmp_path / "out"), "--lang", "zh"])
    tokenizer.main()
    assert "has no rules" in capsys.readouterr().out
