"""The files in a treebank's folder: sets joined into one file each, license, checksums and source record."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_g2g.files import files_in, sha256_of, write_text
from spacy_g2g.formats.conllu import read_conllu, write_conllu
from spacy_g2g.formats.conllx import TREEBANK_SUFFIXES
from spacy_g2g.terminal.common import write_json

from .treebank_settings import NEUTRAL, SOURCE, read_source, spacy_code
from .up_to_date import today

SPLITS = ("train", "dev", "test")
DOCUMENTS = ("LICENSE*", "README*")
#: Language code and name of a treebank at the beginning of the names of its files.
LANGUAGE = re.compile(r"([a-z]{2,3}_[a-z0-9]+)-ud-")
#: Address or name of a Creative Commons license.
CREATIVE_COMMONS = re.compile(
    r"creativecommons\.org/licenses/(?P<terms>by[a-z-]*)/(?P<version>\d\.\d)"
    r"|(?P<words>Attribution(?:-(?:NonCommercial|ShareAlike|NoDerivatives|NoDerivs))*) (?P<number>\d\.\d)",
    re.I,
)
#: Line of a word, and of one whose form the treebank leaves out, in CoNLL-U and CoNLL-X.
WORD, NO_FORM = re.compile(rb"^\d+\t", re.M), re.compile(rb"^\d+\t_\t", re.M)
TERMS = {
    "attribution": "by", "noncommercial": "nc", "sharealike": "sa", "noderivatives": "nd", "noderivs": "nd"
}  # fmt: skip


# Sets


def join_splits(treebank: str, source: Path, *, target: Path) -> dict[str, list[dict[str, str]]]:
    """Write one file for each set of a treebank, and copy the treebank's license and README.

    The parts of a set (-train-a, -train-b) are joined.

    treebank: Name of the treebank, for messages.
    source: Folder of the treebank.
    target: Folder to write to.
    Returns the name and checksum of each part, by set. A treebank may lack the test set. A missing
    development set is made of the end of the training set.
    Raises SystemExit if the training set is missing, or if a file lacks most of its words.
    """
    parts = {}
    for split in SPLITS:
        paths = sorted(_own_files(source, f"*-ud-{split}*.conllu"), key=_natural_order)
        if not paths and split == "train":
            names = (
                ", ".join(path.name for path in files_in(source, "*.conllu", deep=False)) or "no .conllu file"
            )
            raise SystemExit(
                f"{treebank} has no train set: expected *-ud-train.conllu, found {names}. Choose a treebank "
                "that has one, or give a file by --vars.train_path, with another name as --vars.treebank."
            )
        for path in paths:
            check_words(path)
        if paths:
            _concatenate(paths, target / f"{split}.conllu")
            parts[split] = [describe_file(path, path.name) for path in paths]
    if "dev" not in parts:
        hold_out_dev(target)
    for pattern in DOCUMENTS:
        for path in _own_files(source, pattern):
            shutil.copyfile(path, target / path.name)
    return parts


def join_treebanks(names: Sequence[str], folder: Path) -> None:
    """Join the sets of several treebanks, and record their sources.

    names: Names of the treebanks.
    folder: Folder with a folder for each treebank. It gets the joined sets.
    """
    for split in SPLITS:
        paths = [folder / name / f"{split}.conllu" for name in names]
        if found := [path for path in paths if path.exists()]:
            _concatenate(found, folder / f"{split}.conllu")
    treebanks = [read_source(folder / name) for name in names]
    codes = list(dict.fromkeys(each["code"] for each in treebanks))
    tags = list(dict.fromkeys(each["tag"] for each in treebanks))
    licenses = list(dict.fromkeys(each["license"] for each in treebanks))
    write_source(
        folder,
        treebank=" and ".join(names),
        tag="" if tags[1:] else tags[0],
        code=NEUTRAL if codes[1:] else codes[0],
        license=" and ".join(licenses),
        treebanks=treebanks,
    )


def hold_out_dev(folder: Path) -> None:
    """Move the last tenth of the sentences of train.conllu, at least one, to dev.conllu."""
    sentences = [*read_conllu(folder / "train.conllu")]
    if len(sentences) < 2:
        raise SystemExit(f"There are {len(sentences)} sentences to train on. Expected two or more.")
    edge = len(sentences) - max(1, len(sentences) // 10)
    msg.info(
        f"There is no development set: it is made of the last {len(sentences) - edge} training sentences"
    )
    for split, part in (("train", sentences[:edge]), ("dev", sentences[edge:])):
        (folder / f"{split}.conllu").write_text("".join(write_conllu(part)), encoding="utf8", newline="")


def find_files(path: Path) -> list[Path]:
    """Return the treebank files at a path, which is a file or a folder of files.

    Raises SystemExit if there are none.
    """
    files = [path]
    if path.is_dir():
        files = sorted((p for p in path.iterdir() if p.suffix in TREEBANK_SUFFIXES), key=_natural_order)
    if not files or not files[0].is_file() or files[0].suffix not in TREEBANK_SUFFIXES:
        expected = ", ".join(TREEBANK_SUFFIXES)
        raise SystemExit(
            f"There is no treebank at {path}. Expected a file, or a folder of files: {expected}."
        )
    return files


def check_words(path: Path) -> None:
    """Raise SystemExit if most words of a treebank file are _, as where a license forbids to pass them on."""
    content = path.read_bytes()
    n_words, n_missing = len(WORD.findall(content)), len(NO_FORM.findall(content))
    if n_missing > 0.5 * n_words:
        raise SystemExit(
            f"{path} lacks its words: {n_missing} of {n_words} ({n_missing / n_words:.0%}) are _. Some "
            "treebanks are released without their text. Expected a file with words; the README of the "
            "treebank says how to get them. Then give the file by --vars.train_path, with another name as "
            "--vars.treebank."
        )


def convert_files(paths: Sequence[Path], target: Path) -> None:
    """Join CoNLL-U and CoNLL-X files into one CoNLL-U file."""
    with target.open("w", encoding="utf8", newline="") as output:
        output.writelines(write_conllu(chain.from_iterable(map(read_conllu, paths))))


def _own_files(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files of a folder. A link that leads out of the folder could give away any file: skip it."""
    root = folder.resolve()
    for path in files_in(folder, pattern, deep=False):
        if path.is_file() and path.resolve().is_relative_to(root):
            yield path


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a sort key that puts a file without parts first, and part 10 after part 9."""
    return [
        (int(piece or -1), "") if i % 2 else (0, piece)
        for i, piece in enumerate(re.split(r"(\d+)", path.stem))
    ]


def _concatenate(paths: Sequence[Path], target: Path) -> None:
    """Join files byte for byte, and separate them by an empty line."""
    with target.open("wb") as output:
        for path in paths:
            content = path.read_bytes()
            output.write(content)
            ending = content[-4:].replace(b"\r", b"")
            if path != paths[-1] and not ending.endswith(b"\n\n"):
                output.write(b"\n" if ending.endswith(b"\n") else b"\n\n")


# Records of the files


def find_license(folder: Path) -> str:
    """Return the license that a treebank's README (in its metadata) or LICENSE names, or "unknown"."""
    for path in files_in(folder, "README*", deep=False):
        match = re.search(r"^License:\s*(\S.*?)\s*$", path.read_text(encoding="utf8", errors="replace"), re.M)
        if match:
            return match[1]
    for path in files_in(folder, "LICENSE*", deep=False):
        match = CREATIVE_COMMONS.search(path.read_text(encoding="utf8", errors="replace"))
        if match:
            terms = match["terms"] or "-".join(TERMS[word] for word in match["words"].lower().split("-"))
            return f"CC {terms.upper()} {match['version'] or match['number']}"
    return "unknown"


def describe_file(path: Path, name: str) -> dict[str, str]:
    """Return a name and checksum for the source record."""
    return {"file": name, "sha256": sha256_of(path)}


def language_code(files: Iterable[Path]) -> str:
    """Return the language code in the names of treebank files, such as tr_imst-ud-train.conllu, or ""."""
    found = {spacy_code(match[1]) if (match := LANGUAGE.match(file.name)) else "" for file in files}
    return found.pop() if len(found) == 1 else ""


def write_source(folder: Path, **source: Any) -> None:
    """Record the source of a folder's files, with the date; ``read_source`` reads it."""
    write_json(folder / SOURCE, {**source, "date": today()})


def write_checksums(folder: Path, *, checksums: Path) -> None:
    """Write the checksums of a folder's files, in the format of `sha256sum`."""
    lines = [f"{digest}  {name}\n" for name, digest in _digests(folder).items()]
    write_text(checksums, "".join(lines))


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


def _digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file except the source record."""
    files = [path for path in files_in(folder) if path.is_file() and path.name != SOURCE]
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
