"""Count and order the labels of training data, and find those of initial graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..data.doc_graphs import initial_tokens
from ..data.source import cell_value
from ..errors import Errors
from .trees import SPACE_LABEL

#: Universal labels of subjects, and the subtype of the subject of a clause around another one.
SUBJECT_LABELS, OUTER = {"nsubj", "csubj"}, "outer"
#: Maximum share of words with several subjects among those with subjects, if they are mistakes.
MAX_SHARE = 0.02


def check_labels(labels: Any, *, origin: Any) -> None:
    """Raise ValueError unless labels from a file are a list of different texts.

    labels: The labels.
    origin: The file, for the error.
    """
    is_valid = isinstance(labels, list | tuple) and all(isinstance(label, str) and label for label in labels)
    if not is_valid or len(set(labels)) != len(labels):
        raise ValueError(Errors.E820.format(origin=origin, labels=str(labels)[:200]))


def count_labels(docs: Iterable[Doc]) -> tuple[Counter[str], set[str]]:
    """Return the number of roots with each label, and the labels of other words.

    If no head has a label, all of them get the label "dep".
    """
    roots, others = Counter[str](), set[str]()
    for token in chain.from_iterable(docs):
        if token.dep and not token.is_space:
            if token.head.i == token.i:
                roots[cell_value(token.dep_)] += 1
            else:
                others.add(cell_value(token.dep_))
    has_heads = bool(roots or others)
    del roots[""]
    others.discard("")
    return roots, others if roots or others or not has_heads else {SPACE_LABEL}


def find_subjects(docs: Iterable[Doc]) -> list[str]:
    """Return the labels of subjects if a word of the Docs has one subject at most; else an empty list.

    Universal Dependencies demand this, but some treebanks, as of Korean and Japanese, have words with two
    subjects. Single mistakes of annotation do not count.
    """
    labels = set[str]()
    n_subjects = Counter[Any]()
    for place, doc in enumerate(docs):
        for token in doc:
            label = cell_value(token.dep_)
            universal, _, subtype = label.partition(":")
            if universal in SUBJECT_LABELS and subtype != OUTER:
                labels.add(label)
                n_subjects[place, token.head.i] += 1
    n_several = sum(n > 1 for n in n_subjects.values())
    return sorted(labels) if n_several <= MAX_SHARE * len(n_subjects) else []


def order_labels(labels: list[str], roots: Counter[str]) -> list[str]:
    """Return the root label, then at least one other label, in their order.

    The root label is the most frequent label of gold roots. Without gold roots it is "root", in the letter
    case of the labels.
    """
    if not labels and not roots:
        return []
    candidates = [*(label for label in labels if label.lower() == "root"), "root"]
    root = min(roots, key=lambda label: (-roots[label], label), default=candidates[0])
    others = [label for label in dict.fromkeys([*labels, *sorted(roots)]) if label != root]
    return [root, *(others or [SPACE_LABEL])]


def find_initial_labels(examples: Iterable[Example], nlp: Language | None, component: Any) -> set[str]:
    """Return the labels that initial graphs of a refiner may have.

    examples: Training data, with graphs in their predicted Docs.
    nlp: Pipeline with the refiner. Earlier components that write labels add theirs.
    component: The refiner.
    """
    labels: set[str] = set()
    for name, other in () if nlp is None else nlp.pipeline:
        if other is component:
            break
        if nlp is not None and "token.dep" in nlp.get_pipe_meta(name).assigns:
            labels |= set(getattr(other, "labels", ()))
    for example in examples:
        labels |= {dep for dep in initial_tokens(example.predicted)["deps"] if dep}
    return labels
