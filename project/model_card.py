"""Write meta.json and the model card of a package, from the facts of training and scoring."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, product
from typing import Any

from spacy_g2g.evaluation.punctuation import PUNCTUATION_RULES

from .markdown import Table, markdown_table, plain_text
from .treebank_settings import AMR, encoder_license, joined_treebanks, pipeline_name

#: Metrics of a card, by the sets of `project/score.py`.
DEPENDENCY_METRICS = ("UAS", "LAS", "CLAS", "UAS_nopunct", "LAS_nopunct")
TOKEN_METRICS = ("UPOS", "XPOS", "UFeats", "Lemmas")
AMR_METRICS = ("Smatch", "Concepts")
ROLE_METRICS = ("Predicates", "Rolesets", "Roles", "RoleSpans")
METRICS = ("Tokens", "Sentences", "Words", *TOKEN_METRICS, *DEPENDENCY_METRICS, *ROLE_METRICS, *AMR_METRICS)
AMR_PARSER, ROLE_LABELER = "amr_parser", "role_labeler"
ENGLISH_LEMMATIZER = "english_lemmatizer"
#: Metrics of what components predict for tokens.
WRITTEN = {
    "tagger": ("XPOS",),
    "morphologizer": ("UPOS", "UFeats"),
    "trainable_lemmatizer": ("Lemmas",),
    "lemmatizer": ("Lemmas",),
    ENGLISH_LEMMATIZER: ("Lemmas",),
    "lemma_table": ("Lemmas",),
    "attribute_ruler": TOKEN_METRICS,
}
#: Tasks of components, for the description.
TASKS = {
    "senter": "sentence boundaries",
    "g2g_encoder": "sentence boundaries",
    "tagger": "tags",
    "morphologizer": "morphology",
    "trainable_lemmatizer": "lemmas",
    ENGLISH_LEMMATIZER: "lemmas",
    "parser": "dependency trees",
    "g2g_parser": "dependency trees",
    "rng_refiner": "dependency trees",
    ROLE_LABELER: "semantic roles",
    AMR_PARSER: "AMRs",
}
#: Facts about the treebank in a package, besides its address.
TREEBANK_FACTS = ("kind", "treebank", "tag", "commit", "license", "date")
SET_NAMES = {
    "dev": "development set",
    "test": "test set",
    "dev_raw": "development set, from text",
    "test_raw": "test set, from text",
}
#: What else an adapted pipeline is scored with, by the beginning of the names of its sets.
COMPARED = {"base/": "the base", "old/": "old data", "old_base/": "old data, the base"}
CODE_LICENSE = "MIT"
#: Rows about speed: title, which may have figures in braces, name in the output of project/timing.py, digits
#: after the point, unit.
SPEED = (
    ("a sentence of {sentence_words:.0f} words, median", "p50_ms", 1, "ms"),
    ("the same, 95th percentile", "p95_ms", 1, "ms"),
    ("first text after loading", "first_ms", 0, "ms"),
    ("short texts by nlp.pipe", "short_wps", 0, "words a second"),
    ("documents by nlp.pipe", "document_wps", 0, "words a second"),
    ("loading, after import spacy", "load_s", 1, "s"),
    ("peak memory", "memory_mb", 0, "MB"),
)
SPEED_NOTE = "CPU time of one thread, on the machine that made this package."
#: Number of labels that a card names as the weakest, and F1 below which it names sentence boundaries.
N_WEAKEST, GOOD_SENTENCES = 3, 0.9
#: Licenses under which a source may be used for anything.
FREE_LICENSES = ("MIT", "Apache-2.0", "WordNet 3.0 license")
#: Source of the words of ``english_lemmatizer``. `assets/wordnet-license.txt` has the text of the license.
WORDNET = {"name": "WordNet 3.0", "license": "WordNet 3.0 license", "url": "https://wordnet.princeton.edu"}
NOTES = (
    "Scores are those of the CoNLL 2018 shared task, on gold words and sentences unless marked as from text: "
    "punctuation counts, label subtypes do not."
)
AMR_NOTES = (
    "Scores are Smatch, over the triples of all sentences and without links to Wikipedia, and the F1 score "
    "of concepts alone; on gold words and sentences."
)


def complete_meta(
    meta: Mapping[str, Any],
    *,
    facts: Mapping[str, Any],
    scores: Mapping[str, Any],
    size: int,
    speed: Mapping[str, float] | None = None,
    frequent_labels: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the pipeline's meta with description, licenses, sources, scores and facts.

    meta: Content of the pipeline's meta.json.
    facts: Content of facts.json of the metrics.
    scores: Output of `g2g evaluate`, by set.
    size: Size of the pipeline in bytes.
    speed: Times and memory, as project/timing.py measures them; None if they were not measured.
    frequent_labels: Labels whose scores mean something, since the development set has many of them.
    """
    treebank, training = facts.get("treebank", {}), facts.get("training", {})
    name = treebank_name(treebank)
    performance = dict(meta.get("performance", {}))
    for split, metrics in scores.items():
        shown = metrics_of(split, meta.get("pipeline", []))
        performance |= {f"{split}_{m.lower()}": metrics[m]["f1"] for m in shown if m in metrics}
    if training.get("parser"):
        training = {**training, "parser": pipeline_name(training["parser"])}
    components = meta.get("pipeline", [])
    tasks = ", ".join(dict.fromkeys(TASKS[name] for name in components if name in TASKS)) or "A pipeline"
    return {
        **meta,
        "description": f"{tasks[0].upper()}{tasks[1:]}, trained on {name}: {', '.join(components)} "
        f"({size / 1e6:.0f} MB).",
        "license": treebank.get("license") or "unknown",
        "sources": _sources(treebank, training, components),
        "performance": performance,
        "notes": AMR_NOTES if treebank.get("kind") == AMR else NOTES,
        "spacy_g2g": {
            "size_in_bytes": size,
            "code_license": CODE_LICENSE,
            "treebank": _treebank_facts(treebank),
            "training": training,
            "exclude_punct": facts.get("exclude_punct", ""),
            "frequent_labels": [*frequent_labels],
            **({"speed": dict(speed)} if speed else {}),
        },
    }


def _treebank_facts(treebank: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a package says of a treebank, without paths of the machine that made the package."""
    facts = {key: treebank[key] for key in TREEBANK_FACTS if key in treebank}
    joined = treebank.get("treebanks", [])
    return facts | ({"treebanks": [*map(_treebank_facts, joined)]} if joined else {})


def metrics_of(split: str, pipeline: Collection[str]) -> tuple[str, ...]:
    """Return the metrics for a pipeline and a set, which is read from gold words or from text."""
    if AMR_PARSER in pipeline:
        return AMR_METRICS
    written = {*chain.from_iterable(WRITTEN.get(name, ()) for name in pipeline)}
    tokens = (metric for metric in TOKEN_METRICS if metric in written)
    segments = ("Tokens", "Sentences", "Words") if split.endswith("_raw") else ()
    roles = ROLE_METRICS if ROLE_LABELER in pipeline else ()
    return (*segments, *tokens, *DEPENDENCY_METRICS, *roles)


def treebank_name(treebank: Mapping[str, Any]) -> str:
    """Return name and tag of a treebank."""
    return " ".join(filter(None, [treebank.get("treebank", "data that was not noted"), treebank.get("tag")]))


def _sources(
    treebank: Mapping[str, Any], training: Mapping[str, Any], components: Collection[str]
) -> list[dict[str, str]]:
    sources: list[dict[str, str]] = []
    for each in treebank.get("annotations") or treebank.get("treebanks", [treebank]):
        sources.append({"name": treebank_name(each), "license": each.get("license") or "unknown"})
        if each.get("origin", "").startswith(("http://", "https://")):
            sources[-1]["url"] = each["origin"]
    if base := training.get("base"):
        sources.append({"name": f"{base} (base)", "license": training["base_license"]})
    if encoder := training.get("encoder"):
        sources.append({"name": encoder, "license": encoder_license(encoder)})
    if ENGLISH_LEMMATIZER in components:
        sources.append(WORDNET)
    return [*sources, {"name": "spacy-g2g (code)", "license": CODE_LICENSE}]


def model_card(meta: Mapping[str, Any]) -> str:
    """Return the README.md of a package, from the meta that ``complete_meta`` returned."""
    facts = meta["spacy_g2g"]
    speed = facts.get("speed")
    parts = [
        f"# {meta['lang']}_{meta['name']} {meta['version']}",
        plain_text(meta["description"]),
        f'```python\nimport spacy\n\nnlp = spacy.load("{meta["lang"]}_{meta["name"]}")\n```',
        markdown_table([("", ""), *_overview(meta, facts)]),
        "## Scores",
        meta["notes"] + _without_punctuation(facts.get("exclude_punct")),
        markdown_table(score_rows(meta["performance"], [*joined_treebanks(facts.get("treebank", {}))])),
        *(["## Speed and memory", SPEED_NOTE, markdown_table(speed_rows(speed))] if speed else []),
        "## What it is not good at",
        f"From its own scores and parts: {weakest_of(meta)}.",
        "## Training",
        markdown_table([("", ""), *_training(facts.get("training", {}))]),
        "## Licenses",
        f"The code is under the {CODE_LICENSE} license. {_terms(meta)}",
        markdown_table([("source", "license"), *((s["name"], s["license"]) for s in meta["sources"])]),
    ]
    return "\n\n".join(parts) + "\n"


def speed_rows(speed: Mapping[str, float]) -> Table:
    """Return a table of what project/timing.py measured."""
    rows = ((title.format(**speed), f"{speed[key]:,.{d}f} {unit}") for title, key, d, unit in SPEED)
    return [("", ""), *rows]


def speed_of(meta: Mapping[str, Any]) -> str:
    """Return the speed of a pipeline in a few words; "" if it was not measured."""
    speed = meta.get("spacy_g2g", {}).get("speed")
    if not speed:
        return ""
    return (
        f"{speed['p50_ms']:.0f} ms of CPU time for a sentence of {speed['sentence_words']:.0f} words, "
        f"{speed['document_wps']:,.0f} words a second in documents, {speed['load_s']:.1f} s to load, "
        f"{speed['memory_mb']:,.0f} MB of memory"
    )


def weakest_of(meta: Mapping[str, Any]) -> str:
    """Return what a pipeline is not good at: its lowest scores, and what it does not do at all."""
    performance, facts = meta.get("performance", {}), meta.get("spacy_g2g", {})
    by_label = performance.get("ud_las_per_type") or {}
    told = {
        label: 100 * by_label[label]["f"] for label in facts.get("frequent_labels", ()) if label in by_label
    }
    lowest = sorted(told, key=lambda label: told[label])[:N_WEAKEST]
    names = [f"{label} ({told[label]:.0f})" for label in lowest]
    parts = [f"the labels {', '.join(names)}, by F1 of labeled arcs"] if names else []
    sentences = performance.get("dev_raw_sentences") or performance.get("test_raw_sentences") or 1
    if sentences < GOOD_SENTENCES:
        parts.append(f"sentence boundaries in raw text ({100 * sentences:.0f})")
    if "ner" not in meta.get("pipeline", []):
        parts.append("named entities, which it does not find")
    return "; ".join([*parts, f"text unlike that of {treebank_name(facts.get('treebank', {}))}"])


def _terms(meta: Mapping[str, Any]) -> str:
    if all(source["license"] in FREE_LICENSES for source in meta["sources"]):
        return "Anyone may use the weights for anything: all that they were made from allows it."
    return (
        f"The weights were trained on the {_data(meta['spacy_g2g'])}, whose license may bind those who use "
        "them or pass them on (see LICENSES_SOURCES): one with NC does not allow commercial use."
    )


def _data(facts: Mapping[str, Any]) -> str:
    return "AMR corpus" if facts.get("treebank", {}).get("kind") == AMR else "treebank"


def _without_punctuation(rule: str | None) -> str:
    return f" Punctuation that is left out: {PUNCTUATION_RULES[rule].text}." if rule else ""


def _overview(meta: Mapping[str, Any], facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    treebank = facts.get("treebank", {})
    labels = ", ".join(f"{name} {len(found)}" for name, found in meta.get("labels", {}).items() if found)
    return [
        (_data(facts), treebank_name(treebank)),
        *([(f"commit of the {_data(facts)}", treebank["commit"])] if treebank.get("commit") else []),
        ("components", ", ".join(meta.get("pipeline", []))),
        ("labels", labels or "-"),
        ("size on disk", f"{facts['size_in_bytes'] / 1e6:.1f} MB"),
        ("requires", ", ".join(meta.get("requirements", [])) or "-"),
    ]


def score_rows(performance: Mapping[str, Any], treebanks: Sequence[str] = ()) -> Table:
    """Return a table of percentages with a row for each set and a column for each known metric.

    performance: Scores of all sets, None where there was nothing to score.
    treebanks: Names of treebanks that were joined, each with sets of its own.
    """
    parts = {f"{treebank}/": treebank for treebank in treebanks} or COMPARED
    set_names = {} if treebanks else dict(SET_NAMES)
    for prefix, title in parts.items():
        set_names |= {f"{prefix}{split}": f"{title}: {name}" for split, name in SET_NAMES.items()}
    scored = product(METRICS, set_names)
    known = {metric for metric, split in scored if f"{split}_{metric.lower()}" in performance}
    # A pipeline that writes some of a word's columns has a dash for the others.
    shown = known if known.isdisjoint(TOKEN_METRICS) else known | {*TOKEN_METRICS}
    metrics = [metric for metric in METRICS if metric in shown]
    rows = [("", *(metric.replace("_nopunct", " without punctuation") for metric in metrics))]
    for split, name in set_names.items():
        values = [performance.get(f"{split}_{metric.lower()}") for metric in metrics]
        if any(value is not None for value in values):
            rows.append((name, *("-" if value is None else f"{100 * value:.2f}" for value in values)))
    return rows if len(rows) > 1 else [("", "scores"), ("", "none were noted")]


def _training(training: Mapping[str, Any]) -> list[tuple[str, str]]:
    if not training:
        return [("", "nothing was noted")]
    versions = ", ".join(f"{name} {value}" for name, value in training["versions"].items())
    rows = [
        *([("continued from", training["base"])] if training.get("base") else []),
        ("encoder", training["encoder"] or "none: trained from scratch"),
        ("config", training["config"]),
        ("steps at most", f"{training['max_steps']} ({training['epochs']} epochs)"),
        ("training set", f"{training['sentences']} sentences, {training['words']} words"),
        ("time", f"{training['minutes']} minutes on {training['device']}"),
        ("date", training["date"]),
        ("versions", versions),
    ]
    return [*rows, ("refines", training["parser"])] if training.get("parser") else rows
