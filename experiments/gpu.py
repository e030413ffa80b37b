"""Speed on a GPU: words per second, training steps, host syncs, and how long the GPU waits for Python.

python -m experiments.gpu en_ewt-ud-test.conllu --output gpu      (writes gpu.json and gpu.md)
python -m experiments.gpu SMALL.conllu --width 64 --layers 2 --heads 2 --sentences 50 --repeat 0    (on a CPU)

Encoders have random weights, which cost the same time as others, and pieces learned from the data; no
checkpoint, spacy-transformers or CuPy is needed. Parses go from Docs with words and sentence boundaries to
annotated Docs. With random weights hardly any sentence's best heads are a tree, and all of them would go
through Chu-Liu/Edmonds on the host: so to the arc scores of all but every 20th sentence a number is added, on
the device, with which each word's best head is the word before it. The refiner makes all its passes.

A whole run takes a quarter of an hour or so; --systems, --pieces and --batch-sizes make it shorter.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from spacy.util import minibatch
from thinc.api import Adam, fix_random_seed

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.models import rngtr, sent_tr, shim, syntr, transitions
from spacy_g2g.models.encoder import encoder_from_scratch
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.pipeline import layout as layouts
from spacy_g2g.pipeline.layout import lay_out

from .stopwatch import Stopwatch

# Words a second on an H200 that are wanted.
BARS = {"SynTr": 50_000, "SynTr+RNGTr": 20_000}
PARSER, REFINER = "g2g_parser", "rng_refiner"
# In every so many sentences the best heads are left as random weights have them.
RANDOM_EVERY = 20
CHAIN_SCORE = 1e4
# Prefix of named ranges in a trace.
PART = "part: "
# What makes the host wait for the device, by names in a trace.
SYNC_EVENTS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "aten::nonzero")
SYNC_EVENTS += ("aten::_local_scalar_dense", "Memcpy DtoH", "Memcpy HtoD")
WARM_UP_STEPS = 3
# A warm-up run that took more seconds is what is reported.
SLOW = 10.0

Interval = tuple[float, float]
Run = Callable[[Sequence[Doc]], None]


def main(arguments: Sequence[str] | None = None) -> None:
    args = parse_arguments(arguments)
    if args.threads:
        torch.set_num_threads(args.threads)
    examples = read_examples(args.data, args.sentences)
    report: dict[str, Any] = {"settings": describe(args, examples)}
    systems = make_systems(examples, args)
    docs = [example.predicted for example in examples]
    parts: dict[str, Callable[[], Any]] = {
        "words_per_second": lambda: measure_speeds(systems, docs, args),
        "repeated": lambda: measure_repetition(systems, docs, args, report["words_per_second"]),
        "traces": lambda: measure_traces(systems, docs[: args.trace_sentences], args),
        "training": lambda: measure_training(systems, examples, args),
    }
    for name, measure in parts.items():
        report[name] = measure()
        # After each part, so that a run that is cut short leaves what it has measured.
        text = to_markdown(report)
        if args.output is not None:
            args.output.with_suffix(".json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf8")
            args.output.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", type=Path, help="CoNLL-U or .spacy file")
    add("--output", type=Path, help="path without suffix of the JSON and the Markdown file")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cuda", "cpu"])
    add("--threads", type=int, default=0, help="of PyTorch on the CPU; 0 for its default")
    add("--width", type=int, default=768)
    add("--layers", type=int, default=12)
    add("--heads", type=int, default=12)
    add("--hidden", type=int, help="width of feed-forward networks; four times the width by default")
    add("--vocabulary", type=int, default=30000, help="pieces at most")
    add("--sentences", type=int, default=0, help="sentences of the data; 0 for all")
    add("--systems", nargs="+", default=["encoder", "SynTr", "SynTr+RNGTr", "SentTr+G2GTr"])
    add(
        "--batch-sizes",
        type=int,
        nargs="+",
        default=[1000, 4000],
        help="Docs that go through nlp.pipe at once",
    )
    add(
        "--pieces",
        type=int,
        nargs="+",
        default=[8192, 32768, 131072],
        help="padded pieces of an encoder pass",
    )
    add("--runs", type=int, default=5)
    add("--repeat", type=int, default=100_000, help="sentences of the long run; 0 for none")
    add("--longest", type=float, default=240.0, help="seconds beyond which a long run is left out")
    add("--trace-sentences", type=int, default=1000)
    add("--steps", type=int, default=20, help="training steps")
    add("--step-sizes", type=int, nargs="+", default=[800, 8000], help="padded words of a training batch")
    args = parser.parse_args(arguments)
    args.hidden = args.hidden or 4 * args.width
    # The CPU computes in float32 whatever the setting.
    args.precisions = ["float32", "bfloat16"] if args.device == "cuda" else ["float32"]
    return args


def read_examples(path: Path, limit: int) -> list[Example]:
    """Gold Docs, and Docs with words and boundaries, of one vocabulary."""
    return list(make_corpus(path, limit=limit)(spacy.blank("xx")))


def describe(args: argparse.Namespace, examples: Sequence[Example]) -> dict[str, Any]:
    device = torch.cuda.get_device_name() if args.device == "cuda" else "CPU"
    settings = {name: value for name, value in vars(args).items() if name not in ("data", "output")}
    return {
        **settings,
        "device": device,
        "torch": torch.__version__,
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "float32_matmul": torch.get_float32_matmul_precision(),
        "data": args.data.name,
        "read_sentences": len(examples),
        "read_words": sum(len(example.predicted) for example in examples),
    }


# Systems


class System:
    """Components of a pipeline that run, and what is timed of them.

    bare: time the encoder of the last component alone, on inputs that are on the device already.
    """

    def __init__(self, nlp: Language, names: Sequence[str], *, bare: bool = False) -> None:
        self.nlp = nlp
        self.names = names
        self.bare = bare
        self.disabled = [name for name in nlp.pipe_names if name not in names]

    @property
    def shims(self) -> list[G2GShim]:
        return [get_shim(self.nlp.get_pipe(name).model) for name in self.names]

    def runner(self, docs: Sequence[Doc], batch_size: int) -> Run:
        """A function that parses Docs, which have the words of these."""
        if self.bare:
            return self._bare_encoder(docs, batch_size)

        def run(copies: Sequence[Doc]) -> None:
            for _ in self.nlp.pipe(copies, batch_size=batch_size, disable=self.disabled):
                pass

        return run

    def _bare_encoder(self, docs: Sequence[Doc], batch_size: int) -> Run:
        parser, (shim_,) = self.nlp.get_pipe(self.names[-1]), self.shims
        network, inputs = shim_.network.eval(), []
        for part in minibatch(docs, batch_size):
            for _, batch in shim_.wordpieces.batches(parser.inputs(part, lay_out(part)), shim_.max_padded):
                pieces = network.tensor(batch.piece_ids)
                mask = (
                    torch.arange(pieces.shape[1], device=pieces.device)
                    < network.tensor(batch.lengths)[:, None]
                )
                inputs.append((pieces, None if bool(mask.all()) else mask))

        def run(_: Sequence[Doc]) -> None:
            with torch.inference_mode(), shim_.precision():
                for pieces, mask in inputs:
                    network.encoder(pieces, mask)
            synchronize()

        return run


def make_systems(examples: Sequence[Example], args: argparse.Namespace) -> dict[str, System]:
    """The systems that are wanted, initialised with random weights and on the device."""
    fix_random_seed(0)
    vocab = examples[0].predicted.vocab
    encoder = {"@architectures": "spacy_g2g.GraphEncoder.v1", "width": args.width, "n_layers": args.layers}
    encoder |= {"n_attention_heads": args.heads, "hidden_width": args.hidden, "n_positions": 512}

    def add(nlp: Language, factory: str, **model: Any) -> None:
        pipe = nlp.add_pipe(factory, config={"model": {**model, "encoder": encoder}})
        source = encoder_from_scratch(vocab_size=args.vocabulary)
        pipe.initialize(lambda: examples, nlp=nlp, encoder=source)
        if args.device == "cuda":
            get_shim(pipe.model).to_device("gpu", torch.cuda.current_device())

    graph_based, transition_based = spacy.blank("xx", vocab=vocab), spacy.blank("xx", vocab=vocab)
    add(graph_based, PARSER, **{"@architectures": "spacy_g2g.SynTr.v1"})
    rngtr_settings = {"@architectures": "spacy_g2g.RNGTr.v1", "iterations": 3, "stop": False}
    add(graph_based, REFINER, **rngtr_settings)
    for name in (PARSER, REFINER):
        prefer_chains(get_shim(graph_based.get_pipe(name).model).network.scorer)
    if "SentTr+G2GTr" in args.systems:
        add(transition_based, PARSER, **{"@architectures": "spacy_g2g.SentTr.v1"})
    systems = {
        "encoder": System(graph_based, [PARSER], bare=True),
        "SynTr": System(graph_based, [PARSER]),
        "SynTr+RNGTr": System(graph_based, [PARSER, REFINER]),
        "SentTr+G2GTr": System(transition_based, [PARSER]),
    }
    return {name: systems[name] for name in args.systems}


def prefer_chains(scorer: Any) -> None:
    """Make the word before it each word's best head, but for every 20th sentence of a batch."""
    forward = scorer.forward

    def chained(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        arcs, dependents, heads = forward(words)
        chain = torch.eye(*arcs.shape[1:], dtype=arcs.dtype, device=arcs.device) * CHAIN_SCORE
        rows = torch.arange(len(arcs), device=arcs.device) % RANDOM_EVERY != RANDOM_EVERY - 1
        return arcs + chain * rows[:, None, None], dependents, heads

    scorer.forward = chained


@contextmanager
def setting(systems: Sequence[System], precision: str, pieces: int | None = None) -> Iterator[None]:
    """Compute in a precision, with encoder passes of so many pieces."""
    with ExitStack() as stack:
        for system in systems:
            for shim_ in system.shims:
                stack.enter_context(patch.object(shim_, "mixed_precision", precision == "bfloat16"))
        if pieces is not None:
            limits = dict.fromkeys(shim.MAX_PADDED_PIECES, pieces)
            stack.enter_context(patch.dict(shim.MAX_PADDED_PIECES, limits))
        yield


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def attempt(measure: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What is measured, or why it can't be, as where memory does not suffice."""
    try:
        return measure(*arguments)
    except RuntimeError as error:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return {"error": str(error).splitlines()[0]}


# Parsing


def measure_speeds(
    systems: dict[str, System], docs: Sequence[Doc], args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Words a second of each system, precision, batch size and size of encoder passes."""
    rows = []
    for precision in args.precisions:
        for pieces in args.pieces:
            for batch_size in args.batch_sizes:
                for name, system in systems.items():
                    with setting([system], precision, pieces):
                        speed = attempt(time_runs, system, docs, batch_size, args.runs)
                    given = {"system": name, "precision": precision, "pieces": pieces}
                    rows.append({**given, "batch_size": batch_size, **speed})
    return rows


def time_runs(system: System, docs: Sequence[Doc], batch_size: int, runs: int) -> dict[str, Any]:
    """Words a second: median, least and greatest of the runs after a warm-up."""
    run = system.runner(docs, batch_size)
    seconds = [time_run(run, docs)]
    if seconds[0] < SLOW:
        seconds = [time_run(run, docs) for _ in range(runs)]
    n_words = sum(map(len, docs))
    return {
        "median": n_words / statistics.median(seconds),
        "min": n_words / max(seconds),
        "max": n_words / min(seconds),
        "runs": len(seconds),
    }


def time_run(run: Run, docs: Sequence[Doc]) -> float:
    """Seconds of a run on copies of Docs."""
    copies = [doc.copy() for doc in docs]
    start = time.perf_counter()
    run(copies)
    return time.perf_counter() - start


def measure_repetition(
    systems: dict[str, System], docs: Sequence[Doc], args: argparse.Namespace, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The data over and over, each system in the setting that was fastest, once."""
    found: list[dict[str, Any]] = []
    if not args.repeat:
        return found
    repeated = [docs[i % len(docs)] for i in range(args.repeat)]
    n_words = sum(map(len, repeated))
    for name, system in systems.items():
        of_system = [row for row in rows if row["system"] == name and "error" not in row]
        if not of_system:
            continue
        best = max(of_system, key=lambda row: row["median"])
        row = {key: best[key] for key in ("system", "precision", "pieces", "batch_size")}
        expected = n_words / best["median"]
        if expected > args.longest:
            found.append({**row, "error": f"left out: it would take about {expected:.0f} s"})
            continue
        with setting([system], best["precision"], best["pieces"]):
            found.append({**row, **attempt(time_once, system, repeated, best["batch_size"])})
    return found


def time_once(system: System, docs: Sequence[Doc], batch_size: int) -> dict[str, Any]:
    seconds = time_run(system.runner(docs, batch_size), docs)
    return {"median": sum(map(len, docs)) / seconds, "sentences": len(docs)}


# Syncs and waiting


def measure_traces(
    systems: dict[str, System], docs: Sequence[Doc], args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Host syncs for each encoder pass, and where the time goes while the GPU waits."""
    rows = []
    for name, system in systems.items():
        if not system.bare:
            precision = args.precisions[-1]
            with setting([system], precision):
                run = system.runner(docs, args.batch_sizes[0])
                time_run(run, docs)
                syncs, waits = attempt(count_syncs, system, run, docs), attempt(trace, system, run, docs)
            rows.append({"system": name, "precision": precision, **syncs, **waits})
    return rows


def count_syncs(system: System, run: Run, docs: Sequence[Doc]) -> dict[str, Any]:
    """Encoder passes, and the operations that made the host wait for the device, by line of code."""
    passes = 0
    on_gpu = all(shim_.network.device.type == "cuda" for shim_ in system.shims)

    def counted(forward: Callable[..., Any]) -> Callable[..., Any]:
        def encode(*inputs: Any, **others: Any) -> Any:
            nonlocal passes
            passes += 1
            return forward(*inputs, **others)

        return encode

    copies = [doc.copy() for doc in docs]
    with ExitStack() as stack:
        for shim_ in system.shims:
            encoder = shim_.network.encoder
            stack.enter_context(patch.object(encoder, "forward", counted(encoder.forward)))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        if on_gpu:
            torch.cuda.set_sync_debug_mode("warn")
            stack.callback(torch.cuda.set_sync_debug_mode, "default")
        run(copies)
    if not on_gpu:
        return {"encoder_passes": passes, "syncs": None, "note": "syncs can't be counted without a GPU"}
    syncs = [warning for warning in caught if "synchronizing CUDA operation" in str(warning.message)]
    places = Counter(f"{Path(sync.filename).name}:{sync.lineno}" for sync in syncs)
    return {
        "encoder_passes": passes,
        "syncs": len(syncs),
        "syncs_a_pass": len(syncs) / max(1, passes),
        "sync_places": dict(places.most_common()),
    }


def trace(system: System, run: Run, docs: Sequence[Doc]) -> dict[str, Any]:
    """Shares of the wall time: of named parts on the host, and of the waiting GPU within each of them.

    ``gpu_waits`` is of a run that is not traced: tracing slows the host, not the device.
    """
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    untraced = time_run(run, docs) * 1e6
    copies = [doc.copy() for doc in docs]
    with named_parts(system), profile(activities=activities) as profiler:
        start = time.perf_counter()
        run(copies)
        synchronize()
        wall = (time.perf_counter() - start) * 1e6
    busy: list[Interval] = []
    parts: dict[str, list[Interval]] = {}
    events: Counter[str] = Counter()
    for event in profiler.events() or ():
        interval = (event.time_range.start, event.time_range.end)
        if event.name.startswith(PART):
            # A named range is also shown on the device, where it says nothing.
            if event.device_type == DeviceType.CPU:
                parts.setdefault(event.name.removeprefix(PART), []).append(interval)
        elif event.device_type == DeviceType.CUDA:
            busy.append(interval)
        events.update(name for name in SYNC_EVENTS if event.name.startswith(name))
    found = {**shares(merge(busy), parts, wall), "events": dict(events)}
    spent_busy = sum(end - start for start, end in merge(busy))
    return {**found, "gpu_waits": 1.0 - spent_busy / untraced if busy else None}


def shares(busy: Sequence[Interval], parts: dict[str, list[Interval]], wall: float) -> dict[str, Any]:
    """Shares of the wall time, in the unit of the intervals; busy: merged. Without any, there is no GPU."""
    seconds = {name: sum(end - start for start, end in spans) for name, spans in parts.items()}
    found: dict[str, Any] = {"parts": {name: spent / wall for name, spent in seconds.items()}}
    found["parts"]["the rest"] = 1.0 - sum(found["parts"].values())
    if not busy:
        return {**found, "gpu_waits_traced": None}
    waits = 1.0 - sum(end - start for start, end in busy) / wall
    waiting = {name: (seconds[name] - overlap(merge(spans), busy)) / wall for name, spans in parts.items()}
    waiting["the rest"] = waits - sum(waiting.values())
    return {**found, "gpu_waits_traced": waits, "gpu_waits_in": waiting}


def merge(intervals: Sequence[Interval]) -> list[Interval]:
    """The union of intervals as ones that do not touch, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def overlap(ours: Sequence[Interval], theirs: Sequence[Interval]) -> float:
    """How much two merged lists of intervals have in common."""
    total, i, j = 0.0, 0, 0
    while i < len(ours) and j < len(theirs):
        total += max(0.0, min(ours[i][1], theirs[j][1]) - max(ours[i][0], theirs[j][0]))
        if ours[i][1] < theirs[j][1]:
            i += 1
        else:
            j += 1
    return total


@contextmanager
def named_parts(system: System) -> Iterator[None]:
    """Give the parts of parsing names in a trace; none of them is inside of another."""
    places: list[tuple[Any, str, str]] = [
        (layouts, "lay_out", "sentences of Docs"),
        (layouts, "make_sentences", "sentences of Docs"),
        (layouts, "write_trees", "trees to Docs"),
        (syntr, "decode", "tree decoding"),
        (rngtr, "graph_edges", "edges"),
        (sent_tr, "unlabelled_graph", "edges"),
        *((transitions, name, "transitions") for name in ("apply", "select", "valid_actions")),
    ]
    for shim_ in system.shims:
        places += [
            (shim_.wordpieces, "split", "words to pieces"),
            (shim_.wordpieces, "batch", "batches of pieces"),
            (shim_.network, "encode", "launch of the encoder"),
            (shim_.network, "arg_max", "scores to the host"),
        ]
    with ExitStack() as stack:
        for owner, attribute, name in places:
            if hasattr(owner, attribute):
                function = recorded(name, getattr(owner, attribute))
                stack.enter_context(patch.object(owner, attribute, function))
        yield


def recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **keywords: Any) -> Any:
        with torch.profiler.record_function(PART + name):
            return function(*arguments, **keywords)

    return run


# Training


def measure_training(
    systems: dict[str, System], examples: Sequence[Example], args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Seconds of a training step of each system's last component, and of its parts."""
    rows = []
    for name, system in systems.items():
        if system.bare:
            continue
        for precision in args.precisions:
            for size in args.step_sizes:
                batches = list(
                    minibatch_by_padded_size(examples, size=size, buffer=1000, discard_oversize=False)
                )
                with setting([system], precision):
                    row = attempt(time_steps, system, batches, args.steps)
                given = {"component": name.rpartition("+")[2] if REFINER in system.names else name}
                rows.append({**given, "precision": precision, "padded_words": size, **row})
    return rows


def time_steps(system: System, batches: Sequence[Sequence[Example]], steps: int) -> dict[str, Any]:
    """Steps as they are, then steps in which the device finishes each part before the next one begins."""
    name, shim_ = system.names[-1], system.shims[-1]
    others = [other for other in system.nlp.pipe_names if other != name]
    optimizer = Adam(1e-5, L2=0.01, grad_clip=1.0)
    chosen = [batches[i % len(batches)] for i in range(steps + WARM_UP_STEPS)]
    n_words = sum(len(example.predicted) for batch in chosen[WARM_UP_STEPS:] for example in batch)

    def train(clear: Callable[[], None]) -> float:
        for i, batch in enumerate(chosen):
            if i == WARM_UP_STEPS:
                synchronize()
                clear()
                start = time.perf_counter()
            fresh = [Example(example.predicted.copy(), example.reference) for example in batch]
            system.nlp.update(fresh, sgd=optimizer, drop=0.1, exclude=others)
        synchronize()
        return (time.perf_counter() - start) / steps

    seconds = train(lambda: None)
    stopwatch = Stopwatch()
    with ExitStack() as stack:
        for owner, attribute, part in (
            (shim_.wordpieces, "split", "words to pieces"),
            (shim_.wordpieces, "batch", "words to pieces"),
            (shim_.network, "loss", "forward"),
            (torch.autograd, "backward", "backward"),
            (shim_, "finish_update", "optimizer"),
        ):
            function = finished(getattr(owner, attribute))
            stack.enter_context(patch.object(owner, attribute, stopwatch.timed(part, function)))
        with_syncs = train(stopwatch.spent.clear)
    parts = {part: spent / steps for part, spent in stopwatch.spent.items()}
    parts["the rest"] = with_syncs - sum(parts.values())
    speed = {"words_per_second": n_words / (seconds * steps), "words": n_words / steps}
    return {"seconds": seconds, **speed, "seconds_with_syncs": with_syncs, "parts": parts}


def finished(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which returns when the device has done its work."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        synchronize()
        return result

    return run


# Markdown


def to_markdown(report: dict[str, Any]) -> str:
    """The figures as tables."""
    settings = report["settings"]
    lines = [
        "# Speed",
        "",
        f"{settings['device']}, PyTorch {settings['torch']}, {settings['cpus']} CPUs; {settings['data']}: "
        f"{settings['read_sentences']} sentences, {settings['read_words']} words; random encoder of "
        f"{settings['layers']} layers, width {settings['width']}, {settings['heads']} heads. "
        "Wanted: on an H200, with 12 layers of width 768.",
    ]
    for title, name in (("Words per second", "words_per_second"), ("Repeated data", "repeated")):
        rows = [speed_cells(row) for row in report.get(name) or ()]
        header = ["system", "precision", "pieces a pass", "Docs a batch", "words/s", "spread", "wanted"]
        lines += section(title, header, rows)
    traces = report.get("traces") or ()
    header = [
        "system",
        "encoder passes",
        "syncs",
        "syncs a pass",
        "GPU waits",
        "while the host is at",
        "syncs at",
    ]
    lines += section("Host syncs and waiting", header, [trace_cells(row) for row in traces])
    header = ["component", "precision", "padded words", "ms a step", "words/s", "parts, each finished, in ms"]
    lines += section("Training steps", header, [step_cells(row) for row in report.get("training") or ()])
    return "\n".join(lines) + "\n"


def section(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    cells = [header, ["---"] * len(header), *rows]
    return ["", f"## {title}", "", *("| " + " | ".join(row) + " |" for row in cells)]


def speed_cells(row: dict[str, Any]) -> list[str]:
    cells = [row["system"], row["precision"], str(row["pieces"]), str(row["batch_size"])]
    bar = f"{BARS[row['system']]:,}" if row["system"] in BARS else ""
    if "error" in row:
        return [*cells, row["error"], "", bar]
    spread = f"{row['min']:,.0f} to {row['max']:,.0f}" if "min" in row else ""
    return [*cells, f"{row['median']:,.0f}", spread, bar]


def trace_cells(row: dict[str, Any]) -> list[str]:
    if "error" in row:
        return [row["system"], row["error"], "", "", "", "", ""]
    on_gpu = row["gpu_waits"] is not None
    counted = row["syncs"] is not None
    return [
        row["system"],
        str(row["encoder_passes"]),
        str(row["syncs"]) if counted else row["note"],
        f"{row['syncs_a_pass']:.2f}" if counted else "",
        f"{row['gpu_waits']:.1%}" if on_gpu else "no GPU",
        percents(row["gpu_waits_in"] if on_gpu else row["parts"]),
        ", ".join(f"{place} ({n})" for place, n in row.get("sync_places", {}).items()),
    ]


def step_cells(row: dict[str, Any]) -> list[str]:
    cells = [row["component"], row["precision"], str(row["padded_words"])]
    if "error" in row:
        return [*cells, row["error"], "", ""]
    parts = ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in row["parts"].items())
    return [*cells, f"{1000 * row['seconds']:.1f}", f"{row['words_per_second']:,.0f}", parts]


def percents(values: dict[str, float]) -> str:
    ranked = sorted(values.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {value:.1%}" for name, value in ranked)


if __name__ == "__main__":
    main()
