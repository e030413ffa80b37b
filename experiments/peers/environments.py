"""Peers: their settings, and the virtual environments that they run in."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wasabi import msg

ROOT = Path(__file__).resolve().parents[2]
PEERS_FOLDER = Path(__file__).resolve().parent
ADAPTERS = PEERS_FOLDER / "adapters"
#: Files of this repository that are installed as the peer "g2g".
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "spacy_g2g")
#: Number of lines of a log that are shown after a failure.
LAST_LINES = 5

Settings = Mapping[str, Any]


class PeerError(Exception):
    """A peer failed; the message is the end of its output."""


@dataclass(frozen=True)
class Peer:
    """A parser that is trained.

    title: Title of its row.
    adapter: Script that runs it.
    settings: Settings by name. "own" are those that the peer recommends for fine-tuning. "shared" are our
        batches and rates: 800 words an update, 2e-4 for the encoder, and ten times as much for the rest if a
        peer has two rates. "fast" is the same with 4e-4 for the encoder, "small" with 400 words an update,
        and "slow" with 400 words an update and 5e-5 for the encoder. "staged" has 200 words an update: three
        epochs of the parser on a frozen encoder at 1e-3, and then of both at 1e-4.
        Warm-up and decay depend on the number of updates.
    config: Config for `spacy train`; None for other peers.
    """

    title: str
    adapter: str
    settings: Mapping[str, Settings]
    config: Path | None = None


RATE = "training.optimizer.learn_rate.initial_rate"
SIZE = "training.batcher.size"
OWN_SPACY: Settings = {RATE: 5e-5}
SHARED_SPACY: Settings = {
    RATE: 2e-4,
    "training.accumulate_gradient": 1,
    SIZE: 800,
    "training.batcher.buffer": 1000,
}
SUPAR: Settings = {"lr_rate": 10, "warmup": 0.1, "encoder_dropout": 0.1}
PEERS = {
    "spacy": Peer(
        "spaCy, parser",
        "spacy_adapter.py",
        {
            "own": OWN_SPACY,
            "shared": SHARED_SPACY,
            "small": {**SHARED_SPACY, SIZE: 400},
            "slow": {**SHARED_SPACY, **OWN_SPACY, SIZE: 400},
            "staged": {**SHARED_SPACY, RATE: 1e-4, SIZE: 200, "frozen": {"epochs": 3, "rate": 1e-3}},
        },
        PEERS_FOLDER / "spacy_parser.cfg",
    ),
    "experimental": Peer(
        "spacy-experimental, biaffine",
        "spacy_adapter.py",
        {"own": OWN_SPACY, "shared": SHARED_SPACY},
        PEERS_FOLDER / "experimental_parser.cfg",
    ),
    "supar": Peer(
        "SuPar, biaffine",
        "supar_adapter.py",
        {
            "own": {**SUPAR, "batch_size": 5000, "lr": 5e-5, "lr_rate": 20},
            "shared": {**SUPAR, "batch_size": 800, "lr": 2e-4},
            "fast": {**SUPAR, "batch_size": 800, "lr": 4e-4, "lr_rate": 5},
            "small": {**SUPAR, "batch_size": 400, "lr": 2e-4},
        },
    ),
    "stanza": Peer(
        "Stanza, graph",
        "stanza_adapter.py",
        {
            # Its encoder would start to learn after 500 updates, and its second optimizer, whose rates
            # are lower and which is its way of decay, take over after 10,000: see its adapter.
            "own": {"batch_size": 5000},
            "shared": {
                "batch_size": 800,
                "optim": "adamw",
                "lr": 2e-3,
                "bert_learning_rate": 0.1,
                "second_optim": "adamw",
                "second_lr": 2e-4,
                "second_bert_learning_rate": 0.1,
            },
        },
    ),
    "hopsparser": Peer(
        "hopsparser, graph",
        "hops_adapter.py",
        {
            # One rate for all; sizes of batches in words are turned into sentences, as it counts.
            "own": {"words": 160, "mlp_input": 1024, "lr": {"base": 3e-5, "shape": "constant"}},
            "shared": {"words": 800, "mlp_input": 400, "lr": {"base": 2e-4, "shape": "linear"}},
            "fast": {"words": 800, "mlp_input": 400, "lr": {"base": 1e-3, "shape": "linear"}},
        },
    ),
    "g2g": Peer(
        "SynTr, this library",
        "spacy_adapter.py",
        {
            "shared": {"components.g2g_parser.model.encoder_rate_factor": 0.1},
            "fast": {"components.g2g_parser.model.encoder_rate_factor": 0.2},
            "small": {"components.g2g_parser.model.encoder_rate_factor": 0.1, SIZE: 400},
        },
        ROOT / "configs" / "syntr_pretrained.cfg",
    ),
}


# Environments


def make_environment(name: str, folder: Path, args: argparse.Namespace) -> Path:
    """Make a peer's virtual environment, unless it is there and up to date; return its Python.

    name: Name of the peer.
    folder: Folder of the environment.
    args: Arguments of the command.
    """
    python, stamp = folder / "bin" / "python", folder / "made_of"
    made_of = fingerprint(name, args)
    if stamp.exists() and stamp.read_text(encoding="utf8") == made_of:
        return python
    msg.divider(f"{name}: virtual environment")
    log = folder.with_name(f"{name}.log")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    run([args.python, "-m", "venv", str(folder)], log)
    install = [str(python), "-m", "pip", "install"]
    with tempfile.TemporaryDirectory() as place:
        run([*install, *requirements(name, args, Path(place))], log)
    alone = files_of(name)[1:]
    if alone:
        run([*install, "--no-deps", "--requirement", str(alone[0])], log)
    stamp.write_text(made_of, encoding="utf8")
    return python


def files_of(name: str) -> list[Path]:
    """Return the files of a peer's requirements: the second, if any, is installed without dependencies."""
    files = (PEERS_FOLDER / "requirements" / f"{name}{kind}.txt" for kind in ("", "_alone"))
    return [file for file in files if file.exists()]


def requirements(name: str, args: argparse.Namespace, place: Path) -> list[str]:
    """Return arguments of `pip install`.

    name: Name of the peer.
    args: Arguments of the command.
    place: Empty folder; our sources are copied there and built.
    """
    is_spacy = PEERS[name].adapter == "spacy_adapter.py"
    gpu = ["--requirement", str(*files_of("gpu"))] if is_spacy and args.gpu >= 0 else []
    if name != "g2g":
        return ["--requirement", str(files_of(name)[0]), *gpu]
    for source in SOURCES:
        path = args.source / source
        (shutil.copytree if path.is_dir() else shutil.copy)(path, place / source)
    return ["--constraint", str(args.source / "constraints.txt"), str(place), *gpu]


def fingerprint(name: str, args: argparse.Namespace) -> str:
    """Return a digest of what an environment is made of: requirements, Python, and our sources for "g2g"."""
    files = files_of(name)
    if name == "g2g":
        files = [args.source / "constraints.txt", args.source / "pyproject.toml"]
        files += sorted((args.source / "spacy_g2g").rglob("*.py"))
    digest = hashlib.sha256(f"{args.python} {args.gpu >= 0}".encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest() + "\n"


def run(
    command: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> None:
    """Run a command.

    command: Program and arguments.
    log: File that its output is added to.
    environment: Variables to set.
    timeout: Seconds before it is stopped; None for no limit.
    Raises PeerError, with the last lines of its output, if it fails.
    """
    with log.open("a", encoding="utf8") as output:
        try:
            done = subprocess.run(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=os.environ | {"NO_COLOR": "1"} | (environment or {}),
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"took more than {timeout:g} seconds: {last_lines(log)}") from error
        except OSError as error:
            raise PeerError(str(error)) from error
    if done.returncode:
        raise PeerError(f"exit status {done.returncode}: {last_lines(log)}")


def last_lines(log: Path) -> str:
    lines = log.read_text(encoding="utf8", errors="replace").splitlines()
    return " / ".join([line.strip() for line in lines if line.strip()][-LAST_LINES:])
