"""``benchmark``: words per second of a pipeline and of its bare encoders on the same batches."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..data.corpus import make_corpus
from ..data.layout import lay_out
from ..errors import Errors
from ..pipeline.final_parser import final_parser
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.word_vectors import get_tok2vec
from .common import user_errors, write_json
from .messages import msg
from .options import GpuId, Pipeline


def benchmark_cli(
    pipeline: Pipeline,
    data: Annotated[Path, typer.Argument(help="A .conllu or .spacy file, or a folder of such files")],
    runs: Annotated[int, typer.Option(help="Number of timed runs after a warm-up run")] = 5,
    limit: Annotated[int, typer.Option(min=0, help="Number of Docs to read; 0 for all")] = 0,
    threads: Annotated[
        int, typer.Option(min=0, max=1024, help="Number of PyTorch threads; 0 for PyTorch's default")
    ] = 0,
    gpu_id: GpuId = -1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file with the figures")] = None,
) -> None:
    """Measure words per second of the whole pipeline, of each parser and of its bare encoder."""
    with user_errors():
        setup_gpu(gpu_id)
        figures = benchmark(spacy.load(pipeline), data, runs=runs, limit=limit, threads=threads)
        if output is not None:
            write_json(output, figures)
    msg.text(f"{figures['docs']} Docs, {figures['words']} words, {runs} runs, {figures['threads']} threads")
    rows = [
        (
            name,
            f"{row['median']:,.0f}",
            f"{row['min']:,.0f} to {row['max']:,.0f}",
            f"{row['ratio']:.3f}",
            f"{row['passes']:.2f}",
            row["precision"],
        )
        for name, row in figures["words_per_second"].items()
    ]
    header = ("", "words/s", "spread", "to encoder", "passes", "precision")
    msg.table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r", "l"))


@dataclass
class _Task:
    """Task to time.

    function: Function of Docs to time.
    docs: Docs to call the function with.
    passes: Number of encoder passes for a piece on average.
    encoders: Names of the tasks that time the encoders in this task.
    precisions: Precisions of the networks in this task that are ours.
    """

    function: Callable[[Sequence[Doc]], None]
    docs: Sequence[Doc]
    passes: float
    encoders: list[str]
    precisions: list[str]


def benchmark(
    nlp: Language, data: Path, *, runs: int = 5, limit: int = 0, threads: int = 0
) -> dict[str, Any]:
    """Time a pipeline on Docs with gold words and sentences.

    Each run times three things. The whole pipeline runs on Docs that have only words and sentence boundaries.
    Each component of this library runs alone on Docs with the annotations of earlier components. Its encoder
    runs alone and without graphs on the inputs that it got from the component, which are recorded before. For
    a parser that shares an encoder, the component with the encoder is timed alone and together with the
    parser. A warm-up run is not counted.

    nlp: Pipeline to time.
    data: Corpus to read Docs from.
    runs: Number of timed runs.
    limit: Number of Docs to read, 0 for all.
    threads: Number of PyTorch threads, 0 for PyTorch's default.
    Returns the numbers of Docs, words and threads; and for each task the median, minimum and maximum of words
        per second, the median ratio to the speed of its encoder (for the pipeline: of all its encoders
        together), the average number of encoder passes for a piece, and the precision of the network.
    Raises ValueError if the pipeline has no parser of this library, if runs is below 1, or if there are no
        words.
    """
    import torch

    final_parser(nlp)  # an error if there is nothing to time
    if runs < 1:
        raise ValueError(Errors.E910.format(runs=runs))
    if threads:
        torch.set_num_threads(threads)
    docs = [example.predicted for example in make_corpus(data, limit=limit)(nlp)]
    n_words = sum(map(len, docs))
    if not n_words:
        raise ValueError(Errors.E925.format(path=data))
    tasks = _tasks(nlp, docs)
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for run in tqdm(range(runs + 1), desc="runs", disable=None):
        for name, task in tasks.items():
            copies = [doc.copy() for doc in task.docs]
            start = time.perf_counter()
            task.function(copies)
            if run:
                seconds[name].append(time.perf_counter() - start)
    return {
        "docs": len(docs),
        "words": n_words,
        "runs": runs,
        "threads": torch.get_num_threads(),
        "words_per_second": {
            name: {
                "median": n_words / statistics.median(seconds[name]),
                "min": n_words / max(seconds[name]),
                "max": n_words / min(seconds[name]),
                "ratio": statistics.median(
                    sum(encoders) / own
                    for own, *encoders in zip(
                        seconds[name], *(seconds[encoder] for encoder in task.encoders), strict=True
                    )
                ),
                "passes": task.passes,
                "precision": " and ".join(sorted(set(task.precisions))),
            }
            for name, task in tasks.items()
        },
    }


def _tasks(nlp: Language, docs: Sequence[Doc]) -> dict[str, _Task]:
    def whole(copies: Sequence[Doc]) -> None:
        for _ in nlp.pipe(copies):
            pass

    tasks = {"pipeline": _Task(whole, docs, 0.0, [], [])}
    prepared = [doc.copy() for doc in docs]
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, G2GParser):
            shared = [other for _, other in nlp.pipeline if name in getattr(other, "listener_map", {})]
            before = list(docs) if shared else [doc.copy() for doc in prepared]
            component = _run(nlp, [*shared, pipe])
            if shared or get_tok2vec(pipe.model) is not None:
                encode, passes, inputs = _run(nlp, shared) if shared else _read_vectors(pipe), 1.0, before
            else:
                (encode, passes), inputs = _bare_encoder(pipe, before, component), []
            encoder = f"{name} encoder"
            precisions = _precisions(pipe)
            tasks[name] = _Task(component, before, passes, [encoder], precisions)
            tasks[encoder] = _Task(encode, inputs, passes, [encoder], precisions if not inputs else [])
            tasks["pipeline"].precisions += precisions
            tasks["pipeline"].passes += passes
            tasks["pipeline"].encoders.append(encoder)
        prepared = list(pipe.pipe(prepared)) if hasattr(pipe, "pipe") else [pipe(doc) for doc in prepared]
    return tasks


def _precisions(parser: G2GParser) -> list[str]:
    """Return the precision in which the parser's network computes; nothing for a model of another library."""
    from ..models.precision import uses_bfloat16
    from ..models.shim import find_shim

    shim = find_shim(parser.model)
    if shim is None:
        return []
    return ["bfloat16" if uses_bfloat16(shim.precision, shim.network.device) else "float32"]


def _run(nlp: Language, pipes: Sequence[Any]) -> Callable[[Sequence[Doc]], None]:
    """Return a function that runs components one after the other."""

    def run(docs: Sequence[Doc]) -> None:
        for pipe in pipes:
            docs = list(pipe.pipe(docs, batch_size=nlp.batch_size))
        _wait_for_device()

    return run


def _read_vectors(parser: G2GParser) -> Callable[[Sequence[Doc]], None]:
    """Return a function that runs the parser's own layer for word vectors."""

    def read(docs: Sequence[Doc]) -> None:
        parser.model.get_ref("tok2vec").predict(list(docs))
        _wait_for_device()

    return read


def _wait_for_device() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _bare_encoder(
    parser: G2GParser, docs: Sequence[Doc], run: Callable[[Sequence[Doc]], None]
) -> tuple[Callable[[Sequence[Doc]], None], float]:
    """Return a function that runs the encoder on its recorded inputs, and its passes for a piece on average.

    parser: Component with the encoder.
    docs: Docs to parse once to record the encoder's inputs.
    run: Function that runs the component.
    """
    import torch

    from ..models.shim import get_shim

    shim = get_shim(parser.model)
    encoder = shim.network.eval().encoder
    inputs: list[tuple[Any, Any]] = []

    def record(_: Any, arguments: tuple[Any, ...]) -> None:
        pieces, mask = arguments
        # Only the shape of vectors matters, so an expanded zero saves memory.
        is_ids = not pieces.is_floating_point()
        inputs.append((pieces if is_ids else pieces.new_zeros(()).expand(pieces.shape), mask))

    with encoder.register_forward_pre_hook(record):
        run([doc.copy() for doc in docs])

    def encode(_: Sequence[Doc]) -> None:
        with torch.inference_mode(), shim.arithmetic():
            for pieces, mask in inputs:
                encoder(pieces, mask)
        _wait_for_device()

    batches = shim.wordpieces.batches(parser.inputs(docs, lay_out(docs)), shim.max_padded)
    n_pieces = sum(int(batch.lengths.sum()) for _, batch in batches)
    n_encoded = sum(
        pieces.shape[0] * pieces.shape[1] if mask is None else int(mask.sum()) for pieces, mask in inputs
    )
    return encode, n_encoded / max(1, n_pieces)
