"""Convert a treebank's training and development sets to spaCy's format.

    python -m project.corpora FOLDER OUTPUT [--n-sents N]

Sets that are up to date are not converted again. If treebanks were joined, each Doc names its treebank.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_g2g.conversion.convert import convert
from spacy_g2g.data.corpus import read_gold_docs
from spacy_g2g.data.docs import TREEBANK_KEY
from spacy_g2g.files import atomic_path
from spacy_g2g.terminal.common import user_errors

from .treebank_settings import joined_treebanks, read_source
from .up_to_date import is_up_to_date, one_at_a_time, record_sources, sources_of


def convert_once(files: Mapping[str, Path], output: Path, n_sents: int, prefixes: Mapping[str, str]) -> None:
    """Convert a set, unless the output is up to date.

    files: CoNLL-U file of each treebank, by the treebank's name. A single treebank is named "treebank".
    output: .spacy file.
    n_sents: Number of sentences in each Doc.
    prefixes: Name that the Docs of each treebank keep, by the treebank's name; empty for a single treebank.
    """
    sources = sources_of(files, n_sents=n_sents)
    if is_up_to_date(output, sources):
        return
    with user_errors():
        if prefixes:
            _join(files, output, n_sents, prefixes)
        else:
            convert([*files.values()], output, n_sents=n_sents)
    record_sources(output, sources)


def _join(files: Mapping[str, Path], output: Path, n_sents: int, prefixes: Mapping[str, str]) -> None:
    """Convert the files of several treebanks into one file, in which each Doc names its treebank."""
    joined, vocab = DocBin(store_user_data=True), Vocab()
    for name, file in files.items():
        for doc in read_gold_docs([file], vocab, n_sents):
            doc.user_data[TREEBANK_KEY] = prefixes[name]
            joined.add(doc)
    with atomic_path(output) as path:
        joined.to_disk(path)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("folder", type=Path, help="folder with train.conllu and dev.conllu")
    cli.add_argument("output", type=Path, help="folder for train.spacy and dev.spacy")
    cli.add_argument("--n-sents", type=int, default=1, help="sentences in each Doc")
    args = cli.parse_args()
    with one_at_a_time(args.output):
        prefixes = joined_treebanks(read_source(args.folder))
        for split in ("train", "dev"):
            files = {name: args.folder / name / f"{split}.conllu" for name in prefixes}
            files = files or {"treebank": args.folder / f"{split}.conllu"}
            convert_once(files, args.output / f"{split}.spacy", args.n_sents, prefixes)


if __name__ == "__main__":
    main()
