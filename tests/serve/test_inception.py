"""Requests as INCEpTION's developer guide, "External recommender", has them, with the types of DKPro Core."""

from typing import Any

import pytest
from spacy.language import Language

from spacy_g2g.data.constraints import constrain

from ..util import parser_of, plain_doc
from .conftest import post

cassis = pytest.importorskip("cassis", reason="the extra 'serve' is not installed")

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
LAYER = f"{DKPRO}.syntax.type.dependency.Dependency"
TOKEN, SENTENCE = f"{DKPRO}.segmentation.type.Token", f"{DKPRO}.segmentation.type.Sentence"
#: The second word has a character that UIMA counts as two.
SENTENCES = [["she", "saw𝄞", "the", "cat", "."], ["dogs", "bark"]]
FEATURE = "DependencyType"


@pytest.fixture
def cas() -> Any:
    """A project's document, with the features that INCEpTION adds for a recommender."""
    types = cassis.TypeSystem()
    types.create_type(SENTENCE)
    token = types.create_type(TOKEN)
    layer = types.create_type(LAYER)
    features = {
        "Governor": token,
        "Dependent": token,
        FEATURE: "uima.cas.String",
        "inception_internal_predicted": "uima.cas.Boolean",
        f"{FEATURE}_score": "uima.cas.Double",
    }
    for name, kind in features.items():
        types.create_feature(layer, name, kind)
    found = cassis.Cas(types)
    found.sofa_string = "\n".join(" ".join(words) for words in SENTENCES)
    found.sofa_mime = "text/plain"
    start = 0
    for words in SENTENCES:
        length = len(" ".join(words))
        found.add(types.get_type(SENTENCE)(begin=start, end=start + length))
        for word in words:
            found.add(token(begin=start, end=start + len(word)))
            start += len(word) + 1
    return found


def body(cas: Any, **metadata: Any) -> dict[str, Any]:
    """A request for predictions, with all keys that INCEpTION sends."""
    about = {"layer": LAYER, "feature": FEATURE, "projectId": 1337, "anchoringMode": "tokens"}
    about |= {"crossSentence": False, "range": {"begin": 0, "end": 9}}
    document = {"xmi": cas.to_xmi(), "documentId": 42, "userId": "testuser"}
    return {"metadata": {**about, **metadata}, "document": document, "typeSystem": cas.typesystem.to_xml()}


def predicted(reply: Any, cas: Any) -> list[tuple[int, int, str, float]]:
    """Governor, dependent, label and score of each relation that was predicted."""
    assert reply.status_code == 200, reply.text
    assert set(reply.json()) == {"document"}
    found = cassis.load_cas_from_xmi(reply.json()["document"], cas.typesystem)
    assert found.sofa_string == cas.sofa_string
    relations = [each for each in found.select(LAYER) if each.inception_internal_predicted]
    assert all((each.begin, each.end) == (each.Dependent.begin, each.Dependent.end) for each in relations)
    numbers = {token.begin: number for number, token in enumerate(found.select(TOKEN))}
    return [
        (numbers[each.Governor.begin], numbers[each.begin], each[FEATURE], each[f"{FEATURE}_score"])
        for each in relations
    ]


def parsed(nlp: Language, **constraints: Any) -> list[Any]:
    """The relations that a document should get; a root is its own governor."""
    doc = plain_doc(nlp.vocab, *SENTENCES)
    constrain(doc, **constraints)
    doc = nlp(doc)
    scores = [score for of in parser_of(nlp).confidence(doc) for score in of.labelled]
    return [(t.head.i, t.i, t.dep_, pytest.approx(scores[t.i], abs=1e-4)) for t in doc]


def test_each_word_gets_a_relation_with_its_probability(app, nlp: Language, cas: Any):
    (reply,) = post(app, "/inception/predict", body(cas))
    assert predicted(reply, cas) == parsed(nlp)


def test_what_annotators_have_set_is_met_unless_it_is_no_tree(app, nlp: Language, cas: Any):
    tokens, layer = cas.select(TOKEN), cas.typesystem.get_type(LAYER)

    def annotate(word: int, head: int) -> None:
        span = {"begin": tokens[word].begin, "end": tokens[word].end}
        cas.add(layer(**span, Governor=tokens[head], Dependent=tokens[word], **{FEATURE: "obl"}))

    annotate(2, 4)
    (reply,) = post(app, "/inception/predict", body(cas))
    assert predicted(reply, cas) == parsed(nlp, heads={2: 4}, deps={2: "obl"})
    annotate(4, 2)
    (reply,) = post(app, "/inception/predict", body(cas))
    assert predicted(reply, cas) == parsed(nlp)


def test_training_is_answered_as_the_guide_has_it(app, cas: Any):
    request = body(cas)
    documents = [request.pop("document")]
    (reply,) = post(app, "/inception/train", {**request, "documents": documents})
    assert (reply.status_code, reply.content) == (204, b"")


def test_a_document_that_is_none_is_refused(app, cas: Any):
    good = body(cas)
    entities = '<!DOCTYPE a [<!ENTITY b "c">]>' + good["typeSystem"]
    replies = post(
        app,
        "/inception/predict",
        {**good, "typeSystem": "<"},
        {**good, "typeSystem": entities},
        {**good, "document": {"xmi": good["document"]["xmi"][:-9]}},
        body(cas, layer="no.Layer"),
        body(cas, feature="value"),
        body(cas, layer=TOKEN),
        {**good, "document": {}},
    )
    assert [reply.status_code for reply in replies] == [422] * 7
    texts = [reply.json()["error"] for reply in replies]
    assert ["G2G-E1214" in text for text in texts] == [True] * 3 + [False] * 4
    assert "it has a document type" in texts[1]
    assert "layer no.Layer" in texts[3]
    assert "The types have no value for the layer" in texts[4]
    assert "body.document.xmi" in texts[6]
