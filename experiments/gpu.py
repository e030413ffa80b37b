"""Measure speed on a GPU: words per second, syncs of host and device, waiting times, and training steps.

    python -m experiments.gpu en_ewt-ud-test.conllu --output gpu    (writes gpu.json, gpu.md and traces)
    python -m experiments.gpu SMALL.conllu --width 64 --layers 2 --heads 2 --sentences 50    (on a CPU)

Encoders have random weights and pieces learned from the data, so no checkpoint is needed. Parses go from Docs
with words and sentence boundaries to annotated Docs. With random weights, the best heads hardly ever
form a tree, so nearly all sentences would go through Chu-Liu/Edmonds on the host. Therefore, arc scores are
raised on the device so that the best head of each word is the word before it, in all but every 20th sentence.
The refiner makes all its passes.

A whole run takes about a quarter of an hour; --systems, --pieces and --batch-sizes make it shorter.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.batchers import minibatch_by_padded_size
from thinc.api import Adam, fix_random_seed
from torch.profiler import ProfilerActivity, profile

from project.markdown import markdown_table
from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.models import network_shim as shim_module
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_scratch
from spacy_g2g.parser.g2g_parser import G2GParser

#: Target of words per second on an H200, with 12 layers of width 768.
WANTED = {"SynTr": 50_000, "SynTr+RNGTr": 20_000}
PARSER, REFINER = "g2g_parser", "rng_refiner"
SYSTEMS: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "SynTr": [(PARSER, {"@architectures": "spacy_g2g.SynTr.v1"})],
    "SynTr+RNGTr": [
        (PARSER, {"@architectures": "spacy_g2g.SynTr.v1"}),
        (REFINER, {"@architectures": "spacy_g2g.RNGTr.v1", "iterations": 3, "stop": False}),
    ],
    "SentTr+G2GTr": [(PARSER, {"@architectures": "spacy_g2g.SentTr.v1"})],
}
#: Number of training steps before the clock starts.
WARM_UP_STEPS = 3
#: Every so many sentences, the best heads are left to the random weights.
RANDOM_EVERY = 20
CHAIN_SCORE = 1e4
#: If the warm-up run takes more seconds than this, it is reported instead of further runs.
SLOW = 10.0

Row = dict[str, Any]


def make_system(name: str, examples: Sequence[Example], args: argparse.Namespace) -> Language:
    """Return a pipeline with random weights, on the device."""
    fix_random_seed(0)
    nlp = spacy.blank("xx", vocab=examples[0].predicted.vocab)
    source = encoder_from_scratch(
        width=args.width,
        n_layers=args.layers,
        n_attention_heads=args.heads,
        hidden_width=4 * args.width,
        vocab_size=args.vocabulary,
    )
    for factory, model in SYSTEMS[name]:
        pipe = nlp.add_pipe(factory, config={"model": model})
        pipe.initialize(lambda: examples, nlp=nlp, encoder=source)  # type: ignore[attr-defined]
        shim = get_shim(pipe.model)  # type: ignore[attr-defined]
        if args.device == "cuda":
            shim.to_device("gpu", torch.cuda.current_device())
        if hasattr(shim.network, "scorer"):
            prefer_chains(shim.network.scorer)
    return nlp


def prefer_chains(scorer: Any) -> None:
    """Make the previous word the best head of each word, except in every 20th sentence of a batch."""
    forward = scorer.forward

    def chained(words: torch.Tensor, mask: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        arcs, dependents, heads = forward(words, mask)
        chain = torch.eye(*arcs.shape[1:], dtype=arcs.dtype, device=arcs.device) * CHAIN_SCORE
        rows = torch.arange(len(arcs), device=arcs.device) % RANDOM_EVERY != RANDOM_EVERY - 1
        return arcs + chain * rows[:, None, None], dependents, heads

    scorer.forward = chained


def shims(nlp: Language) -> list[Any]:
    """Return the shims of all parsers and refiners."""
    return [get_shim(pipe.model) for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]


def synchronize() -> None:
    """Wait until the device has done its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@contextmanager
def setting(nlp: Language, precision: str, pieces: int) -> Iterator[None]:
    """Set the precision, and the number of padded pieces in an encoder pass."""
    for shim in shims(nlp):
        shim.precision = precision
    limits = dict.fromkeys(shim_module.MAX_PADDED_PIECES, pieces)
    with patch.dict(shim_module.MAX_PADDED_PIECES, limits):
        yield


def attempt(measure: Callable[..., Row], *arguments: Any) -> Row:
    """Return the measurement, or the reason of its failure, such as too little memory."""
    try:
        return measure(*arguments)
    except RuntimeError as error:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return {"error": str(error).splitlines()[0]}


def measure_speed(nlp: Language, docs: Sequence[Doc], batch_size: int, runs: int) -> Row:
    """Return words per second: the median, minimum and maximum of the runs after a warm-up."""

    def seconds() -> float:
        copies = [doc.copy() for doc in docs]
        start = time.perf_counter()
        for _ in nlp.pipe(copies, batch_size=batch_size):
            pass
        return time.perf_counter() - start

    times = [seconds()]
    if times[0] < SLOW:
        times = [seconds() for _ in range(runs)]
    n_words = sum(map(len, docs))
    ordered = [n_words / value for value in (statistics.median(times), max(times), min(times))]
    return dict(zip(("words/s", "least", "most"), ordered, strict=True))


def measure_waiting(nlp: Language, docs: Sequence[Doc], batch_size: int, trace: Path | None) -> Row:
    """Return encoder passes, syncs by line of code, and the share of time that the GPU waits.

    trace: File for the trace of the GPU, which Perfetto shows; None for no file.
    """
    with ExitStack() as stack:
        networks = [shim.network for shim in shims(nlp)]
        watched = [stack.enter_context(patch.object(n, "encode", wraps=n.encode)) for n in networks]
        list(nlp.pipe([doc.copy() for doc in docs], batch_size=batch_size))
    row: Row = {"encoder passes": sum(encode.call_count for encode in watched)}
    if not torch.cuda.is_available():
        return row | {"syncs": "not counted without a GPU"}
    copies = [[doc.copy() for doc in docs] for _ in range(3)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        list(nlp.pipe(copies[0], batch_size=batch_size))
        torch.cuda.set_sync_debug_mode("default")
    syncs = [warning for warning in caught if "synchronizing CUDA operation" in str(warning.message)]
    places = Counter(f"{Path(sync.filename).name}:{sync.lineno}" for sync in syncs)
    start = time.perf_counter()
    list(nlp.pipe(copies[1], batch_size=batch_size))
    # Tracing slows the host but not the device, so device time is compared with an untraced run.
    untraced = time.perf_counter() - start
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        list(nlp.pipe(copies[2], batch_size=batch_size))
        synchronize()
    busy = sum(event.self_device_time_total for event in profiler.key_averages()) / 1e6
    if trace is not None:
        profiler.export_chrome_trace(str(trace))
    return row | {"syncs": len(syncs), "sync places": dict(places), "GPU waits": 1 - busy / untraced}


def measure_training(nlp: Language, examples: Sequence[Example], padded_words: int, steps: int) -> Row:
    """Return words per second in training the last component."""
    batcher = minibatch_by_padded_size(examples, size=padded_words, buffer=1000, discard_oversize=False)
    batches = list(batcher)
    chosen = [batches[i % len(batches)] for i in range(steps + WARM_UP_STEPS)]
    n_words = sum(len(example.predicted) for batch in chosen[WARM_UP_STEPS:] for example in batch)
    optimizer, start = Adam(1e-5, L2=0.01, grad_clip=1.0), 0.0
    for i, batch in enumerate(chosen):
        if i == WARM_UP_STEPS:
            synchronize()
            start = time.perf_counter()
        fresh = [Example(example.predicted.copy(), example.reference) for example in batch]
        nlp.update(fresh, sgd=optimizer, drop=0.1, exclude=nlp.pipe_names[:-1])
    synchronize()
    seconds = time.perf_counter() - start
    return {"words/s": n_words / seconds, "ms": 1000 * seconds / steps}


def measure_all(name: str, examples: Sequence[Example], args: argparse.Namespace) -> dict[str, list[Row]]:
    """Return the rows of a system, by the titles of their tables."""
    nlp, docs = make_system(name, examples, args), [example.predicted for example in examples]
    tables: dict[str, list[Row]] = {"Parsing": [], "Syncs and waiting": [], "Training": []}
    # On a CPU the script is only tried.
    for precision in ("float32", "bfloat16") if args.device == "cuda" else ("float32",):
        given: Row = {"system": name, "wanted": WANTED.get(name, "-"), "precision": precision}
        for pieces in args.pieces:
            for batch_size in args.batch_sizes:
                with setting(nlp, precision, pieces):
                    speed = attempt(measure_speed, nlp, docs, batch_size, args.runs)
                tables["Parsing"].append({**given, "pieces": pieces, "Docs": batch_size, **speed})
        with setting(nlp, precision, args.pieces[-1]):
            trace = args.output and args.output.with_suffix(f".{name}.{precision}.trace.json")
            waiting = attempt(measure_waiting, nlp, docs, args.batch_sizes[0], trace)
            tables["Syncs and waiting"].append({"system": name, "precision": precision, **waiting})
            for size in args.step_sizes:
                step = attempt(measure_training, nlp, examples, size, args.steps)
                row = {"system": name, "precision": precision, "padded words": size}
                tables["Training"].append({**row, **step})
    return tables


def to_markdown(report: Mapping[str, Any]) -> str:
    """Return the figures as Markdown tables. A table has every column that any of its rows has."""
    settings, parts = report["settings"], ["# Speed"]
    parts.append(", ".join(f"{name} {value}" for name, value in settings.items()))
    for title, rows in report["tables"].items():
        head = list(dict.fromkeys(column for row in rows for column in row))
        body = [[to_cell(row.get(column, "")) for column in head] for row in rows]
        parts += [f"## {title}", markdown_table([head, *body])]
    return "\n\n".join(parts) + "\n"


def to_cell(value: Any) -> str:
    """Return a number or counts as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {to_cell(share)}" for name, share in value.items())
    if isinstance(value, float):
        return f"{value:.3f}" if value < 1 else f"{value:,.0f}"
    return str(value)


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("data", type=Path, help="CoNLL-U or .spacy file")
    add("--output", type=Path, help="path without suffix of the JSON, the Markdown file and the traces")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cuda", "cpu"])
    add("--width", type=int, default=768)
    add("--layers", type=int, default=12)
    add("--heads", type=int, default=12)
    add("--vocabulary", type=int, default=30000, help="most pieces")
    add("--sentences", type=int, default=0, help="sentences of the data; 0 for all")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    add("--batch-sizes", type=int, nargs="+", default=[1000, 4000], help="Docs at once in nlp.pipe")
    add("--pieces", type=int, nargs="+", default=[8192, 32768, 131072], help="padded pieces of a pass")
    add("--runs", type=int, default=5)
    add("--steps", type=int, default=20, help="training steps")
    add("--step-sizes", type=int, nargs="+", default=[800, 8000], help="padded words of a training batch")
    return cli.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    args = read_arguments(arguments)
    examples = list(make_corpus(args.data, limit=args.sentences)(spacy.blank("xx")))
    device = torch.cuda.get_device_name() if args.device == "cuda" else "CPU"
    settings = {"device": device, "PyTorch": torch.__version__, "data": args.data.name}
    settings |= {"sentences": len(examples), "words": sum(len(e.predicted) for e in examples)}
    settings |= {name: getattr(args, name) for name in ("width", "layers", "heads")}
    report: dict[str, Any] = {"settings": settings, "tables": {}}
    for name in args.systems:
        for title, rows in measure_all(name, examples, args).items():
            report["tables"].setdefault(title, []).extend(rows)
        # Write after each system, so that an interrupted run keeps its measurements.
        if args.output is not None:
            args.output.with_suffix(".json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf8")
            args.output.with_suffix(".md").write_text(to_markdown(report), encoding="utf8")
    print(to_markdown(report))


if __name__ == "__main__":
    main()
