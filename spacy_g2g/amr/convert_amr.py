"""``convert-amr``: AMR files to spaCy's DocBin."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.tokens import DocBin

from ..data.corpus import corpus_files
from ..files import atomic_path
from ..terminal.common import check_suffix, progress
from ..terminal.messages import msg
from ..terminal.options import Silent
from .api import AMR_SUFFIXES, AmrReader, OnError


@dataclass
class AmrCounts:
    """Numbers of converted items. ``skipped`` has a message for each AMR that was left out."""

    amrs: int = 0
    words: int = 0
    skipped: list[str] = field(default_factory=list)


def convert_amr(
    inputs: Annotated[list[Path], typer.Argument(help="AMR files (.txt, .amr) or folders of them")],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write")],
    *,
    ids: Annotated[
        list[str] | None,
        typer.Option("--ids", "-i", help="Id or range of ids to convert (lpp_1943.1..145); may be repeated"),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Maximum number of AMRs to convert; 0 for all")
    ] = 0,
    on_error: Annotated[
        str, typer.Option("--on-error", help="Treatment of unreadable AMRs: raise or skip")
    ] = "raise",
    gold_tokens: Annotated[
        bool,
        typer.Option(
            "--gold-tokens/--no-gold-tokens",
            help="Take words from ::tok (or from ::snt split at white space), or tokenize ::snt",
        ),
    ] = True,
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language code of the tokenizer")] = "en",
    silent: Silent = False,
) -> AmrCounts:
    """Convert AMR files to spaCy's binary format, with one Doc per sentence.

    Docs have the AMRs in doc._.amr and keep their ids.
    """
    check_suffix(output, [".spacy"])
    how = cast(OnError, on_error)
    reader = AmrReader(gold_tokens=gold_tokens, ids=ids or None, limit=limit, on_error=how)
    files: list[Path] = []
    for path in inputs:
        files += corpus_files(path, AMR_SUFFIXES)
    counts = AmrCounts()
    doc_bin = DocBin(store_user_data=True)
    for doc in progress(reader.read(spacy.blank(lang), files), unit="AMRs", silent=silent):
        counts.words += len(doc)
        doc_bin.add(doc)
    counts.amrs, counts.skipped = len(doc_bin), reader.skipped
    with atomic_path(output) as temporary:
        doc_bin.to_disk(temporary)
    if not silent:
        left_out = f", {len(counts.skipped)} left out" if counts.skipped else ""
        msg.good(f"{counts.amrs} AMRs, {counts.words} words{left_out}: {output}")
    return counts
