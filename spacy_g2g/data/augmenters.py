"""The augmenter ``spacy_g2g.drop_final_punct.v1``: running text that lacks marks of sentence boundaries.

The batcher ``spacy_g2g.augmented_batches.v1`` calls such augmenters anew in each epoch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..arrays import BoolArray
from ..errors import Errors
from .docs import TOKEN_ANNOTATIONS, write_tree

Augmenter = Callable[[Language, Example], Iterator[Example]]
Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]


def make_drop_final_punct(
    level: float = 0.1,
    seed: int = 0,
    lower_case: float = 0.0,
    joined: float = 0.0,
    documents: float = 0.0,
) -> Augmenter:
    """Make the augmenter ``spacy_g2g.drop_final_punct.v1``, which drops the final punctuation of sentences.

    In a Doc of several sentences, such a sentence runs into the next one. An Example stays unchanged if its
    two Docs have different words, or if it has entities, spans or categories. The corpus readers of this
    package give both Docs the same words.

    level: Share of the sentences to change.
    seed: Seed of the random choices.
    lower_case: Share of the Docs whose words are put into lower case.
    joined: Share of the sentences that no space follows.
    documents: Share of the Docs in which all sentences are changed as by `level`. Text without punctuation is
        often without it throughout.
    Raises ValueError for a share below 0 or above 1.
    """
    for setting, share in {
        "level": level,
        "lower_case": lower_case,
        "joined": joined,
        "documents": documents,
    }.items():
        if not 0.0 <= share <= 1.0:
            raise ValueError(Errors.E512.format(setting=setting, rate=share))
    chance = random.Random(seed)

    def chosen(share: float) -> bool:
        return share > 0.0 and chance.random() < share

    def augment(nlp: Language, example: Example) -> Iterator[Example]:  # noqa: ARG001
        gold = example.reference
        is_kept: BoolArray = np.ones(len(gold), dtype=np.bool_)
        has_space: BoolArray = np.ones(len(gold), dtype=np.bool_)
        lower = False
        has_more = bool(gold.ents or gold.spans or gold.cats)
        if not has_more and [t.text for t in gold] == [t.text for t in example.predicted]:
            lower, share = chosen(lower_case), 1.0 if chosen(documents) else level
            for sentence in gold.sents if gold.has_annotation("SENT_START") else ():
                if chosen(share):
                    is_kept[final_punct(list(sentence))] = False
                has_space[sentence.end - 1] = not chosen(joined)
        if is_kept.all() and has_space.all() and not lower:
            yield example
        else:
            docs = (example.predicted, gold)
            yield Example(*(select_tokens(doc, is_kept, has_space, lower=lower) for doc in docs))

    return augment


def make_augmented_batches(batcher: Batcher, augmenter: Augmenter) -> Batcher:
    """Make the batcher ``spacy_g2g.augmented_batches.v1``, which changes examples anew in each epoch.

    `spacy train` reads a corpus once, unless `max_epochs` is -1. So an augmenter of the corpus makes the same
    changes in all epochs.

    batcher: Batcher of the changed examples, such as `spacy.batch_by_padded.v1`.
    augmenter: Augmenter that does not use the pipeline, such as `spacy_g2g.drop_final_punct.v1`.
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


def select_tokens(
    doc: Doc, is_kept: BoolArray, has_space: BoolArray | None = None, *, lower: bool = False
) -> Doc:
    """Make a Doc of some of the tokens, with their annotations and their trees, if any.

    A kept token must not depend on a dropped one. The last token before a gap gets the white space that ended
    the gap.

    doc: The Doc.
    is_kept: Whether each token is kept, bool [tokens].
    has_space: Whether each token keeps the white space after it, bool [tokens]; None if all do.
    lower: Put words into lower case.
    """
    kept = np.flatnonzero(is_kept)
    number = np.cumsum(is_kept) - 1
    ends = [*(kept[1:] - 1).tolist(), len(doc) - 1]
    keeps = np.ones(len(doc), dtype=np.bool_) if has_space is None else has_space
    spaces = None if doc.has_unknown_spaces else [bool(doc[end].whitespace_ and keeps[end]) for end in ends]
    words = [doc[i].lower_ if lower else doc[i].text for i in kept.tolist()]
    selected = Doc(doc.vocab, words=words, spaces=spaces)
    names: list[Any] = [name for name in TOKEN_ANNOTATIONS if name != "SENT_START"]
    values: Any = doc.to_array(names)[kept]
    selected.from_array(names, values)
    heads = np.arange(len(doc)) + doc.to_array("HEAD").astype(np.int64)
    moved = (number[heads[kept]] - np.arange(len(kept))).view(np.uint64)
    starts = _starts(doc, is_kept)
    write_tree(selected, np.stack([moved, doc.to_array("DEP")[kept]], axis=1), starts)
    return selected


def _starts(doc: Doc, is_kept: BoolArray) -> Any:
    """Return SENT_START of the kept tokens. The first kept token of a sentence starts it."""
    starts = doc.to_array("SENT_START")
    sentence = np.cumsum(starts == 1)[is_kept]
    kept = starts[is_kept]
    if (starts == 1).any():
        is_first = np.diff(sentence, prepend=-1) > 0
        kept[is_first] = 1
    return kept
