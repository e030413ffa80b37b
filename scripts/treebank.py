"""Fetch the CoNLL-U files of a Universal Dependencies treebank and verify them by SHA-256.

    python scripts/treebank.py download BASE TREEBANK TAG FOLDER CHECKSUMS
    python scripts/treebank.py verify FOLDER CHECKSUMS

The first download writes CHECKSUMS, in the format of `sha256sum`; every later one must give the same files.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

SPLITS = ("train", "dev", "test")
DOCUMENTS = ("LICENSE*", "README*")


class TreebankError(Exception):
    """What is wrong with a treebank, and what was expected."""


def download(base: str, treebank: str, tag: str, folder: Path, checksums: Path) -> None:
    """Put train.conllu, dev.conllu and test.conllu of a treebank into a folder, or nothing at all.

    base: Where the treebank is: the URL of an organisation of git repositories, or a local folder (as a path
        or file://) of git repositories or of plain folders, which have no tags.
    tag: A tag of the repository.
    folder: Is only verified if it exists.
    checksums: File of checksums; made where there is none.
    Raises TreebankError where there is no such treebank or tag, where a split is missing, and for files that
    differ from the checksums.
    """
    if folder.exists():
        verify(folder, checksums)
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder.parent) as temporary:
        source = _plain_folder(base, treebank) or _clone(base, treebank, tag, Path(temporary) / "clone")
        staged = Path(temporary) / "staged"
        staged.mkdir()
        _join_splits(treebank, source, staged)
        if checksums.exists():
            verify(staged, checksums)
        else:
            _write_checksums(staged, checksums)
        staged.rename(folder)


def verify(folder: Path, checksums: Path) -> None:
    """Compare the files of a folder with the checksums. Raises TreebankError naming those that differ."""
    if not checksums.exists():
        raise TreebankError(
            f"There are no checksums for {folder}: expected {checksums}. "
            "Remove the folder to download it again."
        )
    lines = checksums.read_text(encoding="utf8").splitlines()
    expected = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    found = _digests(folder)
    differ = sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))
    if differ:
        raise TreebankError(
            f"SHA-256 differs from {checksums}: {', '.join(differ)}. Expected the files of the first "
            f"download; remove {checksums.name} if the treebank was changed on purpose."
        )


def _plain_folder(base: str, treebank: str) -> Path | None:
    """The local folder of a treebank that is not a git repository, if it is one."""
    path = _local(base)
    if path is None:
        return None
    path = path / treebank
    if not path.is_dir():
        raise TreebankError(f"There is no folder {path}. Expected the treebank {treebank} in {base}.")
    is_repository = (path / ".git").exists() or (path / "HEAD").is_file()
    return None if is_repository else path


def _local(base: str) -> Path | None:
    if base.startswith("file://"):
        return Path(url2pathname(urlparse(base).path))
    return Path(base) if "://" not in base and not base.startswith("git@") else None


def _clone(base: str, treebank: str, tag: str, target: Path) -> Path:
    path = _local(base)
    # As a URL, since git makes no shallow clones of paths.
    root = path.resolve().as_uri() if path else base.rstrip("/")
    command = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth=1"]
    command += [f"--branch={tag}", "--", f"{root}/{treebank}", str(target)]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise TreebankError(
            f"Can't clone {treebank} at the tag {tag!r} from {root}: expected a git repository with this "
            f"tag.\n{done.stderr.strip()}"
        )
    return target


def _join_splits(treebank: str, source: Path, target: Path) -> None:
    """Write a file for each split; training sets may come in parts (-train-a, -train-b)."""
    for split in SPLITS:
        parts = sorted(source.glob(f"*-ud-{split}*.conllu"))
        if not parts:
            names = ", ".join(sorted(path.name for path in source.glob("*.conllu"))) or "no .conllu file"
            raise TreebankError(
                f"{treebank} has no {split} set: expected *-ud-{split}.conllu, found {names}. "
                "Choose a treebank that has training, development and test sets."
            )
        with (target / f"{split}.conllu").open("wb") as output:
            for part in parts:
                output.write(part.read_bytes())
    for pattern in DOCUMENTS:
        for path in source.glob(pattern):
            shutil.copyfile(path, target / path.name)


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


def _write_checksums(folder: Path, checksums: Path) -> None:
    checksums.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{digest}  {name}\n" for name, digest in _digests(folder).items()]
    temporary = checksums.with_name(f".{checksums.name}.new")
    temporary.write_text("".join(lines), encoding="utf8")
    temporary.replace(checksums)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("download", "verify"):
        command = commands.add_parser(name)
        for argument in ("base", "treebank", "tag") if name == "download" else ():
            command.add_argument(argument)
        command.add_argument("folder", type=Path)
        command.add_argument("checksums", type=Path)
    options = vars(parser.parse_args(arguments))
    run = {"download": download, "verify": verify}[options.pop("command")]
    try:
        run(**options)
    except TreebankError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
