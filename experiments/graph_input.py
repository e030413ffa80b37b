"""Measure the cost of graph input: seconds of an encoder pass with and without trees, memory in training.

    python -m experiments.graph_input [--words 30 120] [--threads 2]

Sentences have one piece for each word and random trees. The encoder has random weights and the sizes of the
checkpoint in `docs/results/README.md`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace

import numpy as np
import torch

from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.layers.encoder_config import EncoderConfig
from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.graph_input import count_relations, graph_edges, to_edges

N_LABELS = 50
PIECES = 2048


def make_batch(n_words: int, n_sentences: int, rng: np.random.Generator, share: float = 1.0) -> PieceBatch:
    """Batch of sentences of one length, with random heads for a share of the words."""
    width = n_words + 3
    heads = np.array([[rng.integers(0, i) for i in range(1, n_words + 1)] for _ in range(n_sentences)])
    heads[rng.random(heads.shape) >= share] = -1
    words = np.tile(np.concatenate([[-1], np.arange(n_words + 1), [-1]]), (n_sentences, 1))
    return PieceBatch(
        piece_ids=rng.integers(5, 1000, (n_sentences, width)),
        lengths=np.full(n_sentences, width),
        word_index=np.arange(n_words + 1) + 1 + width * np.arange(n_sentences)[:, None],
        n_words=np.full(n_sentences, n_words),
        tag_ids=None,
        coverages=["whole"] * n_sentences,
        sentences=np.arange(n_sentences),
        words=words,
        heads=heads,
        labels=np.where(heads < 0, -1, rng.integers(1, N_LABELS, heads.shape)),
    )


def make_encoder(width: int, n_layers: int, n_heads: int) -> GraphEncoder:
    config = EncoderConfig(1000, width, width, n_layers, n_heads, 4 * width)
    return GraphEncoder(replace(config, n_relations=count_relations(N_LABELS), normalise_keys=True))


def seconds(encoder: GraphEncoder, batch: PieceBatch, runs: int) -> tuple[float, float]:
    """Return the median seconds of passes without and with trees; the latter include making the edges."""
    pieces = torch.from_numpy(batch.piece_ids)
    spent: tuple[list[float], list[float]] = ([], [])
    with torch.inference_mode():
        for run in range(runs + 2):
            for with_trees, times in enumerate(spent):
                start = time.perf_counter()
                edges = to_edges(graph_edges(batch, N_LABELS), pieces.device) if with_trees else None
                encoder(pieces, None, edges=edges)
                if run >= 2:
                    times.append(time.perf_counter() - start)
    return statistics.median(spent[0]), statistics.median(spent[1])


def kept_for_backward(encoder: GraphEncoder, batch: PieceBatch) -> int:
    """Return the bytes of the tensors that a training pass keeps, each counted once."""
    kept: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        held.append(tensor)
        return tensor

    held: list[torch.Tensor] = []
    edges = to_edges(graph_edges(batch, N_LABELS), torch.device("cpu"))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        encoder(torch.from_numpy(batch.piece_ids), None, edges=edges)
    return sum(kept.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, nargs="+", default=[30, 120])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=12)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rng = np.random.default_rng(0)
    encoder = make_encoder(args.width, args.layers, args.heads)
    passes = []
    for n_words in args.words:
        batch = make_batch(n_words, PIECES // (n_words + 3), rng)
        without, with_trees = seconds(encoder.eval(), batch, args.runs)
        passes.append(
            {"words": n_words, "without": without, "with": with_trees, "ratio": with_trees / without}
        )
    memory = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        batch = make_batch(args.words[-1], 4, rng, share)
        n_arcs = int((batch.heads >= 0).sum()) if batch.heads is not None else 0
        memory.append({"arcs": n_arcs, "bytes": kept_for_backward(encoder.train(), batch)})
    print(json.dumps({"passes": passes, "training memory": memory}, indent=2))


if __name__ == "__main__":
    main()
