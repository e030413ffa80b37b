"""Checks that the tests of several architectures share."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spacy_g2g.layers.checkpoints.load import Checkpoint
from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.models.types import Parse, ParserModel, Sentence

from ..util import tiny_encoder


def assert_same_parse(found: Parse, expected: Parse, atol: float = 1e-5) -> None:
    assert found.tree.heads.tolist() == expected.tree.heads.tolist()
    assert found.tree.labels.tolist() == expected.tree.labels.tolist()
    np.testing.assert_allclose(found.head_probs, expected.head_probs, atol=atol)
    np.testing.assert_allclose(found.label_probs, expected.label_probs, atol=atol)
    assert found.coverage == expected.coverage


def assert_batches_change_nothing(
    model: ParserModel, sentences: Sequence[Sentence], atol: float = 1e-5
) -> list[Parse]:
    """Check that sentences are parsed in batches as they are alone; gives their parses."""
    alone = [model.predict([sentence])[0] for sentence in sentences]
    order = random.Random(0).sample(range(len(sentences)), len(sentences))
    for size in (len(order), 16, 2):
        for start in range(0, len(order), size):
            numbers = order[start : start + size]
            for i, parse in zip(numbers, model.predict([sentences[i] for i in numbers]), strict=True):
                assert_same_parse(parse, alone[i], atol)
                assert len(parse.iterations) == len(alone[i].iterations)
                for found, expected in zip(parse.iterations, alone[i].iterations, strict=True):
                    assert_same_parse(found, expected, atol)
    return alone


def pretrained(words: Sequence[str], n_segments: int | None = None, **sizes: int) -> Checkpoint:
    """An encoder as from a checkpoint: with weights."""
    scratch = tiny_encoder(min_frequency=1, **sizes)(words)
    config = scratch.config if n_segments is None else replace(scratch.config, n_segments=n_segments)
    return Checkpoint(config, GraphEncoder(config).state_dict(), scratch.tokenizer)
