"""Encoders that are known for a language: names on the Hugging Face Hub, with published scores."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("encoders.json")
#: Code of encoders for many languages.
MANY = "xx"


@dataclass(frozen=True)
class EncoderScore:
    """Published score of a parser with an encoder.

    language: Code of the language.
    data: Name of the data.
    las: Labelled attachment score in percent.
    source: Key in the table's sources.
    """

    language: str
    data: str
    las: float
    source: str


@dataclass(frozen=True)
class KnownEncoder:
    """Facts on an encoder; None for what no source says.

    name: Name on the Hugging Face Hub.
    family: Type of model, a key of ``layers/families.py: FAMILIES``.
    languages: Codes of languages; "xx" for many languages.
    parameters: Number of parameters in millions, with embeddings.
    license: Licence of the weights.
    scores: Published scores.
    """

    name: str
    family: str
    languages: tuple[str, ...]
    parameters: int | None
    license: str | None
    scores: tuple[EncoderScore, ...]

    def best(self, language: str) -> EncoderScore | None:
        """Return the best published score for a language; None without one."""
        scores = [score for score in self.scores if score.language == language]
        return max(scores, key=lambda score: score.las, default=None)


@cache
def known_encoders() -> tuple[KnownEncoder, ...]:
    """Return all encoders of the table."""
    return tuple(
        KnownEncoder(
            **{
                **row,
                "languages": tuple(row["languages"]),
                "scores": tuple(EncoderScore(**score) for score in row["scores"]),
            }
        )
        for row in _table()["encoders"]
    )


def encoders_for(language: str) -> list[KnownEncoder]:
    """Return the encoders of a language, and then those of many languages, each with the best score first."""

    def order(encoder: KnownEncoder) -> tuple[bool, float]:
        best = encoder.best(language)
        return language not in encoder.languages, 0.0 if best is None else -best.las

    return sorted((e for e in known_encoders() if {language, MANY} & {*e.languages}), key=order)


def modern_encoder(language: str) -> str:
    """Return the encoder to begin with for a language.

    Of the encoders of base size that have a licence, it has the best published score.
    """
    modern: dict[str, str] = _table()["modern"]
    return modern.get(language, modern[MANY])


def encoder_sources() -> dict[str, dict[str, str]]:
    """Return the address and a note of each source of scores."""
    sources: dict[str, dict[str, str]] = _table()["sources"]
    return sources


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf8"))
    return table
