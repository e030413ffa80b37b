"""``debug-data``: figures and problems of the data in a training config, with advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..data.advice import find_problems
from ..data.corpus import Corpus
from ..data.report import (
    ComponentFacts,
    ComponentReport,
    CorpusFacts,
    DataReport,
    GoldSentence,
    InitialFacts,
    PieceFacts,
    corpus_facts,
    count_duplicates,
    initial_facts,
    multiword,
    piece_facts,
    unknown_labels,
)
from ..errors import Errors
from ..formats.graphs import MISSING, Graph
from ..parsing import oracle
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.gold import gold_parses, lay_out_examples
from ..pipeline.layout import Layout, lay_out, make_sentences
from ..pipeline.rng_refiner import RngRefiner
from ..pipeline.trees import heads_in_sentences, initial_graphs, join_heads
from ..pipeline.word_vectors import get_tok2vec
from .common import progress, user_errors, write_json
from .debug_data_tables import print_findings, print_report

if TYPE_CHECKING:
    from ..models.sources import EncoderSource
    from ..models.wordpieces import WordPieces

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}
#: Architectures that skip trees in which a word other than the root has the root's label.
WITHOUT_ROOT_LABEL = {"spacy_g2g.StackTransformer.v1"}
#: Annotation that other components declare to write, by the attribute that a parser reads.
WRITTEN = {"POS": "token.pos", "TAG": "token.tag", "DEP": "token.dep"}


def debug_data_cli(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config", exists=True, dir_okay=False)],
    limit: Annotated[int, typer.Option(help="Number of Docs to read from each corpus; 0 for all")] = 0,
    output: Annotated[Path | None, typer.Option("--json", help="JSON file with figures and findings")] = None,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file with registered functions")
    ] = None,
) -> None:
    """Show figures and problems of the data in a training config.

    Settings of the config can be overridden as in spacy train (--paths.train FILE). The exit status is 1 if
    training on the data is impossible.
    """
    overrides = parse_config_overrides(context.args)
    import_code(code)
    with user_errors(), show_validation_error(config):
        report = debug_data(load_config(config, overrides=overrides), limit=limit, silent=False)
        findings = find_problems(report)
        if output is not None:
            write_json(output, {**report.to_dict(), "findings": [asdict(finding) for finding in findings]})
    print_report(report)
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def debug_data(config: Config, *, limit: int = 0, silent: bool = True) -> DataReport:
    """Return figures of the corpora as the trained parsers of this library see them.

    config: Training config.
    limit: Number of Docs to read from each corpus, 0 for all.
    silent: Show no progress bar.
    Raises ValueError if the config trains no parser of this library, or if a corpus can't be read.
    """
    nlp = load_model_from_config(config, auto_fill=True)
    full = nlp.config.interpolate()
    training = registry.resolve(full["training"], schema=ConfigSchemaTraining)
    parsers = {
        name: pipe
        for name, pipe in nlp.pipeline
        if isinstance(pipe, G2GParser) and name not in training["frozen_components"]
    }
    if not parsers:
        raise ValueError(Errors.E395.format(names=nlp.pipe_names, frozen=training["frozen_components"]))
    names = [training["train_corpus"], training["dev_corpus"]]
    train, dev = (
        _read(nlp, reader, name, limit=limit, silent=silent)
        for reader, name in zip(resolve_dot_names(full, names), names, strict=True)
    )
    duplicates, long_duplicates = count_duplicates(train.gold, dev.gold)
    before = nlp.pipe_names[: nlp.pipe_names.index(next(iter(parsers)))]
    return DataReport(
        train=train.facts,
        dev=dev.facts,
        sets_boundaries=_writers(nlp, before, "token.is_sent_start"),
        duplicates=duplicates,
        long_duplicates=long_duplicates,
        components={
            name: _report(nlp, name, pipe, training["annotating_components"], train, dev)
            for name, pipe in parsers.items()
        },
    )


@dataclass
class _Corpus:
    """Examples with their sentences that have words, as training sees them."""

    examples: list[Example]
    docs: list[Doc]
    layout: Layout
    gold: list[GoldSentence]
    facts: CorpusFacts


def _read(
    nlp: Language, reader: Callable[[Language], Iterable[Example]], name: str, *, limit: int, silent: bool
) -> _Corpus:
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
        raise ValueError(Errors.E396.format(name=name, error=error)) from error
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
        multiword=multiword(references),
    )
    return _Corpus(examples, docs, layout, gold, facts)


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


def _writers(nlp: Language, names: Sequence[str], attribute: str) -> tuple[str, ...]:
    """Return the components that write an attribute."""
    return tuple(name for name in names if attribute in nlp.get_pipe_meta(name).assigns)


def _report(
    nlp: Language, name: str, pipe: G2GParser, annotating: Sequence[str], train: _Corpus, dev: _Corpus
) -> ComponentReport:
    from ..models.shim import get_shim

    before = [other for other in nlp.pipe_names[: nlp.pipe_names.index(name)] if other in annotating]
    block = nlp.config.interpolate()["initialize"]["components"].get(name, {})
    settings = registry.resolve(block)
    is_sourced = get_shim(pipe.model).spec is not None
    tag_attr = pipe.model.attrs["tag_attr"]
    wordpieces, problem = None, None
    try:
        wordpieces = _wordpieces(pipe, settings.get("encoder"), train)
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
        tags_from=() if tag_attr is None else _writers(nlp, before, WRITTEN[tag_attr]),
        initial_from=_writers(nlp, before, WRITTEN["DEP"]) if isinstance(pipe, RngRefiner) else None,
        unknown_labels=unknown_labels(
            train.facts.labels, pipe.labels if is_sourced else settings.get("labels")
        ),
        train=of_train,
        dev=of_dev,
    )


def _encoder_name(pipe: G2GParser, block: Mapping[str, Any]) -> str:
    """Return the origin of the encoder by the component's block in ``[initialize]``."""
    from ..models.shim import get_shim

    tok2vec = get_tok2vec(pipe.model)
    if tok2vec is not None:
        return f"shared, by {tok2vec.name}"
    is_sourced = get_shim(pipe.model).spec is not None
    return str(block.get("encoder", {}).get("@callbacks", "its own" if is_sourced else "none given"))


def _wordpieces(pipe: G2GParser, source: EncoderSource | None, train: _Corpus) -> WordPieces | None:
    """Return the tokenizer that training would use, or None if words come as vectors."""
    from ..models.shim import get_shim
    from ..models.sources import encoder_from_scratch
    from ..models.wordpieces import WordPieces

    shim = get_shim(pipe.model)
    if get_tok2vec(pipe.model) is not None:
        return None
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
    """Count the sentences to learn from, the other sentences with heads, and those with whole trees.

    settings: Block ``model`` of the component. Architectures with a setting ``swap`` learn from trees that an
        oracle can build. Other architectures learn from each sentence that has a head.
    gold: Sentences of the corpus.
    roots: Number of roots in the training data for each label.
    """
    if "swap" in settings:
        lengths = np.array([len(sentence.words) for sentence in gold], dtype=np.int64)
        heads = np.full((len(gold), lengths.max(initial=0)), MISSING)
        for row, sentence in zip(heads, gold, strict=True):
            row[: len(sentence.words)] = sentence.graph.heads
        can_learn = oracle.can_learn(heads, lengths, settings["swap"])
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


def _missing_tags(corpus: _Corpus, tag_attr: str) -> int:
    sentences = make_sentences(corpus.docs, corpus.layout, tag_attr)
    return sum(not tag for sentence in sentences for tag in sentence.tags or ())


def _initial(corpus: _Corpus, labels: Sequence[str]) -> InitialFacts:
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
