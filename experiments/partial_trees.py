"""Train SynTr on parts of the arcs of the same sentences, and compare the parsers.

    python -m experiments.partial_trees TRAIN DEV OUTPUT --parser PIPELINE --encoder NAME

TRAIN and DEV are .conllu files. PIPELINE is a parser that has not seen TRAIN. It tells which arcs are the
least certain. Each row of the table keeps a share of the heads and labels of TRAIN, random ones or the least
certain, and learns with a ``head_loss``. A pipeline in OUTPUT is not trained again. The result is a Markdown
table of scores on DEV, and OUTPUT/table.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from thinc.api import Config

from project.markdown import markdown_table
from project.train import train_into
from project.training_config import BEST, CONFIGS, load_config, overrides
from spacy_g2g.arrays import BoolArray
from spacy_g2g.cli.common import write_json
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu
from spacy_g2g.pipeline.final_parser import final_parser

from .table.scores import count

#: Share of the arcs in percent, how they are chosen, and the loss of heads.
ROWS = (
    (100, "all", "tree"),
    (25, "random", "tree"),
    (25, "least certain", "tree"),
    (50, "random", "tree"),
    (50, "least certain", "tree"),
    (25, "random", "local"),
    (25, "least certain", "local"),
    (100, "all", "local"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Train what is not trained yet, and write the table."""
    args = read_arguments(argv)
    torch.set_num_threads(1)
    args.output.mkdir(parents=True, exist_ok=True)
    train = list(read_conllu(args.train, trees="full"))
    gold = list(read_conllu(args.dev, trees="full"))
    certainty = certainties(args.parser, train)
    random = np.random.default_rng(args.seed).random(len(certainty))
    table = []
    for percent, choice, loss in ROWS:
        corpus = args.output / f"{percent}-{choice}.conllu".replace(" ", "-")
        write_part(train, certainty if choice == "least certain" else random, percent / 100, corpus)
        folder = args.output / f"{corpus.stem}-{loss}"
        if not folder.exists():
            train_into(folder, make_config(corpus, loss, args), gpu=-1)
        table.append({"percent": percent, "choice": choice, "head_loss": loss, **scores(folder, gold)})
        write_json(args.output / "table.json", table)
    print(markdown_table([["arcs", "chosen", "head_loss", "UAS", "LAS"], *map(cells_of, table)]))


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="training sentences, .conllu")
    cli.add_argument("dev", type=Path, help="sentences that are scored, .conllu")
    cli.add_argument("output", type=Path, help="folder for the pipelines and the table")
    cli.add_argument("--parser", required=True, help="pipeline that has not seen the training sentences")
    cli.add_argument("--encoder", required=True, help="checkpoint that all trainings start from")
    cli.add_argument("--layers", type=int, help="number of the checkpoint's layers to take; all by default")
    cli.add_argument("--steps", type=int, default=81, help="number of updates")
    cli.add_argument("--seed", type=int, default=0, help="seed of the trainings, and of the random arcs")
    return cli.parse_args(argv)


def certainties(parser: str, sentences: Sequence[ConlluSentence]) -> Any:
    """Return the probability that a parser gives its own labelled arc of each word, float [words]."""
    nlp = spacy.load(parser)
    asked = final_parser(nlp, keep_scores=True)
    docs = nlp.pipe(sentences_to_docs(sentences, nlp.vocab, annotations=["SENT_START"]))
    found = [asked.confidence(doc) for doc in docs]
    return np.array([p for sentences in found for of_sentence in sentences for p in of_sentence.labelled])


def write_part(sentences: Sequence[ConlluSentence], keys: Any, share: float, path: Path) -> None:
    """Write the sentences with the heads and labels of the words with the least keys alone."""
    is_kept: BoolArray = np.zeros(len(keys), dtype=np.bool_)
    is_kept[np.argsort(keys, kind="stable")[: round(share * len(keys))]] = True
    parts, start = [], 0
    for sentence in sentences:
        kept = is_kept[start : start + len(sentence.words)].tolist()
        start += len(kept)
        cells = {
            "head": [str(word.head) for word in sentence.words],
            "deprel": [word.deprel for word in sentence.words],
        }
        hidden = {
            name: [cell if keep else "_" for cell, keep in zip(of_words, kept, strict=True)]
            for name, of_words in cells.items()
        }
        parts.append(sentence.replace(**hidden))
    with atomic_path(path) as temporary:
        temporary.write_text("".join(write_conllu(parts)), encoding="utf8")


def make_config(corpus: Path, loss: str, args: argparse.Namespace) -> Config:
    """Return the shipped config with a loss, whose last evaluation alone is on DEV."""
    config = load_config(CONFIGS / "syntr_pretrained.cfg")
    config["paths"] |= {"train": str(corpus), "dev": str(args.dev), "encoder": args.encoder}
    config["initialize"]["components"]["g2g_parser"]["encoder"]["n_layers"] = args.layers
    settings = overrides("", "en", args.steps) | {
        "system.seed": args.seed,
        "components.g2g_parser.model.head_loss": loss,
        "components.g2g_parser.model.encoder_rate_factor": 0.2,
        "training.optimizer.learn_rate.warmup_steps": args.steps // 10,
        "training.eval_frequency": args.steps,
    }
    return Config().from_str(config.to_str(), overrides=settings, interpolate=False)


def scores(folder: Path, gold: Sequence[ConlluSentence]) -> dict[str, float]:
    """Return UAS and LAS of a pipeline, as percentages."""
    nlp = spacy.load(folder / BEST)
    docs = nlp.pipe(sentences_to_docs(gold, nlp.vocab, annotations=["SENT_START"]))
    found = count(gold, (sentence for doc in docs for sentence in doc_to_sentences(doc)))
    return {name: 100 * sum(found[name]) / sum(found["words"]) for name in ("uas", "las")}


def cells_of(row: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    return [f"{row['percent']} %", row["choice"], row["head_loss"], f"{row['uas']:.2f}", f"{row['las']:.2f}"]


if __name__ == "__main__":
    main()
