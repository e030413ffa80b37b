"""Seeded changes of CoNLL-U sentences, as a bad system would make them."""

import random
from dataclasses import dataclass

from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence

from ..formats.samples import with_tree

RELATIONS = ["nsubj", "obj", "obl", "det", "case", "mark", "punct", "nmod:poss", "advmod", "cc", "aux:pass"]


@dataclass(eq=False)
class Word:
    form: str
    cells: list[str]  # lemma, upos, xpos, feats, deprel
    head: "Word | None"  # None: the root


@dataclass(eq=False)
class Token:
    form: str
    space_after: bool
    words: list[Word]


def change_annotation(sentences: list[ConlluSentence], seed: int, rate: float = 0.2) -> list[ConlluSentence]:
    """Other lemmas, tags, features, relations, and heads that form a tree again."""
    rng = random.Random(seed)
    upos, xpos, feats, lemma = (
        sorted({getattr(word, name) for s in sentences[:300] for word in s.words})
        for name in ("upos", "xpos", "feats", "lemma")
    )

    def other(value: str, values: list[str]) -> str:
        return rng.choice(values) if rng.random() < rate else value

    result = []
    for sentence in sentences:
        words = sentence.words
        deprels = ["root" if word.head == 0 else other(word.deprel, RELATIONS) for word in words]
        changed = sentence.replace(
            upos=[other(word.upos, upos) for word in words],
            xpos=[other(word.xpos, xpos) for word in words],
            feats=[other(word.feats, feats) for word in words],
            lemma=[other(word.lemma, [*lemma[:5], "_"]) for word in words],
        )
        result.append(with_tree(changed, _other_heads([word.head for word in words], rng, rate), deprels))
    return result


def _other_heads(heads: list[int], rng: random.Random, rate: float) -> list[int]:
    heads = list(heads)
    for i in range(len(heads)):
        if heads[i] != 0 and rng.random() < rate:
            new = rng.randint(1, len(heads))
            ancestor = new
            while ancestor not in (0, i + 1):
                ancestor = heads[ancestor - 1]
            if ancestor == 0:
                heads[i] = new
    return heads


def change_segmentation(
    sentences: list[ConlluSentence], seed: int, rate: float = 0.1
) -> list[ConlluSentence]:
    """Other sentences, tokens and multiword tokens of the same characters."""
    rng = random.Random(seed)
    tokens: list[Token] = []
    ends: set[int] = set()  # numbers of tokens after which a sentence ends
    for sentence in sentences:
        tokens += _tokens(sentence)
        ends.add(len(tokens))
    changed: list[Token] = []
    blocks: list[list[Token]] = []
    i = 0
    while i < len(tokens):
        used, new = _change_tokens(tokens[i : i + 3], rng) if rng.random() < rate else (1, [tokens[i]])
        changed += new
        ended = any(k in ends for k in range(i + 1, i + used + 1))
        i += used
        if i >= len(tokens) or (rng.random() > rate if ended else rng.random() < rate / 10):
            blocks.append(changed)
            changed = []
    return [_write(block) for block in blocks]


def _tokens(sentence: ConlluSentence) -> list[Token]:
    words = [Word(w.form, [w.lemma, w.upos, w.xpos, w.feats, w.deprel], None) for w in sentence.words]
    for word, row in zip(words, sentence.words, strict=True):
        word.head = words[row.head - 1] if row.head else None
    return [Token(t.form, t.space_after, words[t.start - 1 : t.end]) for t in sentence.tokens]


def _change_tokens(tokens: list[Token], rng: random.Random) -> tuple[int, list[Token]]:
    """How many of the tokens are used up, and what comes in their place."""
    first = tokens[0]
    kind = rng.choice(
        ["split", "join", "split multiword", "make multiword", "join as multiword", "other words"]
    )
    cut = rng.randint(1, max(1, len(first.form) - 1))
    halves = [half for half in (first.form[:cut], first.form[cut:]) if half.strip()]
    if kind == "split" and len(halves) == 2:
        return 1, [
            Token(halves[0], False, first.words),
            Token(halves[1], first.space_after, [_new(halves[1])]),
        ]
    if kind in ("join", "join as multiword") and len(tokens) > 1:
        used = rng.randint(2, len(tokens))
        form = "".join(token.form for token in tokens[:used])
        words = [word for token in tokens[:used] for word in token.words]
        return used, [Token(form, tokens[used - 1].space_after, words[:1] if kind == "join" else words)]
    if kind == "split multiword" and len(first.words) > 1:
        return 1, [Token(first.form, first.space_after, first.words[:1])]
    if kind == "make multiword":
        return 1, [Token(first.form, first.space_after, [*first.words, *map(_new, halves)])]
    if kind == "other words":
        words = [Word(word.form, word.cells, word.head) for token in tokens for word in token.words]
        return 1, [Token(first.form, first.space_after, rng.sample(words, rng.randint(1, len(words))))]
    return 1, [first]


def _new(form: str) -> Word:
    return Word(form.upper(), ["x", "X", "_", "_", "dep"], None)


def _write(tokens: list[Token]) -> ConlluSentence:
    words = [word for token in tokens for word in token.words]
    ids = {id(word): i for i, word in enumerate(words, start=1)}
    roots = [word for word in words if word.head is None and word.cells[4] == "root"] or words[:1]
    lines = []
    for token in tokens:
        start = len([line for line in lines if "-" not in line.split("\t")[0]]) + 1
        misc = "_" if token.space_after else "SpaceAfter=No"
        if len(token.words) > 1:
            id_ = f"{start}-{start + len(token.words) - 1}"
            lines.append("\t".join([id_, token.form, *"______", "_", misc]) + "\n")
        for k, word in enumerate(token.words):
            head = _visible_head(word, ids, roots[0])
            form = word.form if len(token.words) > 1 else token.form
            relation = word.cells[4] if head else "root"
            row = [str(start + k), form, *word.cells[:4], str(head), relation, "_", misc]
            lines.append("\t".join(row) + "\n")
    return parse_sentence([*lines, "\n"], trees="full")


def _visible_head(word: Word, ids: dict[int, int], root: Word) -> int:
    """ID of the nearest ancestor in the sentence; without one, the root."""
    if word is root:
        return 0
    head = word.head
    while head is not None and id(head) not in ids:
        head = head.head
    return ids[id(root)] if head is None or head is word else ids[id(head)]
