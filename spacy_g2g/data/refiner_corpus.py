"""The corpus reader ``spacy_g2g.RefinerCorpus.v1``: gold trees, and trees of another system to refine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import ensure_path
from spacy.vocab import Vocab

from ..errors import Errors
from ..formats.conllu import read_conllu
from ..formats.graph import Graph
from .corpus import Corpus, GoldAndInitial, corpus_files, read_gold_docs
from .doc_graphs import to_sentence, tree_of
from .docs import sentences_of
from .multiword import word_forms

#: Maximum number of words of a sentence in an error.
MAX_SHOWN_WORDS = 8


def make_refiner_corpus(
    gold: Path | None,
    *,
    predicted: Path | None = None,
    limit: int = 0,
    max_length: int = 0,
    annotations: list[str] = ["SENT_START"],  # noqa: B006 (a registered function's config default)
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
    max_length: Maximum number of tokens in a Doc. Longer Docs are left out; 0 keeps all.
    annotations: Gold annotations of the predicted Doc: any of TAG, POS, MORPH and LEMMA, besides SENT_START.
    shuffle: Return the examples in a new random order in each epoch.
    seed: Seed of the random orders.
    Raises ValueError for an unknown annotation. The reader raises it without a path, without a corpus there,
        and if the sentences or words of the two corpora differ.
    """

    def read(vocab: Vocab) -> Iterator[GoldAndInitial]:
        docs = read_gold_docs(corpus_files(ensure_path(gold)), vocab)
        return ((doc, None) for doc in docs) if predicted is None else align_graphs(docs, predicted, gold)

    names = list(dict.fromkeys([*annotations, "SENT_START"]))
    return Corpus(
        sources={"": read}, limit=limit, max_length=max_length, annotations=names, shuffle=shuffle, seed=seed
    )


def align_graphs(
    docs: Iterable[Doc], predicted: Path, source: Path | None
) -> Iterator[tuple[Doc, list[Graph]]]:
    """Yield Docs with the graphs of their sentences.

    predicted: File or folder with the graphs.
    source: File or folder of the Docs, for error messages.
    Raises ValueError if a sentence differs in its words, or if one side has more sentences.
    """
    sentences = predicted_sentences(corpus_files(predicted))
    number = 0
    for doc in docs:
        graphs, forms = [], word_forms(doc)
        for span in sentences_of(doc):
            number += 1
            where, words, graph = next(sentences, (str(predicted), [], Graph([], [])))
            _check_words(words, forms[span.start : span.end], where=where, number=number, source=source)
            graphs.append(graph)
        yield doc, graphs
    for where, words, _ in sentences:
        _check_words(words, [], where=where, number=number + 1, source=source)


def _check_words(
    found: list[str], expected: list[str], *, where: str, number: int, source: Path | None
) -> None:
    """Raise ValueError if a sentence has other words than expected."""
    pairs = enumerate(zip_longest(found, expected))
    first = next((i for i, (a, b) in pairs if a != b), None)
    if first is not None:
        found, expected = (words[first : first + MAX_SHOWN_WORDS] for words in (found, expected))
        text = Errors.E509.format(
            where=where, number=number, found=found, word=first + 1, gold=source, expected=expected
        )
        raise ValueError(text)


def predicted_sentences(files: Iterable[Path]) -> Iterator[tuple[str, list[str], Graph]]:
    """Yield the location, the words and the graph of each sentence of .conllu and .spacy files."""
    for file in files:
        if file.suffix == ".conllu":
            for sentence in read_conllu(file, trees="any"):
                sent_id = sentence.comment("sent_id")
                where = sentence.location() + (f" (sent_id {sent_id})" if sent_id else "")
                yield where, [word.form for word in sentence.words], sentence.graph()
        else:
            for number, doc in enumerate(read_gold_docs([file], Vocab()), start=1):
                tree, forms = tree_of(doc), word_forms(doc)
                for span in sentences_of(doc):
                    graph = to_sentence(tree, range(span.start, span.end), doc)
                    where = f"{file}, Doc {number}, token {span.start}"
                    yield where, forms[span.start : span.end], graph
