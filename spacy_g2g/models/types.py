"""The protocol of all parsers: sentences in, parses out.

A parser is a Thinc model. ``model.predict(sentences)`` gives a ``Parse`` for each ``Sentence``;
``model.begin_update((sentences, gold))`` gives the summed loss and a callback that runs autograd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from thinc.api import Model

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

#: How a sentence went through the encoder: as it is, with words shortened to their first pieces,
#: or in overlapping windows of words.
Fit = Literal["whole", "shortened", "windows"]


@dataclass(frozen=True)
class Tree:
    """Heads and labels of a sentence of n words.

    heads: int [n]; word i (counting from 1) has its head in ``heads[i - 1]``, 0 is ROOT, -1 is missing.
    labels: int [n]; label ids, 0 is the root label, -1 is missing.
    """

    heads: IntArray
    labels: IntArray


@dataclass(frozen=True)
class Sentence:
    """The input of a parser: n words, and n tags where the parser reads tags ("" is a missing tag)."""

    words: Sequence[str]
    tags: Sequence[str] | None = None


@dataclass(frozen=True)
class Parse:
    """A tree (one root, no cycle) with the probability of each head and of each label at its head.

    head_probs, label_probs: float [n], between 0 and 1.
    fit: how the sentence went through the encoder.
    """

    tree: Tree
    head_probs: FloatArray
    label_probs: FloatArray
    fit: Fit = "whole"


#: In training the input is a pair (sentences, trees) and the output is the summed loss.
ParserModel = Model[Any, Any]
