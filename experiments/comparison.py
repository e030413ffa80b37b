"""What the scripts share that train rows of a table and compare them: training, counting, timing, text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from spacy.util import load_config
from thinc.api import Config
from torch import Tensor
from wasabi import msg

from project.train import CONFIG
from project.training_config import BEST
from spacy_g2g.cli.common import atomic_path
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.formats.conllu import ConlluSentence
from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.models.shim import get_shim
from spacy_g2g.pipeline.g2g_parser import G2GParser

#: Names in table.json and headings of the scores.
METRICS = {"uas": "UAS", "las": "LAS", "las_subtypes": "LAS with subtypes"}

#: Of one system, seed and file: "words" and the metrics with a number for each sentence, and what else is
#: measured.
Counts = dict[str, Any]


# Training


def is_trained(folder: Path, config: Config) -> bool:
    """Whether a folder has a trained model; tells so, and where its settings are not these."""
    if not (folder / BEST).exists():
        return False
    msg.info(f"{folder}: trained already")
    used = load_config(folder / CONFIG) if (folder / CONFIG).exists() else config
    if _without_folders(used) != _without_folders(config):
        msg.warn(f"{folder}: trained with other settings than the present ones, see {CONFIG}")
    return True


def _without_folders(config: Config) -> dict[str, Any]:
    """A config whose paths are names only."""
    return {**config, "paths": {name: path and Path(path).name for name, path in config["paths"].items()}}


# Scores


def count(gold: Sequence[ConlluSentence], system: Iterable[ConlluSentence]) -> Counts:
    """Words of each sentence, and how many of them the system has right by each metric."""
    counts: Counts = {name: [] for name in ("words", *METRICS)}
    for a, b in zip(gold, system, strict=True):
        if [word.form for word in a.words] != [word.form for word in b.words]:
            raise SystemExit(f"{b.location()}: expected the words of {a.location()}")
        heads = [(x.deprel, y.deprel) for x, y in zip(a.words, b.words, strict=True) if x.head == y.head]
        counts["words"].append(len(a.words))
        counts["uas"].append(len(heads))
        counts["las"].append(sum(x.partition(":")[0] == y.partition(":")[0] for x, y in heads))
        counts["las_subtypes"].append(sum(x == y for x, y in heads))
    return counts


def kept_counts(path: Path, gold: Sequence[ConlluSentence]) -> Counts | None:
    """Counts that were written for these sentences; None if there are none."""
    if not path.exists():
        return None
    found: Counts = json.loads(path.read_text(encoding="utf8"))
    return found if found["words"] == [len(sentence.words) for sentence in gold] else None


def write_atomically(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf8")


def count_parameters(nlp: Language) -> dict[str, int]:
    """Parameters of each parser and refiner."""
    parsers = [(name, pipe) for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]
    networks = {name: get_shim(pipe.model).network for name, pipe in parsers}
    return {name: sum(p.numel() for p in network.parameters()) for name, network in networks.items()}


def mean_and_values(values: Sequence[float]) -> dict[str, Any] | None:
    """Numbers of several seeds and their mean; None for no numbers."""
    return {"mean": sum(values) / len(values), "values": values} if values else None


def compare(system: Mapping[int, Counts], other: Mapping[int, Counts]) -> dict[str, Any] | None:
    """LAS of a system against another's on the seeds that both have; None without any."""
    seeds = [seed for seed in system if seed in other]
    if not seeds:
        return None
    a, b = (np.sum([side[seed]["las"] for seed in seeds], axis=0) for side in (other, system))
    words = np.array(system[seeds[0]]["words"])
    values = [(sum(system[s]["las"]) - sum(other[s]["las"])) / int(words.sum()) for s in seeds]
    return {"seeds": seeds, **asdict(paired_bootstrap(a, b, words * len(seeds))), "values": values}


# The encoder


@dataclass
class Watch:
    """What went through an encoder.

    calls: Of its layers. rows: Of those calls; a sentence, a part of a long one, or a parser state each.
    seconds: In embedding and layers together.
    """

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


@contextmanager
def watch_encoder(encoder: GraphEncoder) -> Iterator[Watch]:
    """Count and time calls of an encoder; on a GPU it waits for each, which takes time of its own."""
    watch = Watch()
    embed, encode = encoder.embed, encoder.encode
    device = next(encoder.parameters()).device

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    def timed_embed(*args: Any, **kwargs: Any) -> Tensor:
        start = now()
        x = embed(*args, **kwargs)
        watch.seconds += now() - start
        return x

    def timed_encode(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        start = now()
        y = encode(x, *args, **kwargs)
        watch.seconds += now() - start
        watch.calls += 1
        watch.rows += len(x)
        return y

    encoder.embed, encoder.encode = timed_embed, timed_encode  # type: ignore[method-assign]
    try:
        yield watch
    finally:
        del encoder.embed, encoder.encode


# Text


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose first row is its head."""
    return [f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])]


def percent(score: Mapping[str, Any] | None) -> str:
    """A mean in percent, with the values of seeds where there are several; "-" for none."""
    if score is None:
        return "-"
    values = [f"{100 * value:.2f}" for value in score["values"]]
    return f"{100 * score['mean']:.2f}" + (f" ({', '.join(values)})" if len(values) > 1 else "")


def difference(c: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Difference, interval and p-value of a comparison."""
    if c is None:
        return "-", "-", "-"
    interval = f"{100 * c['low']:+.2f} to {100 * c['high']:+.2f}"
    return f"{100 * c['difference']:+.2f}", interval, f"{c['p_value']:.4f}"


def comparison_line(name: str, other: str, c: Mapping[str, Any]) -> str:
    gain, interval, p = difference(c)
    return f"- {name} to {other}: {gain} LAS, 95% interval {interval}, p {p}"
