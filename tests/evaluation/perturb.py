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
    head: "Word | None" = None  # None: the root


@dataclass(eq=False)
class Token:
    form: str
    space_after: bool
    words: list[Word]


def change_annotation(sentences: list[ConlluSentence], seed: int, rate: float = 0.2) -> list[ConlluSentence]:
    """Other lemmas, tags, features, relations, and heads that form a tree again."""
    rng = random.Random(seed)
    values = {
        name: sorted({getattr(word, name) for s in sentences[:300] for word in s.words})
        for name in ("upos", "xpos", "feats", "lemma")
    }
    values["lemma"] = [*values["lemma"][:5], "_"]
    result = []
    for sentence in sentences:
        columns = {
            name: [rng.choice(known) if rng.random() < rate else getattr(w, name) for w in sentence.words]
            for name, known in values.items()
        }
        heads = [word.head for word in sentence.words]
        for i, head in enumerate(heads):
            new = ancestor = rng.randint(1, len(heads))
            while ancestor not in (0, i + 1):
                ancestor = heads[ancestor - 1]
            if head and not ancestor and rng.random() < rate:
                heads[i] = new
        deprels = [
            rng.choice(RELATIONS) if head and rng.random() < rate else word.deprel
            for head, word in zip(heads, sentence.words, strict=True)
        ]
        result.append(with_tree(sentence.replace(**columns), heads, deprels))
    return result


def change_segmentation(
    sentences: list[ConlluSentence], seed: int, rate: float = 0.1
) -> list[ConlluSentence]:
    """Other sentences, tokens and multiword tokens of the same characters."""
    rng = random.Random(seed)
    tokens: list[Token] = []
    ends: set[int] = set()  # numbers of tokens after which a sentence ends
    for sentence in sentences:
        words = [Word(w.form, [w.lemma, w.upos, w.xpos, w.feats, w.deprel]) for w in sentence.words]
        for word, row in zip(words, sentence.words, strict=True):
            word.head = words[row.head - 1] if row.head else None
        tokens += [Token(t.form, t.space_after, words[t.start - 1 : t.end]) for t in sentence.tokens]
        ends.add(len(tokens))
    blocks: list[list[Token]] = [[]]
    i = 0
    while i < len(tokens):
        used, new = _change_tokens(tokens[i : i + 3], rng) if rng.random() < rate else (1, [tokens[i]])
        blocks[-1] += new
        ended = any(k in ends for k in range(i + 1, i + used + 1))
        i += used
        if i < len(tokens) and (rng.random() > rate if ended else rng.random() < rate / 10):
            blocks.append([])
    return [_write(block) for block in blocks]


def _change_tokens(tokens: list[Token], rng: random.Random) -> tuple[int, list[Token]]:
    """How many of the tokens are used up, and what comes in their place."""
    first = tokens[0]
    kind = rng.choice(
        ["split", "join", "split multiword", "make multiword", "join as multiword", "other words"]
    )
    cut = rng.randint(1, max(1, len(first.form) - 1))
    halves = [half for half in (first.form[:cut], first.form[cut:]) if half.strip()]
    new = [Word(half.upper(), ["x", "X", "_", "_", "dep"]) for half in halves]
    if kind == "split" and len(halves) == 2:
        return 1, [Token(halves[0], False, first.words), Token(halves[1], first.space_after, new[1:])]
    if kind in ("join", "join as multiword") and len(tokens) > 1:
        used = rng.randint(2, len(tokens))
        form = "".join(token.form for token in tokens[:used])
        words = [word for token in tokens[:used] for word in token.words]
        return used, [Token(form, tokens[used - 1].space_after, words[:1] if kind == "join" else words)]
    words = {"split multiword": first.words[:1], "make multiword": [*first.words, *new]}.get(
        kind, first.words
    )
    if kind == "other words":
        known = [Word(word.form, word.cells, word.head) for token in tokens for word in token.words]
        words = rng.sample(known, rng.randint(1, len(known)))
    return 1, [Token(first.form, first.space_after, words)]


def _write(tokens: list[Token]) -> ConlluSentence:
    words = [word for token in tokens for word in token.words]
    ids = {id(word): i for i, word in enumerate(words, start=1)}
    root = next((word for word in words if word.head is None and word.cells[4] == "root"), words[0])
    lines, start = [], 1
    for token in tokens:
        misc = "_" if token.space_after else "SpaceAfter=No"
        if len(token.words) > 1:
            lines.append(f"{start}-{start + len(token.words) - 1}\t{token.form}" + "\t_" * 7 + f"\t{misc}\n")
        for id_, word in enumerate(token.words, start=start):
            head = word.head
            while head is not None and id(head) not in ids:  # the nearest ancestor in the sentence
                head = head.head
            number = 0 if word is root else ids[id(root if head in (None, word) else head)]
            form = word.form if len(token.words) > 1 else token.form
            cells = [str(id_), form, *word.cells[:4], str(number), word.cells[4] if number else "root"]
            lines.append("\t".join([*cells, "_", misc]) + "\n")
        start += len(token.words)
    return parse_sentence([*lines, "\n"], trees="full")
