"""The ``mwt_splitter`` component splits multiword tokens into words before an encoder reads them.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, zip_longest
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
#: Maximum number of tokens that the network reads at once. It scores each split of the table for each token.
TOKENS_AT_ONCE = 10_000


class OpenToken(NamedTuple):
    """Token with several candidates.

    before, form, after: The token and its neighbors; "" at the edge of a text.
    candidates: Its possible words.
    """

    before: str
    form: str
    after: str
    candidates: Sequence[Candidate]


class TextToken(NamedTuple):
    """Token of a text, which the tokenizer may have cut into several tokens of the Doc.

    start: Index in the Doc of the first of these tokens.
    n_tokens: Number of these tokens.
    form: Text of the token.
    words: Its words.
    """

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
    """Splits the multiword tokens of Docs that are not split yet (``data/multiword.py``).

    It only makes splits of the treebank, so it never invents letters. If the tokenizer has already cut a
    token in the same way, the component marks the parts as one multiword token.
    """

    def __init__(self, vocab: Vocab, name: str, settings: SplitterComponentSettings) -> None:
        self.vocab, self.name = vocab, name
        self.cfg: dict[str, Any] = {}
        settings.apply_to(self)
        self._after_loading("", ())

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Read ``cfg``, which is empty before initialization and if the treebank has no multiword tokens.

        Raises ValueError if ``cfg`` has no valid table, or the table of another network.
        """
        from ..models.network_shim import find_shims

        self.table = SplitTable.from_json(self.cfg[TABLE]) if self.cfg else None
        if self.table is None or "model" in exclude:
            return
        n, what = self.table.n_kinds, "kinds of splits"
        for shim in find_shims(self.model):
            expected = shim.known_spec.n_labels
            if n != expected:
                raise ValueError(Errors.E806.format(origin=origin, found=n, what=what, expected=expected))

    # Prediction

    def predict(self, docs: Iterable[Doc]) -> list[list[TextToken] | None]:
        """Return the multiword tokens of each Doc; None for a Doc that is already split."""
        texts = [None if self.table is None or is_split(doc) else self._read(doc) for doc in docs]
        places: list[tuple[int, int]] = []
        open_tokens: list[OpenToken] = []
        for i, text in enumerate(texts):
            for place, open_token in self._open([token.form for token in text or ()]):
                places.append((i, place))
                open_tokens.append(open_token)
        for (i, place), words in zip(places, self._choose(open_tokens), strict=True):
            text = texts[i]
            assert text is not None
            if text[place].n_tokens == 1:
                text[place] = text[place]._replace(words=words)
        return [text and [*filter(lambda token: len(token.words) > 1, text)] for text in texts]

    def _read(self, doc: Doc) -> list[TextToken]:
        """Return the tokens of the text of a Doc without white space, after joining the parts of tokens."""
        assert self.table is not None
        hashes = doc.to_array(["ORTH", "NORM", "SPACY"])
        texts = [doc.vocab.strings[orth] for orth in hashes[:, 0].tolist()]
        norms = [doc.vocab.strings[norm] for norm in hashes[:, 1].tolist()]
        joined = self.table.find_parts(texts=texts, norms=norms, spaces=hashes[:, 2].tolist())
        tokens = []
        end = 0
        for i, text in enumerate(texts):
            if i in joined:
                end, words = joined[i]
                tokens.append(TextToken(i, end - i, "".join(texts[i:end]), words))
            elif i >= end and not text.isspace():
                tokens.append(TextToken(i, 1, text, (text,)))
        return tokens

    def _open(self, forms: Sequence[str]) -> Iterator[tuple[int, OpenToken]]:
        """Yield the tokens of a text that have several candidates, with their indices in the text."""
        edged = ["", *forms, ""]
        for i, form in enumerate(forms):
            assert self.table is not None
            candidates = self.table.candidates(form)
            if len(candidates) > 1:
                yield i, OpenToken(edged[i], form, edged[i + 2], candidates)

    def _choose(self, tokens: Sequence[OpenToken]) -> list[Words]:
        """Choose the words of each token."""
        words: list[Words] = []
        for start in range(0, len(tokens), TOKENS_AT_ONCE):
            batch = tokens[start : start + TOKENS_AT_ONCE]
            best = self.model.ops.to_numpy(self.model.predict(self._choices(batch))).argmax(axis=1)
            words += [token.candidates[i].words for token, i in zip(batch, best.tolist(), strict=True)]
        return words

    def _choices(self, tokens: Sequence[OpenToken], gold: Sequence[Words] | None = None) -> "Choices":
        """Return the input of the network.

        tokens: The tokens.
        gold: Their words in training. Counts of the treebank then leave out the token itself.
        """
        from .splitter_network import Choices, features_of

        features = [features_of(form=token.form, before=token.before, after=token.after) for token in tokens]
        starts = [0, *accumulate(map(len, features))][:-1]
        kinds, counts = [], []
        for token, words in zip_longest(tokens, gold or ()):
            own = {lower(word) for word in words or ()}
            kinds.append([candidate.kind for candidate in token.candidates])
            counts.append([max(0, c.frequency - (c.stem_word in own)) for c in token.candidates])
        return Choices(np.concatenate(features), np.array(starts), _padded(kinds, -1), _padded(counts, 0))

    def set_annotations(self, docs: Sequence[Doc], predicted: Sequence[list[TextToken] | None]) -> None:
        """Split tokens of Docs, and mark the multiword tokens. The text stays as it is."""
        for doc, tokens in zip(docs, predicted, strict=True):
            if tokens is None:
                continue
            parts = {t.start: cut(t.form, t.words) or () for t in tokens if t.n_tokens == 1}
            if parts:
                split_tokens(doc, parts)
            n_added = 0
            ranges, words = [], list[str]()
            for token in tokens:
                start = token.start + n_added
                ranges.append((start, start + len(token.words)))
                words += token.words
                n_added += len(token.words) - token.n_tokens
            mark_words(doc, ranges, words)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,  # noqa: ARG002
    ) -> None:
        """Learn the splits of the training data, and build the network that chooses among them.

        get_examples: Training data. Its references have the words of multiword tokens.
        nlp: Pipeline of the component.
        """
        validate_get_examples(get_examples, "MwtSplitter.initialize")
        self.cfg.clear()
        texts = (surface_tokens(example.reference) for example in get_examples())
        table = SplitTable.learn(chain.from_iterable(texts))
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
        """Learn from the tokens of references that have their words among their candidates."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "MwtSplitter.update")
        tokens: list[OpenToken] = []
        gold, right = list[Words](), list[list[bool]]()
        for token, words in self._gold(examples):
            is_right = [_same(candidate.words, words) for candidate in token.candidates]
            if any(is_right):
                tokens.append(token)
                gold.append(words)
                right.append(is_right)
        if tokens:
            inputs: Any = (self._choices(tokens, gold), _padded(right, False))
            loss: Any
            loss, backprop = self.model.begin_update(inputs)
            backprop(loss)
            losses[self.name] += float(loss)
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def _gold(self, examples: Iterable[Example]) -> Iterator[tuple[OpenToken, Words]]:
        """Yield the tokens of references that have several candidates, with their words."""
        for example in examples if self.table is not None else ():
            text = surface_tokens(example.reference)
            for i, token in self._open([each.form for each in text]):
                yield token, text[i].words

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, Any]:
        """Return the F1 of multiword tokens on gold tokens. A token is right if all its words are.

        Without multiword tokens in the references and in the predictions there is no score.
        """
        examples = list(examples)
        n_gold = sum(len(multiword_tokens(example.reference)) for example in examples)
        gold = [*self._gold(examples)]
        chosen = self._choose([token for token, _ in gold])
        pairs = zip(chosen, gold, strict=True)
        right = [_same(words, gold_words) for words, (_, gold_words) in pairs if len(words) > 1]
        return {"mwt_f": 2 * sum(right) / (n_gold + len(right))} if n_gold + len(right) else {}


def _padded(rows: Sequence[Sequence[int]], fill: int) -> Any:
    """Return an array of rows of different lengths."""
    lengths = np.array([*map(len, rows)])
    is_filled = np.arange(lengths.max()) < lengths[:, None]
    padded = np.full(is_filled.shape, fill)
    padded[is_filled] = [*chain.from_iterable(rows)]
    return padded


def _same(words: Words, others: Words) -> bool:
    """Return whether words are the same except for the case of letters."""
    return [*map(lower, words)] == [*map(lower, others)]


@factory(
    "mwt_splitter",
    SplitterComponentSettings,
    assigns=["token.norm", "doc.spans"],
    default_score_weights={"mwt_f": 1.0},
)
def make_mwt_splitter(nlp: Language, name: str, settings: SplitterComponentSettings) -> MwtSplitter:
    """Make the ``mwt_splitter`` component, which splits multiword tokens into words.

    It stands before the encoder. It does not change Docs that are already split. It learns from the
    references of a treebank that has multiword tokens, and does nothing without them.
    """
    return MwtSplitter(nlp.vocab, name, settings)
