"""Smaller vocabularies: a checkpoint with the pieces that a text needs, out of those for many languages.

The words of the text have the same pieces as before. Other words may have shorter ones.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, product
from typing import Any

from tokenizers import Tokenizer

from ..errors import Errors
from ..layers.checkpoints.families import SPECIAL_PIECES
from ..layers.checkpoints.load import Checkpoint
from .wordpieces import encode, find_prefix, load_tokenizer

#: Length of the parts of a piece that have to occur in the text.
PART = 4
#: Maximum number of further pieces of a script that all stay, as those of a vocabulary for one language do.
MANY = 16_000
#: Share of the letters of a text above which it is a text in their script.
SHARE = 0.01
#: Scripts of characters that any text may have: no letters, and Latin letters.
NO_LETTER, LATIN = "", "LATIN"
PIECES = "embeddings.pieces.weight"


def cut_vocabulary(checkpoint: Checkpoint, words: Iterable[str]) -> Checkpoint:
    """Return a checkpoint with the pieces that words need as they are, in lower, title and upper case.

    Other words of the language need more: pieces whose parts of four letters all occur in the words, all
    pieces of the words' scripts if there are not many, and each character of these scripts. Any text may have
    Latin letters and characters that are no letters, so these stay, too.

    Raises ValueError for a tokenizer of a kind that is not Unigram, WordPiece or BPE.
    """
    content = json.loads(checkpoint.tokenizer)
    model = content["model"]
    if model["type"] not in ("Unigram", "WordPiece", "BPE"):
        raise ValueError(Errors.E422.format(kind=model["type"]))
    tokenizer = load_tokenizer(checkpoint.tokenizer)
    ids: dict[str, int] = tokenizer.get_vocab(with_added_tokens=True)
    kept = {ids[piece] for piece in chain(*SPECIAL_PIECES) if piece in ids}
    kept |= {token["id"] for token in content["added_tokens"]}
    counts, prefix = Counter(words), find_prefix(tokenizer)
    for word in counts:
        for form in {word, word.lower(), word.title(), word.upper()}:
            kept.update(encode(tokenizer, prefix + form))
    kept |= _further_pieces(tokenizer, counts)
    if model["type"] == "BPE":
        kept = _with_parts(kept, model, ids)
    rows = sorted(kept)
    new = {old: i for i, old in enumerate(rows)}
    rows = [row for row in rows if row < checkpoint.config.vocab_size]
    _renumber(content, new)
    weights = {**checkpoint.weights, PIECES: checkpoint.weights[PIECES][rows]}
    config = replace(checkpoint.config, vocab_size=len(rows))
    return replace(
        checkpoint, config=config, weights=weights, tokenizer=json.dumps(content, ensure_ascii=False)
    )


def _scripts(counts: Counter[str]) -> set[str]:
    """Return the scripts of words."""
    letters: Counter[str] = Counter()
    for word, count in counts.items():
        for character in word:
            letters[_script(character)] += count
    del letters[NO_LETTER]
    return {name for name, n in letters.items() if n >= SHARE * letters.total()}


def _script(character: str) -> str:
    """Return the first word of the Unicode name of a letter, which is that of its script; "" for others."""
    is_letter = unicodedata.category(character)[0] == "L"
    return unicodedata.name(character, NO_LETTER).replace("-", " ").split(" ")[0] if is_letter else NO_LETTER


def _further_pieces(tokenizer: Tokenizer, counts: Counter[str]) -> set[int]:
    """Return the pieces that other words of the language may need."""
    scripts, parts, kept, by_script = _scripts(counts), set[str](), set[int](), defaultdict(list)
    for word, n in product(counts, range(1, PART + 1)):
        parts |= _parts(word.lower(), n)
    for piece, i in tokenizer.get_vocab(with_added_tokens=False).items():
        text = tokenizer.decoder.decode([piece]) if tokenizer.decoder else piece
        text = text.removeprefix("##").strip("\u2581 ").lower()
        own = {*map(_script, text)} - {NO_LETTER} or {NO_LETTER}
        is_character = len(text) < 2 and own <= {*scripts, LATIN, NO_LETTER}
        if is_character or parts >= _parts(text, min(PART, len(text))):
            kept.add(i)
        elif own <= scripts:
            by_script[max(own)].append(i)
    return kept.union(*(ids for ids in by_script.values() if len(ids) <= MANY))


def _parts(word: str, n: int) -> set[str]:
    return {word[i : i + n] for i in range(len(word) - n + 1)}


def _with_parts(kept: set[int], model: dict[str, Any], ids: dict[str, int]) -> set[int]:
    """Return pieces of BPE and all that they are merged from. Remove the other merges from the model."""
    merges = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    parts: dict[int, set[int]] = defaultdict(set)
    for left, right in merges:
        parts[ids[left + right]] |= {ids[left], ids[right]}
    new = kept
    while new:
        new = {*chain.from_iterable(parts[i] for i in new)} - kept
        kept = kept | new
    model["merges"] = [[a, b] for a, b in merges if {ids[a], ids[b], ids[a + b]} <= kept]
    return kept


def _renumber(content: dict[str, Any], new: dict[int, int]) -> None:
    """Leave out the pieces of a tokenizer.json that have no new id. A parser needs no post-processor."""
    model, content["post_processor"] = content["model"], None
    for token in content["added_tokens"]:
        token["id"] = new[token["id"]]
    if model["type"] == "Unigram":
        model["vocab"] = [row for i, row in enumerate(model["vocab"]) if i in new]
        model["unk_id"] = None if model["unk_id"] is None else new[model["unk_id"]]
    else:
        model["vocab"] = {piece: new[i] for piece, i in model["vocab"].items() if i in new}
