"""Files of the peers: corpora without tags, and gold sentences with the trees of a parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu

from .environments import PeerError


def prepare(source: Path, *, target: Path, n: int = 0, spread: bool = False) -> None:
    """Write words, heads and labels of a treebank, without tags, multiword tokens and empty nodes.

    source: CoNLL-U file.
    target: File to write.
    n: Number of sentences; 0 for all.
    spread: Take sentences that are spread evenly over the treebank, in place of the first.
    Raises SystemExit for fewer than n sentences, and ValueError for incomplete trees.
    """
    sentences = list(read_conllu(source, trees="full"))
    if n > len(sentences):
        raise SystemExit(f"{source} has {len(sentences)} sentences: expected at least the {n} asked for")
    n = n or len(sentences)
    step = len(sentences) if spread else n
    chosen = (sentences[i * step // n] for i in range(n))
    write_text(target, "".join(map(words_only, chosen)))


def words_only(sentence: ConlluSentence) -> str:
    rows = (
        f"{i}\t{word.form}\t_\t_\t_\t_\t{word.head}\t{word.deprel}\t_\t_\n"
        for i, word in enumerate(sentence.words, 1)
    )
    return "".join(rows) + "\n"


def fill_trees(gold: Path, *, parsed: Path, target: Path) -> None:
    """Write a treebank with the heads and labels of parsed sentences in place of its own.

    gold: Treebank.
    parsed: The same sentences, parsed.
    target: File to write.
    Raises PeerError if sentences or words differ, or if a parse is not a tree with one root.
    """
    expected = list(read_conllu(gold))
    try:
        sentences = list(read_conllu(parsed, trees="full"))
    except ValueError as error:
        raise PeerError(str(error)) from error
    if len(sentences) != len(expected):
        raise PeerError(f"{parsed} has {len(sentences)} sentences, expected {len(expected)}")
    write_text(target, "".join(write_conllu(map(_with_tree, expected, sentences))))


def _with_tree(sentence: ConlluSentence, parsed: ConlluSentence) -> ConlluSentence:
    if forms(sentence) != forms(parsed):
        raise PeerError(f"{parsed.location()}: expected the words of {sentence.location()}")
    heads = [str(word.head) for word in parsed.words]
    return sentence.replace(head=heads, deprel=[word.deprel for word in parsed.words])


def forms(sentence: ConlluSentence) -> list[str]:
    return [word.form for word in sentence.words]


def write_text(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf8")


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2) + "\n")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else None
