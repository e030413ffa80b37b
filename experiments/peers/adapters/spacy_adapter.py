"""Adapter of the parsers that `spacy train` trains: spaCy's, spacy-experimental's and ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import spacy
from adapter import Job, LoadedParser, Tree, Words, main, read_sentences, use_threads
from spacy.cli._util import setup_gpu
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry
from spacy.vocab import Vocab
from thinc.api import Config

#: Label of the root in UD, and the only one that spaCy takes for it.
UD_ROOT, SPACY_ROOT = "root", "ROOT"
WARMUP = 0.1
#: Name of the setting of a first training that leaves the encoder as it is: its "epochs" and "rate".
FROZEN = "frozen"
RATE = "training.optimizer.learn_rate.initial_rate"


@registry.readers("peers.Corpus.v1")
def make_corpus(path: Path) -> Callable[[Language], Iterator[Example]]:
    """Return a reader of a corpus whose Docs are single sentences, with their boundaries set."""

    def read(nlp: Language) -> Iterator[Example]:
        for words, tree in read_sentences(path):
            heads = [head - 1 if head else i for i, (head, _) in enumerate(tree)]
            deps = [SPACY_ROOT if label == UD_ROOT else label for _, label in tree]
            gold = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
            yield Example(make_doc(nlp.vocab, words), gold)

    return read


def make_doc(vocab: Vocab, words: Words) -> Doc:
    return Doc(vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])


def train(job: Job) -> dict[str, Any]:
    """Train by the config with one evaluation an epoch; spaCy keeps the best model.

    If the settings have "frozen", the parser is trained first, on an encoder that does not change.
    """
    use_threads(job["threads"])
    model = Path(job["model"])
    config = make_config(job)
    first = job["settings"].get(FROZEN)
    if first:
        frozen = make_config(
            job | {"epochs": first["epochs"], "settings": {**job["settings"], RATE: first["rate"]}}
        )
        model.mkdir(parents=True, exist_ok=True)
        init_nlp(frozen.interpolate()).to_disk(model / "untrained")
        take_components(frozen, model / "untrained")
        frozen["training"] |= {
            name: ["transformer"] for name in ("frozen_components", "annotating_components")
        }
        run_spacy_train(frozen, model / FROZEN, job["gpu"])
        take_components(config, model / FROZEN / "model-last")
    run_spacy_train(config, model, job["gpu"])
    return {"steps": config["training"]["max_steps"]}


def take_components(config: Config, source: Path) -> None:
    """Let a config take its components from a saved pipeline."""
    config["components"] = {name: {"source": str(source)} for name in config["nlp"]["pipeline"]}


def run_spacy_train(config: Config, folder: Path, gpu: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config.to_disk(folder / "train.cfg", interpolate=False)
    spacy_train(folder / "train.cfg", folder, use_gpu=gpu)


def make_config(job: Job) -> Config:
    """Return the job's config with its settings, our corpora, and a schedule by the number of updates."""
    paths = {f"paths.{name}": job[name] for name in ("train", "dev", "encoder")}
    settings = {name: value for name, value in job["settings"].items() if name != FROZEN}
    overrides = {**settings, **paths, "system.seed": job["seed"]}
    config = Config().from_str(load_config(job["config"]).to_str(), overrides=overrides, interpolate=False)
    for part in ("train", "dev"):
        config["corpora"][part] = {"@readers": "peers.Corpus.v1", "path": f"${{paths.{part}}}"}
    steps_an_epoch = count_batches(config)
    steps = steps_an_epoch * job["epochs"]
    config["training"] |= {"max_steps": steps, "max_epochs": 0, "patience": 0}
    config["training"]["eval_frequency"] = steps_an_epoch
    config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False}
    rate = config["training"]["optimizer"]["learn_rate"]
    rate |= {"warmup_steps": max(1, round(WARMUP * steps)), "total_steps": steps}
    return config


def count_batches(config: Config) -> int:
    """Return the number of batches of an epoch, by the config's batcher."""
    resolved = registry.resolve(config.interpolate()["training"], validate=False)
    vocab = Vocab()
    docs = [make_doc(vocab, sentence.words) for sentence in read_sentences(config["paths"]["train"])]
    return sum(1 for _ in resolved["batcher"](docs))


def load(job: Job) -> LoadedParser:
    setup_gpu(job["gpu"])
    use_threads(job["threads"])
    nlp = spacy.load(Path(job["model"]) / "model-best")

    def parse(sentences: list[Words]) -> list[Doc]:
        return list(nlp.pipe(make_doc(nlp.vocab, words) for words in sentences))

    return LoadedParser(parse, lambda docs: [tree_of(doc) for doc in docs], count_parameters(nlp))


def tree_of(doc: Doc) -> Tree:
    """Return the tree of a Doc. Roots after the first are attached to it, since a sentence has one root."""
    heads = [token.head.i for token in doc]
    roots = [i for i, head in enumerate(heads) if head == i]
    tree = []
    for i, token in enumerate(doc):
        if i == roots[0]:
            tree.append((0, UD_ROOT))
        elif heads[i] == i:
            tree.append((roots[0] + 1, "parataxis"))
        else:
            tree.append((heads[i] + 1, token.dep_))
    return tree


def count_parameters(nlp: Language) -> int:
    """Return the number of parameters of all components, each counted once."""
    seen: set[int] = set()
    return sum(_parameters(pipe.model, seen) for _, pipe in nlp.pipeline if hasattr(pipe, "model"))


def _parameters(model: Any, seen: set[int]) -> int:
    n = 0
    for node in model.walk():
        if id(node) in seen:
            continue
        seen.add(id(node))
        n += sum(node.get_param(name).size for name in node.param_names if node.has_param(name))
        for shim in node.shims:
            network = getattr(shim, "network", None) or getattr(shim, "_model", None)
            n += _size(network.parameters()) if network is not None else 0
    return n


def _size(parameters: Iterable[Any]) -> int:
    return sum(parameter.numel() for parameter in parameters)


if __name__ == "__main__":
    from importlib.metadata import distributions

    known = {distribution.metadata["Name"].lower() for distribution in distributions()}
    names = (
        "spacy",
        "spacy-transformers",
        "spacy-experimental",
        "spacy-g2g",
        "thinc",
        "transformers",
        "torch",
    )
    main(train, load, [name for name in names if name in known])
