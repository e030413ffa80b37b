"""Tokens of a tokenizer, compared with those of a treebank."""

from collections import Counter

import spacy
from spacy.symbols import NORM, ORTH

from spacy_g2g.evaluation.tokenization import compare_tokens, explain_tokens, read_chunks
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row


def treebank(*lines):
    """Sentences from lines of tokens; a token that ends in "+" has no space after it."""
    rows = []
    for line in lines:
        for i, form in enumerate(line.split(), start=1):
            cells = row(str(i), form.rstrip("+").replace("~", " "), str(i - 1))
            rows.append(cells[:-2] + "SpaceAfter=No\n" if form.endswith("+") else cells)
        rows.append("\n")
    return list(read_conllu("".join(rows).splitlines(keepends=True), trees="any"))


def test_chunks_end_at_white_space_even_between_sentences():
    sentences = treebank("so+ , no+ .+", "Yes+ .", "so+ ,")
    assert read_chunks(sentences) == Counter({("so", ","): 2, ("no", ".", "Yes", "."): 1})


def test_chunks_of_tokens_with_inner_space_are_left_out():
    assert read_chunks(treebank("10~000+ . yes")) == Counter({("yes",): 1})


def test_counts_equal_those_worked_out_by_hand():
    gold = Counter({("e-mail", "."): 3, ("it", "'s"): 2, ("a/b",): 1, ("====",): 4, ("we",): 5})
    counts = compare_tokens(spacy.blank("en").tokenizer, gold)
    # The tokenizer cuts "e - mail .", "it 's", "a / b", "= = = =" and "we".
    assert (counts.correct, counts.gold, counts.system) == (3 + 4 + 0 + 0 + 5, 20, 12 + 4 + 3 + 16 + 5)
    assert counts.most_frequent == {"==== / = = = =": 4, "e-mail . / e - mail .": 3, "a/b / a / b": 1}
    assert counts.f1 == 2 * 12 / (20 + 40)


def test_the_loss_by_multiword_tokens_is_one_line():
    sentences = list(read_conllu(SAMPLE.splitlines(keepends=True)))
    lines = list(explain_tokens(spacy.blank("xx").tokenizer, sentences))
    assert len(lines) == 2
    assert lines[1] == "4 of 13 words are parts of multiword tokens"


def test_special_cases_of_multiword_tokens_are_right():
    nlp = spacy.blank("xx")
    nlp.tokenizer.add_special_case("al", [{ORTH: "a", NORM: "a"}, {ORTH: "l", NORM: "el"}])
    sentences = list(read_conllu(SAMPLE.splitlines(keepends=True)))
    chunks = read_chunks(sentences, nlp.tokenizer.rules)
    assert chunks["a", "l"] == 1
    assert compare_tokens(nlp.tokenizer, chunks).f1 > compare_tokens(nlp.tokenizer, read_chunks(sentences)).f1
