"""Compare ways to calibrate the probabilities of a parser.

    python -m experiments.calibration PIPELINE DEV.conllu OTHER.conllu...

Every fifth sentence of DEV calibrates. The rest of DEV and the other files show the expected calibration
errors in percent: of the probabilities as they are, with the temperatures of ``g2g calibrate``, and with a
logistic curve over these (Platt 1999), which has two more parameters for each kind of prediction. "by chance"
is the error of as many exact probabilities. The pipeline is not changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from project.markdown import markdown_table
from spacy_g2g.arrays import DoubleArray
from spacy_g2g.cli.calibrate import Observer
from spacy_g2g.data.docs import sentences_to_doc, sentences_to_docs
from spacy_g2g.evaluation.calibration import Reliability, reliability
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu
from spacy_g2g.pipeline.scored_trees import TEMPERATURES

EVERY = 5
#: Number of Newton's steps for a logistic curve.
N_STEPS = 20


def main() -> None:
    """Print the table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline")
    cli.add_argument("dev", type=Path)
    cli.add_argument("others", type=Path, nargs="*")
    args = cli.parse_args()
    torch.set_num_threads(1)
    nlp = spacy.load(args.pipeline)
    dev = list(read_conllu(args.dev, trees="full"))
    fitted, rest = dev[::EVERY], [of for i, of in enumerate(dev) if i % EVERY]
    files = {args.dev.stem: rest}
    files |= {path.stem: list(read_conllu(path, trees="full")) for path in args.others}
    parser = Observer(nlp).parser
    docs = {name: parsed(nlp, gold) for name, gold in files.items()}
    parser.cfg.pop(TEMPERATURES, None)
    before = {name: observe(nlp, docs[name], gold).result() for name, gold in files.items()}
    docs_of_fit = parsed(nlp, fitted)
    gold_docs = (sentences_to_doc([sentence], nlp.vocab) for sentence in fitted)
    print(parser.calibrate(map(Example, docs_of_fit, gold_docs)))
    curves = {name: logistic_curve(*of) for name, of in observe(nlp, docs_of_fit, fitted).seen.items()}
    rows = [["data", "words", "way", "arcs", "labelled arcs", "trees"]]
    for name, gold in files.items():
        observer = observe(nlp, docs[name], gold)
        found = observer.result()
        curved = [reliability(bend(of[0], curves[kind]), of[1]) for kind, of in observer.seen.items()]
        about = [name, f"{sum(map(len, docs[name])):,}"]
        rows.append([*about, "as they are", *map(percent, before[name].values())])
        rows.append([*about, "temperatures", *map(percent, found.values())])
        rows.append([*about, "temperatures, logistic curves", *map(percent, curved)])
        rows.append([*about, "by chance", *(f"{100 * by_chance(of):.2f}" for of in found.values())])
    print(markdown_table(rows))


def parsed(nlp: Language, gold: Sequence[ConlluSentence]) -> list[Doc]:
    """Parse sentences. The Docs keep scores."""
    return list(nlp.pipe(sentences_to_docs(gold, nlp.vocab, annotations=["SENT_START"])))


def observe(nlp: Language, docs: Sequence[Doc], gold: Sequence[ConlluSentence]) -> Observer:
    """Compare the probabilities of parsed sentences with the gold trees."""
    observer = Observer(nlp)
    for doc, sentence in zip(docs, gold, strict=True):
        observer.see(doc, sentence)
    return observer


def logits(probs: Sequence[float]) -> DoubleArray:
    """Return the logits of probabilities, and ones, float [predictions, 2]."""
    inside = np.clip(probs, 1e-9, 1 - 1e-9)
    return np.stack([np.log(inside / (1 - inside)), np.ones(len(inside))], axis=1)


def bend(probs: Sequence[float], curve: DoubleArray) -> DoubleArray:
    """Return probabilities on a curve."""
    bent: DoubleArray = 1 / (1 + np.exp(-logits(probs) @ curve))
    return bent


def logistic_curve(probs: Sequence[float], are_right: Sequence[bool]) -> DoubleArray:
    """Return the factor and the summand of logits that make what happened most probable."""
    inputs, curve = logits(probs), np.array([1.0, 0.0])
    for _ in range(N_STEPS):
        bent = bend(probs, curve)
        slope = inputs.T @ (np.array(are_right) - bent)
        curve += np.linalg.solve((inputs.T * (bent * (1 - bent))) @ inputs, slope)
    return curve


def percent(of: Reliability) -> str:
    """Return an error as a percentage."""
    return f"{100 * of.error:.2f}"


def by_chance(of: Reliability) -> Any:
    """Return the error that is expected if all probabilities are exactly right.

    The mean of n events with probability p is off by about sqrt(2 p (1 - p) / (n pi)).
    """
    spread = np.sqrt(2 / np.pi * of.counts * of.probs * (1 - of.probs))
    return spread.sum() / of.counts.sum()


if __name__ == "__main__":
    main()
