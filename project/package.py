"""Package a trained pipeline with its model card.

    python -m project.package MODEL FOLDER METRICS OUTPUT --name NAME --version VERSION

OUTPUT gets the folder that `spacy package` makes, with a wheel in `dist`. First, a description, licenses,
sources, scores and the facts of its training are added to the pipeline's meta.json and to a README.md
(project/model_card.py). A package that is up to date is not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, product
from pathlib import Path

from spacy.cli.package import package

from spacy_g2g.files import files_in
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.terminal.common import user_errors

from .model_card import COMPARED, WORDNET, complete_meta, model_card
from .summary import summary
from .timing import SPEED_FILE
from .treebank_settings import joined_treebanks, read_source
from .up_to_date import (
    is_up_to_date,
    one_at_a_time,
    out_of_the_way,
    read_facts,
    read_json,
    record_sources,
    sources_of,
)

#: Names with the language code, and versions, of packages. Folders and Python modules are named after them.
NAME, VERSION = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]+)+"), re.compile(r"[0-9][A-Za-z0-9.+-]*")
#: Number of arcs of a label from which its score is told.
FREQUENT = 20
SETS = ("dev", "test", "dev_raw", "test_raw")
WORDNET_LICENSE = Path(__file__).parent.parent / "assets" / "wordnet-license.txt"


def stage(model: Path, *, data: Path, metrics: Path, folder: Path, name: str, version: str) -> None:
    """Copy a pipeline, by hard links if possible, and add its card.

    model: Folder of the pipeline.
    data: Folder of the treebank, with its license.
    metrics: Folder of the scores.
    folder: Folder to make, for `spacy package`.
    name: Name of the package, after the language code.
    version: Version of the package.
    """
    shutil.copytree(model, folder, copy_function=_link)
    meta = read_json(model / "meta.json")
    facts = read_facts(metrics) or {"treebank": read_source(data), "training": read_facts(model.parent)}
    names = [f"{name}/" for name in joined_treebanks(facts["treebank"])] or ["", *COMPARED]
    keys = ["".join(pair) for pair in product(names, SETS)]
    scores = {key: found for key in keys if (found := read_json(metrics / f"{key}.json"))}
    size = sum(file.stat().st_size for file in files_in(model))
    meta |= {"name": name, "version": version}
    speed, labels = read_json(metrics / SPEED_FILE), frequent_labels(data / "dev.conllu")
    meta = complete_meta(meta, facts=facts, scores=scores, size=size, speed=speed, frequent_labels=labels)
    _write(folder / "meta.json", json.dumps(meta, indent=2, ensure_ascii=False) + "\n")
    _write(folder / "README.md", model_card(meta))
    licenses = files_in(data, "LICENSE*")
    if licenses:
        text = "".join(path.read_text(encoding="utf8", errors="replace") for path in licenses)
        _write(folder / "LICENSE", text)
        names = [f"{source['name']}: {source.get('license', 'unknown')}\n" for source in meta["sources"]]
        text = "".join(names) + f"\nLicense of the treebank:\n\n{text}"
        if WORDNET in meta["sources"]:
            text += f"\n{WORDNET_LICENSE.read_text(encoding='utf8')}"
        _write(folder / "LICENSES_SOURCES", text)


def frequent_labels(dev: Path) -> list[str]:
    """Return the labels that a treebank has at least ``FREQUENT`` times, in alphabetic order.

    dev: Development set. Without this file there are none.
    """
    sentences = read_conllu(dev) if dev.exists() else ()
    words = chain.from_iterable(sentence.words for sentence in sentences)
    counts = Counter(word.deprel for word in words)
    return sorted(label for label, n in counts.items() if n >= FREQUENT)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # a hard link shares the file
    path.write_text(text, encoding="utf8")


def check_names(name: str, *, version: str) -> None:
    """Raise SystemExit for a name or version that could lead out of a folder, or into a generated file."""
    for what, value, pattern in (("name", name, NAME), ("version", version, VERSION)):
        if not pattern.fullmatch(value):
            raise SystemExit(
                f"The {what} of the package is {value!r}. Expected letters, digits and underscores, as in "
                "en_g2g, of a language code and a name; and a version such as 0.1.0."
            )


@contextmanager
def log_of_failure(log: Path) -> Iterator[None]:
    """Write what this process and those that it starts print to a file. Show it only if an error ends this.

    log: File to write.
    """
    sys.stdout.flush()
    streams = {stream: os.dup(stream) for stream in (1, 2)}
    with log.open("wb") as file:
        for stream in streams:
            os.dup2(file.fileno(), stream)
    failed = True
    try:
        yield
        failed = False
    finally:
        sys.stdout.flush()
        for stream, saved in streams.items():
            os.dup2(saved, stream)
            os.close(saved)
        if failed:
            sys.stderr.write(log.read_text(encoding="utf8", errors="replace"))


def make_package(args: argparse.Namespace) -> Path:
    """Make the wheel, unless it is up to date, and return the package's folder.

    args: Arguments of the command.
    """
    inputs = {"model": args.model, "card": Path(__file__).with_name("model_card.py")}
    found = {path.relative_to(args.metrics): path for path in files_in(args.metrics, "[!.]*.json")}
    inputs |= {f"metrics_{path.with_suffix('').as_posix()}": found[path] for path in found}
    made = sources_of(inputs, name=args.name, version=args.version)
    lang = read_json(args.model / "meta.json")["lang"]
    name = args.name if args.name.startswith(f"{lang}_") else f"{lang}_{args.name}"
    check_names(name, version=args.version)
    output: Path = args.output / f"{name}-{args.version}"
    if is_up_to_date(output, made):
        return output
    unfinished = args.output / ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        stage(
            args.model,
            data=args.folder,
            metrics=args.metrics,
            folder=unfinished / "pipeline",
            name=name.removeprefix(f"{lang}_"),
            version=args.version,
        )
        with log_of_failure(unfinished / "log.txt"):
            package(unfinished / "pipeline", unfinished, create_sdist=False, create_wheel=True, silent=False)
        if not files_in(unfinished / output.name / "dist", "*.whl"):
            raise SystemExit(f"No wheel was built for {output}: expected one, see above.")
        with out_of_the_way(output):
            (unfinished / output.name).rename(output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    record_sources(output, made)
    return output


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path, help="folder of a trained pipeline")
    cli.add_argument("folder", type=Path, help="folder of the treebank, with its license")
    cli.add_argument("metrics", type=Path, help="folder of the pipeline's scores")
    cli.add_argument("output", type=Path, help="folder for the package's folder")
    cli.add_argument("--name", required=True, help="name of the package, after the language code")
    cli.add_argument("--version", required=True, help="version of the package")
    installs = "do not tell what to do next, since the wheel is installed next"
    cli.add_argument("--installs", action="store_true", help=installs)
    args = cli.parse_args()
    with user_errors(), one_at_a_time(args.output):
        made = make_package(args)
    if not args.installs:
        print("\n".join(summary(made)))


if __name__ == "__main__":
    main()
