"""The corpus reader ``spacy_g2g.AMRCorpus.v1``: training examples with AMRs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from ...data.corpus import corpus_files, unparsed_copy
from ...errors import Errors, Warnings
from ..formats.amr_file import AmrBlock, OnError, read_file_blocks, select_ids
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
    return AmrCorpus(path, AmrOptions(gold_tokens, ids, limit, on_error))


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


class AmrCorpus:
    """Examples of Docs with AMRs, which stay in memory after the first epoch.

    path: A file or folder.
    options: Choice of AMRs and way of reading them.
    """

    def __init__(self, path: Path | None, options: AmrOptions) -> None:
        self.path = path
        self.options = options
        self._docs: list[Doc] = []
        self._vocab: Vocab | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of an epoch."""
        if self._vocab is not nlp.vocab:
            self._docs = list(AmrReader(nlp, self.options).read(corpus_files(self.path, AMR_CORPUS_SUFFIXES)))
            self._vocab = nlp.vocab
        for doc in self._docs:
            yield Example(unparsed_copy(doc, ["SENT_START"]), doc)


@dataclass
class _Read:
    """Counts of a file that was read.

    skipped: A message for each AMR that cannot be read.
    n: Number of AMRs that were read.
    raw: A suspicious word of each text that does not look tokenised.
    """

    skipped: list[str] = field(default_factory=list)
    n: int = 0
    raw: list[str] = field(default_factory=list)


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
        self._is_wanted = select_ids(options.ids) if options.ids is not None else None
        self._found_ids: set[str] = set()

    def read(self, files: Iterable[Path]) -> Iterator[Doc]:
        """Yield the Docs of files.

        files: The files.
        Raises ValueError for an AMR that cannot be read, unless it is skipped, and if no file has a wanted
        AMR.
        """
        n_docs, names = 0, list[str]()
        for file in files:
            if n_docs and n_docs == self.options.limit:
                break
            names.append(str(file))
            found = _Read()
            for doc in self._docs(file, found):
                n_docs += 1
                self._found_ids.update(get_amr_ids(doc) or ())
                yield doc
                if n_docs == self.options.limit:
                    break
            self.skipped += found.skipped
            _warn(file, found)
        if not n_docs:
            raise ValueError(Errors.E1007.format(path=", ".join(names), n=len(self.skipped)))
        self._warn_missing(names, n_docs)

    def _warn_missing(self, names: Sequence[str], n_docs: int) -> None:
        """Warn of wanted ids that no file has, unless the limit ended the reading."""
        if self.skipped or n_docs == self.options.limit:
            return
        wanted = self.options.ids or ()
        missing = [entry for entry in wanted if not any(map(select_ids([entry]), self._found_ids))]
        if missing:
            message = Warnings.W1005.format(missing=missing[:5], path=", ".join(names))
            warnings.warn(message, stacklevel=2)

    def _docs(self, file: Path, found: _Read) -> Iterator[Doc]:
        if file.suffix == ".spacy":
            for doc in DocBin().from_disk(file).get_docs(self.nlp.vocab):
                if self._is_wanted is None or any(map(self._is_wanted, get_amr_ids(doc) or ())):
                    yield doc
            return
        for block in read_file_blocks(file, self._is_wanted):
            made = block if isinstance(block, ValueError) else self._doc_or_error(block, found)
            if isinstance(made, Doc):
                yield made
            elif self.options.on_error == "raise":
                raise made
            else:
                found.skipped.append(str(made))

    def _doc_or_error(self, block: AmrBlock, found: _Read) -> Doc | ValueError:
        gold_tokens = self.options.gold_tokens
        tokenizer = None if gold_tokens else self.nlp.tokenizer
        try:
            doc = doc_from_amr(block, self.nlp.vocab, gold_tokens=gold_tokens, tokenizer=tokenizer)
        except ValueError as error:
            return error
        found.n += 1
        if gold_tokens and "tok" not in block.metadata:
            found.raw += _raw_words(block.tokens)[:1]
        return doc


def _raw_words(words: Sequence[str]) -> list[str]:
    """Return the words that show that a text is not tokenised."""
    return [word for word in words if _RAW.search(word)] + [w for w in words[-1:] if _RAW_END.search(w)]


def _warn(file: Path, found: _Read) -> None:
    """Warn of skipped AMRs, and if most of the text of a file is not tokenised."""
    if found.skipped:
        message = Warnings.W1001.format(n=len(found.skipped), path=file, first=found.skipped[0])
        warnings.warn(message, stacklevel=2)
    if len(found.raw) * 2 > found.n:
        message = Warnings.W1002.format(n=len(found.raw), of=found.n, path=file, word=found.raw[0])
        warnings.warn(message, stacklevel=2)
