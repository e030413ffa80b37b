"""The ways in which pipelines and components are kept, and a check that they give the same afterwards."""

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

#: Takes a pipeline and an empty folder; gives the kept pipeline.
Keep = Callable[[Language, Path], Language]
MakeDocs = Callable[[Vocab], Sequence[Doc]]


def empty(nlp: Language) -> Language:
    """Return a pipeline of the same config without labels and weights."""
    return spacy.blank(nlp.lang, config=nlp.config)


def pairs(nlp: Language, kept: Language) -> Iterator[tuple[tuple[str, Any], tuple[str, Any]]]:
    """Give the components of both pipelines side by side, with their names."""
    return zip(nlp.pipeline, kept.pipeline, strict=True)


def through_disk(nlp: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    return spacy.load(folder)


def through_bytes(nlp: Language, folder: Path) -> Language:
    return empty(nlp).from_bytes(nlp.to_bytes())


def through_pickle(nlp: Language, folder: Path) -> Language:
    return pickle.loads(pickle.dumps(nlp))  # type: ignore[no-any-return]


def through_copy(nlp: Language, folder: Path) -> Language:
    return copy.deepcopy(nlp)


def components_through_disk(nlp: Language, folder: Path) -> Language:
    kept = empty(nlp)
    for (name, component), (_, other) in pairs(nlp, kept):
        component.to_disk(folder / name)
        other.from_disk(folder / name)
    return kept


def components_through_bytes(nlp: Language, folder: Path) -> Language:
    kept = empty(nlp)
    for (_, component), (_, other) in pairs(nlp, kept):
        other.from_bytes(component.to_bytes())
    return kept


def components_through(copied: Callable[[Any], Any], nlp: Language) -> Language:
    kept = spacy.blank("xx", vocab=nlp.vocab)
    kept._components = [(name, copied(component)) for name, component in nlp.pipeline]
    return kept


def components_through_pickle(nlp: Language, folder: Path) -> Language:
    return components_through(lambda component: pickle.loads(pickle.dumps(component)), nlp)


def components_through_copy(nlp: Language, folder: Path) -> Language:
    return components_through(copy.deepcopy, nlp)


def models_through_copy(nlp: Language, folder: Path) -> Language:
    kept = through_disk(nlp, folder)
    for (_, component), (_, other) in pairs(nlp, kept):
        other.model = component.model.copy()
    return kept


PIPELINE_WAYS = (through_disk, through_bytes, through_pickle, through_copy)
COMPONENT_WAYS = (
    components_through_disk,
    components_through_bytes,
    components_through_pickle,
    components_through_copy,
    models_through_copy,
)


def plain(value: Any) -> Any:
    """Return what can be compared: lists in place of arrays, dicts in place of dataclasses."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def outcome(nlp: Language, make_docs: MakeDocs) -> dict[str, Any]:
    """Return what a pipeline makes of some Docs: predictions of its last component, and the parsed Docs."""
    docs = list(make_docs(nlp.vocab))
    components: list[Any] = [component for _, component in nlp.pipeline]
    for component in components[:-1]:
        docs = list(component.pipe(docs))
    last = components[-1]
    return {
        "name": last.name,
        "cfg": last.cfg,
        "label_data": last.label_data,
        "parses": plain(last.predict(docs)),
        "docs": [doc.to_bytes() for doc in nlp.pipe(make_docs(nlp.vocab))],
    }


class Kept:
    """A pipeline that is kept, and what it made of some Docs before."""

    def __init__(self, nlp: Language, make_docs: MakeDocs) -> None:
        self.nlp = nlp
        self.make_docs = make_docs
        self.expected = outcome(nlp, make_docs)

    def check(self, keep: Keep, folder: Path) -> None:
        """Check that the kept pipeline makes the same of the Docs, and that the first one does so still."""
        assert outcome(keep(self.nlp, folder), self.make_docs) == self.expected
        assert outcome(self.nlp, self.make_docs) == self.expected
