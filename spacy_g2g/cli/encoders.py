"""``encoders``: the encoders that are known for a language."""

from typing import Annotated

import typer

from ..data.encoders import MANY, KnownEncoder, encoder_sources, encoders_for, known_encoders, modern_encoder
from .messages import msg

HEADER = ("encoder", "type", "languages", "million parameters", "licence", "LAS", "data", "source")


def encoders_cli(
    language: Annotated[
        str | None, typer.Argument(help="Code of a language, such as `de`  [default: all]")
    ] = None,
) -> None:
    """Show the encoders that are known for a language, with published scores.

    Scores of one source and one data set can be compared. `-` stands for facts that no source gives.
    """
    encoders = known_encoders() if language is None else encoders_for(language)
    rows = [_row(encoder, language) for encoder in encoders]
    msg.table(rows, header=HEADER, divider=True, aligns=("l",) * 3 + ("r", "l", "r", "l", "l"))
    shown = {row[-1] for row in rows}
    for name, source in encoder_sources().items():
        if name in shown:
            msg.text(f"{name}: {source['note']} {source['url']}")
    if language is not None:
        msg.info(f"To begin with: {modern_encoder(language)}")


def _row(encoder: KnownEncoder, language: str | None) -> list[str]:
    languages = "many" if MANY in encoder.languages else ", ".join(encoder.languages)
    size = "-" if encoder.parameters is None else str(encoder.parameters)
    best = encoder.best(encoder.languages[0] if language is None else language)
    score = ["-"] * 3 if best is None else [f"{best.las:.2f}", best.data, best.source]
    return [encoder.name, encoder.family, languages, size, encoder.license or "-", *score]
