"""Cache the trees of frozen parsers, which then parse each training Doc once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..data.doc_graphs import get_initial_graph
from ..data.docs import TREEBANK_KEY, write_tree
from ..errors import Errors
from ..scored.score_record import SCORES

#: Attributes that a parser may read. Docs of the same treebank with equal attributes get equal trees.
CONTENT: list[int | str] = ["ORTH", "SPACY", "NORM", "TAG", "POS", "MORPH", "LEMMA", "SENT_START"]
TREE: list[int | str] = ["HEAD", "DEP", "SENT_START"]
DEFAULT_BATCH_SIZE = 128


def make_cache_annotations(components: list[str]) -> Callable[[Language, dict[str, Any]], None]:
    """Make the callback ``spacy_g2g.cache_annotations.v1`` for ``[training.before_update]``.

    spaCy runs annotating components on every batch again, although frozen components give the same trees in
    every epoch. The cache keeps their trees in memory, 24 bytes a token, from the first update until the
    pipeline is deleted. For a refiner with ``prior_share`` it also keeps the log-probabilities of heads and
    labels: 4 n² bytes for a sentence of n words, and for each word 8 bytes and 4 for each label. Evaluations
    during training use the same cache. A Doc that already has heads or ``doc._.g2g_initial``, for instance
    from ``spacy_g2g.RefinerCorpus.v1``, keeps them. Saved and copied pipelines do not contain the cache.

    components: Names of components that write heads, labels and sentence boundaries. The cache leaves out
        their other annotations, such as probabilities.
    Raises ValueError at the first update if a component is not in the pipeline, if it is not both in
        ``training.frozen_components`` and in ``training.annotating_components``, if it has no method
        ``pipe``, or if it gets its vectors from a component that is not frozen.
    """

    def before_update(nlp: Language, _info: dict[str, Any]) -> None:
        for name in components:
            if not (nlp.has_pipe(name) and isinstance(nlp.get_pipe(name), CachedParser)):
                _check_component(nlp, name)
                # spaCy has no public way to put an object in a component's place.
                index = nlp.component_names.index(name)
                nlp._components[index] = name, CachedParser(nlp.get_pipe(name))

    return before_update


class CachedParser:
    """Proxy for a component, which parses only Docs with new content.

    All attributes except ``pipe`` belong to the component. A copy or a pickle contains the component without
    the proxy. It is not a subclass, because spaCy's parser is a Cython class whose method can't be replaced.
    """

    def __init__(self, component: Any) -> None:
        trees: dict[bytes, Any] = {}
        vars(self).update(_component=component, _trees=trees)

    def pipe(
        self, docs: Iterable[Doc], *, batch_size: int = DEFAULT_BATCH_SIZE, **kwargs: Any
    ) -> Iterator[Doc]:
        """Annotate Docs in order. The component gets the new Docs of each batch at once.

        The output lacks Docs that the component's error handler drops. Further arguments are those of the
        component's ``pipe``.
        """
        stream = iter(docs)
        while batch := list(islice(stream, batch_size)):
            keys = [None if _has_graph(doc) else _content_key(doc) for doc in batch]
            pairs = [(key, doc) for key, doc in zip(keys, batch, strict=True) if key not in self._trees]
            new: dict[bytes | None, Doc] = {key: doc for key, doc in reversed(pairs) if key is not None}
            key_by_doc = {id(doc): key for key, doc in new.items()}
            parsed = self._component.pipe(list(new.values()), batch_size=batch_size, **kwargs) if new else ()
            for doc in parsed:
                scores = doc._.get(SCORES) if Doc.has_extension(SCORES) else None
                self._trees[key_by_doc[id(doc)]] = doc.to_array(TREE), scores
            for key, doc in zip(keys, batch, strict=True):
                if key in self._trees and new.get(key) is not doc:
                    tree, scores = self._trees[key]
                    write_tree(doc, tree[:, :2], starts=tree[:, 2])
                    if scores is not None:
                        doc._.set(SCORES, scores)
                if key is None or key in self._trees:
                    yield doc

    def __call__(self, doc: Doc, **kwargs: Any) -> Any:
        """Annotate a Doc with the component."""
        return self._component(doc, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._component, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._component, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._component,)


def _unpickle(component: Any) -> Any:
    return component


def _has_graph(doc: Doc) -> bool:
    return doc.has_annotation("DEP") or get_initial_graph(doc) is not None


def _content_key(doc: Doc) -> bytes:
    treebank = str(doc.user_data.get(TREEBANK_KEY, "")).encode()
    return hashlib.blake2b(doc.to_array(CONTENT).tobytes() + treebank, digest_size=16).digest()


def _check_component(nlp: Language, name: str) -> None:
    """Raise ValueError if the output of a component can't be cached."""
    training = nlp.config.interpolate()["training"]
    frozen, annotating = training["frozen_components"], training["annotating_components"]
    has_pipe = nlp.has_pipe(name) and hasattr(nlp.get_pipe(name), "pipe")
    if not has_pipe or name not in frozen or name not in annotating:
        raise ValueError(Errors.E702.format(name=name, frozen=frozen, annotating=annotating))
    for other, component in nlp.pipeline:
        if other not in frozen and name in getattr(component, "listening_components", ()):
            raise ValueError(Errors.E704.format(name=name, other=other, frozen=frozen))
