import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence, read_conllu, text_lines, write_conllu
from spacy_g2g.formats.graph import Graph
from spacy_g2g.formats.paragraphs import read_paragraphs
from spacy_g2g.formats.rows import split_row

from ..trees.test_tree import trees
from .samples import SAMPLE, read, row, shared_treebank, with_tree


@pytest.fixture
def sentence():
    return read()[0]


def test_words_have_the_columns_of_their_rows(sentence):
    word = sentence.words[4]
    assert (word.form, word.lemma, word.upos, word.xpos) == ("mar", "mar", "NOUN", "N")
    assert (word.feats, word.head, word.deprel) == ("Gender=Masc", 1, "obl:arg")
    assert (word.deps, word.misc) == ("1:obl", "SpaceAfter=No|Gloss=sea")
    assert sentence.column("deps")[4] == word.deps
    assert parse_sentence(sentence.rows) == sentence
    assert [sentence.location(), sentence.location(4)] == ["<text>, line 5", "<text>, line 10"]


def test_a_graph_has_the_heads_and_labels_of_the_words(sentence):
    labels = [word.deprel for word in sentence.words]
    assert sentence.graph() == Graph([word.head for word in sentence.words], labels)
    assert [*sentence.graph(subtypes=False).deps] == [label.split(":")[0] for label in labels] != labels
    assert read(row("1", head="_", deprel="_"))[0].graph() == Graph([-1], [""])


def test_surface_tokens_replace_the_words_of_a_multiword_token(sentence):
    forms = [token.form for token in sentence.tokens]
    assert forms == ["Vámonos", "al", "mar", ",", "10 000", "veces", "."]
    assert [(t.start, t.end) for t in sentence.tokens if t.is_multiword] == [(1, 2), (3, 4)]


def test_text_follows_space_after(sentence):
    assert sentence.text == "Vámonos al mar, 10 000 veces."
    assert sentence.spaces == [False, True, False, True, False, True, True, False, True]


def test_comments_give_their_values(sentence):
    assert sentence.comment("sent_id") == "s1"
    assert sentence.comment("newdoc") == "d1"
    assert sentence.comment("text") == "Vámonos al mar, 10 000 veces."
    assert sentence.comment("speaker") is None
    assert read()[2].comment("newpar") == ""


TEXTS = {
    "plain": SAMPLE,
    "crlf": SAMPLE.replace("\n", "\r\n"),
    "crcrlf": SAMPLE.replace("\n", "\r\r\n"),
    "no line end": SAMPLE.rstrip("\n"),
    "no empty line": SAMPLE.rstrip("\n") + "\n",
    "more empty lines": "\n\n" + SAMPLE.replace("\n\n", "\n\n\n"),
    "byte order mark": "\ufeff" + SAMPLE,
    "line separators": row("1", "a\u2028b\x85c"),
}


def with_same_trees(sentences):
    return [with_tree(s, [w.head for w in s.words], [w.deprel for w in s.words]) for s in sentences]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_given_back_byte_for_byte(text):
    sentences = list(read_conllu(io.BytesIO(text.encode("utf8"))))
    assert "".join(write_conllu(sentences)) == text
    assert "".join(write_conllu(with_same_trees(sentences))) == text


def test_new_tree_changes_columns_7_and_8_of_words_only(sentence):
    heads, labels = [2, 0, 2, 2, 2, 2, 2, 2, 2], ["x", "root", *["y"] * 7]
    changed = with_tree(sentence, heads, labels)
    assert [w.head for w in changed.words] == heads
    assert [w.deprel for w in changed.words] == labels
    for old, new in zip(sentence.rows, changed.rows, strict=True):
        old_cells, new_cells = split_row(old), split_row(new)
        assert old_cells[:6] == new_cells[:6]
        assert old_cells[8:] == new_cells[8:]
        if not old_cells[0].isdigit():
            assert old == new


def test_another_tree_leaves_no_deps_of_the_old_one():
    (sentence,) = read("1\ta\t_\t_\t_\t_\t2\tdet\t2:det\t_\n2\tb\t_\t_\t_\t_\t0\troot\t0:root\t_\n")
    heads, labels = ["2", "0"], ["det", "root"]
    assert str(sentence.with_tree(head=heads, deprel=labels, lemma=["x", "y"])).count(":") == 2
    for columns in ({"deprel": ["amod", "root"]}, {"head": ["0", "1"]}, {"head": ["_", "_"]}):
        assert [word.deps for word in sentence.with_tree(**columns).words] == ["_", "_"]
    own = sentence.with_tree(head=["0", "1"], deps=["0:root", "1:dep"])
    assert [word.deps for word in own.words] == ["0:root", "1:dep"]
    part = sentence.replace(head=["_", "0"])
    assert part.with_tree(head=["_", "0"]) == part


def test_replace_needs_a_value_for_each_word(sentence):
    with pytest.raises(ValueError, match=r"E308.*'upos' has 1 values for 9 words"):
        sentence.replace(upos=["X"])


def test_a_tab_in_a_value_is_an_error_and_other_values_are_those_of_the_text(sentence):
    with pytest.raises(ValueError, match=r"E301.*<text>, line 5: .* found 11"):
        sentence.replace(lemma=["a\tb", *["x"] * 8])
    changed = sentence.replace(misc=[f"Gloss={i}" for i in range(9)], head=["0", *["1"] * 8])
    assert changed == read(str(changed), trees="any")[0]


@pytest.mark.parametrize("text", [*TEXTS.values(), row("1").rstrip("\n")], ids=[*TEXTS, "one row"])
def test_comments_are_added_behind_those_that_are_there(text):
    for old in read(text):
        new = old.with_comments({"a": "b", "c": "d"})
        (again,) = read(str(new))
        assert replace(again, first_line=new.first_line) == new
        assert new.comments == [*old.comments, "# a = b", "# c = d"]
        assert new.words == old.words
        assert [new.column(name) for name in ("head", "misc")] == [
            old.column(name) for name in ("head", "misc")
        ]


def test_lines_of_a_text_have_no_byte_order_mark(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\r\n\ufeffb\n\nc".encode())
    assert list(text_lines(path)) == ["a\r\n", "\ufeffb\n", "\n", "c"]
    path.write_bytes(b"a\n\xff")
    with pytest.raises(ValueError, match=r"E302.*a\.txt, line 2"):
        list(text_lines(path))


def test_sentences_of_files_without_last_empty_line_are_separated():
    first, second = read(row("1").rstrip("\n"))[0], read(row("1"))[0]
    assert len(read("".join(write_conllu([first, second, first])))) == 3


def test_sentences_are_read_one_by_one():
    def lines():
        yield row("1")
        yield "\n"
        yield "# next\n"
        raise AssertionError("read too far")

    assert next(read_conllu(lines())).words[0].form == "w"


ERRORS = {
    "columns": (row("1", columns=9), "E301.*line 3: expected 10 columns .* found 9"),
    "more columns": (row("1", columns=11), "E301.*line 3: .* found 11"),
    "spaces for tabs": (row("1").replace("\t", " "), "E301.*line 3: .* found 1"),
    "id skipped": (row("1") + row("3", head="1"), "E303.*line 4: broken ID '3'. Expected word 2"),
    "id repeated": (row("1") + row("1", head="1"), "E303.*line 4: broken ID '1'"),
    "one letter": ("X\n", "E301.*line 3: .* found 1"),
    "id is no integer": (row("x"), "E303.*line 3: broken ID 'x'"),
    "id with a leading zero": (row("01"), "E303.*line 3: broken ID '01'"),
    "range starts late": (row("2-3") + row("1"), "E303.*line 3: broken ID '2-3'"),
    "range ends before its start": (
        row("1") + row("2-1") + row("2", head="1"),
        "E303.*line 4: broken ID '2-1'",
    ),
    "range without end": (row("1-") + row("1"), "E303.*line 3: broken ID '1-'"),
    "ranges overlap": (
        row("1-2") + row("1") + row("2-3") + row("2", head="1") + row("3", head="1"),
        "E303.*line 5: broken ID '2-3'",
    ),
    "range beyond the sentence": (
        row("1-3") + row("1") + row("2", head="1"),
        r"E303.*line 5: broken ID '\.\.\.-3'",
    ),
    "empty node out of order": (row("1") + row("1.2", head="_"), "E303.*line 4: broken ID '1.2'"),
    "empty form": (row("1", form=""), "E309.*line 3: the column FORM is empty"),
    "head is no integer": (row("1", head="x"), "E304.*line 3: head 'x'"),
    "head is negative": (row("1", head="-1"), "E304.*line 3: head '-1'"),
    "head out of range": (row("1") + row("2", head="3"), "E304.*line 4: head 3 in a sentence of 2 words"),
    "no words": ("# comment\n", "E305.*line 3: a sentence has no words"),
    "two roots": (row("1") + row("2"), r"E306.*line 4: several roots: the words \[1, 2\]"),
    "cycle": (
        row("1") + row("2", head="4") + row("3", head="2") + row("4", head="3"),
        "E307.*line 4: the heads form a cycle: 2 -> 4 -> 3",
    ),
    "own head": (row("1") + row("2", head="2"), "E307.*line 4: .*: 2. Expected a tree"),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.values(), ids=ERRORS)
def test_bad_text_is_an_error_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "bad.conllu"
    path.write_bytes((row("1") + "\n" + text).encode("utf8"))
    with pytest.raises(ValueError, match=message) as error:
        list(read_conllu(path))
    assert str(path) in str(error.value)


def test_text_that_is_not_utf8_is_an_error_with_file_and_line(tmp_path):
    path = tmp_path / "latin1.conllu"
    path.write_bytes(row("1").encode() + row("2", "señor", "1").encode("latin1"))
    with pytest.raises(ValueError, match=r"E302.*latin1\.conllu, line 2: byte 0xf1 is not UTF-8"):
        list(read_conllu(path))


def test_missing_heads_are_allowed_except_in_full_trees():
    text = row("1", head="_") + row("2", head="1")
    assert [word.head for word in read(text)[0].words] == [None, 1]
    with pytest.raises(ValueError, match=r"E304.*line 1: head '_'"):
        read(text, trees="full")


def test_unchecked_trees_may_be_no_trees():
    assert len(read(row("1") + row("2"), trees="any")) == 1


def test_tree_without_root_is_a_cycle_at_any_length():
    for n in range(1, 6):
        heads = [*range(2, n + 1), 1]
        assert sorted(Graph(heads, ["x"] * n).find_cycle()) == list(range(1, n + 1))
    assert Graph([2, 0, 2, -1], [""] * 4).find_cycle() == Graph([2, 3, -1], [""] * 3).find_cycle() == []


def test_paragraphs_are_cut_at_newdoc_and_newpar():
    assert list(read_paragraphs([])) == []
    assert list(read_paragraphs(read())) == ["Vámonos al mar, 10 000 veces. Sí", "Duerme _ ."]


def test_paragraphs_keep_the_characters_of_the_text_comment():
    text = "# text = a\u00a0b\n" + row("1", "a") + row("2", "b", "1") + "\n# text = wrong\n" + row("1", "c")
    assert list(read_paragraphs(read(text))) == ["a\u00a0b c"]


@given(st.lists(st.tuples(st.text("aX", min_size=1, max_size=2), st.booleans()), min_size=1, max_size=5))
def test_paragraphs_have_the_forms_and_the_gaps_of_their_sentences(tokens):
    rows = [row("1", form).replace("_\n", "_\n" if gap else "SpaceAfter=No\n") for form, gap in tokens]
    expected = "".join(form + " " * gap for form, gap in tokens).rstrip(" ")
    assert list(read_paragraphs(read("\n".join(rows)))) == [expected]
    assert list(
        read_paragraphs(
            read("\n".join(f"# text = {form}\n" + r for r, (form, _) in zip(rows, tokens, strict=True)))
        )
    ) == [expected]


@pytest.mark.parametrize(
    "name",
    ["UD_English-EWT/en_ewt-ud-dev.conllu", "dev-only/he_htb-ud-dev.conllu", "dev-only/fi_tdt-ud-dev.conllu"],
)
def test_real_treebanks_are_given_back_byte_for_byte(name):
    path = shared_treebank(name)
    text = "".join(write_conllu(with_same_trees(read_conllu(path, trees="full"))))
    assert text.encode("utf8") == path.read_bytes()


@pytest.mark.parametrize("cell", ["9" * 5000, "0" * 100])
def test_numbers_of_many_digits_are_errors_with_their_line(cell: str) -> None:
    with pytest.raises(ValueError, match=rf"E304.*line 2.*'{cell[:80]}'"):
        read(row("1") + row("2", head=cell))
    with pytest.raises(ValueError, match=rf"E303.*line 2.*'2-{cell[:78]}'"):
        read(row("1") + row(f"2-{cell}", head="_"))


def test_multiword_tokens_become_words_with_the_dependents_of_their_parts():
    merged = read()[0].merge_multiword()
    assert [word.form for word in merged.words[:4]] == ["Vámonos", "al", "mar", ","]
    assert [word.upos for word in merged.words[:3]] == ["VERB", "ADP", "NOUN"]
    assert [(word.head, word.deprel) for word in merged.words[:3]] == [
        (0, "root"),
        (3, "case"),
        (1, "obl:arg"),
    ]
    assert merged.text == merged.comment("text") == "Vámonos al mar, 10 000 veces."
    assert merged.comment("sent_id") == "s1"
    assert merged.words[1].misc == "Gloss=to.the"


def test_a_word_between_the_parts_of_a_multiword_token_makes_no_cycle():
    """The first part depends on a word that depends on the second."""
    text = row("1-2", "ab", "_", "_") + row("1", "a", "3") + row("2", "b", "0") + row("3", "c", "2")
    merged = read(text)[0].merge_multiword()
    assert [(word.form, word.head) for word in merged.words] == [("ab", 0), ("c", 1)]


@st.composite
def merged_sentences(draw: st.DrawFn) -> tuple[ConlluSentence, list[int]]:
    """A sentence of which some heads are missing, and the number of each word's token."""
    heads = draw(trees())
    tokens = [1]
    for _ in heads[1:]:
        tokens.append(tokens[-1] + draw(st.booleans()))
    text = "# text = x\n"
    for number, (head, token) in enumerate(zip(heads, tokens, strict=True), start=1):
        members = [i for i, other in enumerate(tokens, start=1) if other == token]
        if len(members) > 1 and members[0] == number:
            text += row(f"{number}-{members[-1]}", f"t{token}", "_", "_")
        text += row(str(number), f"w{number}", draw(st.sampled_from([str(head), "_"])), f"d{number}")
    return read("\n\n" + text)[0], tokens


@given(merged_sentences())
def test_a_merged_token_has_the_arc_of_its_highest_word(drawn: tuple[ConlluSentence, list[int]]):
    sentence, tokens = drawn
    merged = sentence.merge_multiword()
    assert merged.location() == f"<text>, line {sentence.first_line + 1}"
    assert {word.deps for word in merged.words} == {"_"}

    def depth(number: int) -> int:
        head = sentence.words[number - 1].head
        return 1 + depth(head) if head else 0

    for token, word in enumerate(merged.words, start=1):
        members = [i for i, other in enumerate(tokens, start=1) if other == token]
        top = sentence.words[min(members, key=depth) - 1]
        assert word.form == (f"t{token}" if len(members) > 1 else top.form)
        assert word.deprel == top.deprel
        assert word.head == (tokens[top.head - 1] if top.head else top.head)


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(-1, n), min_size=n, max_size=n)), st.data())
def test_roots_after_the_first_depend_on_it(heads: list[int], data: st.DataObject):
    labels = data.draw(st.lists(st.sampled_from(["root", "ROOT", "a", "b", "_"]), min_size=6, max_size=6))
    tags = data.draw(st.lists(st.sampled_from(["PUNCT", "NOUN", "_"]), min_size=6, max_size=6))
    rows = []
    for number, head in enumerate(heads, start=1):
        cells = [str(number), "w", "_", tags[number - 1], "_", "_", "_" if head < 0 else str(head)]
        rows.append("\t".join([*cells, labels[number - 1], "_", "_"]) + "\n")
    (sentence,) = read("".join(rows), trees="any")
    attached = sentence.attach_roots("any")
    first = heads.index(0) if 0 in heads else -1
    for i, (old, new) in enumerate(zip(sentence.words, attached.words, strict=True)):
        is_later = old.head == 0 and i != first
        needs_label = is_later and old.deprel in {"root", "ROOT", labels[first]} - {"_"}
        label = ("punct" if old.upos == "PUNCT" else "parataxis") if needs_label else old.deprel
        assert new == old._replace(head=first + 1 if is_later else old.head, deprel=label)
    if not attached.graph().is_tree:
        with pytest.raises(ValueError, match=r"E30[47]"):
            sentence.attach_roots("full")
