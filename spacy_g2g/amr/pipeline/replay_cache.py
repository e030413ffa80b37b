"""Replays of gold AMRs, kept between updates: to find one takes longer than to train on it."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..parsing.actions import AmrSentence
from ..parsing.table import Replay

#: Most bytes of states that are kept.
MAX_BYTES = 500_000_000


class ReplayCache:
    """Replays by sentence and text of the AMR. The oldest are dropped; copies and pickles begin empty."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[AmrSentence, str], _Packed] = OrderedDict()
        self._n_bytes = 0

    def __reduce__(self) -> tuple[type[ReplayCache], tuple[()]]:
        return ReplayCache, ()

    def get(self, sentence: AmrSentence, amr: str) -> Replay | None:
        """Return the replay of a sentence's AMR, or None if it is not kept."""
        packed = self._kept.get((sentence, amr))
        return None if packed is None else packed.unpack()

    def put(self, sentence: AmrSentence, amr: str, replay: Replay) -> None:
        """Keep the replay of a sentence's AMR."""
        packed = self._kept[sentence, amr] = _Packed.of(replay)
        self._n_bytes += packed.n_bytes
        while self._n_bytes > MAX_BYTES:
            self._n_bytes -= self._kept.popitem(last=False)[1].n_bytes


class _Packed(NamedTuple):
    """A replay whose valid actions are packed into bits; the replay itself has only their shape."""

    replay: Replay
    bits: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, replay: Replay) -> _Packed:
        shape = np.broadcast_to(np.False_, replay.valid.shape)
        return cls(replay._replace(valid=shape), np.packbits(replay.valid, axis=1))

    def unpack(self) -> Replay:
        valid = np.unpackbits(self.bits, axis=1, count=self.replay.valid.shape[1]).astype(np.bool_)
        return self.replay._replace(valid=valid)

    @property
    def n_bytes(self) -> int:
        return self.bits.nbytes + sum(array.nbytes for array in self.replay if array.base is None)
