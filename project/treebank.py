"""Fetch the CoNLL-U files of a Universal Dependencies treebank and verify them by SHA-256.

    python -m project.treebank get TREEBANK TAG FOLDER CHECKSUMS --or-download BASE
    python -m project.treebank get TREEBANK TAG FOLDER CHECKSUMS --train F --dev F [--test F]
    python -m project.treebank verify FOLDER CHECKSUMS

TREEBANK may be several names, separated by spaces: FOLDER then has a folder for each treebank, and their sets
joined.

The first download writes CHECKSUMS, in the format of `sha256sum`. Every later download must give the same
files. With paths, nothing is downloaded: FOLDER gets these files, which are CoNLL-U or CoNLL-X by their
suffix, as CoNLL-U.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from wasabi import msg

from spacy_g2g.files import sha256_of, write_text
from spacy_g2g.formats.conllu import read_conllu, write_conllu
from spacy_g2g.formats.conllx import TREEBANK_SUFFIXES
from spacy_g2g.terminal.common import user_errors, write_json

from .treebank_settings import NEUTRAL, SOURCE, UNSET, papers_treebanks, read_source
from .up_to_date import one_at_a_time, today

SPLITS = ("train", "dev", "test")
DOCUMENTS = ("LICENSE*", "README*")
#: The origin of a folder that was not downloaded.
FILES = "files"
#: Address or name of a Creative Commons license.
CREATIVE_COMMONS = re.compile(
    r"creativecommons\.org/licenses/(?P<terms>by[a-z-]*)/(?P<version>\d\.\d)"
    r"|(?P<words>Attribution(?:-(?:NonCommercial|ShareAlike|NoDerivatives|NoDerivs))*) (?P<number>\d\.\d)",
    re.I,
)
TERMS = {
    "attribution": "by", "noncommercial": "nc", "sharealike": "sa", "noderivatives": "nd", "noderivs": "nd"
}  # fmt: skip


def download(base: str, *, treebank: str, tag: str, folder: Path, checksums: Path) -> None:
    """Put train.conllu, dev.conllu and test.conllu of a treebank into a folder: all of them or nothing.

    base: URL of an organization of git repositories, or a local folder (path or file://) of git repositories
        or of plain folders, which have no tags.
    treebank: Name of the repository, or names of several.
    tag: Tag of the repositories.
    folder: Folder to make. If it exists, it is only verified.
    checksums: File with checksums; it is written if it does not exist.
    Raises SystemExit if a treebank, the tag or a set is missing, if a treebank is named twice, if files
    differ from the checksums, or if the folder has files by path.
    """
    if folder.exists():
        if read_source(folder).get("origin") == FILES:
            raise SystemExit(
                f"{folder} is made of files by path. Expected train_path and dev_path, or another name for a "
                "download."
            )
        verify(folder, checksums=checksums)
        return
    names = treebank.split()
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SystemExit(f"The treebank {', '.join(twice)} is named twice in {treebank!r}. Expected it once.")
    with staging_folder(folder) as temporary:
        staged = temporary / "staged"
        for name in names:
            _stage(base, name, tag, staged / name if names[1:] else staged, temporary / f"{name}.clone")
        if names[1:]:
            _join_treebanks(names, tag, staged)
        if checksums.exists():
            verify(staged, checksums=checksums)
        else:
            _write_checksums(staged, checksums)
        staged.rename(folder)


def _stage(base: str, treebank: str, tag: str, target: Path, clone: Path) -> None:
    """Put the sets of one treebank and the record of its source into a new folder; see ``download``."""
    plain = _plain_folder(base, treebank)
    source = plain or _clone(base, treebank, tag, clone)
    target.mkdir(parents=True)
    parts = _join_splits(treebank, source, target)
    prefix = parts["train"][0]["file"].partition("-ud-")[0]
    write_source(
        target,
        treebank=treebank,
        tag=tag,
        origin=f"{base.rstrip('/')}/{treebank}",
        commit="" if plain else _commit(source),
        prefix=prefix,
        code=prefix.split("_")[0],
        license=find_license(target),
        parts=parts,
    )


def _join_treebanks(names: Sequence[str], tag: str, folder: Path) -> None:
    """Join the sets of treebanks, which are in folders of their names, and record their sources."""
    for split in SPLITS:
        _concatenate([folder / name / f"{split}.conllu" for name in names], folder / f"{split}.conllu")
    treebanks = [read_source(folder / name) for name in names]
    codes = list(dict.fromkeys(each["code"] for each in treebanks))
    licenses = list(dict.fromkeys(each["license"] for each in treebanks))
    write_source(
        folder,
        treebank=" and ".join(names),
        tag=tag,
        code=NEUTRAL if codes[1:] else codes[0],
        license=" and ".join(licenses),
        treebanks=treebanks,
    )


def import_files(
    treebank: str,
    paths: Mapping[str, Path],
    folder: Path,
    *,
    checksums: Path,
    data_license: str = "",
    hold_out: bool = False,
) -> None:
    """Put files of the user into a folder as train.conllu, dev.conllu and test.conllu: all or nothing.

    treebank: Name for the data.
    paths: Files by set, or folders whose treebank files are joined. A test set is not needed.
    folder: Folder to make. Other files by path in it are replaced.
    checksums: File for the checksums.
    data_license: License of the data.
    hold_out: Whether the last tenth of the training set becomes the development set if there is none.
    Raises SystemExit if a path can't be read, the name is a UD treebank's or several names, or the folder is
    a download.
    """
    if treebank in papers_treebanks() or " " in treebank:
        raise SystemExit(
            f"{treebank} is the name of a UD treebank, or has spaces. Expected a name of your own for files "
            "by path, as in: --vars.treebank mine"
        )
    needed = ("train",) if hold_out else ("train", "dev")
    missing = [f"{split}_path" for split in needed if split not in paths]
    if missing:
        raise SystemExit(f"There is no {' and no '.join(missing)}. Expected train_path and dev_path.")
    files = {split: _files_at(path) for split, path in paths.items()}
    parts = {}
    for split, found in files.items():
        parts[split] = [_describe(path, str(path)) for path in found]
    if folder.exists():
        source = read_source(folder)
        if source.get("origin") != FILES:
            raise SystemExit(f"{folder} is a download. Expected another name for files by path.")
        if source["parts"] == parts and source["license"] == data_license:
            verify(folder, checksums=checksums)
            return
    with staging_folder(folder) as temporary:
        staged = temporary / "staged"
        staged.mkdir()
        for split, found in files.items():
            _write_conllu(found, staged / f"{split}.conllu")
        if "dev" not in files:
            _hold_out(staged)
        write_source(
            staged, treebank=treebank, tag="", origin=FILES, commit="", license=data_license, parts=parts
        )
        if folder.exists():
            folder.rename(temporary / "old")
        _write_checksums(staged, checksums)
        staged.rename(folder)


def verify(folder: Path, *, checksums: Path) -> None:
    """Compare the files of a folder with the checksums.

    Raises SystemExit, which names the files that differ.
    """
    if not checksums.exists():
        raise SystemExit(
            f"There are no checksums for {folder}: expected {checksums}. "
            "Remove the folder to download it again."
        )
    lines = checksums.read_text(encoding="utf8").splitlines()
    expected = {}
    for line in lines:
        digest, name = line.split("  ", 1)
        expected[name] = digest
    actual = _digests(folder)
    differ = sorted(name for name in {*expected, *actual} if expected.get(name) != actual.get(name))
    if differ:
        raise SystemExit(
            f"SHA-256 differs from {checksums}: {', '.join(differ)}. Expected the files of the first "
            f"download; remove {checksums.name} if the treebank was changed on purpose."
        )


def find_license(folder: Path) -> str:
    """Return the license in a treebank's README (machine-readable metadata) or LICENSE; else "unknown"."""
    for path in sorted(folder.glob("README*")):
        match = re.search(r"^License:\s*(\S.*?)\s*$", path.read_text(encoding="utf8", errors="replace"), re.M)
        if match:
            return match[1]
    for path in sorted(folder.glob("LICENSE*")):
        match = CREATIVE_COMMONS.search(path.read_text(encoding="utf8", errors="replace"))
        if match:
            terms = match["terms"] or "-".join(TERMS[word] for word in match["words"].lower().split("-"))
            return f"CC {terms.upper()} {match['version'] or match['number']}"
    return "unknown"


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside another; remove it at the end, and the one of a killed run too."""
    temporary = folder.with_name(f".{folder.name}.download")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _plain_folder(base: str, treebank: str) -> Path | None:
    """Return the local folder of a treebank; None if it is a git repository or not local."""
    path = local_path(base)
    if path is None:
        return None
    path = path / treebank
    if not path.is_dir():
        raise SystemExit(f"There is no folder {path}. Expected the treebank {treebank} in {base}.")
    is_repository = (path / ".git").exists() or (path / "HEAD").is_file()
    return None if is_repository else path


def local_path(base: str) -> Path | None:
    """Return a path, or the path of a file:// address; None for other addresses."""
    if base.startswith("file://"):
        return Path(url2pathname(urlparse(base).path))
    return Path(base) if "://" not in base and not base.startswith("git@") else None


def _clone(base: str, treebank: str, tag: str, target: Path) -> Path:
    path = local_path(base)
    # git makes shallow clones of URLs only.
    root = path.resolve().as_uri() if path else base.rstrip("/")
    done = _git(
        "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth=1", f"--branch={tag}", "--",
        f"{root}/{treebank}", str(target),
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(
            f"Can't clone {treebank} at the tag {tag!r} from {root}: expected a git repository with this "
            f"tag.\n{done.stderr.strip()}"
        )
    return target


def _commit(repository: Path) -> str:
    return _git("-C", str(repository), "rev-parse", "HEAD").stdout.strip()


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return subprocess.run(
        ["git", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _join_splits(treebank: str, source: Path, target: Path) -> dict[str, list[dict[str, str]]]:
    """Write a file for each set, whose parts (-train-a, -train-b) are joined; return the parts."""
    parts = {}
    for split in SPLITS:
        paths = sorted(_own_files(source, f"*-ud-{split}*.conllu"), key=_natural_order)
        if not paths:
            names = ", ".join(sorted(path.name for path in source.glob("*.conllu"))) or "no .conllu file"
            raise SystemExit(
                f"{treebank} has no {split} set: expected *-ud-{split}.conllu, found {names}. "
                "Choose a treebank that has all three sets, or give files by --vars.train_path and "
                "--vars.dev_path, with another name as --vars.treebank; they need no test set."
            )
        _concatenate(paths, target / f"{split}.conllu")
        parts[split] = [_describe(path, path.name) for path in paths]
    for pattern in DOCUMENTS:
        for path in _own_files(source, pattern):
            shutil.copyfile(path, target / path.name)
    return parts


def _own_files(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield files of a folder; links that lead out of it, which could give away any file, are left out."""
    root = folder.resolve()
    for path in folder.glob(pattern):
        if path.is_file() and path.resolve().is_relative_to(root):
            yield path


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a key for sorting: part 10 comes after part 9, and a file without parts before them."""
    return [
        (int(piece or -1), "") if i % 2 else (0, piece)
        for i, piece in enumerate(re.split(r"(\d+)", path.stem))
    ]


def _concatenate(paths: Sequence[Path], target: Path) -> None:
    """Join files byte for byte, with an empty line after each."""
    with target.open("wb") as output:
        for path in paths:
            content = path.read_bytes()
            output.write(content)
            ending = content[-4:].replace(b"\r", b"")
            if path != paths[-1] and not ending.endswith(b"\n\n"):
                output.write(b"\n" if ending.endswith(b"\n") else b"\n\n")


def _files_at(path: Path) -> list[Path]:
    files = [path]
    if path.is_dir():
        files = sorted((p for p in path.iterdir() if p.suffix in TREEBANK_SUFFIXES), key=_natural_order)
    if not files or not files[0].is_file() or files[0].suffix not in TREEBANK_SUFFIXES:
        expected = ", ".join(TREEBANK_SUFFIXES)
        raise SystemExit(
            f"There is no treebank at {path}. Expected a file, or a folder of files: {expected}."
        )
    return files


def _write_conllu(paths: Sequence[Path], target: Path) -> None:
    with target.open("w", encoding="utf8", newline="") as output:
        output.writelines(write_conllu(chain.from_iterable(map(read_conllu, paths))))


def _hold_out(folder: Path) -> None:
    """Move the last tenth of the sentences of train.conllu, which are one or more, to dev.conllu."""
    sentences = [*read_conllu(folder / "train.conllu")]
    if len(sentences) < 2:
        raise SystemExit(f"There are {len(sentences)} sentences by train_path. Expected two or more.")
    edge = len(sentences) - max(1, len(sentences) // 10)
    for split, part in (("train", sentences[:edge]), ("dev", sentences[edge:])):
        (folder / f"{split}.conllu").write_text("".join(write_conllu(part)), encoding="utf8", newline="")


def _describe(path: Path, name: str) -> dict[str, str]:
    return {"file": name, "sha256": sha256_of(path)}


def write_source(folder: Path, **source: Any) -> None:
    """Record the source of a folder's files, with the date; ``read_source`` reads it."""
    write_json(folder / SOURCE, {**source, "date": today()})


def _digests(folder: Path) -> dict[str, str]:
    """Return the digests of all files but the record of their source."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SOURCE)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def _write_checksums(folder: Path, checksums: Path) -> None:
    lines = [f"{digest}  {name}\n" for name, digest in _digests(folder).items()]
    write_text(checksums, "".join(lines))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("get", "verify"):
        command = commands.add_parser(name)
        for argument in ("treebank", "tag") if name == "get" else ():
            command.add_argument(argument)
        command.add_argument("folder", type=Path)
        command.add_argument("checksums", type=Path)
        for split in SPLITS if name == "get" else ():
            command.add_argument(
                f"--{split}", default="", help="path of a file or folder; nothing is downloaded"
            )
        if name == "get":
            source = "URL or local folder to download from, unless files are given by path"
            command.add_argument("--or-download", default="", help=source)
            command.add_argument("--license", default="", help="license of files by path")
            held_out = "take the last tenth of the training files as development set if none is given"
            command.add_argument("--hold-out", action="store_true", help=held_out)
    options = parser.parse_args(arguments)
    # Files of an unfinished download are removed after SIGTERM, too.
    with user_errors():
        if options.command == "verify":
            verify(options.folder, checksums=options.checksums)
            return
        with one_at_a_time(options.folder):
            fetch(options)


def fetch(options: argparse.Namespace) -> None:
    """Make or verify the folder of a treebank. Arguments are those of the command."""
    given = {split: getattr(options, split) for split in SPLITS}
    paths = {split: Path(path) for split, path in given.items() if path not in UNSET}
    if paths:
        msg.info(
            f"{options.treebank} is made of {', '.join(map(str, paths.values()))}; nothing is downloaded"
        )
        data_license = "" if options.license in UNSET else options.license
        import_files(
            options.treebank,
            paths,
            options.folder,
            checksums=options.checksums,
            data_license=data_license,
            hold_out=options.hold_out,
        )
    else:
        download(
            options.or_download,
            treebank=options.treebank,
            tag=options.tag,
            folder=options.folder,
            checksums=options.checksums,
        )


if __name__ == "__main__":
    main()
