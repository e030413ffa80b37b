"""The external recommender of INCEpTION: a CAS in, the CAS with scored relations out.

The protocol is in INCEpTION's developer guide, "External recommender". A relation layer has the features
Governor and Dependent. The annotation of a root is its own governor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any

import anyio.to_thread
from cassis import Cas, load_cas_from_xmi, load_typesystem
from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from spacy.tokens import Doc

from ..data.constraints import constrain, read_constraints
from ..errors import Errors
from .limits import RefusedError, shown
from .questions import sentences
from .worker import Task, Worker

SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
TOKEN, SENTENCE = f"{SEGMENTATION}.Token", f"{SEGMENTATION}.Sentence"
ANNOTATION = "uima.tcas.Annotation"
HEAD, WORD = "Governor", "Dependent"
PREDICTED, SCORE = "inception_internal_predicted", "_score"


class Metadata(BaseModel):
    """What is to be predicted."""

    layer: str
    feature: str
    project_id: Annotated[int, Field(alias="projectId")]


class Document(BaseModel):
    """A document as XMI."""

    xmi: str


class Prediction(BaseModel):
    """Request for the relations of a document."""

    metadata: Metadata
    document: Document
    type_system: Annotated[str, Field(alias="typeSystem")]


class Training(BaseModel):
    """Request to learn from documents."""

    metadata: Metadata
    documents: list[Document]
    type_system: Annotated[str, Field(alias="typeSystem")]


def read_cas(request: Prediction) -> Cas:
    """Return the document of a request.

    Raises RefusedError if it can't be read, or if its types have no such relation layer.
    """
    for name, text in (("typeSystem", request.type_system), ("document.xmi", request.document.xmi)):
        # No CAS has a document type, in which entities could be defined.
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise RefusedError(422, Errors.E1214.format(name=name, error="it has a document type"))
    try:
        types = load_typesystem(request.type_system)
        cas = load_cas_from_xmi(request.document.xmi, types)
    except Exception as error:  # The reader raises errors of many kinds for XML that is no CAS.
        raise RefusedError(422, Errors.E1214.format(name="document", error=shown(str(error)))) from error
    wanted = [HEAD, WORD, request.metadata.feature, PREDICTED]
    layer = request.metadata.layer
    found = types.get_type(layer) if types.contains_type(layer) else None
    features: dict[str, Any] = {name: found and found.get_feature(name) for name in wanted}
    missing = [name for name, feature in features.items() if feature is None]
    missing += [name for name in (TOKEN, SENTENCE) if not types.contains_type(name)]
    if missing:
        raise RefusedError(422, Errors.E1215.format(layer=layer[:80], missing=", ".join(missing)[:200]))
    ends = {features[name].rangeType.name for name in (HEAD, WORD)}
    if not ends <= {TOKEN, ANNOTATION}:
        raise RefusedError(422, Errors.E1221.format(layer=layer[:80], found=", ".join(sorted(ends))[:200]))
    return cas


def tokens_of(cas: Cas) -> Iterator[list[Any]]:
    """Yield the tokens of each sentence that has text."""
    for sentence in cas.select(SENTENCE):
        tokens = [token for token in cas.select_covered(TOKEN, sentence) if token.get_covered_text().strip()]
        if tokens:
            yield tokens


def known_arcs(cas: Cas, metadata: Metadata, tokens: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Return what annotators have decided on a sentence: word, head and label, counted from 0.

    tokens: Tokens of the sentence.
    """
    numbers = {(token.begin, token.end): i for i, token in enumerate(tokens)}
    found = []
    for token in tokens:
        for relation in cas.select_covered(metadata.layer, token):
            head, word = (of and numbers.get((of.begin, of.end)) for of in (relation[HEAD], relation[WORD]))
            if head is not None and word is not None and not relation[PREDICTED]:
                found.append((word, head, relation[metadata.feature] or ""))
    return found


def make_doc(worker: Worker, tokens: Sequence[Any], known: Sequence[tuple[int, int, str]]) -> Doc:
    """Make the Doc of a sentence, whose tree must have what is known, unless no tree has all of it."""
    spaces = [after.begin > token.end for token, after in pairwise(tokens)]
    starts: list[Any] = [i == 0 for i in range(len(tokens))]
    words = [token.get_covered_text() for token in tokens]
    doc = Doc(worker.nlp.vocab, words=words, spaces=[*spaces, False], sent_starts=starts)
    heads, labels = {word: head for word, head, _ in known}, worker.parser.labels
    if len(heads) < len(known) or len(doc) > worker.max_constrained:
        return doc
    constrain(doc, heads=heads, deps={word: dep for word, _, dep in known if dep in labels})
    parser = worker.parser
    projective = parser.model.attrs.get("meets_constraints") == "projective"
    try:
        read_constraints(doc, [range(len(doc))], labels, projective=projective, rules=parser.rules)
    except ValueError:
        constrain(doc)
    return doc


def add_relations(cas: Cas, metadata: Metadata, tokens: Sequence[Any], found: dict[str, Any]) -> None:
    """Add the relations of a sentence to a document, with the probability of each as its score."""
    layer = cas.typesystem.get_type(metadata.layer)
    has_score = layer.get_feature(metadata.feature + SCORE) is not None and "labelled" in found
    for i, (word, head, dep) in enumerate(zip(found["tokens"], found["heads"], found["deps"], strict=True)):
        token = tokens[word]
        fields = {HEAD: tokens[head], WORD: token, metadata.feature: dep, PREDICTED: True}
        if has_score:
            fields[metadata.feature + SCORE] = found["labelled"][i]
        cas.add(layer(begin=token.begin, end=token.end, **fields))


def make_router(worker: Worker) -> APIRouter:
    """Return the routes of the external recommender."""
    router = APIRouter()

    @router.post("/predict")
    async def predict(request: Prediction) -> dict[str, str]:
        """Add the relations of a document to it."""
        cas = await anyio.to_thread.run_sync(read_cas, request)
        metadata, asked = request.metadata, list(tokens_of(cas))

        def task(tokens: list[Any]) -> Task:
            known = known_arcs(cas, metadata, tokens)
            return Task(
                len(tokens),
                make=lambda: make_doc(worker, tokens, known),
                tell=lambda doc: list(sentences(doc, worker, 1)),
            )

        for tokens, found in zip(asked, await worker.ask(map(task, asked)), strict=True):
            for sentence in found:
                add_relations(cas, metadata, tokens, sentence)
        return {"document": await anyio.to_thread.run_sync(cas.to_xmi)}

    @router.post("/train", status_code=204)
    async def train(_: Training) -> Response:
        """Learn nothing: pipelines are trained by `spacy train`."""
        return Response(status_code=204)

    return router
