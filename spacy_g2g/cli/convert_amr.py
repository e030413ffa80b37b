"""``convert-amr``: AMR files to spaCy's DocBin."""

from pathlib import Path
from typing import Annotated, NamedTuple, cast

import spacy
import typer
from spacy.tokens import DocBin

from ..amr.api import AMR_SUFFIXES, AmrOptions, AmrReader, OnError
from ..data.corpus import corpus_files
from ..files import atomic_path
from .common import check_suffix, progress
from .messages import msg
from .options import Silent


class AmrCounts(NamedTuple):
    """Numbers of converted items; ``skipped`` has a message for each AMR that was left out."""

    amrs: int
    words: int
    skipped: list[str]


def convert_amr(
    inputs: Annotated[list[Path], typer.Argument(help="AMR files (.txt, .amr) or folders of them")],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write")],
    *,
    ids: Annotated[
        list[str] | None,
        typer.Option("--ids", "-i", help="Id or range of ids to convert (lpp_1943.1..145); may be repeated"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="Largest number of AMRs to convert; 0 for all")] = 0,
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
    files = [file for path in inputs for file in corpus_files(path, AMR_SUFFIXES)]
    doc_bin, n_words = DocBin(store_user_data=True), 0
    options = AmrOptions(gold_tokens, ids or None, limit, cast(OnError, on_error))
    reader = AmrReader(spacy.blank(lang), options)
    for doc in progress(reader.read(files), unit="AMRs", silent=silent):
        n_words += len(doc)
        doc_bin.add(doc)
    with atomic_path(output) as path:
        doc_bin.to_disk(path)
    if not silent:
        left_out = f", {len(reader.skipped)} left out" if reader.skipped else ""
        msg.good(f"{len(doc_bin)} AMRs, {n_words} words{left_out}: {output}")
    return AmrCounts(len(doc_bin), n_words, reader.skipped)
