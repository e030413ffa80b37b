"""Measure where the time of parsing and training goes, part by part.

    python -m experiments.parts PIPELINE DATA [--steps 30] [--threads 2]

PIPELINE is a trained pipeline; its config has the batches and the optimizer of training. DATA is a .conllu or
.spacy file. On a GPU, the clock stops only when the device has finished a part.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.models import syntr
from spacy_g2g.models.shim import get_shim
from spacy_g2g.pipeline import sentence_inputs as layout
from spacy_g2g.pipeline import trees
from spacy_g2g.pipeline.g2g_parser import G2GParser

#: Number of training steps before the clock starts.
WARM_UP_STEPS = 3


class Stopwatch:
    """Seconds spent in functions, and calls of them, by the name of a part.

    clock: Tells the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()

    @contextmanager
    def watch(self, places: Sequence[tuple[Any, str, str]]) -> Iterator[None]:
        """Watch functions, none of which may call another.

        places: Owner, attribute and name of the part of each function.
        """
        patches = [
            patch.object(owner, attribute, self._timed(part, getattr(owner, attribute)))
            for owner, attribute, part in places
        ]
        for one in patches:
            one.start()
        try:
            yield
        finally:
            for one in patches:
                one.stop()

    def _timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            start = self.clock()
            result = function(*args, **kwargs)
            synchronize()
            self.spent[part] += self.clock() - start
            self.calls[part] += 1
            return result

        return run

    def shares(self, seconds: float) -> dict[str, float]:
        """Return the share of each part in a total, and of the rest."""
        shares = {part: spent / seconds for part, spent in self.spent.items()}
        return {**shares, "the rest": 1 - sum(shares.values())}


def synchronize() -> None:
    """Wait until the device has done its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def parsing_parts(nlp: Language) -> list[tuple[Any, str, str]]:
    """Return the watched functions of parsing."""
    places: list[tuple[Any, str, str]] = [
        (layout, "make_sentences", "Docs to sentences"),
        (trees, "write_trees", "trees to Docs"),
        (syntr, "decode", "tree decoding"),
    ]
    for shim in shims(nlp):
        places += [
            (shim.wordpieces, "split", "words to pieces"),
            (shim.wordpieces, "batch", "batches of pieces"),
            (shim.network, "encode", "encoder"),
        ]
        if hasattr(shim.network, "scorer"):
            scorer = shim.network.scorer
            places += [(scorer, "forward", "arc scorer"), (scorer, "labels", "label scorer")]
    return places


def training_parts(nlp: Language) -> list[tuple[Any, str, str]]:
    """Return the watched functions of a training step."""
    places: list[tuple[Any, str, str]] = [(torch.autograd, "backward", "backward")]
    for shim in shims(nlp):
        places += [
            (shim.wordpieces, "split", "words to pieces"),
            (shim.wordpieces, "batch", "batches of pieces"),
            (shim.network, "loss", "forward"),
            (shim, "finish_update", "optimizer"),
        ]
    return places


def shims(nlp: Language) -> list[Any]:
    """Return the shims of all parsers and refiners."""
    return [get_shim(pipe.model) for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]


def time_parsing(
    nlp: Language, docs: Sequence[Doc], clock: Callable[[], float] = time.perf_counter, **options: Any
) -> tuple[float, Stopwatch]:
    """Parse copies of Docs once; return seconds and parts. Options are those of ``nlp.pipe``."""
    stopwatch, copies = Stopwatch(clock), [doc.copy() for doc in docs]
    with stopwatch.watch(parsing_parts(nlp)):
        start = clock()
        for _ in nlp.pipe(copies, **options):
            pass
        return clock() - start, stopwatch


def time_training(
    nlp: Language, batches: Sequence[Sequence[Example]], optimizer: Any, exclude: Sequence[str] = ()
) -> tuple[float, Stopwatch]:
    """Make a training step for each batch; return the seconds of the steps after the warm-up, and their
    parts.

    exclude: Names of components that are not trained.
    """
    stopwatch, start = Stopwatch(), 0.0
    with stopwatch.watch(training_parts(nlp)):
        for i, batch in enumerate(batches):
            if i == WARM_UP_STEPS:
                stopwatch.spent.clear()
                start = time.perf_counter()
            fresh = [Example(example.predicted.copy(), example.reference) for example in batch]
            nlp.update(fresh, sgd=optimizer, drop=0.1, exclude=exclude)
        return time.perf_counter() - start, stopwatch


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="folder or name of a trained pipeline")
    cli.add_argument("data", type=Path, help=".conllu or .spacy file")
    cli.add_argument("--steps", type=int, default=30, help="training steps that are timed")
    cli.add_argument("--threads", type=int, default=2, help="of the CPU")
    args = cli.parse_args(arguments)
    torch.set_num_threads(args.threads)
    nlp = spacy.load(args.pipeline)
    examples = list(make_corpus(args.data)(nlp))
    docs = [example.predicted for example in examples]
    time_parsing(nlp, docs)
    seconds, stopwatch = time_parsing(nlp, docs)
    found = {"parsing": {"seconds": seconds, "shares": stopwatch.shares(seconds)}}
    training = registry.resolve(nlp.config.interpolate()["training"], validate=False)
    batches = list(training["batcher"](examples))
    chosen = [batches[i % len(batches)] for i in range(args.steps + WARM_UP_STEPS)]
    seconds, stopwatch = time_training(nlp, chosen, training["optimizer"])
    found["training"] = {"seconds_a_step": seconds / args.steps, "shares": stopwatch.shares(seconds)}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
