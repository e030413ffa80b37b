"""Tables and messages of ``debug-data``."""

from collections.abc import Callable, Iterator, Sequence

from ..evaluation.treebank_advice import Finding
from ..evaluation.treebank_report import LONG_DUPLICATE, ComponentFacts, CorpusFacts, DataReport
from .messages import msg


def print_report(report: DataReport) -> None:
    """Print the figures of the corpora and of each component as tables."""
    msg.divider("Corpora")
    _print_table([(text, *map(show, (report.train, report.dev))) for text, show in CORPUS_ROWS])
    msg.text(
        f"{report.duplicates} sentences of dev are also in train; {report.long_duplicates} of them have "
        f"{LONG_DUPLICATE} words or more"
    )
    msg.divider("Labels")
    train, dev = report.train.labels, report.dev.labels
    _print_table([(label, _count(train.get(label, 0)), _count(dev.get(label, 0))) for label in train | dev])
    for name, component in report.components.items():
        msg.divider(name)
        msg.text(f"Model {component.architecture}, encoder {component.encoder}")
        if component.initial_from:
            msg.text(f"Starts from the trees of {', '.join(component.initial_from)}")
        pairs = ((component.train, report.train), (component.dev, report.dev))
        columns = [dict(_component_rows(facts, corpus)) for facts, corpus in pairs]
        _print_table([(text, *(column[text] for column in columns)) for text in columns[0]])


def print_findings(findings: Sequence[Finding]) -> None:
    """Print the problems that were found."""
    msg.divider("Findings")
    for finding in findings:
        title = f"{finding.where}: {finding.name}"
        if finding.level == "error":
            msg.fail(title, finding.text)
        else:
            msg.warn(title, finding.text)
    if not findings:
        msg.good("No problems found")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    # Cells longer than max_col would push the columns after them out of line.
    msg.table(rows, header=("", "train", "dev"), divider=True, aligns=("l", "r", "r"), max_col=100)


def _count(number: int) -> str:
    return f"{number:,}"


def _share(number: int, total: int) -> str:
    """Return a count with its share of the total."""
    return f"{number:,} ({number / total:.1%})" if number else "0"


def _multiword(facts: CorpusFacts) -> str:
    if facts.multiword_tokens is None or facts.multiword_words is None:
        return "unknown"
    return f"{facts.multiword_tokens:,} of {_share(facts.multiword_words, facts.words)}"


#: Rows of the table of corpora: a title and the text of a cell.
CORPUS_ROWS: tuple[tuple[str, Callable[[CorpusFacts], str]], ...] = (
    ("Docs", lambda f: _count(f.docs)),
    ("Sentences", lambda f: _count(f.sentences)),
    ("Words", lambda f: _count(f.words)),
    ("White-space tokens", lambda f: _count(f.white_space)),
    ("Labels", lambda f: _count(len(f.labels))),
    ("Longest sentence, words", lambda f: _count(f.longest)),
    ("Sentences after another in their Doc", lambda f: _count(f.inner_starts)),
    ("... without punctuation before them", lambda f: _share(f.bare_starts, f.inner_starts)),
    ("Sentences of one word", lambda f: _share(f.one_word, f.sentences)),
    ("Multiword tokens (share of words in them)", _multiword),
    ("F1 of tokens, from text", lambda f: "unknown" if f.token_f1 is None else f"{100 * f.token_f1:.2f}"),
    ("Sentences with a whole tree", lambda f: _share(f.trees, f.sentences)),
    ("Non-projective trees", lambda f: _share(f.non_projective, f.trees)),
    ("Non-projective words", lambda f: _share(f.non_projective_words, f.words)),
    ("Sentences without any head", lambda f: _share(f.no_tree, f.sentences)),
    ("Sentences with some heads missing", lambda f: _share(f.incomplete, f.sentences)),
    ("Sentences with several roots", lambda f: _share(f.several_roots, f.sentences)),
    ("Sentences with cycles", lambda f: _share(f.cycles, f.sentences)),
    ("Words without a head", lambda f: _share(f.missing, f.words)),
    ("Heads in other sentences", lambda f: _share(f.outside, f.words)),
    ("Heads that are white space", lambda f: _share(f.space_heads, f.words)),
)


def _component_rows(facts: ComponentFacts, corpus: CorpusFacts) -> Iterator[tuple[str, str]]:
    """Yield the rows for a component and a corpus."""
    yield "Sentences to learn from", _share(facts.learnable, corpus.sentences)
    pieces = facts.pieces
    yield "Pieces per word", f"{pieces.pieces / corpus.words:.2f}" if pieces and corpus.words else "unknown"
    yield "Longest sentence, pieces", f"{pieces.longest:,} of {pieces.limit:,}" if pieces else "unknown"
    yield "Words with unknown pieces", _share(pieces.unknown, corpus.words) if pieces else "unknown"
    if facts.missing_tags is not None:
        yield "Words without a tag", _share(facts.missing_tags, corpus.words)
    if facts.initial is not None:
        yield "Words with an initial head", _share(facts.initial.heads, corpus.words)
        yield "Initial heads and labels right", _share(facts.initial.right, facts.initial.words)
