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

from ..amr.api import AmrBlock, draw_amrs, get_amrs
from ..data.doc_graphs import TokenGraph, has_arcs, to_sentence, tree_of
from ..data.docs import sentences_of
from ..errors import Errors
from ..evaluation.drawing import Drawing, draw_page
from ..files import write_text
from ..formats.conllu import ConlluSentence, read_conllu
from ..formats.graph import Graph
from ..pipeline.final_parser import final_parser
from ..pipeline.g2g_parser import DEP_PROB, HEAD_PROB, G2GParser
from ..pipeline.rng_refiner import GRAPHS, ITERATIONS
from .common import check_suffix, gold_docs, progress, read_amr_words, read_texts, user_errors
from .messages import msg
from .options import BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent

#: Gold annotation of a sentence: tree, AMR, or nothing.
Gold = ConlluSentence | AmrBlock | None
#: Text or Doc of words, with gold annotation.
Task = tuple[str | Doc, Gold]

SUFFIXES = (".txt", ".conllu", ".amr")


def render_cli(
    pipeline: Pipeline,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TEXT_OR_FILE",
            help="Text; or a .txt file (one document per line), .conllu file (with gold trees) or .amr file "
            "(with gold AMRs)",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML page to write")],
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
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Draw trees and AMRs on a page for any browser, with changes between iterations and errors marked.

    CoNLL-U and AMR files give words, sentences, and the gold trees or AMRs to compare with.
    """
    with user_errors():
        setup_gpu(gpu_id, silent=silent)
        n_sentences = render(
            pipeline,
            source,
            output,
            limit=limit,
            only_changed=only_changed,
            doubt=doubt,
            gold_tags=gold_tags,
            initial=initial,
            batch_size=batch_size,
            silent=silent,
        )
    if not silent:
        msg.good(f"{n_sentences} sentence{'' if n_sentences == 1 else 's'}: {output}")


def render(
    pipeline: str,
    source: str,
    output: Path,
    *,
    limit: int = 0,
    only_changed: bool = False,
    doubt: float = 0.0,
    gold_tags: bool = False,
    initial: Path | None = None,
    batch_size: int | None = None,
    silent: bool = True,
) -> int:
    """Write a page with trees and AMRs. ``spacy g2g render --help`` describes the arguments.

    If the pipeline has a refiner, the graph of each iteration is drawn. A limit of 0 draws all sentences.

    Returns the number of sentences on the page.
    Raises ValueError if a suffix is unknown, if the input is malformed, or if the pipeline sets neither trees
        nor AMRs. The output then stays as it was.
    Raises FileNotFoundError if there is no such file.
    """
    check_suffix(output, [".html"])
    path = _as_file(source)
    if initial is not None:
        check_suffix(path or Path(source), [".conllu"])
    nlp = spacy.load(pipeline)
    _keep_graphs(nlp)
    parser: G2GParser | None = None
    if doubt and final_parser(nlp).scores_arcs:
        parser = final_parser(nlp, keep_scores=True)
    tasks = _read(source if path is None else path, nlp, gold_tags, initial)
    if limit and not only_changed:
        tasks = islice(tasks, limit)
    # The limit bounds the default batch, so that no more is parsed than the page needs.
    results = nlp.pipe(tasks, as_tuples=True, batch_size=batch_size or limit or None)
    found = (drawing for doc, gold in results for drawing in _draw(doc, gold, nlp, parser))
    found = (replace(drawing, doubt=doubt) for drawing in found)
    if only_changed:
        found = (drawing for drawing in found if _is_changed(drawing))
    drawings = list(progress(islice(found, limit or None), unit="sentences", silent=silent))
    title = f"{pipeline}: {path.name if path else 'text'}"
    write_text(output, draw_page(drawings, title=title))
    return len(drawings)


def _as_file(source: str) -> Path | None:
    """Return the path if the source is a file, or None if it is a text."""
    is_name = source.endswith(SUFFIXES)
    if not is_name and not os.path.exists(source):
        return None
    path = Path(source)
    check_suffix(path, SUFFIXES)
    if not path.is_file():
        raise FileNotFoundError(Errors.E906.format(path=path))
    return path


def _keep_graphs(nlp: Language) -> None:
    """Make components store the graphs and probabilities to draw."""
    for _, pipe in nlp.pipeline:
        if hasattr(pipe, "store_graphs"):
            pipe.store_graphs = True
        elif isinstance(pipe, G2GParser):
            pipe.store_probabilities = True


def _read(source: str | Path, nlp: Language, gold_tags: bool, initial: Path | None) -> Iterator[Task]:
    if isinstance(source, str):
        yield source, None
    elif source.suffix == ".txt":
        for text in read_texts(source):
            yield text, None
    elif source.suffix == ".amr":
        yield from read_amr_words(source, nlp.vocab)
    else:
        sentences, gold = tee(read_conllu(source, trees="any"))
        docs = gold_docs(
            sentences, nlp.vocab, source, gold_tags=gold_tags, initial=initial, keep_source=False
        )
        yield from zip(docs, gold, strict=True)


def _draw(doc: Doc, gold: Gold, nlp: Language, parser: G2GParser | None = None) -> Iterator[Drawing]:
    """Yield a drawing for each sentence, without white space. A Doc with gold words is one sentence.

    doc: Parsed Doc.
    gold: Gold annotation of its words.
    nlp: Pipeline.
    parser: Parser whose ``confidence`` replaces the probabilities of the last graph.
    """
    graphs = [*((doc.has_extension(GRAPHS) and doc._.get(GRAPHS)) or [])]
    if len(graphs) < 2:  # no pass was made
        graphs = [_tree_with_probabilities(doc)]
    if parser is not None:
        graphs[-1] = _with_confidence(doc, graphs[-1], parser)
    amrs = get_amrs(doc)
    if len(graphs) == 1 and not has_arcs(graphs[0]) and doc.text.strip():
        if amrs is None and not isinstance(gold, AmrBlock):
            raise ValueError(Errors.E907.format(names=nlp.pipe_names))
        graphs = []
    passes = (doc.has_extension(ITERATIONS) and doc._.get(ITERATIONS)) or []
    if gold is not None:
        yield _draw_beside_gold(doc, graphs, max(passes, default=len(graphs) - 1), amrs or [], gold)
        return
    for number, span in enumerate(sentences_of(doc)):
        words = [token.i for token in span if token.text.strip()]
        if words:
            n_passes = passes[number] if number < len(passes) else len(graphs) - 1
            yield Drawing(
                words=[doc[word].text for word in words],
                graphs=_sentence_graphs(doc, graphs, words, n_passes),
                text=span.text.strip(),
                more=draw_amrs(amrs[number]) if amrs else [],
            )


def _draw_beside_gold(
    doc: Doc,
    graphs: Sequence[Mapping[str, Sequence[Any]]],
    n_passes: int,
    amrs: Sequence[str],
    gold: ConlluSentence | AmrBlock,
) -> Drawing:
    """Draw a Doc with the words of one gold sentence."""
    found = [token.text for token in doc]
    if isinstance(gold, AmrBlock):
        words, tree, name, text = gold.tokens, None, gold.id, gold.sentence
    else:
        words, tree = [word.form for word in gold.words], gold.graph()
        name, text = gold.comment("sent_id") or "", gold.text
        if found != words:
            raise ValueError(Errors.E504.format(sentence=text, words=found))
    if found != words or len(amrs) > 1:
        raise ValueError(Errors.E901.format(sentence=text, words=found, n=len(amrs)))
    return Drawing(
        words=words,
        graphs=_sentence_graphs(doc, graphs, range(len(doc)), n_passes),
        gold=None if tree is None or tree.is_empty else tree,
        name=name,
        text=text,
        more=draw_amrs("".join(amrs), gold.text if isinstance(gold, AmrBlock) else ""),
    )


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
    for of in parser.confidence(doc):
        for token, arc, labelled in zip(of.tokens, of.arcs, of.labelled, strict=True):
            heads[token], labels[token] = arc, labelled / arc if arc else 0.0
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
    if not graphs:
        return {}
    own = [*graphs[:n_passes], graphs[-1]]
    names = ["initial graph", *(f"iteration {number}" for number in range(1, n_passes + 1))]
    if len(graphs) == 1 or n_passes == 0:
        own, names = [graphs[-1]], ["tree"]
    pairs = zip(names, own, strict=True)
    return {name: to_sentence(graph, words, doc).with_ud_root() for name, graph in pairs}


def _is_changed(drawing: Drawing) -> bool:
    if not drawing.graphs:
        return False
    first, *_, last = [*drawing.graphs.values()] * 2
    return (list(first.heads), list(first.deps)) != (list(last.heads), list(last.deps))
