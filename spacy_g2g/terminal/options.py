"""Arguments and options that several commands share."""

from enum import Enum
from math import isnan
from pathlib import Path
from typing import Annotated

import typer


class Unit(str, Enum):
    """How a text file is split into documents."""

    LINE = "line"
    PARAGRAPH = "paragraph"
    FILE = "file"


def refuse_nan(**options: float) -> None:
    """Raise BadParameter for an option that is no number. Some versions of Typer let nan pass."""
    for name, value in options.items():
        if isnan(value):
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter("nan: expected a number.", param_hint=option)


Documents = Annotated[
    Unit, typer.Option("--documents", help="How .txt is split into documents; empty lines end a paragraph")
]
Pipeline = Annotated[str, typer.Argument(help="Folder or name of a pipeline")]
Initial = Annotated[
    Path | None,
    typer.Option(
        "--initial", help="CoNLL-U or .spacy file with initial trees for a refiner, over the same words"
    ),
]
GoldTags = Annotated[
    bool, typer.Option("--gold-tags", help="Also give the pipeline gold tags, features and lemmas")
]
AttachRoots = Annotated[
    bool, typer.Option("--attach-roots", help="Let every root of a sentence after the first depend on it")
]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", "-b", min=1, help="Docs per batch  [default: the pipeline's]")
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", min=-1, help="Number of the GPU, or -1 for the CPU")]
Silent = Annotated[bool, typer.Option("--silent", "-S", help="Print errors only")]
