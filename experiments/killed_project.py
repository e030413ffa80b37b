"""Kill the project's workflows at random moments; compare what they make in the end with an undisturbed run.

    python -m experiments.killed_project OUTPUT [--kills 30] [--seed 0]

The workflows `all` and `jackknife` train a tiny parser and refiner on a few sentences of the sample treebank.
SIGKILL ends the workflow and its processes after a random time, and the same command starts again.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from wasabi import msg

from spacy_g2g.files import sha256_of

ROOT = Path(__file__).parents[1]
TREEBANK, WORKFLOWS = "UD_Xx-Tiny", ("all", "jackknife")
SIZES = {"train": 20, "dev": 4, "test": 4}
VARIABLES = {
    "treebank": TREEBANK,
    "encoder": "papers",
    "steps": "11",
    "refiner_steps": "11",
    "config": "configs/test/syntr_tiny.cfg",
    "refiner_config": "configs/test/rngtr_tiny.cfg",
    "folds": "2",
    "name": "tiny",
}


def make_project(folder: Path) -> None:
    """Copy what the workflows need of the project, and a treebank of the sample's first sentences."""
    for name in ("configs", "project"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "assets").mkdir()
    for name in ("project.yml", "assets/treebanks.json", "assets/papers.json"):
        shutil.copyfile(ROOT / name, folder / name)
    treebank = folder / "base" / TREEBANK
    treebank.mkdir(parents=True)
    for split, n in SIZES.items():
        text = (ROOT / f"assets/sample/en_sample-ud-{split}.conllu").read_text(encoding="utf8")
        sentences = "".join(f"{block}\n\n" for block in text.strip().split("\n\n")[:n])
        (treebank / f"xx_tiny-ud-{split}.conllu").write_text(sentences, encoding="utf8")


def start(folder: Path, workflow: str) -> subprocess.Popen[bytes]:
    """Start a workflow in a process group of its own."""
    values = {**VARIABLES, "ud_base": str(folder / "base")}
    options = [item for name, value in values.items() for item in (f"--vars.{name}", value)]
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, ".", *options]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1"}
    with (folder / f"{workflow}.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=folder, env=variables, stdout=log, stderr=log, start_new_session=True
        )


def run_undisturbed(folder: Path, workflow: str) -> float:
    """Run a workflow and return its seconds."""
    began = time.monotonic()
    if start(folder, workflow).wait():
        sys.exit(f"{workflow} failed: see {folder}")
    return time.monotonic() - began


def run_killed(folder: Path, workflow: str, seconds: float, n_kills: int, rng: random.Random) -> Counter[str]:
    """Run a workflow to its end after a number of kills, or fewer if it ends before.

    folder: Folder of the project.
    workflow: Name of the workflow.
    seconds: Longest time until a kill.
    n_kills: Number of kills.
    rng: Source of the times.
    Returns the number of kills in each step.
    """
    killed: Counter[str] = Counter()
    while True:
        process = start(folder, workflow)
        try:
            code = process.wait(rng.uniform(0, seconds) if killed.total() < n_kills else None)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed[last_step(folder / f"{workflow}.log")] += 1
            continue
        if code:
            sys.exit(f"{workflow} failed after {killed.total()} kills: see {folder}")
        return killed


def last_step(log: Path) -> str:
    """Return the module that a workflow ran last."""
    words = log.read_text(encoding="utf8", errors="replace").rpartition("Running command: ")[2].split()
    return words[2] if len(words) > 2 else "none"


def results(folder: Path) -> dict[str, str]:
    """Return digests of pipelines' components and of corpora, scores, and names of wheels."""
    files = [path for path in folder.glob("training/*/model-best/*") if path.suffix not in (".json", ".cfg")]
    files += folder.glob("corpus/*/*.spacy")
    files += (path for path in folder.glob("metrics/*/*.json") if path.name != "facts.json")
    found = {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
    return found | {path.name: "" for path in folder.glob("packages/**/*.whl")}


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("output", type=Path, help="folder that does not exist")
    cli.add_argument("--kills", type=int, default=30, help="number of kills")
    cli.add_argument("--seed", type=int, default=0, help="seed of their times")
    args = cli.parse_args()
    undisturbed, disturbed = args.output.resolve() / "undisturbed", args.output.resolve() / "killed"
    for folder in (undisturbed, disturbed):
        make_project(folder)
    rng, killed = random.Random(args.seed), Counter[str]()
    for workflow in WORKFLOWS:
        seconds = run_undisturbed(undisturbed, workflow)
        killed += run_killed(disturbed, workflow, seconds, args.kills // len(WORKFLOWS), rng)
    expected, found = results(undisturbed), results(disturbed)
    msg.text(f"{killed.total()} kills: {dict(killed)}. {len(expected)} results compared.")
    different = {name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)}
    if different:
        sys.exit(f"Different: {', '.join(sorted(different))}")
    msg.good("All results equal those of an undisturbed run")


if __name__ == "__main__":
    main()
