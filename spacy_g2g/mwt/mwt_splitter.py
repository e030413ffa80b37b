"""The ``mwt_splitter`` component: splits multiword tokens into words, before an encoder reads them.

This module is imported by every ``Language()`` and must stay light: no torch, no tokenizers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from ..data.multiword import cut, is_split, mark_words, multiword_tokens, surface_tokens
from ..errors import Errors
from ..models.settings import setting
from ..pipeline.component import ComponentSettings, factory
from ..pipeline.saved_pipe import SavedPipe
from .splits import Candidate, SplitTable, Words, lower
from .splitting import split_tokens

if TYPE_CHECKING:
    from .splitter_network import Choices

#: Key of ``cfg``: the table of splits.
TABLE = "table"
#: Number of tokens for which the network runs at once. It has a score for each split of the table.
TOKENS_AT_ONCE = 10_000


class OpenToken(NamedTuple):
    """Token that may be split.

    before, form, after: The token and its neighbors; "" at the edge of a text.
    candidates: What it may be.
    """

    before: str
    form: str
    after: str
    candidates: Sequence[Candidate]


class Found(NamedTuple):
    """Token of a text: index of its first token in the Doc, number of its tokens there, form, and words."""

    start: int
    n_tokens: int
    form: str
    words: Words


@dataclass(frozen=True, kw_only=True)
class SplitterComponentSettings(ComponentSettings):
    """Settings of ``mwt_splitter``."""

    model: Model[Any, Any] = setting(
        {"@architectures": "spacy_g2g.Splitter.v1"},
        "Network that chooses among splits, such as ``spacy_g2g.Splitter.v1``.",
    )


class MwtSplitter(SavedPipe):
    """Splits the multiword tokens of Docs whose words are not final (``data/multiword.py``).

    A split was seen in the treebank, so no letters are invented. Tokens that the tokenizer has cut in the way
    of a split are marked as one multiword token.
    """

    def __init__(self, vocab: Vocab, name: str, settings: SplitterComponentSettings) -> None:
        self.vocab, self.name = vocab, name
        self.cfg: dict[str, Any] = {}
        settings.apply_to(self)
        self._after_loading("", ())

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Read ``cfg``, which is empty before initialization, and for a treebank without multiword tokens.

        Raises ValueError for what is no table, and for one of another network.
        """
        from ..models.network_shim import find_shims

        self.table = SplitTable.from_json(self.cfg[TABLE]) if self.cfg else None
        if self.table is None or "model" in exclude:
            return
        found = self.table.n_kinds
        for expected in (shim.known_spec.n_labels for shim in find_shims(self.model)):
            if found != expected:
                what = "kinds of splits"
                text = Errors.E806.format(origin=origin, found=found, what=what, expected=expected)
                raise ValueError(text)

    # Prediction

    def predict(self, docs: Iterable[Doc]) -> list[list[Found] | None]:
        """Return the multiword tokens of each Doc; None for a Doc whose words are final."""
        docs = list(docs)
        is_open = [i for i, doc in enumerate(docs) if self.table is not None and not is_split(doc)]
        texts = {i: self._read(docs[i]) for i in is_open}
        open_tokens = {i: self._open([token.form for token in text]) for i, text in texts.items()}
        chosen = iter(self._choose([token for of_doc in open_tokens.values() for _, token in of_doc]))
        for i, text in texts.items():
            for place, _ in open_tokens[i]:
                words = next(chosen)
                if text[place].n_tokens == 1:
                    text[place] = text[place]._replace(words=words)
        return [
            [token for token in texts[i] if len(token.words) > 1] if i in texts else None
            for i in range(len(docs))
        ]

    def _read(self, doc: Doc) -> list[Found]:
        """Return the tokens of the text of a Doc that are no white space, with pieces put together."""
        assert self.table is not None
        hashes = doc.to_array(["ORTH", "NORM", "SPACY"])
        texts, norms = ([doc.vocab.strings[value] for value in hashes[:, i].tolist()] for i in range(2))
        pieces = self.table.find_pieces(texts, norms, hashes[:, 2].tolist())
        found = []
        end = 0
        for i, text in enumerate(texts):
            if i in pieces:
                end, words = pieces[i]
                found.append(Found(i, end - i, "".join(texts[i:end]), words))
            elif i >= end and not text.isspace():
                found.append(Found(i, 1, text, (text,)))
        return found

    def _open(self, forms: Sequence[str]) -> list[tuple[int, OpenToken]]:
        """Return the tokens of a text that may be split, with their numbers in the text."""
        assert self.table is not None
        known = [self.table.candidates(form) for form in forms]
        tokens = zip(["", *forms], forms, [*forms[1:], ""], known, strict=False)
        return [(i, OpenToken(*token)) for i, token in enumerate(tokens) if len(token[-1]) > 1]

    def _choose(self, tokens: Sequence[OpenToken]) -> list[Words]:
        """Return the words of tokens that may be split."""
        words: list[Words] = []
        for start in range(0, len(tokens), TOKENS_AT_ONCE):
            batch = tokens[start : start + TOKENS_AT_ONCE]
            best = self.model.ops.to_numpy(self.model.predict(self._choices(batch))).argmax(axis=1)
            words += [token.candidates[i].words for token, i in zip(batch, best.tolist(), strict=True)]
        return words

    def _choices(self, tokens: Sequence[OpenToken], gold: Sequence[Words] | None = None) -> "Choices":
        """Return what the network reads of tokens.

        tokens: The tokens.
        gold: Their words, if they are of the treebank, whose counts then leave them out.
        """
        from .splitter_network import Choices, features_of

        features = [features_of(token.before, token.form, token.after) for token in tokens]
        starts = [0, *accumulate(map(len, features))][:-1]
        lengths = [len(token.candidates) for token in tokens]
        known = [candidate for token in tokens for candidate in token.candidates]
        counts = np.array([candidate.frequency for candidate in known])
        if gold is not None:
            own = (set(map(lower, words)) for words in gold)
            of_itself = [
                c.stem_word in out for token, out in zip(tokens, own, strict=True) for c in token.candidates
            ]
            counts = np.maximum(counts - of_itself, 0)
        kinds = [candidate.kind for candidate in known]
        flat = np.concatenate(features)
        return Choices(flat, np.array(starts), _padded(kinds, lengths, -1), _padded(counts, lengths, 0))

    def set_annotations(self, docs: Sequence[Doc], found: Sequence[list[Found] | None]) -> None:
        """Split tokens of Docs, and mark the multiword tokens. The text stays as it is."""
        for doc, tokens in zip(docs, found, strict=True):
            if tokens is None:
                continue
            pieces = {t.start: cut(t.form, t.words) or () for t in tokens if t.n_tokens == 1}
            if pieces:
                split_tokens(doc, pieces)
            added = accumulate((len(token.words) - token.n_tokens for token in tokens), initial=0)
            starts = [token.start + n for token, n in zip(tokens, added, strict=False)]
            ranges = [(i, i + len(token.words)) for i, token in zip(starts, tokens, strict=True)]
            mark_words(doc, ranges, [word for token in tokens for word in token.words])

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,  # noqa: ARG002
    ) -> None:
        """Learn the splits of the training data, and build the network that chooses among them.

        get_examples: Training data, whose references have the words of multiword tokens.
        nlp: Pipeline of the component.
        """
        validate_get_examples(get_examples, "MwtSplitter.initialize")
        self.cfg.clear()
        table = SplitTable.learn(token for e in get_examples() for token in surface_tokens(e.reference))
        if table.splits or table.known:
            self.cfg[TABLE] = table.to_json()
            kinds: Any = table.n_kinds
            self.model.initialize(X=kinds)
        self._after_loading("", ())

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,  # noqa: ARG002
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the tokens of references whose words are among their candidates."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "MwtSplitter.update")
        pairs = [(token, words) for token, words in self._gold(examples) if any(_is_right(token, words))]
        if pairs:
            tokens, gold = zip(*pairs, strict=True)
            choices = self._choices(tokens, gold)
            right = [_is_right(token, words) for token, words in pairs]
            inputs: Any = (choices, _padded([*chain(*right)], [*map(len, right)], False))
            loss: Any
            loss, backprop = self.model.begin_update(inputs)
            backprop(loss)
            losses[self.name] += float(loss)
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def _gold(self, examples: Iterable[Example]) -> list[tuple[OpenToken, Words]]:
        """Return the tokens of references that may be split, with their words."""
        if self.table is None:
            return []
        texts = [surface_tokens(example.reference) for example in examples]
        return [
            (token, text[i].words) for text in texts for i, token in self._open([each.form for each in text])
        ]

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, Any]:
        """Return the F1 of multiword tokens with all their words right, on gold tokens.

        There is no score if neither the references nor the component have multiword tokens.
        """
        examples = list(examples)
        n_gold = sum(len(multiword_tokens(example.reference)) for example in examples)
        gold = self._gold(examples)
        found = zip(self._choose([token for token, _ in gold]), gold, strict=True)
        right = [_same(words, of_token) for words, (_, of_token) in found if len(words) > 1]
        return {"mwt_f": 2 * sum(right) / (n_gold + len(right))} if n_gold + len(right) else {}


def _padded(values: Any, lengths: Sequence[int], fill: Any) -> Any:
    """Return an array of rows of different lengths, whose values lie end to end."""
    is_filled = np.arange(max(lengths)) < np.array(lengths)[:, None]
    padded = np.full(is_filled.shape, fill)
    padded[is_filled] = values
    return padded


def _same(words: Words, others: Words) -> bool:
    return [*map(lower, words)] == [*map(lower, others)]


def _is_right(token: OpenToken, words: Words) -> list[bool]:
    """Return which candidates of a token have the given words, whatever the case of letters."""
    return [_same(candidate.words, words) for candidate in token.candidates]


@factory(
    "mwt_splitter",
    SplitterComponentSettings,
    assigns=["token.norm", "doc.spans"],
    default_score_weights={"mwt_f": 1.0},
)
def make_mwt_splitter(nlp: Language, name: str, settings: SplitterComponentSettings) -> MwtSplitter:
    """Make the ``mwt_splitter`` component, which splits multiword tokens into words.

    It stands before the encoder. Docs whose words are given keep them. It learns from the references of a
    treebank that has multiword tokens, and does nothing without them.
    """
    return MwtSplitter(nlp.vocab, name, settings)
