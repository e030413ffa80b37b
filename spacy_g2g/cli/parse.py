"""``parse``: annotate a file with a pipeline."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..amr.api import AMR, get_amr_ids, get_amrs, has_amrs, set_amrs, write_amrs
from ..data.doc_constraints import constrain as set_constraints
from ..data.docs import (
    TOKEN_ANNOTATIONS,
    doc_to_sentences,
    read_bin,
    sentences_of,
    sentences_to_docs,
    source_arcs,
    source_sentences,
)
from ..errors import Errors
from ..files import atomic_path, is_stream
from ..formats.conllu import ConlluSentence, read_conllu, text_lines, write_conllu
from ..pipeline.final_parser import final_parser
from .common import Result, Task, check_suffix, progress, read_amr_words, read_texts, user_errors, with_graphs
from .kbest_trees import Ranker, with_confidence
from .messages import msg
from .options import BatchSize, Documents, GpuId, Initial, Pipeline, Silent, Unit

AMR_SUFFIX = ".amr"


def parse_cli(
    pipeline: Pipeline,
    input_: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help=".txt (see --documents), .jsonl (objects with a text), .conllu, .amr or .spacy",
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help=".conllu, .jsonl, .amr or .spacy")],
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    format_: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of OUT, in place of its suffix")
    ] = None,
    documents: Documents = Unit.LINE,
    initial: Initial = None,
    kbest: Annotated[
        int | None,
        typer.Option("--kbest", "-k", min=1, help="Write this many trees of each sentence, best first"),
    ] = None,
    constrain: Annotated[
        bool,
        typer.Option("--constrain", help="Keep each HEAD and DEPREL of a .conllu file that is not _"),
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Add probabilities of trees and arcs to .jsonl, calibrated if fitted"
        ),
    ] = False,
    silent: Silent = False,
) -> None:
    """Parse a file. Documents keep their order; empty lines of text are skipped.

    CoNLL-U and AMR files give words and sentences. From CoNLL-U to CoNLL-U, only HEAD and DEPREL change. With
    --kbest, CoNLL-U has a block for each tree, with the comments rank and score, and .jsonl a list.
    """
    silent = silent or is_stream(output)
    with user_errors():
        setup_gpu(gpu_id, silent=silent)
        n_docs = parse(
            pipeline,
            input_,
            output,
            format=format_,
            batch_size=batch_size,
            documents=documents.value,
            initial=initial,
            kbest=kbest,
            constrain=constrain,
            confidence=confidence,
            silent=silent,
        )
    if not silent:
        msg.good(f"{n_docs} Docs: {output}")


def parse(
    pipeline: str,
    input_: Path,
    output: Path,
    *,
    format: str | None = None,
    batch_size: int | None = None,
    documents: str = "line",
    initial: Path | None = None,
    kbest: int | None = None,
    constrain: bool = False,
    confidence: bool = False,
    silent: bool = True,
) -> int:
    """Annotate a file with a pipeline. ``spacy g2g parse --help`` describes the arguments.

    A "text" of .jsonl input is a document; its other keys go to the output, unless they are those of
    ``Doc.to_json``, such as "tokens", "sents" and "ents". The pipeline is given words and
    tags of .conllu input, and words of .amr input. Sentences of .amr output keep the ids of the input ("id"
    in .jsonl). A sentence without an id gets the name of the input and a number.

    Returns the number of Docs.
    Raises ValueError if a suffix is unknown, if the input is malformed, if constraints can't be met, or if a
        pipeline without AMRs is to write .amr. The output then stays as it was.
    """
    in_suffix = check_suffix(input_, tuple(_READERS))
    suffixes = (".conllu", ".jsonl") if kbest else (*_WRITERS, AMR_SUFFIX)
    if confidence:
        suffixes = (".jsonl",)
    out_suffix = check_suffix(Path(f"{output}.{format}") if format else output, suffixes)
    if not input_.is_file():
        raise FileNotFoundError(Errors.E906.format(path=input_))
    if batch_size is not None and batch_size < 1:
        raise ValueError(Errors.E917.format(batch_size=batch_size))
    nlp = spacy.load(pipeline)
    ranker = Ranker(nlp, kbest) if kbest else None
    if confidence:
        final_parser(nlp, keep_scores=True)
    tasks = _READERS[in_suffix](input_, nlp)
    if documents != "line":
        check_suffix(input_, (".txt",))
        tasks = ((text, {}) for text in read_texts(input_, documents))
    if constrain:
        check_suffix(input_, (".conllu",))
        tasks = map(_constrained, tasks)
    if initial is not None:
        check_suffix(input_, (".conllu", ".spacy"))
        docs = (doc for doc, _ in tasks if isinstance(doc, Doc))
        tasks = ((doc, {}) for doc in with_graphs(docs, initial, input_))
    annotated: Any = nlp.pipe(tasks, as_tuples=True, batch_size=batch_size)
    with atomic_path(output) as path:
        results = progress(annotated, unit="Docs", silent=silent)
        if confidence:
            results = with_confidence(final_parser(nlp), results)
        if out_suffix == AMR_SUFFIX:
            return _write_amr(results, path, input_.stem, nlp.pipe_names)
        if ranker and out_suffix == ".conllu":
            return ranker.write_conllu(results, path)
        if ranker:
            results = ranker.with_keys(results)
        return _WRITERS[out_suffix](results, path)


def _read_jsonl(path: Path, _nlp: Language) -> Iterator[Task]:
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "\\ud" in line.lower():  # half a character can't be written
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise ValueError(Errors.E905.format(path=path, line=number, row=line[:80]))
        yield record["text"], record


def _read_conllu(path: Path, nlp: Language) -> Iterator[Task]:
    sentences = read_conllu(path, trees="any")
    for doc in sentences_to_docs(sentences, nlp.vocab, annotations=TOKEN_ANNOTATIONS):
        yield doc, {}


def _constrained(task: Task) -> Task:
    """Set the heads and labels of the file that a Doc comes from as its constraints."""
    doc, keys = task
    assert isinstance(doc, Doc)
    heads, deps = source_arcs(doc)
    set_constraints(doc, heads=heads, deps=deps)
    return doc, keys


def _read_spacy(path: Path, nlp: Language) -> Iterator[Task]:
    n_read = 0
    try:
        for doc in read_bin(path.read_bytes(), nlp.vocab):
            if isinstance(doc, Exception):
                raise doc
            n_read += 1
            if has_amrs(doc):
                set_amrs(doc, None)
            yield doc, {}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(Errors.E928.format(path=path, number=n_read + 1, error=reason)) from error


def _write_conllu(results: Iterable[Result], path: Path) -> int:
    n_docs = 0

    def sentences() -> Iterator[ConlluSentence]:
        nonlocal n_docs
        for doc, _ in results:
            n_docs += 1
            yield from doc_to_sentences(doc, doc_id=str(n_docs))

    with path.open("w", encoding="utf8", newline="") as file_:
        file_.writelines(write_conllu(sentences()))
    return n_docs


def _write_jsonl(results: Iterable[Result], path: Path) -> int:
    n_docs = 0
    with path.open("w", encoding="utf8", newline="") as file_:
        for doc, record in results:
            n_docs += 1
            underscore = [AMR] if has_amrs(doc) else None
            annotated = {**record, **doc.to_json(underscore=underscore)}
            file_.write(json.dumps(annotated, ensure_ascii=False) + "\n")
    return n_docs


def _write_spacy(results: Iterable[Result], path: Path) -> int:
    doc_bin = DocBin(store_user_data=True)
    for number, (doc, record) in enumerate(results, start=1):
        if record:
            doc.user_data["jsonl"] = record
        try:
            doc_bin.add(doc)
        except OverflowError as error:
            raise ValueError(Errors.E926.format(number=number, error=error)) from error
    doc_bin.to_disk(path)
    return len(doc_bin)


def _write_amr(results: Iterable[Result], path: Path, name: str, pipe_names: Sequence[str]) -> int:
    """Write AMRs.

    results: Annotated Docs.
    path: File to write.
    name: Prefix of the id that sentences without an id get.
    pipe_names: Names of the pipeline's components, for error messages.
    Returns the number of Docs.
    """
    n_docs = 0

    def amrs() -> Iterator[tuple[dict[str, str], str]]:
        nonlocal n_docs
        n_sentences = 0
        for doc, record in results:
            n_docs += 1
            spans, texts = sentences_of(doc), get_amrs(doc)
            if texts is None and spans:
                raise ValueError(Errors.E902.format(text=spans[0].text[:80], names=list(pipe_names)))
            ids = _sentence_ids(doc, record, len(spans))
            for span, id_, text in zip(spans, ids, texts or [], strict=True):
                words = ["_".join(token.text.split()) for token in span if token.text.strip()]
                if words:
                    n_sentences += 1
                    snt = " ".join(span.text.split())
                    yield {"id": id_ or f"{name}.{n_sentences}", "snt": snt, "tok": " ".join(words)}, text

    with path.open("w", encoding="utf8", newline="") as file_:
        file_.writelines(write_amrs(amrs()))
    return n_docs


def _sentence_ids(doc: Doc, record: dict[str, Any], n: int) -> list[str]:
    """Return the ids of a Doc's n sentences in the input, "" if a sentence has no id."""
    ids = get_amr_ids(doc) or [sentence.comment("sent_id") or "" for sentence in source_sentences(doc)]
    if len(ids) == n:
        return ids
    doc_id = record.get("id")
    if not isinstance(doc_id, str | int) or doc_id == "":
        return [""] * n
    return [str(doc_id)] if n == 1 else [f"{doc_id}.{number}" for number in range(1, n + 1)]


_READERS: dict[str, Callable[[Path, Language], Iterator[Task]]] = {
    ".txt": lambda path, _: ((text, {}) for text in read_texts(path)),
    ".jsonl": _read_jsonl,
    ".conllu": _read_conllu,
    AMR_SUFFIX: lambda path, nlp: ((doc, {}) for doc, _ in read_amr_words(path, nlp.vocab)),
    ".spacy": _read_spacy,
}
_WRITERS: dict[str, Callable[[Iterable[Result], Path], int]] = {
    ".conllu": _write_conllu,
    ".jsonl": _write_jsonl,
    ".spacy": _write_spacy,
}
