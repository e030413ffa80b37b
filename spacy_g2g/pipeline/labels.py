"""Labels of training data: count them, put them in order, and find those of initial graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..data.doc_graphs import initial_tokens
from ..data.source import known
from ..errors import Errors
from .trees import SPACE_LABEL


def check_labels(labels: Any, origin: Any) -> None:
    """Raise ValueError unless labels are a list of different texts.

    labels: Labels as a file has them.
    origin: The file, for the message.
    """
    is_right = isinstance(labels, list | tuple) and all(isinstance(label, str) and label for label in labels)
    if not is_right or len(set(labels)) != len(labels):
        raise ValueError(Errors.E820.format(origin=origin, labels=str(labels)[:200]))


def count_labels(docs: Iterable[Doc]) -> tuple[Counter[str], set[str]]:
    """Return the number of roots with each label, and the labels of other words.

    Heads that have no label count if there are only such heads: then one label, "dep", is for all of them.
    """
    counts = Counter(
        (token.head.i == token.i, known(token.dep_))
        for doc in docs
        for token in doc
        if token.dep and not token.is_space
    )
    roots = Counter({label: n for (is_root, label), n in counts.items() if is_root and label})
    others = {label for is_root, label in counts if not is_root and label}
    return roots, others if roots or others or not counts else {SPACE_LABEL}


def order_labels(labels: list[str], roots: Counter[str]) -> list[str]:
    """Return the root label, then the other labels in their order, at least one.

    The root label is the most frequent label of gold roots. Without gold roots it is the label called "root",
    in upper or lower case.
    """
    if not labels and not roots:
        return []
    called_root = [label for label in labels if label.lower() == "root"]
    root = min(roots, key=lambda label: (-roots[label], label), default=(*called_root, "root")[0])
    others = [label for label in dict.fromkeys([*labels, *sorted(roots)]) if label != root]
    return [root, *(others or [SPACE_LABEL])]


def find_initial_labels(examples: Iterable[Example], nlp: Language | None, component: Any) -> set[str]:
    """Return the labels that initial graphs of a refiner may have.

    examples: Training data; the graphs of their predicted Docs are read.
    nlp: Pipeline with the refiner; labels of earlier components that write labels are taken.
    component: The refiner.
    """
    labels: set[str] = set()
    for name, other in nlp.pipeline if nlp is not None else ():
        if other is component:
            break
        if nlp is not None and "token.dep" in nlp.get_pipe_meta(name).assigns:
            labels |= set(getattr(other, "labels", ()))
    for example in examples:
        labels |= {dep for dep in initial_tokens(example.predicted)["deps"] if dep}
    return labels
