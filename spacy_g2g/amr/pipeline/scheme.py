"""Facts learned from training data before the network: words of concepts, and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import Errors
from ...models.settings import FROM_ZERO, CheckedSettings, setting
from ..parsing.actions import AmrAction, AmrSentence
from ..parsing.aligner import N_ITERATIONS, Aligner, Unaligned
from ..parsing.graph import AmrGraph, Wiki
from ..parsing.machine import MAX_FORKS
from ..parsing.oracle import amr_oracle_actions
from ..parsing.table import AmrActions, Candidates, Replay

LemmaSource = Literal["rules", "token"]

#: A graph, and its sentence.
TrainingGraph = tuple[AmrGraph, AmrSentence]


@dataclass(frozen=True, kw_only=True)
class AmrSettings(CheckedSettings):
    """Settings of ``amr_parser`` that its scheme and its training data depend on."""

    shift_labels: int = setting(
        0, "Number of the most frequent words that have a SHIFT action of their own.", FROM_ZERO
    )
    label_candidates: Candidates = setting(
        "lemma",
        "Labels that a word may get besides copies of itself: labels that the training data gave to the same "
        '"word", to words of the same "lemma", or to any word ("vocab").',
    )
    lemma_source: LemmaSource = setting(
        "rules",
        'Source of lemmas: "rules" for those of the package simplemma, which are English, or "token" for '
        "lemmas that an earlier component wrote. Tokens without a lemma get simplemma's. In training, that "
        "component must be among the ``annotating_components``.",
    )
    unaligned: Unaligned = setting(
        "neighbor",
        "Word that a concept belongs to in training if no rule finds its word: the word of a "
        '"neighbor" in the graph, or the "free_word" nearest to that word.',
    )
    em_iterations: int = setting(
        N_ITERATIONS,
        "Number of iterations of expectation maximization, which in training finds the words of concepts "
        "that share no letters with their word.",
        FROM_ZERO,
    )
    max_forks: int = setting(MAX_FORKS, "Maximum number of concepts of a word besides the first.", FROM_ZERO)
    wiki: Wiki = setting(
        "drop", 'Links to Wikipedia: leave them out ("drop"), or learn them as constants ("keep").'
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unaligned == "neighbour":
            object.__setattr__(self, "unaligned", "neighbor")


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

        def oracle(graph: AmrGraph, sentence: AmrSentence) -> list[AmrAction]:
            words = aligner.align(graph, sentence)
            return amr_oracle_actions(graph, sentence, words, max_forks=max_forks)

        table = AmrActions.learn(
            ((sentence, oracle(graph, sentence)) for graph, sentence in graphs),
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
            aligner = Aligner(AmrSettings(unaligned=data["unaligned"]).unaligned)
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
