"""``tokenizer``: a tokenizer of spaCy that cuts text as a treebank does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from ..data.chunks import ChunkTable, TokenCounts, read_chunks
from ..data.tokenizer_training import train_tokenizer
from ..errors import Errors
from ..evaluation.alignment import multiword_limit
from ..formats.conllu import ConlluSentence, read_conllu
from .common import check_suffix, user_errors
from .messages import msg
from .options import Silent

#: Number of disagreements that are shown.
N_SHOWN = 10
RULES = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}


def tokenizer_cli(
    train: Annotated[Path, typer.Argument(help="CoNLL-U file with the training text and its words")],
    output: Annotated[Path, typer.Argument(help="Folder for an empty pipeline with the tokenizer")],
    dev: Annotated[Path | None, typer.Option("--dev", help="CoNLL-U file for further scores")] = None,
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language whose rules are the start")] = "xx",
    silent: Silent = False,
) -> None:
    """Make a tokenizer of spaCy that cuts text as a treebank does.

    To train with it, give the folder as --paths.tokenizer to spacy train. A multiword token stays whole.
    """
    with user_errors():
        scores = make_tokenizer(train, output, lang=lang, dev=dev)
    if not silent:
        msg.divider("F1 of tokens")
        rows = [(name, *(f"{100 * found.f1:.2f}" for found in both)) for name, both in scores.items()]
        msg.table(rows, header=("", "before", "after"), divider=True, aligns=("l", "r", "r"))
        name, (_, after) = list(scores.items())[-1]
        msg.text(f"Disagreements left on {name}: {show_disagreements(after)}")


def make_tokenizer(
    train: Path, output: Path, *, lang: str = "xx", dev: Path | None = None
) -> dict[str, tuple[TokenCounts, TokenCounts]]:
    """Make a tokenizer and save it as an empty pipeline.

    train: CoNLL-U file.
    output: Folder to write.
    lang: Language code.
    dev: CoNLL-U file for further scores.
    Returns the counts with the language's rules and with the new ones, for "train" and "dev".
    Raises ValueError if a file is not CoNLL-U or has no token without white space.
    """
    chunks = {}
    for name, path in (("train", train), ("dev", dev)):
        if path is not None:
            check_suffix(path, (".conllu",))
            chunks[name] = read_chunks(read_conllu(path, trees="any"))
            if not chunks[name]:
                raise ValueError(Errors.E940.format(path=path))
    nlp = rule_based(lang)
    before = nlp.tokenizer
    nlp.tokenizer = train_tokenizer(nlp, chunks["train"])
    output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(output)
    tables = {name: ChunkTable(counts) for name, counts in chunks.items()}
    return {name: (table.score(before), table.score(nlp.tokenizer)) for name, table in tables.items()}


def rule_based(lang: str) -> Language:
    """Return an empty pipeline with spaCy's rule-based tokenizer, which is not the default everywhere.

    Raises ValueError for an unknown language.
    """
    try:
        return spacy.blank(lang, config=RULES)
    except ImportError as error:
        raise ValueError(Errors.E941.format(lang=lang, error=str(error).splitlines()[0])) from error


def explain_tokens(tokenizer: Tokenizer, sentences: Sequence[ConlluSentence]) -> Iterable[str]:
    """Yield a line on the tokens of raw text that differ, and one on multiword tokens if there are any."""
    counts = ChunkTable(read_chunks(sentences)).score(tokenizer)
    if counts.disagreements:
        yield f"Tokens that differ most often: {show_disagreements(counts)}"
    n_words = sum(len(sentence.words) for sentence in sentences)
    inside = sum(t.end - t.start + 1 for s in sentences for t in s.tokens if t.is_multiword)
    if inside:
        yield (
            f"{inside} of {n_words} words are parts of multiword tokens, which stay whole: F1 of words is at "
            f"most {100 * multiword_limit(sentences):.2f}"
        )


def show_disagreements(counts: TokenCounts) -> str:
    """List the most frequent disagreements: the treebank's tokens, the tokenizer's, and how often."""
    return "; ".join(f"{text} ({n})" for text, n in counts.named(N_SHOWN).items()) or "none"
