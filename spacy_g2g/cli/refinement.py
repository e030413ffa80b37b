"""``refinement``: scores and changes of each iteration of a refiner on a treebank."""

from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc

from ..data.doc_graphs import to_sentence
from ..errors import Errors
from ..evaluation.plots import plot_refinement
from ..evaluation.rates import percent, signed_percent
from ..evaluation.refinement import RefinedSentence, analyse_refinement
from ..evaluation.refinement_scores import COMPARED, ArcScores, Curve, Refinement
from ..files import atomic_path
from ..formats.conllu import ConlluSentence
from ..pipeline.rng_refiner import GRAPHS, ITERATIONS, RngRefiner
from .common import check_can_plot, check_suffix, gold_docs, progress, read_gold, user_errors, write_json
from .messages import msg
from .options import BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent

PLOT_SUFFIXES = (".png", ".svg")


def refinement_cli(
    pipeline: Pipeline,
    gold: Annotated[Path, typer.Argument(help="CoNLL-U file with gold annotation")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file with the figures")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot of the figures, .png or .svg")] = None,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Show scores and changes of each iteration of a refiner on gold words and sentences.

    LAS is computed as in `evaluate`: punctuation counts, subtypes of labels do not. If the pipeline has
    several refiners, the last one is analysed.
    """
    with user_errors():
        if plot is not None:
            check_suffix(plot, PLOT_SUFFIXES)
            check_can_plot()
        setup_gpu(gpu_id, silent=silent)
        analysis = refinement(
            pipeline, gold, gold_tags=gold_tags, initial=initial, batch_size=batch_size, silent=silent
        )
        if output is not None:
            write_json(output, analysis.to_dict())
        if plot is not None:
            with atomic_path(plot) as path:
                plot_refinement(analysis, path, plot.suffix[1:])
    if not silent:
        print_refinement(analysis)


def refinement(
    pipeline: str,
    gold: Path,
    *,
    gold_tags: bool = False,
    initial: Path | None = None,
    batch_size: int | None = None,
    silent: bool = True,
) -> Refinement:
    """Analyse the iterations of a refiner. ``spacy g2g refinement --help`` describes the arguments.

    Raises ValueError if the pipeline has no refiner or changes the words, if the gold file has no complete
        trees, or if the initial trees belong to other sentences.
    """
    check_suffix(gold, [".conllu"])
    nlp = spacy.load(pipeline)
    store_graphs(nlp)
    sentences = read_gold(gold)
    inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial)
    docs = nlp.pipe(inputs, batch_size=batch_size)
    pairs = zip(progress(docs, unit="sentences", silent=silent), sentences, strict=True)
    return analyse_refinement([refined_sentence(doc, sentence) for doc, sentence in pairs])


def store_graphs(nlp: Language) -> None:
    """Make the pipeline's refiners store the graph of each iteration. Raises ValueError without a refiner."""
    refiners = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, RngRefiner)]
    if not refiners:
        raise ValueError(Errors.E911.format(names=nlp.pipe_names))
    for refiner in refiners:
        refiner.store_graphs = True


def refined_sentence(doc: Doc, gold: ConlluSentence) -> RefinedSentence:
    """Return the stored graphs of a Doc with one sentence, and its gold tree.

    doc: Doc that a refiner has parsed while it stored graphs.
    gold: Gold sentence.
    Raises ValueError if the Doc's tokens differ from the gold words.
    """
    words = [token.text for token in doc]
    if words != [word.form for word in gold.words]:
        raise ValueError(Errors.E504.format(sentence=gold.text, words=words))
    graphs = [to_sentence(graph, range(len(doc)), doc).with_ud_root() for graph in doc._.get(GRAPHS)]
    return RefinedSentence(
        gold=gold.graph(),
        graphs=[replace(graph, head_probs=(), dep_probs=()) for graph in graphs],
        passes=max(doc._.get(ITERATIONS)),
    )


def print_refinement(analysis: Refinement) -> None:
    """Print a table of the iterations and a table of error reductions."""
    msg.divider(f"Refinement of {analysis.n_sentences} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {COMPARED}.")
    msg.text(
        "Rates are in percent. Iteration 0 is the initial graph. Errors: relative error reduction in LAS. "
        "Stopped: sentences that stopped after this iteration. Unchanged: stopped sentences whose last pass "
        "changed nothing."
    )
    changes = ("Wrong>right", "Right>wrong", "Wrong>wrong")
    header = ["Iteration", "UAS", "LAS", "Errors", *changes, "Stopped", "of words", "Unchanged"]
    msg.table(list(_iteration_rows(analysis)), header=header, divider=True, aligns=("l", *"rrrrrrrrr"))
    steps = [str(t) for t in range(1, analysis.n_iterations + 1)]
    header = ["Errors by iteration", "Gold", "First", "Last", *steps, "Total"]
    aligns = ("l", *"r" * (len(header) - 1))
    msg.table(list(_part_rows(analysis)), header=header, divider=True, aligns=aligns)


def _iteration_rows(analysis: Refinement) -> Iterator[tuple[str, ...]]:
    """Yield a row for each graph: its scores, the changes, and the sentences that stopped with it."""
    reductions = (None, *analysis.las.reductions)
    for t, stopped in enumerate(analysis.stopped):
        counts = map(str, astuple(analysis.changes[t - 1])) if t else ("", "", "")
        yield (
            str(t),
            percent(analysis.uas.scores[t]),
            percent(analysis.las.scores[t]),
            signed_percent(reductions[t]) if t else "",
            *counts,
            _share(stopped.n_sentences, analysis.n_sentences),
            _share(stopped.n_words, analysis.n_words),
            str(stopped.n_unchanged) if t else "",
        )


def _part_rows(analysis: Refinement) -> Iterator[tuple[str, ...]]:
    """Yield error reductions of all words, by projectivity of the trees, of crossing arcs, and by label."""
    parts = {
        "UAS": (analysis.n_words, analysis.uas),
        "LAS": (analysis.n_words, analysis.las),
        "LAS, projective trees": (analysis.projective.n_words, analysis.projective.las),
        "LAS, non-projective trees": (analysis.non_projective.n_words, analysis.non_projective.las),
        "F1, non-projective arcs": _gold_and_f1(analysis.non_projective_arcs),
        **{f"F1, {label}": _gold_and_f1(scores) for label, scores in analysis.labels.items()},
    }
    for name, (n_gold, curve) in parts.items():
        first, last = percent(curve.scores[0]), percent(curve.scores[-1])
        reductions = [signed_percent(value) for value in (*curve.reductions, curve.total)]
        yield (name, str(n_gold), first, last, *reductions)


def _gold_and_f1(scores: ArcScores) -> tuple[int, Curve]:
    return scores.n_gold, scores.f1


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"
