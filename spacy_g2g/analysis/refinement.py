"""``refinement``: scores and changes of each iteration of a refiner on a treebank."""

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import setup_gpu
from spacy.tokens import Doc

from ..data.doc_graphs import to_sentence
from ..data.input_files import gold_docs, read_gold
from ..data.multiword import word_forms
from ..errors import Errors
from ..formats.conllu import ConlluSentence
from ..formats.graph import Graph
from ..parser.final_parser import load_pipeline
from ..parser.rng_refiner import GRAPHS, ITERATIONS, RngRefiner
from ..terminal.common import check_suffix, progress, write_json
from ..terminal.messages import msg
from ..terminal.options import BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent
from .error_analysis import Analysis
from .evaluate import PLOT_SUFFIXES
from .iterations import ITERATION_HEADER, analyze_refinement, iteration_rows, reduction_header, reduction_rows
from .plots import check_matplotlib, plot_refinement


def refinement(
    pipeline: Pipeline,
    gold: Annotated[Path, typer.Argument(help="CoNLL-U file with gold annotation")],
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file with the figures")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot of the figures, .png or .svg")] = None,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> Analysis:
    """Show scores and changes of each iteration of a refiner on gold words and sentences.

    LAS is computed as in `evaluate`: punctuation counts, subtypes of labels do not. If the pipeline has
    several refiners, the last one is analyzed.
    """
    check_suffix(gold, [".conllu"])
    if plot is not None:
        check_suffix(plot, PLOT_SUFFIXES)
        check_matplotlib()
    setup_gpu(gpu_id, silent=silent)
    sentences = read_gold(gold)
    nlp = load_pipeline(pipeline, initial=initial, silent=silent)
    refiners = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, RngRefiner)]
    if not refiners:
        raise ValueError(Errors.E911.format(names=nlp.pipe_names))
    for refiner in refiners:
        refiner.store_graphs = True
    inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial)
    docs = progress(nlp.pipe(inputs, batch_size=batch_size), unit="sentences", silent=silent)
    graphs, passes = zip(*map(_read_iterations, docs, sentences), strict=True)
    analysis = analyze_refinement(sentences, graphs, passes)
    if output is not None:
        write_json(output, analysis.to_dict())
    if plot is not None:
        plot_refinement(analysis, plot)
    if not silent:
        _print_refinement(analysis)
    return analysis


def _read_iterations(doc: Doc, gold: ConlluSentence) -> tuple[list[Graph], int]:
    """Return the graphs that a refiner stored for a gold sentence, and its number of passes."""
    words = word_forms(doc)
    if words != [word.form for word in gold.words]:
        raise ValueError(Errors.E504.format(sentence=gold.text, words=words))
    graphs = [to_sentence(graph, range(len(doc)), doc).with_ud_root() for graph in doc._.get(GRAPHS)]
    return graphs, max(doc._.get(ITERATIONS))


def _print_refinement(analysis: Analysis) -> None:
    """Print a table of the iterations and a table of error reductions."""
    msg.divider(f"Refinement of {len(analysis.gold)} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {analysis.compared}, as in the CoNLL 2018 metrics.")
    msg.text(
        "Rates are in percent. Iteration 0 is the initial graph. Errors: relative error reduction in LAS. "
        "Stopped: sentences that stopped after this iteration. Unchanged: stopped sentences whose last pass "
        "changed nothing."
    )
    for header, rows in (
        (ITERATION_HEADER, iteration_rows(analysis)),
        (reduction_header(analysis), reduction_rows(analysis)),
    ):
        aligns = ("l", *"r" * (len(header) - 1))
        msg.table(list(rows), header=header, divider=True, aligns=aligns)
