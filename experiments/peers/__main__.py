"""Train other parsers and ours on the same encoder, sentences and epochs, and compare them.

    python -m experiments.peers TRAIN DEV OUTPUT --encoder FOLDER ...

TRAIN and DEV are .conllu files; --encoder is a folder with a BERT-type checkpoint, which every parser
fine-tunes. Each peer is installed into a virtual environment of its own, OUTPUT/venvs/PEER. There its adapter
(adapters/) runs it as a program; none of its code is ours. Each parser is trained for --epochs on gold words
and sentences, without tags. It is evaluated on DEV, or on --check-sentences of it, after each epoch, and the
best model is kept.

All files of a model are in OUTPUT/SENTENCESxEPOCHS/PEER/SETTINGS/SEED. An interrupted run goes on, and rows
may be trained in several runs (`--rows` without names trains none). A peer that cannot be installed, trained
or scored is a row with the reason; the next run tries it again.

When all are trained, those that are there parse DEV and the files of --test one after the other, on the same
threads: NAME.conllu beside a model has its trees, for `g2g analyze`, where NAME is "dev" or the name of the
file. `udeval` of udtools scores them. The figures of a file are kept; --again parses and times everything
again. The output is table.json and table.md: for each peer the settings with the best LAS on DEV, as the mean
over --seeds. Ours is compared with each peer by the paired bootstrap over the sentences of all seeds.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wasabi import msg

from spacy_g2g.formats.conllu import read_conllu

from ..table.report import compare
from ..table.scores import count
from .environments import ADAPTERS, LAST_LINES, PEERS, ROOT, Peer, PeerError, make_environment, run
from .files import fill_trees, prepare, read_json, write_json, write_text
from .table import OURS, make_table, markdown

METRICS = ("UAS", "LAS", "CLAS")
#: Names of the files beside a model that are not named after a file of --test.
OWN_FILES = ("train", "dev", "check", "job", "error")


class Training(NamedTuple):
    """One training of a peer.

    peer: Name of the peer.
    settings: Name of its settings.
    seed: Seed of the training.
    """

    peer: str
    settings: str
    seed: int

    def __str__(self) -> str:
        return f"{self.peer}, {self.settings} settings, seed {self.seed}"


def make_job(training: Training, args: argparse.Namespace) -> dict[str, Any]:
    """Return an adapter's job: what it is to train."""
    peer = PEERS[training.peer]
    return {
        "config": str(peer.config),
        "settings": dict(peer.settings[training.settings]),
        "encoder": str(args.encoder),
        "train": str(args.folder / "train.conllu"),
        "dev": str(args.folder / "check.conllu"),
        "epochs": args.epochs,
        "seed": training.seed,
        "threads": args.threads,
        # Number of the only GPU that it can see.
        "gpu": min(args.gpu, 0),
        "model": str(folder_of(training, args) / "model"),
    }


def folder_of(training: Training, args: argparse.Namespace) -> Path:
    return Path(args.folder, training.peer, training.settings, str(training.seed))


def train(training: Training, args: argparse.Namespace) -> None:
    """Train a model, unless it is there. The reason of a failure is kept in error.txt."""
    folder, job = folder_of(training, args), make_job(training, args)
    if (folder / "train.json").exists():
        if read_json(folder / "job.json")["settings"] != job["settings"]:
            msg.warn(f"{folder}: trained with other settings than the present ones, see job.json")
        return
    msg.divider(str(training))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "job.json", job)
    with failures(folder):
        python = make_environment(training.peer, args.venvs / training.peer, args)
        run_adapter("train", python, PEERS[training.peer], folder, args)


class failures:  # noqa: N801
    """A context in which a peer may fail. The reason is printed and written to error.txt of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "error.txt"

    def __enter__(self) -> None:
        self.path.unlink(missing_ok=True)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, PeerError):
            return False
        msg.fail(str(error))
        self.path.write_text(f"{error}\n", encoding="utf8")
        return True


def run_adapter(task: str, python: Path, peer: Peer, folder: Path, args: argparse.Namespace) -> None:
    """Run an adapter on the job file of a task. It writes the result if it succeeds."""
    job = folder / ("job.json" if task == "train" else f"{task}.job.json")
    kind = "train" if task == "train" else "parse"
    result = folder / f"{task}.json"
    command = [str(python), str(ADAPTERS / peer.adapter), kind, str(job), str(result)]
    (folder / f"{task}.log").unlink(missing_ok=True)
    run(command, folder / f"{task}.log", devices(args), 60 * args.timeout or None)


def devices(args: argparse.Namespace) -> dict[str, str]:
    """Return environment variables that set an adapter's GPU and its threads of the CPU."""
    variables = {"TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": str(args.gpu)}
    return variables | {f"{name}_NUM_THREADS": str(args.threads) for name in ("OMP", "MKL", "OPENBLAS")}


def score(training: Training, part: str, gold: Path, args: argparse.Namespace) -> None:
    """Parse a file with a trained model, time it and score it.

    training: The training of the model.
    part: "dev", or the name of a file of --test.
    gold: Treebank of that part.
    args: Arguments of the command.
    """
    folder = folder_of(training, args)
    result = folder / f"{part}.json"
    if not (folder / "train.json").exists() or (result.exists() and not args.again):
        return
    msg.info(f"{training}: {part}")
    parsed = folder / f"{part}.parsed.conllu"
    job = make_job(training, args)
    job |= {"input": str(args.folder / f"{part}.conllu"), "output": str(parsed), "runs": args.runs}
    write_json(folder / f"{part}.job.json", job)
    with failures(folder):
        python = make_environment(training.peer, args.venvs / training.peer, args)
        result.unlink(missing_ok=True)
        run_adapter(part, python, PEERS[training.peer], folder, args)
        fill_trees(gold, parsed=parsed, target=folder / f"{part}.conllu")
        parsed.unlink()
        try:
            scores = official_scores(gold, system=folder / f"{part}.conllu")
        except BaseException:  # Whatever stops it, a result without scores would be kept.
            result.unlink()
            raise
        write_json(result, read_json(result) | {"scores": scores})


def official_scores(gold: Path, *, system: Path) -> dict[str, float]:
    """Return F1 in percent by metric, from the command `udeval` of udtools."""
    command = shutil.which("udeval") or shutil.which("udeval", path=str(Path(sys.executable).parent))
    if command is None:
        raise SystemExit("The command udeval is not there: expected udtools to be installed")
    done = subprocess.run(
        [command, "-v", "--no-enhanced", str(gold), str(system)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PeerError(f"udeval: {' / '.join(done.stderr.splitlines()[-LAST_LINES:])}")
    return read_scores(done.stdout)


def read_scores(table: str) -> dict[str, float]:
    """Return F1 in percent by metric, from the table that udeval prints."""
    scores = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] in METRICS:
            scores[cells[0]] = float(cells[3])
    return scores


def collect(training: Training, args: argparse.Namespace) -> dict[str, Any] | None:
    """Return all facts about a model; None if its training was never tried."""
    folder = folder_of(training, args)
    if not folder.exists():
        return None
    error = folder / "error.txt"
    facts = {part: read_json(folder / f"{part}.json") for part in ("train", *parts_of(args))}
    size = sum(path.stat().st_size for path in best_model(folder / "model"))
    return facts | {
        "seed": training.seed,
        "bytes": size,
        "error": error.read_text(encoding="utf8").strip() if error.exists() else None,
    }


def compare_ours(settings: Mapping[str, str], part: str, args: argparse.Namespace) -> dict[str, Any]:
    """Compare our LAS with that of each peer, over the sentences of all seeds that both have.

    settings: Names of the settings by peer.
    part: "dev", or the name of a file of --test.
    args: Arguments of the command.
    Returns comparisons by peer, as of ``compare``.
    """
    gold = list(read_conllu(parts_of(args)[part], trees="full"))
    counts: dict[str, dict[int, Any]] = {name: {} for name in settings}
    for name, seed in itertools.product(settings, args.seeds):
        parsed = folder_of(Training(name, settings[name], seed), args) / f"{part}.conllu"
        if parsed.exists():
            counts[name][seed] = count(gold, read_conllu(parsed))
    ours = counts.pop(OURS, {})
    comparisons = {name: compare(ours, other=theirs) for name, theirs in counts.items()}
    return {name: comparison for name, comparison in comparisons.items() if comparison}


def best_model(folder: Path) -> Iterable[Path]:
    """Return the files of a trained model: those of model-best if there is one."""
    best = folder / "model-best"
    return (path for path in (best if best.exists() else folder).rglob("*") if path.is_file())


def parts_of(args: argparse.Namespace) -> dict[str, Path]:
    """Return the files to parse by name."""
    return {"dev": args.dev, **{path.stem: path for path in args.test}}


def hardware(args: argparse.Namespace) -> dict[str, Any]:
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text(encoding="utf8").splitlines() if cpu.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    gpu = {}
    if args.gpu >= 0 and (command := shutil.which("nvidia-smi")):
        query = [command, f"--id={args.gpu}", "--query-gpu=name", "--format=csv,noheader"]
        gpu = {"gpu": subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()}
    processor = names[0] if names else platform.processor() or platform.machine()
    return {"processor": processor, "cores": len(cores) or os.cpu_count(), "threads": args.threads} | gpu


# The command


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("train", type=Path, help="training corpus, .conllu")
    add("dev", type=Path, help="development corpus, .conllu")
    add("output", type=Path, help="folder for virtual environments, models and tables")
    add("--encoder", type=Path, required=True, help="folder of a BERT-type checkpoint")
    add("--test", type=Path, nargs="+", default=[], help="other .conllu files to score on")
    add("--sentences", type=int, default=0, help="first sentences of TRAIN; 0 for all")
    add("--check-sentences", type=int, default=0, help="of DEV, that tell the best epoch; 0 for all")
    add("--epochs", type=int, default=10, help="for every parser")
    add("--rows", nargs="*", choices=PEERS, default=list(PEERS), help="what is trained; none without names")
    add(
        "--settings",
        nargs="+",
        choices=sorted(all_settings()),
        default=["shared"],
        help="a model for each that a peer has",
    )
    add("--seeds", type=int, nargs="+", default=[0], help="a model for each of them")
    add("--threads", type=int, default=1, help="of the CPU")
    add("--gpu", type=int, default=-1, help="GPU to use; -1 for the CPU")
    add("--runs", type=int, default=3, help="timed runs of parsing, after a warm-up; the best counts")
    add("--again", action="store_true", help="parse and time anew what is parsed already")
    add("--timeout", type=float, default=0, help="minutes for training or parsing; 0 for no limit")
    add("--python", default=sys.executable, help="for the virtual environments")
    add("--venvs", type=Path, help="folder of the virtual environments, if not OUTPUT/venvs")
    add("--source", type=Path, default=ROOT, help="folder of the sources of this library to install")
    args = cli.parse_args(arguments)
    check_arguments(cli, args)
    args.folder = args.output.resolve() / f"{args.sentences or 'all'}x{args.epochs}"
    args.venvs = (args.venvs or args.output / "venvs").resolve()
    args.source, args.encoder = args.source.resolve(), args.encoder.resolve()
    return args


def check_arguments(cli: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    for path in (args.train, args.dev, *args.test):
        if path.suffix != ".conllu" or not path.is_file():
            cli.error(f"{path}: expected a CoNLL-U file, named .conllu")
    taken = set(OWN_FILES)
    for path in args.test:
        if path.stem in taken:
            own = ", ".join(OWN_FILES)
            cli.error(f"--test: expected files with different names, and none of {own}, got {path.stem}")
        taken.add(path.stem)
    if not (args.encoder / "config.json").is_file():
        cli.error(f"--encoder {args.encoder}: expected a folder with config.json")
    for name in ("sentences", "check_sentences"):
        if getattr(args, name) < 0:
            cli.error(f"--{name.replace('_', '-')} {getattr(args, name)}: expected 0 or more")
    for name in ("epochs", "threads", "runs"):
        if getattr(args, name) < 1:
            cli.error(f"--{name} {getattr(args, name)}: expected 1 or more")


def all_settings() -> list[str]:
    """Return the names of the settings of all peers, in the order of the peers."""
    return [*dict.fromkeys(itertools.chain.from_iterable(peer.settings for peer in PEERS.values()))]


def trainings(args: argparse.Namespace, *, peers: Iterable[str], settings: Iterable[str]) -> list[Training]:
    """Return the trainings of some peers, with those of the settings that each peer has, for all seeds."""
    every = itertools.product(args.seeds, [name for name in PEERS if name in peers], settings)
    return [Training(name, chosen, seed) for seed, name, chosen in every if chosen in PEERS[name].settings]


def main(arguments: Sequence[str] | None = None) -> None:
    args = read_arguments(arguments)
    golds = parts_of(args)
    args.folder.mkdir(parents=True, exist_ok=True)
    prepare(args.train, target=args.folder / "train.conllu", n=args.sentences)
    prepare(args.dev, target=args.folder / "check.conllu", n=args.check_sentences, spread=True)
    for part, gold in golds.items():
        prepare(gold, target=args.folder / f"{part}.conllu")
    for training in trainings(args, peers=args.rows, settings=args.settings):
        train(training, args)
    every = trainings(args, peers=PEERS, settings=all_settings())
    for part, gold in golds.items():
        for training in every:
            score(training, part, gold, args)
    facts = {training: collect(training, args) for training in every}
    tried = {training: fact for training, fact in facts.items() if fact is not None}
    setup = {"train": args.train.name, "sentences": args.sentences, "epochs": args.epochs}
    setup |= {
        "check_sentences": args.check_sentences,
        "dev": args.dev.name,
        "test": [path.stem for path in args.test],
        "hardware": hardware(args),
    }
    table = make_table({name: peer.title for name, peer in PEERS.items()}, tried, setup)
    settings = {name: row["settings"] for name, row in table["rows"].items()}
    table["comparisons"] = {part: compare_ours(settings, part, args) for part in golds}
    write_json(args.folder / "table.json", table)
    write_text(args.folder / "table.md", markdown(table))
    print(markdown(table))


if __name__ == "__main__":
    main()
