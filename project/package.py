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
from itertools import product
from pathlib import Path

from spacy.cli.package import package

from .model_card import COMPARED, WORDNET, complete_meta, model_card
from .treebank_settings import joined_treebanks, read_source
from .up_to_date import is_up_to_date, one_at_a_time, read_facts, read_json, record_sources, sources_of

#: Names with the language code, and versions, of packages. Folders and Python modules are named after them.
NAME, VERSION = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]+)+"), re.compile(r"[0-9][A-Za-z0-9.+-]*")
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
    size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    meta |= {"name": name, "version": version}
    meta = complete_meta(meta, facts=facts, scores=scores, size=size)
    _write(folder / "meta.json", json.dumps(meta, indent=2, ensure_ascii=False) + "\n")
    _write(folder / "README.md", model_card(meta))
    licenses = sorted(data.rglob("LICENSE*"))
    if licenses:
        text = "".join(path.read_text(encoding="utf8", errors="replace") for path in licenses)
        _write(folder / "LICENSE", text)
        names = [f"{source['name']}: {source.get('license', 'unknown')}\n" for source in meta["sources"]]
        text = "".join(names) + f"\nLicense of the treebank:\n\n{text}"
        if WORDNET in meta["sources"]:
            text += f"\n{WORDNET_LICENSE.read_text(encoding='utf8')}"
        _write(folder / "LICENSES_SOURCES", text)


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


def make_package(args: argparse.Namespace) -> None:
    """Make the wheel, unless it is up to date. Arguments are those of the command."""
    inputs = {"model": args.model, "card": Path(__file__).with_name("model_card.py")}
    found = {path.relative_to(args.metrics): path for path in sorted(args.metrics.rglob("[!.]*.json"))}
    inputs |= {f"metrics_{path.with_suffix('').as_posix()}": found[path] for path in found}
    made = sources_of(inputs, name=args.name, version=args.version)
    lang = read_json(args.model / "meta.json")["lang"]
    name = args.name if args.name.startswith(f"{lang}_") else f"{lang}_{args.name}"
    check_names(name, version=args.version)
    output = args.output / f"{name}-{args.version}"
    if is_up_to_date(output, made):
        return
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
        package(unfinished / "pipeline", unfinished, create_sdist=False, create_wheel=True, silent=False)
        if not list((unfinished / output.name / "dist").glob("*.whl")):
            raise SystemExit(f"No wheel was built for {output}: expected one, see above.")
        shutil.rmtree(output, ignore_errors=True)
        (unfinished / output.name).rename(output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    record_sources(output, made)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("model", type=Path, help="folder of a trained pipeline")
    cli.add_argument("folder", type=Path, help="folder of the treebank, with its license")
    cli.add_argument("metrics", type=Path, help="folder of the pipeline's scores")
    cli.add_argument("output", type=Path, help="folder for the package's folder")
    cli.add_argument("--name", required=True, help="name of the package, after the language code")
    cli.add_argument("--version", required=True, help="version of the package")
    args = cli.parse_args()
    with one_at_a_time(args.output):
        make_package(args)


if __name__ == "__main__":
    main()
