"""Advice on the figures of ``debug-data`` (``debug_data/statistics.py``), and their titles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

Figures = Mapping[str, Any]

#: Title and name of each figure of a corpus, and its format or the figure that it is a share of, or "".
CORPUS_ROWS = (
    ("Docs", "docs", ""),
    ("Sentences", "sentences", ""),
    ("Words", "words", ""),
    ("Words that are _", "left_out", "words"),
    ("White-space tokens", "white_space", ""),
    ("Labels", "labels", ""),
    ("Longest sentence, words", "longest", ""),
    ("Sentences after another in their Doc", "inner_starts", ""),
    ("... without punctuation before them", "bare_starts", "inner_starts"),
    ("Sentences of one word", "one_word", "sentences"),
    ("Multiword tokens", "multiword_tokens", ""),
    ("Words in multiword tokens", "multiword_words", "words"),
    ("F1 of tokens, from text", "token_f1", ".2%"),
    ("Sentences with a whole tree", "trees", "sentences"),
    ("Non-projective trees", "non_projective", "trees"),
    ("Non-projective words", "non_projective_words", "words"),
    ("Sentences without any head", "no_tree", "sentences"),
    ("Sentences with some heads missing", "incomplete", "sentences"),
    ("Sentences with several roots", "several_roots", "sentences"),
    ("Sentences with cycles", "cycles", "sentences"),
    ("Words without a head", "missing", "words"),
    ("Words with a head and no label", "unlabeled", "words"),
    ("Heads in other sentences", "outside", "words"),
    ("Heads that are white space", "space_heads", "words"),
)
#: The same for the figures of a corpus as a component reads it.
COMPONENT_ROWS = (
    ("Sentences to learn from", "learnable", "sentences"),
    ("Pieces per word", "pieces_per_word", ".2f"),
    ("Longest sentence, pieces", "most_pieces", ""),
    ("Pieces that the encoder takes at once", "piece_limit", ""),
    ("Words with unknown pieces", "unknown", "words"),
    ("Words without a tag", "missing_tags", "words"),
    ("Words with an initial head", "initial_heads", "words"),
    ("Initial heads and labels right", "initial_right", "initial_words"),
)
#: Maximum number of labels or words in a text.
MAX_NAMED = 8
#: The findings that are errors.
ERRORS = frozenset({"empty", "no_labels", "unknown_labels", "none_learnable"})
#: Problems and remedies by the name of the finding, for each corpus, for train or dev alone, for a component,
#: and for each corpus as a component reads it. Names in braces are figures.
TEXTS: dict[str, dict[str, str]] = {
    "corpus": {
        "empty": "There are no words. Check the path, and the reader's limit and max_length.",
        "left_out": (
            "{left_out} of {words} words are _, as in treebanks that are released without their text. Get "
            "the text as the treebank's README says, or take another treebank."
        ),
        "no_tree": (
            "{no_tree} of {sentences} sentences have no heads: nothing is learned from them. Annotate them, "
            "or leave them out."
        ),
        "incomplete": (
            "{incomplete} of {sentences} sentences lack heads of some words: transition-based parsers learn "
            "nothing from them, graph-based ones the other heads. Complete the trees, or leave them out."
        ),
        "unlabeled": (
            "{unlabeled} of {words} words have a head and no label. Only their heads are learned; if no "
            "word has a label, all get the label dep."
        ),
        "several_roots": (
            "{several_roots} of {sentences} sentences have several roots, but a parse always has one. Join "
            "the parts under one root (in UD as parataxis or conj), split the sentences, or "
            "set attach_roots = true in the reader."
        ),
        "cycles": (
            "{cycles} of {sentences} sentences have heads that form a cycle, but a parse never has one. "
            "Correct their heads."
        ),
        "outside": (
            "{outside} of {words} words have their head in another sentence, so their heads are not "
            "learned. Set the boundaries by the trees, and let the reader's annotations have SENT_START."
        ),
        "space_heads": (
            "{space_heads} of {words} words have a white-space token as their head, so their heads are not "
            "learned. Attach them to words."
        ),
        "misaligned": (
            "{misaligned} gold words are not tokens of the predicted Docs, and are not learned. Take the "
            "reader spacy_g2g.Corpus.v1, which gives gold words, or set gold_preproc = true."
        ),
        "multiword": (
            "{multiword_words} of {words} words are parts of multiword tokens, and nothing splits these in "
            "raw text, so its parses will be worse than scores on gold words. Put mwt_splitter before the "
            "encoder (docs/words.md), or convert with --merge-subtokens to learn from whole tokens."
        ),
        "tokens": (
            "The tokenizer cuts the text in other ways than the corpus: F1 of tokens is {token_f1:.2%}. "
            "Most often: {token_errors}. Make a tokenizer from the treebank (docs/raw-text.md) for "
            "[initialize.before_init]."
        ),
        "no_boundaries": (
            "{unset} of {docs} predicted Docs have no sentence boundaries, and no component sets them: "
            "outside of training each is parsed as one sentence. Let the reader's annotations have "
            "SENT_START, train the parser on Docs of several sentences, or add a sentencizer or senter "
            "before it."
        ),
    },
    "train": {
        "few_sentences": (
            "There are only {sentences} sentences. Add data, or start from a checkpoint or a trained parser "
            "(spacy_g2g.EncoderFromPipeline.v1)."
        ),
        "no_labels": "No word has a head and a label: there is nothing to learn. Take a treebank with trees.",
        "untaught": (
            "Components without annotation to learn from: {untaught}. Training leaves them out if "
            "spacy_g2g.prepare_pipeline.v1 is [initialize.before_init]. To train them, add the annotation."
        ),
        "rare_labels": (
            "Labels with few words are hardly learned: {rare_labels}. Add data, or merge them with other "
            "labels."
        ),
        "root_labels": (
            "Roots have several labels, but a parser gives all of them the most frequent one, {root_label}. "
            "The others: {root_labels}. Give all roots one label."
        ),
        "root_label_elsewhere": (
            "{root_label_elsewhere} words that are not roots have the label of roots, {root_label}, which a "
            "parser gives to roots alone. Give them another label."
        ),
    },
    "dev": {
        "duplicates": (
            "{duplicates} of {sentences} sentences are also in train, {long_duplicates} of them with 5 "
            "words or more, so scores will be too high. Remove them from one of the corpora."
        ),
        "no_labels_in_dev": "No word has a head and a label: there are no scores. Take one with trees.",
        "labels_only_in_dev": (
            "Labels that are not in train will be wrong wherever they are: {labels_only_in_dev}. Check that "
            "both corpora follow one scheme, or move sentences between them."
        ),
    },
    "component": {
        "no_encoder": "The encoder can't be loaded, so its pieces are not counted: {encoder_problem}",
        "no_inner_starts": (
            "Each Doc of train is one sentence, so nothing is learned about sentence boundaries. Convert "
            "with --n-sents 10 (for a .conllu file, set n_sents = 10 of the reader), or set boundaries = "
            "null."
        ),
        "few_bare_starts": (
            "Only {bare_starts} of {inner_starts} sentences after another have no punctuation before them. "
            "To find sentences in text without full stops, let [training.batcher] be "
            "spacy_g2g.augmented_batches.v1 with the augmenter spacy_g2g.running_text.v1."
        ),
        "unknown_labels": (
            "Training would stop at labels that are neither in [initialize] nor known to the component: "
            "{unknown_labels}. Add them to its labels."
        ),
        "unlearnable": (
            "Of {with_heads} sentences with heads {unlearnable} can't be learned, {unlearnable_trees} of "
            "them because their trees are not projective, and training leaves them out. Complete and "
            "correct trees; for non-projective ones set swap = true, or take spacy_g2g.SynTr.v1."
        ),
        "none_learnable": (
            "None of the {with_heads} sentences with heads can be learned, {unlearnable_trees} of them "
            "because their trees are not projective. Complete and correct trees; for non-projective ones "
            "set swap = true, or take spacy_g2g.SynTr.v1."
        ),
        "initial_graphs_too_good": (
            "The initial graphs are much better on train ({train[initial_share]:.1%} of words right) than "
            "on dev ({dev[initial_share]:.1%}). Parse train by parsers that have not seen it "
            "(jackknifing), or set head_corruption and label_corruption."
        ),
    },
    "reading": {
        "missing_tags": (
            "{missing_tags} of {words} words have no {tag_attr}, which tag_attr says is read. Add it to the "
            "annotations of the reader, or a component that sets it to training.annotating_components; or "
            "set tag_attr = null."
        ),
        "too_many_pieces": (
            "{too_many_pieces} sentences have more pieces than the encoder takes at once (the longest "
            "{most_pieces}, of {piece_limit}): of their words the first pieces are read, and {in_windows} "
            "sentences in overlapping windows. Split them, set the reader's max_length, or take an encoder "
            "with more positions."
        ),
        "unknown_pieces": (
            "{unknown} of {words} words have pieces that the encoder does not know: {unknown_words}. Take a "
            "checkpoint of this language and script, or from scratch a larger vocab_size."
        ),
        "many_pieces": (
            "Words have {pieces_per_word:.1f} pieces on average: the encoder hardly knows them. Take a "
            "checkpoint of this language, or from scratch a larger vocab_size."
        ),
        "no_initial_graphs": (
            "There are no initial graphs, so the refiner parses from empty graphs. To refine, put a trained "
            "parser before it (training.frozen_components and annotating_components), or take the reader "
            "spacy_g2g.RefinerCorpus.v1 with a parser's trees (predicted)."
        ),
    },
}
#: Conditions of findings. Without one, a finding appears if the figure of its name is not 0 or empty.
WHEN: dict[str, Callable[[Figures], Any]] = {
    "empty": lambda f: not f["words"],
    "left_out": lambda f: f["left_out"] > 0.5 * f["words"],
    "multiword": lambda f: (f["multiword_words"] or 0) > 0.01 * f["words"] and not f["splits_tokens"],
    "tokens": lambda f: f["token_f1"] is not None and f["token_f1"] < 0.985,
    "no_boundaries": lambda f: f["unset"] and not f["has_boundaries"],
    "few_sentences": lambda f: 0 < f["sentences"] < 200,
    "no_labels": lambda f: f["words"] and not f["labels"] and not f["unlabeled"],
    "duplicates": lambda f: f["long_duplicates"] > 0.01 * f["sentences"],
    "no_labels_in_dev": lambda f: f["words"] and not f["labels"] and not f["unlabeled"],
    "labels_only_in_dev": lambda f: f["labels_only_in_dev"] and f["train"]["labels"],
    "no_encoder": lambda f: f["encoder_problem"],
    "no_inner_starts": lambda f: f["learns_sentences"] and f["words"] and not f["inner_starts"],
    "few_bare_starts": lambda f: f["learns_sentences"] and f["bare_starts"] < 0.05 * f["inner_starts"],
    "unlearnable": lambda f: f["unlearnable"] and f["learnable"],
    "none_learnable": lambda f: f["unlearnable"] and not f["learnable"],
    "initial_graphs_too_good": lambda f: (
        f["initial_from"] == [] and 0 < f["dev"]["initial_share"] < f["train"]["initial_share"] - 0.05
    ),
    "missing_tags": lambda f: f.get("missing_tags") and not f["tags_from"],
    "unknown_pieces": lambda f: f.get("unknown", 0) > 0.005 * f["words"],
    "many_pieces": lambda f: f.get("pieces_per_word", 0) > 3,
    "no_initial_graphs": lambda f: f["words"] and f.get("initial_heads") == 0 and not f["initial_from"],
}


@dataclass(frozen=True)
class Finding:
    """An error or a warning.

    name: Short name of the finding.
    where: The components, the corpus, or both that it concerns, such as "g2g_parser, rng_refiner, train".
    """

    level: Literal["error", "warning"]
    name: str
    where: str
    text: str


class _Text(Formatter):
    """Formats counts as the first labels or words with their numbers."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if not isinstance(value, Mapping):
            return str(super().format_field(value, format_spec))
        items = ", ".join(f"{key} ({n})" for key, n in list(value.items())[:MAX_NAMED])
        return items + (", ..." if len(value) > MAX_NAMED else "")


def find_problems(report: Figures) -> list[Finding]:
    """List the problems of the data and the config, errors first.

    What several components have in common is one finding.

    report: Figures of ``statistics.read_figures``.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for kind, component, corpus, figures in _checks(report):
        for name, text in TEXTS[kind].items():
            if WHEN[name](figures) if name in WHEN else figures.get(name):
                found.setdefault((name, corpus, _Text().format(text, **figures)), []).append(component)
    findings = []
    for (name, corpus, text), components in found.items():
        where = ", ".join(filter(None, [*components, corpus]))
        findings.append(Finding("error" if name in ERRORS else "warning", name, where, text))
    return sorted(findings, key=lambda finding: finding.level != "error")


def _checks(report: Figures) -> Iterator[tuple[str, str, str, Figures]]:
    """Yield each key of ``TEXTS`` with the names of a component and a corpus, or "", and their figures."""
    components = report["components"]
    learns = report["train"]["inner_starts"] and any(c["learns_sentences"] for c in components.values())
    has_boundaries = learns or report["sets_boundaries"]
    for where in ("train", "dev"):
        figures = {**report, **report[where], "has_boundaries": has_boundaries}
        yield "corpus", "", where, figures
        yield where, "", where, figures
    for name, component in components.items():
        yield "component", name, "", {**report["train"], **component["train"], **component}
        for where in ("train", "dev"):
            yield "reading", name, where, {**report[where], **component, **component[where]}


def show_figure(figures: Figures, key: str, *, how: str) -> str:
    """Format a figure; "unknown" if it is None or missing.

    how: A format, or the name of the figure that this one is a share of; "" for neither.
    """
    value = figures.get(key)
    if value is None:
        return "unknown"
    number = len(value) if isinstance(value, Mapping) else value
    if how.startswith("."):
        return format(number, how)
    return f"{number:,} ({number / figures[how]:.1%})" if how and number else f"{number:,}"
