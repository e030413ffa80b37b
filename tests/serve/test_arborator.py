"""Requests as arborator-backend sends them (commit dfb640d, ``app/utils/arborator_parser_utils.py``)."""

import asyncio
import threading
from typing import Any

import pytest
from spacy.language import Language

from .conftest import Client, post, talk

arborator = pytest.importorskip("spacy_g2g.serve.arborator", reason="no extra 'serve'")

SAMPLE = """# sent_id = a
1\tshe\tshe\tPRON\t_\t_\t_\t_\t_\t_
2\tsaw\tsee\tVERB\t_\t_\t3\t_\t_\t_
3\tcats\t_\tNOUN\t_\t_\t_\tobl\t_\tGloss=chats

# sent_id = b
1\tGo\t_\tVERB\t_\t_\t_\tunknown\t_\t_

"""
COLUMNS = ("upos", "xpos", "feats", "lemmas", "heads", "deprels")


def keep(what: str, **others: str) -> dict[str, str]:
    return {f"keep_{column}": what for column in COLUMNS} | others


def parse(app: Any, samples: dict[str, str], settings: dict[str, str]) -> dict[str, Any]:
    """The last reply to the requests that the backend sends for one parse."""

    async def conversation(client: Client) -> dict[str, Any]:
        model = (await client.get("/parser/models/list")).json()["data"][0]["model_info"]
        request = {"model_info": model, "to_parse_samples": samples, "parsing_settings": settings}
        started = (await client.post("/parser/models/parse/start", json=request)).json()
        if started["status"] == "failure":
            return started
        assert started["data"]["model_info"] == model
        while True:
            id_ = {"parse_task_id": started["data"]["parse_task_id"]}
            found = (await client.post("/parser/models/parse/status", json=id_)).json()
            if found["status"] == "failure" or found["data"]["ready"]:
                return found
            await asyncio.sleep(0.01)

    return talk(app, conversation)


def cells(text: str, column: int) -> list[str]:
    return [line.split("\t")[column] for line in text.splitlines() if "\t" in line]


def test_samples_come_back_with_trees_and_all_else_as_it_was(app, nlp: Language):
    found = parse(app, {"s": SAMPLE, "t": SAMPLE}, keep("NONE"))
    samples = found["data"]["parsed_samples"]
    assert list(samples) == ["s", "t"]
    assert samples["s"] == samples["t"]
    docs = [nlp("she saw cats"), nlp("Go")]
    heads = [0 if token.head == token else token.head.i + 1 for doc in docs for token in doc]
    assert cells(samples["s"], 6) == [str(head) for head in heads]
    assert cells(samples["s"], 7) == [token.dep_ for doc in docs for token in doc]
    for column in (*range(6), 8, 9):
        assert cells(samples["s"], column) == cells(SAMPLE, column)
    assert set(found["data"]["model_info"]) == {"model_id", "project_name"}


def test_existing_heads_and_labels_are_kept_and_met(app):
    text = parse(app, {"s": SAMPLE}, keep("EXISTING"))["data"]["parsed_samples"]["s"]
    assert cells(text, 6) == ["0", "3", "1", "0"]
    assert cells(text, 7)[2:] == ["obl", "unknown"]
    assert parse(app, {"s": SAMPLE}, keep("ALL"))["data"]["parsed_samples"]["s"] == SAMPLE


@pytest.mark.parametrize(
    ("samples", "settings", "text"),
    [
        ({"s": "1\tno"}, keep("NONE"), "G2G-E301] s, line 1"),
        ({"s": SAMPLE.replace("\t3\t_\t", "\t2\t_\t")}, keep("EXISTING"), "G2G-E307] s, line 3"),
        ({"s": SAMPLE}, keep("SOME"), "keep_upos is 'SOME'"),
        ({"s": 3}, keep("NONE"), "body.to_parse_samples.s is 3"),
        (
            {"s": SAMPLE.rstrip() + "\n# a" * 30_500 + "\n\n"},
            keep("NONE"),
            "sentence: 61. Expected 60 at most",
        ),
    ],
    ids=["columns", "loop", "setting", "type", "rows"],
)
def test_what_is_wrong_is_said_in_the_reply(app, samples, settings, text):
    found = parse(app, samples, settings)
    assert found["status"] == "failure"
    assert text in found["error"]


def test_samples_are_read_as_they_are_needed_and_off_the_event_loop(app, monkeypatch: pytest.MonkeyPatch):
    threads = set()
    read = arborator.read_lines

    def noted(*given: Any) -> Any:
        for sentence in read(*given):
            threads.add(threading.current_thread())
            yield sentence

    monkeypatch.setattr(arborator, "read_lines", noted)
    text = parse(app, {"s": SAMPLE * 40}, keep("NONE"))["data"]["parsed_samples"]["s"]
    assert cells(text, 1) == ["she", "saw", "cats", "Go"] * 40
    assert threads
    assert threading.main_thread() not in threads


def test_samples_that_wait_are_bounded_together(app, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arborator, "MAX_BODIES", 0)
    found = parse(app, {"s": SAMPLE}, keep("NONE"))
    assert "G2G-E1204" in found["error"]


def test_what_the_service_does_not_do_is_refused(app):
    start = {"model_info": {"model_id": "x", "project_name": "y"}, "to_parse_samples": {}}
    replies = post(app, "/parser/models/parse/start", {**start, "parsing_settings": {}})
    replies += post(app, "/parser/models/parse/status", {"parse_task_id": "no"})
    replies += post(app, "/parser/models/train/start", {})
    replies += [talk(app, lambda client: client.delete("/parser/models/list/a/b"))]
    assert [reply.json()["status"] for reply in replies] == ["failure"] * 4
    codes = ["E1218", "E1217", "E1219", "E1219"]
    assert all(f"G2G-{code}" in reply.text for reply, code in zip(replies, codes, strict=True))


def test_the_list_has_what_the_page_of_arborator_grew_shows(app):
    (model,) = talk(app, lambda client: client.get("/parser/models/list")).json()["data"]
    assert model["model_info"]["project_name"] == "treebank"
    assert isinstance(model["scores_best"]["LAS_epoch"], float)
    about = model["scores_best"]["training_diagnostics"]
    assert {"epoch", "data_description"} <= set(about)
    assert {"n_train_sents", "n_test_sents"} <= set(about["data_description"])


def test_deps_are_emptied_where_the_tree_changes(app):
    row = "1\tgo\t_\t_\t_\t_\t{}\t{}\t0:root\t_\n\n"
    changed = parse(app, {"s": row.format("_", "_")}, keep("NONE"))["data"]["parsed_samples"]["s"]
    assert cells(changed, 8) == ["_"]
    same = row.format(*[cells(changed, column)[0] for column in (6, 7)])
    assert parse(app, {"s": same}, keep("NONE"))["data"]["parsed_samples"]["s"] == same
