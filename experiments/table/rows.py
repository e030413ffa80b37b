"""Contents of a table: rows, which are trained, and systems, which are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PARSER, REFINER = "g2g_parser", "rng_refiner"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A training.

    config: Name of a shipped config.
    settings: Values in place of the config's, by dotted name.
    base: Row whose pipeline is refined, or whose encoder is copied; "" for none.
    encoder: Source of the refiner's encoder: "checkpoint", "parser", "other" for the base of the next seed,
        or "" for the config's.
    steps: Name of the option with the number of steps.
    without: Components of the config that are left out.
    shares: Whether the row refines a whole pipeline: with True on its encoder, with False on a copy of it;
        None for a refiner of a parser alone.
    """

    config: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    base: str = ""
    encoder: str = ""
    steps: str = "steps"
    without: Sequence[str] = ()
    shares: bool | None = None


@dataclass(frozen=True, kw_only=True)
class System:
    """A pipeline that parses.

    row: Row that trains it.
    against: Systems that it is compared with.
    settings: Values of the refiner's model in place of those that it was trained with.
    """

    row: str
    against: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows, systems and published figures.

    published: UAS and LAS in percent, by system, start of the encoder and number of its layers.
    """

    rows: Mapping[str, Row]
    systems: Mapping[str, System]
    published: Mapping[tuple[str, str, int], tuple[float, float]] = field(default_factory=dict)

    def figures(self, name: str, *, start: str, n_layers: int | None) -> dict[str, Any] | None:
        """Return the published figures of a system, or None.

        name: Name of the system.
        start: "checkpoint" or "scratch".
        n_layers: Number of layers. Without figures for it, those with the fewest layers are returned.
        """
        pairs = {layers: pair for (*key, layers), pair in self.published.items() if key == [name, start]}
        if not pairs:
            return None
        layers = n_layers if n_layers in pairs else min(pairs)
        uas, las = pairs[layers]
        return {"uas": uas, "las": las, "layers": layers}
