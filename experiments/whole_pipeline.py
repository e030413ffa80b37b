"""Measure the speed of a whole pipeline on one encoder beside the bare encoder and spacy-transformers.

    python -m experiments.whole_pipeline PIPELINE THEIRS DEV [--also OTHER ...] [--sentences 300] [--runs 5]

PIPELINE is trained by configs/pipeline.cfg and THEIRS by configs/pipeline_transformers.cfg, both without
refiners, for instance by `experiments.tasks`. OTHER are further pipelines, named by the folder that their own
folder is in. The sentences are those of documents (`# newdoc`, `# newpar`) of DEV (.conllu), with gold words.
All are timed in turns by processor time on one thread: the encoder alone on the pieces of all sentences, the
component, and the pipelines. These get single sentences, for which a senter is disabled, and whole documents,
whose sentences they find. Those on g2g_encoder compute in float32 and in
bfloat16, the others in float32. The best run counts. The sizes are those of the files.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from project.markdown import markdown_table
from spacy_g2g.data.docs import sentences_to_doc
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.formats.paragraphs import paragraphs
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.settings import Precision
from spacy_g2g.models.types import Sentence
from spacy_g2g.pipeline.saved_pipe import SavedPipe

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")
BARE = "bare encoder"
GIVEN, FOUND = "sentences given", "sentences found"
#: Docs of single sentences, and of whole documents.
Texts = Mapping[str, Sequence[Doc]]
#: Seconds by row and precision.
Times = dict[tuple[str, str], float]


def encode(shim: Any, sentences: Sequence[Sentence]) -> None:
    """Run the encoder alone, without vectors of words."""
    network = shim.network.eval()
    with torch.inference_mode(), shim.arithmetic():
        for _, batch in shim.wordpieces.batches(sentences, shim.max_padded):
            mask = torch.arange(batch.piece_ids.shape[1]) < torch.from_numpy(batch.lengths)[:, None]
            network.encoder(torch.from_numpy(batch.piece_ids), mask, mix=network.mix)


def set_precision(nlp: Language, precision: Precision) -> None:
    """Choose the arithmetic of all components of this library, and of the network that finds sentences."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, SavedPipe):
            pipe.precision = precision
            if pipe.finder.boundaries is not None:
                pipe.finder.boundaries.attrs["precision"] = precision


def parse(nlp: Language, docs: Sequence[Doc], disable: Sequence[str]) -> None:
    """Run a pipeline without some of its components."""
    for _ in nlp.pipe(docs, disable=disable):
        pass


def make_texts(documents: Sequence[Sequence[ConlluSentence]], nlp: Language) -> Texts:
    """Return the sentences with boundaries, and the documents without."""
    alone = [[sentence] for document in documents for sentence in document]
    return {
        GIVEN: [sentences_to_doc(s, nlp.vocab, annotations=["SENT_START"], keep_source=False) for s in alone],
        FOUND: [sentences_to_doc(d, nlp.vocab, annotations=[], keep_source=False) for d in documents],
    }


def time_all(pipelines: Mapping[str, Language], texts: Mapping[str, Texts], runs: int) -> Times:
    """Return the least seconds of each row and precision.

    pipelines: By name: "ours", "theirs", and further ones.
    texts: What they read, by the same names.
    """
    ours = pipelines["ours"]
    sentences = [Sentence([token.text for token in doc]) for doc in texts["ours"][GIVEN]]
    encoder: Any = ours.get_pipe("g2g_encoder")
    (shim,) = find_shims(encoder.model)
    best: Times = {}

    def clock(row: str, precision: str, run: Callable[[], Any]) -> None:
        start = time.process_time()
        run()
        seconds = time.process_time() - start
        best[row, precision] = min(seconds, best.get((row, precision), seconds))

    def clock_pipelines(nlp: Language, name: str, precision: str) -> None:
        for row, disable in ((GIVEN, ["senter"]), (FOUND, [])):
            copies = [doc.copy() for doc in texts[name][row]]
            clock(f"{name}, {row}", precision, partial(parse, nlp, copies, disable))

    for _ in range(runs + 1):  # the first run warms up
        for precision in PRECISIONS:
            for nlp in pipelines.values():
                set_precision(nlp, precision)
            copies = [doc.copy() for doc in texts["ours"][GIVEN]]
            clock(BARE, precision, partial(encode, shim, sentences))
            clock("g2g_encoder", precision, partial(encoder.predict, copies))
            for name, nlp in pipelines.items():
                if "g2g_encoder" in nlp.pipe_names or precision == PRECISIONS[0]:
                    clock_pipelines(nlp, name, precision)
    return best


def markdown(best: Times, n_words: int) -> str:
    """Return a table of words per second, and shares of the speed of the bare encoder."""
    table: list[tuple[str, ...]] = [("", *PRECISIONS)]
    for row in dict.fromkeys(row for row, _ in best):
        cells = []
        for precision in PRECISIONS:
            seconds = best.get((row, precision))
            share = seconds and best[BARE, precision] / seconds
            cells.append(f"{n_words / seconds:,.0f} ({share:.2f})" if seconds else "")
        table.append((row, *cells))
    return markdown_table(table)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", type=Path, help="trained pipeline on g2g_encoder")
    cli.add_argument("theirs", type=Path, help="trained pipeline on spacy-transformers")
    cli.add_argument("dev", type=Path, help="treebank to parse, .conllu")
    cli.add_argument("--also", type=Path, nargs="+", default=[], help="further pipelines")
    cli.add_argument("--sentences", type=int, default=300, help="number of sentences, about")
    cli.add_argument("--runs", type=int, default=5, help="number of runs, of which the best counts")
    args = cli.parse_args(argv)
    torch.set_num_threads(1)
    paths = {"ours": args.pipeline, "theirs": args.theirs}
    paths |= {path.resolve().parent.name: path for path in args.also}
    pipelines = {name: spacy.load(path) for name, path in paths.items()}
    documents = list(paragraphs(read_conllu(args.dev)))
    # Documents that are spread evenly over the treebank.
    step = max(1, sum(map(len, documents)) // args.sentences)
    texts = {name: make_texts(documents[::step], nlp) for name, nlp in pipelines.items()}
    of_ours = texts["ours"]
    n_words = sum(map(len, of_ours[GIVEN]))
    best = time_all(pipelines, texts, args.runs)
    counts = f"{len(of_ours[GIVEN])} sentences in {len(of_ours[FOUND])} documents, {n_words} words"
    print(f"{counts}; words/s (share of the bare encoder's)")
    print(markdown(best, n_words))
    for name, path in paths.items():
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"{name}: {size / 1e6:.1f} MB, {', '.join(pipelines[name].pipe_names)}")


if __name__ == "__main__":
    main()
