"""Small corpora and options for the tables."""

import argparse
from pathlib import Path

from experiments.peers import __main__ as peers

from ..formats.samples import row
from ..util import read_treebank

CONFIGS = Path(__file__).parents[2] / "configs"
#: Settings of both tables.
QUICK = ["training.logger.progress_bar=false", "training.optimizer.learn_rate.warmup_steps=2"]
QUICK += ["training.optimizer.learn_rate.initial_rate=0.01"]
SIZES = {"width": 32, "hidden_width": 128, "n_layers": 1, "n_attention_heads": 2}
REFINEMENT_STEPS = {"--steps": 12, "--refiner-steps": 6, "--empty-steps": 4, "--eval-frequency": 6}


def write_conllu(path: Path, sentences: list[list[tuple[str, str, int, str]]], **labels: str) -> None:
    """Write sentences of ``tests.util`` as CoNLL-U, with other labels in place of those named."""
    blocks = [
        "".join(row(str(i), form, str(head), labels.get(label, label)) for i, (form, _, head, label) in rows)
        for rows in (list(enumerate(sentence, 1)) for sentence in sentences)
    ]
    path.write_text("".join(block + "\n" for block in blocks), encoding="utf8")


def write_corpora(folder: Path) -> None:
    """Write ten sentences to score on, and the same sentences twice to train on.

    The first have labels that the others do not have: LAS with subtypes is below LAS, and LAS below UAS.
    """
    write_conllu(folder / "train.conllu", read_treebank() * 2)
    write_conllu(folder / "dev.conllu", read_treebank(), det="det:x", punct="dep")


def refinement(folder: Path, *more: str) -> list[str]:
    """Return arguments that make the table of refinement of a folder's corpora in OUTPUT/out."""
    places = [str(folder / name) for name in ("train.spacy", "dev.conllu", "out")]
    options = {**REFINEMENT_STEPS, "--encoder-rate-factor": 1.0, "--copy-rate-factor": 1.0}
    pairs = [str(item) for option in options.items() for item in option]
    widths = {"arc_width": 24, "label_width": 16}
    settings = [
        f"components.{name}.model.{width}={size}"
        for name in ("g2g_parser", "rng_refiner")
        for width, size in widths.items()
    ]
    encoder = str(folder / "bert")
    return ["refinement", *places, "--encoder", encoder, *pairs, "--set", *settings, *QUICK, *more]


def transition(folder: Path, *more: str, start: str = "scratch", steps: int = 10) -> list[str]:
    """Return arguments that make the table of transition-based parsers of a folder's corpora."""
    places = [str(folder / name) for name in ("train.conllu", "dev.conllu", "out")]
    times = ["--steps", str(steps), "--eval-frequency", str(steps)]
    sizes = SIZES.items() if start == "scratch" else ()
    settings = [f"initialize.components.g2g_parser.encoder.{name}={size}" for name, size in sizes]
    settings += [*QUICK, "training.dropout=0.0"]
    return ["transition", *places, "--start", start, *times, "--set", *settings, *more]


def read_peers(folder: Path, *more: str) -> argparse.Namespace:
    return peers.read_arguments(peers_arguments(folder, *more))


def peers_arguments(folder: Path, *more: str) -> list[str]:
    """Return arguments of `experiments.peers` for the corpora of a folder."""
    places = [str(folder / name) for name in ("train.conllu", "dev.conllu", "out")]
    return [*places, "--encoder", str(folder), *more]
