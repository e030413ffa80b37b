"""The corpus reader ``spacy_g2g.RefinerCorpus.v1``: gold trees, and those of another system to refine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import ensure_path
from spacy.vocab import Vocab

from ..errors import Errors
from ..formats.conllu import read_conllu
from ..formats.graph import Graph
from .corpus import Corpus, GoldAndInitial, corpus_files, read_docs
from .doc_graphs import to_sentence, tree_of
from .docs import TOKEN_ANNOTATIONS, check_annotations, sentences_of

BOUNDARIES = "SENT_START"
#: How many words of a sentence an error shows.
N_SHOWN = 8


def make_refiner_corpus(
    gold: Path | None,
    predicted: Path | None = None,
    limit: int = 0,
    max_length: int = 0,
    annotations: list[str] = [BOUNDARIES],  # noqa: B006 (a registered function's config default)
    shuffle: bool = False,
    seed: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Make the reader ``spacy_g2g.RefinerCorpus.v1`` of gold trees and predicted trees of the same sentences.

    The predicted Doc of an example has the gold words and boundaries, and the predicted graph as its initial
    graph, with all labels unchanged. If each sentence of a Doc has a whole tree, the Doc's heads and labels
    hold the graph. Any other graph, with missing heads or labels, several roots or cycles, is in
    ``doc._.g2g_initial``, as {"heads": [int], "deps": [str]}. These heads are indices in the Doc; a missing
    head is -1, and a missing label is "".

    gold: File (.spacy or .conllu) of gold trees, or folder whose files are read in the order of their names.
    predicted: File or folder with predictions for the same sentences in the same order, which may be
        divided into Docs in another way; null for examples without initial graphs.
    limit: Number of gold Docs to read; 0 for all.
    max_length: Largest number of tokens in a Doc. Longer Docs are left out; 0 keeps all.
    annotations: Gold annotations of the predicted Doc: any of TAG, POS, MORPH and LEMMA, besides SENT_START.
    shuffle: Return the examples in a new random order in each epoch.
    seed: Seed of the random orders.
    Raises ValueError for an unknown annotation. The reader raises it without a path, without a corpus there,
        and if the sentences or words of the two corpora differ.
    """
    check_annotations(annotations, TOKEN_ANNOTATIONS)
    gold_path, predicted_path = ensure_path(gold), ensure_path(predicted)

    def read(vocab: Vocab) -> Iterator[GoldAndInitial]:
        if predicted_path is None:
            yield from ((doc, None) for doc in read_docs(corpus_files(gold_path), vocab))
        else:
            yield from read_aligned(gold_path, predicted_path, vocab)

    names = list(dict.fromkeys([*annotations, BOUNDARIES]))
    return Corpus(read, limit, max_length, names, shuffle, seed)


class PredictedSentence(NamedTuple):
    """A sentence to refine.

    where: Where it was read, for error messages.
    words: Its words.
    graph: Its heads and labels, which may form any graph.
    """

    where: str
    words: list[str]
    graph: Graph


def read_aligned(gold: Path | None, predicted: Path, vocab: Vocab) -> Iterator[GoldAndInitial]:
    """Yield the gold Docs with the predicted graphs of their sentences.

    Raises ValueError if a sentence differs in its words, or if one side has more sentences.
    """
    yield from align_graphs(read_docs(corpus_files(gold), vocab), predicted, gold)


def align_graphs(
    docs: Iterable[Doc], predicted: Path, source: Path | None
) -> Iterator[tuple[Doc, list[Graph]]]:
    """Yield Docs with the graphs that a file has for their sentences.

    docs: The Docs.
    predicted: File or folder with the graphs.
    source: Where the Docs are from, for error messages.
    Raises ValueError as ``read_aligned`` does.
    """
    sentences = predicted_sentences(corpus_files(predicted), Vocab())
    number = 0
    for doc in docs:
        graphs: list[Graph] = []
        for span in sentences_of(doc):
            words = [token.text for token in span]
            sentence = next(sentences, None)
            if sentence is None:
                raise ValueError(_too_few(predicted, number, source, words))
            number += 1
            if sentence.words != words:
                raise ValueError(_difference(sentence, words, number, source))
            graphs.append(sentence.graph)
        yield doc, graphs
    rest = next(sentences, None)
    if rest is not None:
        raise ValueError(_too_few(source, number, predicted, rest.words))


def predicted_sentences(files: Iterable[Path], vocab: Vocab) -> Iterator[PredictedSentence]:
    """Yield the sentences of .conllu and .spacy files, whose heads may be anything."""
    for file in files:
        if file.suffix == ".conllu":
            for sentence in read_conllu(file, trees="any"):
                sent_id = sentence.comment("sent_id")
                where = sentence.location() + (f" (sent_id {sent_id})" if sent_id else "")
                yield PredictedSentence(where, [word.form for word in sentence.words], sentence.graph())
        else:
            for number, doc in enumerate(read_docs([file], vocab), start=1):
                tree = tree_of(doc)
                for span in sentences_of(doc):
                    where = f"{file}, Doc {number}, token {span.start}"
                    graph = to_sentence(tree, range(span.start, span.end), doc)
                    yield PredictedSentence(where, [token.text for token in span], graph)


def _difference(sentence: PredictedSentence, words: list[str], number: int, gold: Path | None) -> str:
    pairs = enumerate(zip(sentence.words, words, strict=False))
    first = next((i for i, (a, b) in pairs if a != b), min(len(sentence.words), len(words)))
    shown = slice(first, first + N_SHOWN)
    return Errors.E509.format(
        where=sentence.where,
        number=number,
        word=first + 1,
        found=sentence.words[shown],
        gold=gold,
        expected=words[shown],
    )


def _too_few(path: Path | None, number: int, other: Path | None, words: list[str]) -> str:
    return Errors.E510.format(path=path, number=number, other=other, words=words[:N_SHOWN])
