"""The network that splits multiword tokens, from the letters of a token and of its neighbours."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from spacy.strings import get_string_id
from thinc.api import Model, torch2xp
from torch import Tensor, nn

from ..arrays import BoolArray, IntArray
from ..data.splits import N_KNOWN_KINDS, WHOLE, lower
from .model import adapt_to_fork
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim, find_shims
from .settings import COUNT, SHARE, NetworkSettings, Precision, builder, setting, with_default

#: Number of vectors of features, bound of their initial values, and number of sums whose largest is taken.
N_ROWS, INITIAL_RANGE, MAXOUT = 2**14, 0.1, 3
#: Longest beginnings, endings and inner parts that are features, and number of letters at the end of a token
#: that are read at most.
BEGINNING, ENDING, INNER, MOST_LETTERS = 5, 6, 3, 30
#: Share of the tokens in training whose form the network does not see as a whole, so that it learns letters.
HIDDEN_FORMS = 0.7
#: Factor of the evidence that words of candidates occur in the treebank, which lets its weights learn fast.
EVIDENCE_SCALE = 10.0
#: Evidence of a word: the logarithm of its count, and whether the count is above 0 and 1.
N_EVIDENCE = 3


class Choices(NamedTuple):
    """Tokens that may be split, and what they may be.

    features: Rows of the tokens' features, end to end, first that of the form; int [features].
    starts: Index of each token's first feature; int [tokens].
    kinds: Kinds of its candidates, -1 behind the last one; int [tokens, most candidates].
    counts: How often the words with their stems occur in the treebank; int [tokens, most candidates].
    """

    features: IntArray
    starts: IntArray
    kinds: IntArray
    counts: IntArray


#: Network of splits: the scores of candidates, float [tokens, most candidates].
SplitterModel = Model[Choices, Any]


@dataclass(frozen=True, kw_only=True)
class SplitterSettings(NetworkSettings):
    """Settings of the network of splits."""

    width: int = setting(64, "Width of the network.", COUNT)
    precision: Precision = with_default(NetworkSettings, "precision", "float32")
    dropout: float = setting(
        0.3, "Dropout rate of the network. `[training] dropout` has no effect here.", SHARE
    )


def token_features(form: str) -> list[int]:
    """Return the features of a token by itself: the form, its beginnings, endings and parts, and its case."""
    text = lower(form)[-MOST_LETTERS:]
    edged = f"^{text}$"
    return _rows(
        [
            f"form {lower(form)}",
            f"case {form[:1].isupper()} {form.isupper()}",
            f"length {len(text)}",
            *(f"beginning {text[:n]}" for n in range(1, BEGINNING + 1)),
            *(f"ending {text[-n:]}" for n in range(1, ENDING + 1)),
            *(f"part {edged[i : i + INNER]}" for i in range(len(text))),
        ]
    )


def neighbour_features(form: str, side: str) -> list[int]:
    """Return the features of the token before or after a token; the form is "" at the edge of a text."""
    text = lower(form)
    return _rows(
        f"{side} {part}" for part in (text, f"{text[:2]} ...", f"... {text[-2:]}", f"... {text[-3:]}")
    )


def _rows(names: Any) -> list[int]:
    return [get_string_id(name) % N_ROWS for name in names]


class Splitter(WordNetwork):
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
        """Return the scores of candidates, float32 [tokens, most candidates]; -inf behind the last one."""
        features, starts = self.tensor(choices.features), self.tensor(choices.starts)
        kept = None
        if self.training:
            rates = torch.full(features.shape, self.hidden_rate, device=self.device)
            rates[starts] = HIDDEN_FORMS
            kept = (torch.rand(features.shape, device=self.device) >= rates).float()
        summed = self.vectors(features, starts, per_sample_weights=kept)
        hidden = self.maxout(self.norm(summed)).unflatten(1, (MAXOUT, -1)).amax(dim=1)
        kinds, counts = self.tensor(choices.kinds), self.tensor(choices.counts)
        by_kind = self.scorer(self.dropout(hidden) + summed).float().gather(1, kinds.clamp(min=0))
        seen = torch.stack([torch.log1p(counts.float()), (counts > 0).float(), (counts > 1).float()], dim=2)
        weights = EVIDENCE_SCALE * self.evidence[kinds.clamp(WHOLE, N_KNOWN_KINDS)]
        scores = by_kind + (weights * seen).sum(dim=2)
        return cast(Tensor, scores.masked_fill(kinds < 0, -torch.inf))


class SplitterShim(NetworkShim[Splitter]):
    """Runs a network of splits."""

    def predict(self, choices: Choices) -> Any:
        """Return the scores of candidates, float32 [tokens, most candidates]."""
        network = self.network.eval()
        with torch.inference_mode(), self.arithmetic():
            return torch2xp(network(choices))

    def begin_update(self, inputs: tuple[Choices, BoolArray]) -> tuple[float, Callable[[Any], None]]:
        """Return the loss, summed over tokens, and a callback that adds its gradient to the parameters.

        inputs: The tokens, and which of their candidates are right, at least one of each.
        """
        choices, gold = inputs
        network = self.network.train()
        with self.arithmetic():
            scores = network(choices)
        right = scores.masked_fill(~network.tensor(gold), -torch.inf)
        loss = (scores.logsumexp(dim=1) - right.logsumexp(dim=1)).sum()

        def backprop(_: Any) -> None:
            loss.backward()
            # The sum is clipped, not the mean, so that all updates count alike.
            self.n_targets = 1

        return float(loss.detach()), backprop


@builder(SplitterSettings)
def build_splitter(settings: SplitterSettings) -> SplitterModel:
    """Build a network that splits multiword tokens, for ``mwt_splitter``.

    It reads the letters of a token and of its neighbours: parts of them as hash embeddings (Bojanowski et al.
    2017, Svenstrup et al. 2017). It chooses among splits that were seen in the treebank. A further input is
    how often the words that they would give occur there. Registered as ``spacy_g2g.Splitter.v1``.
    """
    shim = SplitterShim(
        partial(Splitter, settings=settings),
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    return Model("mwt_splitter", _run, init=_build, shims=[shim], attrs={"width": settings.width})


def _build(model: SplitterModel, X: Any = None, Y: int | None = None) -> None:  # noqa: ARG001, N803
    """Build the network for a number of kinds. Do nothing without it, as for a model that was loaded."""
    if Y is not None:
        width = model.attrs["width"]
        _shim(model).build_network(NetworkSpec(encoder=None, tokenizer="", n_labels=Y, vector_width=width))


def _run(model: SplitterModel, inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Return the scores of candidates; in training, the loss of tokens with gold words, and its callback."""
    adapt_to_fork(os.getpid())
    if is_train:
        return _shim(model).begin_update(inputs)
    return _shim(model).predict(inputs), lambda d_scores: d_scores


def _shim(model: SplitterModel) -> SplitterShim:
    (shim,) = find_shims(model)
    assert isinstance(shim, SplitterShim)
    return shim
