"""Convert a treebank's training and development sets to spaCy's format.

    python -m project.corpora FOLDER OUTPUT [--n-sents N]

Sets that are up to date are not converted again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy_g2g.cli.common import user_errors
from spacy_g2g.cli.convert import convert

from .up_to_date import is_up_to_date, one_at_a_time, record_sources, sources_of


def convert_once(source: Path, output: Path, n_sents: int) -> None:
    """Convert a file, unless the output is up to date.

    source: CoNLL-U file.
    output: .spacy file.
    n_sents: Number of sentences in each Doc.
    """
    sources = sources_of({"treebank": source}, n_sents=n_sents)
    if is_up_to_date(output, sources):
        return
    with user_errors():
        convert([source], output, n_sents=n_sents)
    record_sources(output, sources)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("folder", type=Path, help="folder with train.conllu and dev.conllu")
    cli.add_argument("output", type=Path, help="folder for train.spacy and dev.spacy")
    cli.add_argument("--n-sents", type=int, default=1, help="sentences in each Doc")
    args = cli.parse_args()
    with one_at_a_time(args.output):
        for split in ("train", "dev"):
            convert_once(args.folder / f"{split}.conllu", args.output / f"{split}.spacy", args.n_sents)


if __name__ == "__main__":
    main()
