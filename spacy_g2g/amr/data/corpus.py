"""The corpus reader ``spacy_g2g.AMRCorpus.v1``: training examples with AMRs."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...data.corpus import corpus_files, read_bin_file, unparsed_copy
from ...errors import Errors, Warnings
from ..formats.amr_file import OnError, read_file_blocks, select_ids
from .docs import doc_from_amr, get_amr_ids, set_amr_extensions

#: Suffixes of files with AMRs as text.
AMR_SUFFIXES = (".txt", ".amr")
AMR_CORPUS_SUFFIXES = (*AMR_SUFFIXES, ".spacy")

#: A word with punctuation that tokenized text splits off. A period may belong to any word except the last.
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
    reader = AmrReader(gold_tokens=gold_tokens, ids=ids, limit=limit, on_error=on_error)
    cache: dict[str, Any] = {"vocab": None}

    def read(nlp: Language) -> Iterator[Example]:
        if cache["vocab"] is not nlp.vocab:
            docs = list(reader.read(nlp, corpus_files(path, AMR_CORPUS_SUFFIXES)))
            cache.update(vocab=nlp.vocab, docs=docs)
        for doc in cache["docs"]:
            yield Example(unparsed_copy(doc, ["SENT_START"]), doc)

    return read


@dataclass(kw_only=True)
class AmrReader:
    """Reads Docs with AMRs: a Doc for each AMR of a text file, and the Docs of .spacy files unchanged.

    The settings are those of ``make_amr_corpus``.

    skipped: A message for each AMR that was skipped.
    """

    gold_tokens: bool = True
    ids: Sequence[str] | None = None
    limit: int = 0
    on_error: OnError = "raise"
    skipped: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise ValueError(Errors.E1008.format(on_error=self.on_error))
        self._is_wanted = select_ids(self.ids)

    def read(self, nlp: Language, files: Iterable[Path]) -> Iterator[Doc]:
        """Yield the Docs of files.

        nlp: Pipeline with the vocabulary of the Docs and the tokenizer.
        files: The files.
        Raises ValueError for an AMR that cannot be read, unless it is skipped, and if no file has a wanted
        AMR.
        """
        set_amr_extensions()
        self.skipped = []
        names, found_ids, n = [], set[str](), 0
        for file in files:
            names.append(str(file))
            read = self._read_bin if file.suffix == ".spacy" else self._read_text
            for doc in read(nlp, file, self.limit - n):
                found_ids.update(get_amr_ids(doc) or ())
                n += 1
                yield doc
            if 0 < self.limit <= n:
                return
        if not n:
            raise ValueError(Errors.E1007.format(path=", ".join(names), n=len(self.skipped)))
        missing = [entry for entry in self.ids or () if not any(map(select_ids([entry]), found_ids))]
        if missing and not self.skipped:
            message = Warnings.W1005.format(missing=missing[:5], path=", ".join(names))
            warnings.warn(message, stacklevel=2)

    def _read_bin(self, nlp: Language, file: Path, max_docs: int) -> Iterator[Doc]:
        docs = read_bin_file(file, nlp.vocab)
        if self.ids is not None:
            docs = (doc for doc in docs if any(map(self._is_wanted, get_amr_ids(doc) or ())))
        return islice(docs, max_docs if max_docs > 0 else None)

    def _read_text(self, nlp: Language, file: Path, max_docs: int) -> Iterator[Doc]:
        """Yield the Docs of a file. Warn about skipped AMRs, and if most of the text is not tokenized."""
        tokenizer = None if self.gold_tokens else nlp.tokenizer
        skipped, raw, n = [], [], 0
        for block in read_file_blocks(file, self._is_wanted):
            try:
                if isinstance(block, ValueError):
                    raise block
                doc = doc_from_amr(block, nlp.vocab, tokenizer)
            except ValueError as error:
                if self.on_error == "raise":
                    raise
                skipped.append(str(error))
                continue
            n += 1
            if tokenizer is None and "tok" not in block.metadata:
                raw += _raw_words(block.tokens)[:1]
            yield doc
            if n == max_docs:
                break
        self.skipped += skipped
        if skipped:
            message = Warnings.W1001.format(n=len(skipped), path=file, first=skipped[0])
            warnings.warn(message, stacklevel=2)
        if len(raw) * 2 > n:
            message = Warnings.W1002.format(n=len(raw), of=n, path=file, word=raw[0])
            warnings.warn(message, stacklevel=2)


def _raw_words(words: Sequence[str]) -> list[str]:
    """Return the words that show that a text is not tokenized."""
    raw = [word for word in words if _RAW.search(word)]
    return raw + [word for word in words[-1:] if _RAW_END.search(word)]
