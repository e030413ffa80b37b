"""Fetch the sets of an AMR corpus, and convert them to spaCy's format.

    python -m project.amr_data fetch NAME FOLDER --data SOURCE --train-ids IDS --dev-ids IDS [--test-ids IDS]
    python -m project.amr_data fetch NAME FOLDER --train SOURCE --dev SOURCE [--test SOURCE]
    python -m project.amr_data convert FOLDER OUTPUT [--words tokenizer] [--lang en]

A SOURCE is a URL, or the path of a file or of a folder of files (.txt, .amr). IDS are ids and ranges of ids,
separated by white space, as in "lpp_1943.289..1562". FOLDER gets train.txt, dev.txt and perhaps test.txt.
OUTPUT gets the same sets as .spacy files, without the AMRs that can't be read. Outputs that are up to date
are not made again, and nothing is downloaded while FOLDER exists.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from wasabi import msg

from spacy_g2g.amr.api import AMR_SUFFIXES, read_metadata, select_ids
from spacy_g2g.amr.convert_amr import convert_amr
from spacy_g2g.data.corpus import corpus_files
from spacy_g2g.terminal.common import user_errors

from .treebank import FILES, local_path
from .treebank_files import SPLITS, write_source
from .treebank_settings import AMR, UNSET, choose_language, read_source
from .up_to_date import is_up_to_date, one_at_a_time, record_sources, replaced, sources_of

#: Seconds without an answer before a download fails.
TIMEOUT = 60
#: Language code of corpora that name none.
LANG = "en"
WORDS = ("file", "tokenizer")

_HTML = re.compile(r"\s*<(!doctype|html|\?xml)\b", re.I)
_GRAPH = re.compile(r"^\s*\(", re.M)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")


@dataclass(frozen=True)
class Part:
    """Source of a set.

    source: URL or path.
    ids: Ids and ranges of ids, which ``select_ids`` reads; none for all AMRs.
    """

    source: str
    ids: tuple[str, ...] = ()


def choose_parts(data: str, sources: Mapping[str, str], *, ids: Mapping[str, str]) -> dict[str, Part]:
    """Return the source of each set.

    data: Source of all sets.
    sources: Source of each set. With any of them, ``data`` is not used.
    ids: Ids in ``data``, by set.
    Raises SystemExit without a training or a development set.
    """
    chosen = {split: source for split, source in sources.items() if source not in UNSET}
    parts = {split: Part(source) for split, source in chosen.items()}
    if not chosen and data not in UNSET:
        wanted = {split: tuple(text.split()) for split, text in ids.items() if text not in UNSET}
        parts = {split: Part(data, names) for split, names in wanted.items() if names}
    missing = [split for split in ("train", "dev") if split not in parts]
    if missing:
        names = " and no ".join(f"amr_{split}" for split in missing)
        raise SystemExit(
            f"There is no {names}. Expected amr_train and amr_dev, or amr_data with amr_train_ids and "
            "amr_dev_ids."
        )
    return parts


def fetch(name: str, folder: Path, parts: Mapping[str, Part], data_license: str) -> None:
    """Put the sets of a corpus into a folder as train.txt, dev.txt and test.txt: all of them or nothing.

    name: Name of the corpus.
    folder: Folder to make.
    parts: Source of each set.
    data_license: License of the data.
    Raises SystemExit if a source can't be read, has no AMRs, or has none of the ids.
    """
    sources = list(dict.fromkeys(part.source for part in parts.values()))
    # A file:// address is read as a path, to notice changes of the file.
    paths = {source: local_path(source) for source in sources}
    files = {source: corpus_files(path, AMR_SUFFIXES) for source, path in paths.items() if path is not None}
    by_path = {str(file): file for file in chain.from_iterable(files.values())}
    ids = {split: [part.source, *part.ids] for split, part in parts.items()}
    inputs = sources_of(by_path, name=name, license=data_license, parts=ids)
    if is_up_to_date(folder, inputs):
        return
    texts = {
        source: "\n\n".join(map(_read, files[source])) if source in files else _download(source)
        for source in sources
    }
    with replaced(folder) as staged:
        records = {
            split: _write_set(staged / f"{split}.txt", split, part, texts[part.source])
            for split, part in parts.items()
        }
        is_local = paths[parts["train"].source] is not None
        origin = FILES if is_local else parts["train"].source
        write_source(
            staged, kind=AMR, treebank=name, tag="", origin=origin, commit="", code=LANG,
            license=data_license, parts=records,
        )  # fmt: skip
    record_sources(folder, inputs)


def _read(path: Path) -> str:
    return _check(path.read_bytes(), str(path))


def _download(url: str) -> str:
    msg.info(f"Download of {url}")
    try:
        with urlopen(Request(url, headers={"User-Agent": "spacy-g2g"}), timeout=TIMEOUT) as response:
            content: bytes = response.read()
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise SystemExit(
            f"Can't download {url}: {error}. Expected a file of AMRs there; name another address, or the "
            "path of a file, by --vars.amr_data or --vars.amr_train and others."
        ) from error
    return _check(content, url)


def _check(content: bytes, source: str) -> str:
    """Return the text of a file; raise SystemExit if it has no AMRs."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SystemExit(
            f"{source}: byte {error.object[error.start]} at {error.start} is not UTF-8. Expected text."
        ) from error
    if _HTML.match(text):
        raise SystemExit(
            f"{source} is a page of HTML, not data: it begins with {_start(text)}. Expected a file of AMRs."
        )
    if not _GRAPH.search(text):
        raise SystemExit(
            f"{source} has no AMR: it begins with {_start(text)}. Expected comments such as # ::id and "
            "# ::snt, then a graph such as (b / bark-01), and an empty line after it."
        )
    return text


def _start(text: str) -> str:
    return repr(text.strip()[:60])


def _write_set(path: Path, split: str, part: Part, text: str) -> dict[str, Any]:
    """Write the AMRs of a set unchanged; return source, checksum, ids and number."""
    blocks = _EMPTY_LINES.split(text.strip())
    # The comments at the start of a file are not a block.
    blocks = [block for block in blocks if _GRAPH.search(block) or _id(block)]
    if part.ids:
        is_wanted, ids = select_ids(part.ids), [_id(block) for block in blocks]
        blocks = [block for block, name in zip(blocks, ids, strict=True) if is_wanted(name)]
        if not blocks:
            raise SystemExit(
                f"{part.source} has no AMR with the ids {' '.join(part.ids)!r}. Expected amr_{split}_ids "
                f"among its {len(ids)} ids, the first of which is {ids[0]!r}."
            )
    content = "".join(f"{block}\n\n" for block in blocks)
    path.write_text(content, encoding="utf8", newline="")
    sha = hashlib.sha256(content.encode("utf8")).hexdigest()
    msg.good(f"{split}: {len(blocks)} AMRs of {part.source}")
    return {"file": part.source, "sha256": sha, "ids": " ".join(part.ids), "amrs": len(blocks)}


def _id(block: str) -> str:
    comments = (line.strip() for line in block.splitlines())
    return read_metadata(line for line in comments if line.startswith("#")).get("id", "")


def convert(folder: Path, *, output: Path, words: str, lang: str) -> None:
    """Write the fetched sets as .spacy files, without the AMRs that can't be read.

    folder: Folder that ``fetch`` made.
    output: Folder for the files.
    words: "file" for the words in the file, "tokenizer" to tokenize the text.
    lang: Language code of the tokenizer.
    """
    lang = choose_language(lang, read_source(folder))
    for split in SPLITS:
        source, target = folder / f"{split}.txt", output / f"{split}.spacy"
        if not source.exists():
            target.unlink(missing_ok=True)
            continue
        inputs = sources_of({"amrs": source}, words=words, lang=lang)
        if is_up_to_date(target, inputs):
            continue
        convert_amr([source], target, gold_tokens=words == "file", on_error="skip", lang=lang)
        record_sources(target, inputs)


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = cli.add_subparsers(dest="command", required=True)
    command = commands.add_parser("fetch")
    command.add_argument("name", help="name of the corpus")
    command.add_argument("folder", type=Path, help="folder for train.txt, dev.txt and test.txt")
    command.add_argument("--data", default="", help="URL or path of AMRs of all sets")
    command.add_argument("--license", default="", help="license of the data")
    for split in SPLITS:
        command.add_argument(f"--{split}-ids", default="", help="ids of a set in --data")
        command.add_argument(f"--{split}", default="", help="URL or path of a set; --data is then not read")
    command = commands.add_parser("convert")
    command.add_argument("folder", type=Path, help="folder that fetch made")
    command.add_argument("output", type=Path, help="folder for train.spacy, dev.spacy and test.spacy")
    command.add_argument("--words", choices=WORDS, default=WORDS[0], help="words of the file or a tokenizer")
    command.add_argument("--lang", default="", help=f"language code of the tokenizer; empty for {LANG}")
    return cli.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    args = read_arguments(arguments)
    with user_errors():
        if args.command == "convert":
            with one_at_a_time(args.output):
                convert(args.folder, output=args.output, words=args.words, lang=args.lang)
            return
        sources = {split: getattr(args, split) for split in SPLITS}
        ids = {split: getattr(args, f"{split}_ids") for split in SPLITS}
        data_license = "" if args.license in UNSET else args.license
        with one_at_a_time(args.folder):
            fetch(args.name, args.folder, choose_parts(args.data, sources, ids=ids), data_license)


if __name__ == "__main__":
    main()
