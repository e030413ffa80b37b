"""``parse``: annotate a file with a pipeline."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import setup_gpu
from spacy.tokens import Doc

from ..data.input_files import Document, input_suffixes, read_documents, with_initial_graphs
from ..data.plugins import plugins
from ..data.source import source_arcs, source_sentences
from ..errors import Errors
from ..files import atomic_path, is_stream
from ..parser.final_parser import final_parser, load_pipeline
from ..scored.doc_constraints import constrain as set_constraints
from ..sentences.rewriting import with_white_space
from ..terminal.common import check_distinct, check_suffix, progress
from ..terminal.messages import msg
from ..terminal.options import BatchSize, Documents, GpuId, Initial, Pipeline, Silent, Unit
from .writing import ToText, to_conllu, to_jsonl, to_ranked, with_scores, write_as_text, write_spacy

#: Suffixes of output, beside those of plug-ins.
OUT_SUFFIXES = (".conllu", ".jsonl", ".spacy")
#: Suffixes of output with the k best trees.
RANKED_SUFFIXES = (".conllu", ".jsonl")


def parse(
    pipeline: Pipeline,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN", help=".txt (see --documents), .jsonl (objects with a text), .conllu, .amr or .spacy"
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help=".conllu, .jsonl, .amr or .spacy")],
    *,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    format: Annotated[
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
        typer.Option("--constrain", help="Treat HEAD and DEPREL of a .conllu file as constraints, except _"),
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Add probabilities of trees and arcs to .jsonl, calibrated if fitted"
        ),
    ] = False,
    silent: Silent = False,
) -> int:
    """Parse a file. Documents keep their order; empty lines of text are skipped.

    Words and sentences of CoNLL-U and AMR files stay. From CoNLL-U to CoNLL-U, only HEAD and DEPREL change,
    and DEPS becomes empty where they do. With --kbest, CoNLL-U has a block for each tree, with the comments
    rank and score, and .jsonl a list. Further keys of .jsonl go to the output. Sentences of .amr keep the ids
    of the input ("id" in .jsonl).
    """
    silent = silent or is_stream(output)
    check_suffix(source, input_suffixes())
    suffixes = RANKED_SUFFIXES if kbest else (*OUT_SUFFIXES, *plugins())
    path_with_format = Path(f"{output}.{format}") if format else output
    out_suffix = check_suffix(path_with_format, (".jsonl",) if confidence else suffixes)
    options = {(".txt",): documents != Unit.LINE, (".conllu",): constrain, (".conllu", ".spacy"): initial}
    for expected, is_set in options.items():
        if is_set:
            check_suffix(source, expected)
    check_distinct([source, output])
    if not source.is_file():
        raise FileNotFoundError(Errors.E906.format(path=source))
    setup_gpu(gpu_id, silent=silent)
    nlp = load_pipeline(pipeline, initial=initial, silent=silent)
    parser = final_parser(nlp, keep_scores=True) if kbest or confidence else None
    to_parse: Iterable[Document] = read_documents(source, nlp.vocab, unit=documents)
    if source.suffix == ".conllu":
        with_spaces = out_suffix == ".jsonl" and initial is None
        prepare = partial(_prepare, constrain=constrain, with_spaces=with_spaces)
        to_parse = ((prepare(doc), {}) for doc in _docs(to_parse))
    if initial is not None:
        docs = with_initial_graphs(_docs(to_parse), initial, source=source)
        to_parse = ((doc, {}) for doc in docs)
    annotated: Any = nlp.pipe(to_parse, as_tuples=True, batch_size=batch_size or None)
    parsed = progress(annotated, unit="Docs", silent=silent)
    if parser is not None and out_suffix == ".jsonl":
        parsed = with_scores(parsed, parser, kbest=kbest, confidence=confidence)
    to_text: ToText | None = {".conllu": to_conllu, ".jsonl": to_jsonl}.get(out_suffix)
    if out_suffix in plugins():
        to_text = partial(plugins()[out_suffix].write, prefix=source.stem, components=nlp.pipe_names)
    elif parser is not None and kbest and out_suffix == ".conllu":
        to_text = partial(to_ranked, parser=parser, k=kbest)
    with atomic_path(output) as path:
        n_docs = write_spacy(parsed, path) if to_text is None else write_as_text(parsed, path, to_text)
    if not silent:
        msg.good(f"{n_docs} Docs: {output}")
    return n_docs


def _docs(documents: Iterable[Document]) -> Iterator[Doc]:
    return (doc for doc, _ in documents if isinstance(doc, Doc))


def _prepare(doc: Doc, *, constrain: bool, with_spaces: bool) -> Doc:
    """Prepare a Doc of CoNLL-U for the parser.

    constrain: Set the heads and labels of the file as constraints.
    with_spaces: Add the white space in MISC to the text. The Doc then has further tokens.
    """
    heads, deps = source_arcs(doc) if constrain else ({}, {})
    places = [*range(len(doc))]
    if with_spaces:
        doc, places = with_white_space(doc, [*source_sentences(doc)])
    if constrain:
        moved_heads = {places[token]: places[head] for token, head in heads.items()}
        set_constraints(doc, heads=moved_heads, deps={places[token]: dep for token, dep in deps.items()})
    return doc
