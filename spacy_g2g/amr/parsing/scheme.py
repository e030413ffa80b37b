"""All that is learned of training data before a network is: lemmas, the words of concepts, the actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import Errors
from .actions import Action, AmrSentence
from .aligner import N_ITERATIONS, Aligner, Unaligned
from .graph import AmrGraph
from .lemmas import Lemmatizer
from .machine import MAX_FORKS
from .oracle import oracle_actions
from .table import ActionTable, Candidates, Replay


class AmrScheme:
    """Lemmatizer, aligner and table of actions, which belong together.

    Args:
        lemmatizer: Gives words lemmas where they have none.
        aligner: Finds words for the nodes of gold graphs.
        table: The actions.
    """

    def __init__(self, lemmatizer: Lemmatizer, aligner: Aligner, table: ActionTable) -> None:
        self.lemmatizer = lemmatizer
        self.aligner = aligner
        self.table = table

    @classmethod
    def learn(
        cls,
        graphs: Iterable[tuple[AmrGraph, Sequence[str], Sequence[str] | None]],
        *,
        shift_labels: int = 0,
        candidates: Candidates = "lemma",
        unaligned: Unaligned = "neighbour",
        iterations: int = N_ITERATIONS,
        max_forks: int = MAX_FORKS,
    ) -> AmrScheme:
        """Learn from graphs, each with the words of its sentence and their lemmas, if there are any.

        Args:
            graphs: The training data.
            shift_labels: How many of the most frequent words get a SHIFT of their own.
            candidates: Which labels PRED may give a word, see `ActionTable`.
            unaligned: Where nodes go that no rule has a word for, see `Aligner`.
            iterations: Of EM, which learns the words of concepts.
            max_forks: Most FORKs for one word.
        """
        graphs = list(graphs)
        lemmatizer, aligner = Lemmatizer.learn(graph for graph, _, _ in graphs), Aligner(unaligned)
        pairs = [(graph, lemmatizer.sentence(forms, lemmas)) for graph, forms, lemmas in graphs]
        aligner.learn(pairs, iterations)
        oracle = [
            (sentence, oracle_actions(graph, sentence, aligner.align(graph, sentence), max_forks=max_forks))
            for graph, sentence in pairs
        ]
        table = ActionTable.learn(
            oracle, shift_labels=shift_labels, candidates=candidates, max_forks=max_forks
        )
        return cls(lemmatizer, aligner, table)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AmrScheme:
        """The scheme that `to_dict` gave.

        Raises:
            ValueError: If that is not what the data is.
        """
        try:
            aligner = Aligner(data["unaligned"])
            aligner.translations = {(concept, word): float(p) for concept, word, p in data["translations"]}
            return cls(Lemmatizer(data["lemmas"]), aligner, ActionTable.from_dict(data["table"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(Errors.E150.format(error=repr(error))) from error

    def to_dict(self) -> dict[str, Any]:
        """Everything about the scheme, for JSON."""
        translations = self.aligner.translations.items()
        return {
            "lemmas": self.lemmatizer.known,
            "unaligned": self.aligner.unaligned,
            "translations": [[concept, word, p] for (concept, word), p in translations],
            "table": self.table.to_dict(),
        }

    def oracle_actions(self, graph: AmrGraph, sentence: AmrSentence) -> list[Action]:
        """The actions that build a gold graph."""
        alignment = self.aligner.align(graph, sentence)
        return oracle_actions(graph, sentence, alignment, max_forks=self.table.max_forks)

    def replay(self, graph: AmrGraph, sentence: AmrSentence) -> Replay:
        """The oracle's actions for a gold graph, and the states before them."""
        return self.table.replay(sentence, self.oracle_actions(graph, sentence))
