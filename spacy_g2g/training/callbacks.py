"""Callbacks of the training config."""

from __future__ import annotations

from collections.abc import Callable

from spacy.language import Language
from spacy.util import split_requirement

from .. import __version__

DISTRIBUTION = "spacy-g2g"


def make_package_requirements() -> Callable[[Language], Language]:
    """Make the callback ``spacy_g2g.package_requirements.v1`` for ``[training.before_to_disk]``.

    The callback writes the requirements of the pipeline's package to its meta: this version of the library or
    a later version with the same major number, and the extras of its components (their attribute ``extra``).
    Without the callback, ``spacy package`` would exclude the next minor version.
    """

    def set_requirements(nlp: Language) -> Language:
        others = [r for r in nlp.meta.get("requirements", []) if split_requirement(r)[0] != DISTRIBUTION]
        major = int(__version__.split(".")[0])
        extras = sorted({pipe.extra for _, pipe in nlp.components if hasattr(pipe, "extra")})
        name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
        nlp.meta["requirements"] = [*others, f"{name}>={__version__},<{major + 1}"]
        return nlp

    return set_requirements
