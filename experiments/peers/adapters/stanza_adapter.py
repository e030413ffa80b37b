"""Adapter of Stanza's graph-based parser with a fine-tuned encoder, and without tags and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adapter import Job, LoadedParser, Tree, Words, count_filled, main, read_sentences, use_threads
from stanza.models import parser as stanza_parser
from stanza.models.common.doc import Document
from stanza.pipeline.core import Pipeline

MODEL = "parser.pt"
#: Of the epochs; then it goes on from the best model with its second optimizer.
FIRST_STAGE = 0.6


def train(job: Job) -> dict[str, Any]:
    """Train by the command line of `stanza.models.parser`, one evaluation an epoch; it keeps the best."""
    use_threads(job["threads"])
    settings = dict(job["settings"])
    lengths = [len(sentence.words) + 1 for sentence in read_sentences(job["train"])]
    steps_an_epoch = count_filled(lengths, settings["batch_size"])
    steps = steps_an_epoch * job["epochs"]
    first_stage = round(FIRST_STAGE * job["epochs"]) or job["epochs"]
    options = {
        "mode": "train",
        "lang": "en",
        "shorthand": "en_peers",
        "train_file": job["train"],
        "eval_file": job["dev"],
        "save_dir": job["model"],
        "save_name": MODEL,
        "bert_model": job["encoder"],
        "max_steps": steps,
        "eval_interval": steps_an_epoch,
        "max_steps_before_stop": steps + 1,
        "second_optim_start_step": first_stage * steps_an_epoch,
        # Rates are only set anew after an evaluation, so that a warm-up of one step would be an epoch of 0.
        "bert_start_finetuning": 0,
        "bert_warmup_steps": 0,
        "second_warmup_steps": 0,
        "seed": job["seed"],
        **settings,
    }
    flags = ["--bert_finetune", "--no_upos", "--no_xpos", "--no_ufeats", "--no_pretrain", "--no_checkpoint"]
    flags += ["--cpu"] if job["gpu"] < 0 else ["--cuda"]
    for name, value in options.items():
        flags += [f"--{name}", str(value)]
    stanza_parser.main(flags)
    return {"steps": steps}


def rows_of(words: Words) -> list[dict[str, Any]]:
    # Stanza asks for the tag and does not read it.
    return [{"id": i, "text": word, "upos": "X"} for i, word in enumerate(words, 1)]


def tree_of(words: Any) -> Tree:
    return [(word.head, word.deprel) for word in words]


def load(job: Job) -> LoadedParser:
    use_threads(job["threads"])
    # A pipeline wants a list of the models that can be downloaded; it needs none of them.
    resources = Path(job["model"], "resources")
    resources.mkdir(exist_ok=True)
    (resources / "resources.json").write_text("{}", encoding="utf8")
    pipeline = Pipeline(
        lang="en",
        dir=str(resources),
        processors="depparse",
        package=None,
        download_method=None,
        allow_unknown_language=True,
        use_gpu=job["gpu"] >= 0,
        verbose=False,
        depparse_pretagged=True,
        depparse_model_path=str(Path(job["model"], MODEL)),
    )

    def parse(sentences: list[Words]) -> Any:
        return pipeline(Document([rows_of(words) for words in sentences]))

    def trees(document: Any) -> list[Tree]:
        return [tree_of(sentence.words) for sentence in document.sentences]

    network = pipeline.processors["depparse"].trainer.model
    return LoadedParser(parse, trees, sum(p.numel() for p in network.parameters()))


if __name__ == "__main__":
    main(train, load, ("stanza", "transformers", "torch"))
