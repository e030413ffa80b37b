"""Measure the speed of pipelines beside their bare encoders.

    python -m experiments.speed DEV PIPELINE ... [--sentences 300] [--runs 5] [--gpu -1] [--json FILE]

DEV is a treebank (.conllu). Pipelines read its words: single sentences, for which a senter is disabled, and
whole documents (`# newdoc`, `# newpar`), in which they find the sentences. The bare encoder reads the pieces
of the single sentences. All are timed in turns by processor time on one thread, in float32 and in bfloat16;
with `--gpu`, by wall time on that GPU. The best run counts. A figure is words a second, and
its share of the bare encoder's.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc

from project.markdown import markdown_table
from spacy_g2g.data.docs import sentences_to_doc
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.formats.paragraphs import paragraphs
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.precision import Precision
from spacy_g2g.models.types import Sentence

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")
BARE, GIVEN, FOUND = "bare encoder", "sentences given", "sentences found"
#: Seconds of each run, by pipeline, row and precision.
Times = dict[tuple[str, str, str], list[float]]


def encode(shim: Any, sentences: Sequence[Sentence]) -> None:
    """Run the encoder alone, without vectors of words."""
    network = shim.network.eval()
    with torch.inference_mode(), shim.arithmetic():
        for _, batch in shim.wordpieces.batches(sentences, shim.max_padded):
            mask = torch.arange(batch.piece_ids.shape[1]) < torch.from_numpy(batch.lengths)[:, None]
            ids = torch.from_numpy(batch.piece_ids).to(network.device)
            network.encoder(ids, mask.to(network.device), mix=network.mix)


def parse(nlp: Language, docs: Sequence[Doc], disable: Sequence[str]) -> None:
    """Run a pipeline without some of its components."""
    for _ in nlp.pipe(docs, disable=disable):
        pass


def make_texts(documents: Sequence[Sequence[ConlluSentence]], nlp: Language) -> Mapping[str, Sequence[Doc]]:
    """Return Docs of single sentences with boundaries, and Docs of whole documents without."""
    texts: dict[str, list[Doc]] = {GIVEN: [], FOUND: []}
    for sentence in chain.from_iterable(documents):
        doc = sentences_to_doc([sentence], nlp.vocab, annotations=["SENT_START"], keep_source=False)
        texts[GIVEN].append(doc)
    for document in documents:
        texts[FOUND].append(sentences_to_doc(document, nlp.vocab, annotations=[], keep_source=False))
    return texts


def words_of(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def now() -> float:
    """Return the processor's time; with a GPU, the time of a clock when the GPU has done its work."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def time_all(
    pipelines: Mapping[str, Language],
    documents: Any,
    runs: int,
    precisions: Sequence[Precision] = PRECISIONS,
) -> Times:
    """Return the seconds of each run, after one that warms up; documents are lists of sentences."""
    times: Times = defaultdict(list)

    def clock(key: tuple[str, str, str], run: Callable[[], Any]) -> None:
        start = now()
        run()
        times[key].append(now() - start)

    texts = {name: make_texts(documents, nlp) for name, nlp in pipelines.items()}
    for _ in range(runs + 1):
        for precision in precisions:
            for name, nlp in pipelines.items():
                models = [pipe.model for _, pipe in nlp.pipeline if isinstance(pipe, TrainablePipe)]
                shims = [*chain.from_iterable(map(find_shims, models))]
                for shim in shims:
                    shim.precision = precision
                encoder = next(shim for shim in shims if hasattr(shim.network, "encoder"))
                sentences = [Sentence(words_of(doc)) for doc in texts[name][GIVEN]]
                clock((name, BARE, precision), partial(encode, encoder, sentences))
                for row, disable in ((GIVEN, ["senter"]), (FOUND, [])):
                    copies = [doc.copy() for doc in texts[name][row]]
                    disabled = [pipe for pipe in disable if pipe in nlp.pipe_names]
                    clock((name, row, precision), partial(parse, nlp, copies, disabled))
    return {key: seconds[1:] for key, seconds in times.items()}


def markdown(best: Mapping[tuple[str, str, str], float], n_words: int) -> str:
    """Return a table of words a second and shares of the speed of the bare encoder, from least seconds."""
    table: list[tuple[str, ...]] = [("pipeline", "", *PRECISIONS)]
    for name, row in dict.fromkeys((name, row) for name, row, _ in best):
        seconds = [best[name, row, precision] for precision in PRECISIONS]
        shares = [best[name, BARE, p] / s for p, s in zip(PRECISIONS, seconds, strict=True)]
        cells = [f"{n_words / s:,.0f} ({share:.3f})" for s, share in zip(seconds, shares, strict=True)]
        table.append((name, row, *cells))
    return markdown_table(table)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("dev", type=Path, help="treebank to parse, .conllu")
    cli.add_argument("pipelines", type=Path, nargs="+", help="trained pipelines")
    cli.add_argument("--sentences", type=int, default=300, help="number of sentences, about")
    cli.add_argument("--runs", type=int, default=5, help="number of runs, of which the best counts")
    cli.add_argument("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    cli.add_argument("--json", type=Path, help="file for the seconds")
    args = cli.parse_args(argv)
    torch.set_num_threads(1)
    setup_gpu(args.gpu)
    documents = list(paragraphs(read_conllu(args.dev)))
    # Documents that are spread evenly over the treebank.
    chosen = documents[:: max(1, sum(map(len, documents)) // args.sentences)]
    n_words = sum(len(sentence.words) for sentence in chain.from_iterable(chosen))
    times = time_all({str(path): spacy.load(path) for path in args.pipelines}, chosen, args.runs)
    best = {key: min(seconds) for key, seconds in times.items()}
    print(f"{sum(map(len, chosen))} sentences in {len(chosen)} documents, {n_words} words")
    print(markdown(best, n_words))
    if args.json is not None:
        args.json.write_text(json.dumps([[*key, value] for key, value in best.items()]), encoding="utf8")


if __name__ == "__main__":
    main()
