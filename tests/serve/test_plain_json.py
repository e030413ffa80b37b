import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.conversion.parse import parse
from spacy_g2g.scored.doc_constraints import constrain
from spacy_g2g.serve import plain_json
from spacy_g2g.trees import constraints as conflicts

from ..util import (
    add_tiny,
    parser_of,
    randomize,
    read_treebank,
    tree_of,
    treebank_docs,
    treebank_examples,
    tries,
)
from .conftest import httpx, make_pipeline, make_service, post, served, talk

TEXT = "she saw the cat. dogs bark"
TEXTS = [" ".join(word for word, *_ in sentence) for sentence in read_treebank()]
WORDS = ["a", "hearing", "is", "set", "on", "it", "today"]


def expected(nlp: Language, doc: Doc, k: int = 1) -> list[dict[str, Any]]:
    """What the service says of a Doc."""
    parser = parser_of(nlp)
    found = []
    for of, trees in zip(parser.confidence(doc), parser.kbest(doc, k), strict=True):
        tokens = [doc[i] for i in of.tokens]
        tree = {"heads": [token.head.i for token in tokens], "deps": [token.dep_ for token in tokens]}
        found.append({**asdict(of), **tree, **({"kbest": [asdict(t) for t in trees]} if k > 1 else {})})
    return found


def close(found: Any) -> Any:
    """Numbers of a JSON value, to be compared as they are computed in batches."""
    if isinstance(found, dict):
        return {key: close(value) for key, value in found.items()}
    if isinstance(found, list):
        return [close(value) for value in found]
    return pytest.approx(found, abs=1e-4) if isinstance(found, float) else found


def test_a_text_gets_trees_and_probabilities(app, nlp: Language):
    (reply,) = post(app, "/parse", {"text": TEXT, "k": 3})
    doc = nlp(TEXT)
    assert reply.status_code == 200
    assert reply.json() == {
        "words": [token.text for token in doc],
        "spaces": [bool(token.whitespace_) for token in doc],
        "sentences": close(expected(nlp, doc, 3)),
    }
    assert len(reply.json()["sentences"][0]["kbest"]) == 3


def test_words_keep_what_is_known_of_them(app, nlp: Language):
    constraints = {
        "heads": {1: 3, 5: 1},
        "deps": {5: "obl"},
        "not_heads": {0: [1, 2]},
        "not_deps": {2: ["aux"]},
        "subtrees": [[4, 5]],
    }
    starts = [i == 0 for i in range(len(WORDS))]
    (reply,) = post(app, "/parse", {"words": WORDS, "sent_starts": starts, "constraints": constraints})
    doc = Doc(nlp.vocab, words=WORDS, sent_starts=starts)
    constrain(doc, **constraints)
    (found,) = reply.json()["sentences"]
    assert found == close(expected(nlp, nlp(doc))[0])
    assert (found["heads"][1], found["heads"][5], found["deps"][5]) == (3, 1, "obl")


def test_rows_keep_their_words_and_sentences(app, nlp: Language):
    rows = "".join(f"{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for i, word in enumerate(WORDS, start=1)) + "\n"
    starts = [i % len(WORDS) == 0 for i in range(2 * len(WORDS))]
    constraints = {"heads": {"1": 3, "9": 7}}
    words: dict[str, Any] = {"words": WORDS * 2, "sent_starts": starts, "constraints": constraints}
    of_words, of_rows = post(app, "/parse", words, {"rows": rows * 2, "constraints": constraints})
    assert of_rows.json() == of_words.json()
    split = rows.replace("1\ta\t", "1-2\tah\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\t")
    (reply,) = post(app, "/parse", {"rows": split, "conllu": True})
    assert reply.json()["multiword_tokens"] == [[0, 2]]
    assert reply.json()["sentences"][0]["conllu"].startswith("1-2\tah\t")


def test_a_file_is_checked_with_the_messages_of_commands(app):
    text = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    good, bad, cycle, none = post(
        app,
        "/conllu",
        {"name": "own.conllu", "text": text * 2},
        {"name": "own.conllu", "text": text + "1\ta\n"},
        {"name": "own.conllu", "text": text.replace("0", "1")},
        {"name": "own.conllu", "text": ""},
    )
    assert good.json() == {"sentences": 2, "words": 2}
    assert "own.conllu, line 3: expected 10 columns" in bad.json()["error"]
    assert "G2G-E307" in cycle.json()["error"]
    assert none.json()["error"] == "[G2G-E1213] own.conllu has no sentences. Expected CoNLL-U."


def test_requests_at_once_get_what_each_gets_alone(app, nlp: Language):
    bodies: list[dict[str, Any]] = [{"text": text} for text in TEXTS]
    bodies[7:7] = [{"words": WORDS, "constraints": {"heads": {"1": 2, "2": 1}}}]
    bodies[9:9] = [{"words": WORDS, "constraints": {"heads": {"9": 2}}}]
    replies = post(app, "/parse", *bodies)
    codes = [reply.status_code for reply in replies]
    assert [i for i, code in enumerate(codes) if code != 200] == [7, 9]
    assert "G2G-E516" in replies[7].text
    assert "G2G-E514" in replies[9].text
    parsed = [reply.json()["sentences"] for reply in replies if reply.status_code == 200]
    for found, text in zip(parsed, TEXTS, strict=True):
        assert found == close(expected(nlp, nlp(text)))


def test_a_refiner_that_leaves_certain_trees_gives_the_trees_of_the_pipeline():
    nlp = make_pipeline()
    refiner: Any = add_tiny(nlp, "rng_refiner", iterations=1)
    nlp.initialize(lambda: treebank_examples(nlp))
    parser: Any = nlp.get_pipe("g2g_parser")
    for seed, pipe in enumerate((parser, refiner)):
        randomize(pipe.model, seed + 1, scale=0.35)
    parses = parser.predict(treebank_docs(nlp.vocab)).parses
    refiner.certain = float(sorted(parse.head_probs.min() for parse in parses)[5])
    docs = [nlp(text) for text in TEXTS]
    assert {0, 1} == {n for doc in docs for n in doc._.g2g_iterations}
    app = make_service(nlp)
    replies = post(app, "/parse", *({"text": text, "k": 2} for text in TEXTS))
    for doc, reply in zip(docs, replies, strict=True):
        found = reply.json()["sentences"]
        arcs = [arc for of in found for arc in zip(of["heads"], of["deps"], strict=True)]
        assert arcs == tree_of(doc)
        assert [of["kbest"][0]["heads"] for of in found] == [of["heads"] for of in found]


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({}, 422, "G2G-E1208"),
        ({"text": "a", "words": ["a"]}, 422, "G2G-E1208"),
        ({"text": "a", "rows": ""}, 422, "G2G-E1208"),
        ({"rows": "1\ta\n"}, 422, "rows, line 1: expected 10 columns"),
        ({"rows": "a" * 122_001}, 413, "sentence: 61. Expected 60 at most, or a higher --max-words."),
        ({"text": 3}, 422, "body.text is 3. Input should be a valid string."),
        ({"text": "a", "sentence": 1}, 422, "body.sentence is 1. Extra inputs are not permitted."),
        ({"words": ["a", ""]}, 422, "body.words.1 is ''"),
        ({"words": ["a"], "k": True}, 422, "body.k is True"),
        ({"words": ["a"], "k": 10}, 413, "k: 10. Expected 9 at most, or a higher --max-k."),
        ({"words": ["a"], "tags": []}, 422, "tags has 0 values. Expected one for each of 1 words."),
        ({"words": ["a"] * 61}, 413, "sentence: 61. Expected 60 at most, or a higher --max-words."),
        ({"text": "a " * 61}, 413, "sentence: 61. Expected 60 at most, or a higher --max-words."),
        ({"words": ["a"], "constraints": {"deps": {"0": "no"}}}, 422, "the label 'no'"),
        ({"words": ["a"], "constraints": {"heads": {"x": 0}}}, 422, "body.constraints.heads.x.[key] is 'x'"),
        (
            {"words": ["a"], "constraints": {"not_heads": {"0": [0] * 1001}}},
            413,
            "Constraints: 1001. Expected 1000 at most.",
        ),
        ({"text": "a", "constraints": {"heads": {"0": 0}}}, 422, "G2G-E1212"),
        ({"text": "(" * 5000}, 413, "without white space: 25000000. Expected 480000 at most"),
        ({"words": ["a" * 6100]}, 413, "sentence: 61. Expected 60 at most, or a higher --max-words."),
        (b'{"text": NaN}', 422, "body.text is nan"),
        (b'{"text": "a", "k": 1e400}', 422, "body.k is inf"),
        (b'{"text": "\\ud800"}', 422, "body.text"),
        (b'{"text": "a", "k": ' + b"9" * 5000 + b"}", 422, "Can't read the body"),
        (b"[" * 9000, 422, "Can't read the body"),
        (b"[" * 100_000, 413, "body: 100000. Expected 10600 at most, or a higher --max-words."),
        (b'{"words": [' + b"1," * 90_000 + b"1]}", 413, "Values of the body: "),
        (b'{"a\\\\": ["", "\\"' + b'",""' * 40_000 + b"]}", 413, "Values of the body: "),
        ('{"text": "a"}'.encode("utf-16"), 422, "it has a null character"),
        (b"{", 422, "Can't read the body: Expecting property name"),
        (b"\xff", 422, "Can't read the body"),
        (b" " * 200_001, 413, "request: 200001. Expected 200000 at most, or a higher --max-bytes."),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_request_is_answered_with_what_is_wrong(app, body, status, text):
    (reply,) = post(app, "/parse", body)
    assert (reply.status_code, reply.json()["status"]) == (status, "failure")
    assert text in reply.json()["error"]


def test_other_trees_of_long_sentences_and_constraints_on_them_are_refused(
    app, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("spacy_g2g.serve.limits.MAX_CONSTRAINED_WORDS", 6)
    short, long = post(app, "/parse", {"text": TEXT, "k": 2}, {"text": "dogs bark " * 4, "k": 2})
    assert (short.status_code, long.status_code) == (200, 413)
    assert "with k above 1: 8. Expected 6 at most." in long.json()["error"]
    constraints, starts = {"heads": {"0": 1}}, [i in (0, 4) for i in range(len(WORDS))]
    bodies: list[dict[str, Any]] = [
        {"words": WORDS},
        {"words": WORDS, "sent_starts": starts, "constraints": constraints},
        {"words": WORDS, "constraints": constraints},
        {"words": WORDS, "sent_starts": [False] * len(WORDS), "constraints": constraints},
    ]
    replies = post(app, "/parse", *bodies)
    assert [reply.status_code for reply in replies] == [200, 200, 413, 413]
    assert "Words of a sentence with constraints, or with k above 1: 7." in replies[2].json()["error"]


def test_conllu_is_that_of_the_command_parse(app, nlp: Language, tmp_path: Path):
    text = "\n she saw\n\nthe cat.dogs  bark\t"
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": text}))
    parse(str(tmp_path / "pipeline"), tmp_path / "in.jsonl", tmp_path / "out.conllu")
    (reply,) = post(app, "/parse", {"text": text, "conllu": True})
    found = "".join(sentence["conllu"] for sentence in reply.json()["sentences"])
    assert "# sent_id = 1-1" in found
    assert "SpacesAfter=" in found
    assert found == (tmp_path / "out.conllu").read_text()


def test_whether_constraints_can_hold_is_tried_once(app, monkeypatch: pytest.MonkeyPatch):
    tried, can_hold = [], conflicts._can_hold
    monkeypatch.setattr(conflicts, "_can_hold", lambda *given: tried.append(given) or can_hold(*given))
    post(app, "/parse", {"words": WORDS[:5], "constraints": {"heads": {"0": 4, "3": 4}}, "k": 3})
    assert len(tried) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["text", "words", "rows", "name", "spaces", "sent_starts", "tags", "constraints", "k"]
NUMBERS = st.dictionaries(st.sampled_from(["0", "1", "9", "-1", "x"]), st.integers(-2, 3) | JSON, max_size=2)
DEMANDS = st.fixed_dictionaries({}, optional={"heads": NUMBERS, "deps": NUMBERS, "not_heads": NUMBERS})
BODIES = st.fixed_dictionaries(
    {"words": st.lists(st.text(st.characters(codec=None), max_size=3), max_size=4) | JSON},
    optional={**{key: JSON for key in KEYS if key != "words"}, "constraints": DEMANDS},
)
CELLS = st.lists(st.sampled_from(["1", "2", "1-2", "1.1", "_", "a", "\u00a0", "#", "", "0"]), max_size=11)
ROWS = st.lists(
    CELLS.map("\t".join) | st.sampled_from(["", *("1\ta" + "\t_" * 8, "2\tb" + "\t_" * 8)]), max_size=5
)
FILES = st.builds(
    lambda key, rows: {key: "\n".join(rows), **({"name": "f"} if key == "text" else {})},
    st.sampled_from(["rows", "text"]),
    ROWS,
)
PATHS = ["/parse", "/conllu", "/inception/predict"]
PATHS += ["/parser/models/parse/start", "/parser/models/parse/status"]


@pytest.mark.filterwarnings("ignore:.*W801")
@tries(60)
@given(path=st.sampled_from(PATHS), body=BODIES | FILES | JSON | st.binary(max_size=8))
def test_no_request_is_an_error_of_the_service(app, path: str, body: Any):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    (reply,) = post(app, path, raw)
    assert reply.status_code in (200, 413, 422), reply.text
    assert reply.status_code == 200 or reply.json()["error"]


def test_the_page_runs_its_own_scripts_alone(app):
    page = talk(app, lambda client: client.get("/"))
    sources = re.findall(r'(?:src|href|from|import)\W+"([^"]+)"', page.text)
    for source in sources:
        file_ = talk(app, lambda client, source=source: client.get(source.removeprefix(".")))
        assert file_.status_code == 200, source
        assert file_.headers["content-type"].startswith(("text/javascript", "text/css"))
        sources += set(re.findall(r'from "([^"]+)"', file_.text)) - set(sources)
        assert set(re.findall(r"https?://[\w.]+", file_.text)) <= {"http://www.w3.org"}
    folder = Path(plain_json.__file__).parent / "page"
    assert {source.removeprefix("./") for source in sources} == {
        path.name for path in folder.iterdir() if path.name != "index.html"
    }
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'; ")
    about = talk(app, lambda client: client.get("/pipeline")).json()
    assert about["labels"][0] == "root"
    assert about["limits"]["max_words"] == 60
    assert talk(app, lambda client: client.get("/nothing")).json()["status"] == "failure"


def test_a_transition_based_parser_has_one_tree_without_probabilities():
    app = make_service(make_pipeline(row="SentTr"))
    known = {"words": WORDS, "constraints": {"heads": {"1": 3}}}
    plain, constrained, many = post(app, "/parse", {"text": "Go !"}, known, {"words": WORDS, "k": 2})
    (sentence,) = plain.json()["sentences"]
    assert set(sentence) == {"tokens", "heads", "deps"}
    assert "G2G-E821" in constrained.json()["error"]
    assert "G2G-E814" in many.json()["error"]
    (reply,) = post(app, "/parse", {"text": "a " * 50, "k": 41})
    assert "k times the words: 2050. Expected 2000 at most." in reply.json()["error"]
    app.state.worker.close()


@pytest.fixture
def slow_app(request: pytest.FixtureRequest):
    """A service that takes 0.2 seconds for a Doc, and may take 0.5. It breaks at the word "break"."""
    nlp = make_pipeline()

    @Language.component("test_serve_slow")
    def slow(doc: Doc) -> Doc:
        time.sleep(0.2)
        if doc[0].text == "break":
            raise RuntimeError("secret")
        return doc

    nlp.add_pipe("test_serve_slow", first=True)
    app = make_service(nlp, timeout=getattr(request, "param", 0.5))
    yield app
    app.state.worker.close()


@pytest.mark.slow
def test_a_request_ends_in_time_and_the_next_is_answered(slow_app, monkeypatch: pytest.MonkeyPatch):
    codes = [reply.status_code for reply in post(slow_app, "/parse", *[{"text": "a"}] * 5)]
    assert codes.count(408) >= 3
    time.sleep(1.0)
    (reply,) = post(slow_app, "/parse", {"text": "a"})
    assert reply.status_code == 200
    monkeypatch.setattr("spacy_g2g.serve.limits.MAX_REQUESTS", 2)
    codes = [reply.status_code for reply in post(slow_app, "/parse", *[{"text": "a"}] * 5)]
    assert codes.count(429) == 3


@pytest.mark.parametrize("slow_app", [60.0], indirect=True, ids=["60 s"])
def test_an_unexpected_error_shows_nothing_of_the_code(slow_app):
    (reply,) = post(slow_app, "/parse", {"text": "break"})
    assert reply.status_code == 500
    assert set(reply.json()) == {"status", "error"}
    assert "secret" not in reply.text
    assert "G2G-E1203" in reply.text


def test_requests_by_a_socket(app, nlp: Language):
    with served(app) as address:
        reply = httpx.post(f"{address}parse", json={"text": TEXT})
        assert reply.json()["sentences"] == close(expected(nlp, nlp(TEXT)))
        assert httpx.post(f"{address}parse", content=b" " * 200_001).status_code == 413
