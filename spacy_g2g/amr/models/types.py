"""Input and output of an AMR parser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from zlib import crc32

from ...models.types import Coverage, Sentence, Start
from ..parsing.actions import AmrSentence
from ..parsing.graph import AmrGraph
from ..parsing.table import AmrActions


@dataclass(frozen=True)
class AmrInput(Sentence):
    """A sentence with lemmas.

    amr: The sentence as the AMR machine reads it.
    """

    amr: AmrSentence = field(kw_only=True)


@dataclass(frozen=True, kw_only=True)
class AmrStart(Start):
    """The start of training of an AMR parser.

    table: The component's actions.
    """

    table: AmrActions

    @property
    def built_for(self) -> dict[str, int]:
        """Facts that a saved model and its component must agree on."""
        return {"actions": crc32(json.dumps(self.table.to_dict(), sort_keys=True).encode())}


@dataclass(frozen=True, kw_only=True)
class AmrParse:
    """The AMR of a sentence.

    graph: The AMR, which is connected.
    log_prob: Sum of the log-probabilities of its actions.
    n_words: Number of words in the sentence.
    coverage: How the sentence was fitted into the encoder.
    """

    graph: AmrGraph
    log_prob: float
    n_words: int
    coverage: Coverage = "whole"
