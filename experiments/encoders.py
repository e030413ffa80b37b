"""Compare our encoders with those of transformers, with random weights: difference of vectors, and CPU time.

    python -m experiments.encoders [--families modernbert mmbert-small ...] [--layers 22] check
    python -m experiments.encoders [--families ...] [--layers 4] speed en_ewt-ud-dev.conllu
    python -m experiments.encoders --families modernbert --layers 3 long

`check` prints the largest difference between the two at each length. `speed` prints seconds of CPU time of
one thread. Sentences have one piece for each word and two special ones. Batches have 32 sentences in the
order of the treebank, padded to the longest. Their models run as "eager", and as "sdpa" where they can. All
take turns.
`long` prints CPU time for one long row: without graph, with a random tree, and with a tree in which all words
hang on one. It also prints the memory that the process needed at most up to then, beyond what it had after
the first row.

Vocabularies are cut to 1,000 pieces, which layers do not see. EuroBERT needs transformers 5.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.layers.checkpoints.load import load_checkpoint, load_weights
from spacy_g2g.layers.edges import Edges
from spacy_g2g.layers.encoder import GraphEncoder

Run = Callable[[Tensor, Tensor], Tensor]

#: Names of classes, and sizes of published checkpoints.
MODERNBERT = {
    "hidden_size": 768,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "intermediate_size": 1152,
    "reference_compile": False,
}
DEBERTA = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 1024,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "position_biased_input": False,
}
EUROBERT = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 12,
    "intermediate_size": 3072,
    "rope_theta": 250_000.0,
}
MMBERT = {**MODERNBERT, "local_rope_theta": 160_000.0}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "modernbert": ("ModernBert", MODERNBERT),
    "mmbert-base": ("ModernBert", MMBERT),
    "mmbert-small": ("ModernBert", {**MMBERT, "hidden_size": 384, "num_attention_heads": 6}),
    "deberta-v3": ("DebertaV2", DEBERTA),
    "deberta-v3-small": ("DebertaV2", {**DEBERTA, "num_hidden_layers": 6}),
    "eurobert": ("EuroBert", EUROBERT),
}
#: Kinds of attention that transformers has for a class; "eager" and "sdpa" for the others.
KINDS = {"DebertaV2": ("eager",)}
SMALL = {"vocab_size": 1000, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LENGTHS = (1, 17, 64, 65, 66, 130, 1024)
BATCH = 32


def kinds_of(family: str) -> tuple[str, ...]:
    return KINDS.get(FAMILIES[family][0], ("eager", "sdpa"))


def make_models(family: str, n_layers: int | None, kinds: tuple[str, ...]) -> tuple[GraphEncoder, list[Any]]:
    """Return our encoder and theirs with the same random weights; kinds are those of their attention."""
    name, sizes = FAMILIES[family]
    if n_layers is not None:
        sizes = {**sizes, "num_hidden_layers": n_layers}
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**sizes, **SMALL)
    model = getattr(transformers, f"{name}Model")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.02)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        (Path(folder) / "tokenizer.json").write_text("{}", encoding="utf8")
        checkpoint = load_checkpoint(Path(folder))
        theirs = [type(model).from_pretrained(folder, attn_implementation=kind) for kind in kinds]
    ours = GraphEncoder(checkpoint.config)
    ours.load_state_dict(checkpoint.weights)
    return ours.eval(), [model.eval() for model in theirs]


def make_batch(lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Return random pieces, padded at the end, and their mask."""
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.randint(5, 1000, mask.shape).masked_fill(~mask, 0), mask


def check(family: str, n_layers: int | None, lengths_alone: list[int]) -> dict[str, float]:
    """Return the largest difference of vectors at each length, alone and in one padded batch."""
    ours, (theirs,) = make_models(family, n_layers, kinds_of(family)[-1:])
    found = {}
    for lengths in [*([n] for n in lengths_alone), [130, 66, 64, 1]]:
        pieces, mask = make_batch(lengths)
        with torch.inference_mode():
            expected = theirs(pieces, attention_mask=mask.long()).last_hidden_state
            difference = (ours(pieces, mask) - expected)[mask].abs().max()
        found[", ".join(map(str, lengths))] = float(f"{difference:.2g}")
    return {**found, "largest vector component": float(f"{expected[mask].abs().max():.3g}")}


def sentence_lengths(path: Path) -> list[int]:
    """Return the numbers of words of a treebank's sentences, with two special pieces."""
    return [len(sentence.words) + 2 for sentence in read_conllu(path)]


def seconds(runs: dict[str, Callable[[], None]], n_rounds: int) -> dict[str, float]:
    """Return the median seconds of CPU time of each run. Runs take turns; a first round does not count."""
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(n_rounds + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if i:
                spent[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in spent.items()}


def speed(family: str, lengths: list[int], n_layers: int | None, n_rounds: int) -> dict[str, Any]:
    """Return seconds of forward passes and of training steps, and how many times faster ours are."""
    kinds = kinds_of(family)
    ours, theirs = make_models(family, n_layers, kinds)
    batches = [make_batch(lengths[i : i + BATCH]) for i in range(0, len(lengths), BATCH)]
    encoders: dict[str, tuple[torch.nn.Module, Run]] = {"ours": (ours, ours)}
    for name, model in zip(kinds, theirs, strict=True):
        encoders[name] = (
            model,
            lambda pieces, mask, m=model: m(pieces, attention_mask=mask).last_hidden_state,
        )

    def predict(encoder: Run) -> None:
        with torch.inference_mode():
            for pieces, mask in batches:
                encoder(pieces, mask)

    def train(module: torch.nn.Module, encoder: Run) -> None:
        for pieces, mask in batches:
            encoder(pieces, mask)[mask].square().mean().backward()
            module.zero_grad()

    found: dict[str, Any] = {"pieces": sum(lengths), "padded": sum(pieces.numel() for pieces, _ in batches)}
    runs = {name: lambda e=encoder: predict(e) for name, (_, encoder) in encoders.items()}
    found["forward"] = with_ratios(seconds(runs, n_rounds))
    for module, _ in encoders.values():
        module.train()
    runs = {name: lambda m=module, e=encoder: train(m, e) for name, (module, encoder) in encoders.items()}
    found["training"] = with_ratios(seconds(runs, n_rounds))
    return found


def long_rows(family: str, n_layers: int | None, lengths: list[int]) -> dict[str, Any]:
    """Return CPU seconds and the growth of memory for rows of rising length."""
    plain, _ = make_models(family, n_layers, ())
    ours = GraphEncoder(replace(plain.config, n_relations=2)).eval()
    load_weights(ours, plain.state_dict())
    found: dict[str, Any] = {}
    before = 0.0
    for n in lengths:
        pieces, mask = make_batch([n])
        heads = (torch.rand(n) * torch.arange(n)).long()[1:]
        words = torch.arange(1, n)
        queries, keys = torch.cat([heads, words]), torch.cat([words, heads])
        none = torch.zeros_like(queries)
        labels = torch.arange(2).repeat_interleave(n - 1)
        tree = Edges(none, queries, keys, labels)
        hub = Edges(none, torch.cat([0 * heads, words]), torch.cat([words, 0 * heads]), labels)
        for name, edges in (("without graph", None), ("with a tree", tree), ("all words on one", hub)):
            start = time.process_time()
            with torch.inference_mode():
                ours(pieces, mask, edges=edges)
            spent = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            before = before or peak
            found[f"{n} pieces, {name}"] = {"seconds": round(spent, 2), "MiB more": round(peak - before)}
    return found


def with_ratios(times: dict[str, float]) -> dict[str, float]:
    ratios = {f"{name} / ours": times[name] / times["ours"] for name in times if name != "ours"}
    return {name: float(f"{value:.3g}") for name, value in {**times, **ratios}.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--layers", type=int)
    commands = parser.add_subparsers(dest="command", required=True)
    of_check = commands.add_parser("check")
    of_check.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    of_long = commands.add_parser("long")
    of_long.add_argument("--lengths", type=int, nargs="+", default=(64, 512, 2048, 8192))
    of_speed = commands.add_parser("speed")
    of_speed.add_argument("treebank", type=Path)
    of_speed.add_argument("--sentences", type=int, default=256)
    of_speed.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    for family in args.families:
        if args.command == "check":
            found: dict[str, Any] = check(family, args.layers, args.lengths)
        elif args.command == "long":
            found = long_rows(family, args.layers, args.lengths)
        else:
            lengths = sentence_lengths(args.treebank)[: args.sentences]
            found = speed(family, lengths, args.layers, args.rounds)
        print(json.dumps({family: found}, indent=2), flush=True)


if __name__ == "__main__":
    main()
