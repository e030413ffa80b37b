"""Fetch the CoNLL-U files of a Universal Dependencies treebank, and verify them by SHA-256.

    python -m project.treebank get TREEBANK TAG FOLDER CHECKSUMS --or-download BASE
    python -m project.treebank get TREEBANK TAG FOLDER CHECKSUMS --train F [--dev F] [--test F]
    python -m project.treebank verify FOLDER CHECKSUMS

TREEBANK may be several names, separated by spaces. FOLDER then has the joined sets, and a folder for each
treebank.

The first download writes CHECKSUMS, in the format of `sha256sum`. Every later download must give the same
files. With paths, nothing is downloaded: FOLDER gets the files at these paths as CoNLL-U. Their suffix says
whether they are CoNLL-U or CoNLL-X. A missing development set is made of the last tenth of the training set.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from wasabi import msg

from spacy_g2g.terminal.common import user_errors

from .treebank_files import (
    SPLITS,
    check_words,
    convert_files,
    describe_file,
    find_files,
    find_license,
    hold_out_dev,
    join_splits,
    join_treebanks,
    language_code,
    verify,
    write_checksums,
    write_source,
)
from .treebank_settings import UNSET, papers_treebanks, read_source, spacy_code
from .up_to_date import one_at_a_time, replaced

#: The origin that source.json has for files given by path.
FILES = "files"


def download(base: str, *, treebank: str, tag: str, folder: Path, checksums: Path) -> None:
    """Put train.conllu, dev.conllu and test.conllu of a treebank into a folder: all or nothing.

    base: URL of an organization of git repositories, or a local folder (path or file://) of git repositories
        or of plain folders. Plain folders have no tags.
    treebank: Name of a repository, or names of several.
    tag: Tag of the repositories.
    folder: Folder to make. If it exists, it is only verified.
    checksums: File with checksums; it is written if it does not exist.
    Raises SystemExit if a treebank, the tag or a set is missing, if a treebank is named twice or lacks most
        of its words, if files differ from the checksums, or if the folder has files given by path.
    """
    if folder.exists():
        if read_source(folder).get("origin") == FILES:
            raise SystemExit(
                f"{folder} is made of files by path. Expected train_path, or another name for a download."
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
            join_treebanks(names, staged)
        if checksums.exists():
            verify(staged, checksums=checksums)
        else:
            write_checksums(staged, checksums=checksums)
        staged.rename(folder)


def _stage(base: str, treebank: str, tag: str, target: Path, clone: Path) -> None:
    """Put the sets of one treebank and its source record into a new folder; see ``download``."""
    plain = _plain_folder(base, treebank)
    source = plain or _clone(base, treebank, tag, clone)
    target.mkdir(parents=True)
    parts = join_splits(treebank, source, target=target)
    prefix = parts["train"][0]["file"].partition("-ud-")[0]
    write_source(
        target,
        treebank=treebank,
        tag="" if plain else tag,
        origin=f"{base.rstrip('/')}/{treebank}",
        commit="" if plain else commit_of(source),
        prefix=prefix,
        code=spacy_code(prefix),
        license=find_license(target),
        parts=parts,
    )


def import_files(
    treebank: str,
    paths: Mapping[str, Path],
    folder: Path,
    *,
    checksums: Path,
    data_license: str = "",
) -> None:
    """Put the user's files into a folder as train.conllu, dev.conllu and test.conllu: all or nothing.

    treebank: Name for the data.
    paths: File of each set, or a folder whose treebank files are joined. Only the training set is needed; a
        missing development set is made of its end.
    folder: Folder to make. It replaces a folder of other files given by path.
    checksums: File for the checksums.
    data_license: License of the data.
    Raises SystemExit if a path can't be read, if a file lacks most of its words, if the name belongs to a UD
        treebank or has spaces, or if the folder is a download.
    """
    if treebank in papers_treebanks() or " " in treebank:
        raise SystemExit(
            f"{treebank} is the name of a UD treebank, or has spaces. Expected a name of your own for files "
            "by path, as in: --vars.treebank mine"
        )
    if "train" not in paths:
        raise SystemExit("There is no train_path. Expected train_path, and dev_path if you have one.")
    files = {split: find_files(path) for split, path in paths.items()}
    parts = {}
    for file in chain.from_iterable(files.values()):
        check_words(file)
    for split, split_files in files.items():
        parts[split] = [describe_file(file, str(file)) for file in split_files]
    if folder.exists():
        source = read_source(folder)
        if source.get("origin") != FILES:
            raise SystemExit(f"{folder} is a download. Expected another name for files by path.")
        if source["parts"] == parts and source["license"] == data_license:
            verify(folder, checksums=checksums)
            return
    with replaced(folder) as staged:
        for split, split_files in files.items():
            convert_files(split_files, staged / f"{split}.conllu")
        if "dev" not in files:
            hold_out_dev(staged)
        write_source(
            staged,
            treebank=treebank,
            tag="",
            origin=FILES,
            commit="",
            code=language_code(chain.from_iterable(files.values())),
            license=data_license,
            parts=parts,
        )
        write_checksums(staged, checksums=checksums)


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside a folder, and remove it at the end.

    It takes the place of the one that a killed run left behind.
    """
    temporary = folder.with_name(f".{folder.name}.download")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _plain_folder(base: str, treebank: str) -> Path | None:
    """Return the local folder of a treebank, or None if it is a git repository or not local."""
    path = local_path(base)
    if path is None:
        return None
    path = path / treebank
    if not path.is_dir():
        raise SystemExit(f"There is no folder {path}. Expected the treebank {treebank} in {base}.")
    is_repository = (path / ".git").exists() or (path / "HEAD").is_file()
    return None if is_repository else path


def local_path(base: str) -> Path | None:
    """Return the path that a path or a file:// address names, or None for other addresses."""
    if base.startswith("file://"):
        return Path(url2pathname(urlparse(base).path))
    return Path(base) if "://" not in base and not base.startswith("git@") else None


def _clone(base: str, treebank: str, tag: str, target: Path) -> Path:
    path = local_path(base)
    # git makes shallow clones of URLs only.
    root = path.resolve().as_uri() if path else base.rstrip("/")
    done = git(
        "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth=1", f"--branch={tag}", "--",
        f"{root}/{treebank}", str(target),
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(
            f"Can't clone {treebank} at the tag {tag!r} from {root}: expected a git repository with this "
            f"tag.\n{done.stderr.strip()}"
        )
    return target


def commit_of(repository: Path) -> str:
    """Return the commit of a repository."""
    return git("-C", str(repository), "rev-parse", "HEAD").stdout.strip()


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git, without questions to the user, and return what it printed."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return subprocess.run(
        ["git", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = cli.add_subparsers(dest="command", required=True)
    get, check = commands.add_parser("get"), commands.add_parser("verify")
    get.add_argument("treebank")
    get.add_argument("tag")
    for command in (get, check):
        command.add_argument("folder", type=Path)
        command.add_argument("checksums", type=Path)
    for split in SPLITS:
        get.add_argument(f"--{split}", default="", help="path of a file or folder; nothing is downloaded")
    source = "URL or local folder to download from, unless files are given by path"
    get.add_argument("--or-download", default="", help=source)
    get.add_argument("--license", default="", help="license of files given by path")
    return cli.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = read_arguments(arguments)
    with user_errors():
        if options.command == "verify":
            verify(options.folder, checksums=options.checksums)
            return
        with one_at_a_time(options.folder):
            fetch(options)


def fetch(options: argparse.Namespace) -> None:
    """Make or verify the folder of a treebank, by the arguments of the command."""
    values = {split: getattr(options, split) for split in SPLITS}
    paths = {split: Path(value) for split, value in values.items() if value not in UNSET}
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
