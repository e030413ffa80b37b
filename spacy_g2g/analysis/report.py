"""Error analysis as a self-contained HTML page with tables, plots and trees."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from ..evaluation.rates import error_reduction, percent, signed_percent
from .drawing import Drawing, draw_sentences
from .error_analysis import WORST_BY, Analysis, worst_sentences
from .page import escape, make_image, make_page, make_table
from .plots import plot_bins, plot_label_scores

#: Significance level of the papers.
ALPHA = 0.01
MAX_CONFUSIONS = 25

OVERALL_HEADER = ("system", "UAS", "LAS", "RER", "labels", "UEM", "LEM", "UD UAS", "UD LAS", "UD CLAS")
SIGNIFICANCE_HEADER = (
    *("first / second", "metric", "first", "second", "difference", "95% interval", "p"),
    *("differ", "only first", "only second"),
)

_DEFINITIONS = (
    "The length of an arc is the distance between its words; arcs from ROOT have their own bin. The distance "
    "of a word to the root is the number of arcs from the word to ROOT. P is the share of right arcs among "
    "the system's arcs in a bin, and R is the share of right arcs among the gold arcs in a bin (McDonald & "
    "Nivre 2011). The bins follow Mohammadshahi & Henderson (2019, appendix B). RER is the relative error "
    "reduction in F1 against the first system."
)
_OVERALL = (
    "RER: relative error reduction in LAS against the first system. UEM: sentences with all heads right. "
    "LEM: sentences with all heads and labels right. UD: the metrics of CoNLL 2018, which compare the "
    "universal part of labels and count punctuation."
)
_SIGNIFICANCE = (
    f"Second system against the first, by paired bootstrap over sentences. Differ: p < {ALPHA}. Only "
    "first, only second: number of words that only this system has right."
)


def make_report(analysis: Analysis, *, title: str, worst: int = 20, worst_by: str = "errors") -> str:
    """Return the HTML page of an error analysis.

    worst: Number of the worst sentences to draw.
    worst_by: Order of ``worst_sentences``.
    Raises ImportError if matplotlib is missing.
    """
    groups = (("", 1), ("as compared", 6), ("CoNLL 2018", 3))
    parts = {
        "Scores": [make_table(_OVERALL, OVERALL_HEADER, overall_rows(analysis), groups=groups)],
        "Length and depth": [
            make_image(plot_bins(analysis), description="Line plots of F1 and LAS in the three tables below"),
            f'<p class="note">{escape(_DEFINITIONS)}</p>',
            _arc_table(analysis, "dependency_length", "Arcs by dependency length", "length"),
            _arc_table(analysis, "distance_to_root", "Arcs by distance to the root", "distance"),
            _word_table(analysis, "sentence_length", "Words by the length of their sentence", "words"),
        ],
        "Labels": [
            make_image(plot_label_scores(analysis), description="Dot plot of F1 in the table below"),
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
            _confusion_table(analysis, "confusions_at_right_heads", "words with the right head"),
            _confusion_table(analysis, "confusions", "all words"),
            "</div>",
        ],
    }
    if len(analysis.names) > 1:
        parts["Scores"].append(make_table(_SIGNIFICANCE, SIGNIFICANCE_HEADER, significance_rows(analysis)))
    if worst:
        parts["Worst sentences"] = [
            _draw_worst(analysis, worst_sentences(analysis, worst, worst_by), worst_by)
        ]
    links = " · ".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name in parts)
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(_describe_sizes(analysis))}</p>", f"<nav>{links}</nav>"]
    for name, items in parts.items():
        body += [f'<h2 class="part" id="{_anchor(name)}">{escape(name)}</h2>', *items]
    return make_page(title, body="\n".join(body))


def overall_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each system with the columns of OVERALL_HEADER, in percent."""
    for name in analysis.names:
        compared = ("UAS", "LAS", "label accuracy", "UEM", "LEM")
        cells = [percent(analysis[name, "overall", "compared", metric].value) for metric in compared]
        cells.insert(2, _reduction(analysis, name, ("overall", "compared", "LAS")))
        conll18 = ("UAS", "LAS", "CLAS")
        cells += [percent(analysis[name, "overall", "conll18", metric].value) for metric in conll18]
        yield name, *cells


def significance_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each pair of systems and metric with the columns of SIGNIFICANCE_HEADER, in percent."""
    for (a, b), metric in product(combinations(analysis.names, 2), ("UAS", "LAS")):
        kinds = ("right_to_wrong", "wrong_to_right", "difference", "low", "high", "p_value")
        only_a, only_b, difference, low, high, p = (
            analysis[b, f"{metric}_change", a, kind].value or 0.0 for kind in kinds
        )
        yield (
            f"{a} / {b}",
            metric,
            percent(analysis[a, "overall", "compared", metric].value),
            percent(analysis[b, "overall", "compared", metric].value),
            signed_percent(difference),
            f"{signed_percent(low)} to {signed_percent(high)}",
            f"{p:.4f}",
            "yes" if p < ALPHA else "no",
            f"{only_a:,}",
            f"{only_b:,}",
        )


def _describe_sizes(analysis: Analysis) -> str:
    facts, n_compared = f"{len(analysis.gold):,} sentences, {analysis.n_words:,} words", analysis.totals.sum()
    if n_compared != analysis.n_words:
        facts += f", of which {n_compared:,} count"
    return f"{facts}. Compared: {analysis.compared}. Scores are in percent."


def _arc_table(analysis: Analysis, quantity: str, caption: str, bins: str, items: str = "arcs") -> str:
    """Return a table of precision, recall and F1 of all systems by bin, with the number of items."""
    first, *others = analysis.names
    columns = [items, "P", "R", "F1"]
    header = [bins, items, *columns, *[*columns, "RER"] * len(others)]
    groups = [("", 1), ("gold", 1), (first, len(columns)), *((name, len(columns) + 1) for name in others)]
    rows = []
    for bin_ in analysis.bins(quantity):
        row = [bin_, f"{analysis[first, quantity, bin_, 'recall'].count:,}"]
        for name in analysis.names:
            rates = [analysis[name, quantity, bin_, metric] for metric in ("precision", "recall", "f1")]
            row += [f"{rates[0].count:,}", *(percent(rate.value) for rate in rates)]
            row += [_reduction(analysis, name, (quantity, bin_, "f1"))] * (name != first)
        rows.append(row)
    return make_table(caption, header, rows, groups=groups)


def _word_table(analysis: Analysis, quantity: str, caption: str, bins: str) -> str:
    """Return a table of UAS and LAS of all systems by bin."""
    header = [bins, "words", *["UAS", "LAS"] * len(analysis.names)]
    groups = [("", 1), ("gold", 1), *((name, 2) for name in analysis.names)]
    columns = [*product(analysis.names, ("UAS", "LAS"))]
    rows = []
    for bin_ in analysis.bins(quantity):
        rates = [analysis[name, quantity, bin_, metric] for name, metric in columns]
        rows.append([bin_, f"{rates[0].count:,}", *(percent(rate.value) for rate in rates)])
    return make_table(caption, header, rows, groups=groups)


def _confusion_table(analysis: Analysis, quantity: str, words: str) -> str:
    """Return a table of the label confusions that are most frequent over all systems."""
    numbers: Counter[tuple[str, str]] = Counter()
    n_gold, total = dict[str, int](), Counter[str]()
    for row in analysis.rows:
        if row.quantity == quantity:
            n_gold[row.bin] = row.count
            numbers[row.bin, row.system] = int(row.value or 0)
            total[row.bin] += int(row.value or 0)
    rows = []
    for pair, _ in total.most_common(MAX_CONFUSIONS):
        counts = [n_gold[pair], *(numbers[pair, name] for name in analysis.names)]
        rows.append([pair, *map("{:,}".format, counts)])
    caption = f"Gold label → wrong label of {words}, the most frequent first"
    return make_table(caption, ["labels", "gold words", *analysis.names], rows)


def _draw_sentence(analysis: Analysis, index: int) -> Drawing:
    """Return a sentence with its gold tree and the trees of the systems."""
    sentence = analysis.gold[index]
    errors = zip(analysis.names, analysis.wrong[:, index].tolist(), strict=True)
    facts = f"{analysis.totals[index]} words, wrong: " + ", ".join(f"{name} {n}" for name, n in errors)
    graphs = {name: graphs[index] for name, graphs in analysis.systems.items()}
    return Drawing(
        words=[word.form for word in sentence.words],
        graphs=graphs,
        gold=sentence.graph(subtypes=analysis.subtypes),
        name=" · ".join(filter(None, [sentence.comment("sent_id"), facts])),
        text=sentence.text,
        are_steps=False,
    )


def _draw_worst(analysis: Analysis, chosen: Sequence[int], by: str) -> str:
    """Draw the gold tree of each chosen sentence above the trees of the systems."""
    drawings = [_draw_sentence(analysis, index) for index in chosen]
    part = "" if analysis.subtypes else "universal part of "
    compared = f"Compared: {part}labels; here, punctuation counts."
    sections = draw_sentences(drawings, level=3, compared=compared)
    return f'<p class="note">Ordered by {WORST_BY[by]}.</p>\n{sections}'


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _reduction(analysis: Analysis, name: str, part: tuple[str, str, str]) -> str:
    """Return the error reduction of a system against the first one, in a quantity, bin and metric."""
    first, (quantity, bin_, metric) = analysis.names[0], part
    if name == first:
        return ""
    before, after = (analysis[system, quantity, bin_, metric].value for system in (first, name))
    return signed_percent(error_reduction(before=before, after=after))
