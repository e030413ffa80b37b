"""Rows about the refiner: sources of its encoder, of its training trees, and of the trees that it refines."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from .rows import REFINER, Row, System, Table

CORRUPTION = {f"components.{REFINER}.head_corruption": 0.12, f"components.{REFINER}.label_corruption": 0.06}
NO_GRAPHS = {f"components.{REFINER}.model.graph_input": False}
REFINES = Row(config="rngtr.cfg", steps="refiner_steps", base="syntr")
ROWS = {
    "syntr": Row(config="syntr_pretrained.cfg"),
    "rngtr": REFINES,
    "control": replace(REFINES, settings=NO_GRAPHS),
    "corruption": replace(REFINES, settings=CORRUPTION),
    "other": replace(REFINES, encoder="other"),
    "other-control": replace(REFINES, encoder="other", settings=NO_GRAPHS),
    "checkpoint": replace(REFINES, encoder="checkpoint"),
    "empty": Row(config="rngtr_empty.cfg", steps="empty_steps", base="syntr", encoder="parser"),
    "empty-checkpoint": Row(config="rngtr_empty.cfg", steps="empty_steps"),
    "whole": Row(config="pipeline.cfg", without=(REFINER,)),
    "shared": replace(REFINES, base="whole", shares=True),
    "copy": replace(REFINES, base="whole", shares=False),
}
LIMITED = {
    f"{name}, T = {n}": System(row=name, against=("syntr",), settings={"iterations": n})
    for name, n in product(("rngtr", "other"), (1, 2, 3))
}
WITHOUT_STOP = {
    f"{name}, T = 3, no stop": System(row=name, against=("syntr",), settings={"iterations": 3, "stop": False})
    for name in ("rngtr", "other")
}
WITHOUT_PRIOR = {
    f"{name}, no prior": System(row=name, against=("syntr", name), settings={"prior_share": 0.0})
    for name in ("rngtr", "other", "other-control")
}
CONTROLS = {
    name: System(row=name, against=("syntr",))
    for name in ("control", "corruption", "checkpoint", "other-control")
}
SYSTEMS = {
    "syntr": System(row="syntr"),
    "rngtr": System(row="rngtr", against=("syntr", "control")),
    **LIMITED,
    **WITHOUT_STOP,
    **CONTROLS,
    "other": System(row="other", against=("syntr", "rngtr", "other-control")),
    **WITHOUT_PRIOR,
    "empty": System(row="empty", against=("syntr", "rngtr")),
    "empty-checkpoint": System(row="empty-checkpoint", against=("syntr", "rngtr")),
    "whole": System(row="whole"),
    "shared": System(row="shared", against=("whole", "copy")),
    "copy": System(row="copy", against=("whole",)),
}
REFINEMENT = Table(rows=ROWS, systems=SYSTEMS)
