"""Figures of ``debug-data``: count what the parsers of a training config would see of its corpora.

Figures of a corpus, and of a corpus as a component reads it, are dicts that JSON can hold.
``debug_data/findings.py`` has their titles, and advice on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, pairwise
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..arrays import IntArray
from ..data.corpus import Corpus
from ..data.docs import TREEBANK_KEY
from ..data.gold import gold_parses, segment_examples
from ..data.multiword import is_split, multiword_tokens
from ..data.segmentation import Segmentation, segment, word_attributes
from ..data.source import source_sentences
from ..errors import Errors
from ..evaluation.tokenization import compare_tokens, read_chunks
from ..formats.graph import MISSING, ROOT, Graph
from ..mwt.mwt_splitter import MwtSplitter
from ..parser.g2g_encoder import G2GEncoder
from ..parser.g2g_parser import G2GParser
from ..parser.rng_refiner import RngRefiner
from ..pipeline.labels import order_labels
from ..pipeline.trees import heads_in_sentences, initial_graphs, join_heads, make_trees
from ..sentences.augmenters import is_punct
from ..sentences.finder import SentencePipe
from ..training.untaught import find_untaught
from ..trees.tree import non_projective_arcs

Figures = dict[str, Any]
#: Shows the progress of reading.
Watch = Callable[[Iterable[Example]], Iterable[Example]]

#: Number of words from which sentences are hardly the same by chance. Shorter ones ("Thanks !") are.
LONG_DUPLICATE = 5
#: A label is rare if fewer words than this have it in training.
RARE_LABEL = 20
#: Maximum number of unknown words in the figures.
MAX_NAMED = 10
#: Annotation that other components declare to write, by the attribute that a parser reads.
WRITTEN = {"POS": "token.pos", "TAG": "token.tag", "DEP": "token.dep"}


@dataclass
class GoldCorpus:
    """A corpus as training sees it.

    docs: Predicted Docs of the examples.
    segmentation: Sentences and words of the Docs.
    words: Words of each sentence that has any.
    heads: Number of each word's gold head in its sentence, 0 for ROOT, -1 if missing; int [words].
    labels: Gold label of each word, "" if missing.
    graphs: Heads and labels of each sentence.
    figures: Figures of the corpus.
    """

    docs: list[Doc]
    segmentation: Segmentation
    words: list[list[str]]
    heads: IntArray
    labels: list[str]
    graphs: list[Graph]
    figures: Figures

    def texts(self, attr: str) -> list[str]:
        """Return an attribute of all words of the predicted Docs."""
        return word_attributes(self.docs, self.segmentation, attr)


def read_figures(config: Config, *, limit: int = 0, watch: Watch = iter) -> Figures:
    """Return figures of the corpora in a training config as the trained parsers of this library see them.

    limit: Number of Docs to read from each corpus, 0 for all.
    watch: Shows the progress of reading.
    Raises ValueError if the config trains no parser of this library, or if a corpus can't be read.
    """
    nlp, full = _load(config)
    training = registry.resolve(full["training"], schema=ConfigSchemaTraining)
    frozen = training["frozen_components"]
    parsers = {name: p for name, p in nlp.pipeline if isinstance(p, G2GParser) and name not in frozen}
    if not parsers:
        raise ValueError(Errors.E914.format(names=nlp.pipe_names, frozen=frozen))
    names = [training["train_corpus"], training["dev_corpus"]]
    train_reader, dev_reader = resolve_dot_names(full, names)
    train_examples = _read_examples(nlp, train_reader, names[0], limit, watch)
    dev_examples = _read_examples(nlp, dev_reader, names[1], limit, watch)
    new = {name for name, pipe in config["components"].items() if "factory" in pipe}.difference(frozen)
    untaught = find_untaught([item for item in nlp.pipeline if item[0] in new], train_examples)
    if full["initialize"]["before_init"] is not None:  # it may give the pipeline another tokenizer
        registry.resolve({"call": full["initialize"]["before_init"]})["call"](nlp)
    train, dev = count_corpus(train_examples, nlp), count_corpus(dev_examples, nlp)
    duplicates = _duplicate_lengths(train, dev)
    long_duplicates = [n for n in duplicates if n >= LONG_DUPLICATE]
    learns = bool(train.figures["inner_starts"])
    before = [
        name
        for name, pipe in nlp.pipeline[: nlp.pipe_names.index(next(iter(parsers)))]
        if not isinstance(pipe, G2GEncoder) or pipe.finder.trained or (learns and pipe.finder.can_learn)
    ]
    annotating = training["annotating_components"]
    components = {
        name: count_component(nlp, p, annotating, train=train, dev=dev) for name, p in parsers.items()
    }
    return {
        "train": train.figures,
        "dev": dev.figures,
        "untaught": untaught,
        "splits_tokens": any(isinstance(pipe, MwtSplitter) for _, pipe in nlp.pipeline),
        "sets_boundaries": _writers(nlp, before, "token.is_sent_start"),
        "duplicates": len(duplicates),
        "long_duplicates": len(long_duplicates),
        "labels_only_in_dev": _without(dev.figures["labels"], train.figures["labels"]),
        "components": components,
    }


def _load(config: Config) -> tuple[Language, Config]:
    """Return the pipeline of a training config, and the whole config without variables."""
    nlp = load_model_from_config(config, auto_fill=True)
    full = nlp.config.interpolate()
    if not nlp.pipe_names and full["initialize"]["after_init"]:  # it brings components
        nlp = registry.resolve({"call": full["initialize"]["after_init"]})["call"](nlp)
        full = nlp.config.interpolate()
    return nlp, full


def _duplicate_lengths(train: GoldCorpus, dev: GoldCorpus) -> list[int]:
    """Return the number of words of each sentence of dev that is also in train."""
    sentences = set(map(tuple, train.words))
    return [len(words) for words in dev.words if tuple(words) in sentences]


def _read_examples(
    nlp: Language, reader: Callable[[Language], Iterable[Example]], name: str, limit: int, watch: Watch
) -> list[Example]:
    if isinstance(reader, Corpus):
        reader.augmenter = None  # figures describe the data before augmentation
        reader.keep_source = True  # for multiword tokens
    try:
        return list(watch(islice(reader(nlp), limit or None)))
    except (ValueError, OSError) as error:
        raise ValueError(Errors.E915.format(name=name, error=error)) from error


def count_corpus(examples: list[Example], nlp: Language) -> GoldCorpus:
    """Count the words, sentences, trees and labels of a corpus. Compares the tokenizer with its words."""
    docs = [example.predicted for example in examples]
    references = [example.reference for example in examples]
    segmentation = segment_examples(examples)
    gold_heads, labels = gold_parses(examples, segmentation)
    heads = heads_in_sentences(segmentation, gold_heads)
    head_tokens = join_heads(segmentation, gold_heads)[segmentation.words]
    is_lost = (heads < 0) & (head_tokens >= 0)
    sentence_of = segmentation.sentence_of
    is_outside = is_lost & (sentence_of[head_tokens] != sentence_of[segmentation.words])
    graphs = [Graph(heads[at].tolist(), labels[at]) for at in segmentation.sentence_slices]
    counts: Counter[str] = Counter()
    for graph in graphs:
        counts.update(_count_graph(graph))
    tables = [doc.to_array(["DEP", "IS_SPACE"]) for doc in references]
    n_heads = sum(int(((table[:, 0] != 0) & (table[:, 1] == 0)).sum()) for table in tables)
    words = word_attributes(docs, segmentation, "ORTH")
    figures = {
        "docs": len(docs),
        "sentences": len(graphs),
        "words": len(labels),
        "left_out": words.count("_"),
        "white_space": len(segmentation.sentence_of) - len(segmentation.words),
        "longest": max(segmentation.n_words.tolist(), default=0),
        "unset": int(segment(docs).unset.sum()),
        "misaligned": max(0, n_heads - int((head_tokens >= 0).sum())),
        **{name: counts[name] for name in _count_graph(Graph([], []))},
        "missing": int((heads < 0).sum() - is_lost.sum()),
        "outside": int(is_outside.sum()),
        "space_heads": int((is_lost & ~is_outside).sum()),
        **_count_labels(heads, labels),
        **_count_starts(references),
        **_count_tokens(nlp, references),
    }
    sentences = [words[at] for at in segmentation.sentence_slices]
    return GoldCorpus(docs, segmentation, sentences, heads, labels, graphs, figures)


def _count_graph(graph: Graph) -> dict[str, int]:
    """Return the numbers that a sentence adds to the figures of a corpus."""
    n, n_missing = len(graph.heads), list(graph.heads).count(MISSING)
    n_crossing = int(non_projective_arcs(graph.heads).sum()) if graph.is_tree else 0
    return {
        "one_word": int(n == 1),
        "trees": int(graph.is_tree),
        "non_projective": int(n_crossing > 0),
        "non_projective_words": n_crossing,
        "no_tree": int(n_missing == n),
        "incomplete": int(0 < n_missing < n),
        "several_roots": int(list(graph.heads).count(ROOT) > 1),
        "cycles": int(bool(graph.find_cycle())),
    }


def _count_labels(heads: IntArray, labels: Sequence[str]) -> Figures:
    """Count the labels of all words and of roots, and other words with the most frequent label of roots."""
    by_label = dict(Counter(filter(None, labels)).most_common())
    is_root = (heads == ROOT).tolist()
    roots = dict(Counter(filter(None, compress(labels, is_root))).most_common())
    root = next(iter(roots), "")
    return {
        "unlabeled": int((heads >= 0).sum()) - sum(by_label.values()),
        "labels": by_label,
        "rare_labels": {label: n for label, n in by_label.items() if n < RARE_LABEL},
        "roots": roots,
        "root_label": root,
        "root_labels": _without(roots, [root]),
        "root_label_elsewhere": by_label.get(root, 0) - roots.get(root, 0),
    }


def _count_starts(references: list[Doc]) -> Figures:
    """Count the sentences that are not the first of their Doc, and those with no punctuation before them."""
    before = []
    for doc in references:
        words = [token for token in doc if not token.is_space]
        before += [last for last, token in pairwise(words) if token.is_sent_start]
    return {"inner_starts": len(before), "bare_starts": sum(not is_punct(token) for token in before)}


def _count_tokens(nlp: Language, references: list[Doc]) -> Figures:
    """Count multiword tokens, and compare the tokenizer with the text of Docs that keep their CoNLL-U.

    A figure is None if all Docs lack the annotation for it.
    """
    sentences = [*chain.from_iterable(map(source_sentences, references))]
    split_docs = [doc for doc in references if is_split(doc)]
    multiword = [*chain.from_iterable(map(multiword_tokens, split_docs))]
    chunks = read_chunks(sentences, getattr(nlp.tokenizer, "rules", None))
    tokens = compare_tokens(nlp.tokenizer, chunks) if chunks else None
    return {
        "multiword_tokens": len(multiword) if split_docs else None,
        "multiword_words": sum(end - start for start, end in multiword) if split_docs else None,
        "token_f1": tokens and tokens.f1,
        "token_errors": tokens.most_frequent if tokens else {},
    }


def count_component(
    nlp: Language, pipe: G2GParser, annotating: Sequence[str], *, train: GoldCorpus, dev: GoldCorpus
) -> Figures:
    """Return the figures of a component, and those of the corpora as it reads them.

    annotating: Names of the annotating components.
    """
    from ..models.shim import get_shim

    before = nlp.pipe_names[: nlp.pipe_names.index(pipe.name)]
    writing = [name for name in before if name in annotating]
    initialize = nlp.config.interpolate()["initialize"]["components"]
    config_labels = registry.resolve(initialize.get(pipe.name, {})).get("labels")
    own_labels = pipe.labels if get_shim(pipe.model).spec is not None else config_labels
    tag_attr = pipe.model.attrs["tag_attr"]
    tag_attr = None if tag_attr == TREEBANK_KEY else tag_attr
    is_refiner = isinstance(pipe, RngRefiner)
    labels = [*(train.figures["labels"] | dev.figures["labels"])]
    wordpieces, problem = None, None
    try:
        wordpieces = _wordpieces(nlp, pipe, initialize, train)
    except (ValueError, OSError) as error:
        problem = str(error)
    corpora = {}
    for name, corpus in (("train", train), ("dev", dev)):
        corpora[name] = {
            **_count_learnable(pipe, corpus, train),
            **({} if wordpieces is None else count_pieces(wordpieces, corpus)),
            **({} if tag_attr is None else {"missing_tags": corpus.texts(tag_attr).count("")}),
            **(_compare_initial(corpus, labels) if is_refiner else {}),
        }
    return {
        "architecture": pipe.model.name,
        "encoder_problem": problem,
        "tag_attr": tag_attr,
        "tags_from": [] if tag_attr is None else _writers(nlp, writing, WRITTEN[tag_attr]),
        "initial_from": _writers(nlp, writing, WRITTEN["DEP"]) if is_refiner else None,
        "learns_sentences": any(
            isinstance(other, SentencePipe) and other.finder.can_learn
            for other in (pipe, *map(nlp.get_pipe, before))
        ),
        "unknown_labels": {} if own_labels is None else _without(train.figures["labels"], own_labels),
        **corpora,
    }


def _wordpieces(nlp: Language, pipe: G2GParser, initialize: Mapping[str, Any], train: GoldCorpus) -> Any:
    """Return the ``WordPieces`` that training would use; None for vectors of another library.

    Raises ValueError or OSError if the encoder can't be loaded.
    """
    from ..models.network_shim import NetworkShim, find_shims, find_upstream, get_network_shim
    from ..models.sources import encoder_from_scratch
    from ..models.wordpieces import WordPieces

    name, upstream = pipe.name, find_upstream(pipe.model)
    if upstream is not None:
        encoders = {
            other: component for other, component in nlp.pipeline if isinstance(component, G2GEncoder)
        }
        name = next(other for other, encoder in encoders.items() if upstream in find_shims(encoder.model))
    elif pipe.model.maybe_get_ref("tok2vec") is not None:
        return None
    shim = upstream or get_network_shim(pipe.model, NetworkShim)
    if shim.spec is not None:
        return shim.wordpieces
    source = registry.resolve(initialize.get(name, {})).get("encoder") or encoder_from_scratch()
    checkpoint = source(chain.from_iterable(train.words))
    config = checkpoint.config
    return WordPieces(checkpoint.tokenizer, config.n_positions, config.vocab_size, None)


def count_pieces(wordpieces: Any, corpus: GoldCorpus) -> Figures:
    """Count the pieces of a corpus, and the sentences that are too long for the encoder.

    wordpieces: The ``WordPieces`` of the encoder.
    """
    from ..models.types import Sentence

    pieces = wordpieces.split([Sentence(words) for words in corpus.words])
    lengths, limit = [sum(map(len, words)) for words in pieces], wordpieces.max_pieces
    unknown: Counter[str] = Counter()
    for words, split in zip(corpus.words, pieces, strict=True):
        unknown.update(word for word, ids in zip(words, split, strict=True) if wordpieces.unk_id in ids)
    n_too_long = sum(length > limit for length in lengths)
    return {
        "pieces_per_word": sum(lengths) / max(len(corpus.labels), 1),
        "most_pieces": max(lengths, default=0),
        "piece_limit": limit,
        "too_many_pieces": n_too_long,
        "in_windows": sum(len(words) > limit for words in pieces),
        "unknown": unknown.total(),
        "unknown_words": dict(unknown.most_common(MAX_NAMED)),
    }


def _count_learnable(pipe: G2GParser, corpus: GoldCorpus, train: GoldCorpus) -> Figures:
    """Count the sentences that training learns from, and others that have heads or whole trees."""
    has_heads = [not graph.is_empty for graph in corpus.graphs]
    can_learn: Sequence[bool] = has_heads
    if pipe.model.attrs.get("can_learn") and corpus.graphs:
        labels = pipe.labels or order_labels([*train.figures["labels"]], Counter(train.figures["roots"]))
        ids = {label: i for i, label in enumerate(dict.fromkeys([*labels, *corpus.figures["labels"]]))}
        label_ids = np.array([ids.get(label, -1) for label in corpus.labels])
        gold = make_trees(corpus.segmentation, heads=corpus.heads, labels=label_ids)
        can_learn = pipe.model.attrs["can_learn"](pipe.model, gold).tolist()
    others = [graph for graph, can in zip(corpus.graphs, can_learn, strict=True) if not can]
    figures = {"learnable": sum(can_learn), "with_heads": sum(has_heads)}
    figures["unlearnable"] = sum(not graph.is_empty for graph in others)
    figures["unlearnable_trees"] = sum(graph.is_tree for graph in others)
    return figures


def _compare_initial(corpus: GoldCorpus, names: Sequence[str]) -> Figures:
    """Compare initial graphs with the gold heads and labels. The names are all labels of the gold trees."""
    strings = StringStore()
    hashes = {strings.add(name): i for i, name in enumerate(names)}
    heads, ids = initial_graphs(corpus.docs, corpus.segmentation, hashes)
    labels = np.array([*names, ""], dtype=object)[ids]
    gold = np.array(corpus.labels, dtype=object)
    has_gold = (corpus.heads >= 0) & (gold != "")
    is_right = has_gold & (heads == corpus.heads) & (labels == gold)
    n, n_right = int(has_gold.sum()), int(is_right.sum())
    return {
        "initial_heads": int((heads >= 0).sum()),
        "initial_words": n,
        "initial_right": n_right,
        "initial_share": n_right / max(n, 1),
    }


def _writers(nlp: Language, names: Iterable[str], attribute: str) -> list[str]:
    """Return the components that write an attribute."""
    return [name for name in names if attribute in nlp.get_pipe_meta(name).assigns]


def _without(counts: Mapping[str, int], labels: Collection[str]) -> dict[str, int]:
    """Return counts without those of some labels."""
    return {label: n for label, n in counts.items() if label not in labels}
