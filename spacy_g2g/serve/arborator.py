"""The parser of ArboratorGrew: adds trees to samples in CoNLL-U.

Clients start a task and ask for it until it is ready. The requests are those of arborator-parser, commit
7f00ae7 (``app/models/controller.py``, ``schema.py``). The settings keep the same columns as BertForDeprel.
"""

from __future__ import annotations

import asyncio
import io
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict
from spacy.tokens import Doc

from ..data.doc_record import assigned_attributes
from ..data.docs import ALL_COLUMNS, doc_to_sentences, sentences_to_doc
from ..data.source import source_arcs
from ..errors import Errors
from ..formats.conllu import ConlluSentence, TreeCheck, read_lines
from ..scored.doc_constraints import constrain
from .limits import MAX_BODIES, Limits, busy, check_constrained
from .worker import Task, Worker

#: Maximum number of tasks in memory. A finished task makes room for a new one.
MAX_TASKS = 64
#: Annotation of Docs for each column that a pipeline may read or write.
ANNOTATIONS = {"upos": "POS", "xpos": "TAG", "feats": "MORPH", "lemma": "LEMMA"}

Keep = Literal["NONE", "EXISTING", "ALL"]
Reply = dict[str, Any]


class ParserName(BaseModel):
    """Name of a parser."""

    model_config = ConfigDict(protected_namespaces=())

    model_id: str
    project_name: str


class KeepSettings(BaseModel):
    """Values to keep of each column: none, all except "_", or the whole column."""

    keep_upos: Keep = "NONE"
    keep_xpos: Keep = "NONE"
    keep_feats: Keep = "NONE"
    keep_lemmas: Keep = "NONE"
    keep_heads: Keep = "NONE"
    keep_deprels: Keep = "NONE"

    def by_column(self) -> dict[str, Keep]:
        """Return the settings by the names of columns."""
        names = {"lemma": "lemmas", "head": "heads", "deprel": "deprels"}
        return {column: getattr(self, f"keep_{names.get(column, column)}") for column in ALL_COLUMNS}


class SampleRequest(BaseModel):
    """Request to parse samples."""

    model_config = ConfigDict(protected_namespaces=())

    model_info: ParserName
    to_parse_samples: dict[str, str]
    parsing_settings: KeepSettings

    def sentences(self, limits: Limits) -> Iterator[tuple[str, ConlluSentence]]:
        """Yield the sentences of samples, each with the sample's name, as they are read.

        Raises ValueError with name and line for text that is not CoNLL-U, and for kept heads without a tree.
        """
        trees: TreeCheck = "any" if self.parsing_settings.keep_heads == "NONE" else "partial"
        for name, text in self.to_parse_samples.items():
            limits.check_rows(text)
            for sentence in read_lines(io.StringIO(text, newline="\n"), name[:80], trees):
                yield name, sentence


def make_doc(worker: Worker, sentence: ConlluSentence, settings: KeepSettings) -> Doc:
    """Make the Doc of a sentence, without annotation that the pipeline writes and that the settings drop."""
    keep = settings.by_column()
    annotations, written = ["SENT_START"], assigned_attributes(worker.nlp)
    for column, name in ANNOTATIONS.items():
        if keep[column] != "NONE" or f"token.{name.lower()}" not in written:
            annotations.append(name)
    doc = sentences_to_doc([sentence], worker.nlp.vocab, annotations=annotations)
    heads, deps = source_arcs(doc)
    heads = heads if keep["head"] != "NONE" else {}
    # A label that the parser does not know is kept, but can't guide the parse.
    labels = worker.parser.labels if keep["deprel"] != "NONE" else ()
    deps = {token: dep for token, dep in deps.items() if dep in labels}
    if heads or deps:
        check_constrained(len(doc))
    constrain(doc, heads=heads, deps=deps)
    return doc


def render(doc: Doc, sentence: ConlluSentence, settings: KeepSettings) -> str:
    """Return a sentence with the columns of its parsed Doc, except values that the settings keep."""
    (parsed,) = doc_to_sentences(doc, columns=ALL_COLUMNS)
    columns: dict[str, list[str]] = {}
    for column, keep in settings.by_column().items():
        if keep != "ALL":
            pairs = zip(sentence.column(column), parsed.column(column), strict=True)
            keeps_old = keep == "EXISTING"
            columns[column] = [old if new == "_" or (keeps_old and old != "_") else new for old, new in pairs]
    return str(sentence.with_tree(**columns))


class SampleTasks:
    """Tasks to parse samples. Results stay until newer tasks need their place."""

    def __init__(self, worker: Worker, parser: ParserName) -> None:
        self.worker = worker
        self.parser = parser
        #: Characters of the samples of each task, and the samples with trees, which have about as many.
        self._tasks: OrderedDict[str, tuple[int, asyncio.Task[dict[str, str]]]] = OrderedDict()

    async def start(self, request: SampleRequest) -> str:
        """Start to parse samples, and return the id of the task.

        Raises ValueError for samples that are not CoNLL-U, and RefusedError if too many are being parsed.
        """
        await self.worker.read(lambda: sum(1 for _ in request.sentences(self.worker.limits)))
        size = sum(map(len, request.to_parse_samples.values()))
        finished = [id_ for id_, (_, task) in self._tasks.items() if task.done()]
        limit = MAX_BODIES * self.worker.limits.max_bytes
        while len(self._tasks) >= MAX_TASKS or size + sum(n for n, _ in self._tasks.values()) > limit:
            if not finished:
                raise busy(f"it parses {len(self._tasks)} tasks")
            del self._tasks[finished.pop(0)]
        id_ = secrets.token_hex(16)
        self._tasks[id_] = size, asyncio.create_task(self._parse(request))
        return id_

    def reply(self, id_: str) -> Reply:
        """Return the state of a task, with its result if it is ready."""
        if id_ not in self._tasks:
            return failed(Errors.E1217.format(id=id_[:40]))
        _, task = self._tasks[id_]
        if not task.done():
            return success(ready=False)
        if error := task.exception():
            return failed(str(error) if isinstance(error, ValueError) else Errors.E1203)
        return success(ready=True, parsed_samples=task.result(), model_info=self.parser.model_dump())

    async def _parse(self, request: SampleRequest) -> dict[str, str]:
        """Return samples with trees."""
        settings, texts = request.parsing_settings, dict.fromkeys(request.to_parse_samples, "")

        def task(name: str, sentence: ConlluSentence) -> Task:
            return Task(
                len(sentence.words),
                make=lambda: make_doc(self.worker, sentence, settings),
                render=lambda doc: (name, render(doc, sentence, settings)),
            )

        tasks = (task(*named) for named in request.sentences(self.worker.limits))
        for name, text in await self.worker.ask_in_turn(tasks):
            texts[name] += text
        return texts


def success(**data: Any) -> Reply:
    """Return a reply with data."""
    return {"status": "success", "data": data}


def failed(text: str) -> Reply:
    """Return a reply with an error."""
    return {"status": "failure", "error": text}


def arborator_router(worker: Worker, project: str) -> APIRouter:
    """Return the routes of the parser, which a project of ArboratorGrew lists."""
    router = APIRouter()
    meta = worker.nlp.meta
    own = ParserName(model_id=f"{meta['lang']}_{meta['name']}-{meta['version']}", project_name=project)
    tasks = SampleTasks(worker, own)
    las = float((meta.get("performance") or {}).get("ud_las") or 0.0)

    @router.get("/list")
    async def list_models() -> Reply:
        """List the pipeline, with all keys that the page of ArboratorGrew shows."""
        about = {"epoch": 0, "data_description": {"n_train_sents": 0, "n_test_sents": 0}}
        scores = {"LAS_epoch": las, "training_diagnostics": about}
        return {"status": "success", "data": [{"model_info": own.model_dump(), "scores_best": scores}]}

    @router.post("/parse/start")
    async def parse_start(request: SampleRequest) -> Reply:
        """Start to parse samples."""
        if request.model_info != own:
            return failed(Errors.E1218.format(found=request.model_info, expected=own))
        return success(model_info=own.model_dump(), parse_task_id=await tasks.start(request))

    @router.post("/parse/status")
    async def parse_status(parse_task_id: Annotated[str, Body(embed=True)]) -> Reply:
        """Return the parsed samples if they are ready."""
        return tasks.reply(parse_task_id)

    @router.post("/train/start")
    @router.post("/train/status")
    @router.delete("/list/{project_name}/{model_id}")
    async def refuse() -> Reply:
        """Refuse: pipelines are trained and deleted elsewhere."""
        return failed(Errors.E1219)

    return router
