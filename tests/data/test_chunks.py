"""Chunks of text, and the comparison of a tokenizer with them."""

from collections import Counter

import pytest
import spacy

from spacy_g2g.data.chunks import ChunkTable, cut, read_chunks
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import row


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


@pytest.mark.parametrize("lang", ["en", "xx"])
def test_counts_equal_a_plain_comparison(lang):
    gold = Counter({("e-mail", "."): 3, ("it", "'s"): 2, ("a/b",): 1, ("====",): 4, ("we",): 5})
    tokenizer = spacy.blank(lang).tokenizer
    correct = system = 0
    for chunk, n in gold.items():
        spans = []
        for tokens in (chunk, cut(tokenizer, "".join(chunk))):
            ends = [sum(map(len, tokens[: i + 1])) for i in range(len(tokens))]
            spans.append(set(zip([0, *ends], ends, strict=False)))
        correct += n * len(spans[0] & spans[1])
        system += n * len(spans[1])
    counts = ChunkTable(gold).score(tokenizer)
    assert (counts.correct, counts.gold, counts.system) == (correct, 6 + 4 + 1 + 4 + 5, system)
    assert counts.named(1) == {"==== / = = = =": 4}
    assert all(right != wrong for right, wrong, _ in counts.disagreements)
