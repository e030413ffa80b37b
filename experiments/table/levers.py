"""Rows about settings that raise the accuracy of SynTr: each alone, all that ship, and whole trees."""

from __future__ import annotations

from .rows import PARSER, Row, System, Table

MODEL = f"components.{PARSER}.model"
BETA2 = "training.optimizer.beta2"
#: Settings without any of the levers.
PLAIN = {
    f"{MODEL}.n_mixed_layers": 1,
    f"{MODEL}.pooling": "first",
    f"{MODEL}.distances": False,
    f"{MODEL}.head_loss": "local",
    BETA2: 0.999,
}
LEVERS = {
    "mix": {f"{MODEL}.n_mixed_layers": 4},
    "mean": {f"{MODEL}.pooling": "mean"},
    "distances": {f"{MODEL}.distances": True},
    "beta2": {BETA2: 0.98},
    "tree": {f"{MODEL}.head_loss": "tree"},
}
CONFIG = "syntr_pretrained.cfg"
ROWS = {
    "plain": Row(config=CONFIG, settings=PLAIN),
    **{name: Row(config=CONFIG, settings={**PLAIN, **settings}) for name, settings in LEVERS.items()},
    "shipped": Row(config=CONFIG),
    "shipped+tree": Row(config=CONFIG, settings=LEVERS["tree"]),
}
SYSTEMS = {name: System(row=name, against=("plain",) if name != "plain" else ()) for name in ROWS}
SYSTEMS["shipped+tree"] = System(row="shipped+tree", against=("plain", "shipped"))
LEVERS_TABLE = Table(rows=ROWS, systems=SYSTEMS)
