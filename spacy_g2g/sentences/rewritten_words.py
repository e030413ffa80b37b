"""An augmenter that rewrites words in ways that leave the tree as it is."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..data.corpus import Augmenter
from ..data.docs import sentences_of
from ..data.multiword import word_forms
from .augmenters import check_shares, has_own_words
from .rewriting import rewrite, segments_of

#: Share of the new names that are made up.
_MADE_UP = 0.3
#: Share of the words of four letters or more that get a typo: about one word in 12.
_TYPOS, _MIN_LETTERS = 1 / 6, 4
_STRAIGHT = str.maketrans("\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f", "''''\"\"\"\"")


def make_rewritten_words(
    *, names: float = 0.0, digits: float = 0.0, quotes: float = 0.0, typos: float = 0.0, seed: int = 0
) -> Augmenter:
    """Make the augmenter ``spacy_g2g.rewritten_words.v1``, which changes words, but neither trees nor tags.

    Names and letters are those of the Docs so far. A new word has no lemma, since edit trees can't mend
    typos. An Example stays unchanged if its two Docs have different words, or if it has entities, spans or
    categories.

    names: Share of the sentences in which each name (PROPN) becomes another one, or one made up of parts of
        two, with the same features, tag and kind of capitals.
    digits: Share of the sentences with other digits.
    quotes: Share of the sentences whose straight quotation marks and apostrophes become curly, and curly ones
        straight.
    typos: Share of the sentences with typos, in about one word of 12: two letters change places, or one is
        missing, doubled or another one.
    seed: Seed of the random choices.
    Raises ValueError for a share below 0 or above 1.
    """
    shares = {"names": names, "digits": digits, "quotes": quotes, "typos": typos}
    check_shares(shares)
    return _RewrittenWords(shares, random.Random(seed))


class _RewrittenWords:
    """The augmenter that ``make_rewritten_words`` makes. It keeps the names so far, by their kind."""

    def __init__(self, shares: Mapping[str, float], chance: random.Random) -> None:
        self.shares, self.chance = shares, chance
        self.names: defaultdict[tuple[object, ...], dict[str, None]] = defaultdict(dict)
        changes = (self._name, self._digits, _quotes, self._typo)
        self.changes = [*zip(shares.values(), changes, strict=True)]

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:  # noqa: ARG002
        """Yield an Example with changed Docs, or the same one if nothing changes."""
        gold = example.reference
        texts = self._rewrite(gold) if has_own_words(example) else {}
        texts = {i: text for i, text in texts.items() if text != gold[i].text}
        if not texts:
            yield example
            return
        segments = segments_of(gold, np.ones(len(gold), dtype=np.bool_))
        segments = [segment._replace(text=texts.get(i, segment.text)) for i, segment in enumerate(segments)]
        predicted, reference = (rewrite(doc, segments) for doc in (example.predicted, gold))
        for i in texts:
            reference[i].lemma = 0
        yield Example(predicted, reference)

    def _rewrite(self, gold: Doc) -> dict[int, str]:
        """Return new texts of tokens, without those whose word has a form other than their text."""
        for token in filter(_is_name, gold):
            self.names[_kind(token)][token.text] = None
        texts = {i: form for i, form in enumerate(word_forms(gold)) if form == gold[i].text}
        for span in sentences_of(gold):
            for share, change in self.changes:
                if self.chance.random() < share:
                    texts |= {token.i: change(token, texts[token.i]) for token in span if token.i in texts}
        return texts

    def _name(self, token: Token, text: str) -> str:
        """Choose another name, or join the beginning of one and the end of another at a letter of both."""
        if not _is_name(token):
            return text
        first, name = self.chance.choices([*self.names[_kind(token)]], k=2)
        places = product(range(1, len(first)), range(1, len(name)))
        joints = [(i, j) for i, j in places if first[i] == name[j]]
        if joints and self.chance.random() < _MADE_UP:
            i, j = self.chance.choice(joints)
            return first[:i] + name[j:]
        return name

    def _digits(self, token: Token, text: str) -> str:  # noqa: ARG002
        """Put digits of the same script, but not zero."""
        return re.sub(r"\d", lambda d: chr(ord(d[0]) - int(d[0]) + self.chance.randrange(1, 10)), text)

    def _typo(self, token: Token, text: str) -> str:
        if len(text) < _MIN_LETTERS or not all(map(_is_letter, text)) or self.chance.random() >= _TYPOS:
            return text
        i = self.chance.randrange(1, len(text) - 1)
        first, second = text[i], text[i + 1]
        other = self.chance.choice([*filter(_is_letter, token.doc.text.lower())])
        typos = (second + first, second + first, second, first + first + second, other + second)
        return text[:i] + self.chance.choice(typos) + text[i + 2 :]


def _quotes(token: Token, text: str) -> str:
    """Make curly marks straight, or straight ones curly. A mark after a space is an opening one."""
    straight = text.translate(_STRAIGHT)
    if straight != text:
        return straight
    if token.i == 0 or token.is_sent_start or token.nbor(-1).whitespace_:
        text = re.sub("^'(?!')", "\u2018", re.sub('^"', "\u201c", text))
    return text.replace("``", "\u201c").replace("''", "\u201d").replace("'", "\u2019").replace('"', "\u201d")


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter or a mark on one, such as a vowel sign."""
    return unicodedata.category(character)[0] in "LM"


def _is_name(token: Token) -> bool:
    return token.pos_ == "PROPN" and len(token) > 1 and all(map(_is_letter, token.text.replace(" ", "")))


def _kind(name: Token) -> tuple[object, ...]:
    """Return the features, tag and kind of capitals of a name."""
    return str(name.morph), name.tag, name.text.istitle(), name.text.isupper(), name.text.islower()
