"""Gold sentences and trees of Examples, in the tokens of their predicted Docs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.training import Example

from ..arrays import BoolArray, IntArray
from .layout import Layout, concatenate, lay_out


def lay_out_examples(examples: Sequence[Example]) -> Layout:
    """The sentences of the predicted Docs: at their boundaries, of those without any at the reference's."""
    docs = [example.predicted for example in examples]
    layout = lay_out(docs)
    if not layout.unset.any():
        return layout
    pairs = zip(examples, layout.unset, strict=True)
    return lay_out(docs, [gold_starts(example) if unset else None for example, unset in pairs])


def gold_trees(examples: Sequence[Example], layout: Layout) -> tuple[IntArray, list[str]]:
    """Gold heads and labels of all Examples, whose predicted Docs a layout is of; see ``gold_parse``.

    Returns int [tokens], token numbers over all Docs, of a root its own, -1 where missing; and the labels of
    words, "" where missing.
    """
    parses = [gold_parse(example) for example in examples]
    starts = layout.doc_starts[:-1]
    absolute = [
        np.where(heads < 0, -1, heads + start) for (heads, _), start in zip(parses, starts, strict=True)
    ]
    flat = [dep for _, deps in parses for dep in deps]
    return concatenate(absolute, np.int64), [flat[i] for i in layout.words]


def gold_starts(example: Example) -> BoolArray | None:
    """Sentence starts of the reference, as the predicted Doc's tokens; None if it has none."""
    reference = example.reference
    if not reference.has_annotation("SENT_START"):
        return None
    starts: BoolArray = reference.to_array("SENT_START").astype(np.int64) == 1
    starts[:1] = True
    if _same_tokens(example):
        return starts
    aligned = np.zeros(len(example.predicted), dtype=np.bool_)
    for sentence in reference.sents:
        for token in sentence:
            places = example.alignment.y2x[token.i]
            if len(places):
                aligned[int(places[0])] = True
                break
    return aligned


def gold_parse(example: Example) -> tuple[IntArray, list[str]]:
    """Gold heads and labels, as the predicted Doc's tokens.

    Returns int [tokens], the head's token number (of a root, its own), and the labels; -1 and "" where gold
    is missing, and where the token or its gold head is not exactly one token on both sides.
    """
    if _same_tokens(example):
        table = example.reference.to_array(["HEAD", "DEP"])
        heads = np.arange(len(table)) + table[:, 0].astype(np.int64)
        strings = example.reference.vocab.strings
        deps = [strings[int(dep)] if dep else "" for dep in table[:, 1]]
        return np.where(table[:, 1] == 0, -1, heads), deps
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    pairs = ((i, int(x2y[i][0])) for i in range(len(example.predicted)) if x2y.lengths[i] == 1)
    places = {gold: i for i, gold in pairs if y2x.lengths[gold] == 1}
    heads = np.full(len(example.predicted), -1, dtype=np.int64)
    deps = [""] * len(heads)
    for gold, i in places.items():
        token = example.reference[gold]
        if token.dep and token.head.i in places:
            heads[i], deps[i] = places[token.head.i], token.dep_
    return heads, deps


def _same_tokens(example: Example) -> bool:
    x, y = example.predicted, example.reference
    return len(x) == len(y) and bool((x.to_array("ORTH") == y.to_array("ORTH")).all())
