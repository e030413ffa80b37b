"""Factories of components, each with one dataclass of settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from spacy.language import Language
from thinc.api import Model

from ..models.settings import CheckedSettings, builder, describe, setting

Component = TypeVar("Component")


@dataclass(frozen=True, kw_only=True)
class ComponentSettings(CheckedSettings):
    """Settings of all components with a model."""

    model: Model[Any, Any] = setting(None, "Architecture.")
    half_precision_weights: bool = setting(False, "Save weights in float16, which takes half the space.")

    def apply_to(self, component: Any) -> None:
        """Set the attributes of a component, which users may change later."""
        for name, value in vars(self).items():
            setattr(component, name, value)


@dataclass(frozen=True, kw_only=True)
class TreeSettings(ComponentSettings):
    """Settings of components that write trees."""

    store_probabilities: bool = setting(
        False,
        "Write the probabilities of heads and labels to ``token._.g2g_head_prob`` and "
        "``token._.g2g_dep_prob``.",
    )
    keep_scores: bool = setting(
        False,
        "Keep the scores of all arcs in ``doc._.g2g_scores``, from which ``reparse`` and ``kbest`` find "
        "trees without the encoder. A refiner keeps those of its last pass. A sentence of n words with L "
        "labels takes 4 n² L bytes.",
    )
    scorer: Callable[..., dict[str, Any]] | None = setting(
        {"@scorers": "spacy_g2g.ud_scorer.v1"}, "Scoring method."
    )


#: Metadata for spaCy of components that write trees: assigned attributes, and weights of scores in training.
TREE_ASSIGNS = ("token.head", "token.dep", "token.is_sent_start", "doc.sents")
TREE_WEIGHTS = {"ud_las": 1.0, "ud_uas": 0.0, "ud_sents_f": 0.0, "ud_las_per_type": None}


def factory(
    name: str, settings: type[CheckedSettings], **meta: Any
) -> Callable[[Callable[..., Component]], Callable[..., Component]]:
    """Register a function with spaCy that makes a component from ``nlp``, ``name`` and settings.

    The registered function has a signature, a docstring and defaults from the settings.

    name: Name of the factory.
    settings: Class of the settings.
    meta: Further arguments of ``Language.factory``.
    """
    config = {key: data["default"] for key, _, data in describe(settings)}

    def decorate(make: Callable[..., Component]) -> Callable[..., Component]:
        function = builder(settings, "nlp", "name")(make)
        return Language.factory(name, default_config=config, func=function, **meta)

    return decorate
