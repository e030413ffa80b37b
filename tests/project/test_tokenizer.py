"""`project/tokenizer.py`: tokenizers made from the words of a treebank."""

import pkgutil
import re
from collections import Counter
from importlib import import_module, util

import pytest
import spacy
import spacy.lang
from spacy.tokenizer import Tokenizer
from spacy.training.callbacks import create_copy_from_base_model
from spacy.util import get_lang_class
from spacy.vocab import Vocab

from project import tokenizer, tokenizer_search
from project.tokenizer_rules import (
    ABBREVIATIONS,
    Change,
    additions,
    appended_words,
    for_typed_text,
    language_rules,
)
from project.tokenizer_search import ChunkTable, train_tokenizer
from spacy_g2g.evaluation.tokenization import compare_tokens, tokens_of
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.tokenizer.learned_tokenizer import LearnedTokenizer

from ..formats.samples import row
from ..util import mostly_thorough

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


@pytest.fixture(scope="module", params=["xx", "en", "fr", "tr"])
def of_language(request):
    return train_tokenizer(spacy.blank(request.param), CHUNKS)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("(page 8)", "( page 8 )"),
        ("(for four):", "( for four ) :"),
        ("≥ =3", "≥ = 3"),
        ("🙂.", "🙂 ."),
        ("30$.", "30 $ ."),
        ("[site](https://x.example/a_(b?c=1).", "[ site ] ( https://x.example/a_(b?c=1 ) ."),
        ("![logo](img/logo.png)", "! [ logo ] ( img/logo.png )"),
        ("[guide][1]", "[ guide ] [ 1 ]"),
        ("text[^1]", "text [ ^1 ]"),
        ("|a|b|", "| a | b |"),
        ('said:"Yes."Then', 'said : " Yes . " Then'),
        ("Hi!How", "Hi ! How"),
        ("$1.5M.", "$ 1.5 M ."),
        ("<b>bold</b><br/>", "<b> bold </b> <br/>"),
        ('href="x">bold</a>', 'href="x" > bold </a>'),
        ("a<b", "a < b"),
        ("a->b", "a -> b"),
        ("-->", "-->"),
        ("Ann,34,York", "Ann , 34 , York"),
        ("1,500", "1,500"),
        ("I<3you", "I<3you"),
        ("p<0.05", "p < 0.05"),
        ("x>=.5", "x >= .5"),
        ("5(b)(ii),", "5(b)(ii) ,"),
        ("word(1999)(2000)", "word ( 1999 ) ( 2000 )"),
        ("end(as", "end ( as"),
        ("hola,¿qué?¡Sí!", "hola , ¿ qué ? ¡ Sí !"),
        ("«Ja»-«Nein»", "« Ja » - « Nein »"),
        ("l'«amico»,", "l' « amico » ,"),
        ('"Yes"?Then', '" Yes " ? Then'),
        ("1990.Then", "1990 . Then"),
        ("(0)30", "( 0 ) 30"),
        ("12.03.2024. 14:30. 1.234,56. 9,5.", "12.03.2024 . 14:30 . 1.234,56 . 9,5 ."),
        ("**bold**: __so__ ==", "** bold ** : __ so __ =="),
        ("#Berlin, #BTW2021", "#Berlin , #BTW2021"),
        (",,Zemsta", ",, Zemsta"),
        ("S.p.A., p.m. D.Lgs.", "S.p.A. , p.m. D.Lgs."),
        ("ok🤦‍♀️👍🏽🇺🇸❤️.", "ok 🤦‍♀️ 👍🏽 🇺🇸 ❤️ ."),
        ("(1️⃣)", "( 1️⃣ )"),
        ("ობა. ᏣᎳᎩ. ܩܵܝܡܲܚ.", "ობა . ᏣᎳᎩ . ܩܵܝܡܲܚ ."),
        ("(كلمة)\u200f.", "( كلمة )\u200f ."),
        ("\u202b(سلام؟\u200f", "\u202b( سلام ؟\u200f"),
    ],
)
def test_marks_that_people_type_are_cut_off_without_an_example_in_the_treebank(of_language, text, tokens):
    assert [token.text for token in of_language(text)] == tokens.split(" ")


@pytest.mark.parametrize("lang", ["xx", "en"])
def test_an_abbreviation_stays_one_unless_it_is_a_word_of_the_treebank(lang):
    made = train_tokenizer(spacy.blank(lang), CHUNKS)
    assert tokens_of(made, "x.") == ("x", ".")
    assert tokens_of(made, "v.") == ("v.",)
    assert tokens_of(made, ":)") == (":)",)


def test_abbreviations_of_a_language_stay_whole():
    made = train_tokenizer(spacy.blank("en"), CHUNKS + Counter({("vol",): 50, ("vol", "."): 20}))
    text = "See Fig. 2, eqs. 3 (cf. Sec. 4), et al., univ. vol."
    assert " ".join(tokens_of(made, text)) == "See Fig. 2 , eqs. 3 ( cf. Sec. 4 ) , et al. , univ. vol ."


@pytest.mark.parametrize("lang", ABBREVIATIONS)
def test_each_listed_abbreviation_stays_whole_in_running_text(lang):
    made = for_typed_text(language_rules(spacy.blank(lang)), lambda _: False, Counter(), lang=lang)
    forms = [f"{word}." for word in ABBREVIATIONS[lang].split()]
    assert tokens_of(made.tokenizer(Vocab()), " ".join(forms)) == (*forms,)
    assert tokens_of(made.tokenizer(Vocab()), f"({forms[0]}") == ("(", forms[0])


def test_a_word_keeps_its_ending_in_brackets_unless_the_treebank_cuts_it_off():
    whole = train_tokenizer(spacy.blank("fr"), CHUNKS)
    assert tokens_of(whole, "(étudiant(e)s,") == ("(", "étudiant(e)s", ",")
    cut = train_tokenizer(spacy.blank("fr"), CHUNKS + Counter({("ami", "(", "s", ")"): 2, ("mot(s)",): 1}))
    assert tokens_of(cut, "compte(s).") == ("compte", "(", "s", ")", ".")


def test_a_word_is_no_abbreviation_because_it_once_was_one():
    chunks = Counter({("no",): 100, ("no.",): 3, ("No.",): 9, ("No",): 9, ("so", "."): 20, ("etc.",): 4})
    made = train_tokenizer(spacy.blank("xx"), chunks)
    assert tokens_of(made, "no.") == ("no", ".")
    assert tokens_of(made, "No.") == ("No.",)
    answer = Counter({("No", "."): 1, ("No",): 4})
    assert tokens_of(train_tokenizer(spacy.blank("xx"), chunks + answer), "No.") == ("No", ".")
    assert tokens_of(made, "etc.") == ("etc.",)


def test_letters_with_full_stops_are_cut_if_the_treebank_cuts_them():
    made = train_tokenizer(spacy.blank("xx"), CHUNKS + Counter({("m.in", "."): 3, ("n.e", "."): 3}))
    assert tokens_of(made, "p.n.e.") == ("p.n.e", ".")


def test_hashtags_are_cut_if_the_treebank_cuts_them():
    made = train_tokenizer(spacy.blank("xx"), CHUNKS + Counter({("#", "food"): 1}))
    assert tokens_of(made, "#Berlin,") == ("#", "Berlin", ",")


def test_a_treebank_that_cuts_nearly_all_abbreviations_cuts_those_that_it_lacks():
    forms = ["dr", "godz", "im", "mln", "np", "nr", "prof", "rys", "str", "tzw"]
    made = train_tokenizer(spacy.blank("pl"), CHUNKS + Counter({(form, "."): 2 for form in forms}))
    assert tokens_of(made, "tzn.") == ("tzn", ".")
    assert tokens_of(train_tokenizer(spacy.blank("pl"), CHUNKS), "tzn.") == ("tzn.",)


def test_an_abbreviation_is_cut_off_a_number():
    made = train_tokenizer(spacy.blank("de"), CHUNKS)
    assert tokens_of(made, "(Abs.2)") == ("(", "Abs.", "2", ")")
    assert tokens_of(made, "Abs.2a") == ("Abs.2a",)


def test_all_days_of_a_month_are_ordinal_numbers_if_most_are():
    days = Counter({("3", "."): 2, ("4.",): 2, ("5.",): 2})
    assert tokens_of(train_tokenizer(spacy.blank("de"), CHUNKS + days), "3.") == ("3.",)
    days = Counter({("3", "."): 3, ("4.",): 2})
    assert tokens_of(train_tokenizer(spacy.blank("xx"), CHUNKS + days), "4.") == ("4", ".")


def test_both_kinds_of_apostrophes_are_cut_alike():
    words = {("Braille'a",): 2, ("Joyce'a",): 2, ("Laffite'em", "."): 2}
    made = train_tokenizer(spacy.blank("pl"), CHUNKS + Counter(words))
    assert tokens_of(made, "Chomsky\u2019a,") == ("Chomsky\u2019a", ",")


def test_german_endings_for_women_and_men_stay_on_the_word():
    made = train_tokenizer(spacy.blank("de"), CHUNKS)
    assert tokens_of(made, "(Kolleg:innen,") == ("(", "Kolleg:innen", ",")
    assert tokens_of(made, "so:Ja") == ("so", ":", "Ja")


#: Hyphens keep words together, except before some pronouns.
FRENCH = {
    ("maire-adjoint",): 3,
    ("cerf-volant",): 3,
    ("Alsace-Lorraine",): 3,
    ("dit", "-il"): 3,
    ("dit", "-on"): 2,
}


def test_french_pronouns_are_cut_off_verbs_even_if_hyphens_keep_words_together():
    chunks = Counter({**FRENCH, ("rendez-vous",): 2, ("parla", "-t-il"): 2})
    made = train_tokenizer(spacy.blank("fr"), chunks)
    text = "Viens-tu? Lancez-le; dirait-elle, VAS-Y! Allons-y. ira-t-on a-t-elle dit\u2011il rendez-vous"
    words = " ".join(tokens_of(made, text))
    assert words.startswith("Viens -tu ? Lancez -le ; dirait -elle , VAS -Y ! Allons -y . ira -t-on")
    assert words.endswith("ira -t-on a -t-elle dit \u2011il rendez-vous")


def test_a_french_treebank_may_cut_a_letter_between_verb_and_pronoun_or_nothing():
    made = train_tokenizer(spacy.blank("fr"), Counter({**FRENCH, ("parla", "-t", "-il"): 2}))
    assert tokens_of(made, "ira-t-on") == ("ira", "-t", "-on")
    whole = {("dit-il",): 3, ("dit-on",): 2, ("cerf-volant",): 3, ("maire-adjoint",): 2}
    assert tokens_of(train_tokenizer(spacy.blank("fr"), Counter(whole)), "viens-tu") == ("viens-tu",)


def test_words_behind_a_hyphen_are_those_that_a_treebank_mostly_cuts_off():
    cut = [("je", "-li"), ("byl", "-li"), ("má", "-LI", ".")]
    pattern = appended_words([*cut, ("Ali-li",), ("a-z",), ("b", "-z")], lang="cs")
    assert pattern is not None
    assert [text for text in ("bude-li", "bude\u2010LI", "3-li", "c-z") if re.search(pattern, text)] == [
        "bude-li",
        "bude\u2010LI",
    ]
    assert appended_words([*cut[:2], ("Ali-li",), ("Uli-li",)], lang="cs") is None


def test_contractions_are_cut_before_other_marks():
    made = train_tokenizer(spacy.blank("en"), CHUNKS)
    assert tokens_of(made, "I'm\u2014well") == ("I", "'m", "\u2014", "well")
    assert tokens_of(made, "can't\u2014or") == ("ca", "n't", "\u2014", "or")


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


def test_a_tokenizer_that_cannot_be_saved_leaves_the_old_one(tmp_path, monkeypatch):
    treebank, output = tmp_path / "train.conllu", tmp_path / "tokenizer"
    treebank.write_text(row("1", "It's.", "0", "root") + "\n", encoding="utf8")
    output.mkdir()
    (output / "meta.json").write_text("old", encoding="utf8")

    def fail(nlp, path):
        (path / "meta.json").write_text("half", encoding="utf8")
        raise OSError("No space left")

    monkeypatch.setattr(tokenizer, "train_tokenizer", lambda nlp, chunks: nlp.tokenizer)
    monkeypatch.setattr(spacy.language.Language, "to_disk", fail)
    with pytest.raises(OSError, match="No space left"):
        tokenizer.make_tokenizer(treebank, output=output, lang="en")
    assert (output / "meta.json").read_text("utf8") == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"train.conllu", "tokenizer"}


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


def test_a_treebank_with_spaces_of_a_language_without_rules_gets_none(tmp_path, monkeypatch, capsys):
    (tmp_path / "train.conllu").write_text(
        row("1", "我", "0", "root") + row("2", "去") + "\n", encoding="utf8"
    )
    command = ["tokenizer", str(tmp_path / "train.conllu"), str(tmp_path / "out"), "--lang", "zh"]
    monkeypatch.setattr("sys.argv", command)
    tokenizer.main()
    assert "has no rules" in capsys.readouterr().out


@pytest.mark.parametrize("lang", ["zh", "ja", "th", "xx"])
def test_a_treebank_without_spaces_gets_a_tokenizer_that_learns(tmp_path, monkeypatch, capsys, lang):
    """In any language, and without the package that spaCy's own tokenizer needs."""
    words = ["我们", "去", "学校", "。"]
    sentence = "".join(
        f"{i}\t{word}" + "\t_" * 4 + f"\t{i - 1}\tdep\t_\tSpaceAfter=No\n" for i, word in enumerate(words, 1)
    )
    (tmp_path / "train.conllu").write_text(f"{sentence}\n" * 20, encoding="utf8")
    command = ["tokenizer", str(tmp_path / "train.conllu"), str(tmp_path / "out"), "--lang", lang]
    monkeypatch.setattr("sys.argv", command)
    tokenizer.main()
    assert "F1 of tokens on train 100.00" in " ".join(capsys.readouterr().out.split())
    nlp = spacy.load(tmp_path / "out")
    assert (nlp.lang, [token.text for token in nlp("学校去我们")]) == (lang, ["学校", "去", "我们"])


@pytest.mark.parametrize("marks", [["."], []])
def test_a_treebank_that_rules_do_not_fit_gets_a_tokenizer_that_learns(tmp_path, marks):
    """As in Maltese, each article is a token with its hyphen, which the rules of spaCy cut off.

    Without punctuation next to words, the tokenizer could not learn to cut it off.
    """
    texts, firsts = [], ["l-", "il-", "fil-", "tal-", "bil-", "dil-", "mil-", "sal-", "kif-", "hal-"]
    for i, first in enumerate(firsts):
        forms = [first, f"{'kbs'[i % 3]}elma", *marks]
        *rows, last = [row(f"{n}", form, f"{n - 1}") for n, form in enumerate(forms, 1)]
        joined = [text.removesuffix("_\n") + "SpaceAfter=No\n" for text in rows]
        texts.append("".join([*joined, last, "\n"]))
    path = tmp_path / "train.conllu"
    path.write_text("".join(texts * 3), encoding="utf8")
    for dev, expected in ((None, Tokenizer), (path, LearnedTokenizer if marks else Tokenizer)):
        tokenizer.make_tokenizer(path, output=tmp_path / "out", lang="xx", dev=dev)
        assert type(spacy.load(tmp_path / "out").tokenizer) is expected
    words = [token.text for token in spacy.load(tmp_path / "out")("dal-kelma")]
    assert (words == ["dal-", "kelma"]) == bool(marks)


@pytest.mark.parametrize("lang", ["ko", "vi", "th", "ja"])
def test_a_language_with_spaces_needs_no_further_package(tmp_path, monkeypatch, lang):
    text = "".join(row("1", f"{i}=====", "0", "root") + "\n" for i in range(3))
    (tmp_path / "train.conllu").write_text(text)
    command = ["tokenizer", str(tmp_path / "train.conllu"), str(tmp_path / "out"), "--lang", lang]
    monkeypatch.setattr("sys.argv", command)
    tokenizer.main()
    nlp = spacy.load(tmp_path / "out")
    assert (nlp.lang, type(nlp.tokenizer)) == (lang, Tokenizer)


def test_words_with_white_space_are_joined_where_the_treebank_mostly_joins_them(tmp_path):
    joined = row("1", "sinh viên", "0", "root") + row("2", "là ai", "1", "dep") + "\n"
    apart = row("1", "là", "0", "root") + row("2", "ai", "1", "dep") + "\n"
    (tmp_path / "train.conllu").write_text(joined + apart, encoding="utf8")
    sentences = [*read_conllu(tmp_path / "train.conllu")]
    nlp = spacy.blank("xx")
    for form, tokens in tokenizer.spaced_words(sentences).items():
        nlp.tokenizer.add_special_case(form, tokens)
    nlp.tokenizer.from_bytes(nlp.tokenizer.to_bytes())
    text = "Sinh viên, là ai? (SINH VIÊN) sinh"
    assert [token.text for token in nlp(text)] == [
        "Sinh viên",
        ",",
        "là",
        "ai",
        "?",
        "(",
        "SINH VIÊN",
        ")",
        "sinh",
    ]


def test_vowel_signs_are_parts_of_words():
    """Without them, no pattern of letters would fit words of Tamil or Hindi."""
    pairs = [
        ("\u0b95\u0bc7", "\u0b8e\u0ba9\u0bcd"),
        ("\u0b86\u0bb0\u0bcd", "\u0ba4\u0bbe"),
        ("\u0b9c\u0bbf", "\u0b9a\u0bbf"),
    ]
    chunks = Counter({(f"{a}.{b}.",): 3 for a, b in pairs})
    trained = train_tokenizer(spacy.blank("ta"), chunks)
    assert tokens_of(trained, "\u0baa\u0bc7.\u0baf\u0bc1.") == ("\u0baa\u0bc7.\u0baf\u0bc1.",)


LANGUAGES = [module.name for module in pkgutil.iter_modules(spacy.lang.__path__) if module.ispkg]
#: A treebank whose dates French has a rule for, with flags; "=====" is what spaCy cuts.
DATES = "".join(
    row("1", f"1{i}-03-2020", "0", "root") + row("2", "=====", "1", "dep") + "\n" for i in range(4)
)
#: Languages of other scripts, alphabets and habits.
TESTED = ("ar", "fr", "hi", "hu", "tr", "xx")
CASES = "12-03-2020= HTTP://X.org/a-b, Grand-Mère. AVANT-hier 12.5% (3-ik) x'y !? e.g. a.b@c.d"


def texts_of(lang):
    """Example sentences, exceptions, and what rules of some language keep whole, in three casings."""
    defaults = get_lang_class(lang).Defaults
    has_examples = util.find_spec(f"spacy.lang.{lang}.examples")
    examples = import_module(f"spacy.lang.{lang}.examples").sentences if has_examples else []
    words = [CASES, *examples, " ".join(sorted(defaults.tokenizer_exceptions)[:2000])]
    return [case(text) for text in words for case in (str, str.upper, str.title)]


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_thorough(LANGUAGES, TESTED))
def test_the_rules_of_each_language_survive_rewriting_and_disk(lang, tmp_path):
    nlp = spacy.blank(lang, config=tokenizer.RULES)
    texts = texts_of(lang)
    expected = [[token.text for token in nlp(text)] for text in texts]
    nlp.tokenizer = language_rules(nlp).tokenizer(nlp.vocab)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [[token.text for token in loaded(text)] for text in texts] == expected


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_thorough(LANGUAGES, TESTED))
def test_each_language_learns_a_tokenizer_that_is_saved_and_works(lang, tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizer_search, "N_ROUNDS", 1)
    path = tmp_path / "train.conllu"
    path.write_text(DATES, encoding="utf8")
    (_, after) = tokenizer.make_tokenizer(path, output=tmp_path / "out", lang=lang)["train"]
    assert after.f1 == 1.0
    assert [token.text for token in spacy.load(tmp_path / "out")("19-03-2020 ===== (a)")] == [
        "19-03-2020", "=====", "(", "a", ")",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "match",
    [
        re.compile("(?i)ab|c-d").match,
        re.compile("(?i)(?u)ab|c-d").match,
        re.compile("ab|c-d", re.IGNORECASE).match,
        re.compile("a b | c-d # letters", re.I | re.X).match,
        re.compile("c-d", re.I).fullmatch,
        re.compile("-d$", re.I | re.A).search,
    ],
)
@pytest.mark.parametrize("name", ["token_match", "url_match"])
def test_flags_and_methods_of_a_language_survive_a_pattern_before_them_and_disk(name, match, tmp_path):
    nlp = spacy.blank("xx")
    nlp.Defaults = type("Defaults", (nlp.Defaults,), {name: staticmethod(match), "infixes": ["-", "="]})
    rules = Change("q-r", (("whole", "q-r"),)).apply(language_rules(nlp))
    nlp.tokenizer = rules.tokenizer(nlp.vocab)
    nlp.to_disk(tmp_path)
    for found in (rules.trial(Vocab(), {}), spacy.load(tmp_path).tokenizer):
        assert [token.text for token in found("C-D q-r x-y")] == ["C-D", "q-r", "x", "-", "y"]


def test_flags_of_infixes_hold_for_all_of_them():
    nlp = spacy.blank("xx")
    nlp.Defaults = type("Defaults", (nlp.Defaults,), {"infixes": ["(?i)x", "y"]})
    change = Change("~", (("infixes", "~"),))
    found = change.apply(language_rules(nlp)).tokenizer(nlp.vocab)
    assert [token.text for token in found("1Y2~3X4")] == ["1", "Y", "2", "~", "3", "X", "4"]


def test_a_match_that_spacy_cannot_save_is_an_error_that_names_it():
    nlp = spacy.blank("xx")
    nlp.Defaults = type("Defaults", (nlp.Defaults,), {"token_match": staticmethod(str.isdigit)})
    with pytest.raises(ValueError, match=r"The token_match of the language xx is .*isdigit"):
        language_rules(nlp)
