"""Release the library, or pipelines, with GitHub's command `gh`.

    python -m project.release notes TAG              print the section of CHANGELOG.md for a tag
    python -m project.release library TAG FILE...    release these files with that section
    python -m project.release pipelines TAG FOLDER   release the wheels of a folder

The tag of a library release is v and the version. A release of pipelines has a tag such as pipelines-0.1.0.
Besides the wheels, it has their cards, and pipelines.json with the file, SHA-256, size, scores, treebank and
licenses of each pipeline. This module needs only Python, so nothing must be installed first.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import spacy_g2g
from spacy_g2g.files import files_in, sha256_of, write_text

from .markdown import markdown_table

CHANGES = Path(__file__).parent.parent / "CHANGELOG.md"
LIST = "pipelines.json"
PIPELINES_TAG = re.compile(r"pipelines-\d+(\.\d+)*", re.ASCII)
#: Licenses of sources that let us distribute what was made from them: neither NC nor ND.
OPEN_LICENSE = re.compile(r"MIT|Apache-2\.0|CC0.*|CC[ -]BY([ -]SA)?[ -]\d\.\d( .*)?")
#: Keys of meta.json that pipelines.json copies.
FROM_META = ("lang", "name", "version", "description", "pipeline", "license", "sources", "requirements")
#: Sets of scores, by the beginning of their names in meta.json.
SCORED = ("dev", "test")


def release_notes(tag: str) -> str:
    """Return the section of the changelog for a tag of the library.

    Raises SystemExit if the tag isn't that of this version, or if the section is missing, has no date or is
    empty.
    """
    version = spacy_g2g.__version__
    if tag != f"v{version}":
        raise SystemExit(f"The tag is {tag!r}. Expected v{version}, the version of spacy_g2g/__init__.py.")
    for section in re.split(r"^## ", CHANGES.read_text(encoding="utf8"), flags=re.M)[1:]:
        heading, _, text = section.partition("\n")
        if re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading) and text.strip():
            return text.strip() + "\n"
    raise SystemExit(f"{CHANGES.name} has no section ## {version} (YYYY-MM-DD). Expected one with text.")


def describe_pipelines(folder: Path) -> list[dict[str, Any]]:
    """Write pipelines.json, and a card beside each wheel of a folder; return the content of pipelines.json.

    Raises SystemExit if there is no wheel, or if a source of a pipeline has no open license.
    """
    pipelines = [_describe(wheel) for wheel in files_in(folder, "*.whl", deep=False)]
    if not pipelines:
        raise SystemExit(f"There is no wheel in {folder}. Expected the wheels of pipelines.")
    write_text(folder / LIST, json.dumps(pipelines, indent=2, ensure_ascii=False) + "\n")
    return pipelines


def _describe(wheel: Path) -> dict[str, Any]:
    """Write the card of a wheel beside it; return its entry in pipelines.json."""
    with ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if re.fullmatch(r"\w+/[^/]+/meta\.json", name))
        meta = json.loads(archive.read(path))
        card = archive.read(path.replace("meta.json", "README.md")).decode("utf8")
    for source in meta["sources"]:
        if not OPEN_LICENSE.fullmatch(source["license"]):
            raise SystemExit(
                f"{wheel.name} was made from {source['name']}, whose license is {source['license']!r}. "
                "Expected MIT, Apache-2.0, CC0, CC BY or CC BY-SA."
            )
    name = f"{meta['lang']}_{meta['name']}-{meta['version']}.md"
    write_text(wheel.with_name(name), card)
    scores = {key: value for key, value in meta["performance"].items() if key.startswith(SCORED)}
    return {
        **{key: meta[key] for key in FROM_META},
        "treebank": meta["spacy_g2g"]["treebank"],
        "scores": scores,
        "file": wheel.name,
        "size": wheel.stat().st_size,
        "sha256": sha256_of(wheel),
        "card": name,
    }


def pipeline_notes(pipelines: Sequence[dict[str, Any]]) -> str:
    """Return the text of a release of pipelines: a table with a row for each pipeline."""
    rows = [("wheel", "components", "LAS, test set", "license of the treebank", "MB")]
    for pipeline in pipelines:
        las = pipeline["scores"].get("test_las")
        las = "-" if las is None else f"{100 * las:.2f}"
        parts = ", ".join(pipeline["pipeline"])
        rows.append((pipeline["file"], parts, las, pipeline["license"], f"{pipeline['size'] / 1e6:.0f}"))
    digests = f"SHA-256, all scores and all licenses are in {LIST}."
    return f"{markdown_table(rows)}\n\n{digests} The code is under the MIT license.\n"


def create_release(tag: str, files: Sequence[Path], notes: str) -> None:
    """Create a release with files and a text. Raises SystemExit if `gh` fails."""
    command = ["gh", "release", "create", tag, *map(str, files), "--title", tag, "--notes-file", "-"]
    done = subprocess.run(command, input=notes, text=True, encoding="utf8", check=False)
    if done.returncode:
        raise SystemExit(f"gh ended with status {done.returncode} for the release {tag}. Expected 0.")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("what", choices=("notes", "library", "pipelines"))
    cli.add_argument("tag")
    cli.add_argument(
        "paths", type=Path, nargs="*", help="files of the library, or the folder of the pipelines' wheels"
    )
    args = cli.parse_args()
    if args.what == "pipelines":
        if not PIPELINES_TAG.fullmatch(args.tag):
            raise SystemExit(f"The tag is {args.tag!r}. Expected one of pipelines, such as pipelines-0.1.0.")
        (folder,) = args.paths
        notes = pipeline_notes(describe_pipelines(folder))
        create_release(args.tag, sorted(folder.iterdir()), notes)
    elif args.what == "library":
        create_release(args.tag, args.paths, release_notes(args.tag))
    else:
        print(release_notes(args.tag), end="")


if __name__ == "__main__":
    main()
