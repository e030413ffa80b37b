"""Callbacks of the training config."""

from __future__ import annotations

from collections.abc import Callable

from spacy.language import Language
from spacy.util import split_requirement

from .. import __version__

DISTRIBUTION = "spacy-g2g"


def make_package_requirements() -> Callable[[Language], Language]:
    """Registered as ``spacy_g2g.package_requirements.v1``, for ``[training.before_to_disk]``.

    Writes to the pipeline's meta that its package needs this version of the library or a later one of the
    same major version, with the extras of its components (their attribute ``extra``). Without it
    ``spacy package`` would exclude the next minor version.
    """

    def set_requirements(nlp: Language) -> Language:
        others = [r for r in nlp.meta.get("requirements", []) if split_requirement(r)[0] != DISTRIBUTION]
        major = int(__version__.split(".")[0])
        extras = sorted({pipe.extra for _, pipe in nlp.components if hasattr(pipe, "extra")})
        name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
        nlp.meta["requirements"] = [*others, f"{name}>={__version__},<{major + 1}"]
        return nlp

    return set_requirements
