"""Error analysis as a self-contained HTML page with tables, plots and trees."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..formats.conllu import ConlluSentence
from .drawing import Drawing, draw_sentences
from .error_analysis import WORST_BY, Analysis, Confusions, worst_sentences
from .error_tables import Rate
from .page import escape, make_image, make_page, make_table
from .plots import plot_bins, plot_label_scores
from .rates import error_reduction, percent, signed_percent

#: Significance level of the papers.
ALPHA = 0.01
MOST_CONFUSIONS = 25

OVERALL_HEADER = ("system", "UAS", "LAS", "RER", "labels", "UEM", "LEM", "UD UAS", "UD LAS", "UD CLAS")
SIGNIFICANCE_HEADER = (
    "first / second",
    "metric",
    "first",
    "second",
    "difference",
    "95% interval",
    "p",
    "differ",
    "only first",
    "only second",
)

_DEFINITIONS = (
    "The length of an arc is the distance between its words; arcs from ROOT have their own bin. The distance "
    "of a word to the root is the number of arcs from the word to ROOT. P is the share of right arcs among "
    "the system's arcs in a bin, and R is the share of right arcs among the gold arcs in a bin (McDonald & "
    "Nivre 2011). The bins follow Mohammadshahi & Henderson (2019, appendix B). RER is the relative error "
    "reduction in F1 against the first system."
)


def make_report(
    analysis: Analysis,
    gold: Sequence[ConlluSentence],
    systems: Mapping[str, Sequence[ConlluSentence]],
    *,
    title: str,
    worst: int = 20,
    worst_by: str = "errors",
) -> str:
    """Return the HTML page of an error analysis.

    analysis: Analysis of the sentences.
    gold: Sentences with gold trees.
    systems: The same sentences with the trees of each system.
    title: Title of the page.
    worst: Number of the worst sentences to draw.
    worst_by: Order of ``worst_sentences``.
    Raises ImportError if matplotlib is missing.
    Raises ValueError if the order is unknown.
    """
    chosen = worst_sentences(analysis, worst, worst_by)
    parts = {
        "Scores": [_overall(analysis), *([_significance(analysis)] if analysis.significance else [])],
        "Length and depth": [
            make_image(plot_bins(analysis), "Line plots of F1 and LAS in the three tables below"),
            f'<p class="note">{escape(_DEFINITIONS)}</p>',
            _arc_table(analysis, "dependency_length", "Arcs by dependency length", "length"),
            _arc_table(analysis, "distance_to_root", "Arcs by distance to the root", "distance"),
            _word_table(analysis, "sentence_length", "Words by the length of their sentence", "words"),
        ],
        "Labels": [
            make_image(plot_label_scores(analysis), "Dot plot of F1 in the table below"),
            _arc_table(analysis, "label", "Arcs by label", "label"),
        ],
        "Projectivity": [
            _arc_table(analysis, "arc_projectivity", "Arcs by projectivity", ""),
            _word_table(analysis, "tree_projectivity", "Words by projectivity of the gold tree", ""),
            _arc_table(
                analysis, "tree_projectivity", "Sentences by projectivity of the tree", "", "sentences"
            ),
        ],
        "Confusion of labels": [
            '<div class="side">',
            _confusions(analysis, analysis.confusions_at_right_heads, "words with the right head"),
            _confusions(analysis, analysis.confusions, "all words"),
            "</div>",
        ],
        "Worst sentences": [_draw_worst(analysis, gold, systems, chosen, worst_by)],
    }
    if not worst:
        del parts["Worst sentences"]
    links = " · ".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name in parts)
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(_facts(analysis))}</p>", f"<nav>{links}</nav>"]
    for name, items in parts.items():
        body += [f'<h2 class="part" id="{_anchor(name)}">{escape(name)}</h2>', *items]
    return make_page(title, "\n".join(body))


def overall_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each system with the columns of OVERALL_HEADER, in percent."""
    first = next(iter(analysis.tables.values()))["overall"]["compared"]["LAS"]
    for name, tables in analysis.tables.items():
        compared = tables["overall"]["compared"]
        reduction = _reduction(first, compared["LAS"]) if name != analysis.names[0] else ""
        scores = [_percent(compared[metric]) for metric in ("UAS", "LAS", "label accuracy", "UEM", "LEM")]
        yield name, *scores[:2], reduction, *scores[2:], *map(_percent, tables["overall"]["conll18"].values())


def significance_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each pair of systems and metric with the columns of SIGNIFICANCE_HEADER, in percent."""
    for a, b, metric, only_a, only_b, result in analysis.significance:
        yield (
            f"{a} / {b}",
            metric,
            f"{100 * result.score_a:.2f}",
            f"{100 * result.score_b:.2f}",
            f"{100 * result.difference:+.2f}",
            f"{100 * result.low:+.2f} to {100 * result.high:+.2f}",
            f"{result.p_value:.4f}",
            "yes" if result.p_value < ALPHA else "no",
            f"{only_a:,}",
            f"{only_b:,}",
        )


def _facts(analysis: Analysis) -> str:
    facts = f"{analysis.n_sentences:,} sentences, {analysis.n_words:,} words"
    if analysis.n_compared != analysis.n_words:
        facts += f", of which {analysis.n_compared:,} count"
    return f"{facts}. Compared: {analysis.options}. Scores are in percent."


def _overall(analysis: Analysis) -> str:
    caption = (
        "RER: relative error reduction in LAS against the first system. UEM: sentences with all heads right. "
        "LEM: sentences with all heads and labels right. UD: the metrics of CoNLL 2018, which compare the "
        "universal part of labels and count punctuation."
    )
    groups = (("", 1), ("as compared", 6), ("CoNLL 2018", 3))
    return make_table(caption, OVERALL_HEADER, overall_rows(analysis), groups=groups)


def _significance(analysis: Analysis) -> str:
    caption = (
        f"Second system against the first, by paired bootstrap over sentences. Differ: p < {ALPHA}. Only "
        "first, only second: number of words that only this system has right."
    )
    return make_table(caption, SIGNIFICANCE_HEADER, significance_rows(analysis))


def _arc_table(analysis: Analysis, quantity: str, caption: str, bins: str, items: str = "arcs") -> str:
    """Return a table of precision, recall and F1 of all systems by bin, with the number of items."""
    tables = [table[quantity] for table in analysis.tables.values()]
    groups, header = [("", 1), ("gold", 1)], [bins, items]
    for name in analysis.names:
        columns = [items, "P", "R", "F1", *(["RER"] if name != analysis.names[0] else [])]
        groups.append((name, len(columns)))
        header += columns
    rows = []
    for name, first in tables[0].items():
        row = [name, f"{first['recall'].count:,}"]
        for table in tables:
            own = table[name]
            row.append(f"{own['precision'].count:,}")
            row += [_percent(own[metric]) for metric in ("precision", "recall", "f1")]
            row += [] if table is tables[0] else [_reduction(first["f1"], own["f1"])]
        rows.append(row)
    return make_table(caption, header, rows, groups=groups)


def _word_table(analysis: Analysis, quantity: str, caption: str, bins: str) -> str:
    """Return a table of UAS and LAS of all systems by bin."""
    tables = [table[quantity] for table in analysis.tables.values()]
    header = [bins, "words", *["UAS", "LAS"] * len(tables)]
    groups = [("", 1), ("gold", 1), *((name, 2) for name in analysis.names)]
    rows = [
        [name, f"{first['LAS'].count:,}"]
        + [_percent(table[name][metric]) for table in tables for metric in ("UAS", "LAS")]
        for name, first in tables[0].items()
    ]
    return make_table(caption, header, rows, groups=groups)


def _confusions(analysis: Analysis, confusions: Mapping[str, Confusions], words: str) -> str:
    """Return a table of the label confusions that are most frequent over all systems."""
    first = next(iter(analysis.tables.values()))
    n_gold = {label: measures["recall"].count for label, measures in first["label"].items()}
    total: Counter[tuple[str, str]] = Counter()
    for counts in confusions.values():
        total.update(counts)
    rows = [
        [f"{gold} → {system}", f"{n_gold[gold]:,}"]
        + [f"{counts.get((gold, system), 0):,}" for counts in confusions.values()]
        for (gold, system), _ in total.most_common(MOST_CONFUSIONS)
    ]
    caption = f"Gold label → wrong label of {words}, the most frequent first"
    return make_table(caption, ["labels", "gold words", *analysis.names], rows)


def _draw_worst(
    analysis: Analysis,
    gold: Sequence[ConlluSentence],
    systems: Mapping[str, Sequence[ConlluSentence]],
    chosen: Sequence[int],
    by: str,
) -> str:
    """Draw the gold tree of each chosen sentence above the trees of the systems."""
    subtypes = analysis.options.subtypes
    drawings = []
    for index in chosen:
        sentence = gold[index]
        errors = zip(analysis.names, analysis.wrong[:, index].tolist(), strict=True)
        facts = f"{analysis.totals[index]} words, wrong: " + ", ".join(f"{name} {n}" for name, n in errors)
        drawings.append(
            Drawing(
                words=[word.form for word in sentence.words],
                graphs={name: trees[index].graph(subtypes=subtypes) for name, trees in systems.items()},
                gold=sentence.graph(subtypes=subtypes),
                name=" · ".join(filter(None, [sentence.comment("sent_id"), facts])),
                text=sentence.text,
                are_steps=False,
            )
        )
    compared = f"Compared: {'' if subtypes else 'universal part of '}labels; here, punctuation counts."
    drawn = draw_sentences(drawings, level=3, compared=compared)
    return f'<p class="note">Ordered by {WORST_BY[by]}.</p>\n{drawn}'


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _percent(rate: Rate) -> str:
    return percent(rate.value)


def _reduction(before: Rate, after: Rate) -> str:
    return signed_percent(error_reduction(before.value, after.value))
