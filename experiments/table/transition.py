"""Rows about transition-based Transformer parsers: the systems of three papers, and what they published.

Mohammadshahi and Henderson 2019 (DepTr, G2GTr) and 2020 (StateTr, SentTr), "Graph-to-Graph Transformer for
Transition-based Dependency Parsing"; Fernandez Astudillo et al. 2020 (Stack-a and so on, by the letters of
its table 1), "Transition-based Parsing with Stack-Transformers".
"""

from __future__ import annotations

from typing import Any

from .rows import PARSER, Row, System, Table


def with_model(config: str, **model: Any) -> Row:
    """Return a row of a config with other settings of the parser's model."""
    settings = {f"components.{PARSER}.model.{name}": value for name, value in model.items()}
    return Row(config=config, settings=settings)


STATE_COLUMNS = ("graph_input", "composition", "history", "output", "reads_buffer", "swap", "pooling")
STATE_ROWS = {
    "DepTr": (False, False, None, "tokens", False, False, "mean"),
    "DepTr+H": (False, False, "actions", "tokens", False, False, "mean"),
    "DepTr+CH": (False, True, "actions", "tokens", False, False, "mean"),
    "G2CLSTr": (True, True, "actions", "cls", False, False, "mean"),
    "G2GTr": (True, True, "actions", "tokens", False, False, "mean"),
    "StateTr": (False, True, "labels", "tokens", True, True, "first"),
    "StateTr-C": (False, False, "labels", "tokens", True, True, "first"),  # in no paper
    "StateCLSTr": (False, True, "labels", "cls", True, True, "first"),
    "StateTr+G2GTr": (True, False, "labels", "tokens", True, True, "first"),
    "StateTr+G2CLSTr": (True, False, "labels", "cls", True, True, "first"),
    "StateTr+G2GTr+C": (True, True, "labels", "tokens", True, True, "first"),
}
STACK_COLUMNS = ("state_heads", "state_positions", "shift_labels", "n_encoder_layers", "n_layers")
STACK_ROWS = {
    "Stack-a": ([], False, 0, 6, 6),
    "Stack-b": ([], False, 100, 6, 6),
    "Stack-c": (["buffer", "stack"], False, 0, 6, 6),
    "Stack-d": (["buffer", "stack"], True, 0, 6, 6),
    "Stack-e": (["buffer"], False, 0, 6, 6),
    "Stack-f": (["stack"], False, 0, 6, 6),
    "Stack-g": (["buffer_top2"], False, 0, 6, 6),
    "Stack-h": (["stack_top2"], False, 0, 6, 6),
    "Stack-bh": (["stack_top2"], False, 100, 6, 6),
    "Stack-small-a": ([], False, 0, 2, 2),
    "Stack-small-b": ([], False, 100, 2, 2),
    "Stack-small-c": (["buffer", "stack"], False, 0, 2, 2),
}
STATE_TR = {
    name: with_model("state_tr.cfg", **dict(zip(STATE_COLUMNS, values, strict=True)))
    for name, values in STATE_ROWS.items()
}
STACK_TRANSFORMER = {
    name: with_model("stack_transformer.cfg", **dict(zip(STACK_COLUMNS, values, strict=True)))
    for name, values in STACK_ROWS.items()
}
ROWS = {
    "SynTr": Row(config="syntr_pretrained.cfg"),
    **STATE_TR,
    "SentTr": with_model("sent_tr.cfg", graph_input=False),
    "SentTr+G2GTr": with_model("sent_tr.cfg", graph_input=True),
    **STACK_TRANSFORMER,
}
#: Rows that a row is compared with.
AGAINST = {
    "DepTr+H": ("DepTr",),
    "DepTr+CH": ("DepTr+H",),
    "G2CLSTr": ("DepTr+CH",),
    "G2GTr": ("DepTr+CH", "G2CLSTr"),
    "StateCLSTr": ("StateTr",),
    "StateTr-C": ("StateTr",),
    "StateTr+G2GTr": ("StateTr", "StateTr-C", "StateTr+G2CLSTr", "StateTr+G2GTr+C"),
    "StateTr+G2GTr+C": ("StateTr",),
    "StateTr+G2CLSTr": ("StateCLSTr",),
    "SentTr": ("SynTr",),
    "SentTr+G2GTr": ("SentTr",),
    "Stack-b": ("Stack-a",),
    "Stack-c": ("Stack-a", "Stack-b", "SynTr"),
    "Stack-d": ("Stack-c",),
    "Stack-e": ("Stack-a", "Stack-c"),
    "Stack-f": ("Stack-a", "Stack-c"),
    "Stack-g": ("Stack-e",),
    "Stack-h": ("Stack-f",),
    "Stack-bh": ("Stack-h",),
    "Stack-small-a": ("Stack-a",),
    "Stack-small-b": ("Stack-small-a", "Stack-b"),
    "Stack-small-c": ("Stack-small-a", "Stack-c"),
}
#: UAS and LAS on the English Penn Treebank, by row, start and layers. The figures are of the test set (2019,
#: table 2; 2020, table 1; SynTr with the 12 layers of BERT: 2021, table 3), from BERT or from scratch. Those
#: of the stack-Transformers, on vectors of RoBERTa, are of the dev set: only table 1 has all of them.
PUBLISHED = {
    ("SynTr", "checkpoint", 12): (96.60, 94.94),
    ("DepTr", "scratch", 6): (88.40, 84.23),
    ("DepTr+H", "scratch", 6): (90.44, 86.91),
    ("DepTr+CH", "scratch", 6): (92.35, 89.51),
    ("G2CLSTr", "scratch", 6): (92.73, 90.65),
    ("G2GTr", "scratch", 6): (93.21, 91.06),
    ("DepTr", "checkpoint", 6): (91.61, 87.81),
    ("DepTr+H", "checkpoint", 6): (92.90, 89.42),
    ("DepTr+CH", "checkpoint", 6): (94.86, 92.28),
    ("G2CLSTr", "checkpoint", 6): (94.27, 92.29),
    ("G2GTr", "checkpoint", 6): (95.30, 93.44),
    ("G2GTr", "checkpoint", 7): (95.64, 93.81),
    ("StateTr", "scratch", 6): (92.32, 89.69),
    ("StateTr+G2GTr", "scratch", 6): (93.07, 91.08),
    ("StateTr", "checkpoint", 6): (95.18, 92.73),
    ("StateCLSTr", "checkpoint", 6): (94.31, 91.85),
    ("StateTr+G2GTr", "checkpoint", 6): (95.58, 93.74),
    ("StateTr+G2CLSTr", "checkpoint", 6): (94.83, 92.96),
    ("StateTr+G2GTr+C", "checkpoint", 6): (94.89, 92.93),
    ("SentTr", "checkpoint", 6): (95.65, 93.85),
    ("SentTr+G2GTr", "checkpoint", 6): (96.06, 94.26),
    ("SentTr+G2GTr", "checkpoint", 7): (96.11, 94.33),
    ("Stack-a", "checkpoint", 12): (93.9, 92.0),
    ("Stack-b", "checkpoint", 12): (95.2, 93.5),
    ("Stack-c", "checkpoint", 12): (95.7, 94.1),
    ("Stack-d", "checkpoint", 12): (94.8, 92.7),
    ("Stack-e", "checkpoint", 12): (95.8, 94.0),
    ("Stack-f", "checkpoint", 12): (95.5, 93.8),
    ("Stack-g", "checkpoint", 12): (95.7, 93.8),
    ("Stack-h", "checkpoint", 12): (95.4, 93.8),
    ("Stack-bh", "checkpoint", 12): (95.4, 93.8),
    ("Stack-small-a", "checkpoint", 12): (91.0, 88.5),
    ("Stack-small-b", "checkpoint", 12): (94.6, 92.5),
    ("Stack-small-c", "checkpoint", 12): (95.5, 93.7),
}
TRANSITION = Table(
    rows=ROWS,
    systems={name: System(row=name, against=AGAINST.get(name, ())) for name in ROWS},
    published=PUBLISHED,
)
