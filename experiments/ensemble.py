"""Parse sentences by the mean of several parsers, to see what they know together or to teach one parser.

    python -m experiments.ensemble INPUT.conllu OUTPUT.conllu PIPELINE PIPELINE ...

Words and sentences of INPUT are given; its trees are not read. All parsers must score all arcs. The
log-probabilities of their arcs and labels are averaged, and OUTPUT gets the best trees by the means. A
student of the ensemble learns from them, together with gold trees:

    cat gold.conllu OUTPUT.conllu > train.conllu
    python -m experiments.table levers train.conllu DEV STUDENT --encoder NAME --rows shipped
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from tqdm import tqdm

from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu
from spacy_g2g.pipeline.final_parser import final_parser


def main(argv: Sequence[str] | None = None) -> None:
    """Write the trees."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("input", type=Path, help="sentences, .conllu")
    cli.add_argument("output", type=Path, help="file for the trees, .conllu")
    cli.add_argument("pipelines", nargs="+", help="trained pipelines, whose last parsers are asked")
    args = cli.parse_args(argv)
    torch.set_num_threads(1)
    sentences = list(read_conllu(args.input, trees="any"))
    found = parse(sentences, args.pipelines)
    with atomic_path(args.output) as temporary:
        temporary.write_text("".join(write_conllu(found)), encoding="utf8")


def parse(sentences: Sequence[ConlluSentence], pipelines: Sequence[str]) -> Iterator[ConlluSentence]:
    """Yield the sentences with the best trees by the mean of the pipelines' parsers.

    Raises ValueError if the parsers have different labels.
    """
    loaded = [spacy.load(name) for name in pipelines]
    parsers = [final_parser(nlp, keep_scores=True) for nlp in loaded]
    first, *others = parsers
    orders = [[first.labels.index(label) - 1 for label in first.labels[1:]]]
    for name, parser in zip(pipelines[1:], others, strict=True):
        if sorted(parser.labels) != sorted(first.labels):
            raise ValueError(
                f"Expected the labels {sorted(first.labels)} of all parsers, but {name} differs."
            )
        orders.append([parser.labels.index(label) - 1 for label in first.labels[1:]])
    streams = [
        nlp.pipe(sentences_to_docs(sentences, nlp.vocab, annotations=["SENT_START"])) for nlp in loaded
    ]
    for docs in tqdm(zip(*streams, strict=True), total=len(sentences)):
        kept = [doc._.g2g_scores["sentences"] for doc in docs]
        means = [mean(of_sentence, orders) for of_sentence in zip(*kept, strict=True)]
        docs[0]._.g2g_scores = {"parser": first.name, "sentences": means}
        yield from doc_to_sentences(first.reparse(docs[0]))


def mean(scores: Sequence[dict[str, Any]], orders: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the mean of what parsers keep of one sentence, with the labels in the first's order."""
    arcs = np.mean([of["arcs"] for of in scores], axis=0)
    labels = np.mean([of["labels"][..., order] for of, order in zip(scores, orders, strict=True)], axis=0)
    return {"arcs": arcs, "labels": labels}


if __name__ == "__main__":
    main()
