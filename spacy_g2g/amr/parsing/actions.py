"""Actions of the AMR stack machine, and the sentence that they read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from .lemmas import find_lemma


class ActionKind(IntEnum):
    """Kind of an action. `machine` lists the precondition and the effect of each."""

    SHIFT = 0
    REDUCE = 1
    SWAP = 2
    FORK = 3
    ROOT = 4
    CLOSE = 5
    COPY_LEMMA = 6
    COPY_LOWER = 7
    COPY_SENSE01 = 8
    COPY_QUOTE = 9
    LA = 10
    RA = 11
    DEPENDENT = 12
    PRED = 13


# In the order in which the oracle tries them.
COPIES = (ActionKind.COPY_LEMMA, ActionKind.COPY_LOWER, ActionKind.COPY_SENSE01, ActionKind.COPY_QUOTE)
# Label of a labeled SHIFT of ROOT.
ROOT_FORM = "<ROOT>"

_CONCEPT = re.compile(r'[^\s"()/:~#\\][^\s"()/:~\\]*')
_CONSTANT = re.compile(r'".*"|[-+]|[-+]?[0-9]+(?:[.,][0-9]+)*|imperative|expressive|interrogative')


class AmrAction(NamedTuple):
    """An action.

    kind: Kind of the action.
    label: Word of a SHIFT ("" for a plain SHIFT), role of LA, RA and DEPENDENT, or label of PRED.
    value: Constant of DEPENDENT.
    """

    kind: ActionKind
    label: str = ""
    value: str = ""

    def __str__(self) -> str:
        arguments = ", ".join(text for text in (self.label, self.value) if text)
        return f"{self.kind.name}({arguments})" if arguments else self.kind.name


@dataclass(frozen=True)
class AmrSentence:
    """A sentence to parse.

    forms: Words of the sentence; they may contain white space.
    lemmas: Lemma of each word.
    """

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.forms)

    @classmethod
    def of(cls, forms: Sequence[str], lemmas: Sequence[str] | None = None) -> AmrSentence:
        """Make a sentence of words. A word whose lemma is missing or "" gets that of `find_lemma`."""
        pairs = zip(forms, lemmas if lemmas is not None else [""] * len(forms), strict=True)
        return cls(tuple(forms), tuple(lemma or find_lemma(form) for form, lemma in pairs))


def copied_label(kind: ActionKind, form: str, *, lemma: str) -> str | None:
    """Return the label that a COPY action gives a word, or None if PENMAN could not read it."""
    if kind == ActionKind.COPY_QUOTE:
        text = "_".join(form.split()).replace("\\", "").replace('"', "'")
        return f'"{text}"' if text else None
    label = form.lower() if kind == ActionKind.COPY_LOWER else lemma.lower()
    if not _CONCEPT.fullmatch(label):
        return None
    return f"{label}-01" if kind == ActionKind.COPY_SENSE01 else label


def is_constant_label(label: str) -> bool:
    """Return whether a leaf with this label is a constant: a string, number, sign or mode."""
    return _CONSTANT.fullmatch(label) is not None
