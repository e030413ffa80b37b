"""Make a tokenizer that cuts text as a treebank does.

    python -m project.tokenizer FOLDER OUTPUT [--lang CODE]

A tokenizer that is up to date is not made again. Languages that spaCy tokenizes by other means than rules get
none.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from wasabi import msg

from spacy_g2g.cli.common import user_errors
from spacy_g2g.cli.tokenizer import RULES, make_tokenizer

from .treebank_settings import choose_language, read_source
from .up_to_date import is_up_to_date, record_sources, sources_of


def tokenize_once(folder: Path, output: Path, lang: str) -> None:
    """Make a tokenizer, unless the output is up to date or the language has another kind of tokenizer.

    folder: Folder with train.conllu and dev.conllu.
    output: Folder for an empty pipeline with the tokenizer.
    lang: Language code.
    """
    if spacy.blank(lang).config["nlp"]["tokenizer"] != RULES["nlp"]["tokenizer"]:
        msg.info(f"spaCy's tokenizer for {lang} has no rules: it is used as it is")
        return
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    sources = sources_of({"train": train}, lang=lang)
    if is_up_to_date(output, sources):
        return
    with user_errors():
        scores = make_tokenizer(train, output, lang=lang, dev=dev)
    record_sources(output, sources)
    before, after = scores["dev"]
    msg.good(f"{output}: F1 of tokens on dev {100 * after.f1:.2f}, before {100 * before.f1:.2f}")


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path, help="folder with train.conllu and dev.conllu")
    cli.add_argument("output", type=Path, help="folder for the tokenizer")
    cli.add_argument("--lang", default="", help="language code; empty for the treebank's")
    args = cli.parse_args()
    tokenize_once(args.folder, args.output, choose_language(args.lang, read_source(args.folder)))


if __name__ == "__main__":
    main()
