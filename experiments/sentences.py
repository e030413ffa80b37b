"""Teach trained parsers to find sentences, and measure their networks of boundaries.

    python -m experiments.sentences PIPELINE TRAIN DEV OUTPUT [--others FILE ...] [--variants NAME ...]
        [--seeds 0 1 2] [--epochs 4] [--tokenizer FOLDER] [--speed]

The parser of PIPELINE is frozen; components that set boundaries are taken out. The network learns from
whole documents (`# newdoc`, `# newpar`) of TRAIN, and its threshold is fitted on DEV. Words are given. F1
of sentences is measured on DEV, on DEV without final punctuation, and on the other files, with the
threshold 0 and with the fitted one. OUTPUT gets a pipeline for each variant and seed, DEV.nopunct.conllu,
and table.json. A pipeline in OUTPUT is not trained again. The first variant is compared with each other one
of the same seed by the paired bootstrap over documents: the share of the gold sentences that are found,
with the threshold 0. Several seeds are also compared together. With --speed the pipelines of the first seed
find the sentences of DEV, and parse it with given and with found sentences, all in turns, by processor time
on one thread.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from project.markdown import markdown_table
from spacy_g2g.cli.common import write_json
from spacy_g2g.data.augmenters import make_running_text
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import sentences_to_doc
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.formats.paragraphs import paragraphs
from spacy_g2g.pipeline.final_parser import final_parser
from spacy_g2g.pipeline.g2g_parser import G2GParser
from spacy_g2g.pipeline.gold import gold_starts
from spacy_g2g.pipeline.sentence_fit import fit_sentences, n_right, sentence_f
from spacy_g2g.pipeline.sentences import BOUNDARIES, THRESHOLD

from .drop_final_punct import drop

#: Shares of ``spacy_g2g.running_text.v1``, those of configs/pipeline.cfg.
AUGMENTATION = {
    "drop_punct": 0.0,
    "drop_all_punct": 0.25,
    "lower_case": 0.05,
    "joined": 0.02,
    "shuffled": 1.0,
    "lines": 0.7,
}
#: Changes of the network and of the augmentation, by the name of the variant.
VARIANTS: dict[str, dict[str, Any]] = {
    "full": {},
    "one layer": {"n_layers": 1},
    "two layers": {"n_layers": 2},
    "features alone": {"n_layers": None},
    "wide": {"width": 256},
    "no lines": {"lines": 0.0},
    "no augmentation": dict.fromkeys(AUGMENTATION, 0.0),
}
WORDS_AT_ONCE, RATE, WARMUP = 1500, 2e-3, 0.05
RUNS = 2
#: How boundaries are decided, by its name in the JSON.
WAYS = {"plain": "threshold 0", "fitted": "fitted threshold"}
#: Keys of the JSON that are not those of a network.
SPEED, ALL_SEEDS = "speed", "all seeds"


def main(argv: Sequence[str] | None = None) -> None:
    """Train what is not trained yet, and write the table."""
    args = read_arguments(argv)
    torch.set_num_threads(1)
    args.output.mkdir(parents=True, exist_ok=True)
    bare = args.output / f"{args.dev.stem}.nopunct.conllu"
    if not bare.exists():
        with atomic_path(bare) as path:
            path.write_text("".join(drop(args.dev)), encoding="utf8")
    files = [args.dev, bare, *args.others]
    table: dict[str, Any] = {}
    of_seeds: list[dict[str, Any]] = []
    for seed in args.seeds:
        right: dict[str, Any] = {}
        of_seeds.append(right)
        for variant in args.variants:
            folder = folder_of(args, variant, seed)
            if not folder.exists():
                train(args, variant, seed, folder)
            of_network, right[variant] = measure(folder, args.dev, files)
            of_network |= compare(right[args.variants[0]], right[variant])
            table[f"{variant}, seed {seed}"] = of_network
            print(json.dumps({folder.name: of_network}), flush=True)
    if len(of_seeds) > 1:
        counts = {v: {f: sum(of[v][f] for of in of_seeds) for f in of_seeds[0][v]} for v in args.variants}
        table[ALL_SEEDS] = {v: compare(counts[args.variants[0]], counts[v]) for v in args.variants[1:]}
    if args.speed:
        folders = {variant: folder_of(args, variant, args.seeds[0]) for variant in args.variants}
        table[SPEED] = speed(folders, args.dev)
    write_json(args.output / "table.json", table)
    print(markdown(table, [file.stem for file in files]))


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="pipeline with a trained parser")
    cli.add_argument("train", type=Path, help="training sentences, .conllu")
    cli.add_argument("dev", type=Path, help="sentences to fit on, .conllu")
    cli.add_argument("output", type=Path, help="folder for pipelines and the table")
    cli.add_argument("--others", type=Path, nargs="*", default=[], help="further files to measure on")
    cli.add_argument("--variants", nargs="*", default=[*VARIANTS], choices=VARIANTS, help="networks to train")
    cli.add_argument("--seeds", type=int, nargs="*", default=[0], help="seeds of training")
    cli.add_argument("--epochs", type=int, default=4, help="number of epochs")
    tokenizer = "pipeline whose tokenizer the pipelines get, for text: the output of project.tokenizer"
    cli.add_argument("--tokenizer", type=Path, help=tokenizer)
    cli.add_argument("--speed", action="store_true", help="measure what finding sentences costs")
    return cli.parse_args(argv)


def folder_of(args: argparse.Namespace, variant: str, seed: int) -> Path:
    """Return the folder of a pipeline."""
    output: Path = args.output
    return output / f"{variant.replace(' ', '-')}.{seed}"


def read_examples(path: Path, nlp: Language) -> list[Example]:
    """Return an Example for each paragraph. Its predicted Doc has words alone."""
    gold = [sentences_to_doc(p, nlp.vocab, keep_source=False) for p in paragraphs(read_conllu(path))]
    return [Example(unparsed_copy(doc, []), doc) for doc in gold]


def load(pipeline: str | Path, block: dict[str, Any] | None = None) -> tuple[Language, G2GParser]:
    """Return a pipeline without components that set boundaries before the parser, and its parser.

    pipeline: Name or folder of the pipeline.
    block: Block `boundaries` of its component `g2g_parser`; None for its own.
    """
    changes = {} if block is None else {"components": {"g2g_parser": {"boundaries": block}}}
    nlp = spacy.load(pipeline, config=changes)
    for name in [
        name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in ("senter", "sentencizer")
    ]:
        nlp.remove_pipe(name)
    return nlp, final_parser(nlp)


def train(args: argparse.Namespace, variant: str, seed: int, folder: Path) -> None:
    """Train a network of boundaries for the frozen parser, and save the pipeline."""
    fix_random_seed(seed)
    changes = VARIANTS[variant]
    block = BOUNDARIES | {name: changes[name] for name in ("n_layers", "width") if name in changes}
    nlp, parser = load(args.pipeline, block)
    assert parser.boundaries is not None
    examples = read_examples(args.train, nlp)
    parser.initialize_boundaries(examples)
    shares = {name: changes.get(name, share) for name, share in AUGMENTATION.items()}
    augment = make_running_text(seed=seed, **shares)
    order, optimizer = random.Random(seed), Adam(RATE, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0)
    n_words = args.epochs * sum(len(example.predicted) for example in examples)
    seen, batch = 0, []
    for _ in range(args.epochs):
        order.shuffle(examples)
        for example in examples:
            batch += augment(nlp, example)
            if sum(len(of.predicted) for of in batch) >= WORDS_AT_ONCE:
                seen += sum(len(of.predicted) for of in batch)
                done = seen / n_words
                optimizer.learn_rate = RATE * max(0.02, min(done / WARMUP, 1 - done))
                parser.update_boundaries(batch)
                parser.boundaries.finish_update(optimizer)
                batch = []
    fit_sentences(parser, read_examples(args.dev, nlp))
    if args.tokenizer is not None:
        nlp.tokenizer = spacy.load(args.tokenizer, vocab=nlp.vocab).tokenizer
    part = folder.with_name(f"{folder.name}.part")
    nlp.to_disk(part)
    part.rename(folder)


def measure(folder: Path, dev: Path, files: Sequence[Path]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure how well a parser finds sentences.

    Returns F1 of sentences on the files by way of deciding, of those in `WAYS`; and for each file the number
    of gold sentences that the threshold 0 finds in each document, and that of all, int [2, documents].
    """
    nlp, parser = load(folder)
    fitted, _ = fit_sentences(parser, read_examples(dev, nlp))
    found: dict[str, Any] = {"fitted: threshold": fitted}
    counts: dict[str, Any] = {}
    for file in files:
        examples = read_examples(file, nlp)
        docs = [example.predicted for example in examples]
        gold = [gold_starts(example) for example in examples]
        for way, threshold in (("fitted", fitted), ("plain", 0.0)):
            parser.cfg[THRESHOLD] = threshold
            layout = parser.find_sentences(docs)
            f = sentence_f(np.concatenate(gold), layout.starts)
            found[f"{way}: {file.stem}"] = round(100 * f, 2)
        starts = np.split(layout.starts, layout.doc_starts[1:-1])
        pairs = zip(gold, starts, strict=True)
        counts[file.stem] = np.array([[n_right(g, s), g.sum()] for g, s in pairs]).T
    return found, counts


def compare(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the first variant's gain in found gold sentences, in points, with its p-value, for each file."""
    if first is other:
        return {}
    gains = {}
    for name, (right, totals) in first.items():
        found = paired_bootstrap(other[name][0], right, totals)
        gains[f"gain: {name}"] = [round(100 * found.difference, 2), round(found.p_value, 4)]
    return gains


def speed(folders: Mapping[str, Path], dev: Path) -> dict[str, dict[str, float]]:
    """Return the seconds of processor time for a file: "finding" sentences, parsing "given" and "found" ones.

    folders: Folder of each pipeline by its variant.
    dev: The file.
    """
    best: dict[str, dict[str, float]] = {variant: {} for variant in folders}
    pipelines = {variant: load(folder) for variant, folder in folders.items()}
    read = {variant: read_examples(dev, nlp) for variant, (nlp, _) in pipelines.items()}
    for _ in range(RUNS + 1):
        for variant, (nlp, parser) in pipelines.items():
            for name in ("finding", "given", "found"):
                parser.sentences = "given" if name == "given" else "auto"
                docs = [
                    unparsed_copy(example.reference, ["SENT_START"] if name == "given" else [])
                    for example in read[variant]
                ]
                start = time.process_time()
                if name == "finding":
                    parser.find_sentences(docs)
                else:
                    list(nlp.pipe(docs))
                best[variant][name] = min(best[variant].get(name, np.inf), time.process_time() - start)
    return best


def markdown(table: dict[str, Any], names: Sequence[str]) -> str:
    """Return the table as Markdown."""
    rows = [["network", "decision", *names]]
    for title, of_network in table.items():
        if title in (SPEED, ALL_SEEDS):
            continue
        rows += [
            [title, text, *(f"{of_network[f'{way}: {name}']:.2f}" for name in names)]
            for way, text in WAYS.items()
        ]
    lines = [markdown_table(rows)]
    if SPEED in table:
        times = [["network", "finding, s", "given, s", "found, s", "found / given"]]
        for variant, of in table[SPEED].items():
            shown = [f"{of[name]:.2f}" for name in ("finding", "given", "found")]
            times.append([variant, *shown, f"{of['found'] / of['given']:.2f}"])
        lines.append(markdown_table(times))
    return "\n\n".join(lines)


if __name__ == "__main__":
    main()
