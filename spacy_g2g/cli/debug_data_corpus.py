"""Corpora of ``debug-data``, read as training reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..data.augmenters import is_punct
from ..data.corpus import Corpus
from ..data.docs import USER_DATA_KEY, source_sentences
from ..data.layout import Layout
from ..errors import Errors
from ..evaluation.tokenization import TokenCounts, compare_tokens, read_chunks
from ..evaluation.treebank_report import CorpusFacts, GoldSentence, corpus_facts, multiword
from ..formats.graph import Graph
from ..pipeline.gold import gold_parses, lay_out_examples
from ..pipeline.sentence_inputs import make_sentences
from ..pipeline.trees import heads_in_sentences, join_heads
from .common import progress


@dataclass
class GoldCorpus:
    """Corpus as training sees it.

    examples: Examples of the corpus.
    docs: Predicted Docs of the examples.
    layout: Layout of the Docs.
    gold: Sentences that have words, with their gold graphs.
    facts: Figures of the corpus.
    """

    examples: list[Example]
    docs: list[Doc]
    layout: Layout
    gold: list[GoldSentence]
    facts: CorpusFacts


def read_corpus(
    nlp: Language, reader: Callable[[Language], Iterable[Example]], name: str, *, limit: int, silent: bool
) -> GoldCorpus:
    """Read a corpus and collect its figures.

    nlp: Pipeline to train.
    reader: Reader of the corpus.
    name: Name of the corpus in the config, for error messages.
    limit: Number of Docs to read, 0 for all.
    silent: Show no progress bar.
    Raises ValueError if the corpus can't be read.
    """
    if isinstance(reader, Corpus):
        reader.augmenter = None  # figures describe the data before augmentation
        reader.keep_source = True  # for multiword tokens
    examples: list[Example] = []
    try:
        for example in progress(reader(nlp), unit="Docs", silent=silent):
            examples.append(example)
            if len(examples) == limit:
                break
    except (ValueError, OSError) as error:
        raise ValueError(Errors.E915.format(name=name, error=error)) from error
    docs = [example.predicted for example in examples]
    layout = lay_out_examples(examples)
    gold = list(_gold_sentences(examples, docs, layout))
    references = [example.reference for example in examples]
    n_labels = sum(int((d.to_array("DEP")[d.to_array("IS_SPACE") == 0] != 0).sum()) for d in references)
    facts = corpus_facts(
        gold,
        docs=len(docs),
        white_space=len(layout.sentence_of) - len(layout.words),
        unset=int(layout.unset.sum()),
        misaligned=max(0, n_labels - sum(bool(label) for sentence in gold for label in sentence.graph.deps)),
        starts=_starts(references),
        multiword=multiword(references),
        tokens=_tokens(nlp, references),
    )
    return GoldCorpus(examples, docs, layout, gold, facts)


def _starts(references: list[Doc]) -> tuple[int, int]:
    """Count the sentences that are not the first of their Doc, and those with no punctuation before them."""
    n_inner = n_bare = 0
    for doc in references:
        words = [token for token in doc if not token.is_space]
        before = [last for last, token in pairwise(words) if token.is_sent_start]
        n_inner += len(before)
        n_bare += sum(not is_punct(token) for token in before)
    return n_inner, n_bare


def _tokens(nlp: Language, references: list[Doc]) -> TokenCounts | None:
    """Compare the tokenizer with the tokens of the Docs that keep their CoNLL-U; None without such Docs."""
    kept = [doc for doc in references if USER_DATA_KEY in doc.user_data]
    chunks = read_chunks(sentence for doc in kept for sentence in source_sentences(doc))
    return compare_tokens(nlp.tokenizer, chunks) if chunks else None


def _gold_sentences(examples: list[Example], docs: list[Doc], layout: Layout) -> Iterator[GoldSentence]:
    """Yield the sentences that have words with their gold trees."""
    gold_heads, labels = gold_parses(examples, layout)
    heads = heads_in_sentences(layout, gold_heads)
    of_words = join_heads(layout, gold_heads)[layout.words]
    is_lost = (heads < 0) & (of_words >= 0)
    is_outside = is_lost & (layout.sentence_of[of_words] != layout.sentence_of[layout.words])
    is_space = is_lost & ~is_outside
    sentences = make_sentences(docs, layout, None)
    for sentence, at in zip(sentences, layout.sentence_slices, strict=True):
        graph = Graph(heads[at].tolist(), labels[at])
        yield GoldSentence(sentence.words, graph, int(is_outside[at].sum()), int(is_space[at].sum()))
