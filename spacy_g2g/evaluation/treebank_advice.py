"""Advice on a ``DataReport``: errors, which stop training, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .treebank_report import (
    LONG_DUPLICATE,
    ComponentFacts,
    ComponentReport,
    CorpusFacts,
    DataReport,
    InitialFacts,
    PieceFacts,
)

#: Number of sentences, and number of words with a label, below which there is a warning.
FEW_SENTENCES, RARE_LABEL = 200, 20
#: Shares above which there is a warning: dev sentences that are long duplicates, words in multiword tokens,
#: words with unknown pieces, and the lead of initial graphs on train over initial graphs on dev.
MANY_DUPLICATES, MANY_MULTIWORD, MANY_UNKNOWN, TOO_GOOD = 0.01, 0.01, 0.005, 0.05
#: Share of sentences after another that have no punctuation before them, below which there is a warning.
FEW_BARE = 0.05
#: F1 of tokens below which there is a warning.
GOOD_TOKENS = 0.985
#: Mean number of pieces in a word above which there is a warning.
MANY_PIECES = 3.0
#: Number of labels or words that a text names.
N_NAMED = 8

#: The findings that are errors.
ERRORS = frozenset({"empty", "no_labels", "unknown_labels", "none_learnable"})
#: Findings with the name of a figure of ``CorpusFacts``. They are reported if the figure is above 0.
COUNTED = ("no_tree", "incomplete", "several_roots", "cycles", "outside", "space_heads", "misaligned")
#: The problem and its remedy, by the name of the finding.
TEXTS = {
    "empty": "There are no words. Check the path, and the reader's limit and max_length.",
    "few_sentences": (
        "There are only {sentences} sentences. Add data, or start from a checkpoint or a trained parser "
        "(spacy_g2g.EncoderFromPipeline.v1)."
    ),
    "duplicates": (
        "{n} of {sentences} sentences are also in train, {long} of them with {least} words or more, so "
        "scores will be too high. Remove them from one of the corpora."
    ),
    "no_tree": (
        "{n} of {sentences} sentences have no heads: nothing is learned from them. Annotate them, or leave "
        "them out."
    ),
    "incomplete": (
        "{n} of {sentences} sentences lack heads of some words: transition-based parsers learn nothing from "
        "them, graph-based ones the other heads. Complete the trees, or leave them out."
    ),
    "several_roots": (
        "{n} of {sentences} sentences have several roots, but a parse always has one. Join the parts under "
        "one root (in UD as parataxis or conj), or split the sentences."
    ),
    "cycles": (
        "{n} of {sentences} sentences have heads that form a cycle, but a parse never has one. Correct their "
        "heads."
    ),
    "outside": (
        "{n} of {words} words have their head in another sentence, so their heads are not learned. Set the "
        "boundaries by the trees, and let the reader's annotations have SENT_START."
    ),
    "space_heads": (
        "{n} of {words} words have a white-space token as their head, so their heads are not learned. Attach "
        "them to words."
    ),
    "misaligned": (
        "{n} gold words are no tokens of the predicted Docs, and are not learned. Take the reader "
        "spacy_g2g.Corpus.v1, which gives gold words, or set gold_preproc = true."
    ),
    "multiword": (
        "{n} of {words} words are parts of multiword tokens. Where the tokenizer leaves these whole, parses "
        "of raw text will be worse than scores on gold words. To learn from whole tokens, convert with "
        "--merge-subtokens; measure with g2g evaluate --raw."
    ),
    "tokens": (
        "The tokenizer cuts the text in other ways than the corpus: F1 of tokens is {f1:.2f}. Most often: "
        "{names}. Make a tokenizer from the treebank (docs/raw-text.md) for [initialize.before_init]."
    ),
    "no_boundaries": (
        "{n} of {docs} predicted Docs have no sentence boundaries, and no component sets them: outside of "
        "training each is parsed as one sentence. Let the reader's annotations have SENT_START, train "
        "the parser on Docs of several sentences, or add a sentencizer or senter before it."
    ),
    "no_inner_starts": (
        "Each Doc of train is one sentence, so nothing is learned about sentence boundaries. Convert with "
        "--n-sents 10 (for a .conllu file, set n_sents = 10 of the reader), or set boundaries = null."
    ),
    "few_bare_starts": (
        "Only {bare} of {n} sentences after another have no punctuation before them. To find sentences "
        "in text without full stops, let [training.batcher] be spacy_g2g.augmented_batches.v1 with the "
        "augmenter spacy_g2g.running_text.v1."
    ),
    "no_labels": ("No word has a head and a label: there is nothing to learn. Take a treebank with trees."),
    "no_labels_in_dev": (
        "No word has a head and a label: there will be no scores. Take a treebank with trees."
    ),
    "labels_only_in_dev": (
        "{n} labels are not in train, and will be wrong wherever they are: {names}. Check that both corpora "
        "follow one scheme, or move sentences between them."
    ),
    "rare_labels": (
        "{n} labels have fewer than {least} words, and are hardly learned: {names}. Add data, or merge them "
        "with other labels."
    ),
    "root_labels": (
        "Roots have several labels, but a parser gives all of them the most frequent one, {root}. The "
        "others: {names}. Give all roots one label."
    ),
    "root_label_elsewhere": (
        "{n} words that are no roots have the label of roots, {root}, which a parser gives to roots alone. "
        "Give them another label."
    ),
    "no_encoder": "The encoder can't be loaded, so its pieces are not counted: {problem}",
    "unknown_labels": (
        "Training would stop at labels that are neither in [initialize] nor known to the component: "
        "{names}. Add them to its labels."
    ),
    "unlearnable": (
        "Of {of} sentences with heads {n} can't be learned, {trees} of them because their trees are not "
        "projective, and training leaves them out. Complete and correct trees; for non-projective ones set "
        "swap = true, or take spacy_g2g.SynTr.v1."
    ),
    "none_learnable": (
        "None of the {of} sentences with heads can be learned, {trees} of them because their trees are not "
        "projective. Complete and correct trees; for non-projective ones set swap = true, or take "
        "spacy_g2g.SynTr.v1."
    ),
    "missing_tags": (
        "{n} of {words} words have no {tag_attr}, which tag_attr says is read. Add it to the annotations of "
        "the reader, or a component that sets it to training.annotating_components; or set tag_attr = null."
    ),
    "too_many_pieces": (
        "{n} sentences have more pieces than the encoder takes at once (the longest {longest}, of {limit}): "
        "of their words the first pieces are read, and {in_windows} sentences in overlapping windows. Split "
        "them, set the reader's max_length, or take an encoder with more positions."
    ),
    "unknown_pieces": (
        "{n} of {words} words have pieces that the encoder does not know: {names}. Take a checkpoint of "
        "this language and script, or from scratch a larger vocab_size."
    ),
    "many_pieces": (
        "Words have {mean:.1f} pieces on average: the encoder hardly knows them. Take a checkpoint of this "
        "language, or from scratch a larger vocab_size."
    ),
    "no_initial_graphs": (
        "There are no initial graphs, so the refiner parses from empty graphs. To refine, put a trained "
        "parser before it (training.frozen_components and annotating_components), or take the reader "
        "spacy_g2g.RefinerCorpus.v1 with a parser's trees (predicted)."
    ),
    "initial_graphs_too_good": (
        "The initial graphs are much better on train ({train:.1%} of words right) than on dev "
        "({dev:.1%}). Parse train by parsers that have not seen it (project/jackknife.py), or set "
        "head_corruption and label_corruption."
    ),
}


@dataclass(frozen=True)
class Finding:
    """An error or a warning.

    name: Short name of the finding.
    where: The corpus or the component that it concerns.
    """

    level: Literal["error", "warning"]
    name: str
    where: str
    text: str


def find_problems(report: DataReport) -> list[Finding]:
    """List the problems of the data and the config, errors first."""
    found = [*_of_corpora(report), *_of_labels(report)]
    for name, component in report.components.items():
        found += _of_component(name, component, report)
    return sorted(found, key=lambda finding: finding.level != "error")


def _find(name: str, where: str, **values: Any) -> Finding:
    return Finding("error" if name in ERRORS else "warning", name, where, TEXTS[name].format(**values))


def _of_corpora(report: DataReport) -> Iterator[Finding]:
    train, dev = report.train, report.dev
    learns = train.inner_starts > 0 and any(of.learns_sentences for of in report.components.values())
    for where, facts in (("train", train), ("dev", dev)):
        yield from _of_corpus(where, facts, sets_boundaries=learns or bool(report.sets_boundaries))
    if 0 < train.sentences < FEW_SENTENCES:
        yield _find("few_sentences", "train", sentences=train.sentences)
    if report.long_duplicates > MANY_DUPLICATES * dev.sentences:
        counts = {"n": report.duplicates, "long": report.long_duplicates, "least": LONG_DUPLICATE}
        yield _find("duplicates", "dev", sentences=dev.sentences, **counts)


def _of_corpus(where: str, facts: CorpusFacts, *, sets_boundaries: bool) -> Iterator[Finding]:
    counts = vars(facts)
    if not facts.words:
        yield _find("empty", where)
    for name in COUNTED:
        if counts[name]:
            yield _find(name, where, n=counts[name], **counts)
    in_multiword = facts.multiword_words or 0
    if in_multiword > MANY_MULTIWORD * facts.words:
        yield _find("multiword", where, n=in_multiword, words=facts.words)
    if facts.token_f1 is not None and facts.token_f1 < GOOD_TOKENS:
        yield _find("tokens", where, f1=100 * facts.token_f1, names=_name(facts.token_errors))
    if facts.unset and not sets_boundaries:
        yield _find("no_boundaries", where, n=facts.unset, docs=facts.docs)


def _of_labels(report: DataReport) -> Iterator[Finding]:
    train, dev, roots = report.train.labels, report.dev.labels, report.train.roots
    if report.train.words and not train:
        yield _find("no_labels", "train")
    if report.dev.words and not dev:
        yield _find("no_labels_in_dev", "dev")
    only_dev = {label: n for label, n in dev.items() if label not in train}
    if train and only_dev:
        yield _find("labels_only_in_dev", "dev", n=len(only_dev), names=_name(only_dev))
    rare = {label: n for label, n in train.items() if n < RARE_LABEL}
    if rare:
        yield _find("rare_labels", "train", n=len(rare), least=RARE_LABEL, names=_name(rare))
    if not roots:
        return
    root, *others = roots
    if others:
        names = _name({label: roots[label] for label in others})
        yield _find("root_labels", "train", root=root, names=names)
    if train[root] > roots[root]:
        yield _find("root_label_elsewhere", "train", root=root, n=train[root] - roots[root])


def _of_component(name: str, component: ComponentReport, report: DataReport) -> Iterator[Finding]:
    if component.encoder_problem is not None:
        yield _find("no_encoder", name, problem=component.encoder_problem)
    train = report.train
    if component.learns_sentences and train.words and not train.inner_starts:
        yield _find("no_inner_starts", name)
    elif component.learns_sentences and train.bare_starts < FEW_BARE * train.inner_starts:
        yield _find("few_bare_starts", name, bare=train.bare_starts, n=train.inner_starts)
    if component.unknown_labels:
        yield _find("unknown_labels", name, names=_name(component.unknown_labels))
    yield from _of_learning(name, component.train)
    for where, facts, words in (
        (f"{name}, train", component.train, report.train.words),
        (f"{name}, dev", component.dev, report.dev.words),
    ):
        if facts.pieces is not None and words:
            yield from _of_pieces(where, facts.pieces, words)
        if facts.missing_tags and not component.tags_from:
            yield _find("missing_tags", where, n=facts.missing_tags, words=words, tag_attr=component.tag_attr)
        if facts.initial is not None and words and not facts.initial.heads and not component.initial_from:
            yield _find("no_initial_graphs", where)
    if not component.initial_from:
        yield from _of_initial_graphs(name, component.train.initial, component.dev.initial)


def _of_learning(name: str, train: ComponentFacts) -> Iterator[Finding]:
    if train.unlearnable:
        counts = {"of": train.learnable + train.unlearnable, "trees": train.unlearnable_trees}
        finding = "unlearnable" if train.learnable else "none_learnable"
        yield _find(finding, name, n=train.unlearnable, **counts)


def _of_pieces(where: str, pieces: PieceFacts, words: int) -> Iterator[Finding]:
    if pieces.too_long:
        yield _find("too_many_pieces", where, n=pieces.too_long, **vars(pieces))
    if pieces.unknown > MANY_UNKNOWN * words:
        names = _name(pieces.unknown_words)
        yield _find("unknown_pieces", where, n=pieces.unknown, words=words, names=names)
    if pieces.pieces > MANY_PIECES * words:
        yield _find("many_pieces", where, mean=pieces.pieces / words)


def _of_initial_graphs(name: str, train: InitialFacts | None, dev: InitialFacts | None) -> Iterator[Finding]:
    """Warn if the initial graphs of the two corpora differ in quality."""
    if train is None or dev is None or not (train.heads and dev.heads):
        return
    if train.share_right > dev.share_right + TOO_GOOD:
        yield _find("initial_graphs_too_good", name, train=train.share_right, dev=dev.share_right)


def _name(counts: Mapping[str, int]) -> str:
    """List the first labels or words with their counts."""
    shown = ", ".join(f"{key} ({n})" for key, n in list(counts.items())[:N_NAMED])
    return shown + (", ..." if len(counts) > N_NAMED else "")
