"""``render``: HTML page with trees, iterations of refiners, and AMRs of sentences."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, tee
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc, Token

from ..amr.api import draw_amrs, get_amrs
from ..data.doc_graphs import TokenGraph, has_arcs, to_sentence, tree_of
from ..data.docs import sentences_of
from ..data.enhanced import arcs_of
from ..data.kept import read_kept
from ..data.multiword import word_forms
from ..errors import Errors
from ..files import write_text
from ..formats.conllu import read_conllu
from ..formats.graph import Graph
from ..parser.final_parser import final_parser
from ..parser.g2g_parser import DEP_PROB, HEAD_PROB, G2GParser
from ..parser.rng_refiner import GRAPHS, ITERATIONS
from ..terminal.common import check_suffix, gold_docs, progress, read_amr_words, read_texts
from ..terminal.messages import msg
from ..terminal.options import BatchSize, Documents, GoldTags, GpuId, Initial, Pipeline, Silent, Unit
from .drawing import Drawing, draw_page

#: Gold annotation of a sentence: a drawing of its words and tree without other graphs, and an AMR or "".
Gold = tuple[Drawing, str]
#: Text or Doc of words, with gold annotation.
Task = tuple[str | Doc, Gold | None]

SUFFIXES = (".txt", ".conllu", ".amr")


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
    """Draw trees and AMRs on a page for any browser, with changes between iterations and errors marked.

    CoNLL-U and AMR files give words, sentences, and the gold trees or AMRs to compare with.
    """
    check_suffix(output, [".html"])
    path = _as_file(source)
    if initial is not None:
        check_suffix(path or Path(source), [".conllu"])
    setup_gpu(gpu_id, silent=silent)
    nlp = spacy.load(pipeline)
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
    # The limit bounds the default batch, so that no more is parsed than the page needs.
    results = nlp.pipe(tasks, as_tuples=True, batch_size=batch_size or limit or None)
    drawings = (drawing for doc, gold in results for drawing in _draw(doc, gold, nlp, parser))
    if only_changed:
        drawings = (drawing for drawing in drawings if _is_changed(drawing))
    shown = progress(islice(drawings, limit or None), unit="sentences", silent=silent)
    sentences = [replace(drawing, doubt=doubt) for drawing in shown]
    write_text(output, draw_page(sentences, title=f"{pipeline}: {path.name if path else 'text'}"))
    if not silent:
        msg.good(f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'}: {output}")
    return len(sentences)


def _as_file(source: str) -> Path | None:
    """Return the path if the source is a file, or None if it is a text."""
    if not source.endswith(SUFFIXES) and not os.path.exists(source):
        return None
    path = Path(source)
    check_suffix(path, SUFFIXES)
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
    elif source.suffix == ".amr":
        for doc, block in read_amr_words(source, nlp.vocab):
            yield doc, (Drawing(block.tokens, {}, name=block.id, text=block.sentence), block.text)
    else:
        gold, copies = tee(read_conllu(source, trees="any"))
        docs = gold_docs(copies, nlp.vocab, source, gold_tags=gold_tags, initial=initial, keep_source=False)
        for doc, sentence in zip(docs, gold, strict=True):
            words, tree = [word.form for word in sentence.words], sentence.graph()
            known, name = None if tree.is_empty else tree, sentence.comment("sent_id") or ""
            yield doc, (Drawing(words, {}, known, name=name, text=sentence.text), "")


def _draw(doc: Doc, gold: Gold | None, nlp: Language, parser: G2GParser | None = None) -> Iterator[Drawing]:
    """Yield a drawing for each sentence, without white space. A Doc with gold words is one sentence.

    doc: Parsed Doc.
    gold: Gold annotation of its words.
    nlp: Pipeline.
    parser: Parser whose ``confidence`` replaces the probabilities of the last graph.
    """
    graphs = [*(read_kept(doc, GRAPHS) or [])]
    if len(graphs) < 2:  # no pass was made
        graphs = [_tree_with_probabilities(doc)]
    if parser is not None:
        graphs[-1] = _with_confidence(doc, graphs[-1], parser)
    amrs = get_amrs(doc)
    if len(graphs) == 1 and not has_arcs(graphs[0]) and doc.text.strip():
        if amrs is None and not (gold and gold[1]):
            raise ValueError(Errors.E907.format(names=nlp.pipe_names))
        graphs = []
    passes = (doc.has_extension(ITERATIONS) and doc._.get(ITERATIONS)) or []
    if gold is not None:
        drawing, amr = gold
        words = word_forms(doc)
        if words != drawing.words or len(amrs or []) > 1:
            raise ValueError(Errors.E901.format(sentence=drawing.text, words=words, n=len(amrs or [])))
        n_passes = max(passes, default=len(graphs) - 1)
        more = draw_amrs("".join(amrs or []), amr)
        named = _sentence_graphs(doc, graphs, range(len(doc)), n_passes)
        yield replace(drawing, graphs=named, more=more, enhanced=_enhanced_graph([*doc]))
        return
    forms = word_forms(doc)
    for number, span in enumerate(sentences_of(doc)):
        places = [token.i for token in span if token.text.strip()]
        if places:
            n_passes = passes[number] if number < len(passes) else len(graphs) - 1
            yield Drawing(
                words=[forms[place] for place in places],
                graphs=_sentence_graphs(doc, graphs, places, n_passes),
                text=span.text.strip(),
                more=draw_amrs(amrs[number]) if amrs else [],
                enhanced=_enhanced_graph([doc[place] for place in places]),
            )


def _enhanced_graph(words: Sequence[Token]) -> Graph | None:
    """Return the enhanced graph that a component has made of a sentence."""
    arcs = arcs_of(words)
    return Graph.of_arcs(arcs) if any(arcs) else None


def _tree_with_probabilities(doc: Doc) -> TokenGraph:
    """Return the tree that is written to a Doc, and the probabilities in its tokens, if they have any."""
    graph = tree_of(doc)
    for key, extension in (("head_probs", HEAD_PROB), ("dep_probs", DEP_PROB)):
        probs = [token._.get(extension) for token in doc] if Token.has_extension(extension) else []
        # White space has no probabilities and is not drawn.
        graph[key] = [prob or 0.0 for prob in probs] if any(prob is not None for prob in probs) else []
    return graph


def _with_confidence(doc: Doc, graph: Mapping[str, Sequence[Any]], parser: G2GParser) -> TokenGraph:
    """Return the tree of a Doc with the probabilities that ``parser.confidence`` gives for it."""
    heads, labels = [0.0] * len(doc), [0.0] * len(doc)
    for tree in parser.confidence(doc):
        for token, arc, labeled in zip(tree.tokens, tree.arcs, tree.labeled, strict=True):
            heads[token], labels[token] = arc, labeled / arc if arc else 0.0
    return {**{key: [*values] for key, values in graph.items()}, "head_probs": heads, "dep_probs": labels}


def _sentence_graphs(
    doc: Doc, graphs: Sequence[Mapping[str, Sequence[Any]]], words: Sequence[int], n_passes: int
) -> dict[str, Graph]:
    """Return the graphs of a sentence by name: initial graph, graphs of the passes, final tree.

    doc: The Doc.
    graphs: Graphs over its tokens.
    words: Indices of the sentence's words in the Doc.
    n_passes: Number of the sentence's passes.
    """
    named = {"tree": graphs[-1]} if graphs else {}
    if len(graphs) > 1 and n_passes:
        names = ["initial graph", *(f"iteration {number}" for number in range(1, n_passes + 1))]
        named = dict(zip(names, [*graphs[:n_passes], graphs[-1]], strict=True))
    return {name: to_sentence(graph, words, doc).with_ud_root() for name, graph in named.items()}


def _is_changed(drawing: Drawing) -> bool:
    graphs = [(list(graph.heads), list(graph.deps)) for graph in drawing.graphs.values()]
    return len(graphs) > 1 and graphs[0] != graphs[-1]
