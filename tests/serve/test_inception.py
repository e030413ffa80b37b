"""Requests as INCEpTION's developer guide, "External recommender", has them, with the types of DKPro Core."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from spacy.language import Language

from spacy_g2g.scored.doc_constraints import constrain

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
    scores = [score for of in parser_of(nlp).confidence(doc) for score in of.labeled]
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


def xmi(cas: Any, old: str, new: str) -> dict[str, Any]:
    """A request whose document has been changed."""
    request = body(cas)
    request["document"]["xmi"], n = re.subn(old, new, request["document"]["xmi"], count=1)
    assert n == 1
    return request


def types_of(*types: tuple[str, str, int]) -> str:
    """Types as XML: the name of each, the type above it and its number of features."""
    feature = "<name>{}</name><rangeTypeName>uima.cas.Integer</rangeTypeName>"
    feature = f"<featureDescription>{feature}</featureDescription>"
    rows = (
        f"<typeDescription><name>{name}</name><supertypeName>{parent}</supertypeName>"
        f"<features>{''.join(feature.format(f'f{i}') for i in range(n))}</features></typeDescription>"
        for name, parent, n in types
    )
    head = '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>'
    return f"{head}{''.join(rows)}</types></typeSystemDescription>"


def recoded(cas: Any, part: str, change: Callable[[str], str]) -> dict[str, Any]:
    """A request, one of whose two parts in XML has been changed."""
    request = body(cas)
    if part == "types":
        return {**request, "typeSystem": change(request["typeSystem"])}
    return {**request, "document": {"xmi": change(request["document"]["xmi"])}}


def overlapping(cas: Any, name: str) -> dict[str, Any]:
    """A request with a further annotation over two others."""
    cas.add(cas.typesystem.get_type(name)(begin=1, end=6))
    return body(cas)


DEEP = [("a.T0", "uima.tcas.Annotation", 0)] + [(f"a.T{i}", f"a.T{i - 1}", 0) for i in range(1, 300)]
WIDE, LOOP = [("a.T", "uima.tcas.Annotation", 400)], [("a.T", "a.S", 0), ("a.S", "a.T", 0)]
UTF_7 = '<?xml version="1.0" encoding="UTF-7"?>+ADw-!DOCTYPE a+AD4-'
LATIN_1 = "<?xml version='1.0' encoding\t=\n'latin-1' ?>"
ENCODINGS: list[Callable[[str], str]] = [
    lambda text: re.sub(r"<\?xml.*?\?>", UTF_7, text),
    lambda text: re.sub(r"<\?xml.*?\?>", LATIN_1, text),
    lambda text: "".join(f"{char}\0" for char in text),
]
#: Requests that are refused, made of a CAS, and a part of the error.
REFUSED: list[tuple[Callable[[Any], dict[str, Any]], str]] = [
    (lambda cas: {**body(cas), "typeSystem": "<"}, "G2G-E1214"),
    (lambda cas: recoded(cas, "types", '<!DOCTYPE a [<!ENTITY b "c">]>{}'.format), "it has a document type"),
    (lambda cas: recoded(cas, "document", lambda text: text[:-9]), "G2G-E1214"),
    (lambda cas: body(cas, layer="no.Layer"), "layer no.Layer"),
    (lambda cas: body(cas, feature="value"), "The types have no value for the layer"),
    (lambda cas: body(cas, layer=TOKEN), "G2G-E1215"),
    (lambda cas: body(cas, feature="Governor"), "G2G-E12"),
    (lambda cas: body(cas, feature="inception_internal_predicted"), "G2G-E12"),
    (lambda cas: {**body(cas), "document": {}}, "body.document.xmi"),
    (lambda cas: xmi(cas, r'(<\w+:Token [^>]*)begin="4"', r"\1"), "G2G-E12"),
    (lambda cas: xmi(cas, r' begin="0"', ' begin="x"'), "G2G-E12"),
    (lambda cas: xmi(cas, r' members="', ' members="999 '), "G2G-E12"),
    (lambda cas: xmi(cas, r'members="(\d+)', r'members="' + r"\1 " * 99), "more than once"),
    *(
        (lambda cas, t=t: {**body(cas), "typeSystem": types_of(*t)}, "too many features")
        for t in (DEEP, WIDE, LOOP)
    ),
    *((lambda cas, name=name: overlapping(cas, name), "overlap") for name in (TOKEN, SENTENCE)),
    *((lambda cas, e=e: recoded(cas, "types", e), "its encoding is not UTF-8") for e in ENCODINGS),
    *((lambda cas, e=e: recoded(cas, "document", e), "its encoding is not UTF-8") for e in ENCODINGS),
]


@pytest.mark.parametrize(("request_of", "text"), REFUSED)
def test_a_bad_document_is_refused(app, cas: Any, request_of: Callable[[Any], dict[str, Any]], text: str):
    cas.sofa_string = cas.sofa_string.replace("𝄞", "ab")
    (reply,) = post(app, "/inception/predict", request_of(cas))
    assert reply.status_code == 422
    assert text in reply.json()["error"]


def test_a_relation_without_a_governor_is_ignored(app, cas: Any):
    tokens, layer = cas.select(TOKEN), cas.typesystem.get_type(LAYER)
    cas.add(layer(begin=0, end=3, Governor=tokens[0], Dependent=tokens[0], **{FEATURE: "obl"}))
    (reply,) = post(app, "/inception/predict", xmi(cas, r' Governor="\d+"', ' Governor="0"'))
    assert reply.status_code == 200


def test_documents_are_read_and_written_off_the_event_loop(app, cas: Any, monkeypatch: pytest.MonkeyPatch):
    from spacy_g2g.serve import inception

    threads = []
    for name in ("check_xml", "load_cas_from_xmi", "read_sentences", "write"):
        old = getattr(inception, name)

        def noted(*arguments: Any, old: Any = old, **settings: Any) -> Any:
            threads.append(threading.current_thread())
            return old(*arguments, **settings)

        monkeypatch.setattr(inception, name, noted)
    (reply,) = post(app, "/inception/predict", body(cas))
    assert reply.status_code == 200
    assert len(threads) > 4
    assert threading.main_thread() not in threads
