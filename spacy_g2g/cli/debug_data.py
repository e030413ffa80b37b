"""``debug-data``: figures of the data of a training config, what is wrong with it, and what to do then."""

from __future__ import annotations

import json
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
from wasabi import msg

from ..data.advice import Finding, find_problems
from ..data.corpus import Corpus
from ..data.report import (
    LONG_DUPLICATE,
    MISSING,
    OUTSIDE,
    SPACE,
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
    keep_multiword_counts,
    multiword,
    piece_facts,
    unknown_labels,
)
from ..errors import Errors
from ..parsing import oracle
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.gold import gold_trees, lay_out_examples
from ..pipeline.layout import Layout, heads_in_sentences, initial_graphs, lay_out, make_sentences, word_slices
from ..pipeline.rng_refiner import RngRefiner
from ..pipeline.word_vectors import get_tok2vec
from .common import atomic_path, progress, user_errors

if TYPE_CHECKING:
    from ..models.sources import EncoderSource
    from ..models.wordpieces import WordPieces

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}
#: Architectures that learn from no tree in which a word other than the root has the label of roots.
WITHOUT_ROOT_LABEL = {"spacy_g2g.StackTransformer.v1"}
#: What components declare to write, by the attribute that a component of ours reads.
WRITTEN = {"POS": "token.pos", "TAG": "token.tag", "DEP": "token.dep"}


def debug_data_cli(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config", exists=True, dir_okay=False)],
    limit: Annotated[int, typer.Option(help="Docs to read of each corpus; 0 for all")] = 0,
    output: Annotated[Path | None, typer.Option("--json", help="JSON file for figures and findings")] = None,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file with registered functions")
    ] = None,
) -> None:
    """Show figures of the data of a training config, and what is wrong with it.

    Settings of the config may be given as to spacy train (--paths.train FILE). The exit status is 1 where the
    data can't be trained on.
    """
    overrides = parse_config_overrides(context.args)
    import_code(code)
    with user_errors(), show_validation_error(config):
        report = debug_data(load_config(config, overrides=overrides), limit=limit, silent=False)
        findings = find_problems(report)
        if output is not None:
            figures = {**report.to_dict(), "findings": [asdict(finding) for finding in findings]}
            with atomic_path(output) as path:
                path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf8")
    print_report(report)
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def debug_data(config: Config, *, limit: int = 0, silent: bool = True) -> DataReport:
    """The figures of the corpora of a training config, as its components of ours that are trained see them.

    limit: Docs to read of each corpus; 0 for all.
    RAISES (ValueError): for a config that trains no component of ours, and for corpora that can't be read.
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
    """Examples, and their sentences that have words, as training sees them."""

    examples: list[Example]
    docs: list[Doc]
    layout: Layout
    gold: list[GoldSentence]
    facts: CorpusFacts


def _read(
    nlp: Language, reader: Callable[[Language], Iterable[Example]], name: str, *, limit: int, silent: bool
) -> _Corpus:
    keep_multiword_counts(reader)
    if isinstance(reader, Corpus):
        reader.augmenter = None  # figures are those of the data
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
        misaligned=max(0, n_labels - sum(bool(label) for sentence in gold for label in sentence.labels)),
        multiword=multiword(references),
    )
    return _Corpus(examples, docs, layout, gold, facts)


def _gold_sentences(examples: list[Example], docs: list[Doc], layout: Layout) -> Iterator[GoldSentence]:
    """The sentences that have words, with their gold trees."""
    absolute, labels = gold_trees(examples, layout)
    heads = heads_in_sentences(layout, absolute)
    of_words = absolute[layout.words]
    is_lost = (heads < 0) & (of_words >= 0)
    is_outside = is_lost & (layout.sentence_of[of_words] != layout.sentence_of[layout.words])
    heads = np.select([is_outside, is_lost, heads < 0], [OUTSIDE, SPACE, MISSING], heads)
    sentences = make_sentences(docs, layout, None)
    for sentence, words in zip(sentences, word_slices(layout), strict=True):
        yield GoldSentence(sentence.words, heads[words].tolist(), labels[words])


def _writers(nlp: Language, names: Sequence[str], attribute: str) -> tuple[str, ...]:
    """The components among these that write an attribute."""
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
    """Where the encoder comes from, by the component's block of ``[initialize]``."""
    from ..models.shim import get_shim

    tok2vec = get_tok2vec(pipe.model)
    if tok2vec is not None:
        return f"shared, by {tok2vec.name}"
    is_sourced = get_shim(pipe.model).spec is not None
    return str(block.get("encoder", {}).get("@callbacks", "its own" if is_sourced else "none given"))


def _wordpieces(pipe: G2GParser, source: EncoderSource | None, train: _Corpus) -> WordPieces | None:
    """The table of pieces that training would have; None where words come as vectors."""
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
    """Return how many sentences training learns from, how many others have heads, and how many whole trees.

    settings: The component's block ``model``. Architectures with a setting ``swap`` learn from the trees that
        an oracle can build, the others from each sentence that has a head.
    roots: How many roots of the training data have each label.
    """
    if "swap" in settings:
        lengths = np.array([len(sentence.words) for sentence in gold], dtype=np.int64)
        heads = np.full((len(gold), lengths.max(initial=0)), MISSING)
        for row, sentence in zip(heads, gold, strict=True):
            row[: len(sentence.heads)] = np.maximum(sentence.heads, MISSING)
        can_learn = oracle.can_learn(heads, lengths, settings["swap"])
    else:
        can_learn = np.array([max(sentence.heads) >= 0 for sentence in gold], dtype=np.bool_)
    if settings["@architectures"] in WITHOUT_ROOT_LABEL:
        root = max(roots, key=roots.__getitem__, default="")
        arcs = [zip(sentence.heads, sentence.labels, strict=True) for sentence in gold]
        can_learn &= [all(head <= 0 or label != root for head, label in sentence) for sentence in arcs]
    others = [sentence for sentence, can in zip(gold, can_learn.tolist(), strict=True) if not can]
    return {
        "learnable": len(gold) - len(others),
        "unlearnable": sum(max(sentence.heads) >= 0 for sentence in others),
        "unlearnable_trees": sum(sentence.is_tree for sentence in others),
    }


def _missing_tags(corpus: _Corpus, tag_attr: str) -> int:
    sentences = make_sentences(corpus.docs, corpus.layout, tag_attr)
    return sum(not tag for sentence in sentences for tag in sentence.tags or ())


def _initial(corpus: _Corpus, labels: Sequence[str]) -> InitialFacts:
    """The graphs that predicted Docs have, against the gold ones, whose labels these are."""
    strings = StringStore()
    ids = {strings.add(label): i for i, label in enumerate(labels)}
    heads, label_ids = initial_graphs(corpus.docs, corpus.layout, ids)
    names = [*labels, ""]
    graphs = [
        (heads[words].tolist(), [names[i] for i in label_ids[words]]) for words in word_slices(corpus.layout)
    ]
    return initial_facts(corpus.gold, graphs)


# Printing


def print_report(report: DataReport) -> None:
    """Print the figures as tables."""
    msg.divider("Corpora")
    _print_table([(text, *map(show, (report.train, report.dev))) for text, show in CORPUS_ROWS])
    msg.text(
        f"{report.duplicates} sentences of dev are in train, too, {report.long_duplicates} of them with "
        f"{LONG_DUPLICATE} words or more"
    )
    msg.divider("Labels")
    train, dev = report.train.labels, report.dev.labels
    _print_table([(label, _count(train.get(label, 0)), _count(dev.get(label, 0))) for label in train | dev])
    for name, component in report.components.items():
        msg.divider(name)
        msg.text(f"Model {component.architecture}, encoder {component.encoder}")
        if component.initial_from:
            msg.text(f"Begins with the trees of {', '.join(component.initial_from)}")
        pairs = ((component.train, report.train), (component.dev, report.dev))
        columns = [dict(_component_rows(facts, corpus)) for facts, corpus in pairs]
        _print_table([(text, *(column[text] for column in columns)) for text in columns[0]])


def print_findings(findings: Sequence[Finding]) -> None:
    """Print what is wrong."""
    msg.divider("Findings")
    for finding in findings:
        title = f"{finding.where}: {finding.name}"
        if finding.level == "error":
            msg.fail(title, finding.text)
        else:
            msg.warn(title, finding.text)
    if not findings:
        msg.good("Nothing to complain about")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    msg.table(rows, header=("", "train", "dev"), divider=True, aligns=("l", "r", "r"))


def _count(number: int) -> str:
    return f"{number:,}"


def _share(number: int, total: int) -> str:
    """A count with its share."""
    return f"{number:,} ({number / total:.1%})" if number else "0"


def _multiword(facts: CorpusFacts) -> str:
    if facts.multiword_tokens is None or facts.multiword_words is None:
        return "not known"
    return f"{facts.multiword_tokens:,} of {_share(facts.multiword_words, facts.words)}"


#: Rows of the table of corpora.
CORPUS_ROWS: tuple[tuple[str, Callable[[CorpusFacts], str]], ...] = (
    ("Docs", lambda f: _count(f.docs)),
    ("Sentences", lambda f: _count(f.sentences)),
    ("Words", lambda f: _count(f.words)),
    ("White-space tokens", lambda f: _count(f.white_space)),
    ("Labels", lambda f: _count(len(f.labels))),
    ("Longest sentence, words", lambda f: _count(f.longest)),
    ("Sentences of one word", lambda f: _share(f.one_word, f.sentences)),
    ("Multiword tokens, of words", _multiword),
    ("Sentences with a whole tree", lambda f: _share(f.trees, f.sentences)),
    ("Non-projective ones of them", lambda f: _share(f.non_projective, f.trees)),
    ("Non-projective words", lambda f: _share(f.non_projective_words, f.words)),
    ("Sentences without any head", lambda f: _share(f.no_tree, f.sentences)),
    ("Sentences that lack some heads", lambda f: _share(f.incomplete, f.sentences)),
    ("Sentences with several roots", lambda f: _share(f.several_roots, f.sentences)),
    ("Sentences with cycles", lambda f: _share(f.cycles, f.sentences)),
    ("Words without a head", lambda f: _share(f.missing, f.words)),
    ("Heads in other sentences", lambda f: _share(f.outside, f.words)),
    ("Heads that are white space", lambda f: _share(f.space_heads, f.words)),
)


def _component_rows(facts: ComponentFacts, corpus: CorpusFacts) -> Iterator[tuple[str, str]]:
    """The figures of a component and a corpus."""
    yield "Sentences it can learn from", _share(facts.learnable, corpus.sentences)
    pieces = facts.pieces
    yield "Pieces a word", f"{pieces.pieces / corpus.words:.2f}" if pieces and corpus.words else "not known"
    yield "Longest sentence, pieces", f"{pieces.longest:,} of {pieces.limit:,}" if pieces else "not known"
    yield "Words with unknown pieces", _share(pieces.unknown, corpus.words) if pieces else "not known"
    if facts.missing_tags is not None:
        yield "Words without a tag", _share(facts.missing_tags, corpus.words)
    if facts.initial is not None:
        yield "Words with an initial head", _share(facts.initial.heads, corpus.words)
        yield "Initial heads and labels that are right", _share(facts.initial.right, facts.initial.words)
