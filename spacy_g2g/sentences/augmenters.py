"""An augmenter that makes treebanks look like people's text, and a batcher that applies it in each epoch."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, cast

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..arrays import BoolArray
from ..data.corpus import Augmenter
from ..data.docs import TREEBANK_KEY, copy_treebank
from ..data.multiword import MULTIWORD, word_forms
from ..errors import Errors
from .rewriting import Segment, rewrite, segments_of
from .typesetting import typeset

#: Maximum number of sentences in a part of a Doc that is cut, and in a Doc of mixed sentences.
MAX_CUT, MAX_MIXED = 5, 10
#: Number of Docs whose sentences are mixed.
DOCS_TO_MIX = 8

Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]


def make_running_text(
    *,
    drop_punct: float = 0.1,
    drop_all_punct: float = 0.0,
    lower_case: float = 0.0,
    join_share: float = 0.0,
    shuffle_share: float = 0.0,
    line_share: float = 0.0,
    cut_share: float = 0.0,
    mix_share: float = 0.0,
    seed: int = 0,
) -> Augmenter:
    """Make the augmenter ``spacy_g2g.running_text.v1``, which makes treebanks look like people's text.

    In a Doc of several sentences, a sentence without its final punctuation runs into the next one. An Example
    stays unchanged if its two Docs have different words, or if it has entities, spans or categories. The
    corpus readers of this package give both Docs the same words.

    drop_punct: Share of the sentences that lose their final punctuation.
    drop_all_punct: Share of the Docs in which all sentences lose it. Text that lacks punctuation often lacks
        it throughout.
    lower_case: Share of the Docs with all words in lower case.
    join_share: Share of the sentences that lose the space after them.
    shuffle_share: Share of the Docs with sentences in random order.
    line_share: Share of the Docs laid out in lines and paragraphs: a sentence per line, wrapped lines, blank
        lines, items of lists, quotations.
    cut_share: Share of the other Docs that are cut into Docs of one to five sentences. Otherwise the network
        of boundaries sees few short texts.
    mix_share: Share of the Docs that wait until there are eight. Their sentences are shuffled, and make Docs
        of one to ten sentences without a common topic. Docs that still wait at the end of an epoch are part
        of the next one.
    seed: Seed of the random choices.
    Raises ValueError for a share below 0 or above 1.
    """
    shares = {
        "drop_punct": drop_punct,
        "drop_all_punct": drop_all_punct,
        "lower_case": lower_case,
        "join_share": join_share,
        "shuffle_share": shuffle_share,
        "line_share": line_share,
        "cut_share": cut_share,
        "mix_share": mix_share,
    }
    check_shares(shares)
    return _RunningText(shares, random.Random(seed))


@dataclass(frozen=True)
class _RunningText:
    """The augmenter that ``make_running_text`` makes, with its shares by name.

    waiting: Examples whose sentences will be mixed, by the names of their treebanks.
    """

    shares: Mapping[str, float]
    chance: random.Random
    waiting: dict[str | None, list[Example]] = field(default_factory=dict)

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:  # noqa: ARG002
        """Yield Examples with changed Docs, the same one if nothing changes, or none if it has to wait."""
        gold = example.reference
        if not has_own_words(example):
            yield example
        elif not self._chosen("mix_share"):
            yield from self._changed(example, MAX_CUT if self._chosen("cut_share") else None)
        else:
            waiting = self.waiting.setdefault(gold.user_data.get(TREEBANK_KEY), [])
            waiting.append(example)
            if len(waiting) == DOCS_TO_MIX:
                yield from self._changed(_join(waiting), MAX_MIXED, shuffles=True)
                waiting.clear()

    def _changed(self, example: Example, longest: int | None, *, shuffles: bool = False) -> Iterator[Example]:
        """Yield changed Examples of parts of an Example.

        longest: Maximum number of sentences in a part; None for a part that has all.
        shuffles: Whether to put the sentences into random order in any case.
        """
        gold = example.reference
        lower = self._chosen("lower_case")
        left = iter(self._sentences(gold, shuffles=shuffles))
        while part := [*islice(left, longest and self.chance.randint(1, longest))]:
            lines = [typeset(part, self.chance)] if self._chosen("line_share") else part
            segments = [*chain.from_iterable(lines)]
            if not lower and segments == segments_of(gold, np.ones(len(gold), dtype=np.bool_)):
                yield example
            else:
                yield Example(*(rewrite(doc, segments, lower=lower) for doc in (example.predicted, gold)))

    def _sentences(self, gold: Doc, *, shuffles: bool) -> list[list[Segment]]:
        """Change the sentences of a Doc, and return them in their new order."""
        share = 1.0 if self._chosen("drop_all_punct") else self.shares["drop_punct"]
        is_kept: BoolArray = np.ones(len(gold), dtype=np.bool_)
        ends = [0]
        for span in gold.sents if gold.has_annotation("SENT_START") else ():
            if self.chance.random() < share:
                is_kept[final_punct(list(span))] = False
            ends.append(span.end)
        segments = iter(segments_of(gold, is_kept))
        sentences = [list(islice(segments, n)) for n in np.add.reduceat(is_kept, ends[:-1] or [0]).tolist()]
        if self._chosen("shuffle_share") or shuffles:
            # No white space follows the last sentence, which now may stand before another one.
            sentences[-1][-1] = sentences[-1][-1]._replace(gap=sentences[0][-1].gap)
            self.chance.shuffle(sentences)
        for sentence in sentences:
            if self._chosen("join_share"):
                sentence[-1] = sentence[-1]._replace(gap="")
        return sentences

    def _chosen(self, name: str) -> bool:
        return self.shares[name] > 0.0 and self.chance.random() < self.shares[name]


def _join(examples: Sequence[Example]) -> Example:
    """Make one Example of several of the same treebank."""
    docs: list[Doc] = []
    for side in ("predicted", "reference"):
        parts: list[Doc] = [getattr(example, side) for example in examples]
        is_spaced = any(token.whitespace_ for token in parts[0])
        joined = Doc.from_docs(parts, ensure_whitespace=is_spaced, exclude=["user_data"])  # type: ignore[call-arg]
        copy_treebank(parts[0], to=joined)
        docs.append(joined)
    return Example(*docs)


def check_shares(shares: Mapping[str, float]) -> None:
    """Raise ValueError for a share below 0 or above 1."""
    for setting, share in shares.items():
        if not 0.0 <= share <= 1.0:
            raise ValueError(Errors.E408.format(setting=setting, value=share, expected="from 0 to 1"))


def has_own_words(example: Example) -> bool:
    """Return whether both Docs have the same words, without annotations that an augmenter would lose."""
    gold = example.reference
    has_spans = bool(gold.ents or gold.spans.keys() - {MULTIWORD} or gold.cats)
    return not has_spans and word_forms(gold) == word_forms(example.predicted)


def make_augmented_batches(batcher: Batcher, augmenter: Augmenter) -> Batcher:
    """Make the batcher ``spacy_g2g.augmented_batches.v1``, which changes examples anew in each epoch.

    `spacy train` reads a corpus once, unless `max_epochs` is -1. So an augmenter of the corpus makes the same
    changes in all epochs.

    batcher: Batcher of the changed examples, such as `spacy.batch_by_padded.v1`.
    augmenter: Augmenter that does not use the pipeline, such as `spacy_g2g.running_text.v1`.
    Raises ValueError with the first batch for an augmenter that uses it, such as spaCy's own.
    """
    change = partial(cast(Callable[[Any, Example], Iterator[Example]], augmenter), _NoPipeline())

    def batches(examples: Iterable[Example]) -> Iterable[list[Example]]:
        return batcher(chain.from_iterable(map(change, examples)))

    return batches


class _NoPipeline:
    """Placeholder for the pipeline, which a batcher can't give to an augmenter."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(Errors.E518.format(name=name))


def final_punct(sentence: list[Token]) -> list[int]:
    """Return the token indices of the final punctuation; none if it is the head of an earlier word."""
    end = len(sentence)
    while end > 1 and is_punct(sentence[end - 1]):
        end -= 1
    final = [token.i for token in sentence[end:]]
    return [] if any(token.head.i in final for token in sentence[:end]) else final


def is_punct(token: Token) -> bool:
    """Return whether a token is punctuation, by its part of speech if it has one."""
    return token.pos_ == "PUNCT" if token.pos else token.is_punct
