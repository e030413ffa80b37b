"""The corpus reader ``spacy_g2g.AMRCorpus.v1``: training examples with AMRs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from ...data.corpus import corpus_files, unparsed_copy
from ...errors import Errors, Warnings
from ..formats.amr_file import OnError, read_file_blocks, select_ids
from .docs import doc_from_amr, get_amr_ids, set_amr_extensions

#: Suffixes of files with AMRs as text.
AMR_SUFFIXES = (".txt", ".amr")
AMR_CORPUS_SUFFIXES = (*AMR_SUFFIXES, ".spacy")

#: A word with a mark that tokenised text separates. A full stop may belong to any word but the last.
_RAW = re.compile(r"\w[,;]$")
_RAW_END = re.compile(r"\w[.?!]$")


def make_amr_corpus(
    path: Path | None,
    gold_tokens: bool = True,
    ids: list[str] | None = None,
    limit: int = 0,
    on_error: OnError = "raise",
) -> Callable[[Language], Iterator[Example]]:
    """Make the reader ``spacy_g2g.AMRCorpus.v1`` of AMR files (.txt, .amr) and .spacy files with AMRs.

    Each sentence of an AMR file makes a Doc; ``convert-amr`` writes .spacy files. The predicted Doc of an
    example has the words and boundaries of the reference, which has the AMRs in ``doc._.amr``. The reader
    keeps in memory what it has read.

    path: File, or folder whose files are read in the order of their names.
    gold_tokens: Take the words of ``::tok``, or of ``::snt`` split at white space if there is no ``::tok``.
        If false, the pipeline's tokenizer makes the words, without the file's alignment markers. It has no
        effect on .spacy files.
    ids: Ids of the AMRs to take, or ranges of ids such as "lpp_1943.1..145"; null for all. Of a .spacy file
        the reader takes the Docs that have one of the ids.
    limit: Number of Docs to read; 0 for all.
    on_error: Effect of an AMR that can't be read: an error ("raise"), or a warning with the number of AMRs
        that are left out ("skip").
    Raises ValueError for an unknown value of on_error. The reader raises ValueError or FileNotFoundError
        without a path, without a corpus there, if none of the ids is found, and if an AMR can't be read.
    """
    options = AmrOptions(gold_tokens, ids, limit, on_error)
    kept: dict[str, Any] = {"vocab": None}

    def read(nlp: Language) -> Iterator[Example]:
        if kept["vocab"] is not nlp.vocab:
            docs = list(AmrReader(nlp, options).read(corpus_files(path, AMR_CORPUS_SUFFIXES)))
            kept.update(vocab=nlp.vocab, docs=docs)
        for doc in kept["docs"]:
            yield Example(unparsed_copy(doc, ["SENT_START"]), doc)

    return read


@dataclass(frozen=True)
class AmrOptions:
    """Choice of AMRs and way of reading them; see ``make_amr_corpus``."""

    gold_tokens: bool = True
    ids: Sequence[str] | None = None
    limit: int = 0
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise ValueError(Errors.E1008.format(on_error=self.on_error))


class AmrReader:
    """Reads Docs with AMRs: a Doc for each AMR of a text file, and the Docs of .spacy files unchanged.

    nlp: Pipeline with the vocabulary of the Docs and the tokenizer.
    options: Choice of AMRs and way of reading them.
    skipped: A message for each AMR that was skipped.
    """

    def __init__(self, nlp: Language, options: AmrOptions) -> None:
        set_amr_extensions()
        self.nlp = nlp
        self.options = options
        self.skipped: list[str] = []
        self._is_wanted = select_ids(options.ids) if options.ids is not None else lambda _: True
        self._n_docs = 0

    def read(self, files: Iterable[Path]) -> Iterator[Doc]:
        """Yield the Docs of files.

        files: The files.
        Raises ValueError for an AMR that cannot be read, unless it is skipped, and if no file has a wanted
        AMR.
        """
        names = []
        found_ids = set[str]()
        for file in files:
            if self._is_full:
                break
            names.append(str(file))
            for doc in self._read_bin(file) if file.suffix == ".spacy" else self._read_text(file):
                found_ids.update(get_amr_ids(doc) or ())
                yield doc
        if not self._n_docs:
            raise ValueError(Errors.E1007.format(path=", ".join(names), n=len(self.skipped)))
        missing = [entry for entry in self.options.ids or () if not any(map(select_ids([entry]), found_ids))]
        if missing and not self.skipped and not self._is_full:
            message = Warnings.W1005.format(missing=missing[:5], path=", ".join(names))
            warnings.warn(message, stacklevel=2)

    @property
    def _is_full(self) -> bool:
        return 0 < self.options.limit <= self._n_docs

    def _read_bin(self, file: Path) -> Iterator[Doc]:
        for doc in DocBin().from_disk(file).get_docs(self.nlp.vocab):
            if not self._is_full and (
                self.options.ids is None or any(map(self._is_wanted, get_amr_ids(doc) or ()))
            ):
                self._n_docs += 1
                yield doc

    def _read_text(self, file: Path) -> Iterator[Doc]:
        """Yield the Docs of a file. Warn of skipped AMRs, and if most of the text is not tokenised."""
        tokenizer = None if self.options.gold_tokens else self.nlp.tokenizer
        skipped, raw, n = [], [], 0
        for block in read_file_blocks(file, self._is_wanted):
            try:
                if isinstance(block, ValueError):
                    raise block
                doc = doc_from_amr(block, self.nlp.vocab, tokenizer)
            except ValueError as error:
                if self.options.on_error == "raise":
                    raise
                skipped.append(str(error))
                continue
            n += 1
            if tokenizer is None and "tok" not in block.metadata:
                raw += _raw_words(block.tokens)[:1]
            self._n_docs += 1
            yield doc
            if self._is_full:
                break
        self.skipped += skipped
        if skipped:
            message = Warnings.W1001.format(n=len(skipped), path=file, first=skipped[0])
            warnings.warn(message, stacklevel=2)
        if len(raw) * 2 > n:
            message = Warnings.W1002.format(n=len(raw), of=n, path=file, word=raw[0])
            warnings.warn(message, stacklevel=2)


def _raw_words(words: Sequence[str]) -> list[str]:
    """Return the words that show that a text is not tokenised."""
    return [word for word in words if _RAW.search(word)] + [w for w in words[-1:] if _RAW_END.search(w)]
