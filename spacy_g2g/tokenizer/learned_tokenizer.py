"""A tokenizer that learns from a treebank at which characters words start.

It is for languages without spaces between words, such as Chinese, Japanese and Thai. Each place is a choice
of its own, by the characters around it, as in Neubig, Nakata and Mori (2011), "Pointwise Prediction for
Robust, Adaptable Japanese Morphological Analysis".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import compress, pairwise
from pathlib import Path
from unicodedata import category
from unicodedata import name as unicode_name

import numpy as np
import srsly
from spacy.lang.tokenizer_exceptions import URL_MATCH
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..arrays import BoolArray, FloatArray, IntArray

#: Number of weights. Each feature has the weight at its hash.
N_WEIGHTS = 2**20
#: Number of characters on each side of a place that are read, and maximum length of their n-grams.
WINDOW, LONGEST = 3, 3
#: Epochs of training, places in a batch, rate of Adagrad, share of features that are left out in training.
EPOCHS, BATCH, RATE, DROPOUT = 12, 64, 0.1, 0.5
#: Minimum share of starts among the inner places of a script in which words may follow one another.
MIN_STARTS = 0.01
#: What ``inner_scripts`` calls places in numbers, and their minimum share of starts.
DIGITS, MARKED, MIN_NUMBER_STARTS = "digits", "digits with marks", 0.2
_PARTS = re.compile(r"\s+|\S+")
#: An emoji of several characters: with a variation, a skin tone or a keycap, several in one, or a flag.
_PICTURE = r"[\u00a9\u00ae\u203c\u2049\u2100-\u3299\U0001f000-\U0001faff]"
_VARIED = r"[\ufe0f\u20e3\U0001f3fb-\U0001f3ff]"
EMOJI = (
    rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|(?:{_PICTURE}{_VARIED}*\u200d)+{_PICTURE}{_VARIED}*"
    rf"|{_PICTURE}{_VARIED}+)"
)
_MARKED = re.compile(r"(?<=\d)[.,:](?=\d)")
#: What is probably an address inside other text.
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+|\bwww\.\S+|\bmailto:\S+"
    r"|(?<![\w.+%@-])(?:[\w.+%-]+@[\w.-]+|(?:\w[\w-]*\.)+(?:com|edu|gov|net|org)\b\S*)"
)
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(44)


class LearnedTokenizer:
    """Cuts text at white space, and at the places where a trained model expects a word to start.

    White space becomes tokens as in spaCy's tokenizer, and an address of the web or of mail is one token. No
    word starts with an accent or another mark, with an invisible character of Unicode's category Cf, or
    inside an emoji of several characters. Numbers stay whole unless the treebank often cuts them. Before
    training, text is cut at white space alone.
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        #: Log-odds of a start that each feature adds; float [N_WEIGHTS].
        self.weights: FloatArray = np.zeros(0, dtype=np.float32)
        #: Scripts in which words may follow one another without a mark or white space between them. They have
        #: ``DIGITS`` and ``MARKED`` if the treebank cuts numbers.
        self.scripts: set[str] = set()

    def __call__(self, text: str) -> Doc:
        """Make the tokens of a text."""
        words: list[str] = []
        spaces: list[bool] = []
        starts = self._starts(text)
        for part in _PARTS.finditer(text):
            start, end = part.span()
            if text[start].isspace():
                if words and text[start] == " ":
                    spaces[-1] = True
                    start += 1
                cuts = [start, end]
            else:
                cuts = [start, *(start + 1 + np.flatnonzero(starts[start + 1 : end])).tolist(), end]
            new = [text[a:b] for a, b in pairwise(cuts) if a < b]
            words += new
            spaces += [False] * len(new)
        return Doc(self.vocab, words=words, spaces=spaces)

    def _starts(self, text: str) -> BoolArray:
        """Return whether the model expects a word to start at each character, bool [characters]."""
        if not len(self.weights) or not text:
            return np.zeros(len(text), dtype=np.bool_)
        starts: BoolArray = self.weights[features_of(text)].sum(axis=1) > 0
        may_start = {"", *self.scripts}
        starts &= [script in may_start for script in inner_scripts(text)]
        for start, end in self._addresses(text):
            starts[start:end] = False
            starts[start] = starts[end : end + 1] = True
        starts &= [kind_of(char)[0] != "M" and kind_of(char) != "Cf" for char in text]
        for match in re.finditer(EMOJI, text):
            starts[match.start() + 1 : match.end()] = False
        return starts

    def _addresses(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each address of the web or of mail.

        It has no letter of a script without spaces between words, unless it is between white space, as is
        https://例え.jp, and no mark at its end.
        """
        others = self.scripts - {"LATIN"}
        own = "".join(" " if _is_other(char, others) else char for char in text)
        for part in re.finditer(r"\S+", text):
            start, end = part.span()
            found = [without_last_marks(match) for match in _ADDRESS.finditer(own, start, end)]
            found = [(a, b) for a, b in found if URL_MATCH(text[a:b])]
            is_whole = own[start:end] == part.group() or "://" in part.group()
            yield from found or ([part.span()] if is_whole and URL_MATCH(part.group()) else [])

    # Training

    def train(self, text: str, starts: Iterable[int], *, seed: int = 0) -> None:
        """Learn from a text, by logistic regression.

        starts: Offsets in the text at which words start.
        seed: Seed of the order of places and of dropout.
        """
        rng = np.random.default_rng(seed)
        is_start = np.zeros(len(text), dtype=np.bool_)
        is_start[[*starts]] = True
        is_space = np.array([*map(str.isspace, text)], dtype=np.bool_)
        places = 1 + np.flatnonzero(~is_space[1:] & ~is_space[:-1])
        features, gold = features_of(text)[places], is_start[places]
        weights, squares = np.zeros((2, N_WEIGHTS), dtype=np.float32)
        for _ in range(EPOCHS):
            order = rng.permutation(len(places))
            for i in range(0, len(order), BATCH):
                batch = features[order[i : i + BATCH]]
                is_kept = rng.random(batch.shape) > DROPOUT
                log_odds = (weights[batch] * is_kept).sum(axis=1) / (1 - DROPOUT)
                error = 1 / (1 + np.exp(-log_odds)) - gold[order[i : i + BATCH]]
                kept, gradient = batch[is_kept], np.broadcast_to(error[:, None], batch.shape)[is_kept]
                np.add.at(squares, kept, gradient**2)
                np.add.at(weights, kept, -RATE * gradient / np.sqrt(squares[kept] + 1e-6))
        self.weights = weights.astype(np.float16).astype(np.float32)
        inner = inner_scripts(text)
        n_inner, n_starts = Counter(inner), Counter(compress(inner, is_start))
        shares = {script: n / n_inner[script] for script, n in n_starts.items() if script}
        minimum = {DIGITS: MIN_NUMBER_STARTS, MARKED: MIN_NUMBER_STARTS}
        self.scripts = {script for script in shares if shares[script] >= minimum.get(script, MIN_STARTS)}

    # Saving

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:  # noqa: ARG002
        """Return the scripts, and the weights in half precision."""
        content = {"weights": self.weights.astype(np.float16), "scripts": sorted(self.scripts)}
        packed: bytes = srsly.msgpack_dumps(content)
        return packed

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> LearnedTokenizer:  # noqa: ARG002
        """Read what ``to_bytes`` returned."""
        loaded = srsly.msgpack_loads(content)
        self.weights, self.scripts = loaded["weights"].astype(np.float32), {*loaded["scripts"]}
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write a file."""
        Path(path).write_bytes(self.to_bytes(exclude=exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> LearnedTokenizer:
        """Read a file."""
        return self.from_bytes(Path(path).read_bytes(), exclude=exclude)


def features_of(text: str) -> IntArray:
    """Return the features of the place before each character, int [characters, features].

    They are hashes of the n-grams of characters, and of the n-grams of kinds of characters, near the place.
    All white space is the same.
    """
    edge = [0] * WINDOW
    columns = []
    for values in ([" " if char.isspace() else char for char in text], [*map(kind_of, text)]):
        hashes = np.array([*edge, *map(get_string_id, values), *edge], dtype=np.uint64)
        grams = np.zeros_like(hashes)
        for n in range(1, LONGEST + 1):
            # The n-gram that starts at each character; the last characters have none.
            grams = grams[: len(hashes) - n + 1] * _FACTOR + hashes[n - 1 :]
            for start in range(2 * WINDOW - n + 1):
                mixed = (grams[start : start + len(text)] + np.uint64(64 * n + start)) * _FACTOR
                columns.append((mixed ^ (mixed >> np.uint64(29))) * _FACTOR >> _SHIFT)
    return np.stack(columns, axis=1).astype(np.int32)


@lru_cache(maxsize=100_000)
def kind_of(char: str) -> str:
    """Return the kind of a character: its Unicode category, and the script of a letter or mark."""
    kind = " " if char.isspace() else category(char)
    return f"{kind} {unicode_name(char, '').split(' ')[0]}" if kind[0] in "LM" else kind


def inner_scripts(text: str) -> list[str]:
    """Return the script, such as "HIRAGANA", of each letter or mark that follows one of the same script.

    Digits are ``DIGITS`` after a digit. A mark between digits and the digit after it are ``MARKED``. Returns
    a list [characters], with "" for all other characters.
    """
    scripts = [DIGITS if char.isdecimal() else kind_of(char).partition(" ")[2] for char in text]
    inner = [script if script == before else "" for before, script in pairwise(["", *scripts])]
    for match in _MARKED.finditer(text):
        inner[match.start()] = inner[match.end()] = MARKED
    return inner


def _is_other(char: str, scripts: set[str]) -> bool:
    """Return whether a character is a letter of one of the scripts, or a sign or symbol that is not ASCII."""
    kind, _, script = kind_of(char).partition(" ")
    return script in scripts or (not char.isascii() and kind.startswith(("P", "S", "C", "Lm")))


def without_last_marks(match: re.Match[str]) -> tuple[int, int]:
    """Return the start and end of an address without the marks after it, such as a comma or a bracket."""
    text = match.group()
    while text[-1] in ".,;:!?'\"*|<>[]{}" or (text[-1] == ")" and text.count(")") > text.count("(")):
        text = text[:-1]
    return match.start(), match.start() + len(text)


def make_learned_tokenizer() -> Callable[[Language], LearnedTokenizer]:
    """Make a tokenizer that has learned from a treebank where words start: the setting ``[nlp.tokenizer]``.

    It must be trained, as by ``python -m project.tokenizer``, or loaded. Before that, it cuts text at white
    space alone.
    """

    def make(nlp: Language) -> LearnedTokenizer:
        return LearnedTokenizer(nlp.vocab)

    return make
