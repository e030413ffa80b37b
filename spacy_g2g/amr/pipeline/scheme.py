"""Facts learned from training data before the network: words of concepts, and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...errors import Errors
from .actions import AmrAction, AmrSentence
from .aligner import N_ITERATIONS, Aligner, Unaligned
from .graph import AmrGraph, Wiki
from .machine import MAX_FORKS
from .oracle import amr_oracle_actions
from .table import AmrActions, Candidates, Replay

LemmaSource = Literal["rules", "token"]

# A graph, and its sentence.
TrainingGraph = tuple[AmrGraph, AmrSentence]

_CHOICES = {"label_candidates": Candidates, "lemma_source": LemmaSource, "unaligned": Unaligned, "wiki": Wiki}


@dataclass(frozen=True)
class AmrSettings:
    """Settings of ``amr_parser``; ``make_amr_parser`` describes them.

    Raises ValueError for a value that there is not.
    """

    shift_labels: int = 0
    label_candidates: Candidates = "lemma"
    lemma_source: LemmaSource = "rules"
    unaligned: Unaligned = "neighbor"
    em_iterations: int = N_ITERATIONS
    max_forks: int = MAX_FORKS
    wiki: Wiki = "drop"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            choices = get_args(_CHOICES.get(name))
            if (value not in choices) if choices else value < 0:
                expected = f"one of {choices}" if choices else "a number from 0"
                raise ValueError(Errors.E1027.format(setting=name, value=repr(value), expected=expected))


class AmrScheme:
    """Aligner and actions, which belong together.

    aligner: Finds words for the nodes of gold graphs.
    table: The actions.
    """

    def __init__(self, aligner: Aligner, table: AmrActions) -> None:
        self.aligner = aligner
        self.table = table

    @classmethod
    def learn(cls, graphs: Sequence[TrainingGraph], settings: AmrSettings) -> AmrScheme:
        """Learn from graphs with sentences."""
        aligner = Aligner(settings.unaligned)
        aligner.learn(graphs, settings.em_iterations)
        max_forks = settings.max_forks
        table = AmrActions.learn(
            (
                (
                    sentence,
                    amr_oracle_actions(graph, sentence, aligner.align(graph, sentence), max_forks=max_forks),
                )
                for graph, sentence in graphs
            ),
            shift_labels=settings.shift_labels,
            candidates=settings.label_candidates,
            max_forks=max_forks,
        )
        return cls(aligner, table)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AmrScheme:
        """Restore the scheme that `to_dict` returned.

        Raises ValueError if the data is anything else.
        """
        try:
            aligner = Aligner(data["unaligned"])
            aligner.translations = {(concept, word): float(p) for concept, word, p in data["translations"]}
            scheme = cls(aligner, AmrActions.from_dict(data["table"]))
            AmrSettings(**scheme.learned_settings)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(Errors.E1020.format(error=repr(error))) from error
        return scheme

    def to_dict(self) -> dict[str, Any]:
        """Return the whole scheme, for JSON."""
        translations = self.aligner.translations.items()
        return {
            "unaligned": self.aligner.unaligned,
            "translations": [[concept, word, p] for (concept, word), p in translations],
            "table": self.table.to_dict(),
        }

    @property
    def learned_settings(self) -> dict[str, Any]:
        """The settings of `AmrSettings` that the scheme keeps."""
        table = self.table
        return {
            "label_candidates": table.candidates,
            "max_forks": table.max_forks,
            "unaligned": self.aligner.unaligned,
        }

    def amr_oracle_actions(self, graph: AmrGraph, sentence: AmrSentence) -> list[AmrAction]:
        """Return the actions that build a gold graph."""
        words = self.aligner.align(graph, sentence)
        return amr_oracle_actions(graph, sentence, words, max_forks=self.table.max_forks)

    def replay(self, graph: AmrGraph, sentence: AmrSentence) -> Replay:
        """Return the oracle's actions for a gold graph, and the states before them."""
        return self.table.replay(sentence, self.amr_oracle_actions(graph, sentence))
