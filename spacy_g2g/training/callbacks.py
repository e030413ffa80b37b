"""Callbacks for the config of a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model, logger, registry, resolve_dot_names, split_requirement

from .. import __version__
from ..errors import Warnings
from .untaught import find_untaught

DISTRIBUTION = "spacy-g2g"


def make_prepare_pipeline(tokenizer: str | None = None) -> Callable[[Language], Language]:
    """Make the callback ``spacy_g2g.prepare_pipeline.v1`` for ``[initialize.before_init]``.

    The callback removes components that can't learn from the training corpus, and logs their names. These are
    a tagger, morphologizer, trainable lemmatizer or ``lemma_table`` without tags, features or lemmas, a
    tagger or morphologizer with one tag for all words, and an ``mwt_splitter`` without multiword tokens.
    Their scores do not count. Without the callback, spaCy stops with its error E143.

    tokenizer: Pipeline to take the tokenizer from, such as the output of ``python -m project.tokenizer``;
        null for the rules of the language.
    """

    def before_init(nlp: Language) -> Language:
        if tokenizer:
            take_tokenizer(nlp, load_model(tokenizer))
        untaught = find_untaught(nlp.pipeline, read_training_examples(nlp))
        for name in untaught:
            scores = nlp.get_pipe_meta(name).default_score_weights or {}
            nlp.remove_pipe(name)
            training = nlp.config["training"]
            for score in scores:
                training["score_weights"].pop(score, None)
            training["annotating_components"] = [n for n in training["annotating_components"] if n != name]
        if untaught:
            named = "; ".join(f"{name} ({missing})" for name, missing in untaught.items())
            logger.warning(Warnings.W750.format(named=named))
        return nlp

    return before_init


def take_tokenizer(nlp: Language, base: Any) -> None:
    """Give a pipeline a copy of another pipeline's tokenizer, of any kind."""
    settings = base.config["nlp"]["tokenizer"]
    made = registry.resolve({"tokenizer": settings})["tokenizer"](nlp)
    nlp.tokenizer = made.from_bytes(base.tokenizer.to_bytes(exclude=["vocab"]))
    nlp.config["nlp"]["tokenizer"] = settings


def read_training_examples(nlp: Language) -> list[Example]:
    """Read the training corpus of a pipeline's config."""
    (corpus,) = resolve_dot_names(nlp.config.interpolate(), [nlp.config["training"]["train_corpus"]])
    return list(corpus(nlp))


def make_package_requirements() -> Callable[[Language], Language]:
    """Make the callback ``spacy_g2g.package_requirements.v1`` for ``[training.before_to_disk]``.

    The callback writes the requirements of the pipeline's package to its meta: this version of the library or
    a later one with the same major number, and the extras of the components (their attribute ``extra``).
    Without the callback, ``spacy package`` excludes the next minor version.
    """

    def set_requirements(nlp: Language) -> Language:
        others = [r for r in nlp.meta.get("requirements", []) if split_requirement(r)[0] != DISTRIBUTION]
        major = int(__version__.split(".")[0])
        extras = sorted({pipe.extra for _, pipe in nlp.components if hasattr(pipe, "extra")})
        name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
        nlp.meta["requirements"] = [*others, f"{name}>={__version__},<{major + 1}"]
        return nlp

    return set_requirements
