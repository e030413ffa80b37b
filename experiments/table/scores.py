"""Counts of what a system gets right in each sentence of a file, and the cost of parsing it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from spacy.language import Language
from torch import Tensor

from project.train import TRAINING
from project.training_config import BEST
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import ConlluSentence, ConlluWord, read_conllu
from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.parser.rng_refiner import ITERATIONS
from spacy_g2g.pipeline.saved_pipe import SavedPipe
from spacy_g2g.trees.tree import non_projective_arcs

from .rows import REFINER

#: Headings of the scores, by name.
METRICS = {"uas": "UAS", "las": "LAS", "las_subtypes": "LAS with subtypes"}
#: Number of sentences that are parsed before the clock starts.
N_WARM_UP = 8

#: Measurements of one system, seed and file: "words" and each metric as a list with a number for each
#: sentence, and single numbers.
Counts = dict[str, Any]


def score(name: str, seed: int, gold: Path, args: argparse.Namespace) -> Counts | None:
    """Return the counts of a system; None if it cannot parse the file yet.

    Counts are kept in a file beside the model. Those of other machines are read where there is none.

    name: Name of the system.
    seed: Seed of its training.
    gold: CoNLL-U file with the gold trees.
    args: Options of the command.
    """
    system = args.table.systems[name]
    sentences = list(read_conllu(gold, trees="full"))
    folder = args.output / str(seed) / system.row
    path = folder / f"{name}.{gold.stem}.json"
    for output in (args.output, *args.kept):
        saved = read_counts(output / path.relative_to(args.output), sentences)
        if saved is not None:
            return saved
    if not (folder / BEST).exists():
        return None
    settings = {f"components.{REFINER}.model.{setting}": value for setting, value in system.settings.items()}
    nlp = spacy.load(folder / BEST, config=settings)
    counts = parse_and_count(nlp, sentences) | {"training": read_training(folder)}
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(counts, separators=(",", ":")) + "\n", encoding="utf8")
    return counts


def read_counts(path: Path, gold: Sequence[ConlluSentence]) -> Counts | None:
    """Return the counts in a file; None without a file, or if they belong to other sentences."""
    if not path.exists():
        return None
    counts: Counts = json.loads(path.read_text(encoding="utf8"))
    return counts if counts["words"] == [len(sentence.words) for sentence in gold] else None


def read_training(folder: Path) -> dict[str, float]:
    """Return what a training recorded; empty without a record."""
    path = folder / TRAINING
    record: dict[str, float] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return record


def parse_and_count(nlp: Language, sentences: Sequence[ConlluSentence]) -> Counts:
    """Parse gold sentences and count what is right, passes, seconds and parameters."""
    networks = {}
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, SavedPipe):
            for shim in find_shims(pipe.model):
                networks[name] = shim.network
    parameters = {name: count_parameters(network) for name, network in networks.items()}
    list(nlp.pipe(sentences_to_docs(sentences[:N_WARM_UP], nlp.vocab, annotations=("SENT_START",))))
    docs = list(sentences_to_docs(sentences, nlp.vocab, annotations=("SENT_START",)))
    encoders = [network.encoder for network in networks.values() if hasattr(network, "encoder")]
    with watch_encoders(encoders) as watch:
        start = time.perf_counter()
        docs = list(nlp.pipe(docs))
        seconds = time.perf_counter() - start
    parsed = chain.from_iterable(map(doc_to_sentences, docs))
    return count(sentences, parsed) | {
        "seconds": seconds,
        "encoder_seconds": watch.seconds,
        "threads": torch.get_num_threads(),
        "passes": watch.rows,
        "calls": watch.calls,
        "iterations": [max(doc._.get(ITERATIONS)) for doc in docs] if nlp.has_pipe(REFINER) else None,
        "parameters": parameters,
    }


def count_parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def count(gold: Sequence[ConlluSentence], system: Iterable[ConlluSentence]) -> Counts:
    """Count the words of each sentence, and the words that are right by each metric.

    Non-projective gold arcs are counted over all sentences: their number, those with the right head, and
    those with the right label as well.
    Raises SystemExit if the sentences have other words.
    """
    counts: Counts = {name: [] for name in ("words", *METRICS)}
    crossed = np.zeros(3, dtype=np.int64)
    for a, b in zip(gold, system, strict=True):
        if len(a.words) != len(b.words) or any(map(_differ, a.words, b.words)):
            raise SystemExit(f"{b.location()}: expected the words of {a.location()}")
        pairs = list(zip(a.words, b.words, strict=True))
        head = np.array([x.head == y.head for x, y in pairs])
        label = head & [x.deprel.partition(":")[0] == y.deprel.partition(":")[0] for x, y in pairs]
        whole = head & [x.deprel == y.deprel for x, y in pairs]
        for name, right in zip(METRICS, (head, label, whole), strict=True):
            counts[name].append(int(right.sum()))
        counts["words"].append(len(pairs))
        crosses = non_projective_arcs([word.head or 0 for word in a.words])
        crossed += [crosses.sum(), head[crosses].sum(), label[crosses].sum()]
    names = ("non_projective", "non_projective_uas", "non_projective_las")
    return counts | dict(zip(names, crossed.tolist(), strict=True))


def _differ(word: ConlluWord, other: ConlluWord) -> bool:
    return word.form != other.form


@dataclass
class Watch:
    """Counts of what went through encoders.

    calls: Number of calls of their layers.
    rows: Number of rows in these calls: a sentence, a part of a long one, or a parser state each.
    seconds: Seconds in embedding and layers together.
    """

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


@contextmanager
def watch_encoders(encoders: Sequence[GraphEncoder]) -> Iterator[Watch]:
    """Count and time calls of encoders. On a GPU each call is waited for, which takes time of its own."""
    watch = Watch()

    def timed(encode: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Tensor:
            start = now()
            x: Tensor = encode(*args, **kwargs)
            watch.seconds += now() - start
            watch.calls += 1
            watch.rows += len(x)
            return x

        return run

    for encoder in encoders:
        encoder.forward = timed(encoder.forward)  # type: ignore[method-assign]
    try:
        yield watch
    finally:
        for encoder in encoders:
            del encoder.forward


def now() -> float:
    """Return seconds on a clock, when the device has done its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
