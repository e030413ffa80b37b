"""Run the AMR oracle on files: how much of each graph its actions rebuild, and how nodes are aligned.

python -m experiments.amr_oracle amr-bank-struct-v3.0.txt:train=lpp_1943.289..1562 \
    amr-bank-struct-v3.0.txt:dev=lpp_1943.1..145 amr-release-dev-bio.txt:bio \
    [--split bio] [--output amr_oracle]

A file may have a name and a selection of ids after it. The aligner learns from the first part of each file.
Text without ::tok is split at white space, and also at punctuation in the parts that --split names.

"Smatch" compares the graph of the executed actions with the gold graph, without :wiki. "lexical" is the share
of concepts whose word was found by a rule or by EM. "structure" is the share of names and quantities, which
are aligned with the words of their parts. "a word" is the number of actions for each word and ROOT. "most" is
its maximum over sentences. "copied" is the share of labels that are not predicted by PRED.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from project.markdown import markdown_table
from spacy_g2g.amr.evaluation.smatch import smatch
from spacy_g2g.amr.formats.amr_file import read_amr_file
from spacy_g2g.amr.formats.penman_text import format_penman
from spacy_g2g.amr.parsing.actions import COPIES, ActionKind, AmrAction, AmrSentence
from spacy_g2g.amr.parsing.aligner import LEXICAL, Aligner, Unaligned
from spacy_g2g.amr.parsing.build import build_graph
from spacy_g2g.amr.parsing.graph import AmrGraph
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.oracle import amr_oracle_actions
from spacy_g2g.amr.parsing.table import AmrActions

COLUMNS = (
    "part",
    "graphs",
    "Smatch",
    "lexical",
    "structure",
    "propagated",
    "actions",
    "a word",
    "most",
    "copied",
)
COLUMNS += ("table", "seconds")
#: Words and punctuation marks of text that is not tokenised.
TOKEN = re.compile(r"<[^<>\s]+>|\w+(?:[-'.\u2019]\w+)*|[^\w\s]")


class Part(NamedTuple):
    name: str
    path: Path
    graphs: list[AmrGraph]
    forms: list[list[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", metavar="FILE[:NAME=IDS]")
    parser.add_argument(
        "--split", action="append", default=[], metavar="NAME", help="a part to split at punctuation"
    )
    parser.add_argument("--unaligned", default="neighbour", choices=("neighbour", "free_word"))
    parser.add_argument("--output", type=Path, help="write OUTPUT.json and OUTPUT.md, too")
    args = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    learned_from, aligner = None, Aligner()
    for part in (read_part(text, args.split) for text in args.parts):
        if part.path != learned_from:
            learned_from, aligner = part.path, learn(part, args.unaligned)
        rows.append(measure(part, aligner))
        print(table(rows[-1:])[-1] if len(rows) > 1 else "\n".join(table(rows)), flush=True)
    if args.output:
        args.output.with_suffix(".json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf8")
        args.output.with_suffix(".md").write_text("\n".join(table(rows)) + "\n", encoding="utf8")


def read_part(text: str, split: Sequence[str]) -> Part:
    """Read a part that is given as FILE[:NAME=IDS]; split: names of parts to split at punctuation."""
    file, _, selection = text.partition(":")
    name, _, ids = selection.partition("=")
    path = Path(file)
    name = name or path.stem
    blocks = read_amr_file(path, ids=ids.split(",") if ids else None)
    forms = [
        TOKEN.findall(block.sentence) if name in split and "tok" not in block.metadata else block.tokens
        for block in blocks
    ]
    return Part(name, path, [AmrGraph.from_tree(block.tree) for block in blocks], forms)


def learn(part: Part, unaligned: Unaligned) -> Aligner:
    """Return an aligner that has learned from a part."""
    aligner = Aligner(unaligned)
    aligner.learn(zip(part.graphs, map(AmrSentence.of, part.forms), strict=True))
    return aligner


def measure(part: Part, aligner: Aligner) -> dict[str, Any]:
    """Return the row of a part."""
    start = time.perf_counter()
    tiers: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    oracle: list[tuple[AmrSentence, list[AmrAction]]] = []
    built: list[str] = []
    longest = 0.0
    for graph, forms in zip(part.graphs, part.forms, strict=True):
        sentence = AmrSentence.of(forms)
        alignment = aligner.align(graph, sentence)
        tiers.update(tier for node, tier in enumerate(alignment.tiers) if node not in graph.constants)
        actions = amr_oracle_actions(graph, sentence, alignment)
        kinds.update(action.kind.name for action in actions)
        longest = max(longest, len(actions) / (len(forms) + 1))
        oracle.append((sentence, actions))
        built.append(execute(sentence, actions))
    seconds = time.perf_counter() - start
    score, _ = smatch([format_penman(graph.to_tree()) for graph in part.graphs], built)
    n_concepts, n_actions = tiers.total(), kinds.total()
    n_copies = sum(kinds[kind.name] for kind in COPIES)
    return {
        "part": part.name,
        "graphs": len(part.graphs),
        "Smatch": round(100 * score.fscore, 2),
        "lexical": round(100 * sum(tiers[tier] for tier in LEXICAL) / n_concepts, 1),
        "structure": round(100 * tiers["structure"] / n_concepts, 1),
        "propagated": round(100 * tiers["propagated"] / n_concepts, 1),
        "actions": n_actions,
        "a word": round(n_actions / sum(len(forms) + 1 for forms in part.forms), 2),
        "most": round(longest, 1),
        "copied": round(100 * n_copies / (n_copies + kinds[ActionKind.PRED.name]), 1),
        "table": len(AmrActions.learn(oracle)),
        "seconds": round(seconds, 1),
        "tiers": dict(tiers.most_common()),
        "kinds": dict(kinds.most_common()),
    }


def execute(sentence: AmrSentence, actions: Sequence[AmrAction]) -> str:
    """Return the graph that actions build, as PENMAN."""
    state = AmrState(sentence)
    for action in actions:
        state.apply(action)
    return format_penman(build_graph(state).to_tree())


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return markdown_table([COLUMNS, *([str(row[column]) for column in COLUMNS] for row in rows)]).splitlines()


if __name__ == "__main__":
    main()
