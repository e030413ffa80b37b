"""Facts learned from training data before the network: words of concepts, and actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import Errors
from .actions import AmrAction, AmrSentence
from .aligner import N_ITERATIONS, Aligner, Unaligned
from .graph import AmrGraph
from .machine import MAX_FORKS
from .oracle import amr_oracle_actions
from .table import AmrActions, Candidates, Replay

# A graph, the words of its sentence, and their lemmas or None.
TrainingGraph = tuple[AmrGraph, Sequence[str], Sequence[str] | None]


class AmrScheme:
    """Aligner and actions, which belong together.

    aligner: Finds words for the nodes of gold graphs.
    table: The actions.
    """

    def __init__(self, aligner: Aligner, table: AmrActions) -> None:
        self.aligner = aligner
        self.table = table

    @classmethod
    def learn(
        cls,
        graphs: Iterable[TrainingGraph],
        *,
        shift_labels: int = 0,
        candidates: Candidates = "lemma",
        unaligned: Unaligned = "neighbour",
        iterations: int = N_ITERATIONS,
        max_forks: int = MAX_FORKS,
    ) -> AmrScheme:
        """Learn from graphs with sentences.

        graphs: The training data.
        shift_labels: Number of frequent words that get a SHIFT action of their own.
        candidates: The labels that PRED may give a word, see `AmrActions`.
        unaligned: The words for nodes that no rule places, see `Aligner`.
        iterations: EM iterations that learn the words of concepts.
        max_forks: Most FORKs for one word.
        """
        aligner = Aligner(unaligned)
        pairs = [(graph, AmrSentence.of(forms, lemmas)) for graph, forms, lemmas in graphs]
        aligner.learn(pairs, iterations)
        oracle = [
            (
                sentence,
                amr_oracle_actions(graph, sentence, aligner.align(graph, sentence), max_forks=max_forks),
            )
            for graph, sentence in pairs
        ]
        table = AmrActions.learn(
            oracle, shift_labels=shift_labels, candidates=candidates, max_forks=max_forks
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
            return cls(aligner, AmrActions.from_dict(data["table"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(Errors.E1020.format(error=repr(error))) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the whole scheme, for JSON."""
        translations = self.aligner.translations.items()
        return {
            "unaligned": self.aligner.unaligned,
            "translations": [[concept, word, p] for (concept, word), p in translations],
            "table": self.table.to_dict(),
        }

    def amr_oracle_actions(self, graph: AmrGraph, sentence: AmrSentence) -> list[AmrAction]:
        """Return the actions that build a gold graph."""
        alignment = self.aligner.align(graph, sentence)
        return amr_oracle_actions(graph, sentence, alignment, max_forks=self.table.max_forks)

    def replay(self, graph: AmrGraph, sentence: AmrSentence) -> Replay:
        """Return the oracle's actions for a gold graph, and the states before them."""
        return self.table.replay(sentence, self.amr_oracle_actions(graph, sentence))
