"""The base class of all components with a network: files, and arithmetic of the network."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import srsly
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.util import minibatch, raise_error
from thinc.api import Model, Optimizer

from ..errors import Errors
from ..files import atomic_path
from ..models.settings import Precision, check_choice
from .listener import check_saved

if TYPE_CHECKING:
    from ..models.network_shim import NetworkShim

SAVED_FILES = ("cfg", "vocab", "model")
#: File with the SHA-256 and the name of each other file, in the format of ``sha256sum``.
DIGESTS_FILE = "sha256"


class SavedPipe(TrainablePipe):  # type: ignore[misc]
    """A component that saves its weights in float32 or float16, and whose errors name the damaged file."""

    half_precision_weights: bool

    @property
    def further_models(self) -> Mapping[str, Model[Any, Any]]:
        """Models that are trained and saved beside ``model``, by the names of their files."""
        return {}

    @property
    def precision(self) -> Precision:
        """Arithmetic of the network: "float32", "bfloat16" or "auto". It may be changed at any time.

        Raises ValueError for any other value, and for a model of another library.
        """
        return self._shim.precision

    @precision.setter
    def precision(self, value: Precision) -> None:
        check_choice("precision", value, hint=Precision)
        self._shim.precision = value

    @property
    def _shim(self) -> "NetworkShim[Any]":
        from ..models.network_shim import NetworkShim, get_network_shim

        return get_network_shim(self.model, NetworkShim)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in order, in batches. With an error handler, skip only the Docs that fail.

        stream: The Docs.
        batch_size: Number of Docs in a batch.
        """
        handler = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                predicted = self.predict(docs)
            except Exception:
                if handler is raise_error:
                    raise
                # The Docs are unchanged. Annotate them one by one, to skip only those that fail.
                yield from super().pipe(docs, batch_size=1)
                continue
            try:
                self.set_annotations(docs, predicted)
            except Exception as error:
                handler(self.name, self, docs, error)
            else:
                yield from docs

    def finish_update(self, sgd: Optimizer) -> None:
        """Make a step of the optimizer, in the model and in the further models."""
        super().finish_update(sgd)
        for model in self.further_models.values():
            model.finish_update(sgd)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save to a folder, with weights in float16 if ``half_precision_weights`` is set.

        Raises ValueError if the pipeline in the folder lacks the encoder that the component listens to.
        """
        check_saved(self, Path(path).parent)
        with self._stored(self.model):
            super().to_disk(path, exclude=exclude)
        for name, model in self._saved_models(exclude).items():
            with self._stored(model):
                model.to_disk(Path(path) / name)
        (Path(path) / DIGESTS_FILE).write_bytes(self._digests(Path(path)))

    def _digests(self, folder: Path) -> bytes:
        """Return the content of ``DIGESTS_FILE`` for a folder."""
        files = [folder / name for name in (*SAVED_FILES, *self.further_models)]
        return b"".join([_digest_line(file) + b"\n" for file in files if file.is_file()])

    def _stored(self, model: Model[Any, Any]) -> AbstractContextManager[None]:
        """Return the context to save a model in, in float16 if ``half_precision_weights`` is set."""
        from ..models.network_shim import half_precision

        return half_precision(model) if self.half_precision_weights else nullcontext()

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "SavedPipe":
        """Load from a folder. Raises ValueError if a file is missing or damaged."""
        for file in SAVED_FILES:
            others = [other for other in SAVED_FILES if other != file]
            with _file_errors(path, file):
                _check_digest(Path(path), file, exclude)
                super().from_disk(path, exclude=[*exclude, *others])
        with _file_errors(path, "cfg"):
            self._after_loading(path, exclude)
        for name, model in self._saved_models(exclude).items():
            with _file_errors(path, name):
                _check_digest(Path(path), name, exclude)
                model.from_disk(Path(path) / name)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save to a bytestring."""
        saved = srsly.msgpack_loads(super().to_bytes(exclude=exclude))
        for name, model in self._saved_models(exclude).items():
            saved[name] = model.to_bytes()
        data: bytes = srsly.msgpack_dumps(saved)
        return data

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "SavedPipe":
        """Load from a bytestring. Raises ValueError if it is damaged."""
        with _file_errors("bytes", "cfg"):
            super().from_bytes(bytes_data, exclude=exclude)
            self._after_loading("bytes", exclude)
            saved = srsly.msgpack_loads(bytes_data)
            for name, model in self._saved_models(exclude).items():
                model.from_bytes(saved[name])
        return self

    def _saved_models(self, exclude: Iterable[str]) -> dict[str, Model[Any, Any]]:
        """Return the further models that are not excluded."""
        return {name: model for name, model in self.further_models.items() if name not in exclude}

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        """Raise ValueError if the loaded component and its model do not belong together."""


@contextmanager
def new_settings(pipe: SavedPipe, folder: Path) -> Iterator[None]:
    """Write the settings of a component to a temporary file, which replaces ``cfg`` in its folder at the end.

    Whatever kills this process, the component can be loaded: ``DIGESTS_FILE`` first gets the digests of
    both the old settings and the new ones.
    """
    listing = folder / DIGESTS_FILE
    before = listing.read_bytes() if listing.exists() else pipe._digests(folder)
    others = [line for line in before.splitlines(keepends=True) if not _is_digest(line, "cfg")]
    with ExitStack() as replaced, TemporaryDirectory() as temporary:
        new = Path(temporary, pipe.name)
        pipe.to_disk(new, exclude=["vocab", "model", *pipe.further_models])
        settings, digest = ((new / name).read_bytes() for name in ("cfg", DIGESTS_FILE))
        last = {listing: digest + b"".join(others), folder / "cfg": settings}
        # What is written last is replaced first.
        for path, content in [*last.items(), (listing, digest + before)]:
            replaced.enter_context(atomic_path(path)).write_bytes(content)
        yield


@contextmanager
def _file_errors(folder: str | Path, file: str) -> Iterator[None]:
    """Add the name of the file to errors."""
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(Errors.E804.format(path=error.filename, folder=folder)) from error
    except Exception as error:  # A damaged file may lead to any error.
        raise ValueError(Errors.E805.format(path=Path(folder) / file, error=error)) from error


def _digest_line(file: Path) -> bytes:
    """Return the line of a file in ``DIGESTS_FILE``."""
    return f"{sha256(file.read_bytes()).hexdigest()}  {file.name}".encode()


def _is_digest(line: bytes, file: str) -> bool:
    """Return whether a line of ``DIGESTS_FILE`` is about a file."""
    return line.rstrip(b"\n").endswith(b"  " + file.encode())


def _check_digest(folder: Path, file: str, exclude: Iterable[str]) -> None:
    """Raise ValueError if a file has changed since it was saved. Earlier versions did not save digests."""
    listing, path = folder / DIGESTS_FILE, folder / file
    if file in exclude or not listing.exists():
        return
    saved = [line for line in listing.read_bytes().split(b"\n") if _is_digest(line, file)]
    if (saved or path.is_file()) and _digest_line(path) not in saved:
        raise ValueError(Errors.E430)
