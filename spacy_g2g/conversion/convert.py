"""``convert``: convert CoNLL-U or CoNLL-X files to spaCy's DocBin."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin

from ..data.docs import sentences_to_docs
from ..errors import Errors
from ..files import atomic_path, files_in
from ..formats.conllu import ConlluSentence, read_conllu
from ..formats.conllx import TREEBANK_SUFFIXES
from ..terminal.common import check_distinct, check_suffix, progress
from ..terminal.messages import msg
from ..terminal.options import AttachRoots, Silent


@dataclass
class Counts:
    """Numbers of converted items; ``labels`` has the number of words for each dependency relation."""

    docs: int = 0
    sentences: int = 0
    words: int = 0
    multiword_tokens: int = 0
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: ConlluSentence) -> None:
        """Add a sentence to the counts."""
        self.sentences += 1
        self.words += len(sentence.words)
        self.multiword_tokens += sum(token.is_multiword for token in sentence.tokens)
        self.labels.update(word.deprel for word in sentence.words if word.deprel != "_")


def convert(
    inputs: Annotated[
        list[Path], typer.Argument(help="CoNLL-U files, folders of them, or CoNLL-X files (.conllx, .conll)")
    ],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write")],
    *,
    n_sents: Annotated[
        int, typer.Option("--n-sents", "-n", help="Sentences per Doc; `# newdoc` starts a new one")
    ] = 1,
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language code of the vocabulary")] = "xx",
    merge_subtokens: Annotated[
        bool, typer.Option("--merge-subtokens", "-T", help="Make each multiword token one word")
    ] = False,
    attach_roots: AttachRoots = False,
    silent: Silent = False,
) -> Counts:
    """Convert CoNLL-U or CoNLL-X to spaCy's binary format.

    Tokens are syntactic words, or with --merge-subtokens tokens of the text. Comments, multiword tokens,
    empty nodes and MISC stay in the file, and `parse` writes them back.
    """
    check_suffix(output, [".spacy"])
    counts = Counts()
    doc_bin = DocBin(store_user_data=True)
    sentences: Iterable[ConlluSentence] = chain.from_iterable(
        read_conllu(file, attach_roots=attach_roots) for file in conllu_files(inputs)
    )
    if merge_subtokens:
        sentences = (sentence.merge_multiword() for sentence in sentences)
    bar = progress(_count(sentences, counts), unit="sentences", silent=silent)
    for doc in sentences_to_docs(bar, spacy.blank(lang).vocab, n_sents=n_sents):
        doc_bin.add(doc)
    counts.docs = len(doc_bin)
    if not counts.docs:
        raise ValueError(Errors.E925.format(path=", ".join(map(str, inputs))))
    with atomic_path(output) as path:
        doc_bin.to_disk(path)
    if not silent:
        msg.good(
            f"{counts.sentences} sentences, {counts.words} words, "
            f"{counts.multiword_tokens} multiword tokens, {len(counts.labels)} labels "
            f"in {counts.docs} Docs: {output}"
        )
    return counts


def conllu_files(paths: Iterable[Path]) -> list[Path]:
    """Return files, and the .conllu files of folders in the order of their names.

    Raises ValueError if a file is not a treebank, or is named twice.
    Raises FileNotFoundError if a file is missing or a folder has no .conllu file.
    """
    files: list[Path] = []
    for path in paths:
        treebanks = files_in(path, "*.conllu") if path.is_dir() else [path]
        if not treebanks or not treebanks[0].exists():
            raise FileNotFoundError(Errors.E906.format(path=path / "*.conllu" if path.is_dir() else path))
        for file in treebanks:
            check_suffix(file, TREEBANK_SUFFIXES)
        files += treebanks
    check_distinct(files)
    return files


def _count(sentences: Iterable[ConlluSentence], counts: Counts) -> Iterator[ConlluSentence]:
    for sentence in sentences:
        counts.add(sentence)
        yield sentence
