"""``refinement``: what each iteration of a refiner changes on a treebank."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from ..data.docs import TOKEN_ANNOTATIONS, sentences_to_docs
from ..data.graphs import to_sentence
from ..errors import Errors
from ..evaluation.plots import plot_refinement
from ..evaluation.refinement import (
    COMPARED,
    ArcScores,
    Curve,
    RefinedSentence,
    Refinement,
    analyse_refinement,
)
from ..formats.conllu import ConlluSentence, read_conllu
from ..pipeline.rng_refiner import GRAPHS, ITERATIONS, RngRefiner
from .common import atomic_path, check_can_plot, check_suffix, progress, user_errors, with_graphs
from .options import BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent

PLOT_SUFFIXES = (".png", ".svg")


def refinement_cli(
    pipeline: Pipeline,
    gold: Annotated[Path, typer.Argument(help="CoNLL-U file with gold annotation")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file for the figures")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Figure to draw, .png or .svg")] = None,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Show what each iteration of a refiner gains and changes, on gold words and sentences.

    LAS is that of ``evaluate``: punctuation counts, subtypes of labels do not.
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
            with atomic_path(output) as path:
                path.write_text(json.dumps(analysis.to_dict(), indent=2) + "\n", encoding="utf8")
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
    """Analyse the iterations of a pipeline's refiner on a CoNLL-U file; of its last one, if it has several.

    pipeline: Folder or name of a pipeline with an ``rng_refiner``.
    gold_tags: Give it gold UPOS, XPOS, features and lemmas too; for parsers that read tags.
    initial: A file with the same sentences, whose trees the refiner begins with.
    RAISES (ValueError): for a pipeline without a refiner, one that changes the words, a gold file that is
        not CoNLL-U with complete trees, and an initial one with other sentences.
    """
    check_suffix(gold, [".conllu"])
    nlp = spacy.load(pipeline)
    store_graphs(nlp)
    sentences = list(read_conllu(gold, trees="full"))
    annotations = TOKEN_ANNOTATIONS if gold_tags else ("SENT_START",)
    gold_docs = sentences_to_docs(sentences, nlp.vocab, annotations=annotations)
    docs = nlp.pipe(with_graphs(gold_docs, initial, gold), batch_size=batch_size)
    pairs = zip(progress(docs, unit="sentences", silent=silent), sentences, strict=True)
    return analyse_refinement([refined_sentence(doc, sentence) for doc, sentence in pairs])


def store_graphs(nlp: Language) -> None:
    """Make the pipeline's refiners store the graph of each iteration."""
    refiners = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, RngRefiner)]
    if not refiners:
        raise ValueError(Errors.E383.format(names=nlp.pipe_names))
    for refiner in refiners:
        refiner.store_graphs = True


def refined_sentence(doc: Doc, gold: ConlluSentence) -> RefinedSentence:
    """A Doc that a refiner has parsed as it stored its graphs, with the gold tree of its one sentence.

    RAISES (ValueError): where the Doc's tokens are not the words of the gold sentence.
    """
    words = [token.text for token in doc]
    if words != [word.form for word in gold.words]:
        raise ValueError(Errors.E323.format(sentence=gold.text, words=words))
    graphs = [to_sentence(graph, range(len(doc)), doc).with_ud_root() for graph in doc._.get(GRAPHS)]
    return RefinedSentence(
        gold=gold.graph(),
        graphs=[replace(graph, head_probs=(), dep_probs=()) for graph in graphs],
        passes=max(doc._.get(ITERATIONS)),
    )


def print_refinement(analysis: Refinement) -> None:
    """Print two tables: of the iterations, and of error reduction for parts of the words."""
    msg.divider(f"Refinement of {analysis.n_sentences} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {COMPARED}.")
    msg.text(
        "Rates are in percent. Iteration 0 is the initial graph. Errors: relative error reduction in LAS. "
        "Stopped: sentences that made so many passes. Unchanged: how many of them by their last pass."
    )
    changes = ("Wrong>right", "Right>wrong", "Wrong>wrong")
    header = ["Iteration", "UAS", "LAS", "Errors", *changes, "Stopped", "of words", "Unchanged"]
    msg.table(list(_iteration_rows(analysis)), header=header, divider=True, aligns=("l", *"rrrrrrrrr"))
    steps = [str(t) for t in range(1, analysis.n_iterations + 1)]
    header = ["Errors by iteration", "Gold", "First", "Last", *steps, "Total"]
    aligns = ("l", *"r" * (len(header) - 1))
    msg.table(list(_part_rows(analysis)), header=header, divider=True, aligns=aligns)


def _iteration_rows(analysis: Refinement) -> Iterator[tuple[str, ...]]:
    """Of each graph: scores, what its iteration changed, and the sentences whose last it was."""
    reductions = (None, *analysis.las.reductions)
    for t, stopped in enumerate(analysis.stopped):
        counts = ("", "", "")
        if t:
            changes = analysis.changes[t - 1]
            counts = (
                str(changes.wrong_to_right),
                str(changes.right_to_wrong),
                str(changes.wrong_to_wrong),
            )
        yield (
            str(t),
            _percent(analysis.uas.scores[t]),
            _percent(analysis.las.scores[t]),
            _reduction(reductions[t]) if t else "",
            *counts,
            _share(stopped.n_sentences, analysis.n_sentences),
            _share(stopped.n_words, analysis.n_words),
            str(stopped.n_unchanged) if t else "",
        )


def _part_rows(analysis: Refinement) -> Iterator[tuple[str, ...]]:
    """Error reductions of all words, by projectivity of the gold trees, of crossing arcs, and by label."""
    parts = {
        "UAS": (analysis.n_words, analysis.uas),
        "LAS": (analysis.n_words, analysis.las),
        "LAS, projective trees": (analysis.projective.n_words, analysis.projective.las),
        "LAS, non-projective trees": (analysis.non_projective.n_words, analysis.non_projective.las),
        "F1, non-projective arcs": _gold_and_f1(analysis.non_projective_arcs),
        **{f"F1, {label}": _gold_and_f1(scores) for label, scores in analysis.labels.items()},
    }
    for name, (n_gold, curve) in parts.items():
        first, last = _percent(curve.scores[0]), _percent(curve.scores[-1])
        reductions = [_reduction(value) for value in (*curve.reductions, curve.total)]
        yield (name, str(n_gold), first, last, *reductions)


def _gold_and_f1(scores: ArcScores) -> tuple[int, Curve]:
    return scores.n_gold, scores.f1


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.2f}"


def _reduction(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:+.2f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"
