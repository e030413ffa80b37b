"""The base of the stack-Transformers: vectors of words, mostly from a frozen encoder."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...arrays import IntArray
from ...models.batch import Batch, PieceBatch, WordBatch
from ...models.network import Network, NetworkSpec
from ...models.settings import WordSettings
from .action_decoder import ActionTransformer
from .settings import ActionSettings

#: Maximum number of words whose vectors are cached while a parser with a frozen encoder is trained. A vector
#: of width 384 takes 1.5 kB.
MAX_CACHED_WORDS = 1_000_000


class ActionNetwork(Network[Batch]):
    """Network that predicts actions: word vectors, mostly of a frozen encoder, and an ``ActionTransformer``.

    ROOT has a vector of its own before the words' vectors. The encoder does not read ROOT.

    spec: Facts that the network is built from.
    settings: Sizes and settings of the ``ActionTransformer``.
    n_actions: Number of actions.
    groups: int [actions], as in ``ActionTransformer``.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        settings: ActionSettings,
        n_actions: int,
        groups: IntArray | None = None,
    ) -> None:
        super().__init__(spec, has_root_vector=True, words=WordSettings(pooling="mean"))
        self.is_frozen = "encoder" in spec.pretrained and not settings.train_encoder
        if self.is_frozen:
            self.encoder.requires_grad_(False)
        self.parser = ActionTransformer(spec.width, n_actions, settings, groups)
        self._cache: dict[bytes, Tensor] = {}
        self._n_cached = 0

    def train(self, mode: bool = True) -> ActionNetwork:
        """Switch training mode on or off. A frozen encoder never has dropout."""
        super().train(mode)
        if self.is_frozen:
            self.encoder.eval()
        return self

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Encode ROOT and words, float [sentences, words + 1, width]. Also returns their mask."""
        memory, mask = self.word_vectors(batch), None
        if int(batch.n_words.min()) < memory.shape[1] - 1:
            mask = self.tensor(np.arange(memory.shape[1]) <= batch.n_words[:, None])
        return self.parser.encode(memory, mask), mask

    def word_vectors(self, batch: Batch) -> Tensor:
        """Return the vectors of ROOT and the words, float [sentences, words + 1, width]."""
        if isinstance(batch, WordBatch):
            return self.encode(batch)
        assert isinstance(batch, PieceBatch)
        if not self.is_frozen:
            words = self.encode(batch)[:, 1:]
        else:
            with torch.no_grad():
                words = self._cached_words(batch) if self.training else self.encode(batch)[:, 1:]
        return torch.cat([self.root.to(words.dtype).expand(len(words), 1, -1), words], 1)

    def _cached_words(self, batch: PieceBatch) -> Tensor:
        """Return the vectors of words. Each sentence is encoded only once while the cache has room."""
        keys = _sentence_keys(batch)
        new = np.array([i for i, key in enumerate(keys) if key not in self._cache], dtype=np.int64)
        vectors_of = [self._cache.get(key) for key in keys]
        if len(new):
            vectors = self.encode(batch.take(new))[:, 1:].cpu()
            for i, sentence_vectors in zip(new.tolist(), vectors, strict=True):
                words = vectors_of[i] = sentence_vectors[: batch.n_words[i]]
                if self._n_cached + len(words) <= MAX_CACHED_WORDS:
                    self._cache[keys[i]] = words.clone()
                    self._n_cached += len(words)
        padded = pad_sequence([words for words in vectors_of if words is not None], batch_first=True)
        return padded.to(self.device, non_blocking=True)


def _sentence_keys(batch: PieceBatch) -> list[bytes]:
    """Return the cache key of each sentence: its pieces, and the word of each piece."""
    keys = [b""] * len(batch.n_words)
    for row, (sentence, length) in enumerate(
        zip(batch.sentence_of.tolist(), batch.lengths.tolist(), strict=True)
    ):
        keys[sentence] += batch.piece_ids[row, :length].tobytes() + batch.words[row, :length].tobytes()
    return keys
