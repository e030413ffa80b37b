"""The network that splits multiword tokens. It reads the letters of a token and of its neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

import torch
from spacy.strings import get_string_id
from thinc.api import Model
from torch import Tensor, nn

from ..arrays import BoolArray, IntArray
from ..models.network import NetworkSpec
from ..models.scoring import ScoringNetwork, make_side_network
from ..models.settings import COUNT, SHARE, NetworkSettings, Precision, builder, setting, with_default
from .splits import N_KNOWN_KINDS, WHOLE, lower

#: Number of vectors of features, bound of their initial values, and number of inputs of each maximum.
N_ROWS, INITIAL_RANGE, MAXOUT = 2**14, 0.1, 3
#: Maximum lengths of the beginnings and endings that are features, length of inner parts, and maximum number
#: of letters to read from the end of a token.
MAX_BEGINNING, MAX_ENDING, INNER, MAX_LETTERS = 5, 6, 3, 30
#: Share of the tokens whose form is hidden from the network in training, so that it learns from letters.
HIDDEN_FORMS = 0.7
#: Factor of the evidence that the words of a candidate occur in the treebank. It speeds up learning.
EVIDENCE_SCALE = 10.0
#: Evidence of a word: the logarithm of its count, and whether the count is above 0 and above 1.
N_EVIDENCE = 3


class Choices(NamedTuple):
    """Tokens and their candidates, in rows of the maximum number of candidates.

    features: Rows of the tokens' features, end to end, each token's form first; int [features].
    starts: Index of each token's first feature; int [tokens].
    kinds: Kinds of the candidates, -1 after the last one; int [tokens, candidates].
    counts: Counts in the treebank of the candidates' words with stems; int [tokens, candidates].
    """

    features: IntArray
    starts: IntArray
    kinds: IntArray
    counts: IntArray


#: Network of splits, which scores candidates: float [tokens, candidates].
SplitterModel = Model[Choices, Any]


@dataclass(frozen=True, kw_only=True)
class SplitterSettings(NetworkSettings):
    """Settings of the network of splits."""

    width: int = setting(64, "Width of the network.", COUNT)
    precision: Precision = with_default(NetworkSettings, "precision", "float32")
    dropout: float = setting(
        0.3, "Dropout rate of the network. `[training] dropout` has no effect here.", SHARE
    )


def features_of(*, form: str, before: str, after: str) -> list[int]:
    """Return the features of a token and of its neighbors; these are "" at the edge of a text."""
    return [
        *_token_features(form),
        *_neighbor_features(before, "before"),
        *_neighbor_features(after, "after"),
    ]


@lru_cache(maxsize=50_000)
def _token_features(form: str) -> list[int]:
    """Return the features of a form: itself, its case and length, its beginnings, endings and inner parts."""
    text = lower(form)[-MAX_LETTERS:]
    edged = f"^{text}$"
    names = [f"form {lower(form)}", f"case {form[:1].isupper()} {form.isupper()}", f"length {len(text)}"]
    names += [f"beginning {text[:n]}" for n in range(1, MAX_BEGINNING + 1)]
    names += [f"ending {text[-n:]}" for n in range(1, MAX_ENDING + 1)]
    names += [f"part {edged[i : i + INNER]}" for i in range(len(text))]
    return _rows(names)


@lru_cache(maxsize=50_000)
def _neighbor_features(form: str, side: str) -> list[int]:
    text = lower(form)
    parts = (text, f"{text[:2]}_", f"_{text[-2:]}", f"_{text[-3:]}")
    return _rows([f"{side} {part}" for part in parts])


def _rows(names: list[str]) -> list[int]:
    return [get_string_id(name) % N_ROWS for name in names]


class Splitter(ScoringNetwork):
    """Sum of the vectors of features, a layer over it, and a score for each kind of candidate."""

    def __init__(self, spec: NetworkSpec, settings: SplitterSettings) -> None:
        super().__init__(spec, has_root_vector=False)
        width = settings.width
        self.hidden_rate = settings.dropout
        self.vectors = nn.EmbeddingBag(N_ROWS, width, mode="sum")
        nn.init.uniform_(self.vectors.weight, -INITIAL_RANGE, INITIAL_RANGE)
        self.norm = nn.LayerNorm(width)
        self.maxout = nn.Linear(width, MAXOUT * width)
        self.dropout = nn.Dropout(settings.dropout)
        self.scorer = nn.Linear(width, spec.n_labels)
        nn.init.zeros_(self.scorer.weight)
        self.evidence = nn.Parameter(torch.zeros(N_KNOWN_KINDS + 1, N_EVIDENCE))

    def forward(self, choices: Choices) -> Tensor:
        """Return the scores of candidates, float32 [tokens, candidates]; -inf after the last one."""
        features, starts = self.tensor(choices.features), self.tensor(choices.starts)
        weights = None
        if self.training:
            rates = torch.full(features.shape, self.hidden_rate, device=self.device)
            rates[starts] = HIDDEN_FORMS
            weights = (torch.rand(features.shape, device=self.device) >= rates).float()
        summed = self.vectors(features, starts, per_sample_weights=weights)
        hidden = self.maxout(self.norm(summed)).unflatten(1, (MAXOUT, -1)).amax(dim=1)
        kinds, counts = self.tensor(choices.kinds), self.tensor(choices.counts)
        by_kind = self.scorer(self.dropout(hidden) + summed).float().gather(1, kinds.clamp(min=0))
        evidence = torch.stack([counts.float().log1p(), (counts > 0).float(), (counts > 1).float()], dim=2)
        weights = EVIDENCE_SCALE * self.evidence[kinds.clamp(WHOLE, N_KNOWN_KINDS)]
        scores = by_kind + (weights * evidence).sum(dim=2)
        return cast(Tensor, scores.masked_fill(kinds < 0, -torch.inf))

    def loss(self, scores: Tensor, gold: BoolArray) -> Tensor:
        """Return the loss, summed over tokens.

        gold: Whether each candidate is right, at least one of each token; bool [tokens, candidates].
        """
        right = scores.masked_fill(~self.tensor(gold), -torch.inf)
        return (scores.logsumexp(dim=1) - right.logsumexp(dim=1)).sum()


@builder(SplitterSettings)
def build_splitter(settings: SplitterSettings) -> SplitterModel:
    """Build a network that splits multiword tokens, for ``mwt_splitter``.

    It reads parts of a token and of its neighbors as hash embeddings (Bojanowski et al. 2017, Svenstrup et
    al. 2017). It also reads how often the words of a split occur in the treebank. It chooses among the splits
    of the treebank. Registered as ``spacy_g2g.Splitter.v1``.
    """
    spec_of = partial(_spec_of_kinds, settings.width)
    return make_side_network("mwt_splitter", partial(Splitter, settings=settings), settings, spec_of)


def _spec_of_kinds(width: int, n_kinds: int) -> NetworkSpec:
    return NetworkSpec(n_labels=n_kinds, vector_width=width)
