"""Parse a training set with parsers that have not seen it.

    python -m project.jackknife TRAIN OUTPUT --dev DEV [--folds 5] ...

TRAIN (.spacy or .conllu) is split into folds. Each fold is parsed by a parser that was trained on the other
folds. OUTPUT (.conllu or .spacy) has the whole training set in its order, with the predicted trees: it is the
`predicted` corpus of spacy_g2g.RefinerCorpus.v1. On its own training sentences, a parser makes fewer errors
than on other text, so its trees would not show a refiner the errors that it must correct. After an
interruption, the next run keeps the parsed folds.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config
from spacy.vocab import Vocab
from wasabi import msg

from spacy_g2g.conversion.parse import parse
from spacy_g2g.data.corpus import corpus_files, read_gold_docs, unparsed_copy
from spacy_g2g.data.docs import TOKEN_ANNOTATIONS, doc_to_sentences
from spacy_g2g.files import atomic_path, sha256_of
from spacy_g2g.formats.conllu import ConlluSentence, write_conllu
from spacy_g2g.pipeline.scorers import score_ud
from spacy_g2g.terminal.common import check_suffix, write_json

from .train import CONFIG, add_training_arguments, count_corpus
from .training_config import (
    BEST,
    choose_config,
    choose_steps,
    overrides,
    pipeline_config,
    step_settings,
    used_encoder,
)
from .treebank_settings import blank, choose_encoder, choose_language, read_source
from .up_to_date import one_at_a_time, read_json

LEARNED, HELD_OUT, PREDICTED = "learned.spacy", "held_out.spacy", "predicted.spacy"
#: Names of the arguments, other than files, that the trees depend on.
SETTINGS = ("encoder", "lang", "steps", "epochs", "folds", "block", "seed")


def deal(n_docs: int, *, n_folds: int, block: int, seed: int) -> list[list[int]]:
    """Return the sorted numbers of the Docs in each fold.

    Blocks of successive Docs are shuffled and dealt to the folds in turn.

    n_docs: Number of Docs.
    n_folds: Number of folds.
    block: Number of Docs in a block.
    seed: Seed of the shuffling.
    Raises SystemExit for fewer than 2 folds, or fewer blocks than folds.
    """
    starts = list(range(0, n_docs, block)) if block > 0 else []
    if n_folds < 2 or len(starts) < n_folds:
        raise SystemExit(
            f"Can't deal {n_docs} Docs in blocks of {block} to {n_folds} folds: expected 2 or more folds, "
            "and at least as many blocks."
        )
    random.Random(seed).shuffle(starts)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    for number, start in enumerate(starts):
        folds[number % n_folds] += range(start, min(start + block, n_docs))
    return [sorted(fold) for fold in folds]


def write_docs(docs: Sequence[Doc], path: Path) -> None:
    """Write Docs as .spacy or .conllu, by the suffix."""
    with atomic_path(path) as temporary:
        if path.suffix == ".spacy":
            DocBin(docs=docs, store_user_data=True).to_disk(temporary)
            return
        sentences: list[ConlluSentence] = []
        for number, doc in enumerate(docs, start=1):
            sentences += doc_to_sentences(doc, doc_id=str(number))
        with temporary.open("w", encoding="utf8", newline="") as file_:
            file_.writelines(write_conllu(sentences))


def without_tree(doc: Doc) -> Doc:
    """Return a copy of a Doc without its gold tree, which a pipeline could read."""
    copy = unparsed_copy(doc, list(TOKEN_ANNOTATIONS))
    copy.user_data = doc.user_data
    return copy


def las(predicted: Sequence[Doc], *, gold: Sequence[Doc]) -> float:
    """Return the labeled attachment score in percent; 0 without gold trees."""
    pairs = zip(predicted, gold, strict=True)
    return 100 * (score_ud(Example(doc, reference) for doc, reference in pairs)["ud_las"] or 0.0)


def _words(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def read_predicted(folder: Path, gold: Sequence[Doc], vocab: Vocab) -> list[Doc]:
    """Read the parsed Docs of a fold.

    Raises SystemExit if they do not have the words of the gold Docs.
    """
    docs = list(read_gold_docs([folder / PREDICTED], vocab))
    if list(map(_words, docs)) != list(map(_words, gold)):
        raise SystemExit(f"{folder / PREDICTED} has other words than this fold: delete {folder}.")
    return docs


def parse_fold(
    folder: Path, learned: Sequence[Doc], *, held_out: Sequence[Doc], args: argparse.Namespace
) -> None:
    """Train a parser on some Docs, parse the others, and delete the parser.

    folder: Folder of the fold.
    learned: Docs to train on.
    held_out: Docs to parse.
    args: Arguments of the command.
    """
    write_docs(learned, folder / LEARNED)
    write_docs([without_tree(doc) for doc in held_out], folder / HELD_OUT)
    path = choose_config(args.config, encoder=args.encoder)
    config = load_config(path)
    batches = count_corpus(folder / LEARNED, config, args.lang)["batches"] if args.epochs else 0
    settings = overrides(used_encoder(config, args.encoder), lang=args.lang)
    settings |= step_settings(config, choose_steps(args.steps, args.epochs, batches))
    settings |= {"paths.train": str(folder / LEARNED), "paths.dev": args.dev}
    pipeline_config(path, settings).to_disk(folder / CONFIG, interpolate=False)
    output = folder / "training"
    shutil.rmtree(output, ignore_errors=True)
    train(folder / CONFIG, output, use_gpu=args.gpu)
    parse(str(output / BEST), folder / HELD_OUT, folder / PREDICTED, gpu_id=args.gpu)
    shutil.rmtree(output)


def check_settings(work: Path, args: argparse.Namespace) -> None:
    """Record what the trees depend on.

    Raises SystemExit if the folder has folds of other settings.
    """
    config = choose_config(args.config, encoder=args.encoder)
    files = {"train": args.train, "dev": args.dev, "config": config}
    settings = {name: sha256_of(Path(path)) for name, path in files.items()}
    settings |= {name: getattr(args, name) for name in SETTINGS}
    path = work / "settings.json"
    recorded = read_json(path) or settings
    different = sorted(name for name in settings if recorded.get(name) != settings[name])
    if different:
        raise SystemExit(
            f"{work} has folds made with other settings: {', '.join(different)}. Expected the same settings, "
            "or another --work folder."
        )
    write_json(path, settings)


def jackknife(args: argparse.Namespace) -> float:
    """Write the predicted trees of the training set, and return their LAS.

    args: Arguments of the command.
    """
    check_suffix(args.output, [".conllu", ".spacy"])
    source = read_source(args.data)
    args.lang, args.encoder = choose_language(args.lang, source), choose_encoder(args.encoder, source)
    vocab = blank(args.lang).vocab
    gold = list(read_gold_docs(corpus_files(args.train), vocab))
    folds = deal(len(gold), n_folds=args.folds, block=args.block, seed=args.seed)
    work = args.work or args.output.with_suffix(".folds")
    check_settings(work, args)
    predicted: dict[int, Doc] = {}
    for k, fold in enumerate(folds, start=1):
        folder, inside = work / str(k), set(fold)
        held_out = [gold[i] for i in fold]
        learned = [doc for i, doc in enumerate(gold) if i not in inside]
        msg.divider(f"Fold {k} of {len(folds)}: learns from {len(learned)} Docs, parses {len(fold)}")
        if not (folder / PREDICTED).exists():
            parse_fold(folder, learned, held_out=held_out, args=args)
        docs = read_predicted(folder, held_out, vocab)
        msg.good(f"Fold {k}: LAS {las(docs, gold=held_out):.2f}")
        predicted.update(zip(fold, docs, strict=True))
    docs = [predicted[i] for i in range(len(gold))]
    write_docs(docs, args.output)
    score = las(docs, gold=gold)
    msg.good(f"{args.output}: {len(docs)} Docs, LAS {score:.2f}")
    return score


def main(arguments: Sequence[str] | None = None) -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = cli.add_argument
    add("train", type=Path, help="training corpus, .spacy or .conllu")
    add("output", type=Path, help="file for the training corpus with predicted trees, .conllu or .spacy")
    add("--dev", required=True, help="corpus to choose each parser's best step on")
    add("--folds", type=int, default=5, help="number of folds, and of parsers")
    add("--block", type=int, default=10, help="number of successive Docs that stay in one fold")
    add("--seed", type=int, default=0, help="seed for dealing blocks to folds")
    add("--work", type=Path, help="folder for the folds; beside the output if not given")
    add_training_arguments(cli)
    args = cli.parse_args(arguments)
    with one_at_a_time(args.output):
        jackknife(args)


if __name__ == "__main__":
    main()
