"""The callback ``spacy_g2g.cache_annotations.v1``: frozen parsers parse each training Doc once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..data.docs import write_tree
from ..data.initial_graph import get_initial_graph
from ..errors import Errors

COLUMNS: list[int | str] = ["TAG", "POS", "MORPH", "LEMMA", "SENT_START"]
#: What a parser may read of a Doc, and so what tells one Doc from another.
CONTENT: list[int | str] = ["ORTH", "SPACY", "NORM", *COLUMNS]
TREE: list[int | str] = ["HEAD", "DEP", "SENT_START"]
DEFAULT_BATCH_SIZE = 128


def make_cache_annotations(components: list[str]) -> Callable[[Language, dict[str, Any]], None]:
    """Registered as ``spacy_g2g.cache_annotations.v1``, for ``[training.before_update]``.

    Without it, spaCy runs annotating components again on every batch, though frozen ones give the same
    trees in every epoch. They are kept in memory from the first update on, 24 bytes a token, until the
    pipeline goes; evaluations during training use them, too. A Doc that comes with heads or with
    ``doc._.g2g_initial``, as from ``spacy_g2g.RefinerCorpus.v1``, keeps them. The pipeline is saved and
    copied without the trees.
    components (List[str]): Names of components that write heads, labels and sentence boundaries, and nothing
        else that is needed (no probabilities, for instance).
    RAISES (ValueError): at the first update, for a component that is not in the pipeline, is not both in
        ``training.frozen_components`` and in ``training.annotating_components``, has no method ``pipe``, or
        gets its vectors from a component that is not frozen.
    """

    def before_update(nlp: Language, _info: dict[str, Any]) -> None:
        for name in components:
            if not (nlp.has_pipe(name) and isinstance(nlp.get_pipe(name), CachedParser)):
                _check_component(nlp, name)
                # spaCy has no public way to put an object in a component's place.
                place = nlp.component_names.index(name)
                nlp._components[place] = name, CachedParser(nlp.get_pipe(name))

    return before_update


class CachedParser:
    """Stands in the pipeline for a component, and lets it parse Docs with new content only.

    Everything but ``pipe`` is the component's own, attributes that are set included. A copy or a pickle is
    one of the component. (Its method can't be replaced in place: spaCy's parser is a Cython class.)
    """

    def __init__(self, component: Any) -> None:
        trees: dict[bytes, Any] = {}
        vars(self).update(_component=component, _trees=trees)

    def pipe(
        self, docs: Iterable[Doc], *, batch_size: int = DEFAULT_BATCH_SIZE, **kwargs: Any
    ) -> Iterator[Doc]:
        """Annotate Docs, in order and batch by batch; the new ones of a batch go to the component together.

        Docs that the component's error handler lets drop are not given.
        """
        stream = iter(docs)
        while batch := list(islice(stream, batch_size)):
            keys = [None if _has_graph(doc) else _content_key(doc) for doc in batch]
            new: dict[bytes, Doc] = {}
            for key, doc in zip(keys, batch, strict=True):
                if key is not None and key not in self._trees:
                    new.setdefault(key, doc)
            key_of = {id(doc): key for key, doc in new.items()}
            parsed = self._component.pipe(list(new.values()), batch_size=batch_size, **kwargs) if new else ()
            for doc in parsed:
                self._trees[key_of[id(doc)]] = doc.to_array(TREE)
            for key, doc in zip(keys, batch, strict=True):
                if key is None:
                    yield doc
                elif key in self._trees:
                    if new.get(key) is not doc:
                        tree = self._trees[key]
                        write_tree(doc, tree[:, :2], tree[:, 2])
                    yield doc

    def __call__(self, doc: Doc, **kwargs: Any) -> Any:
        """Annotate a Doc, as the component does."""
        return self._component(doc, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._component, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._component, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._component,)


def _itself(component: Any) -> Any:
    return component


def _has_graph(doc: Doc) -> bool:
    return doc.has_annotation("DEP") or get_initial_graph(doc) is not None


def _content_key(doc: Doc) -> bytes:
    return hashlib.blake2b(doc.to_array(CONTENT).tobytes(), digest_size=16).digest()


def _check_component(nlp: Language, name: str) -> None:
    if not nlp.has_pipe(name):
        raise ValueError(Errors.E333.format(name=name, names=nlp.pipe_names))
    training = nlp.config.interpolate()["training"]
    frozen, annotating = training["frozen_components"], training["annotating_components"]
    if name not in frozen or name not in annotating:
        raise ValueError(Errors.E334.format(name=name, frozen=frozen, annotating=annotating))
    if not hasattr(nlp.get_pipe(name), "pipe"):
        raise ValueError(Errors.E335.format(name=name))
    for other, component in nlp.pipeline:
        if other not in frozen and name in getattr(component, "listening_components", ()):
            raise ValueError(Errors.E336.format(name=name, other=other, frozen=frozen))
