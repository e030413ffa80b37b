"""``benchmark``: words per second of a pipeline beside those of its bare encoder, on the same batches."""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm
from wasabi import msg

from ..errors import Errors
from ..pipeline.g2g_parser import G2GParser
from ..training.corpus import make_corpus
from .common import GpuId, Pipeline, atomic_path, user_errors


def benchmark_cli(
    pipeline: Pipeline,
    data: Annotated[Path, typer.Argument(help="A .conllu or .spacy file, or a folder of them")],
    runs: Annotated[int, typer.Option(help="Timed runs, after a warm-up")] = 5,
    limit: Annotated[int, typer.Option(help="Docs to read; 0 for all")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of PyTorch; 0 for its default")] = 0,
    gpu_id: GpuId = -1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file for the figures")] = None,
) -> None:
    """Measure words per second: the whole pipeline, the parser, and its bare encoder."""
    with user_errors():
        setup_gpu(gpu_id)
        figures = benchmark(spacy.load(pipeline), data, runs=runs, limit=limit, threads=threads)
        if output is not None:
            with atomic_path(output) as path:
                path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf8")
    msg.text(f"{figures['docs']} Docs, {figures['words']} words, {runs} runs, {figures['threads']} threads")
    rows = [
        (name, f"{row['median']:,.0f}", f"{row['min']:,.0f} to {row['max']:,.0f}", f"{row['ratio']:.3f}")
        for name, row in figures["words_per_second"].items()
    ]
    msg.table(rows, header=("", "words/s", "spread", "to encoder"), divider=True, aligns=("l", "r", "r", "r"))


def benchmark(
    nlp: Language, data: Path, *, runs: int = 5, limit: int = 0, threads: int = 0
) -> dict[str, Any]:
    """Time a pipeline on Docs with gold words and sentences.

    Each run times, one after the other, all components on Docs that have only words and sentence
    boundaries; our component alone; and its encoder alone, on the batches of pieces that the component
    makes, prepared before. A warm-up run is not counted.

    Returns Docs, words, threads, and for each of the three the median, least and greatest words per
    second and the median over the runs of its ratio to the encoder.
    Raises ValueError for a pipeline without a parser of ours, and for less than one run.
    """
    import torch

    parsers = [(name, pipe) for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]
    if not parsers:
        raise ValueError(Errors.E350.format(names=nlp.pipe_names))
    if runs < 1:
        raise ValueError(Errors.E351.format(runs=runs))
    if threads:
        torch.set_num_threads(threads)
    name, parser = parsers[0]
    examples = list(make_corpus(data, limit=limit)(nlp))
    docs = [example.predicted for example in examples]
    encode = _bare_encoder(parser, docs, nlp.batch_size)

    def whole(copies: Sequence[Doc]) -> None:
        for _ in nlp.pipe(copies):
            pass

    def component(copies: Sequence[Doc]) -> None:
        for _ in parser.pipe(copies, batch_size=nlp.batch_size):
            pass

    tasks: dict[str, Callable[[Sequence[Doc]], None]] = {
        "pipeline": whole,
        name: component,
        "encoder": encode,
    }
    n_words = sum(map(len, docs))
    speeds: dict[str, list[float]] = {task: [] for task in tasks}
    for run in tqdm(range(runs + 1), desc="runs", disable=None):
        for task, function in tasks.items():
            copies = [doc.copy() for doc in docs]
            start = time.perf_counter()
            function(copies)
            if run:
                speeds[task].append(n_words / (time.perf_counter() - start))
    return {
        "docs": len(docs),
        "words": n_words,
        "runs": runs,
        "threads": torch.get_num_threads(),
        "words_per_second": {
            task: {
                "median": statistics.median(values),
                "min": min(values),
                "max": max(values),
                "ratio": statistics.median(v / e for v, e in zip(values, speeds["encoder"], strict=True)),
            }
            for task, values in speeds.items()
        },
    }


def _bare_encoder(parser: G2GParser, docs: Sequence[Doc], batch_size: int) -> Callable[[Sequence[Doc]], None]:
    """The encoder on the batches that the parser makes of the Docs, which are prepared here."""
    import torch

    from ..models.shim import get_shim

    shim = get_shim(parser.model)
    batches = [
        (batch.piece_ids, batch.lengths)
        for start in range(0, len(docs), batch_size)
        for _, batch in shim.wordpieces.batches(
            parser.sentences(docs[start : start + batch_size]), shim.max_padded
        )
    ]
    encoder, tensor = shim.network.eval().encoder, shim.network.tensor

    def encode(_: Sequence[Doc]) -> None:
        with torch.inference_mode(), shim.precision():
            for piece_ids, lengths in batches:
                mask = np.arange(piece_ids.shape[1]) < lengths[:, None]
                encoder(tensor(piece_ids), None if mask.all() else tensor(mask))
        if shim.network.device.type == "cuda":
            torch.cuda.synchronize()

    return encode
