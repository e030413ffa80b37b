"""Simulate an annotator who corrects sentences that were picked, and a parser that learns from them.

    python -m experiments.simulated_picking PIPELINE POOL.conllu DEV.conllu STRATEGY:N:SEED ...

The pipeline parses the pool. N sentences are picked from a random 80 % of it and get their gold trees. The
parser goes on from its weights with them alone, for 60 steps. A line of JSON says how many words they have,
how many of these XX is the expected number of wrong arcs, by calibrated probabilities.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from pathlib import Path

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.batchers import minibatch_by_padded_size
from thinc.api import Adam, fix_random_seed

from spacy_g2g import final_parser
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_doc
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

N_STEPS, N_WARMUP, RATE = 60, 6, 0.0006
#: By strategy: what each word counts (its doubt, or 1), and the cost of a sentence, a word and a doubt.
VARIED = {
    "doubtful-forms": ("doubt", (0, 1, 0)),
    "doubtful-forms-cost": ("doubt", (0, 1, 4)),
    "doubtful-forms-sure": ("doubt", (0, 0, 1)),
    "frequent-forms": ("one", (10, 1, 4)),
}


@dataclass(eq=False)
class Candidate:
    """A sentence of the pool: gold tree, forms, doubt of each word, and number of words with a wrong arc."""

    gold: ConlluSentence
    forms: list[str]
    doubts: list[float]
    n_wrong: int


def make_docs(sentences: Iterable[ConlluSentence], nlp: Language) -> Iterator[Doc]:
    """Yield Docs of single sentences without trees."""
    return (sentences_to_doc([s], nlp.vocab, annotations=["SENT_START"]) for s in sentences)


def read_pool(nlp: Language, gold: Sequence[ConlluSentence]) -> Iterator[Candidate]:
    """Parse sentences."""
    parser = final_parser(nlp, keep_scores=True)
    for sentence, doc in zip(gold, nlp.pipe(make_docs(gold, nlp), batch_size=64), strict=True):
        (confidence,), (parsed,) = parser.confidence(doc), doc_to_sentences(doc)
        pairs = zip(parsed.words, sentence.words, strict=True)
        n_wrong = sum((word.head, word.deprel) != (right.head, right.deprel) for word, right in pairs)
        forms = [word.form.lower() for word in sentence.words]
        yield Candidate(sentence, forms, [1 - prob for prob in confidence.labelled], n_wrong)


def pick(pool: Sequence[Candidate], strategy: str, n: int, seed: int) -> list[Candidate]:
    """Return n sentences from a random 80 % of the pool; only random strategies may take equal sentences."""
    sample = random.Random(100 + seed).sample(range(len(pool)), int(0.8 * len(pool)))
    rest = [pool[i] for i in sorted(sample)]
    if strategy == "random":
        return random.Random(seed).sample(rest, n)
    if strategy == "random-as-long":
        random.Random(seed).shuffle(rest)
        lengths = [len(c.forms) for c in pick(pool, "least", n, seed)]
        return [take_as_long(rest, length) for length in lengths]
    rest = list({tuple(c.forms): c for c in reversed(rest)}.values())[::-1]
    rest = [c for c in rest if 5 <= len(c.forms) <= 60]
    if strategy == "least":
        return sorted(rest, key=lambda c: -sum(c.doubts) / len(c.forms))[:n]
    return pick_varied(rest, n, *VARIED[strategy])


def take_as_long(candidates: list[Candidate], length: int) -> Candidate:
    """Remove and return the first of the candidates whose length is nearest."""
    distances = [abs(len(c.forms) - length) for c in candidates]
    return candidates.pop(distances.index(min(distances)))


def pick_varied(pool: Sequence[Candidate], n: int, counts: str, costs: Sequence[float]) -> list[Candidate]:
    """Return the n sentences that add most, one by one, to what the others of them have, for their cost.

    With "doubt", a form is worth the square root of its doubt in these sentences. With "one", it is worth its
    doubt in the whole pool times k / (k + 3), if they have it k times.
    """
    amounts = {id(c): Counter[str]() for c in pool}
    of_pool: Counter[str] = Counter()
    for c in pool:
        for form, doubt in zip(c.forms, c.doubts, strict=True):
            amounts[id(c)][form] += doubt if counts == "doubt" else 1  # type: ignore[assignment]
            of_pool[form] += doubt  # type: ignore[assignment]
    have: Counter[str] = Counter()

    def worth(form: str, k: float) -> float:
        return k**0.5 if counts == "doubt" else of_pool[form] * k / (k + 3)

    def loss(c: Candidate) -> float:
        gains = (worth(f, have[f] + k) - worth(f, have[f]) for f, k in amounts[id(c)].items())
        return -sum(gains) / (costs[0] + costs[1] * len(c.forms) + costs[2] * sum(c.doubts))

    heap = [(loss(c), i) for i, c in enumerate(pool)]
    heapify(heap)
    picked: list[Candidate] = []
    while heap and len(picked) < n:
        i = heappop(heap)[1]
        if heap and loss(pool[i]) > heap[0][0]:  # gains only shrink
            heappush(heap, (loss(pool[i]), i))
        else:
            picked.append(pool[i])
            have.update(amounts[id(pool[i])])
    return picked


def make_batches(examples: list[Example], seed: int) -> Iterator[list[Example]]:
    """Yield batches without end, in a new order each time."""
    order = random.Random(seed)
    while True:
        order.shuffle(examples)
        yield from minibatch_by_padded_size(examples, size=800, buffer=1000, discard_oversize=False)


def learn(nlp: Language, picked: Sequence[Candidate], seed: int) -> None:
    """Train the parser on the gold trees of sentences."""
    gold = [sentences_to_doc([c.gold], nlp.vocab, keep_source=False) for c in picked]
    examples = [Example(unparsed_copy(doc, ["SENT_START"]), doc) for doc in gold]
    optimizer = Adam(RATE, beta2=0.98, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=False)
    for step, batch in zip(range(N_STEPS), make_batches(examples, seed), strict=False):
        optimizer.learn_rate = RATE * min(1, (step + 1) / N_WARMUP) * (1 - step / N_STEPS)
        nlp.update(batch, sgd=optimizer, drop=0.1)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("pipeline", "pool", "dev"):
        parser.add_argument(name, type=Path)
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    torch.set_num_threads(1)
    nlp = spacy.load(args.pipeline)
    labels = {*final_parser(nlp).labels, "root"}
    gold = [s for s in read_conllu(args.pool) if labels.issuperset(word.deprel for word in s.words)]
    pool, dev = list(read_pool(nlp, gold)), list(read_conllu(args.dev))
    for run in args.runs:
        strategy, n, seed = run.split(":")
        picked = pick(pool, strategy, int(n), int(seed))
        fix_random_seed(int(seed))
        nlp = spacy.load(args.pipeline)
        learn(nlp, picked, int(seed))
        parsed = [s for doc in nlp.pipe(make_docs(dev, nlp)) for s in doc_to_sentences(doc)]
        scores = evaluate_sentences(dev, parsed)
        row = {name: round(100 * scores[name].f1, 2) for name in ("LAS", "UAS")}
        words, corrections = sum(len(c.forms) for c in picked), sum(c.n_wrong for c in picked)
        print(json.dumps({"run": run, "words": words, "corrections": corrections, **row}), flush=True)


if __name__ == "__main__":
    main()
