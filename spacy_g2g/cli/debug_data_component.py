"""Figures of ``debug-data`` for one component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.strings import StringStore
from spacy.util import registry

from ..data.layout import lay_out
from ..evaluation.treebank_report import (
    ComponentFacts,
    ComponentReport,
    GoldSentence,
    InitialFacts,
    PieceFacts,
    initial_facts,
    piece_facts,
    unknown_labels,
)
from ..formats.graph import Graph
from ..pipeline.g2g_encoder import G2GEncoder
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.rng_refiner import RngRefiner
from ..pipeline.saved_pipe import SavedPipe
from ..pipeline.sentence_inputs import make_sentences
from ..pipeline.trees import initial_graphs
from ..trees.tree import is_projective
from .debug_data_corpus import GoldCorpus

if TYPE_CHECKING:
    from ..models.network_shim import NetworkShim
    from ..models.sources import EncoderSource
    from ..models.wordpieces import WordPieces

#: Architectures that skip trees in which a word other than the root has the root's label.
WITHOUT_ROOT_LABEL = {"spacy_g2g.StackTransformer.v1"}
#: Annotation that other components declare to write, by the attribute that a parser reads.
WRITTEN = {"POS": "token.pos", "TAG": "token.tag", "DEP": "token.dep"}


def writers(nlp: Language, names: Sequence[str], attribute: str) -> tuple[str, ...]:
    """Return the components that write an attribute."""
    return tuple(name for name in names if attribute in nlp.get_pipe_meta(name).assigns)


def report_component(
    nlp: Language, name: str, pipe: G2GParser, annotating: Sequence[str], train: GoldCorpus, dev: GoldCorpus
) -> ComponentReport:
    """Return the figures of a component.

    nlp: Pipeline to train.
    name: Name of the component.
    pipe: The component.
    annotating: Names of the annotating components.
    train: Training corpus.
    dev: Development corpus.
    """
    from ..models.shim import get_shim

    initialize = nlp.config.interpolate()["initialize"]["components"]
    before = [other for other in nlp.pipe_names[: nlp.pipe_names.index(name)] if other in annotating]
    block = initialize.get(name, {})
    settings = registry.resolve(block)
    is_sourced = get_shim(pipe.model).spec is not None
    tag_attr = pipe.model.attrs["tag_attr"]
    wordpieces, problem = None, None
    try:
        if (reader := _reader(nlp, name, pipe)) is not None:
            encoder, shim = reader
            source = registry.resolve(initialize.get(encoder, {})).get("encoder")
            wordpieces = _wordpieces(shim, source, train)
    except (ValueError, OSError) as error:
        problem = str(error)
    labels = [*(train.facts.labels | dev.facts.labels)]
    of_train, of_dev = (
        ComponentFacts(
            pieces=None if wordpieces is None else _pieces(wordpieces, corpus.gold),
            **_learnable(nlp.get_pipe_config(name)["model"], corpus.gold, train.facts.roots),
            missing_tags=None if tag_attr is None else _missing_tags(corpus, tag_attr),
            initial=_initial(corpus, labels) if isinstance(pipe, RngRefiner) else None,
        )
        for corpus in (train, dev)
    )
    return ComponentReport(
        architecture=pipe.model.name,
        encoder=_encoder_name(pipe, block),
        encoder_problem=problem,
        tag_attr=tag_attr,
        tags_from=() if tag_attr is None else writers(nlp, before, WRITTEN[tag_attr]),
        initial_from=writers(nlp, before, WRITTEN["DEP"]) if isinstance(pipe, RngRefiner) else None,
        learns_sentences=any(
            isinstance(other, SavedPipe) and other.finder.can_learn
            for other in (pipe, *(nlp.get_pipe(of) for of in nlp.pipe_names[: nlp.pipe_names.index(name)]))
        ),
        unknown_labels=unknown_labels(
            train.facts.labels, pipe.labels if is_sourced else settings.get("labels")
        ),
        train=of_train,
        dev=of_dev,
    )


def _encoder_name(pipe: G2GParser, block: Mapping[str, Any]) -> str:
    """Return the origin of the encoder by the component's block in ``[initialize]``."""
    from ..models.shim import get_shim

    tok2vec = pipe.model.maybe_get_ref("tok2vec")
    if tok2vec is not None:
        return f"shared, by {tok2vec.name}"
    is_sourced = get_shim(pipe.model).spec is not None
    return str(block.get("encoder", {}).get("@callbacks", "its own" if is_sourced else "none given"))


def _reader(nlp: Language, name: str, pipe: G2GParser) -> tuple[str, NetworkShim[Any]] | None:
    """Return the component whose encoder reads a parser's words, and its shim; None for other vectors."""
    from ..models.network_shim import find_shims, find_upstream, get_network_shim

    upstream = find_upstream(pipe.model)
    if upstream is None:
        return (
            None if pipe.model.maybe_get_ref("tok2vec") is not None else (name, get_network_shim(pipe.model))
        )
    encoders = ((of, other) for of, other in nlp.pipeline if isinstance(other, G2GEncoder))
    return next(of for of, encoder in encoders if upstream in find_shims(encoder.model)), upstream


def _wordpieces(shim: NetworkShim[Any], source: EncoderSource | None, train: GoldCorpus) -> WordPieces:
    """Return the tokenizer that training would use."""
    from ..models.sources import encoder_from_scratch
    from ..models.wordpieces import WordPieces

    if shim.spec is not None:
        return shim.wordpieces
    references = [example.reference for example in train.examples]
    sentences = make_sentences(references, lay_out(references), None)
    words = (word for sentence in sentences for word in sentence.words)
    checkpoint = (source or encoder_from_scratch())(words)
    config = checkpoint.config
    return WordPieces(checkpoint.tokenizer, config.n_positions, config.vocab_size, None)


def _pieces(wordpieces: WordPieces, gold: Sequence[GoldSentence]) -> PieceFacts:
    from ..models.types import Sentence

    pieces = wordpieces.split([Sentence(sentence.words) for sentence in gold])
    return piece_facts(gold, pieces, unknown_piece=wordpieces.unk_id, limit=wordpieces.max_pieces)


def _learnable(
    settings: Mapping[str, Any], gold: Sequence[GoldSentence], roots: Mapping[str, int]
) -> dict[str, int]:
    """Count sentences that training learns from, others with heads, and others with whole trees.

    settings: Block ``model`` of the component. Architectures with a setting ``swap`` learn from trees that an
        oracle can build. Other architectures learn from each sentence that has a head.
    gold: Sentences of the corpus.
    roots: Number of roots in the training data for each label.
    """
    if "swap" in settings:
        graphs = [sentence.graph for sentence in gold]
        trees = [graph.is_tree and (settings["swap"] or is_projective(graph.heads)) for graph in graphs]
        can_learn = np.array(trees, dtype=np.bool_)
    else:
        can_learn = np.array([not sentence.graph.is_empty for sentence in gold], dtype=np.bool_)
    if settings["@architectures"] in WITHOUT_ROOT_LABEL:
        root = max(roots, key=roots.__getitem__, default="")
        arcs = [zip(sentence.graph.heads, sentence.graph.deps, strict=True) for sentence in gold]
        can_learn &= [all(head <= 0 or label != root for head, label in sentence) for sentence in arcs]
    others = [sentence for sentence, can in zip(gold, can_learn.tolist(), strict=True) if not can]
    return {
        "learnable": len(gold) - len(others),
        "unlearnable": sum(not sentence.graph.is_empty for sentence in others),
        "unlearnable_trees": sum(sentence.graph.is_tree for sentence in others),
    }


def _missing_tags(corpus: GoldCorpus, tag_attr: str) -> int:
    sentences = make_sentences(corpus.docs, corpus.layout, tag_attr)
    return sum(not tag for sentence in sentences for tag in sentence.tags or ())


def _initial(corpus: GoldCorpus, labels: Sequence[str]) -> InitialFacts:
    """Compare the initial graphs of Docs with the gold graphs.

    corpus: Corpus with Docs and gold graphs.
    labels: Labels of the gold graphs.
    """
    strings = StringStore()
    ids = {strings.add(label): i for i, label in enumerate(labels)}
    heads, label_ids = initial_graphs(corpus.docs, corpus.layout, ids)
    names = [*labels, ""]
    graphs = [
        Graph(heads[at].tolist(), [names[i] for i in label_ids[at]]) for at in corpus.layout.sentence_slices
    ]
    return initial_facts(corpus.gold, graphs)
