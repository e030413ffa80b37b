"""The base of all components of this library: files, and the arithmetic of the network."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from spacy.pipeline import TrainablePipe
from thinc.api import Model

from ..errors import Errors

if TYPE_CHECKING:
    from ..models.precision import Precision

SAVED_FILES = ("cfg", "vocab", "model")


class SavedPipe(TrainablePipe):  # type: ignore[misc]
    """A component that saves its weights in float32 or float16, and whose errors name the damaged file."""

    half_precision_weights: bool

    @property
    def precision(self) -> Precision:
        """Arithmetic of the network: "float32", "bfloat16" or "auto". It may be changed at any time.

        Raises ValueError for a model that is not of this library, and for any other value.
        """
        from ..models.network_shim import get_network_shim

        return get_network_shim(self.model).precision

    @precision.setter
    def precision(self, value: Precision) -> None:
        from ..models.network_shim import get_network_shim
        from ..models.precision import Precision

        choices = get_args(Precision)
        if value not in choices:
            raise ValueError(Errors.E411.format(setting="precision", value=value, choices=choices))
        get_network_shim(self.model).precision = value

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save to a folder, with weights in float16 if ``half_precision_weights`` is set."""
        with self._stored(self.model):
            super().to_disk(path, exclude=exclude)

    def _stored(self, model: Model[Any, Any]) -> AbstractContextManager[None]:
        """Return the context in which a model is saved, in float16 if ``half_precision_weights`` is set."""
        if not self.half_precision_weights:
            return nullcontext()
        from ..models.network_shim import half_precision

        return half_precision(model)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> SavedPipe:
        """Load from a bytestring. Raises ValueError when it is not whole."""
        super().from_bytes(bytes_data, exclude=exclude)
        self._after_loading("bytes", exclude)
        return self

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SavedPipe:
        """Load from a folder. Raises ValueError when a file is missing or not whole."""
        for file in SAVED_FILES:
            others = [other for other in SAVED_FILES if other != file]
            try:
                super().from_disk(path, exclude=[*exclude, *others])
            except FileNotFoundError as error:
                raise ValueError(Errors.E804.format(path=error.filename, folder=path)) from error
            except (ValueError, TypeError) as error:
                raise ValueError(Errors.E805.format(path=Path(path) / file, error=error)) from error
        self._after_loading(path, exclude)
        return self

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Raise ValueError if the loaded component and its model do not belong together."""
