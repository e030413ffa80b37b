"""The augmenter ``spacy_g2g.running_text.v1``: text as people have it, without marks of sentence boundaries.

The batcher ``spacy_g2g.augmented_batches.v1`` calls such augmenters anew in each epoch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Token
from spacy.training import Example

from ..errors import Errors
from .rewriting import pieces_of, rewrite
from .typesetting import typeset

Augmenter = Callable[[Language, Example], Iterator[Example]]
Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]


def make_running_text(
    drop_punct: float = 0.1,
    drop_all_punct: float = 0.0,
    lower_case: float = 0.0,
    joined: float = 0.0,
    shuffled: float = 0.0,
    lines: float = 0.0,
    seed: int = 0,
) -> Augmenter:
    """Make the augmenter ``spacy_g2g.running_text.v1``, which brings treebanks closer to people's text.

    In a Doc of several sentences, one without its final punctuation runs into the next one. An Example stays
    unchanged if its two Docs have different words, or if it has entities, spans or categories. The corpus
    readers of this package give both Docs the same words.

    drop_punct: Share of the sentences that lose their final punctuation.
    drop_all_punct: Share of the Docs in which all sentences lose it. Text without punctuation is often
        without it throughout.
    lower_case: Share of the Docs whose words are put into lower case.
    joined: Share of the sentences that no space follows.
    shuffled: Share of the Docs whose sentences are put into a random order.
    lines: Share of the Docs that are laid out in lines and paragraphs: a sentence a line, wrapped lines, blank
        lines, items of lists, quotations.
    seed: Seed of the random choices.
    Raises ValueError for a share below 0 or above 1.
    """
    for setting, share in {
        "drop_punct": drop_punct,
        "drop_all_punct": drop_all_punct,
        "lower_case": lower_case,
        "joined": joined,
        "shuffled": shuffled,
        "lines": lines,
    }.items():
        if not 0.0 <= share <= 1.0:
            raise ValueError(Errors.E512.format(setting=setting, rate=share))
    chance = random.Random(seed)

    def chosen(share: float) -> bool:
        return share > 0.0 and chance.random() < share

    def augment(nlp: Language, example: Example) -> Iterator[Example]:  # noqa: ARG001
        gold = example.reference
        has_more = bool(gold.ents or gold.spans or gold.cats)
        if has_more or [t.text for t in gold] != [t.text for t in example.predicted]:
            yield example
            return
        lower, share = chosen(lower_case), 1.0 if chosen(drop_all_punct) else drop_punct
        is_kept = np.ones(len(gold), dtype=np.bool_)
        ends = []
        for span in gold.sents if gold.has_annotation("SENT_START") else ():
            is_kept[final_punct(list(span)) if chosen(share) else []] = False
            ends.append(span.end)
        pieces = iter(pieces_of(gold, is_kept))
        counts = np.add.reduceat(is_kept, [0, *ends[:-1]]).tolist() if len(gold) else []
        sentences = [list(islice(pieces, n)) for n in counts]
        if chosen(shuffled):
            chance.shuffle(sentences)
        for sentence in sentences:
            if chosen(joined):
                sentence[-1] = sentence[-1]._replace(gap="")
        if chosen(lines):
            sentences = [typeset(sentences, chance)]
        found = [piece for sentence in sentences for piece in sentence]
        yield Example(*(rewrite(doc, found, lower=lower) for doc in (example.predicted, gold)))

    return augment


def make_augmented_batches(batcher: Batcher, augmenter: Augmenter) -> Batcher:
    """Make the batcher ``spacy_g2g.augmented_batches.v1``, which changes examples anew in each epoch.

    `spacy train` reads a corpus once, unless `max_epochs` is -1. So an augmenter of the corpus makes the same
    changes in all epochs.

    batcher: Batcher of the changed examples, such as `spacy.batch_by_padded.v1`.
    augmenter: Augmenter that does not use the pipeline, such as `spacy_g2g.running_text.v1`.
    Raises ValueError with the first batch for an augmenter that does, such as spaCy's own.
    """
    change: Callable[[Any, Example], Iterator[Example]] = augmenter
    pipeline = _NoPipeline()

    def batches(examples: Iterable[Example]) -> Iterable[list[Example]]:
        return batcher(changed for example in examples for changed in change(pipeline, example))

    return batches


class _NoPipeline:
    """What an augmenter gets from a batcher, which does not know the pipeline."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(Errors.E518.format(name=name))


def final_punct(sentence: list[Token]) -> list[int]:
    """List the final punctuation by token index; none if it is the head of an earlier word."""
    n_kept = len(sentence)
    while n_kept > 1 and is_punct(sentence[n_kept - 1]):
        n_kept -= 1
    dropped = [token.i for token in sentence[n_kept:]]
    if any(token.head.i in dropped for token in sentence[:n_kept]):
        return []
    return dropped


def is_punct(token: Token) -> bool:
    """Return whether a token is punctuation, by its part of speech if it has one."""
    return token.pos_ == "PUNCT" if token.pos else token.is_punct
