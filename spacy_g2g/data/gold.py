"""Read gold sentences and trees of Examples in terms of the tokens of their predicted Docs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.training import Example

from ..arrays import BoolArray, IntArray
from .segmentation import Segmentation, segment
from .source import cell_value


def segment_examples(examples: Sequence[Example]) -> Segmentation:
    """Find the sentences of the predicted Docs. A Doc without boundaries gets those of its reference."""
    segmentation = segment([example.predicted for example in examples])
    is_unset = segmentation.unset.tolist()
    if not any(is_unset):
        return segmentation
    pairs = zip(examples, is_unset, strict=True)
    return segmentation.cut([gold_starts(example) if unset else None for example, unset in pairs])


def gold_parses(examples: Sequence[Example], segmentation: Segmentation) -> tuple[list[IntArray], list[str]]:
    """Return the gold heads of each Example and the gold labels of all words; see ``gold_parse``.

    segmentation: Sentences of the predicted Docs.
    Returns an array for each Doc, int [tokens]: heads as indices in the Doc, -1 if missing, a root is its own
    head. Also returns the labels of the words of all Docs, "" if missing.
    """
    all_heads, labels = list[IntArray](), list[str]()
    for example in examples:
        heads, deps = gold_parse(example)
        all_heads.append(heads)
        labels += deps
    return all_heads, [labels[i] for i in segmentation.words]


def gold_starts(example: Example) -> BoolArray | None:
    """Return whether each token of the predicted Doc starts a gold sentence; None without boundaries."""
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


def gold_boundaries(example: Example) -> IntArray:
    """Return 1 for each token of the predicted Doc that starts a gold sentence, 0 for others, -1 if missing.

    The first token and white space are missing as well. A sentence that starts with white space counts as if
    it started with its first word. Returns int [tokens].
    """
    reference, n = example.reference, len(example.predicted)
    starts = gold_starts(example)
    if starts is None:
        return np.full(n, -1, dtype=np.int64)
    is_set = reference.to_array("SENT_START") != 0
    if not _same_tokens(example):
        aligned = [is_set[example.alignment.x2y[i]].any() for i in range(n)]
        is_set = np.array(aligned, dtype=np.bool_)
    is_space = example.predicted.to_array("IS_SPACE") == 1
    for place in np.flatnonzero(starts & is_space).tolist():
        word = place + int(np.argmin(np.append(is_space[place:], False)))
        starts[word : word + 1] = True
        is_set[word : word + 1] = True
    boundaries = np.where(is_set & ~is_space, starts.astype(np.int64), -1)
    boundaries[:1] = -1
    # White space at the very start of a Doc is not a boundary.
    boundaries[: int(np.argmin(np.append(is_space, False))) + 1] = -1
    return boundaries


def gold_parse(example: Example) -> tuple[IntArray, list[str]]:
    """Return gold heads and labels for the tokens of the predicted Doc.

    Returns the index of each head in the Doc (a root is its own head), int [tokens], and the labels. They are
    -1 and "" if gold is missing, or if the token or its gold head is not exactly one token on both sides.
    """
    if _same_tokens(example):
        table = example.reference.to_array(["HEAD", "DEP"])
        heads = np.arange(len(table)) + table[:, 0].astype(np.int64)
        strings = example.reference.vocab.strings
        deps = [cell_value(strings[int(dep)]) for dep in table[:, 1]]
        return np.where(table[:, 1] == 0, -1, heads), deps
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    pairs = ((i, int(x2y[i][0])) for i in range(len(example.predicted)) if x2y.lengths[i] == 1)
    places = {gold: i for i, gold in pairs if y2x.lengths[gold] == 1}
    heads = np.full(len(example.predicted), -1, dtype=np.int64)
    deps = [""] * len(heads)
    for gold, i in places.items():
        token = example.reference[gold]
        if token.dep and token.head.i in places:
            heads[i], deps[i] = places[token.head.i], cell_value(token.dep_)
    return heads, deps


def _same_tokens(example: Example) -> bool:
    x, y = example.predicted, example.reference
    return len(x) == len(y) and bool((x.to_array("ORTH") == y.to_array("ORTH")).all())
