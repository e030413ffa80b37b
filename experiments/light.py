"""Compare the parser of configs/light.cfg with spaCy's `parser` on the same tok2vec, data and updates.

    python -m experiments.light TRAIN DEV OUTPUT [--lang CODE] [--sentences 1000] [--steps 800] [--runs 5]

TRAIN and DEV are .conllu files. Both pipelines are the shipped config. In one, spaCy's `parser`, with the
sizes of `spacy init config`, takes the place of ours. Both are trained on Docs of up to ten sentences. The
better of two evaluations by LAS on DEV is kept. A pipeline in OUTPUT is not trained again.

Then both parse DEV from gold words and sentences, on one thread. The tok2vec and the parser are timed by
processor time, in turns; the best of all runs counts. The result is OUTPUT/table.json, and a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import Config

from project.markdown import markdown_table
from project.train import train_into
from project.training_config import BEST, CONFIGS, has_setting, load_config, overrides
from spacy_g2g.cli.common import write_json
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

from .table.configs import write_part
from .table.report import comparison_line
from .table.scores import Counts, count

#: Titles of the systems by name of the component.
SYSTEMS = {"parser": "spaCy's parser", "g2g_parser": "SynTr"}
SENTENCES_PER_DOC = 10
#: What `spacy init config` writes, with the scorer that chooses the best evaluation of our parser.
SPACY_PARSER = {
    "factory": "parser",
    "scorer": {"@scorers": "spacy_g2g.ud_scorer.v1"},
    "model": {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 128,
        "maxout_pieces": 3,
        "use_upper": True,
        "nO": None,
        "tok2vec": {
            "@architectures": "spacy.Tok2VecListener.v1",
            "width": "${components.tok2vec.model.encode.width}",
            "upstream": "*",
        },
    },
}


def main(argv: Sequence[str] | None = None) -> None:
    """Train what is not trained yet, and write the table."""
    args = read_arguments(argv)
    torch.set_num_threads(1)
    for name in SYSTEMS:
        if not (args.output / name).exists():
            train_into(args.output / name, make_config(name, args), gpu=-1)
    table = compare(args)
    write_json(args.output / "table.json", table)
    print(markdown(table))


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command's arguments."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="training sentences, .conllu")
    cli.add_argument("dev", type=Path, help="development sentences, .conllu")
    cli.add_argument("output", type=Path, help="folder for the pipelines and the table")
    cli.add_argument("--lang", default="xx", help="language code of the pipelines")
    sentences = "number of training sentences, spread evenly over TRAIN; 0 for all"
    cli.add_argument("--sentences", type=int, default=0, help=sentences)
    cli.add_argument("--steps", type=int, default=2000, help="number of updates")
    cli.add_argument("--seed", type=int, default=0, help="seed of both trainings")
    cli.add_argument("--runs", type=int, default=5, help="number of timed runs")
    setting = {"nargs": "*", "default": [], "metavar": "NAME=VALUE"}
    cli.add_argument("--set", **setting, help="other values in the configs that have the setting")
    return cli.parse_args(argv)


def make_config(name: str, args: argparse.Namespace) -> Config:
    """Return the shipped config with one of the parsers; writes the corpora that it names."""
    config = load_config(CONFIGS / "light.cfg")
    if name != "g2g_parser":
        del config["components"]["g2g_parser"]
        config["components"][name] = SPACY_PARSER
        config["nlp"]["pipeline"] = [*config["nlp"]["pipeline"][:-1], name]
    settings = overrides("", args.lang, args.steps) | {"system.seed": args.seed}
    settings["training.eval_frequency"] = max(1, args.steps // 2)
    settings["corpora.dev.annotations"] = ["SENT_START"]
    train = args.train
    if args.sentences:
        train = args.output / f"train.{args.sentences}.conllu"
        write_part(args.train, train, args.sentences)
    for part, path in (("train", train), ("dev", args.dev)):
        corpus = args.output / f"{part}.{name}.spacy"
        write_corpus(path, corpus, is_spacy=name != "g2g_parser")
        settings[f"paths.{part}"] = str(corpus)
    config["training"]["score_weights"] = {"ud_las": 1.0}
    given = {name: json.loads(value) for name, _, value in (item.partition("=") for item in args.set)}
    settings |= {name: value for name, value in given.items() if has_setting(config, name)}
    return Config().from_str(config.to_str(), overrides=settings, interpolate=False)


def write_corpus(path: Path, output: Path, *, is_spacy: bool) -> None:
    """Write Docs of several sentences; for spaCy's parser with ROOT, the only root label that it knows."""
    docs = DocBin(store_user_data=True)
    for doc in sentences_to_docs(read_conllu(path), spacy.blank("xx").vocab, n_sents=SENTENCES_PER_DOC):
        for token in doc:
            if is_spacy and token.dep_ == "root":
                token.dep_ = "ROOT"
        docs.add(doc)
    with atomic_path(output) as temporary:
        docs.to_disk(temporary)


def compare(args: argparse.Namespace) -> dict[str, Any]:
    """Return the scores and the speed of all systems, and their difference."""
    gold = list(read_conllu(args.dev, trees="full"))
    pipelines = {}
    for name in SYSTEMS:
        nlp = spacy.load(args.output / name / BEST)
        nlp.select_pipes(enable=["tok2vec", name])
        pipelines[name] = nlp
    docs = {name: make_docs(nlp, gold) for name, nlp in pipelines.items()}
    seconds: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    parsed: dict[str, list[Doc]] = {}
    for _ in range(args.runs + 1):
        for name, nlp in pipelines.items():
            copies = [doc.copy() for doc in docs[name]]
            start = time.process_time()
            parsed[name] = list(nlp.pipe(copies))
            seconds[name].append(time.process_time() - start)
    table: dict[str, Any] = {"train": args.train.name, "dev": args.dev.name}
    table |= {"sentences": args.sentences, "steps": args.steps}
    for name in SYSTEMS:
        found = [with_tree(sentence, doc) for sentence, doc in zip(gold, parsed[name], strict=True)]
        counts = count(gold, found)
        n_roots = [sum(word.head == 0 for word in sentence.words) for sentence in found]
        # The first run is a warm-up.
        speeds = [sum(counts["words"]) / spent for spent in seconds[name][1:]]
        table[name] = counts | {
            "words_per_second": speeds,
            "one_root": n_roots.count(1) / len(n_roots),
        }
    ours, theirs = (table[name] for name in ("g2g_parser", "parser"))
    difference = paired_bootstrap(theirs["las"], ours["las"], totals=ours["words"])
    return table | {"difference": vars(difference)}


def make_docs(nlp: Language, sentences: Sequence[ConlluSentence]) -> list[Doc]:
    """Return Docs with the words and boundaries of single sentences."""
    return list(sentences_to_docs(sentences, nlp.vocab, annotations=("SENT_START",), keep_source=False))


def with_tree(sentence: ConlluSentence, doc: Doc) -> ConlluSentence:
    """Return a sentence with the heads and labels of its Doc. spaCy's parser may give it several roots."""
    heads = [str(0 if token.head == token else token.head.i + 1) for token in doc]
    labels = ["root" if token.dep_ == "ROOT" else token.dep_ for token in doc]
    return sentence.replace(head=heads, deprel=labels)


def markdown(table: Mapping[str, Any]) -> str:
    """Return the table and the comparison as Markdown."""
    rows = [("", "UAS", "LAS", "non-projective heads", "sentences with one root", "words/s")]
    for name, title in SYSTEMS.items():
        of_system: Counts = table[name]
        n_words = sum(of_system["words"])
        shares = [100 * sum(of_system[metric]) / n_words for metric in ("uas", "las")]
        rows.append(
            (
                title,
                *(f"{share:.2f}" for share in shares),
                f"{of_system['non_projective_uas']} of {of_system['non_projective']}",
                f"{100 * of_system['one_root']:.1f}%",
                f"{max(of_system['words_per_second']):,.0f}",
            )
        )
    part = f"{table['sentences'] or 'all'} sentences of {table['train']}"
    title = f"{part}, {table['steps']} updates; scored on {table['dev']}"
    lines = [title, markdown_table(rows), comparison_line("SynTr", SYSTEMS["parser"], table["difference"])]
    return "\n\n".join(lines)


if __name__ == "__main__":
    main()
