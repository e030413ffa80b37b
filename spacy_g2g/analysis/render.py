"""``render``: draw trees, iterations of refiners, roles, and AMRs of sentences on an HTML page."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice, tee
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc

from ..data.doc_graphs import has_arcs
from ..data.docs import sentences_of
from ..data.input_files import gold_docs, read_texts
from ..data.multiword import word_forms
from ..data.plugins import plugins
from ..errors import Errors
from ..files import write_text
from ..formats.conllu import read_conllu
from ..parser.final_parser import final_parser, load_pipeline
from ..parser.g2g_parser import G2GParser
from ..parser.rng_refiner import ITERATIONS
from ..terminal.common import check_suffix, progress
from ..terminal.messages import msg
from ..terminal.options import BatchSize, Documents, GoldTags, GpuId, Initial, Pipeline, Silent, Unit
from .doc_drawings import enhanced_graph, is_changed, read_graphs, role_graph, sentence_graphs
from .drawing import Drawing, draw_page

#: Gold annotation of a sentence: a drawing of its words and tree without other graphs, and the annotation of
#: plug-ins by their suffixes.
Gold = tuple[Drawing, dict[str, str]]
#: Text or Doc of words, with gold annotation.
Task = tuple[str | Doc, Gold | None]

SUFFIXES = (".txt", ".conllu")


def render(
    pipeline: Pipeline,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TEXT_OR_FILE",
            help="Text; or a .txt file (see --documents), .conllu file (with gold trees) or .amr file "
            "(with gold AMRs)",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML page to write")],
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-l", min=0, help="Number of sentences to draw; 0 for all")
    ] = 50,
    only_changed: Annotated[
        bool,
        typer.Option("--only-changed", help="Draw only sentences whose tree differs from the initial graph"),
    ] = False,
    doubt: Annotated[
        float,
        typer.Option("--doubt", min=0, max=1, help="Mark arcs whose head and label are less probable"),
    ] = 0.0,
    documents: Documents = Unit.LINE,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> int:
    """Draw trees, roles and AMRs on a page for any browser, with changes and errors marked.

    CoNLL-U and AMR files give words, sentences, and the gold trees or AMRs to compare with.
    """
    check_suffix(output, [".html"])
    path = _as_file(source)
    if initial is not None:
        check_suffix(path or Path(source), [".conllu"])
    setup_gpu(gpu_id, silent=silent)
    nlp = load_pipeline(pipeline, initial=initial, silent=silent)
    for _, pipe in nlp.pipeline:
        if hasattr(pipe, "store_graphs"):
            pipe.store_graphs = True
        elif isinstance(pipe, G2GParser):
            pipe.store_probabilities = True
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]
    has_scores = bool(doubt and parsers) and parsers[-1].scores_arcs
    parser = final_parser(nlp, keep_scores=True) if has_scores else None
    tasks = _read_source(
        source if path is None else path, nlp, documents=documents, gold_tags=gold_tags, initial=initial
    )
    if limit and not only_changed:
        tasks = islice(tasks, limit)
    # The limit bounds the default batch, so that the pipeline parses no more sentences than the page needs.
    results = nlp.pipe(tasks, as_tuples=True, batch_size=batch_size or limit or None)
    drawings = chain.from_iterable(_draw(doc, gold, nlp, parser) for doc, gold in results)
    chosen = filter(is_changed, drawings) if only_changed else drawings
    watched = progress(islice(chosen, limit or None), unit="sentences", silent=silent)
    sentences = [replace(drawing, doubt=doubt) for drawing in watched]
    write_text(output, draw_page(sentences, title=f"{pipeline}: {path.name if path else 'text'}"))
    if not silent:
        msg.good(f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'}: {output}")
    return len(sentences)


def _as_file(source: str) -> Path | None:
    """Return the path if the source is a file, or None if it is a text."""
    suffixes = (*SUFFIXES, *plugins())
    if not source.endswith(suffixes) and not os.path.exists(source):
        return None
    path = Path(source)
    check_suffix(path, suffixes)
    if not path.is_file():
        raise FileNotFoundError(Errors.E906.format(path=path))
    return path


def _read_source(
    source: str | Path, nlp: Language, *, documents: Unit, gold_tags: bool, initial: Path | None
) -> Iterator[Task]:
    if isinstance(source, str):
        yield source, None
    elif source.suffix == ".txt":
        for text in read_texts(source, documents):
            yield text, None
    elif source.suffix in plugins():
        for doc, gold_sentence in plugins()[source.suffix].read(source, nlp.vocab):
            drawing = Drawing(gold_sentence.tokens, {}, name=gold_sentence.id, text=gold_sentence.sentence)
            yield doc, (drawing, {source.suffix: gold_sentence.text})
    else:
        gold, copies = tee(read_conllu(source, trees="any"))
        docs = gold_docs(copies, nlp.vocab, source, gold_tags=gold_tags, initial=initial, keep_source=False)
        for doc, sentence in zip(docs, gold, strict=True):
            words, tree = [word.form for word in sentence.words], sentence.graph()
            gold_tree, name = None if tree.is_empty else tree, sentence.comment("sent_id") or ""
            yield doc, (Drawing(words, {}, gold_tree, name=name, text=sentence.text), {})


def _draw(doc: Doc, gold: Gold | None, nlp: Language, parser: G2GParser | None = None) -> Iterator[Drawing]:
    """Yield a drawing for each sentence, without white space. A Doc with gold words is one sentence.

    parser: Parser whose ``confidence`` replaces the probabilities of the last graph.
    """
    graphs, forms = read_graphs(doc, parser), word_forms(doc)
    predicted = {suffix: plugin.get(doc) for suffix, plugin in plugins().items()}
    annotations = {suffix: texts for suffix, texts in predicted.items() if texts is not None}
    if len(graphs) == 1 and not has_arcs(graphs[0]) and doc.text.strip():
        if not annotations and not (gold and gold[1]) and role_graph([*doc]) is None:
            raise ValueError(Errors.E907.format(names=nlp.pipe_names))
        graphs = []
    passes = (doc.has_extension(ITERATIONS) and doc._.get(ITERATIONS)) or []
    if gold is not None:
        drawing, gold_annotations = gold
        n_texts = max(map(len, annotations.values()), default=0)
        if forms != drawing.words or n_texts > 1:
            raise ValueError(Errors.E901.format(sentence=drawing.text, words=forms, n=n_texts))
        n_passes = max(passes, default=len(graphs) - 1)
        joined = {suffix: "".join(texts) for suffix, texts in annotations.items()}
        more = _figures(joined, gold_annotations)
        named = sentence_graphs(doc, graphs, words=range(len(doc)), n_passes=n_passes)
        yield replace(
            drawing, graphs=named, more=more, enhanced=enhanced_graph([*doc]), roles=role_graph([*doc])
        )
        return
    for number, span in enumerate(sentences_of(doc)):
        places = [token.i for token in span if token.text.strip()]
        if places:
            words = [forms[place] for place in places]
            n_passes = passes[number] if number < len(passes) else len(graphs) - 1
            named = sentence_graphs(doc, graphs, words=places, n_passes=n_passes)
            more = _figures({suffix: texts[number] for suffix, texts in annotations.items()}, {})
            own = [doc[place] for place in places]
            drawing = Drawing(words, named, text=span.text.strip(), more=more)
            yield replace(drawing, enhanced=enhanced_graph(own), roles=role_graph(own))


def _figures(predicted: Mapping[str, str], gold: Mapping[str, str]) -> list[str]:
    """Let plug-ins draw the annotation of a sentence, by their suffixes."""
    figures: list[str] = []
    for suffix, plugin in plugins().items():
        figures += plugin.draw(predicted.get(suffix, ""), gold=gold.get(suffix, ""))
    return figures
