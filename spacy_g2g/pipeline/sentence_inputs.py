"""Sentences of Docs as the input of a model, and its parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from ..data.layout import Layout, word_attributes

if TYPE_CHECKING:
    from ..models.types import Sentence


@dataclass(frozen=True)
class ParsedBatch:
    """Parses of a batch of Docs.

    layout: Where the sentences of the Docs are.
    parses: Parses of the sentences that have words, in order.
    """

    layout: Layout
    parses: Sequence[Any]

    def by_doc(self) -> list[list[Any]]:
        """Return the parses of each Doc."""
        parses: list[list[Any]] = [[] for _ in self.layout.doc_starts[1:]]
        for doc, parse in zip(self.layout.doc_of[self.layout.n_words > 0], self.parses, strict=True):
            parses[doc].append(parse)
        return parses


def make_sentences(docs: Sequence[Doc], layout: Layout, tag_attr: str | None) -> list[Sentence]:
    """Return the sentences that have words, in order.

    docs: The Docs.
    layout: Where their sentences are.
    tag_attr: Attribute of tokens that becomes the sentences' tags, or None.
    """
    from ..models.types import Sentence

    words = word_attributes(docs, layout, "ORTH")
    tags = None if tag_attr is None else word_attributes(docs, layout, tag_attr)
    return [Sentence(words[at], None if tags is None else tags[at]) for at in layout.sentence_slices]
