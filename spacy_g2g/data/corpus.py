"""The corpus reader ``spacy_g2g.Corpus.v1``: training examples with gold words and gold sentences."""

import math
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, permutations
from numbers import Real
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import ensure_path
from spacy.vocab import Vocab

from ..errors import Errors
from ..files import files_in
from ..formats.conllu import read_conllu
from ..formats.graph import Graph
from .doc_graphs import write_initial_graph
from .docs import (
    TOKEN_ANNOTATIONS,
    TREEBANK_KEY,
    check_annotations,
    copy_treebank,
    sentences_to_docs,
)
from .multiword import copy_words
from .roles import keep_roles
from .source import USER_DATA_KEY, restore_sentences

CORPUS_SUFFIXES = (".conllu", ".spacy")
#: Maximum number of words in an epoch, as a multiple of the words of all treebanks.
MAX_EPOCH = 100

#: Yields the Examples that replace an Example.
Augmenter = Callable[[Language, Example], Iterator[Example]]
#: A gold Doc and the initial graphs of its sentences, which the predicted Doc gets; None without graphs.
GoldAndInitial = tuple[Doc, list[Graph] | None]


def make_corpus(
    path: Path | dict[str, Path | None] | None,
    *,
    limit: int = 0,
    max_length: int = 0,
    annotations: list[str] = ["SENT_START"],  # noqa: B006 (a registered function's config default)
    shuffle: bool = False,
    seed: int = 0,
    augmenter: Augmenter | None = None,
    n_sents: int = 1,
    weights: dict[str, float] | None = None,
    attach_roots: bool = False,
) -> Callable[[Language], Iterator[Example]]:
    """Make the reader ``spacy_g2g.Corpus.v1`` of .spacy and .conllu files.

    The predicted Doc of an example has the gold words.

    path: File, or folder whose files are read in the order of their names. For several treebanks, a section
        with the path of each by its name; null leaves a treebank out. Gold Docs keep the name in
        ``doc.user_data["treebank"]``, and the parser's scorer also scores each treebank by itself.
    limit: Number of Docs to read of each treebank; 0 for all.
    max_length: Maximum number of tokens in a Doc. Longer Docs are left out; 0 keeps all.
    annotations: Gold annotations of the predicted Doc: any of SENT_START, TAG, POS, MORPH and LEMMA.
    shuffle: Return the examples in a new random order in each epoch.
    seed: Seed of the random orders and choices.
    augmenter: Function that returns the examples that replace an example, as augmenters of spaCy do. Its
        changes are the same in all epochs of `spacy train`; see `spacy_g2g.augmented_batches.v1`.
    n_sents: Maximum number of sentences in a Doc of a .conllu file, as in `g2g convert --n-sents`. Sentence
        boundaries are learned from Docs of several sentences. A .spacy file keeps its Docs.
    weights: Relative number of words of each treebank in an epoch, by its name; the default is 1. No Doc is
        left out: the treebank that is largest for its weight is read once, and Docs of the others are
        repeated. Null reads each treebank once.
    attach_roots: Let every root of a sentence after the first depend on the first, as `g2g convert
        --attach-roots` does. A .conllu file whose sentences have several roots is an error without it.
    Raises ValueError for an unknown annotation, for a limit or length below 0, for files with two names, and
        for weights of unknown treebanks or not above 0. The reader raises it without a path or a corpus
        there, and for weights that make an epoch of more than 100 times the words.
    """
    paths = path if isinstance(path, dict) else {"": path}
    _check_treebanks(paths, weights or {})
    paths = {name: path for name, path in paths.items() if path} or {"": None}

    def read(vocab: Vocab, name: str) -> Iterator[GoldAndInitial]:
        files = corpus_files(ensure_path(paths[name]))
        for doc in read_gold_docs(files, vocab, n_sents, attach_roots=attach_roots):
            if name:
                doc.user_data[TREEBANK_KEY] = name
            yield doc, None

    return Corpus(
        sources={name: partial(read, name=name) for name in paths},
        weights=weights,
        limit=limit,
        max_length=max_length,
        annotations=annotations,
        shuffle=shuffle,
        seed=seed,
        augmenter=augmenter,
    )


@dataclass(kw_only=True)
class Corpus:
    """Examples of gold Docs, which stay in memory after the first epoch, without their raw text.

    The other arguments are those of ``make_corpus``.

    sources: A function for each treebank that returns its gold Docs for a vocabulary. It is called once for
        each vocabulary.
    keep_source: Whether Docs keep the CoNLL-U that they were read from.
    """

    sources: Mapping[str, Callable[[Vocab], Iterable[GoldAndInitial]]]
    limit: int
    max_length: int
    annotations: list[str]
    shuffle: bool
    seed: int
    augmenter: Augmenter | None = None
    weights: Mapping[str, float] | None = None
    keep_source: bool = False

    def __post_init__(self) -> None:
        check_annotations(self.annotations, TOKEN_ANNOTATIONS)
        for name in ("limit", "max_length"):
            if getattr(self, name) < 0:
                raise ValueError(Errors.E512.format(name=name, value=getattr(self, name)))
        self._random = random.Random(self.seed)
        self._treebanks: dict[str, list[GoldAndInitial]] = {}
        self._vocab: Vocab | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of an epoch."""
        if self._vocab is not nlp.vocab:
            self._treebanks = {name: list(self._choose(nlp.vocab, name)) for name in self.sources}
            self._vocab = nlp.vocab
        items = self._epoch()
        if self.shuffle:
            self._random.shuffle(items)
        for gold, initial in items:
            predicted = unparsed_copy(gold, self.annotations)
            if initial is not None:
                write_initial_graph(predicted, initial)
            example = Example(predicted, gold)
            if self.augmenter is None:
                yield example
            else:
                yield from self.augmenter(nlp, example)

    def _epoch(self) -> list[GoldAndInitial]:
        """Return the Docs of an epoch, each treebank's as often as its weight asks and at least once."""
        if self.weights is None:
            return [*chain.from_iterable(self._treebanks.values())]
        generator = self._random if self.shuffle else random.Random(self.seed)
        n_words, weights, rates = 0, dict[str, float](), dict[str, float]()
        for name, items in self._treebanks.items():
            size = sum(len(doc) for doc, _ in items)
            n_words += size
            if size:
                weights[name] = float(self.weights.get(name, 1.0))
                rates[name] = weights[name] / size
        lowest = min(rates.values(), default=0.0)
        growth = sum(weights.values()) / (lowest * n_words) if lowest * n_words else math.inf
        if rates and growth > MAX_EPOCH:
            raise ValueError(Errors.E555.format(weights=weights, times=growth, most=MAX_EPOCH))
        epoch: list[GoldAndInitial] = []
        for name, rate in rates.items():
            items = self._treebanks[name]
            times, rest = divmod(round(rate / lowest * len(items)), len(items))
            epoch += items * times + generator.sample(items, rest)
        return epoch

    def _choose(self, vocab: Vocab, name: str) -> Iterator[GoldAndInitial]:
        """Yield the Docs of a treebank that are not too long, up to the limit."""
        items = (item for item in self.sources[name](vocab) if not 0 < self.max_length < len(item[0]))
        for doc, initial in islice(items, self.limit or None):
            if not self.keep_source:
                keep_roles(doc)
                doc.user_data.pop(USER_DATA_KEY, None)
            yield doc, initial


def _check_treebanks(paths: Mapping[str, Path | None], weights: Mapping[str, Any]) -> None:
    """Raise ValueError for files with two names, and for weights of other names or not above 0."""
    resolved = {name: Path(path).resolve() for name, path in paths.items() if path}
    for (name, inner), (other, outer) in permutations(resolved.items(), 2):
        # Only the disk tells that two names, such as those of hard links, are of the same file.
        is_same = inner.exists() and outer.exists() and inner.samefile(outer)
        if is_same or outer in (inner, *inner.parents):
            raise ValueError(Errors.E525.format(names=[name, other], path=inner))
    unknown = sorted(set(weights) - set(paths))
    if unknown:
        raise ValueError(Errors.E523.format(unknown=unknown, names=[*filter(None, paths)]))
    for name, weight in weights.items():
        if not (issubclass(type(weight), Real) and 0.0 < weight <= sys.float_info.max):
            raise ValueError(Errors.E524.format(name=name, weight=weight))


def corpus_files(path: Path | str | None, suffixes: Sequence[str] = CORPUS_SUFFIXES) -> list[Path]:
    """List the files with some suffixes at a path, which may be a folder. Files are sorted by name.

    Raises ValueError or FileNotFoundError if there are no such files.
    """
    expected = ", ".join(suffixes)
    if path is None or path == "":
        raise ValueError(Errors.E506.format(expected=expected))
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(Errors.E507.format(path=path, expected=expected))
    files = files_in(path) if path.is_dir() else [path]
    files = [file for file in files if file.suffix in suffixes and file.is_file()]
    if not files:
        raise ValueError(Errors.E508.format(path=path, expected=expected))
    return files


def read_gold_docs(
    files: Iterable[Path], vocab: Vocab, n_sents: int = 1, *, attach_roots: bool = False
) -> Iterator[Doc]:
    """Yield the gold Docs of .conllu files (up to ``n_sents`` sentences each) and .spacy files."""
    for file in files:
        if file.suffix == ".conllu":
            sentences = read_conllu(file, attach_roots=attach_roots)
            yield from sentences_to_docs(sentences, vocab, n_sents=n_sents)
        else:
            for doc in read_bin_file(file, vocab):
                restore_sentences(doc)
                yield doc


def read_bin_file(file: Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a .spacy file. Raises ValueError if it is not the file of a DocBin."""
    try:
        docs = DocBin().from_disk(file)
    except ValueError as error:
        raise ValueError(Errors.E528.format(path=file)) from error
    yield from docs.get_docs(vocab)


def unparsed_copy(gold: Doc, annotations: list[str]) -> Doc:
    """Copy the words and some annotations of a Doc."""
    spaces = None if gold.has_unknown_spaces else [bool(token.whitespace_) for token in gold]
    doc = Doc(gold.vocab, words=[token.text for token in gold], spaces=spaces)
    if annotations and len(gold):
        names: list[int | str] = [*annotations]
        values: Any = gold.to_array(names)
        doc.from_array(names, values)
    copy_words(gold, to=doc)
    copy_treebank(gold, to=doc)
    return doc
