"""The external recommender of INCEpTION: adds scored relations to a CAS.

The protocol is in INCEpTION's developer guide, "External recommender". A relation layer has the features
Governor and Dependent. The annotation of a root is its own governor.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Any
from xml.etree import ElementTree

from cassis import Cas, TypeSystem, load_cas_from_xmi, load_typesystem
from fastapi import APIRouter
from pydantic import BaseModel, Field
from spacy.tokens import Doc

from ..data.multiword import mark_words
from ..data.segmentation import segment
from ..errors import Errors
from ..scored.doc_constraints import constrain, read_constraints
from .limits import MAX_CONSTRAINED_WORDS, RefusedError, shorten
from .plain_json import render_sentences
from .worker import Task, Worker

SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
TOKEN, SENTENCE = f"{SEGMENTATION}.Token", f"{SEGMENTATION}.Sentence"
ANNOTATION = "uima.tcas.Annotation"
HEAD, WORD = "Governor", "Dependent"
PREDICTED, SCORE = "inception_internal_predicted", "_score"
#: Pattern of an encoding other than UTF-8 in the declaration of XML.
OTHER_ENCODING = r"""(?i)encoding\s*=\s*(?!\s|["']utf-8["'])"""
#: Maximum sum over types of the squared number of their features and ancestors. DKPro Core has 5,878.
MAX_FEATURES = 100_000
#: Maximum product of the elements of a document and the features of the largest type.
MAX_VALUES = 10_000_000


class Metadata(BaseModel):
    """Layer and feature to predict."""

    layer: str
    feature: str
    project_id: Annotated[int, Field(alias="projectId")]


class XmiDocument(BaseModel):
    """A document as XMI."""

    xmi: str


class Prediction(BaseModel):
    """Request for the relations of a document."""

    metadata: Metadata
    document: XmiDocument
    type_system: Annotated[str, Field(alias="typeSystem")]


#: Tokens of a sentence, and the relations that annotators have set: word, head and label, counted from 0.
Sentence = tuple[list[Any], list[tuple[int, int, str]]]


@contextmanager
def refuse_invalid_xml() -> Iterator[None]:
    """Turn any error of the library that reads and writes a CAS into RefusedError."""
    try:
        yield
    except RefusedError:
        raise
    except Exception as error:
        raise refusal(shorten(str(error))) from error


def refusal(reason: str, *, name: str = "document") -> RefusedError:
    """Return the error for a part of a request that can't be read."""
    return RefusedError(422, Errors.E1214.format(name=name, error=reason))


def check_xml(text: str, *, name: str) -> None:
    """Raise RefusedError for XML in another encoding than UTF-8, or with a document type."""
    declaration = text.partition("?>")[0] if "<?xml" in text[:9] else ""
    if "\0" in text or re.search(OTHER_ENCODING, declaration):
        raise refusal("its encoding is not UTF-8", name=name)
    # A document type can define entities. A CAS has none.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise refusal("it has a document type", name=name)


def check_types(text: str, n_elements: int) -> None:
    """Raise RefusedError for types that need much time, or much memory for the elements of a document.

    The time to read a type grows with the square of the number of its features and ancestors.
    """
    types: dict[str | None, tuple[str | None, int]] = {}
    for _, element in ElementTree.iterparse(BytesIO(text.encode())):
        if element.tag.endswith("}typeDescription"):
            name, parent = (element.findtext(f"{{*}}{key}") for key in ("name", "supertypeName"))
            types[name] = parent, types.get(name, (None, 0))[1] + len(element.findall("{*}features/*"))
            element.clear()
    total = largest = 0
    for name in types:
        n = 0
        while name in types and n * n <= MAX_FEATURES:
            name, n_features = types[name]
            n += 1 + n_features
        total, largest = total + n * n, max(largest, n)
    if total > MAX_FEATURES or largest * n_elements > MAX_VALUES:
        raise refusal("it has too many features", name="typeSystem")


def read(request: Prediction) -> tuple[Cas, list[Sentence]]:
    """Return the document of a request, and its sentences that have tokens.

    Raises RefusedError if it can't be read, or if its types have no such relation layer.
    """
    xmi, metadata = request.document.xmi, request.metadata
    check_xml(request.type_system, name="typeSystem")
    check_xml(xmi, name="document.xmi")
    with refuse_invalid_xml():
        check_types(request.type_system, xmi.count("<"))
        types = load_typesystem(request.type_system)
        cas = load_cas_from_xmi(xmi, types)
        if len(cas.select_all_fs()) > xmi.count("<"):
            raise refusal("some annotations are in it more than once")
        check_layer(types, metadata)
        return cas, read_sentences(cas, metadata)


def check_layer(types: TypeSystem, metadata: Metadata) -> None:
    """Raise RefusedError if the types do not have the relation layer of the request."""
    names = [HEAD, WORD, metadata.feature, PREDICTED]
    layer = metadata.layer
    kind = types.get_type(layer) if types.contains_type(layer) else None
    features: dict[str, Any] = {name: kind and kind.get_feature(name) for name in names}
    missing = [name for name, feature in features.items() if feature is None]
    missing += [name for name in (TOKEN, SENTENCE) if not types.contains_type(name)]
    missing += ["feature for labels"] * (len(names) - len(features))
    if not missing:
        ends = (features[name].rangeType.name for name in (HEAD, WORD))
        missing = [f"tokens, but {end}," for end in ends if end not in (TOKEN, ANNOTATION)]
    if missing:
        raise RefusedError(422, Errors.E1215.format(layer=layer[:80], missing=", ".join(missing)[:200]))


def spans(cas: Cas, name: str) -> list[Any]:
    """Return the annotations of a type that have text, in order. Raises RefusedError if they overlap."""
    annotations = (each for each in cas.select(name) if each.begin < each.end)
    ordered = sorted(annotations, key=attrgetter("begin"))
    if any(after.begin < before.end for before, after in pairwise(ordered)):
        raise refusal(f"annotations of the type {name} overlap")
    return [each for each in ordered if each.get_covered_text().strip()]


def read_sentences(cas: Cas, metadata: Metadata) -> list[Sentence]:
    """Return the sentences that have tokens. Raises RefusedError if sentences or tokens overlap."""
    tokens = spans(cas, TOKEN)
    begins = [token.begin for token in tokens]
    ends = [token.end for token in tokens]
    sentences: list[Sentence] = []
    # Numbers of the sentence and of the word in it, by the first and last character of the token.
    places: dict[tuple[int, int], tuple[int, int]] = {}
    for span in spans(cas, SENTENCE):
        words = tokens[bisect_left(begins, span.begin) : bisect_right(ends, span.end)]
        if words:
            places |= {(word.begin, word.end): (len(sentences), i) for i, word in enumerate(words)}
            sentences.append((words, []))
    for relation in cas.select(metadata.layer):
        both = (relation[WORD], relation[HEAD])
        word, head = (places.get((getattr(end, "begin", -1), getattr(end, "end", -1))) for end in both)
        if word and head and word[0] == head[0] and not relation[PREDICTED]:
            sentences[word[0]][1].append((word[1], head[1], relation[metadata.feature] or ""))
    return sentences


def constrained_doc(worker: Worker, tokens: Sequence[Any], relations: Sequence[tuple[int, int, str]]) -> Doc:
    """Make the Doc of a sentence, with the relations as constraints if a tree can meet all of them."""
    spaces = [after.begin > token.end for token, after in pairwise(tokens)]
    starts: list[Any] = [i == 0 for i in range(len(tokens))]
    words = [token.get_covered_text() for token in tokens]
    doc = Doc(worker.nlp.vocab, words=words, spaces=[*spaces, False], sent_starts=starts)
    mark_words(doc, [], [])
    heads, labels = {word: head for word, head, _ in relations}, worker.parser.labels
    can_be_met = worker.parser.model.attrs.get("meets_constraints") and len(heads) == len(relations)
    if not can_be_met or len(doc) > MAX_CONSTRAINED_WORDS:
        return doc
    constrain(doc, heads=heads, deps={word: dep for word, _, dep in relations if dep in labels})
    try:
        read_constraints([doc], segment([doc]), labels)
    except ValueError:
        constrain(doc)
    return doc


def write(cas: Cas, metadata: Metadata, sentences: Sequence[Sentence], answers: Sequence[Any]) -> str:
    """Return a document with the predicted relations, and the probability of each as its score."""
    with refuse_invalid_xml():
        layer, feature = cas.typesystem.get_type(metadata.layer), metadata.feature
        has_score = layer.get_feature(feature + SCORE) is not None
        for (tokens, _), trees in zip(sentences, answers, strict=True):
            for tree in trees:
                arcs = zip(tree["tokens"], tree["heads"], tree["deps"], strict=True)
                for i, (word, head, dep) in enumerate(arcs):
                    fields = {HEAD: tokens[head], WORD: tokens[word], feature: dep, PREDICTED: True}
                    if has_score and "labeled" in tree:
                        fields[feature + SCORE] = tree["labeled"][i]
                    cas.add(layer(begin=tokens[word].begin, end=tokens[word].end, **fields))
        return str(cas.to_xmi())


def inception_router(worker: Worker) -> APIRouter:
    """Return the routes of the external recommender."""
    router = APIRouter()

    def task(sentence: Sentence) -> Task:
        return Task(
            len(sentence[0]),
            make=lambda: constrained_doc(worker, *sentence),
            render=lambda doc: list(render_sentences(doc, worker)),
        )

    @router.post("/predict")
    async def predict(request: Prediction) -> dict[str, str]:
        """Add the relations of a document to it."""
        cas, sentences = await worker.read(lambda: read(request))
        answers = await worker.ask_in_turn(map(task, sentences))
        return {"document": await worker.read(lambda: write(cas, request.metadata, sentences, answers))}

    @router.post("/train", status_code=204, response_model=None)
    async def train() -> None:
        """Learn nothing: pipelines are trained by `spacy train`."""

    return router
