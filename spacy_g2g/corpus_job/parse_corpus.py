"""``parse-corpus``: parse a corpus of any size, shard by shard."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from tqdm import tqdm

from ..errors import Errors
from ..terminal.common import needs_extra, user_errors
from ..terminal.messages import msg
from ..terminal.options import Documents, GpuId, Pipeline, Silent, Unit, refuse_nan

if TYPE_CHECKING:
    from .run import Engine, Outcome
    from .shard import Record
    from .store import Place


class EngineName(str, Enum):
    """Engine that runs the workers."""

    RAY = "ray"
    NONE = "none"


#: Exit status if OUTPUT belongs to another job.
OTHER_JOB = 2
MEGABYTE = 10**6


def parse_corpus(
    pipeline: Pipeline,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT... OUTPUT",
            help="Files or folders of .parquet, .jsonl or .txt (both also .gz or .zst), .conllu or .spacy; "
            "then the folder of the job. All may be in s3:// or gs://",
        ),
    ],
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine", help="ray: all cores and GPUs of the machine or cluster; none: this process"
        ),
    ] = EngineName.RAY,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-n", min=1, help="Number of workers (ray)  [default: cores, or 4 a GPU]"),
    ] = None,
    cpus: Annotated[float, typer.Option("--cpus", min=0.01, help="Cores of a worker (ray)")] = 1.0,
    gpus: Annotated[
        float | None,
        typer.Option(
            "--gpus", min=0, help="Share of a GPU of a worker (ray)  [default: 0.25 if there are GPUs]"
        ),
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", help="Address of a Ray cluster; without it, Ray starts here")
    ] = None,
    gpu_id: GpuId = -1,
    only: Annotated[
        str | None, typer.Option("--only", help="I/N: parse every Nth shard from the Ith, counted from 1")
    ] = None,
    documents: Documents = Unit.LINE,
    text_column: Annotated[str, typer.Option("--text-column", help="Column or key with the text")] = "text",
    id_column: Annotated[str, typer.Option("--id-column", help="Column or key with the id")] = "id",
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="Further column to copy to the output, as text")
    ] = None,
    annotations: Annotated[
        str | None,
        typer.Option(
            "--annotations", help="Columns to write, separated by commas  [default: the pipeline's]"
        ),
    ] = None,
    no_text: Annotated[bool, typer.Option("--no-text", help="Leave the texts out of the output")] = False,
    shard_bytes: Annotated[
        float,
        typer.Option(
            "--shard-mb",
            min=0.001,
            max=MEGABYTE,
            help="Megabytes of text in a shard, which a killed process loses. Use 32 on a GPU",
        ),
    ] = 2.0,
    max_errors: Annotated[
        float, typer.Option("--max-errors", min=0, max=1, help="Share of a shard's documents that may fail")
    ] = 0.01,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, max=10**7, help="Seconds that 100,000 characters may take")
    ] = 600.0,
    code: Annotated[
        Path | None, typer.Option("--code", help="Python file with components of the pipeline")
    ] = None,
    silent: Silent = False,
) -> None:
    """Parse a corpus to Parquet files, one per shard. If the command was killed, run it again to continue.

    The exit status is 0 if all is done, 1 if shards failed or files are damaged, and 2 if OUTPUT belongs to
    another job.
    """
    if len(paths) < 2:
        raise typer.BadParameter("Expected at least one INPUT, and OUTPUT.", param_hint="INPUT... OUTPUT")
    refuse_nan(shard_mb=shard_bytes, max_errors=max_errors, timeout=timeout, cpus=cpus, gpus=gpus or 0.0)
    with user_errors(), needs_extra(("pyarrow", "pyarrow.parquet"), Errors.E1119):
        from .job import Job, OtherJobError
        from .plan import Fields
        from .run import parse_here, run_job
        from .store import place_of

        *inputs, output = map(place_of, paths)
        folder = Path(pipeline)
        job = Job(
            str(folder.resolve()) if folder.exists() else pipeline,
            output.resolve(),
            Fields(text_column, id_column, tuple(keep or ()), documents.value),
            annotations=None if annotations is None else tuple(annotations.split(",")),
            text=not no_text,
            max_errors=max_errors,
            timeout=timeout,
            code=code and code.resolve(),
            gpu_id=gpu_id,
        )
        chosen: Engine = parse_here
        if engine == EngineName.RAY:
            with needs_extra(["ray"], Errors.E1125):
                from .ray_engine import RayEngine

            chosen = RayEngine(workers, cpus, gpus, address)
        try:
            outcome = run_job(
                job,
                inputs,
                shard_bytes=int(shard_bytes * MEGABYTE),
                engine=chosen,
                only=parse_part(only),
                report=lambda records, n: show_progress(records, n, silent),
            )
        except OtherJobError as error:
            msg.fail(str(error))
            raise typer.Exit(OTHER_JOB) from error
    finish(outcome, output, silent)


def parse_part(text: str | None) -> tuple[int, int] | None:
    """Parse "I/N". Raises ValueError for any other text."""
    if text is None:
        return None
    first, _, step = text.partition("/")
    if not (first.isdecimal() and step.isdecimal() and 1 <= int(first) <= int(step)):
        raise ValueError(Errors.E1118.format(value=text))
    return int(first), int(step)


def show_progress(records: Iterator[Record], n: int, silent: bool) -> Iterable[Record]:
    """Show failures, and a progress bar with words per second. A log file gets a line per minute."""
    n_words = 0
    seconds = 0.1 if sys.stderr.isatty() else 60.0
    with tqdm(total=n, unit="shard", disable=silent, mininterval=seconds) as bar:
        for record in records:
            if record["status"] == "failed":
                msg.warn(f"{record['name']} failed. {record['error']}")
            n_words += record.get("words", 0)
            bar.set_postfix_str(
                f"{n_words / max(bar.format_dict['elapsed'], 1e-9):,.0f} words/s", refresh=False
            )
            bar.update()
            yield record


def finish(outcome: Outcome, output: Place, silent: bool) -> None:
    """Print the result of a run, and exit with 1 if shards, files or all documents failed."""
    if outcome.failed:
        names = ", ".join(record["name"] for record in outcome.failed)
        msg.fail(f"{len(outcome.failed)} shards failed: {names}", exits=1)
    manifest = outcome.manifest
    if manifest and manifest["unread"]:
        files = "\n".join(manifest["unread"])
        msg.fail(f"{len(manifest['unread'])} files are damaged. All else is in {output}", files, exits=1)
    if manifest and manifest["errors"] and not manifest["docs"]:
        msg.fail(Errors.E1126.format(n=manifest["errors"], folder=f"{output}/errors"), exits=1)
    if silent:
        return
    if outcome.n_words:
        rate = outcome.n_words / outcome.seconds
        msg.text(f"{outcome.n_words:,} words in {outcome.seconds:,.1f} s: {rate:,.0f} words/s")
    for code, n in sorted(outcome.warnings.items()):
        msg.warn(f"The warning {code} came {n:,} times.")
    if manifest is None:
        msg.good(f"{outcome.n_shards} shards are done. Others of the job are not: {output}")
    else:
        msg.good(f"{manifest['docs']:,} documents, {manifest['errors']:,} errors: {output}")
